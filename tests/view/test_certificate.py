"""What a certificate says of a list: what an orphan is, and whether it fits."""

import pytest

from autogen_context.messages.message import Message
from autogen_context.tokens.measure import Count
from autogen_context.view.certificate import Certificate, Checked
from support.units import asks, tells

SAYS = Message(role="user", text="hi")


@pytest.mark.parametrize(
    ("messages", "orphans", "still_open"),
    [
        pytest.param([], 0, "", id="nothing"),
        pytest.param([SAYS, asks("a"), tells("a"), SAYS], 0, "", id="closed"),
        pytest.param([asks("a", "b"), tells("b"), tells("a")], 0, "", id="in any order"),
        pytest.param([asks("a")], 0, "a", id="pending"),
        pytest.param([asks("a", "b"), tells("a")], 0, "b", id="one pending"),
        pytest.param([asks("a", "b"), tells("a"), SAYS], 1, "", id="never answered"),
        pytest.param([asks("a", "b"), asks("c")], 2, "c", id="two never answered"),
        pytest.param([tells("a")], 1, "", id="no call"),
        pytest.param([asks("a"), tells("x")], 1, "", id="another id"),
        pytest.param([asks("a"), tells("a", "a")], 1, "", id="answered twice"),
        pytest.param([asks("a"), SAYS, tells("a")], 2, "", id="interrupted"),
        pytest.param([asks("a", "a"), tells("a")], 0, "a", id="one of two with one id"),
        pytest.param([asks("a", "a"), tells("a"), SAYS], 1, "", id="the other never answered"),
    ],
)
def test_what_an_orphan_is(messages: list[Message], orphans: int, still_open: str) -> None:
    """A result without its call, or a call that other messages follow before its result."""
    checked = Checked().after(messages, lambda _: 1)
    assert checked.tokens == len(messages)
    assert checked.orphans == orphans
    assert [call.id for call in checked.open_calls] == list(still_open)
    assert checked.calls == sum(len(message.calls) for message in messages)
    assert checked.results == sum(len(message.results) for message in messages)


@pytest.mark.parametrize(("bound", "fits"), [(99, True), (100, True), (101, False)])
def test_it_fits_up_to_the_limit(bound: int, *, fits: bool) -> None:
    """By the bound, not by the count."""
    certificate = Certificate(
        limit_tokens=100,
        bound=Count(tokens=bound, source="tokenizer"),
        counted_tokens=50,
        pairs_closed=True,
        pins_present=True,
        newest_present=True,
    )
    assert certificate.fits is fits
