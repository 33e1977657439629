"""Write a ledger within a room, and read it again.

Promise: what is written has at most the room's tokens and is read as the same statements, so that a ledger written again
is the ledger: it does not decay. Each statement stands in full where all do; else all get shorter; else some go, safety
rules last.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autogen_context.ledger.entry import Author, Entry, Kind
from autogen_context.ledger.sentence import looked_at

CountText = Callable[[str], int]
Lines = dict[Entry, str]

RANKS: dict[Kind, int] = {
    "safety rule": 0,
    "constraint": 1,
    "decision": 2,
    "goal state": 2,
    "preference": 3,
    "identity": 4,
    "fact": 5,
}
REPORTED_RANK = 6
SHARES = {1: 4, 2: 3, 3: 3, 4: 2, 5: 4}  # of what is left, of the ranks between
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
KINDS: dict[str, Kind] = {title: kind for kind, title in TITLES.items()}
AUTHORS: dict[str, Author] = {
    "": "person",
    ", by the system": "system",
    ", said by the assistant": "assistant",
    ", reported by tools": "tool",
}
CREDITS: dict[Author, str] = {author: credit for credit, author in AUTHORS.items()}
TITLE, CREDIT = "|".join(map(re.escape, KINDS)), "|".join(map(re.escape, AUTHORS))
HEADING = re.compile(f"(?P<title>{TITLE})(?P<credit>{CREDIT}):")
TURN = r"\[(?:system|user|assistant|tool|function)\b"  # what opens the turn behind a ledger
BLOCK = re.compile(
    rf"^{re.escape(OPENING)}\n(?P<lines>(?:{TITLE})(?:{CREDIT}):\n(?:(?!{TURN})[^\n]+(?:\n|\Z))+)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """A ledger as a text.

    Attributes:
        text: what the model reads; it ends at its first empty line, so put one between it and what follows. Empty where
            nothing has room.
        left_out: the entries that had no room, the most important first.
    """

    text: str
    left_out: tuple[Entry, ...] = ()


def render(entries: Sequence[Entry], *, room_tokens: int, count: CountText) -> Rendering:
    """The entries within a room.

    Args:
        entries: n entries, in the order in which they were said.
        room_tokens: what the text may have, in tokens.
        count: tokens of a text.

    Returns:
        The text, and which of the n entries are not in it.
    """
    full = {entry: entry.text for entry in entries}
    text = written(full)
    if count(text) <= room_tokens:
        return Rendering(text=text)
    short = {entry: shortened(entry.text) for entry in entries}
    text = written(short)
    kept = short
    if count(text) > room_tokens:
        kept = kept_in(short, room_tokens - count(OPENING), count)
        while kept and count(written(kept)) > room_tokens:  # sums of tokens are not exact
            last = max(kept, key=rank_of)
            kept = {entry: line for entry, line in kept.items() if entry is not last}
    kept = lengthened(kept, room_tokens, count)
    left_out = sorted((entry for entry in entries if entry not in kept), key=rank_of)
    return Rendering(text=written(kept), left_out=tuple(left_out))


def rank_of(entry: Entry) -> int:
    """How soon an entry is given up: 0 for last."""
    return REPORTED_RANK if entry.reported else RANKS[entry.kind]


def kept_in(lines: Lines, left: int, count: CountText) -> Lines:
    """The lines that have room: safety rules first, reports last, between them each kind by turns; the shortest of a kind.

    Where a safety rule has no room, nothing that matters less has one.
    """
    costs = {entry: count(f"{line}\n") for entry, line in lines.items()}
    waiting: dict[int, list[Entry]] = {}
    for entry in sorted(lines, key=lambda entry: -costs[entry] * weight_of(entry)):
        waiting.setdefault(rank_of(entry), []).append(entry)
    kept: set[Entry] = set()
    opened: set[str] = set()
    spent: Counter[int] = Counter()
    while waiting:
        rank = next_rank(
            waiting,
            {
                each: (spent[each] + costs[waiting[each][-1]]) / SHARES.get(each, 1)
                for each in waiting
            },
        )
        entry = waiting[rank].pop()
        heading = heading_of(entry)
        cost = costs[entry] + (0 if heading in opened else count(f"{heading}\n"))
        if cost > left and rank == 0:
            break
        if cost > left or not waiting[rank]:
            del waiting[rank]
        if cost <= left:
            left -= cost
            spent[rank] += cost
            kept.add(entry)
            opened.add(heading)
    return {entry: line for entry, line in lines.items() if entry in kept}


def weight_of(entry: Entry) -> int:
    """How much its size counts: one without a value is missed less."""
    return 1 if looked_at(entry.text).values else WITHOUT_VALUE


def next_rank(waiting: Iterable[int], spent: Mapping[int, float]) -> int:
    """Whose turn it is: the safety rules', then the kind's that has had least, reports come last."""
    return min(waiting, key=lambda rank: (rank == REPORTED_RANK, rank > 0, spent[rank], rank))


def lengthened(lines: Lines, room_tokens: int, count: CountText) -> Lines:
    """The lines, the most important ones in full while there is room."""
    left = room_tokens - count(written(lines))
    result = dict(lines)
    for entry in sorted(lines, key=rank_of):
        more = count(f"{entry.text}\n") - count(f"{lines[entry]}\n")
        if 0 < more <= left:
            left -= more
            result[entry] = entry.text
    return result if count(written(result)) <= room_tokens else lines


def shortened(text: str) -> str:
    """A statement without the words that tell nothing; as it is where that would change what it is about, or a value."""
    sentence = looked_at(text)
    cuts = sorted({(each.start, each.stop) for each in sentence.cues.get("filler", ())})
    parts: list[str] = []
    at = 0
    for start, stop in cuts:
        if start >= at and not any(value.start <= start < value.stop for value in sentence.values):
            parts.append(text[at:start])
            at = stop + (text[stop : stop + 1] == " ")
    short = " ".join("".join([*parts, text[at:]]).split())
    plain = short if says_the_same(short, text) else text
    link = next(iter(looked_at(plain).cues.get("is", ())), None)
    keyed = f"{plain[: link.start].strip()}: {plain[link.stop :].strip()}" if link else plain
    return keyed if says_the_same(keyed, plain) and looked_at(plain).key else plain


def says_the_same(short: str, text: str) -> bool:
    """Whether a shorter text gives the same thing the same values."""
    one, other = looked_at(short), looked_at(text)
    same = (one.key, one.relation) == (other.key, other.relation) and len(short) < len(text)
    return bool(short) and same and [v.text for v in one.values] == [v.text for v in other.values]


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
    kind: Kind | None = None
    author: Author = "person"
    for line in text.removeprefix(OPENING).strip("\n").split("\n"):
        heading = HEADING.fullmatch(line.strip())
        if heading:
            kind, author = KINDS[heading["title"]], AUTHORS[heading["credit"]]
        elif kind is not None and line.strip():
            yield entry_of(kind, line.strip(), author, position)


def entry_of(kind: Kind, text: str, author: Author, position: int) -> Entry:
    """An entry about what its text is about."""
    return Entry(kind=kind, key=looked_at(text).key, text=text, author=author, position=position)
