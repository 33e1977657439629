"""``autogen-context limits``: what a model accepts, who says so, and who was asked before.

Promise: it reads the same sources in the same order as an agent does, and changes nothing.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from autogen_context.tokens.discovery import Discovery
from autogen_context.tokens.limits import (
    ModelLimit,
    ModelLimits,
    Step,
    known_rows,
    variable_for,
)

if TYPE_CHECKING:
    from autogen_context.cli.main import Subparsers


class _Arguments(argparse.Namespace):
    model: str | None
    discover: str | None
    json: bool


def add_parser(subparsers: "Subparsers") -> None:
    """Add ``limits`` to the command."""
    parser = subparsers.add_parser(
        "limits",
        help="how many tokens a model accepts, and who says so",
        description="How many tokens a model accepts, who says so, and who was asked before. "
        "Without MODEL: the known models.",
    )
    parser.add_argument("model", nargs="?", metavar="MODEL", help="such as gpt-4o")
    parser.add_argument(
        "--discover",
        metavar="URL",
        help="also ask this OpenAI-compatible endpoint, with OPENAI_API_KEY if that is set",
    )
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the limits of one model, or the table of the known ones; the exit code."""
    given = _Arguments(**vars(arguments))
    if given.model is None and given.discover:
        raise ValueError("--discover asks about one model; name it: limits MODEL --discover URL")
    lines = _known(as_json=given.json) if given.model is None else _one(given.model, given)
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def _one(model: str, given: _Arguments) -> Iterable[str]:
    key = os.environ.get("OPENAI_API_KEY")
    discovery = Discovery(given.discover, api_key=key) if given.discover else None
    limits = ModelLimits(discovery=discovery)
    limit = asyncio.run(limits.alookup(model))
    # The cache is this process's own and just filled: it would only repeat the answer.
    chain = [step for step in limits.trace(model) if step.source != "cache"]
    if given.json:
        return [json.dumps(_facts(limit) | {"chain": list(map(_step_facts, chain))}, indent=2)]
    return [*_answer(limit), "", *_chain(chain), *_advice(limit)]


def _facts(limit: ModelLimit) -> dict[str, object]:
    return {
        "model": limit.model,
        "input_tokens": limit.input_tokens,
        "output_tokens": limit.output_tokens,
        "window_tokens": limit.window_tokens,
        "prompt_tokens": limit.prompt_tokens,
        "source": limit.source,
    }


def _step_facts(step: Step) -> dict[str, object]:
    tokens = step.limit.input_tokens if step.limit else None
    return {"source": step.source, "input_tokens": tokens, "note": step.note}


def _answer(limit: ModelLimit) -> Iterator[str]:
    yield f"{limit.model}: {limit.input_tokens:,} input tokens ({limit.source})"
    yield ""
    yield f"  input   {limit.input_tokens:>12,}  the most a request may have"
    if limit.output_tokens:
        yield f"  output  {limit.output_tokens:>12,}  the most an answer may have"
    yield f"  window  {limit.window_tokens:>12,}  both together"
    if limit.prompt_tokens != limit.input_tokens:
        yield f"  prompt  {limit.prompt_tokens:>12,}  what is used of the input, so that an answer fits"


def _chain(steps: list[Step]) -> Iterator[str]:
    """One line for each source, an arrow at the first that knows."""
    winner = next(step for step in steps if step.limit)
    width = max(len(step.source) for step in steps)
    yield "  asked in this order, the first that knows wins:"
    for step in steps:
        mark = "->" if step is winner else "  "
        tokens = f"{step.limit.input_tokens:,}" if step.limit else "-"
        yield f"  {mark} {step.source:<{width}}  {tokens:>10}  {step.note}".rstrip()


def _advice(limit: ModelLimit) -> Iterator[str]:
    if limit.source == "default":
        yield ""
        yield "  No source knows this model. Set its input limit:"
        yield f"     export {variable_for(limit.model)}={limit.input_tokens}"


def _known(*, as_json: bool) -> Iterable[str]:
    rows = list(known_rows().values())
    if as_json:
        facts = [_facts(row) for row in rows]
        return [json.dumps(facts, indent=2)]
    return _table(rows)


def _table(rows: list[ModelLimit]) -> Iterator[str]:
    width = max(len(row.model) for row in rows)
    for provider, models in groupby(rows, key=lambda row: row.provider):
        yield f"{provider:<{width + 2}}  {'input':>10}  {'output':>9}  {'window':>10}"
        for row in models:
            numbers = (
                f"{row.input_tokens:>10,}  {row.output_tokens or 0:>9,}  {row.window_tokens:>10,}"
            )
            yield f"  {row.model:<{width}}  {numbers}"
        yield ""
    yield f"{len(rows)} models. Any other name is looked up too: autogen-context limits MODEL"
