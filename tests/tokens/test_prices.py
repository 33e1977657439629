"""What input tokens cost where prefixes are cached, the table of prices, and how a name finds its row."""

import inspect
import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.tokens.limits import known_rows
from autogen_context.tokens.prices import OTHER, Price, Rates, price_of, priced_at, prices

TABLE = prices()
EVERY_PRICE = st.sampled_from([*TABLE.models.values(), *TABLE.providers.values()])
TOKENS = st.integers(0, 2_000_000)
WRITTEN = Rates(
    cached_fraction=0.1, write_fraction=1.25, minimum_prefix_tokens=1024, block_tokens=128
)
UNCACHED = Rates(cached_fraction=1, write_fraction=1.25)
SHARE_ALONE = Rates(cached_fraction=0.5)
BLOCKS_ALONE = Rates(cached_fraction=0, block_tokens=16)
REQUESTS = {
    "a token too short": (WRITTEN, 1_023, 0, (1_023, 1_023, 1_023)),
    "just long enough": (WRITTEN, 1_024, 1_024, (1_280, 102.4, 102.4)),
    "a token short of a block": (WRITTEN, 1_151, 1_024, (1_438.75, 261.15, 115.1)),
    "a block more": (WRITTEN, 1_152, 1_152, (1_440, 115.2, 115.2)),
    "nothing is ever cached": (UNCACHED, 1_000, 0, (1_250, 1_250, 1_250)),
    "every token is cached": (SHARE_ALONE, 7, 7, (7, 3.5, 3.5)),
    "a token short of the first block": (BLOCKS_ALONE, 15, 0, (15, 15, 15)),
    "the first block": (BLOCKS_ALONE, 16, 16, (16, 0, 0)),
}


@pytest.mark.parametrize(("rates", "tokens", "cached", "costs"), REQUESTS.values(), ids=REQUESTS)
def test_a_request(rates: Rates, tokens: int, cached: int, costs: tuple[float, ...]) -> None:
    """What of it is cached; what it costs at first, sent again, and in a conversation that goes on."""
    assert rates.cached_tokens(tokens) == cached
    found = (rates.cost_tokens(tokens, 0), rates.cost_tokens(tokens, cached))
    assert (*found, rates.resend_cost_tokens(tokens)) == pytest.approx(costs)


@given(price=EVERY_PRICE, tokens=TOKENS, shared=TOKENS)
@example(price=TABLE.providers["vLLM"], tokens=1, shared=1)
def test_a_cached_token_costs_no_more_than_a_new_one(
    price: Price, tokens: int, shared: int
) -> None:
    """Whole blocks of a long prefix are cached; a hit makes no request dearer, nor cheaper than all of it cached."""
    cached = price.cached_tokens(min(shared, tokens))
    assert 0 <= cached <= shared
    assert cached % price.block_tokens == 0
    shortest = max(price.minimum_prefix_tokens, price.block_tokens)
    caches = min(shared, tokens) >= shortest and price.cached_fraction < 1
    assert caches == (min(shared, tokens) - cached < price.block_tokens and cached > 0)
    cost = price.cost_tokens(tokens, cached)
    assert cost <= price.cost_tokens(tokens, 0)
    assert cost >= tokens * price.cached_fraction * 0.999


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


@given(name=st.text(max_size=60))
def test_every_name_has_a_rule(name: str) -> None:
    """No text is refused."""
    assert price_of(name).source


def test_each_row_says_where_it_is_from() -> None:
    """Source and date of price and caching, plausible numbers, and the names that providers have in the limits."""
    path = Path(inspect.getfile(Rates)).with_name("prices.json")
    rows: dict[str, dict[str, object]] = json.loads(path.read_text("utf-8"))["models"]
    assert len(TABLE.models) == len(rows)  # none in two spellings
    for name, row in rows.items():
        price, rule = price_of(name), TABLE.providers[str(row["provider"])]
        assert price.block_tokens == row.get("block_tokens", rule.block_tokens)
    for price in TABLE.models.values():
        assert "; caching: " in price.source
        assert date.fromisoformat(price.checked) <= date(2026, 11, 21)
        assert 0.01 <= (price.input_per_million or 0) <= 1_000
        assert 0 < price.cached_fraction <= 1 <= price.write_fraction <= 2
    sellers = {row.provider for row in known_rows().values()}
    assert TABLE.providers.keys() == {
        OTHER,
        *sellers & TABLE.providers.keys(),
        *TABLE.engines.values(),
    }


def test_who_reads_so_many_tokens_a_second_is_an_engine() -> None:
    """No price list holds for it then; what the user says of cached tokens does."""
    price = priced_at("gpt-4o", cached_fraction=None, tokens_per_s=190.0)
    assert (price.input_per_million, price.cached_fraction, price.tokens_per_s) == (None, 0, 190)
    assert not price.is_cold(idle_s=86_400)
    assert priced_at("ollama/m", cached_fraction=None, tokens_per_s=190.0).is_cold(idle_s=301)
    assert priced_at("gpt-4o", cached_fraction=1.0, tokens_per_s=190.0).cached_fraction == 1
    assert priced_at("gpt-4o", cached_fraction=None, tokens_per_s=None) == price_of("gpt-4o")


def test_what_is_cached_for_an_hour_costs_more_to_write() -> None:
    """Where the provider has such a price, and by the setting; others have one lifetime."""
    short, lasting = (
        priced_at("claude-sonnet-5", cached_fraction=None, tokens_per_s=None, is_hour=is_hour)
        for is_hour in (False, True)
    )
    assert (short.write_fraction, lasting.write_fraction) == (1.25, 2.0)
    assert short.is_cold(idle_s=301)
    assert not lasting.is_cold(idle_s=3_600)
    assert lasting.is_cold(idle_s=3_601)
    other = priced_at("gpt-4o", cached_fraction=None, tokens_per_s=None, is_hour=True)
    assert other == price_of("gpt-4o")


ROWS: dict[str, tuple[str, float | None]] = {
    "gpt-4o-2024-11-20": ("OpenAI", 2.5),
    "gpt-4o-2024-05-13": ("OpenAI", 5.0),
    "azure/gpt-4.1-mini": ("OpenAI", 0.4),
    "us.anthropic.claude-sonnet-4-20250514-v1:0": ("Anthropic", 3.0),
    "gpt-4o-audio-preview": ("OpenAI", None),
    "ft:gpt-4o:acme": ("OpenAI", None),
    "deepseek-chat-v9": ("DeepSeek", None),
    "llama-3.1-8b": (OTHER, None),
    "": (OTHER, None),
    "ollama/llama3.1:8b": ("Ollama", None),
    "ollama_chat/gpt-oss-20b": ("Ollama", None),
    "hosted_vllm/Qwen/Qwen2.5-7B-Instruct": ("vLLM", None),
    "llama.cpp/smollm2": ("llama.cpp", None),
    "LM_Studio/gpt-4o": ("llama.cpp", None),
    "ollama": (OTHER, None),
    "openrouter/meta-llama/llama-3.1-8b": (OTHER, None),
}


@pytest.mark.parametrize(("model", "row"), ROWS.items(), ids=ROWS)
def test_how_a_name_is_priced(model: str, row: tuple[str, float | None]) -> None:
    """Only a date may follow a priced name, as another variant may cost something else; what an engine read of a prefix costs nothing."""
    price = price_of(model)
    assert (price.provider, price.input_per_million) == row
    if price.provider in TABLE.engines.values():
        assert price.cached_fraction == price.resend_cost_tokens(2_000) == 0
        assert price.cost_tokens(2_000, price.cached_tokens(1_600)) == 400


@pytest.mark.parametrize(
    ("model", "cost", "dollars"),
    [("gpt-4o", None, None), ("gpt-4", 1_000.0, 0.03), ("no-such-model", None, None)],
)
def test_what_is_unknown_of_a_bill_is_not_free(
    model: str, cost: float | None, dollars: float | None
) -> None:
    """Where nobody says how much was cached the cost is unknown, unless nothing is cached there; so is a price that is in no table."""
    price = price_of(model)
    assert price.cost_tokens(1_000, None) == cost
    assert price.dollars(price.cost_tokens(1_000, None)) == dollars
    assert price.dollars(None) is price_of("no-such-model").dollars(1_000.0) is None
