"""``autogen-context limits``: a model's token limits, their source, and the sources tried before it.

Promise: the sources and their order are those that an agent uses; nothing is changed.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from itertools import groupby

from autogen_context.cli import print_json, print_lines
from autogen_context.tokens.discovery import Discovery
from autogen_context.tokens.limits import (
    LookupStep,
    ModelLimit,
    ModelLimits,
    known_rows,
    unrouted,
    variable_for,
)
from autogen_context.tokens.prices import engine_of


def show_limits(model: str | None, url: str | None, *, as_json: bool) -> None:
    """Print the limits of one model, or the table of known models."""
    if model is None and url:
        raise ValueError("--discover asks about one model; name it: limits MODEL --discover URL")
    if model is None:
        rows = list(known_rows().values())
        print_json(rows) if as_json else print_lines(*table(rows))
        return
    limit, chain = asked(model, url)
    if as_json:
        print_json({**limit.model_dump(), "asked": [step._asdict() for step in chain]})
    else:
        print_lines(*one(limit, chain))


def asked(model: str, url: str | None) -> tuple[ModelLimit, Sequence[LookupStep]]:
    """Return the limits of a model, and the sources in lookup order."""
    key = os.environ.get("OPENAI_API_KEY")
    limits = ModelLimits(discovery=Discovery(url, api_key=key) if url else None)
    limit = asyncio.run(limits.alookup(model))
    # This process's own cache was just filled and would only repeat the answer.
    return limit, [step for step in limits.trace(model) if step.source != "cache"]


def one(limit: ModelLimit, chain: Sequence[LookupStep]) -> Iterator[str]:
    """Yield the limits of a model and a line per source, with an arrow at the one used."""
    yield f"{limit.model}: {limit.input_tokens:,} input tokens ({limit.source})"
    yield ""
    yield f"  input   {limit.input_tokens:>12,}  the most a request may have"
    if limit.output_tokens:
        yield f"  output  {limit.output_tokens:>12,}  the most an answer may have"
    yield f"  window  {limit.window_tokens:>12,}  both together"
    if limit.prompt_tokens != limit.input_tokens:
        yield f"  prompt  {limit.prompt_tokens:>12,}  what is used of the input, so that an answer fits"
    if engine_of(limit.provider):
        name = f"{limit.provider}/{unrouted(limit.model)}".lower()
        yield ""
        yield f"  {limit.provider} serves it, for which a prefix that it has read costs nothing: model={name!r} says so"
    yield ""
    yield "  asked in this order, the first that knows wins:"
    winner = next(step for step in chain if step.limit)
    width = max(len(step.source) for step in chain)
    for step in chain:
        mark = "->" if step is winner else "  "
        tokens = f"{step.limit.input_tokens:,}" if step.limit else "-"
        yield f"  {mark} {step.source:<{width}}  {tokens:>10}  {step.note}".rstrip()
    if limit.source == "default":
        yield ""
        yield "  No source knows this model. Set its input limit:"
        yield f"     export {variable_for(limit.model)}={limit.input_tokens}"


def table(rows: list[ModelLimit]) -> Iterator[str]:
    """Yield the known models by provider."""
    width = max(len(row.model) for row in rows)
    for provider, models in groupby(rows, key=lambda row: row.provider):
        yield f"{provider:<{width + 2}}  {'input':>10}  {'output':>9}  {'window':>10}"
        for row in models:
            limits = f"{row.input_tokens:>10,}  {row.output_tokens or 0:>9,}"
            yield f"  {row.model:<{width}}  {limits}  {row.window_tokens:>10,}"
        yield ""
    yield f"{len(rows)} models. Any other name is looked up too: autogen-context limits MODEL"
