"""What tools return: long results of each kind, each with one line that is asked for and one that tells of an error.

Agents that get such results, as lists of messages: several calls at once, some results short, some returned again.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from hypothesis import strategies as st

from autogen_context.testing import ChatMessage
from support.saying import asks, call_of, tells

NEEDLE = "zebra_4711"
ERROR = "ERROR: disk sdq is gone"
PLANTED: Mapping[str, Callable[[int], str]] = {
    "log": lambda i: (
        f"2024-05-14 10:{i // 60:02d}:{i % 60:02d} INFO shop.db: row {i} took {i % 97} ms"
    ),
    "hits": lambda i: f"src/shop/part_{i // 25}.py:{i}:    total = self.invoice_{i}.total()",
    "listing": lambda i: f"./src/shop/part_{i // 25}/invoice_{i}.py",
    "output": lambda i: f"Applying shop.{i}_invoice... OK",
    "tests": lambda i: f"tests/test_part_{i % 9}.py::test_invoice_{i} PASSED         [ 17%]",
    "code": lambda i: (
        f"    {'def' if i % 5 == 0 else 'total ='} invoice_{i}(refund){':' * (i % 5 == 0)}"
    ),
    "diff": lambda i: f"{'+- '[i % 3]}    total = invoice_{i}.total() + refund",
    "prose": lambda i: f"The invoice of customer {i} was sent in May, and nobody has paid it.",
}  # kind: a line of it
LINES = 600


def planted(kind: str, lines: int = LINES) -> str:
    """A long result of a kind with both lines in it."""
    rows = [PLANTED[kind](i) for i in range(lines)]
    rows[lines // 2 + 5] += f"{'/' if kind == 'listing' else ' '}{NEEDLE}"
    if kind not in ("listing", "diff", "code"):
        rows[lines // 3] = f"{rows[lines // 3].split('INFO')[0] if kind == 'log' else ''}{ERROR}"
    head = ["--- a/shop.py", "+++ b/shop.py", "@@ -1,99 +1,99 @@"] if kind == "diff" else []
    return "\n".join((*head, *rows))


def rows_of_json(rows: int, *, indent: int | None = None) -> str:
    """Records, one of them asked for and one failed."""
    records = [
        {"id": i, "user": f"user-{i}", "state": "ok", "score": i * 7 % 101 / 100}
        for i in range(rows)
    ]
    records[rows // 2]["user"] = NEEDLE
    records[rows // 3]["state"] = ERROR
    return json.dumps({"total": rows, "items": records}, indent=indent)


def table(rows: int) -> str:
    """Columns, padded."""
    lines = [f"| {i:<6} | user-{i:<20} | ok   |" for i in range(rows)]
    lines[rows // 2] = f"| {rows // 2:<6} | {NEEDLE:<25} | ok   |"
    lines[rows // 3] = f"| {rows // 3:<6} | {ERROR:<25} | bad  |"
    return "\n".join((f"| {'id':<6} | {'user':<25} | state |", "|---|---|---|", *lines))


def page(items: int) -> str:
    """HTML."""
    rows = [
        f"  <div>\n    <p>Invoice {i} <a href='/i/{i}'>more</a></p>\n  </div>" for i in range(items)
    ]
    rows[items // 2] = f"  <p>{NEEDLE}</p>"
    return "\n".join(("<!doctype html>", "<html><body>", *rows, "</body></html>"))


def numbered(text: str) -> str:
    """As ``cat -n`` shows it."""
    return "\n".join(f"{n:6d}\t{line}" for n, line in enumerate(text.split("\n"), 1))


LONG = {
    **{kind: planted(kind) for kind in PLANTED},
    "json": rows_of_json(300),
    "json, indented": rows_of_json(300, indent=2),
    "table": table(400),
    "page": page(400),
    "file": numbered(planted("code")),
}
"""Each has some thousands of tokens."""

BROKEN = {
    "lone surrogates": "\ud800 a\udfff\n" * 3_000,
    "nulls": "\0\0 a\n" * 3_000,
    "one line": "word " * 200_000,
    "one word": "x" * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "lists in lists": "[" * 200 + "]" * 200,
    "objects in objects": '{"a":  ' * 200 + "1" + "}" * 200 + " " * 9_000,
    "never closed": '[{"a": "' * 9_000,
    "a string without end": '{"a": "' + "b " * 9_000,
    "private characters": "".join(map(chr, range(0xE000, 0xF900))),
    "carriage returns": "10%\r20%\r" * 9_000,
    "escapes": "\x1b[31m\x1b]0;" * 9_000,
    "emoji": "👩‍👩‍👧‍👦" * 2_000,
    "marks": '[reduced from 9 tokens; the whole: recall_context(handle="abc")]\n' * 300,
}


def part(text: str, start: int, chars: int) -> str:
    """So many characters of a text."""
    return text[start : start + chars]


PARTS = st.builds(
    part,
    st.sampled_from([*LONG.values(), *BROKEN.values()]),
    st.integers(0, 2_000),
    st.sampled_from([0, 90, 700, 3_000, 9_000, 30_000]),
)
RESULTS = st.lists(PARTS, min_size=1, max_size=2).map("\n".join)
"""Parts of all these, one or two."""

COMMANDS = ("cat src/shop.py", "grep -rn total src", "make test", "curl -s http://localhost/orders")


def step(n: int, *results: str, command: str = COMMANDS[0]) -> list[ChatMessage]:
    """Calls at once, and a message for the result of each."""
    ids = [f"c{n}_{i}" for i in range(len(results))]
    return [asks(*(call_of(i, "bash", command=command) for i in ids)), *map(tells, ids, results)]


def runs(results: st.SearchStrategy[str], *, most: int = 6) -> st.SearchStrategy[list[ChatMessage]]:
    """A task, and steps whose results come again at times."""
    picked = st.lists(results, min_size=1, max_size=3).flatmap(
        lambda few: st.lists(
            st.tuples(
                st.lists(st.sampled_from(few), min_size=1, max_size=2), st.sampled_from(COMMANDS)
            ),
            min_size=1,
            max_size=most,
        )
    )
    return picked.map(run)


def run(steps: Sequence[tuple[Sequence[str], str]]) -> list[ChatMessage]:
    """A task, and steps."""
    task: ChatMessage = {"role": "user", "content": f"Find out what happened to {NEEDLE}."}
    done = [step(n, *results, command=command) for n, (results, command) in enumerate(steps)]
    return [task, *(message for messages in done for message in messages)]
