"""Write a ledger within a room, and read it again.

Promise: what is written fits the room and is read as the same statements: it does not decay. Each statement stands in full
where all do; else all get shorter; else some go, safety rules last.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autogen_context.ledger.reader import REMEMBERED, Author, Entry, Kind, looked_at

CountText = Callable[[str], int]
Lines = dict[Entry, str]

RANKS: Mapping[Kind, int] = {  # what is given up last comes first
    "safety rule": 0,
    "constraint": 1,
    "decision": 2,
    "goal state": 2,
    "preference": 3,
    "identity": 4,
    "fact": 5,
}
REPORTED_RANK = 6
WITHOUT_VALUE = 2  # times its size, for a statement without a number, a name or the like
OPENING = "[Ledger]"
TITLES: dict[Kind, str] = {
    "safety rule": "Safety",
    "constraint": "Limits",
    "decision": "Decisions",
    "goal state": "State",
    "preference": "Wishes",
    "identity": "The person",
    "fact": "Facts",
}
CREDITS: dict[Author, str] = {
    "person": "",
    "system": ", by the system",
    "assistant": ", said by the assistant",
    "tool": ", reported by tools",
}
HEADINGS: dict[str, tuple[Kind, Author]] = {
    f"{title}{credit}:": (kind, author)
    for kind, title in TITLES.items()
    for author, credit in CREDITS.items()
}
TURN = r"\[(?:system|user|assistant|tool|function)\b"  # what opens the turn behind a ledger
BLOCK = re.compile(
    rf"^{re.escape(OPENING)}\n(?P<lines>(?:{'|'.join(map(re.escape, HEADINGS))})\n(?:(?!{TURN})[^\n]+(?:\n|\Z))+)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """A ledger as a text."""

    text: str
    left_out: tuple[Entry, ...] = ()


def render(entries: Sequence[Entry], *, room_tokens: int, count: CountText) -> Rendering:
    """The entries within a room, in the order in which they were said."""
    kept = {entry: entry.text for entry in entries}
    if count(written(kept)) > room_tokens:
        kept = {entry: shortened(entry.text) for entry in entries}
    if count(written(kept)) > room_tokens:
        kept = kept_in(kept, room_tokens - count(OPENING), count)
    while kept and count(written(kept)) > room_tokens:  # sums of tokens are not exact
        last = max(kept, key=rank_of)
        kept = {entry: line for entry, line in kept.items() if entry is not last}
    left_out = sorted((entry for entry in entries if entry not in kept), key=rank_of)
    return Rendering(text=written(kept), left_out=tuple(left_out))


def rank_of(entry: Entry) -> int:
    """How soon an entry is given up: 0 for last."""
    return REPORTED_RANK if entry.reported else RANKS[entry.kind]


def kept_in(lines: Lines, left: int, count: CountText) -> Lines:
    """The lines that have room: safety rules first, reports last, between them each kind by turns, its shortest first.

    Where a safety rule has no room, nothing that matters less has one.
    """
    costs = {entry: count(f"{line}\n") for entry, line in lines.items()}
    weights = {e: costs[e] * (1 if looked_at(e.text).values else WITHOUT_VALUE) for e in lines}
    spent: Counter[int] = Counter()
    turns: dict[Entry, tuple[bool, bool, int, int]] = {}
    for entry in sorted(lines, key=weights.__getitem__):
        rank = rank_of(entry)
        spent[rank] += costs[entry]
        turns[entry] = (rank == REPORTED_RANK, rank > 0, spent[rank], rank)
    kept: set[Entry] = set()
    headings: set[str] = set()
    for entry in sorted(turns, key=turns.__getitem__):
        heading = heading_of(entry)
        cost = costs[entry] + (0 if heading in headings else count(f"{heading}\n"))
        if cost <= left:
            left -= cost
            kept.add(entry)
            headings.add(heading)
        elif rank_of(entry) == 0:
            break
    return {entry: line for entry, line in lines.items() if entry in kept}


@lru_cache(REMEMBERED)
def shortened(text: str) -> str:
    """A statement without the words that tell nothing; as it is where that would change what it is about, or a value."""
    sentence = looked_at(text)
    parts: list[str] = []
    at = 0
    for each in sentence.cues.get("filler", ()):
        held = any(value.start <= each.start < value.stop for value in sentence.values)
        if each.start >= at and not held:
            parts.append(text[at : each.start])
            at = each.stop + (text[each.stop : each.stop + 1] == " ")
    short = " ".join("".join([*parts, text[at:]]).split())
    plain = short if says_the_same(short, text) else text
    link = next(iter(looked_at(plain).cues.get("is", ())), None)
    keyed = f"{plain[: link.start].strip()}: {plain[link.stop :].strip()}" if link else plain
    return keyed if link and looked_at(plain).key and says_the_same(keyed, plain) else plain


def says_the_same(short: str, text: str) -> bool:
    """Whether a shorter text gives the same thing the same values."""
    if not 0 < len(short) < len(text):
        return False
    one, other = looked_at(short), looked_at(text)
    return one.given == other.given and [v.text for v in one.values] == [
        v.text for v in other.values
    ]


def written(lines: Lines) -> str:
    """Lines under the headings of their kinds, the most important first; empty without lines."""
    sections: dict[str, list[str]] = {}
    for entry in sorted(lines, key=rank_of):
        sections.setdefault(heading_of(entry), []).append(lines[entry])
    body = [line for heading, section in sections.items() for line in (heading, *section)]
    return "\n".join([OPENING, *body]) if body else ""


def heading_of(entry: Entry) -> str:
    """What stands above entries of its kind and author."""
    return f"{TITLES[entry.kind]}{CREDITS[entry.author]}:"


def entries_in(text: str, position: int) -> Iterator[Entry]:
    """The entries of a text that we wrote, or of what follows our opening."""
    heading: tuple[Kind, Author] | None = None
    for line in map(str.strip, text.removeprefix(OPENING).split("\n")):
        if line in HEADINGS:
            heading = HEADINGS[line]
        elif heading and line:
            yield entry_of(heading[0], line, heading[1], position)


def entry_of(kind: Kind, text: str, author: Author, position: int) -> Entry:
    """An entry about what its text is about."""
    return Entry(kind=kind, key=looked_at(text).key, text=text, author=author, position=position)
