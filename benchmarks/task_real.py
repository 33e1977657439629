"""A small real model at the tasks of ``task_table.py``: what it writes is what happens.

Promise: the harness is the same (tasks, tools, agents, windows, verdicts), and only who answers differs. Where the model writes a call,
in the form that its prompt asks for or in one of two that small models fall into, the tool is called; anything else is an answer.

    python benchmarks/task_real.py [--families rules edits lookups] [--seeds 2] [--window 4000] [--most 20] [--managers ours]

Needs what ``make local`` installs, and the packages of the development group.
"""

import argparse
import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, cast

from small_model import SmallModel
from tasks.client import uncopied
from tasks.families import FAMILIES
from tasks.managers import MANAGERS
from tasks.report import as_text
from tasks.run import Outcome, run
from tasks.sight import Sight
from tasks.task import Task

from autogen_context.testing import Call, Say, Step

PROMPT_TOKENS = 8_000  # by the model's own tokenizer, which has up to twice as many as the server's
ANSWER_TOKENS = 64
REPEAT_PENALTY = 1.1  # without one it goes in circles
HOW_TO_CALL = (
    'To use a tool, write only <tool_call>{"name": "...", "arguments": {...}}</tool_call>.'
)
TAGGED = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|$)", re.DOTALL)
AS_FUNCTION = re.compile(r"\b(\w+)\((\{.*?\})?\)", re.DOTALL)


class Reader:
    """The model as a policy: it reads a request, and answers or calls."""

    def __init__(self, model: SmallModel) -> None:
        self._model = model
        self.read_tokens: list[int] = []  # of each request, what was not in its cache
        self.calls = 0

    def __call__(self, sight: Sight) -> Step:
        """What the model does next."""
        first, *others = sight.messages
        messages = [{**first, "content": f"{first.get('content') or ''}\n{HOW_TO_CALL}"}, *others]
        prompt = self._model.prompt(messages, [dict(tool) for tool in sight.tools])
        reading = self._model.read(
            prompt, answer_tokens=ANSWER_TOKENS, repeat_penalty=REPEAT_PENALTY
        )
        self.read_tokens.append(reading.evaluated_tokens)
        calls = list(calls_in(reading.text, sight.tool_names))
        self.calls += len(calls)
        return calls[:1] or [Say(reading.text)]


def calls_in(text: str, names: frozenset[str]) -> Iterator[Call]:
    """The calls that a text makes, of tools that there are."""
    found = [match[1] for match in TAGGED.finditer(text)] or [text]
    for each in found:
        value = as_object(each)
        if value.get("name") in names:
            arguments = value.get("arguments") or value.get("parameters")
            yield Call(str(value["name"]), mapping(arguments))
    for match in AS_FUNCTION.finditer(text):
        if match[1] in names:
            yield Call(match[1], as_object(match[2] or "{}"))


def as_object(text: str) -> dict[str, Any]:
    """A JSON object; empty where a text is none."""
    try:
        return mapping(json.loads(text))
    except ValueError:
        return {}


def mapping(value: object) -> dict[str, Any]:
    """A JSON object; empty where a value is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def played(family: str, seed: int, reader: Callable[[Sight], Step], most: int) -> Task:
    """A task that the model works at, for this many requests at the most."""
    parts = {"decide": staticmethod(reader), "most_requests": most}
    return cast("Task", type(family, (FAMILIES[family],), parts)(seed))


def outcomes(asked: argparse.Namespace) -> Iterator[Outcome]:
    """The outcome of each run, one after the other, each with nothing in the model's cache."""
    model = SmallModel(window_tokens=PROMPT_TOKENS, answer_tokens=ANSWER_TOKENS)
    for family, seed, name in product(asked.families, range(asked.seeds), asked.managers):
        model.reset()
        reader = Reader(model)
        task = played(family, seed, reader, asked.most)
        with uncopied():
            outcome = asyncio.run(run(task, MANAGERS[name], asked.window))
        read = sum(reader.read_tokens)
        print(
            f"{family} {seed} {name}: {outcome.requests} requests, {reader.calls} calls, {read:,} tokens read, "
            f"{outcome.refused} refused; {outcome.why or 'solved'}",
            flush=True,
        )
        yield outcome


def main() -> None:
    """Run, and show the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--families", nargs="+", choices=[*FAMILIES], default=["rules", "edits", "lookups"]
    )
    parser.add_argument("--managers", nargs="+", choices=[*MANAGERS], default=["ours"])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--window", type=int, default=4_000)
    parser.add_argument("--most", type=int, default=20, help="requests of a task")
    asked = parser.parse_args()
    logging.disable()
    print(as_text(list(outcomes(asked))))


if __name__ == "__main__":
    main()
