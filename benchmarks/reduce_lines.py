"""How fast each reducer of lines is, on a megabyte of its kind.

Usage: python benchmarks/reduce_lines.py

Tokens are taken as four characters each, so that no tokenizer is in the times.
"""

from collections.abc import Callable, Mapping
from functools import partial

from side_by_side import MakeReady, medians, table

from autogen_context.compressor.arrival.recognise import reducer_for
from autogen_context.compressor.arrival.reducer import Reducer, Room

CHARS = 1_000_000
ROUNDS = 5
ROOM_TOKENS = 2_000
WANTED = frozenset({"total", "invoice", "shop_17.py", "4711", "refund"})
HEAD = ("kind", "recognise", "tighten", "cut", "tightened to")

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
    "output": lambda i: f"Applying shop.{i}_invoice{'.' * (i % 5)} OK ({i % 97})",
}


def main() -> None:
    """Print a row for each kind."""
    texts = {kind: material(line) for kind, line in LINES.items()}
    room = Room(tokens=ROOM_TOKENS, count=quarter, wanted=WANTED)
    alternatives: dict[tuple[str, str], MakeReady] = {}
    for kind, text in texts.items():
        reducer = told(kind, text)
        alternatives[kind, "recognise"] = partial(partial, reducer_for, text)
        alternatives[kind, "tighten"] = partial(partial, reducer.tighten, text)
        alternatives[kind, "cut"] = partial(partial, reducer.cut, text, room)
    taken_s = medians(alternatives, rounds=ROUNDS)
    print(table(HEAD, *(row(kind, text, taken_s) for kind, text in texts.items())))


def material(line: Callable[[int], str]) -> str:
    """Lines of one kind, a megabyte of them."""
    lines: list[str] = []
    size = i = 0
    while size < CHARS:
        lines.append(line(i))
        size += len(lines[-1]) + 1
        i += 1
    return "\n".join(lines)[:CHARS]


def told(kind: str, text: str) -> Reducer:
    """The reducer that takes a text, which is the one of its kind."""
    reducer = reducer_for(text)
    assert reducer is not None
    assert reducer.kind == kind, f"{reducer.kind}, not {kind}"
    return reducer


def quarter(text: str) -> int:
    """Four characters a token, rounded up."""
    return -(-len(text) // 4)


def row(kind: str, text: str, taken_s: Mapping[tuple[str, str], float]) -> list[str]:
    """Megabytes a second, and how much is left without loss."""
    speeds = (len(text) / 1e6 / taken_s[kind, step] for step in ("recognise", "tighten", "cut"))
    share = len(told(kind, text).tighten(text)) / len(text)
    return [kind, *(f"{speed:,.1f} MB/s" for speed in speeds), f"{share:.0%}"]


if __name__ == "__main__":
    main()
