"""Prices of input tokens by model, including prompt caching, from ``prices.json`` with source and date; and of a rewrite.

Promise: every name has a price. Dollar amounts exist only for models in the table, by name or dated name; other models
have only the caching rule of their provider. On a self-hosted engine a cached prefix costs nothing. Nothing else in the project
computes with a price: bills, metrics, pages, benchmarks and the doctor ask here, so that they agree; where nobody says how much
was cached, the cost is unknown and not that of an uncached request. Whether a rewrite of what is cached pays is plain arithmetic
on tokens, and every number that decided is in the result: see docs/decisions/0014-price-of-a-rewrite.md.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple, overload

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from autogen_context.tokens.limits import ancestor, known_rows, squash, variant_of

OTHER = "other"  # the rule for providers without one
LOCAL = "llama.cpp"  # the rule for unknown self-hosted engines

MILLION = 1_000_000  # tokens that a price in dollars is for
HOUR_S = 3600.0
LEAST_FRACTION = 0.1  # of the window; smaller savings are not worth any loss

CostReason = Literal[
    "forced", "too little", "tried in vain", "soon full", "not paid back", "not yet", "pays"
]

# Suffixes that do not change the price: a date, "latest", a cloud provider's revision.
_SAME_MODEL = re.compile(r"(?:[-@]\d{4}-?\d\d-?\d\d)?(?:[-:]latest)?(?:-v\d+:\d+)?")

Strict = Field(strict=True)
Money = Annotated[float, Field(ge=0, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """A provider's prompt cache: prices relative to uncached input tokens, block sizes and TTL."""

    cached_fraction: Annotated[float, Strict]  # of the price of an uncached token; 1 if not cached
    write_fraction: Annotated[float, Strict] = 1.0  # the same for a token written to the cache
    minimum_prefix_tokens: Annotated[int, Strict] = 1  # shortest prefix that is cached
    block_tokens: Annotated[int, Strict] = 1  # prefixes are cached in whole blocks of this size
    cache_ttl_s: Annotated[float, Strict] = 300.0  # least time that an unused prefix stays cached

    def __post_init__(self) -> None:
        """Raise ``ValueError`` unless 0 <= cached_fraction <= write_fraction and all sizes are at least 1."""
        if not 0 <= self.cached_fraction <= self.write_fraction:
            raise ValueError(
                f"cached_fraction={self.cached_fraction}, write_fraction={self.write_fraction}: "
                "give 0 <= cached_fraction <= write_fraction"
            )
        sizes = (self.minimum_prefix_tokens, self.block_tokens, self.cache_ttl_s)
        if min(sizes) < 1:
            names = "minimum_prefix_tokens, block_tokens, cache_ttl_s"
            raise ValueError(f"{names} = {sizes}: give 1 or more")

    def cached_tokens(self, shared_tokens: int) -> int:
        """Return how many tokens are cached of a prefix shared with the previous request."""
        if not self._caches(shared_tokens):
            return 0
        return shared_tokens // self.block_tokens * self.block_tokens

    @overload
    def cost_tokens(self, tokens: int, cached_tokens: int) -> float: ...

    @overload
    def cost_tokens(self, tokens: int, cached_tokens: None) -> float | None: ...

    def cost_tokens(self, tokens: int, cached_tokens: int | None) -> float | None:
        """Return the cost of a request in uncached input tokens; ``None`` if it depends on how many were cached and that is unknown."""
        if cached_tokens is None:
            known = self.cached_fraction == self.write_fraction == 1
            return self.cost_tokens(tokens, 0) if known else None
        is_written = tokens >= max(self.minimum_prefix_tokens, self.block_tokens)
        new = (tokens - cached_tokens) * (self.write_fraction if is_written else 1)
        return cached_tokens * self.cached_fraction + new

    def resend_cost_tokens(self, tokens: int) -> float:
        """Return the cost of resending the same tokens; an incomplete last block counts as cached."""
        return self.cost_tokens(tokens, tokens if self._caches(tokens) else 0)

    def is_cold(self, *, idle_s: float) -> bool:
        """Return True if the cache may have expired, ``idle_s`` seconds after the last request."""
        return idle_s > self.cache_ttl_s

    def _caches(self, tokens: int) -> bool:
        """Whether the next request finds any of a prefix of this length in the cache: of a block at least."""
        shortest = max(self.minimum_prefix_tokens, self.block_tokens)
        return tokens >= shortest and self.cached_fraction < 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Rates):
    """The price of one model, in dollars per million tokens if known."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    provider: str  # "other" if unknown
    input_per_million: Money | None = None  # uncached tokens, in dollars
    hour_write_fraction: Money | None = None  # a token written with a lifetime of an hour
    tokens_per_s: Money | None = None  # prefill speed of a self-hosted engine, uncached tokens
    source: Annotated[str, Field(min_length=1)]
    checked: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]

    def dollars(self, cost_tokens: float | None) -> float | None:
        """Return what a cost in uncached input tokens is in dollars; ``None`` if either is unknown."""
        if cost_tokens is None or self.input_per_million is None:
            return None
        return cost_tokens * self.input_per_million / MILLION

    def seconds(self, cost_tokens: float) -> float | None:
        """Return how long an engine of one's own reads for this cost; ``None`` if its speed is unknown."""
        return cost_tokens / self.tokens_per_s if self.tokens_per_s else None


class PriceTable(NamedTuple):
    """Prices by squashed model name, caching rules by provider or engine, and engines by their aliases."""

    models: Mapping[str, Price]
    providers: Mapping[str, Price]
    engines: Mapping[str, str]


class _File(BaseModel):
    """Schema of ``prices.json``; rows omit the values that equal their provider's rule."""

    providers: dict[str, dict[str, object]]
    engines: dict[str, str]
    models: dict[str, dict[str, object]]


def price_of(model: str) -> Price:
    """Return the price of a model, by any spelling, route or date of its name, else the rule of its provider.

    For a self-hosted engine the model's vendor does not matter: ``ollama/gpt-oss-20b`` has the price of Ollama.
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
    """Return the engine with this alias (a route, or ``owned_by`` of a served model), else an empty string."""
    return prices().engines.get(squash(name), "")


def priced_at(
    model: str,
    *,
    cached_fraction: float | None,
    tokens_per_s: float | None,
    is_hour: bool = False,
) -> Price:
    """Return the price of a model with the given overrides; a given ``tokens_per_s`` means a self-hosted engine.

    ``is_hour``: what is cached is written with a lifetime of an hour, where the provider has such a price.
    """
    price, table = price_of(model), prices()
    if is_hour and price.hour_write_fraction is not None:
        price = replace(price, write_fraction=price.hour_write_fraction, cache_ttl_s=HOUR_S)
    if tokens_per_s and price.provider not in table.engines.values():
        price = table.providers[LOCAL]
    price = replace(price, tokens_per_s=tokens_per_s)
    return price if cached_fraction is None else replace(price, cached_fraction=cached_fraction)


@cache
def prices() -> PriceTable:
    """Load the bundled table; model rows override the rule of their provider."""
    file = _File.model_validate_json(Path(__file__).with_name("prices.json").read_bytes())
    price, rules = TypeAdapter(Price).validate_python, file.providers
    models: dict[str, Price] = {}
    for name, row in file.models.items():
        rule = rules[str(row["provider"])]
        source = f"{row['source']}; caching: {rule['source']}"
        models[squash(name)] = price({**rule, **row, "source": source})
    providers = {name: price({"provider": name, **rule}) for name, rule in rules.items()}
    return PriceTable(models, providers, file.engines)


# A rewrite of what the provider has cached


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """How a compaction would change the next request, in tokens (N, p, S of the formula)."""

    window_tokens: int  # N, the request without a compaction
    untouched_tokens: int  # p, its unchanged prefix
    saved_tokens: int  # S, removed behind the prefix
    new_tokens: int = 0  # of N, not sent in any request yet


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePrice:
    """Cost and savings of a compaction, in uncached input tokens."""

    rewrite: Rewrite
    cost_tokens: float  # once; negative if this request gets cheaper by more than one turn saves
    saving_tokens: float  # per turn, this one included; negative if too little is left to be cached
    is_cold: bool  # whether the provider's cache has expired

    def gain_tokens(self, turns: float) -> float:
        """Return the net savings after this many turns."""
        return turns * self.saving_tokens - self.cost_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Whether to compact, and why."""

    why: CostReason  # the first rule that decided
    price: RewritePrice
    turns: float  # expected, this one included
    waited_tokens: float  # cost of waiting so far, this turn included, in uncached tokens

    @property
    def rewrites(self) -> bool:
        """Whether to compact."""
        return self.why in {"forced", "pays"}


def price_of_rewrite(rewrite: Rewrite, rates: Rates, *, is_cold: bool = False) -> RewritePrice:
    """Compute cost and savings of a compaction; ``is_cold`` if the provider's cache has expired."""
    window, left = rewrite.window_tokens, rewrite.window_tokens - rewrite.saved_tokens
    sent = 0 if is_cold else window - rewrite.new_tokens
    unchanged = rates.cost_tokens(window, rates.cached_tokens(sent))
    cut = rates.cost_tokens(left, rates.cached_tokens(min(sent, rewrite.untouched_tokens)))
    saving = rates.resend_cost_tokens(window) - rates.resend_cost_tokens(left)
    return RewritePrice(
        rewrite=rewrite, cost_tokens=cut - unchanged + saving, saving_tokens=saving, is_cold=is_cold
    )


def estimate(
    price: RewritePrice,
    *,
    waited_tokens: float,
    turns: float,
    is_forced: bool = False,
    is_vain: bool = False,
    turns_to_full: float = math.inf,
) -> CostEstimate:
    """Decide whether to compact now; if the window will force it within the expected turns anyway, wait for that."""
    waited, rewrite = waited_tokens + max(0.0, price.saving_tokens), price.rewrite
    if is_forced:
        why: CostReason = "forced"
    elif rewrite.saved_tokens < LEAST_FRACTION * rewrite.window_tokens:
        why = "too little"
    elif is_vain:
        why = "tried in vain"
    elif turns_to_full <= turns:
        why = "soon full"
    elif price.gain_tokens(turns) <= 0:
        why = "not paid back"
    else:
        why = "pays" if waited >= price.cost_tokens else "not yet"
    return CostEstimate(why=why, price=price, turns=turns, waited_tokens=waited)
