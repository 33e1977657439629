"""Render a ledger within a token budget, and parse rendered text.

Promise: the text fits the budget and parses back to the same statements, so repeated rendering loses nothing. Statements
are written in full if all fit; otherwise all are shortened; otherwise some are dropped, safety rules last.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autogen_context.ledger.reader import REMEMBERED, Entry, StatementKind, looked_at
from autogen_context.text.fit import CountText, fit
from autogen_context.text.memo import remembered
from autogen_context.text.passage import Author
from autogen_context.text.quote import MARK, block

Lines = dict[Entry, str]
Credits = Mapping[Author, str]

RANKS: Mapping[StatementKind, int] = {  # lower ranks are dropped later
    "safety rule": 0,
    "constraint": 1,
    "decision": 2,
    "goal state": 2,
    "preference": 3,
    "identity": 4,
    "fact": 5,
}
REPORTED_RANK = 6  # of what tools and agents reported, dropped first
WITHOUT_VALUE = 2  # size factor for a statement without a value (number, name ...)
OPENING = "[Ledger]"
TITLES: dict[StatementKind, str] = {
    "safety rule": "Safety",
    "constraint": "Limits",
    "decision": "Decisions",
    "goal state": "State",
    "preference": "Wishes",
    "identity": "The person",
    "fact": "Facts",
}
CREDITS: Credits = {
    "person": "",
    "system": ", by the system",
    "assistant": ", said by the assistant",
    "tool": ", reported by tools",
}
QUOTED_CREDITS: Credits = {**CREDITS, "person": ", by the person"}  # in a message of ours
HEADINGS: dict[str, tuple[StatementKind, Author]] = {
    f"{title}{credit}:": (kind, author)
    for kind, title in TITLES.items()
    for credits_ in (QUOTED_CREDITS, CREDITS)
    for author, credit in credits_.items()
}
TURN = r"\[(?:system|user|assistant|tool|function)\b"  # marker of the turn that follows a ledger
BLOCK = re.compile(
    rf"^{re.escape(OPENING)}\n(?P<lines>(?:{'|'.join(map(re.escape, HEADINGS))})\n(?:(?!{TURN})[^\n]+(?:\n|\Z))+)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """A rendered ledger and the entries left out of it."""

    text: str
    left_out: tuple[Entry, ...] = ()


def render(
    entries: Sequence[Entry], *, room_tokens: int, count: CountText, is_quoted: bool = False
) -> Rendering:
    """Render entries, given in the order in which they were stated, within a token budget; quoted for a message of ours."""
    line_of, credit = (block, QUOTED_CREDITS) if is_quoted else (str, CREDITS)
    kept = {entry: line_of(entry.text) for entry in entries}
    if count(written(kept, credit)) > room_tokens:
        kept = {entry: line_of(shortened(entry.text)) for entry in entries}
    if count(written(kept, credit)) > room_tokens:
        kept = kept_in(kept, room_tokens - count(OPENING), count, credit)
    if kept and count(written(kept, credit)) > room_tokens:  # summed token counts are not exact
        kept = without_last(kept, room_tokens, count, credit)
    left_out = sorted((entry for entry in entries if entry not in kept), key=rank_of)
    return Rendering(text=written(kept, credit), left_out=tuple(left_out))


def without_last(lines: Lines, room_tokens: int, count: CountText, credit: Credits) -> Lines:
    """Return the lines without the fewest of the highest rank, so that the text fits."""
    order = sorted(lines, key=rank_of, reverse=True)  # the oldest of a rank first

    def rest(dropped: int) -> Lines:
        gone = set(order[:dropped])
        return {entry: line for entry, line in lines.items() if entry not in gone}

    def fits(dropped: int) -> bool:
        return count(written(rest(dropped), credit)) <= room_tokens

    most = 1
    while most < len(order) and not fits(most):  # few are usual
        most *= 2
    return rest(bisect_left(range(min(most, len(order))), 1, lo=most // 2 + 1, key=fits))


def rank_of(entry: Entry) -> int:
    """Return the drop rank of an entry; rank 0 is dropped last."""
    return REPORTED_RANK if entry.reported else RANKS[entry.kind]


def kept_in(lines: Lines, left: int, count: CountText, credit: Credits) -> Lines:
    """Return the lines that fit: safety rules first, reported entries last, each shortest first.

    If a safety rule does not fit, nothing less important is kept either.
    """
    costs = {entry: count(f"{line}\n") for entry, line in lines.items()}

    def place(entry: Entry) -> tuple[bool, bool, int]:
        rank, factor = rank_of(entry), 1 if looked_at(entry.text).values else WITHOUT_VALUE
        return rank == REPORTED_RANK, rank > 0, costs[entry] * factor

    order: list[Entry | str] = [*sorted(lines, key=place)]
    found = fit(
        order,
        left,
        cost=lambda each: costs[each] if isinstance(each, Entry) else count(f"{each}\n"),
        needs=lambda each: [heading_of(each, credit)] if isinstance(each, Entry) else (),
        ends=lambda each: isinstance(each, Entry) and rank_of(each) == 0,
    )
    kept = set(found.kept)
    return {entry: line for entry, line in lines.items() if entry in kept}


@remembered(REMEMBERED)
def shortened(text: str) -> str:
    """Return a statement without filler words, or unchanged if that would alter its subject or a value."""
    sentence = looked_at(text)
    parts: list[str] = []
    at = 0
    for each in sentence.cues.get("filler", ()):
        is_inside = any(value.start <= each.start < value.stop for value in sentence.values)
        if each.start >= at and not is_inside:
            parts.append(text[at : each.start])
            at = each.stop + (text[each.stop : each.stop + 1] == " ")
    short = " ".join("".join([*parts, text[at:]]).split())
    plain = short if says_the_same(short, text) else text
    link = next(iter(looked_at(plain).cues.get("is", ())), None)
    keyed = f"{plain[: link.start].strip()}: {plain[link.stop :].strip()}" if link else plain
    return keyed if link and looked_at(plain).key and says_the_same(keyed, plain) else plain


def says_the_same(short: str, text: str) -> bool:
    """Return True if a shorter text keeps the subject, the relation and all values."""
    if not 0 < len(short) < len(text):
        return False
    one, other = looked_at(short), looked_at(text)
    same = one.key == other.key and one.subject.relation == other.subject.relation
    return same and [v.text for v in one.values] == [v.text for v in other.values]


def written(lines: Lines, credit: Credits) -> str:
    """Return the lines under the headings of their kinds, the most important first; empty without lines."""
    sections: dict[str, list[str]] = {}
    for entry in sorted(lines, key=rank_of):
        sections.setdefault(heading_of(entry, credit), []).append(lines[entry])
    body = [line for heading, section in sections.items() for line in (heading, *section)]
    return "\n".join([OPENING, *body]) if body else ""


def heading_of(entry: Entry, credit: Credits) -> str:
    """Return the heading for entries of this kind and author."""
    return f"{TITLES[entry.kind]}{credit[entry.author]}:"


def entries_in(text: str, position: int) -> Iterator[Entry]:
    """Parse the entries of a rendered ledger, with or without its opening line."""
    heading: tuple[StatementKind, Author] | None = None
    lines = (line.removeprefix(MARK) for line in text.removeprefix(OPENING).split("\n"))
    for line in map(str.strip, lines):
        if line in HEADINGS:
            heading = HEADINGS[line]
        elif heading and line:
            yield entry_of(heading[0], line, heading[1], position)


def entry_of(kind: StatementKind, text: str, author: Author, position: int) -> Entry:
    """Build an entry, with the key taken from its text."""
    return Entry(kind=kind, key=looked_at(text).key, text=text, author=author, position=position)
