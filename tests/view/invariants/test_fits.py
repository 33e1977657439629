"""Promise 1: the bound is within the limit."""

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.tokens.measure import Count
from autogen_context.view.invariants import Certificate, Checked, Fits, Sent


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_a_request_fits_up_to_the_limit(bound: int, limit: int, counted: int) -> None:
    """By the bound, not by the count; and a certificate says the same."""
    sent = Sent(bound, limit, Checked(tokens=counted), (), 0)
    certificate = Certificate(
        limit_tokens=limit, bound=Count(tokens=bound, source="estimate"), counted_tokens=counted
    )
    assert Fits().holds(sent) is certificate.fits is (bound <= limit)
