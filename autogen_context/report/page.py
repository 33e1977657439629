"""The page of an event log: one HTML file that works offline and shows what was sent, what left and what it cost.

Promise: the same runs give the same page. Nothing in them acts: data stands as JSON that no script runs, comes onto the page
as text, and characters that hide text or turn it round are written out. The page asks nothing of any server, and its policy
(``Content-Security-Policy``) forbids it.
"""

import base64
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import accumulate, islice, takewhile
from statistics import median
from typing import TYPE_CHECKING, cast

from autogen_context.errors import MissingExtra
from autogen_context.manager.event_log import Event
from autogen_context.manager.events import TurnEvent, UnitEvent
from autogen_context.report.events import Run, taken_back
from autogen_context.report.events import in_words as impossible_in_words
from autogen_context.report.turns import HOLD, Request, Sum, Totals, TurnRecord, sampled, totals_of
from autogen_context.tokens.prices import Price, price_of

if TYPE_CHECKING:
    from markupsafe import Markup

SECTIONS = {
    "system": "system prompt",
    "pinned": "pinned",
    "people": "people",
    "model": "model",
    "tools": "tools",
    "told": "notices",
    "retrieved": "retrieved",
}
DONE = {
    "keep": "sent as it came",
    "repair": "repaired",
    "reduce": "reduced on arrival",
    "shorten": "shortened",
    "drop": "left out",
}
MOST_COLUMNS = 240  # of a chart; what has more turns shows the fullest of each group
MOST_ROWS = 30  # of a table of reasons or tools
MOST_CHARS = 4_000  # of a text
WIDTH, HEIGHT, MARGIN = 1000, 200, 14  # of a chart, in units of its own

_NUMBER = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a run cost, turn by turn: sending everything, a sliding window, and as it was sent."""

    price: Price
    records: Sequence[TurnRecord]  # sending everything beside what was sent
    sliding: Sequence[Request]

    @property
    def totals(self) -> Totals:
        """Sending everything beside what was sent."""
        return totals_of(self.records, input_per_million=self.price.input_per_million)

    @property
    def sliding_sum(self) -> Sum:
        """What a sliding window would have cost."""
        pairs = zip(self.records, self.sliding, strict=True)
        records = [replace(record, sent=request) for record, request in pairs]
        return totals_of(records, input_per_million=self.price.input_per_million).sent

    @property
    def so_far(self) -> Mapping[str, Sequence[float]]:
        """What the run had cost after each turn."""
        ways = {
            "everything": [record.whole for record in self.records],
            "sliding": self.sliding,
            "sent": [record.sent for record in self.records if record.sent],
        }
        return {way: list(accumulate(each.cost_tokens for each in ways[way])) for way in ways}


def page_of(runs: Iterable[Run], *, title: str, version: str | None = None) -> str:
    """The page of the runs of an event log, as HTML.

    With a ``version`` of the log it asks its server for newer ones, and may be of a log in which there is no turn yet.

    Raises:
        ValueError: no run has a turn, or a number in one is none.
        MissingExtra: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment  # noqa: PLC0415 - optional
        from markupsafe import Markup  # noqa: PLC0415 - comes with it
    except ImportError as error:
        raise MissingExtra("cli", needed_for="writing a page") from error
    told = [run for run in runs if run.turns]
    if not told and version is None:
        raise ValueError("no turn was recorded yet; let the agent run for a turn first")
    bills = [bill_of(run) for run in told]
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = "{:,.0f}".format
    room = files("autogen_context.report")
    script = room.joinpath("page.js").read_text("utf-8")
    both = list(zip(told, bills, strict=True))
    return environment.from_string(room.joinpath("page.html").read_text("utf-8")).render(
        title=visible(title),
        runs=[shown(run, bill) for run, bill in both],
        sections=SECTIONS,
        is_live=version is not None,
        style=Markup(room.joinpath("page.css").read_text("utf-8")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - as above
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=as_script_data(
            {
                "sections": list(SECTIONS.items()),
                "done": DONE,
                "version": version,
                "runs": [data_of(run, bill) for run, bill in both],
            }
        ),
    )


# What it cost


WHY = {
    "forced": "the window was full",
    "pays": "it pays",
    "cold": "the provider's cache had run out",
}
LOST_FRACTION = 0.05  # of a request that are cached no more, from which on that is told


def bill_of(run: Run) -> Bill:
    """What a run cost, by the rates in its newest turn."""
    model, rates = run.turns[-1]["model"], run.turns[-1]["price"]
    price = replace(
        price_of(model),
        cached_fraction=rates["cached"],
        write_fraction=rates["write"],
        input_per_million=rates["dollars"],
        tokens_per_s=rates.get("tokens_per_s"),
    )
    records: list[TurnRecord] = []
    before = sent_before = 0
    for turn in run.turns:
        whole = turn["history"]["tokens"] + turn["fixed"]
        records.append(
            TurnRecord(
                turn=turn["turn"],
                limit_tokens=limit_of(turn),
                whole=billed(price, turn["history"]["messages"], whole, min(before, whole)),
                sent=billed(
                    price, turn["sent"]["messages"], turn["counted"], turn["sent"]["prefix"]
                ),
                compacted=turn["compacted"],
                happened=in_words(turn, sent_before),
            )
        )
        before, sent_before = whole, turn["counted"]
    return Bill(price=price, records=records, sliding=list(sliding_window(run, price)))


def limit_of(turn: TurnEvent) -> int:
    """The limit in tokens as they are counted here; the provider may count more, or fewer."""
    bound = turn["bound"]["tokens"]
    return -(-turn["limit"] * turn["counted"] // bound) if bound else turn["limit"]


def billed(price: Price, messages: int, tokens: int, shared_tokens: int) -> Request:
    """A request with its price; ``shared_tokens`` of it are those of the request before."""
    cached = price.cached_tokens(shared_tokens)
    cost = price.cost_tokens(tokens, cached)
    return Request(messages=messages, tokens=tokens, cached_tokens=cached, cost_tokens=cost)


def in_words(turn: TurnEvent, before_tokens: int) -> str:
    """What a turn did; ``before_tokens`` had the request before."""
    lost, estimate = before_tokens - turn["sent"]["prefix"], turn["estimate"]
    if not turn["compacted"]:
        if lost <= LOST_FRACTION * before_tokens:
            return HOLD
        return f"{lost:,} tokens cached no more, since something before them changed"
    why = "cold" if estimate and estimate["cold"] else estimate["why"] if estimate else ""
    done = Counter(unit["action"] for unit in turn["units"])
    said = ", ".join(f"{done[act]:,} {DONE[act]}" for act in ("drop", "shorten") if done[act])
    since = f", since {WHY.get(why, visible(why))}" if why else ""
    return f"compacted{since}: {said or 'nothing more left out'}; {lost:,} tokens cached no more"


def sliding_window(run: Run, price: Price) -> Iterator[Request]:
    """What each turn costs if the system prompt and the newest units that fit are sent, and nothing else."""
    sent, began = 0, -1  # of the request before: its tokens, and where its window begins
    for turn, units in run.states():
        head = list(takewhile(lambda each: each["section"] == "system", units.values()))
        fixed = turn["fixed"] + sum(each["before"] for each in head)
        tokens, begins = turn["fixed"] + turn["history"]["tokens"], 0
        messages = turn["history"]["messages"]
        if tokens > limit_of(turn):
            window = newest(list(units.values())[len(head) :], limit_of(turn) - fixed)
            tokens = fixed + sum(each["before"] for each in window)
            begins = window[-1]["unit"] if window else -1
            messages = sum(each["stop"] - each["unit"] for each in [*head, *window])
        shared = min(sent if begins == began else fixed, tokens) if sent else 0
        yield billed(price, messages, tokens, shared)
        sent, began = tokens, begins


def newest(units: Sequence[UnitEvent], room_tokens: int) -> list[UnitEvent]:
    """The newest units that fit, the newest first; that one in any case."""
    sums = accumulate(unit["before"] for unit in reversed(units))
    fitting = sum(1 for _ in takewhile(lambda tokens: tokens <= room_tokens, sums))
    return list(islice(reversed(units), max(1, fitting)))


# What stands on the page


def visible(text: str) -> str:
    """A text in which nothing is hidden: marks of direction, controls and the like are written out; a long one is cut."""
    said = text[:MOST_CHARS]
    more = f" … {len(text) - len(said):,} characters more" if len(said) < len(text) else ""
    if not said.isprintable():
        said = re.sub(r"[^\n\t -~]", lambda found: written_out(found[0]), said)
    return said + more


def written_out(char: str) -> str:
    """A character, or its number where it has no shape."""
    return char if char.isprintable() else f"\\u{ord(char):04X}"


def as_script_data(data: object) -> "Markup":
    """JSON that may stand in a script element: it cannot end it."""
    from markupsafe import Markup  # noqa: PLC0415 - it is there by now

    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # in ASCII
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)  # noqa: S704 - escaped above


def data_of(run: Run, bill: Bill) -> dict[str, object]:
    """What the page's script needs of a run; texts are as they may be shown."""
    words: dict[str, int] = {}

    def word(text: str) -> int:
        return words.setdefault(visible(text), len(words))

    def row(at: int, unit: UnitEvent) -> list[object]:
        texts = (unit["section"], unit["tool"], unit["action"], unit["reason"], unit["handle"])
        numbers = (unit["before"], unit["after"], unit["score"], unit["place"], unit["among"])
        return [at, unit["stop"], *map(word, texts), *numbers, word(unit.get("text", ""))]

    lives = [
        [start, end, [row(at, unit) for at, unit in changes]]
        for start, end, changes in lives_of(run)
    ]
    return {
        "cached": bill.price.cached_fraction,
        "dollars": bill.price.input_per_million,
        "units": lives,
        "words": list(words),
        "turns": [
            [
                *(turn["turn"], turn["history"]["messages"], record.whole.tokens, turn["counted"]),
                *(turn["sent"]["prefix"], record.price_ratio, record.happened, turn["cut"]),
                *(turn["ms"], turn["fixed"]),
                [turn["sections"].get(section, 0) for section in SECTIONS],
            ]
            for turn, record in zip(run.turns, bill.records, strict=True)
        ],
    }


def lives_of(run: Run) -> list[tuple[int, int | None, list[tuple[int, UnitEvent]]]]:
    """Each unit by its position: the turn in which the host took it back, if it did, and what became of it in which turn.

    Turns are by their place in the log, from 0 on.
    """
    ended: list[tuple[int, int | None, list[tuple[int, UnitEvent]]]] = []
    lives: dict[int, list[tuple[int, UnitEvent]]] = {}
    for at, turn in enumerate(run.turns):
        told = {unit["unit"]: unit for unit in turn["units"]}
        for start in taken_back(lives, turn["since"]):
            changes = lives[start]
            again = told.get(start)
            if again is None or again["role"] != changes[-1][1]["role"]:
                ended.append((start, at, lives.pop(start)))
        for start, unit in told.items():
            changes = lives.setdefault(start, [])
            if not changes or changes[-1][1] != unit:
                changes.append((at, unit))
    return sorted([*ended, *((start, None, life) for start, life in lives.items())], key=by_start)


def by_start(life: tuple[int, int | None, object]) -> tuple[int, float]:
    """The order of lives: by position, then by end."""
    return life[0], float("inf") if life[1] is None else life[1]


def shown(run: Run, bill: Bill) -> dict[str, object]:
    """What stands on the page before its script runs."""
    last, totals, sliding = run.turns[-1], bill.totals, bill.sliding_sum
    sums = {"as sent": totals.sent, "sliding window": sliding, "everything": totals.whole}
    dearest = max(each.cost_tokens for each in sums.values()) or 1
    columns, final = columns_of(run), list(list(run.states())[-1][1].values())
    others = defaultdict[object, list[Event]](list)
    for event in run.others:
        others[event.get("event")].append(event)
    usage, asked = others["usage"], others["asked_back"]
    so_far, places = bill.so_far, {record.turn: i for i, record in enumerate(bill.records)}
    chosen = [places[record.turn] for record in sampled(bill.records)]
    return {
        "agent": visible(last["agent"]),
        "id": visible(run.id),
        "model": visible(last["model"]),
        "limit": last["limit"],
        "counted": last["counted"],
        "bound": last["bound"]["tokens"],
        "first": run.turns[0]["turn"],
        "last": last["turn"],
        "totals": totals,
        "against_sliding": sliding.cost_tokens and totals.sent.cost_tokens / sliding.cost_tokens,
        "sums": [(name, each, 100 * each.cost_tokens / dearest) for name, each in sums.items()],
        "price": bill.price,
        "usage": [sum_of(usage, key) for key in ("prompt", "cached")] if usage else None,
        "asked": [asked_in_words(event, final) for event in asked],
        "impossible": [
            f"Turn {e.get('turn')}: {impossible_in_words(e)}." for e in others["impossible"]
        ],
        "quality": quality_of(run),
        "slowest": sorted(run.turns, key=lambda turn: -turn["ms"])[:3],
        "median_ms": median(turn["ms"] for turn in run.turns),
        "cache": [sum_of(others["cache"], key) for key in ("hits", "misses", "invalidated")],
        "summaries": Counter(visible(str(event.get("why"))) for event in others["summary"]),
        "columns": columns,
        "picture": sections_svg(columns),
        "prices": prices_svg(so_far),
        "price_rows": [
            (bill.records[i].turn, *(so_far[way][i] for way in ("sent", "sliding", "everything")))
            for i in chosen
        ],
        "left": left_by_reason(final),
        "tools": by_tool(final),
        "rows": MOST_ROWS,
    }


def asked_in_words(event: Event, units: Iterable[UnitEvent]) -> str:
    """What an agent asked back, and when."""
    handle = str(event.get("handle"))
    unit = next((unit for unit in units if handle and unit["handle"] == handle), None)
    name = f" of {unit['tool'] or unit['role']}, message {unit['unit']:,}" if unit else ""
    by = (
        f"the original{name} ({handle})"
        if handle
        else f"a query of {event.get('query_chars')} characters"
    )
    found = "found" if event.get("found") else "nothing found"
    return visible(f"turn {event.get('turn')}: {by}, {found}")


def quality_of(run: Run) -> Mapping[str, float]:
    """How well the compactions of a run chose, on average."""
    told = [
        cast("Mapping[str, float | None]", turn["quality"])
        for turn in run.turns
        if "quality" in turn
    ]
    values = {
        name: [each[name] for each in told if each[name] is not None] for name in (told or [{}])[0]
    }
    return {name: sum(filter(None, each)) / len(each) for name, each in values.items() if each}


def sum_of(events: Iterable[Mapping[str, object]], key: str) -> int:
    """The sum of what events say under a key."""
    return sum(value for event in events if isinstance(value := event.get(key), int))


def left_by_reason(units: Iterable[UnitEvent]) -> list[tuple[str, str, int, int]]:
    """What is not sent any more: what was done, why, units, tokens; most tokens first. A reason has the largest's numbers."""
    found: dict[tuple[str, str], list[UnitEvent]] = {}
    for unit in units:
        if unit["after"] < unit["before"]:
            key = unit["action"], _NUMBER.sub("", visible(unit["reason"]))
            found.setdefault(key, []).append(unit)
    rows: list[tuple[str, str, int, int]] = []
    for (action, _), gone in found.items():
        largest = max(gone, key=lambda unit: unit["before"] - unit["after"])
        tokens = sum(unit["before"] - unit["after"] for unit in gone)
        done = DONE.get(action) or visible(action)
        rows.append((done, visible(largest["reason"]), len(gone), tokens))
    return sorted(rows, key=lambda row: -row[3])


def by_tool(units: Iterable[UnitEvent]) -> list[tuple[str, int, int, int]]:
    """Whose units fill the window: units, tokens as they came, tokens that are sent now; most of these first."""
    found: dict[str, list[UnitEvent]] = {}
    for unit in units:
        name = unit["tool"] or SECTIONS.get(unit["section"], unit["section"])
        found.setdefault(visible(name), []).append(unit)
    rows = [
        (name, len(theirs), sum(u["before"] for u in theirs), sum(u["after"] for u in theirs))
        for name, theirs in found.items()
    ]
    return sorted(rows, key=lambda row: (-row[3], -row[2]))


# Charts


def columns_of(run: Run) -> list[TurnEvent]:
    """The turns of a chart: all, or of each group the fullest, marked as compacted where one of them was."""
    step = -(-len(run.turns) // MOST_COLUMNS)
    groups = [run.turns[i : i + step] for i in range(0, len(run.turns), step)]
    columns = [max(group, key=lambda turn: turn["counted"]).copy() for group in groups]
    for column, group in zip(columns, groups, strict=True):
        column["compacted"] = any(turn["compacted"] for turn in group)
    return columns


def sections_svg(columns: Sequence[TurnEvent]) -> "Markup":
    """What was in the window, section upon section, turn by turn; the limit, and ticks where it compacted."""
    limits = [limit_of(turn) for turn in columns]
    most = max(*limits, *(turn["counted"] for turn in columns)) or 1
    wide, parts = WIDTH / len(columns), list[str]()
    below = [0] * len(columns)
    for name in ("fixed", *SECTIONS):
        sizes = [t["fixed"] if name == "fixed" else t["sections"].get(name, 0) for t in columns]
        above = [low + size for low, size in zip(below, sizes, strict=True)]
        if any(sizes):
            there, back = steps(above, most, wide), steps(below, most, wide, back=True)
            parts.append(f'<path class="s-{name}" d="M{there}L{back}Z"/>')
        below = above
    limit = steps(limits, most, wide)
    at = [f"{(i + 0.5) * wide:.1f}" for i, turn in enumerate(columns) if turn["compacted"]]
    ticks = "".join(f"M{x} 0V{MARGIN - 5}" for x in at)
    return drawing(
        [*parts, f'<path class="limit" d="M{limit}"/>', f'<path class="ticks" d="{ticks}"/>']
    )


def steps(values: Sequence[int], most: int, wide: float, *, back: bool = False) -> str:
    """A line of steps, from left to right or back."""
    ends = (1, 0) if back else (0, 1)
    points = [
        f"{(i + ends[0]) * wide:.1f} {level(value, most)}H{(i + ends[1]) * wide:.1f}"
        for i, value in enumerate(values)
    ]
    return "L".join(reversed(points) if back else points)


def prices_svg(so_far: Mapping[str, Sequence[float]]) -> "Markup":
    """The price so far, in three ways, as lines."""
    most, turns = max(line[-1] for line in so_far.values()) or 1, len(so_far["sent"])
    kept = sorted({*range(0, turns, -(-turns // MOST_COLUMNS)), turns - 1})
    parts: list[str] = []
    for way, line in so_far.items():
        points = "L".join(f"{(i + 1) * WIDTH / turns:.1f} {level(line[i], most)}" for i in kept)
        parts.append(f'<path class="way w-{way}" d="M0 {level(0, most)}L{points}"/>')
    return drawing(parts)


def level(value: float, most: float) -> str:
    """How far from the top a value stands."""
    return f"{HEIGHT - (HEIGHT - MARGIN) * value / most:.1f}"


def drawing(parts: Iterable[str]) -> "Markup":
    """An SVG that takes any size; what it says stands in a table, and in the label of what is around it."""
    from markupsafe import Markup  # noqa: PLC0415 - it is there by now

    opening = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" aria-hidden="true">'
    return Markup(opening + "".join(parts) + "</svg>")  # noqa: S704 - numbers and our own names
