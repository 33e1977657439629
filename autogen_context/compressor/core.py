"""Keep core concepts: notes of the passages that say most, and of the others what would be lost.

Promise: what is returned costs at most its room by the counts of its passages, keeps their order, and has no word that is
not in the text. Linear but for sorting.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from autogen_context.compressor.concepts import flattened
from autogen_context.compressor.counting import Tally
from autogen_context.compressor.detail import terse
from autogen_context.compressor.passage import Passage
from autogen_context.compressor.sections import without_empty_headings
from autogen_context.compressor.sense import Concept
from autogen_context.compressor.weigh import Weighed, best, reworded, total

WHOLE_SHARE = 0.75  # of the room, for whole notes; the rest for what would be lost
CLAUSE = re.compile(
    r"(?<=[;:]) |,? (?=(?:because|while|whereas|although|so that|which|but) )|(?<=,) (?=(?:and|then) )"
)
LEAST_WORDS = 3  # of a clause that a reader understands without the rest of its sentence


def core_of(notes: Sequence[Weighed], room: int, tally: Tally) -> list[Weighed]:
    """The notes that have room, and clauses of others.

    Args:
        notes: n weighed notes, in the order of the text.
        room: what they may cost together, in tokens.
        tally: counts a text.
    """
    if total(notes) <= room:
        return without_empty_headings(notes)
    chosen = best(notes, int(room * WHOLE_SHARE))
    held = {concept for at in chosen for concept in notes[at].concepts}
    others = [at for at in range(len(notes)) if at not in chosen]
    kept = {at: notes[at] for at in chosen}
    left = add(kept, extracts(held.__contains__, notes, others, tally), room - total(kept.values()))
    others = sorted(set(others) - set(kept), key=lambda at: (-notes[at].score, at))
    add(kept, ((at, notes[at]) for at in others), left)
    return without_empty_headings([kept[at] for at in sorted(kept)])


def noted(entries: Iterable[Weighed], tally: Tally) -> list[Weighed]:
    """The entries as notes; a block stays as it is."""
    return [
        entry
        if entry.passage.kind == "block"
        else reworded(entry, terse(entry.passage.text), tally)
        for entry in entries
    ]


def add(kept: dict[int, Weighed], offered: Iterable[tuple[int, Weighed]], left: int) -> int:
    """Add what has room, in the order in which it is offered; what is left of the room."""
    for at, entry in offered:
        if left <= 0:
            break
        if entry.tokens <= left:
            kept[at] = entry
            left -= entry.tokens
    return left


def extracts(
    held: Callable[[Concept], bool], notes: Sequence[Weighed], among: Iterable[int], tally: Tally
) -> Iterator[tuple[int, Weighed]]:
    """Of some notes the clauses with concepts that are held nowhere, by their places; the weightiest first."""
    lost = {at: [concept for concept in notes[at].fresh if not held(concept)] for at in among}
    weights = {at: sum(c.weight for c in found) / notes[at].tokens for at, found in lost.items()}
    for at in sorted(filter(lost.get, lost), key=lambda at: (-weights[at], at)):
        yield at, reworded(notes[at], clauses_with(lost[at], notes[at].passage), tally)


def clauses_with(concepts: Collection[Concept], passage: Passage) -> str:
    """The clauses of a passage that have one of the concepts; all of it where they say too little alone."""
    if passage.kind == "block":
        return lines_with(concepts, passage.text)
    wanted = [flattened(concept.text) for concept in concepts]
    clauses = CLAUSE.split(passage.text)
    kept = [clause.strip() for clause in clauses if any(w in flattened(clause) for w in wanted)]
    short = " ".join(kept).rstrip(",;:")
    return short if len(short.split()) >= LEAST_WORDS else passage.text


def lines_with(concepts: Collection[Concept], block: str) -> str:
    """The lines of a block that have one of the concepts."""
    wanted = [concept.text for concept in concepts]
    lines = [line for line in block.split("\n") if any(text in line for text in wanted)]
    return "\n".join(lines) or block
