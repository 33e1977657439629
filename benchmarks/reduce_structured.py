"""How fast structured content is reduced, and by how much.

Usage: python benchmarks/reduce_structured.py

Generated material of 10 kB to 5 MB for each kind. ``tighten`` is with the look that recognises, ``cut`` to 1,000 tokens
with some words wanted; megabytes are of the input, tokens exact. Processor time, the best of some runs.
"""

import base64
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

from autogen_context.compressor.arrival.binary import Binary
from autogen_context.compressor.arrival.blobs import without_blobs
from autogen_context.compressor.arrival.html import Html
from autogen_context.compressor.arrival.json_text import Json
from autogen_context.compressor.arrival.reducer import Reducer, Room
from autogen_context.compressor.arrival.table import Table
from autogen_context.tokens.gauge import gauge_for

SIZES = (10_000, 100_000, 1_000_000, 5_000_000)
RUNS = 3
ROOM_TOKENS = 1_000
WANTED = frozenset({"user-77", "timeout", "src/app/main.py", "4711"})
PROSE = "alpha beta gamma delta order invoice customer path error ok done value of the and to"
WORDS = PROSE.split()


def main() -> None:
    """Print one row for each kind and size."""
    print(f"{'kind':<22}{'kB':>7}{'tighten MB/s':>14}{'cut MB/s':>10}{'tokens':>9}{'tight':>7}")
    for name, reducer, make in MATERIAL:
        for size in SIZES:
            print(row(name, reducer, grown(make, size)))


def row(name: str, reducer: Reducer, text: str) -> str:
    """Speeds, and what tightening leaves of the tokens."""
    count = gauge_for("gpt-4").counter.count
    room = Room(tokens=ROOM_TOKENS, count=lambda part: count(part).tokens, wanted=WANTED)
    tighten = speed(text, lambda: (reducer.recognises(text), reducer.tighten(text)))
    cut = speed(text, lambda: reducer.cut(text, room))
    tokens = room.count(text)
    left = room.count(reducer.tighten(text)) / tokens
    kb = len(text) / 1_000
    return f"{name:<22}{kb:>7,.0f}{tighten:>14.1f}{cut:>10.1f}{tokens:>9,}{left:>7.0%}"


def speed(text: str, work: Callable[[], object]) -> float:
    """Megabytes a second."""
    took: list[float] = []
    for _ in range(RUNS):
        started = process_time()
        work()
        took.append(process_time() - started)
    return len(text) / 1e6 / max(1e-9, min(took))


def grown(make: Callable[[int, random.Random], str], size: int) -> str:
    """Material of about so many characters."""
    few = len(make(100, random.Random(1)))  # noqa: S311 - the same material each time
    return make(max(1, 100 * size // few), random.Random(1))  # noqa: S311 - the same material each time


def records(rows: int, chance: random.Random) -> Iterator[dict[str, object]]:
    """Like objects."""
    for i in range(rows):
        yield {
            "id": i,
            "name": f"user-{i}",
            "score": round(chance.random(), 4),
            "tags": chance.sample(WORDS, 2),
            "address": {"city": "Ghent", "zip": f"{i:05}"},
            "note": None if i % 3 else sentence(chance),
        }


def sentence(chance: random.Random) -> str:
    """Some words."""
    return " ".join(chance.choices(WORDS, k=12))


def json_list(rows: int, chance: random.Random) -> str:
    """As an API answers."""
    return json.dumps({"total": rows, "items": list(records(rows, chance))})


def json_pretty(rows: int, chance: random.Random) -> str:
    """As a person would have it."""
    return json.dumps(list(records(rows, chance)), indent=2)


def json_lines(rows: int, chance: random.Random) -> str:
    """As a log of events."""
    return "\n".join(map(json.dumps, records(rows, chance)))


def json_cut_off(rows: int, chance: random.Random) -> str:
    """Without its end."""
    return json_list(rows, chance)[:-40]


def csv(rows: int, chance: random.Random) -> str:
    """Values with commas between them."""
    lines = (f"{i},user-{i},{chance.random():.4f},{sentence(chance)}" for i in range(rows))
    return "\n".join(("id,name,score,note", *lines))


def markdown(rows: int, chance: random.Random) -> str:
    """A padded table."""
    lines = (f"| {i:<8} | user-{i:<12} | {sentence(chance):<120} |" for i in range(rows))
    return "\n".join((f"| {'id':<8} | {'name':<17} | {'note':<120} |", "|---|---|---|", *lines))


def processes(rows: int, chance: random.Random) -> str:
    """What ps prints."""
    lines = (
        f"{'root':<8} {i:>8} {chance.random():>5.1f} {i:>9} ?        Ss   /bin/{chance.choice(WORDS)} -x"
        for i in range(rows)
    )
    return "\n".join(
        (f"{'USER':<8} {'PID':>8} {'%CPU':>5} {'RSS':>9} TTY      STAT COMMAND", *lines)
    )


def page(rows: int, chance: random.Random) -> str:
    """Paragraphs, links and a script."""
    items = (
        f"  <div class='item'>\n    <p>{sentence(chance)} <a href='/u/{i}'>user-{i}</a></p>\n  </div>\n"
        for i in range(rows)
    )
    return f"<html><head><script>var a = 1;</script></head><body>\n{''.join(items)}</body></html>"


def document(rows: int, chance: random.Random) -> str:
    """XML."""
    items = (
        f"  <item id='{i}'>\n    <name>{sentence(chance)}</name>\n  </item>\n" for i in range(rows)
    )
    return f"<?xml version='1.0'?>\n<items>\n{''.join(items)}</items>"


def blob(rows: int, chance: random.Random) -> str:
    """Base64 between sentences."""
    return "\n".join(
        f"{sentence(chance)} {base64.b64encode(chance.randbytes(3_000)).decode()}"
        for _ in range(rows)
    )


def dump(rows: int, chance: random.Random) -> str:
    """What xxd prints."""
    return "".join(
        f"{16 * i:08x}: {chance.randbytes(16).hex(' ', 2)}  ................\n" for i in range(rows)
    )


MATERIAL: tuple[tuple[str, Reducer, Callable[[int, random.Random], str]], ...] = (
    ("json", Json(), json_list),
    ("json, indented", Json(), json_pretty),
    ("json lines", Json(), json_lines),
    ("json without its end", Json(), json_cut_off),
    ("commas", Table(), csv),
    ("markdown table", Table(), markdown),
    ("columns", Table(), processes),
    ("html", Html(), page),
    ("xml", Html(), document),
    ("base64 and prose", Binary(), blob),
    ("hex dump", Binary(), dump),
)


if __name__ == "__main__":
    main()
    for text in (grown(blob, SIZES[2]), grown(csv, SIZES[2]), grown(json_list, SIZES[2])):
        print(f"without_blobs {speed(text, partial(without_blobs, text)):.1f} MB/s")
