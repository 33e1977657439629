"""Read a text for compression: what is stated in it and holds, and the rest.

Promise: what holds is in the ledger or among the passages; a sentence that a later one replaced is in neither. A text of ours
is recognised by the ledger that it opens with, which is read back and goes on: nothing is summarised twice.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.compressor.concepts import Holdings, keywords_in, sense_of
from autogen_context.compressor.passage import AUTHORITY, Passage, joined, opening_of, passages_of
from autogen_context.ledger import Entry, Ledger

BORDER = "\n\n"  # between the ledger and the rest; a rendered ledger ends at its first empty line


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What there is to compress.

    Attributes:
        entries: what is stated and holds.
        passages: the rest, in its order.
        current: all but what an earlier compression stated, and what no longer holds.
    """

    entries: tuple[Entry, ...]
    passages: list[Passage]
    current: list[Passage]


def read_source(text: str, keep: Sequence[str] = ()) -> Source:
    """What a text has to be compressed.

    Args:
        text: any text; a transcript names who speaks at the beginning of lines.
        keep: keywords; what has one stays among the passages as well.
    """
    ledger, rest = reopened(text)
    passages = passages_of(rest)
    stating = learn(ledger, passages)
    said_at = entries_by_position(ledger)
    asked = [bool(keywords_in(passage.text, keep)) for passage in passages]
    current = [
        (at, passage)
        for at, passage in enumerate(passages, 1)
        if at not in stating or said_at[at] or asked[at - 1]
    ]
    beside = [
        passage
        for at, passage in current
        if at not in stating or asked[at - 1] or not says_all(said_at[at], passage)
    ]
    return Source(
        entries=tuple(ledger), passages=beside, current=[passage for _, passage in current]
    )


def reopened(text: str) -> tuple[Ledger, str]:
    """The ledger that a text of ours opens with, and what follows it; an empty one and the text where it is not ours."""
    opening, _, author = opening_of(text.partition("\n")[0]) or ("", "", "person")
    lines = text[len(opening) :].split("\n")
    ends = (at for at, line in enumerate(lines) if not line.strip() or opening_of(line))
    end = next(ends, len(lines))
    head = "\n".join(lines[:end]) if AUTHORITY[author] else ""
    ledger = Ledger.read(head, only_sure=True)
    return (ledger, "\n".join(lines[end:]).lstrip("\n")) if len(ledger) else (ledger, text)


def learn(ledger: Ledger, passages: Sequence[Passage]) -> set[int]:
    """Have a ledger take in some passages; the positions, from 1, of those that state something."""
    return {
        at
        for at, passage in enumerate(passages, 1)
        if passage.kind in {"sentence", "item"}
        and ledger.learn_text(passage.text, author=passage.speaker.author or "person", position=at)
    }


def entries_by_position(ledger: Ledger) -> defaultdict[int, list[Entry]]:
    """What holds of what each passage stated."""
    found: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in ledger:
        found[entry.position].append(entry)
    return found


def says_all(entries: Sequence[Entry], passage: Passage) -> bool:
    """Whether statements say all that their passage does, so that it need not stand beside them."""
    has = Holdings("\n".join(entry.text for entry in entries)).has
    return all(has(concept) for concept in sense_of(passage.text).concepts)


def without_outdated(text: str, newer: Sequence[Entry]) -> str:
    """A text without the sentences that newer statements replaced.

    Args:
        text: sentences, of whomever.
        newer: what was stated after them.
    """
    ledger, passages = Ledger(), passages_of(text)
    stating = learn(ledger, passages)
    for entry in newer:
        ledger.learn_text(entry.text, author=entry.author, position=len(passages) + 1)
    said_at = entries_by_position(ledger)
    return joined(p for at, p in enumerate(passages, 1) if at not in stating or said_at[at])
