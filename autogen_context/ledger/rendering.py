"""Write a ledger within a room, and read it again.

Promise: what is written has at most the room's tokens and is read as the same statements, so that a ledger written again
is the ledger: it does not decay. Each statement stands in full where all do; else all get shorter; else some go, safety
rules last.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from autogen_context.ledger.choice import chosen, rank_of
from autogen_context.ledger.entry import Author, Entry, Kind
from autogen_context.ledger.subject import subject_of
from autogen_context.ledger.terse import LEVELS, forms

CountText = Callable[[str], int]
Lines = dict[Entry, str]

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
BLOCK = re.compile(
    rf"^{re.escape(OPENING)}\n(?P<lines>(?:{TITLE})(?:{CREDIT}):\n(?:[^\n]+(?:\n|\Z))+)",
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
    ladders = {entry: forms(entry) for entry in entries}
    for level in range(LEVELS if entries else 0):
        text = written({entry: ladder[level] for entry, ladder in ladders.items()})
        if count(text) <= room_tokens:
            return Rendering(text=text)
    kept = kept_in({entry: ladder[-1] for entry, ladder in ladders.items()}, room_tokens, count)
    for level in range(LEVELS - 1):
        kept = relaxed(kept, {entry: ladders[entry][level] for entry in kept}, room_tokens, count)
    left_out = sorted((entry for entry in entries if entry not in kept), key=rank_of)
    return Rendering(text=written(kept), left_out=tuple(left_out))


def kept_in(lines: Lines, room_tokens: int, count: CountText) -> Lines:
    """The lines that fit."""
    kept = chosen(
        {entry: count(f"{line}\n") for entry, line in lines.items()},
        room_tokens=room_tokens - count(OPENING),
        heading_tokens=lambda entry: count(f"{heading_of(entry)}\n"),
    )
    return fitting(
        {entry: line for entry, line in lines.items() if entry in kept}, room_tokens, count
    )


def fitting(lines: Lines, room_tokens: int, count: CountText) -> Lines:
    """The lines without the least important ones, as many as it takes; sums of tokens are not exact."""
    while lines and count(written(lines)) > room_tokens:
        last = max(lines, key=rank_of)
        lines = {entry: line for entry, line in lines.items() if entry is not last}
    return lines


def relaxed(lines: Lines, longer: Lines, room_tokens: int, count: CountText) -> Lines:
    """The lines, the most important ones longer while there is room."""
    left = room_tokens - count(written(lines))
    result = dict(lines)
    for entry in sorted(lines, key=rank_of):
        more = count(f"{longer[entry]}\n") - count(f"{lines[entry]}\n")
        if more <= left:
            left -= more
            result[entry] = longer[entry]
    return result if count(written(result)) <= room_tokens else lines


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
    return Entry(kind=kind, key=subject_of(text).key, text=text, author=author, position=position)
