"""Render an event log as one offline HTML file: what was sent, what was left out and what it cost.

Promise: the same runs give the same page. Nothing in the log can execute: data is embedded as inert JSON and shown as text,
with invisible and bidirectional control characters escaped. The page makes no request to other servers, which its
``Content-Security-Policy`` enforces.
"""

import base64
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import accumulate
from operator import add
from statistics import mean, median

from autogen_context.errors import MissingExtra
from autogen_context.manager.event_log import Event
from autogen_context.manager.event_schema import TurnEvent, UnitEvent
from autogen_context.report.bill import (
    BilledRequest,
    TurnRecord,
    bill_of,
    price_in,
    ratio,
    room_in,
    sampled,
    totals_of,
)
from autogen_context.report.events import Run, taken_back
from autogen_context.report.events import in_words as impossible_in_words

SECTIONS = {
    "system": "system prompt",
    "pinned": "pinned",
    "people": "people",
    "model": "model",
    "tools": "tools",
    "notices": "notices",
    "retrieved": "retrieved",
}
DONE = {
    "keep": "sent as it came",
    "repair": "repaired",
    "reduce": "reduced on arrival",
    "shorten": "shortened",
    "drop": "left out",
}
MOST_COLUMNS = 240  # in a chart; longer runs show the largest request of each group of turns
MOST_ROWS = 30  # in a table of reasons or tools
MOST_CHARS = 4_000  # shown of each text
WIDTH, HEIGHT, MARGIN = 1000, 200, 14  # of a chart, in SVG units

_NUMBER = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?")


def page_of(
    runs: Iterable[Run],
    *,
    title: str,
    version: str | None = None,
    bills: Sequence[Sequence[TurnRecord]] | None = None,
) -> str:
    """Return the HTML page for the runs of an event log.

    ``bills`` are those of the runs with a turn, where more is known of them than the log has. With a ``version`` of the log,
    the page polls its server for newer versions, and the log may have no turn yet.

    Raises:
        ValueError: no run has a turn, or a number in the log is NaN or infinite.
        MissingExtra: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra("cli", needed_for="writing a page") from error
    begun = [run for run in runs if run.turns]
    if not begun and version is None:
        raise ValueError("no turn was recorded yet; let the agent run for a turn first")
    pairs = zip(begun, map(bill_of, begun) if bills is None else bills, strict=True)
    both = [(run, [record for record in bill if record.sent]) for run, bill in pairs]
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = "{:,.0f}".format
    room = files("autogen_context.report")
    script = room.joinpath("page.js").read_text("utf-8")
    return environment.from_string(room.joinpath("page.html").read_text("utf-8")).render(
        title=visible(title),
        runs=[shown(run, records) for run, records in both],
        sections=SECTIONS,
        is_live=version is not None,
        style=room.joinpath("page.css").read_text("utf-8"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=as_script_data(
            {
                "sections": list(SECTIONS.items()),
                "done": DONE,
                "version": version,
                "runs": [data_of(run, records) for run, records in both],
            }
        ),
    )


# Page content


def visible(text: str) -> str:
    """Return a text with control and bidirectional characters escaped, cut after ``MOST_CHARS`` characters."""
    said = text[:MOST_CHARS]
    more = f" … {len(text) - len(said):,} characters more" if len(said) < len(text) else ""
    if not said.isprintable():
        chars = (c if c.isprintable() or c in "\n\t" else f"\\u{ord(c):04X}" for c in said)
        said = "".join(chars)
    return said + more


def as_script_data(data: object) -> str:
    """Return data as JSON that is safe inside a script element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # ASCII only
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def data_of(run: Run, records: Sequence[TurnRecord]) -> dict[str, object]:
    """Return the data of a run for the page's script, with every text escaped for display."""
    words: dict[str, int] = {}

    def word(text: str) -> int:
        return words.setdefault(visible(text), len(words))

    def row(at: int, unit: UnitEvent) -> list[object]:
        texts = (unit["section"], unit["tool"], unit["action"], unit["reason"], unit["handle"])
        numbers = (unit["before"], unit["after"], unit["score"], unit["place"], unit["among"])
        return [at, unit["stop"], *map(word, texts), *numbers, word(unit.get("text", ""))]

    price = price_in(run)
    cached = price.cost_tokens(1, 1)
    return {
        "cached": cached,  # what a cached token costs, in uncached ones and in dollars
        "dollars": price.dollars(cached),
        "units": [
            [start, end, [row(at, unit) for at, unit in changes]]
            for start, end, changes in lives_of(run)
        ],
        "words": list(words),
        "turns": [
            [
                *(turn["turn"], turn["history"]["messages"], record.whole.tokens, turn["counted"]),
                *(turn["sent"]["prefix"], record.price_ratio),
                visible("; ".join(filter(None, (record.happened, record.detail)))),
                *(turn["cut"], turn["ms"], turn["fixed"]),
                [turn["sections"].get(section, 0) for section in SECTIONS],
            ]
            for turn, record in zip(run.turns, records, strict=True)
        ],
    }


def lives_of(run: Run) -> list[tuple[int, int | None, list[tuple[int, UnitEvent]]]]:
    """Return each unit as (first message, turn in which the host removed it or ``None``, changes by turn).

    Turns are indices into the log, from 0.
    """
    ended: list[tuple[int, int, list[tuple[int, UnitEvent]]]] = []
    lives: dict[int, list[tuple[int, UnitEvent]]] = {}
    for at, turn in enumerate(run.turns):
        listed = {unit["unit"]: unit for unit in turn["units"]}
        for start in taken_back(lives, turn["since"]):
            again = listed.get(start)
            if again is None or again["role"] != lives[start][-1][1]["role"]:
                ended.append((start, at, lives.pop(start)))
        for start, unit in listed.items():
            changes = lives.setdefault(start, [])
            if not changes or changes[-1][1] != unit:
                changes.append((at, unit))
    every = [*ended, *((start, len(run.turns), changes) for start, changes in lives.items())]
    every.sort(key=lambda life: life[:2])  # by position, then by end
    return [(start, None if end == len(run.turns) else end, life) for start, end, life in every]


def shown(run: Run, records: Sequence[TurnRecord]) -> dict[str, object]:
    """Return the template values of a run: the page content that needs no script."""
    last, totals, price = run.turns[-1], totals_of(records), price_in(run)
    sums = {"as sent": totals.sent, "sliding window": totals.sliding, "everything": totals.whole}
    dearest = max(each.cost_tokens for each in sums.values()) or 1
    columns, final = columns_of(run), list(list(run.states())[-1][1].values())
    others = defaultdict[object, list[Event]](list)
    for event in run.others:
        others[event.get("event")].append(event)
    usage, asked = others["usage"], others["asked_back"]
    so_far = {
        "sent": accumulated(record.sent for record in records),
        "sliding": accumulated(record.sliding for record in records),
        "everything": accumulated(record.whole for record in records),
    }
    chosen = {record.turn for record in sampled(records)}
    rows = zip((record.turn for record in records), *so_far.values(), strict=True)
    return {
        "agent": visible(last["agent"]),
        "id": visible(run.id),
        "model": visible(last["model"]),
        "limit": last["limit"],
        "counted": last["counted"],
        "bound": last["bound"].tokens,
        "first": run.turns[0]["turn"],
        "last": last["turn"],
        "totals": totals,
        "against_sliding": ratio(totals.sent.cost_tokens, totals.sliding.cost_tokens),
        "sums": [
            (name, each, 100 * each.cost_tokens / dearest, price.seconds(each.cost_tokens))
            for name, each in sums.items()
        ],
        "price": price,
        "usage": billed_in_words(usage),
        "asked": [asked_in_words(event, final) for event in asked],
        "impossible": [f"Turn {e['turn']}: {impossible_in_words(e)}." for e in run.impossible],
        "quality": quality_of(run),
        "slowest": sorted(run.turns, key=lambda turn: -turn["ms"])[:3],
        "median_ms": median(turn["ms"] for turn in run.turns),
        "cache": [sum_of(others["cache"], key) for key in ("hits", "misses", "invalidated")],
        "summaries": Counter(visible(str(event.get("why"))) for event in others["summary"]),
        "columns": columns,
        "picture": sections_svg(columns),
        "prices": prices_svg(so_far),
        "price_rows": [row for row in rows if row[0] in chosen],
        "left": left_by_reason(final),
        "tools": by_tool(final),
        "rows": MOST_ROWS,
    }


def billed_in_words(usage: Sequence[Event]) -> str:
    """Say what the provider billed; empty without a bill."""
    if not usage:
        return ""
    said = f"The provider billed {sum_of(usage, 'prompt'):,} input tokens"
    known = [event for event in usage if event.get("cached") is not None]
    if not known:
        return f"{said}; how many of them were cached, this host does not report."
    missing = f" (of {len(usage) - len(known):,} requests not reported)" if known != usage else ""
    return f"{said}, {sum_of(known, 'cached'):,} of them cached{missing}."


def accumulated(requests: Iterable[BilledRequest | None]) -> list[float]:
    """Return the cumulative cost after each request, in uncached input tokens."""
    return list(accumulate(request.cost_tokens if request else 0.0 for request in requests))


def asked_in_words(event: Event, units: Iterable[UnitEvent]) -> str:
    """Describe a recall: the original or query that an agent asked for, the turn, and whether it was found."""
    handle = str(event.get("handle"))
    unit = next((unit for unit in units if handle and unit["handle"] == handle), None)
    name = f" of {unit['tool'] or unit['role']}, message {unit['unit']:,}" if unit else ""
    query = f"a query of {event.get('query_chars')} characters"
    by = f"the original{name} ({handle})" if handle else query
    found = "found" if event.get("found") else "nothing found"
    return visible(f"turn {event.get('turn')}: {by}, {found}")


def quality_of(run: Run) -> Mapping[str, float]:
    """Return the mean of each quality measure over the compactions of a run."""
    found = defaultdict[str, list[float]](list)
    for turn in run.turns:
        for name, value in (turn["quality"] or {}).items():
            if isinstance(value, int | float):
                found[name].append(value)
    return {name: mean(values) for name, values in found.items()}


def sum_of(events: Iterable[Mapping[str, object]], key: str) -> int:
    """Return the sum of the integers under a key of events."""
    return sum(value for event in events if isinstance(value := event.get(key), int))


def left_by_reason(units: Iterable[UnitEvent]) -> list[tuple[str, str, int, int]]:
    """Return (action, reason, units, tokens saved) of what is not sent in full, most tokens first.

    Reasons that differ only in numbers share a row, worded as for the largest unit.
    """
    found = defaultdict[tuple[str, str], list[UnitEvent]](list)
    for unit in sorted(units, key=lambda unit: unit["after"] - unit["before"]):
        if unit["after"] < unit["before"]:
            found[unit["action"], _NUMBER.sub("", visible(unit["reason"]))].append(unit)
    rows: list[tuple[str, str, int, int]] = []
    for (action, _), gone in found.items():
        saved = sum_of(gone, "before") - sum_of(gone, "after")
        done = DONE.get(action) or visible(action)
        rows.append((done, visible(gone[0]["reason"]), len(gone), saved))
    return sorted(rows, key=lambda row: -row[3])


def by_tool(units: Iterable[UnitEvent]) -> list[tuple[str, int, int, int]]:
    """Return (tool or section, units, original tokens, tokens sent now), most tokens sent first."""
    found = defaultdict[str, list[UnitEvent]](list)
    for unit in units:
        name = unit["tool"] or SECTIONS.get(unit["section"], unit["section"])
        found[visible(name)].append(unit)
    rows = [
        (name, len(theirs), sum_of(theirs, "before"), sum_of(theirs, "after"))
        for name, theirs in found.items()
    ]
    return sorted(rows, key=lambda row: (-row[3], -row[2]))


# Charts


def columns_of(run: Run) -> list[TurnEvent]:
    """Return the turns of a chart: all, or the largest of each group, marked as compacted if any in the group was."""
    step = -(-len(run.turns) // MOST_COLUMNS)
    groups = [run.turns[i : i + step] for i in range(0, len(run.turns), step)]
    columns = [max(group, key=lambda turn: turn["counted"]).copy() for group in groups]
    for column, group in zip(columns, groups, strict=True):
        column["compacted"] = any(turn["compacted"] for turn in group)
    return columns


def sections_svg(columns: Sequence[TurnEvent]) -> str:
    """Draw the window per turn as stacked sections, with the limit and a tick for each compaction."""
    limits, wide = [room_in(turn) for turn in columns], WIDTH / len(columns)
    most = max(*limits, *(turn["counted"] for turn in columns)) or 1

    def stepped(values: Iterable[int]) -> str:
        return "".join(f"V{level(value, most)}H{i * wide:.1f}" for i, value in enumerate(values, 1))

    parts, top = list[str](), [0] * len(columns)
    for name in ("fixed", *SECTIONS):
        sizes = [t["fixed"] if name == "fixed" else t["sections"].get(name, 0) for t in columns]
        top = list(map(add, top, sizes))
        if any(sizes):
            parts.append(f'<path class="s-{name}" d="M0 {HEIGHT}{stepped(top)}V{HEIGHT}Z"/>')
    at = [f"{(i + 0.5) * wide:.1f}" for i, turn in enumerate(columns) if turn["compacted"]]
    ticks = "".join(f"M{x} 0V{MARGIN - 5}" for x in at)
    limit = f"M0 {level(limits[0], most)}{stepped(limits)}"
    # Each section reaches down to the bottom, where those before it are drawn over it.
    lines = f'<path class="limit" d="{limit}"/><path class="ticks" d="{ticks}"/>'
    return drawing([*reversed(parts), lines])


def prices_svg(so_far: Mapping[str, Sequence[float]]) -> str:
    """Draw the cumulative price of the three strategies as lines."""
    most, turns = max(line[-1] for line in so_far.values()) or 1, len(so_far["sent"])
    kept = sorted({*range(0, turns, -(-turns // MOST_COLUMNS)), turns - 1})
    parts: list[str] = []
    for way, line in so_far.items():
        points = "L".join(f"{(i + 1) * WIDTH / turns:.1f} {level(line[i], most)}" for i in kept)
        parts.append(f'<path class="way w-{way}" d="M0 {level(0, most)}L{points}"/>')
    return drawing(parts)


def level(value: float, most: float) -> str:
    """Return the y coordinate of a value."""
    return f"{HEIGHT - (HEIGHT - MARGIN) * value / most:.1f}"


def drawing(parts: Iterable[str]) -> str:
    """Return a scalable SVG, hidden from screen readers: a table and the surrounding label give its content."""
    opening = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
    return opening + "".join(parts) + "</svg>"
