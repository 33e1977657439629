"""What a request costs by model, prompt caching included: data, with source and date.

Promise: every name has a price rule. Money is stated only for a model that is in the table, under its name or a dated
one of it; of any other only the rule of its provider is known, and ``input_per_million`` is ``None``.

The table is ``prices.json``. What providers add for very long requests, or take off for batches, is not in it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field, TypeAdapter

from autogen_context.tokens.limits import known_rows
from autogen_context.tokens.model_name import ancestor, squash
from autogen_context.tokens.rates import Rates

OTHER = "other"  # the rule for providers that have none of their own

# What may follow a priced name without another price: a date, "latest", a cloud's revision.
_SAME_MODEL = re.compile(r"(?:[-@]\d{4}-?\d\d-?\d\d)?(?:[-:]latest)?(?:-v\d+:\d+)?")

Money = Annotated[float, Field(ge=0, strict=True)]
Share = Annotated[float, Field(ge=0, strict=True)]
Positive = Annotated[int, Field(ge=1, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What the input and output of one model cost.

    Attributes:
        provider: who sells it; ``"other"`` where that is not known.
        input_per_million: dollars for a million input tokens that are not cached; ``None`` where not known.
        output_per_million: dollars for a million output tokens; ``None`` where not known.
        cached_fraction: what a cached input token costs of that; 1 where nothing is cached.
        cache_write_fraction: what an input token costs of that when it is written to the cache.
        minimum_prefix_tokens: the shortest prefix that is cached, in tokens.
        block_tokens: prefixes are cached in whole blocks of so many tokens.
        cache_ttl_s: how long an unused prefix stays cached at least, in seconds.
        source: where the numbers are from.
        checked: when, as an ISO date.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    provider: str
    input_per_million: Money | None = None
    output_per_million: Money | None = None
    cached_fraction: Share
    cache_write_fraction: Share
    minimum_prefix_tokens: Positive
    block_tokens: Positive
    cache_ttl_s: Positive
    source: Annotated[str, Field(min_length=1)]
    checked: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]

    def cached_tokens(self, shared_tokens: int) -> int:
        """Tokens that are cached of a prefix shared with the request before."""
        return rates_of(self).cached_tokens(shared_tokens)

    def cost_tokens(self, tokens: int, cached_tokens: int) -> float:
        """What a request costs, in uncached input tokens: so that prices compare where dollars are not known."""
        return rates_of(self).cost_tokens(tokens, cached_tokens)


def rates_of(price: Price) -> Rates:
    """What of a price decides about a rewrite of the history."""
    return Rates(
        cached_fraction=price.cached_fraction,
        write_fraction=price.cache_write_fraction,
        minimum_prefix_tokens=price.minimum_prefix_tokens,
        block_tokens=price.block_tokens,
        cache_ttl_s=price.cache_ttl_s,
    )


def price_of(model: str) -> Price:
    """The price of a model, by any spelling, route or date of its name; of its provider where only that is known."""
    models = prices().models
    exact = models.get(squash(model))
    if exact is not None:
        return exact
    found = ancestor(model, models)
    if found is not None and found[0] in models and _is_same_model(model, *found):
        return models[found[0]]
    return prices().providers.get(_provider_of(model), prices().providers[OTHER])


def _is_same_model(model: str, known: str, rest: str) -> bool:
    """Whether the name is the known one and its date, and not another of its family."""
    head = model.casefold().removesuffix(rest)
    starts = [0, *(mark.end() for mark in re.finditer(r"[\W_]", head))]
    is_named = any(squash(head[start:]) == known for start in starts)
    return is_named and _SAME_MODEL.fullmatch(rest) is not None


def _provider_of(model: str) -> str:
    rows = known_rows()
    found = ancestor(model, rows)
    return rows[found[0]].provider if found else OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """Prices by squashed model name, and the rules for caching by provider."""

    models: Mapping[str, Price]
    providers: Mapping[str, Price]


@cache
def prices() -> PriceTable:
    """The table that ships with this package."""
    return read_prices((Path(__file__).parent / "prices.json").read_text(encoding="utf-8"))


def read_prices(text: str) -> PriceTable:
    """Read a table of prices.

    Args:
        text: ``{"providers": {name: rule}, "models": {name: price}}``; a model has what its provider's rule has
            unless it says otherwise.

    Raises:
        ValueError: a row is wrong, names an unknown provider, or there is no rule for ``"other"``.
    """
    rules, rows = _document(json.loads(text))
    providers = {name: _price({"provider": name, **rule}) for name, rule in rules.items()}
    if OTHER not in providers:
        raise ValueError(f"a table of prices needs the provider {OTHER!r}")
    models = {squash(name): _price(_complete(name, row, rules)) for name, row in rows.items()}
    if len(models) < len(rows):
        raise ValueError("two rows of a table of prices are the same model in two spellings")
    return PriceTable(models=models, providers=providers)


Row = dict[str, object]


def _document(document: object) -> tuple[dict[str, Row], dict[str, Row]]:
    tables = TypeAdapter(dict[str, dict[str, Row]]).validate_python(document)
    if tables.keys() != {"providers", "models"}:
        raise ValueError(f"a table of prices has 'providers' and 'models', not {sorted(tables)}")
    return tables["providers"], tables["models"]


def _complete(name: str, row: Row, rules: Mapping[str, Row]) -> Row:
    provider = row.get("provider")
    rule = rules.get(provider) if isinstance(provider, str) else None
    if rule is None:
        raise ValueError(f"row {name!r}: there is no provider {provider!r}")
    return rule | row | {"source": f"{row.get('source', '')}; caching: {rule['source']}"}


def _price(row: Row) -> Price:
    return _adapter().validate_python(row)


@cache
def _adapter() -> TypeAdapter[Price]:
    return TypeAdapter(Price)
