"""What is left of a tool's result when it is first sent: tokens, time, and which values are still there.

Usage: python benchmarks/arrival.py [PYTHON]

PYTHON is that of an environment with headroom-ai 0.42 (``python -m venv X && X/bin/pip install headroom-ai==0.42.*``),
beside which the same results are put; it runs in a process of its own, without telemetry.

Each result answers a call whose task names one value in its middle. Of the values of a result 100 are drawn that nobody
asked for. Tokens are GPT-4's. Times are of one result, the median of some, the first left out; of several runs no result
is the same, so that no cache has it.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from side_by_side import table

from autogen_context import IncrementalContextManager
from autogen_context.messages.tool_schema import recall_tool_schema
from autogen_context.testing import ChatMessage
from autogen_context.tokens.message_counter import MessageCounter

RUNS = 7
DRAWN = 100
ASKED = "zebra-4711"
ERROR = "ERROR: disk sdq is gone"
HEAD = ("result", "way", "tokens", "left", "time", "asked for", "error", "other values")
LIMIT_S = 300

Peer = Callable[[list[list[ChatMessage]]], list[tuple[str, float]]]

HEADROOM = """
import json, sys, time
from headroom import compress
out = []
for messages in json.load(sys.stdin):
    started = time.perf_counter()
    done = compress(messages, model="gpt-4-turbo", protect_recent=0).messages
    taken = time.perf_counter() - started
    out.append([next(str(m["content"]) for m in done if m["role"] == "tool"), taken])
json.dump(out, open(sys.argv[1], "w"))
"""
QUIET = {
    "HEADROOM_OFFLINE": "1",
    "HEADROOM_TELEMETRY": "off",
    "HEADROOM_TELEMETRY_DISABLED": "1",
    "HEADROOM_BEACON": "off",
    "HF_HUB_OFFLINE": "1",
}


def main() -> None:
    """Print a row for each kind of result and way to send it."""
    ways: dict[str, Peer] = {"lossless": ours(recalls=False), "with recall": ours(recalls=True)}
    if len(sys.argv) > 1:
        ways["headroom-ai"] = headroom(Path(sys.argv[1]))
    else:
        print("headroom-ai is left out: name the Python of an environment that has it\n")
    rows = [row for kind in RESULTS for row in rows_of(kind, ways)]
    print(table(HEAD, *rows))


def rows_of(kind: str, ways: Mapping[str, Peer]) -> Iterator[Sequence[str]]:
    """A row for each way."""
    chance = random.Random(kind)  # noqa: S311 - the same results each time
    made = [RESULTS[kind](chance) for _ in range(RUNS)]
    conversations = [conversation(text) for text, _ in made]
    for name, send in ways.items():
        sent = send(conversations)
        yield row(kind, name, made, sent)


def row(
    kind: str, way: str, made: Sequence[tuple[str, list[str]]], sent: Sequence[tuple[str, float]]
) -> list[str]:
    """Means over the runs."""
    count = MessageCounter.for_model("gpt-4-turbo").text
    before = sum(count(text) for text, _ in made)
    after = sum(count(text) for text, _ in sent)
    texts = [text for text, _ in sent]
    others = [
        value in text for (_, values), text in zip(made, texts, strict=True) for value in values
    ]
    return [
        kind,
        way,
        f"{before // len(made):,}",
        f"{after / before:.0%}",
        f"{median(taken_s for _, taken_s in sent[1:]) * 1e3:,.1f} ms",
        f"{sum(ASKED in text for text in texts)}/{len(texts)}",
        f"{sum(ERROR in text for text in texts)}/{len(texts)}",
        f"{sum(others) / len(others):.0%}",
    ]


def conversation(result: str) -> list[ChatMessage]:
    """A task, a call, and what it returned."""
    function = {"name": "bash", "arguments": json.dumps({"command": "make report"})}
    return [
        {"role": "user", "content": f"Find out what happened to {ASKED}."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def ours(*, recalls: bool) -> Peer:
    """A manager for each conversation, with the tool to ask back or without."""
    tools = [recall_tool_schema()] if recalls else []

    def send(conversations: list[list[ChatMessage]]) -> list[tuple[str, float]]:
        return [timed(messages) for messages in conversations]

    def timed(messages: list[ChatMessage]) -> tuple[str, float]:
        manager = IncrementalContextManager(model="gpt-4-turbo")
        manager.prepare_nowait(messages[:1], tools)  # the tokenizer is there
        started = perf_counter()
        sent = manager.prepare_nowait(messages, tools).messages
        return str(sent[-1]["content"]), perf_counter() - started

    return send


def headroom(python: Path) -> Peer:
    """The other library in its environment, with its defaults but for newest messages, which it would spare."""

    def send(conversations: list[list[ChatMessage]]) -> list[tuple[str, float]]:
        with tempfile.TemporaryDirectory() as home:
            found = Path(home) / "sent.json"
            subprocess.run(  # noqa: S603 - the program above, by the user's Python
                [python, "-c", HEADROOM, found],
                input=json.dumps(conversations),
                text=True,
                check=True,
                timeout=LIMIT_S,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "HOME": home, **QUIET},
            )
            sent: list[list[object]] = json.loads(found.read_text("utf-8"))
        return [(str(text), float(str(taken_s))) for text, taken_s in sent]

    return send


def planted(lines: list[str], chance: random.Random, values: list[str]) -> tuple[str, list[str]]:
    """The lines as a text, and values drawn from them."""
    return "\n".join(lines), chance.sample(values, DRAWN)


def json_rows(chance: random.Random) -> tuple[str, list[str]]:
    """300 records as an API gives them."""
    names = [f"user-{chance.randrange(10**6)}" for _ in range(300)]
    rows = [
        {"id": i, "name": name, "state": "ok", "score": chance.random(), "city": "Ghent"}
        for i, name in enumerate(names)
    ]
    rows[140]["name"], rows[100]["state"] = ASKED, ERROR
    return json.dumps({"total": 300, "items": rows}, indent=2), chance.sample(names, DRAWN)


def log(chance: random.Random) -> tuple[str, list[str]]:
    """600 lines of a service."""
    jobs = [f"job-{chance.randrange(10**6)}" for _ in range(600)]
    lines = [
        f"2024-05-14 10:{i // 60:02d}:{i % 60:02d},117 INFO shop.worker: {job} took {i % 97} ms"
        for i, job in enumerate(jobs)
    ]
    lines[290] = lines[290].replace(jobs[290], ASKED)
    lines[200] = f"2024-05-14 10:03:20,117 {ERROR}"
    return planted(lines, chance, jobs)


def search(chance: random.Random) -> tuple[str, list[str]]:
    """400 hits in 40 files."""
    names = [f"invoice_{chance.randrange(10**6)}" for _ in range(400)]
    lines = [
        f"src/shop/part_{i // 10}.py:{i % 10 * 31}:    total = self.{name}.total()"
        for i, name in enumerate(names)
    ]
    lines[195] += f"  # {ASKED}"
    lines[130] += f"  # {ERROR}"
    return planted(lines, chance, names)


def code(chance: random.Random) -> tuple[str, list[str]]:
    """A module of 80 functions."""
    names = [f"invoice_{chance.randrange(10**6)}" for _ in range(80)]
    lines = ["import shop", ""]
    for name in names:
        inner = [f"step_{chance.randrange(10**6)}" for _ in range(4)]
        lines += [f"def {name}(order):", f'    """Total of {name}."""', "    total = 0"]
        lines += [f"    total += order.{step}(total)" for step in inner]
        lines += ["    return total", "", ""]
        names = [*names, *inner]
    lines[400] += f"  # {ASKED}"
    lines[301] += f'  # raises "{ERROR}"'
    return planted(lines, chance, names)


RESULTS: Mapping[str, Callable[[random.Random], tuple[str, list[str]]]] = {
    "JSON": json_rows,
    "log": log,
    "search results": search,
    "code": code,
}


if __name__ == "__main__":
    main()
