"""What input tokens cost where prefixes are cached."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.tokens.prices import prices, rates_of
from autogen_context.tokens.rates import Rates

WRITTEN = Rates(
    cached_fraction=0.1, write_fraction=1.25, minimum_prefix_tokens=1024, block_tokens=128
)
UNCACHED = Rates(cached_fraction=1, write_fraction=1.25)
REQUESTS = {
    "a token too short": (WRITTEN, 1_023, 0, (1_023, 1_023, 1_023)),
    "just long enough": (WRITTEN, 1_024, 1_024, (1_280, 102.4, 102.4)),
    "a token short of a block": (WRITTEN, 1_151, 1_024, (1_438.75, 261.15, 115.1)),
    "a block more": (WRITTEN, 1_152, 1_152, (1_440, 115.2, 115.2)),
    "nothing is ever cached": (UNCACHED, 1_000, 0, (1_250, 1_250, 1_250)),
}


@pytest.mark.parametrize(("rates", "tokens", "cached", "costs"), REQUESTS.values(), ids=REQUESTS)
def test_a_request(rates: Rates, tokens: int, cached: int, costs: tuple[float, ...]) -> None:
    """What of it is cached; what it costs at first, sent again, and in a conversation that goes on."""
    assert rates.cached_tokens(tokens) == cached
    found = (
        rates.cost_tokens(tokens, 0),
        rates.cost_tokens(tokens, cached),
        rates.standing_tokens(tokens),
    )
    assert found == pytest.approx(costs)


@given(st.integers(0, 10_000))
def test_where_only_the_share_is_known_every_token_is_cached(tokens: int) -> None:
    """No prefix is too short, none has to fill a block, and to write one costs nothing more."""
    rates = Rates(cached_fraction=0.5)
    assert rates.cached_tokens(tokens) == tokens
    assert rates.cost_tokens(tokens, 0) == tokens
    assert rates.standing_tokens(tokens) == tokens / 2


@pytest.mark.parametrize(("idle_s", "is_cold"), [(0, False), (300, False), (300.1, True)])
def test_the_cache_is_cold_when_its_lifetime_is_over(idle_s: float, *, is_cold: bool) -> None:
    """The last moment of it still counts as warm."""
    assert Rates(cached_fraction=0.1).is_cold(idle_s=idle_s) == is_cold


@pytest.mark.parametrize(
    ("cached", "minimum", "block", "ttl_s"),
    [(-0.1, 1, 1, 1), (1.1, 1, 1, 1), (0.1, 0, 1, 1), (0.1, 1, 0, 1), (0.1, 1, 1, 0)],
    ids=["below nothing", "dearer than new", "no shortest prefix", "no block", "no lifetime"],
)
def test_rates_that_cannot_be(cached: float, minimum: int, block: int, ttl_s: float) -> None:
    """The message names the numbers and what to give."""
    with pytest.raises(ValueError, match="give"):
        Rates(
            cached_fraction=cached,
            minimum_prefix_tokens=minimum,
            block_tokens=block,
            cache_ttl_s=ttl_s,
        )


def test_a_price_of_the_table_gives_its_rates() -> None:
    """Every number that decides, under its own name."""
    for price in prices().models.values():
        rates = rates_of(price)
        assert (rates.cached_fraction, rates.write_fraction) == (
            price.cached_fraction,
            price.cache_write_fraction,
        )
        assert rates.minimum_prefix_tokens == price.minimum_prefix_tokens
        assert (rates.block_tokens, rates.cache_ttl_s) == (price.block_tokens, price.cache_ttl_s)
