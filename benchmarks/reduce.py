"""How fast each kind of content is reduced, on a megabyte of it.

Usage: python benchmarks/reduce.py

Megabytes of input a second: to tell the kind, to tell and tighten it, to cut it to 2,000 tokens with some words wanted.
Tokens are taken as four characters each, so that no tokenizer is in the times. Processor time, the best of some runs.
"""

import json
from collections.abc import Callable, Mapping
from time import process_time

from side_by_side import table

from autogen_context.compressor.kinds import OUTPUT, reducer_for
from autogen_context.compressor.lines import TextLimit

CHARS = 1_000_000
RUNS = 5
ROOM_TOKENS = 2_000
WANTED = frozenset({"total", "invoice", "shop_17.py", "4711", "refund", "user-77"})
HEAD = ("kind", "told as", "recognise", "tighten", "cut", "tightened to")

LINES: Mapping[str, Callable[[int], str]] = {
    "log": lambda i: (
        f"2024-05-14 10:{i // 60 % 60:02d}:{i % 60:02d},117 INFO shop.db: invoice {i} took {i % 97} ms"
    ),
    "trace": lambda i: (
        f'  File "/app/lib/python3.11/site-packages/shop/db_{i % 40}.py", line {i}, in call\n    return self.handler(request)'
    ),
    "tests": lambda i: (
        f"tests/test_shop_{i % 40}.py::test_invoice_{i} PASSED                    [ 17%]"
    ),
    "diff": lambda i: (
        f"{'+- '[i % 3]}    total = invoice_{i}.total() + refund"
        if i % 20
        else f"--- a/shop_{i}.py\n+++ b/shop_{i}.py\n@@ -{i},9 +{i},9 @@ class Shop:"
    ),
    "listing": lambda i: f"./src/shop/handlers_{i // 25}/invoice_{i}.py",
    "hits": lambda i: f"src/shop/handlers_{i // 25}.py:{i}:    total = self.invoice_{i}.total()",
    "code": lambda i: (
        f"{i:6d}\t    total = self.invoice_{i}.total()"
        if i % 15
        else f"{i:6d}\tdef invoice_{i}(self, refund):"
    ),
    "prose": lambda i: (
        f"The invoice of customer {i} was sent in May. It has not been paid, and no refund was asked for."
    ),
    "csv": lambda i: f"{i},user-{i},{i % 97}.5,order {i} done" if i else "id,name,score,note",
    "output": lambda i: f"Applying shop.{i}_invoice{'.' * (i % 5)} OK ({i % 97})",
}


def record(i: int) -> dict[str, object]:
    """As an API answers."""
    address = {"city": "Ghent", "zip": f"{i:05}"}
    return {"id": i, "name": f"user-{i}", "score": i / 7, "tags": ["a", "b"], "address": address}


def main() -> None:
    """Print a row for each kind."""
    records = [record(i) for i in range(9_000)]
    texts = {kind: material(line) for kind, line in LINES.items()} | {
        "json": json.dumps({"items": records}),
        "json, indented": json.dumps(records, indent=2),
        "json lines": "\n".join(map(json.dumps, records)),
        "json without its end": json.dumps(records)[:-40],
    }
    print(table(HEAD, *(row(kind, text) for kind, text in texts.items())))


def material(line: Callable[[int], str]) -> str:
    """Lines of one kind, a megabyte of them."""
    lines: list[str] = []
    size = i = 0
    while size < CHARS:
        lines.append(line(i))
        size += len(lines[-1]) + 1
        i += 1
    return "\n".join(lines)[:CHARS]


def row(kind: str, text: str) -> list[str]:
    """Megabytes a second, and how much is left without loss."""
    reducer = reducer_for(text) or OUTPUT
    room = TextLimit(tokens=ROOM_TOKENS, count=lambda part: -(-len(part) // 4), wanted=WANTED)
    speeds = (
        speed(text, lambda: reducer_for(text)),
        speed(text, lambda: (reducer_for(text), reducer.tighten(text))),
        speed(text, lambda: reducer.cut(text, room)),
    )
    left = len(reducer.tighten(text)) / len(text)
    return [kind, reducer.kind, *(f"{each:,.1f} MB/s" for each in speeds), f"{left:.0%}"]


def speed(text: str, work: Callable[[], object]) -> float:
    """Megabytes a second."""
    took: list[float] = []
    for _ in range(RUNS):
        started = process_time()
        work()
        took.append(process_time() - started)
    return len(text) / 1e6 / max(1e-9, min(took))


if __name__ == "__main__":
    main()
