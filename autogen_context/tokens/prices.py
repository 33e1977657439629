"""What input tokens cost by model, prompt caching included: data (``prices.json``), with source and date.

Promise: every name has a price. Money is stated only for a model of the table, under its name or a dated one of it; of
any other only its provider's rule for caching is known. An engine of one's own has what it read of a prefix for nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from autogen_context.tokens.limits import ancestor, known_rows, squash, variant_of

OTHER = "other"  # the rule for providers that have none of their own
LOCAL = "llama.cpp"  # the rule for engines of one's own that are not known

# What may follow a priced name without another price: a date, "latest", a cloud's revision.
_SAME_MODEL = re.compile(r"(?:[-@]\d{4}-?\d\d-?\d\d)?(?:[-:]latest)?(?:-v\d+:\d+)?")

Strict = Field(strict=True)
Money = Annotated[float, Field(ge=0, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What a provider asks for cached tokens, and what it caches for how long, in uncached input tokens."""

    cached_fraction: Annotated[float, Strict]  # of an uncached token; 1 where nothing is cached
    write_fraction: Annotated[float, Strict] = 1.0  # of that, for a token written to the cache
    minimum_prefix_tokens: Annotated[int, Strict] = 1  # the shortest prefix that is cached
    block_tokens: Annotated[int, Strict] = 1  # prefixes are cached in whole blocks of so many
    cache_ttl_s: Annotated[float, Strict] = 300.0  # that an unused prefix stays cached at least

    def __post_init__(self) -> None:
        """Refuse cached tokens that cost less than nothing or more than written ones, and sizes below 1."""
        if not 0 <= self.cached_fraction <= self.write_fraction:
            raise ValueError(
                f"cached_fraction={self.cached_fraction}, write_fraction={self.write_fraction}: "
                "give 0 <= cached_fraction <= write_fraction"
            )
        sizes = (self.minimum_prefix_tokens, self.block_tokens, self.cache_ttl_s)
        if min(sizes) < 1:
            raise ValueError(
                f"minimum_prefix_tokens, block_tokens, cache_ttl_s = {sizes}: give 1 or more"
            )

    def cached_tokens(self, shared_tokens: int) -> int:
        """Tokens that are cached of a prefix shared with the request before."""
        if shared_tokens < self.minimum_prefix_tokens or self.cached_fraction >= 1:
            return 0
        return shared_tokens // self.block_tokens * self.block_tokens

    def cost_tokens(self, tokens: int, cached_tokens: int) -> float:
        """What a request costs of which so many tokens are cached."""
        is_written = tokens >= self.minimum_prefix_tokens
        new = (tokens - cached_tokens) * (self.write_fraction if is_written else 1)
        return cached_tokens * self.cached_fraction + new

    def standing_tokens(self, tokens: int) -> float:
        """What it costs to send the same tokens once more; what the last block leaves over is taken for cached."""
        is_cached = tokens >= self.minimum_prefix_tokens and self.cached_fraction < 1
        return self.cost_tokens(tokens, tokens if is_cached else 0)

    def is_cold(self, *, idle_s: float) -> bool:
        """Whether nothing may be cached any more, so many seconds after the last request."""
        return idle_s > self.cache_ttl_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Rates):
    """What one model costs, in dollars for a million tokens, where that is known."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    provider: str  # who sells it; "other" where that is not known
    input_per_million: Money | None = None  # that are not cached
    tokens_per_s: Money | None = None  # that are not cached, which an engine of one's own reads
    source: Annotated[str, Field(min_length=1)]
    checked: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]


class PriceTable(NamedTuple):
    """Prices by squashed model name, the rules for caching by provider or engine, and engines by the names they go by."""

    models: Mapping[str, Price]
    providers: Mapping[str, Price]
    engines: Mapping[str, str]


class _File(BaseModel):
    """``prices.json`` as it is written: rows that leave out what the rule of their provider says."""

    providers: dict[str, dict[str, object]]
    engines: dict[str, str]
    models: dict[str, dict[str, object]]


def price_of(model: str) -> Price:
    """The price of a model, by any spelling, route or date of its name; of its provider where only that is known.

    Whose model an engine of one's own serves does not matter: ``ollama/gpt-oss-20b`` has the price of Ollama.
    """
    models, providers, _ = prices()
    for route in model.split("/")[:-1]:
        if engine := engine_of(route):
            return providers[engine]
    known, rest = variant_of(model, models) or ("", "")
    if known and _SAME_MODEL.fullmatch(rest):
        return models[known]
    rows = known_rows()
    found = ancestor(model, rows)
    return providers.get(rows[found[0]].provider if found else OTHER, providers[OTHER])


def engine_of(name: str) -> str:
    """The engine that goes by a name, as a route or as who owns a model that is served; empty where it is none."""
    return prices().engines.get(squash(name), "")


def priced_at(model: str, *, cached_fraction: float | None, tokens_per_s: float | None) -> Price:
    """The price of a model with what was told of it; whoever reads so many tokens a second is an engine of one's own."""
    price, table = price_of(model), prices()
    if tokens_per_s and price.provider not in table.engines.values():
        price = table.providers[LOCAL]
    price = replace(price, tokens_per_s=tokens_per_s)
    return price if cached_fraction is None else replace(price, cached_fraction=cached_fraction)


@cache
def prices() -> PriceTable:
    """The table that ships with this package; a model has its provider's rule but for what it says."""
    file = _File.model_validate_json(Path(__file__).with_name("prices.json").read_bytes())
    price, rules = TypeAdapter(Price).validate_python, file.providers
    models: dict[str, Price] = {}
    for name, row in file.models.items():
        rule = rules[str(row["provider"])]
        source = f"{row['source']}; caching: {rule['source']}"
        models[squash(name)] = price({**rule, **row, "source": source})
    providers = {name: price({"provider": name, **rule}) for name, rule in rules.items()}
    return PriceTable(models, providers, file.engines)
