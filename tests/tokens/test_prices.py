"""The table of prices, and how a name finds its row."""

import json
from collections.abc import Mapping
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.tokens.limits import known_rows
from autogen_context.tokens.prices import OTHER, Price, price_of, prices, read_prices

TABLE = prices()
EVERY_PRICE = st.sampled_from([*TABLE.models.values(), *TABLE.providers.values()])
TOKENS = st.integers(0, 2_000_000)


@given(price=EVERY_PRICE, shared=TOKENS)
def test_no_more_is_cached_than_is_shared(price: Price, shared: int) -> None:
    """Whole blocks of a prefix that is long enough, less than a block below it; nothing of a shorter one."""
    cached = price.cached_tokens(shared)
    assert 0 <= cached <= shared
    assert cached % price.block_tokens == 0
    if shared < price.minimum_prefix_tokens or price.cached_fraction == 1:
        assert cached == 0
    else:
        assert shared - cached < price.block_tokens


@given(price=EVERY_PRICE, tokens=TOKENS, shared=TOKENS)
def test_a_cached_token_costs_no_more_than_a_new_one(
    price: Price, tokens: int, shared: int
) -> None:
    """A hit never makes a request dearer, and nothing costs less than all of it cached."""
    cached = price.cached_tokens(min(shared, tokens))
    cost = price.cost_tokens(tokens, cached)
    assert cost <= price.cost_tokens(tokens, 0)
    assert cost >= tokens * price.cached_fraction * 0.999


def test_only_what_is_long_enough_is_written_to_the_cache() -> None:
    """Below the shortest prefix nothing is cached, so nothing is paid for writing it."""
    price = price_of("claude-sonnet-4-5")
    assert (price.minimum_prefix_tokens, price.cache_write_fraction) == (1024, 1.25)
    assert price.cost_tokens(1000, 0) == 1000
    assert price.cost_tokens(2000, 0) == 2500


@given(name=st.text(max_size=60))
def test_every_name_has_a_rule(name: str) -> None:
    """No text is refused, and dollars are stated for both ways or for none."""
    price = price_of(name)
    assert (price.input_per_million is None) == (price.output_per_million is None)


@pytest.mark.parametrize("row", sorted(TABLE.models))
def test_a_row_says_where_it_is_from(row: str) -> None:
    """Source and date of the price and of the caching; plausible numbers."""
    price = TABLE.models[row]
    assert "; caching: " in price.source
    assert date.fromisoformat(price.checked) <= date(2026, 11, 21)
    assert price.input_per_million is not None
    assert price.output_per_million is not None
    assert 0.01 <= price.input_per_million <= price.output_per_million <= 1_000
    assert 0 < price.cached_fraction <= 1 <= price.cache_write_fraction <= 2


def test_providers_have_the_names_of_the_limits() -> None:
    """Otherwise a model of theirs without a price would get the rule of nobody."""
    assert TABLE.providers.keys() - {OTHER} <= {row.provider for row in known_rows().values()}


@pytest.mark.parametrize(
    ("model", "provider", "dollars"),
    [
        ("gpt-4o", "OpenAI", 2.5),
        ("GPT_4o", "OpenAI", 2.5),
        ("openai/gpt-4o", "OpenAI", 2.5),
        ("gpt-4o-2024-11-20", "OpenAI", 2.5),
        ("gpt-4o-2024-05-13", "OpenAI", 5.0),
        ("azure/gpt-4.1-mini", "OpenAI", 0.4),
        ("claude-3-5-sonnet-20241022", "Anthropic", 3.0),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "Anthropic", 3.0),
        ("claude-sonnet-4-5@20250929", "Anthropic", 3.0),
        ("gemini/gemini-2.5-pro", "Google", 1.25),
        ("gpt-4o-audio-preview", "OpenAI", None),
        ("chatgpt-4o-latest", "OpenAI", None),
        ("gpt-4.7", "OpenAI", None),
        ("ft:gpt-4o:acme", "OpenAI", None),
        ("gpt-5+orchestrator", "OpenAI", None),
        ("claude-9", "Anthropic", None),
        ("deepseek-chat-v9", "DeepSeek", None),
        ("llama-3.1-8b", OTHER, None),
        ("nobody-knows", OTHER, None),
        ("", OTHER, None),
    ],
)
def test_only_a_date_may_follow_a_priced_name(
    model: str, provider: str, dollars: float | None
) -> None:
    """Another variant may cost something else, so its dollars are not guessed; its provider's caching is known."""
    price = price_of(model)
    assert (price.provider, price.input_per_million) == (provider, dollars)


RULE = {
    "cached_fraction": 0.1,
    "cache_write_fraction": 1,
    "minimum_prefix_tokens": 1024,
    "block_tokens": 128,
    "cache_ttl_s": 300,
    "source": "here",
    "checked": "2026-11-21",
}
MODEL = {"provider": OTHER, "input_per_million": 1, "source": "there", "checked": "2026-11-21"}


def test_a_model_overrides_its_provider() -> None:
    """What a row does not say is the provider's."""
    document = {"providers": {OTHER: RULE}, "models": {"m": MODEL | {"block_tokens": 64}}}
    price = read_prices(json.dumps(document)).models["m"]
    assert (price.block_tokens, price.minimum_prefix_tokens) == (64, 1024)
    assert price.source == "there; caching: here"


@pytest.mark.parametrize(
    ("rule", "rows", "named"),
    [
        ({"cached_fraction": "0.1"}, {}, "cached_fraction"),
        ({"cached_fraction": -1}, {}, "cached_fraction"),
        ({"block_tokens": 0}, {}, "block_tokens"),
        ({"block_tokens": True}, {}, "block_tokens"),
        ({"source": ""}, {}, "source"),
        ({"checked": "yesterday"}, {}, "checked"),
        ({"blocks": 1}, {}, "blocks"),
        ({}, {"m": MODEL | {"provider": "X"}}, "'X'"),
        ({}, {"m": {}}, "'m'"),
        ({}, {"m-1": MODEL, "m1": MODEL}, "two spellings"),
    ],
    ids=str,
)
def test_a_wrong_table_is_refused(
    rule: Mapping[str, object], rows: Mapping[str, object], named: str
) -> None:
    """The error names what is wrong."""
    with pytest.raises(ValueError, match=named):
        read_prices(json.dumps({"providers": {OTHER: {**RULE, **rule}}, "models": rows}))


@pytest.mark.parametrize("text", ['{"providers": {}, "models": {}}', '{"models": {}}', "[]"])
def test_a_table_needs_its_parts(text: str) -> None:
    """Providers with a rule for all others, and models."""
    with pytest.raises(ValueError, match=r"other|providers|dict"):
        read_prices(text)
