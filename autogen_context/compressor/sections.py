"""Summarise sections: whole sentences stay, those first that say what no other does.

Promise: no more goes than the room demands; what is the only one to say something stays, and so does a heading with
something below it. Sentences are never changed.
"""

from collections.abc import Sequence

from autogen_context.compressor.weigh import Weighed, best

TELLING_WEIGHT = 1.5  # a concept of less (a name, a quoted string) may go here


def with_fewer_sentences(entries: Sequence[Weighed], room: int) -> list[Weighed]:
    """The entries without sentences that say nothing of their own, the least central first, until the rest has room.

    Args:
        entries: n weighed passages, in the order of the text.
        room: what they may cost together, in tokens.
    """
    kept = best(entries, room, spare=says_nothing_new)
    return without_empty_headings([entry for at, entry in enumerate(entries) if at in kept])


def says_nothing_new(entry: Weighed) -> bool:
    """Whether a passage has no concept of weight that none before it has."""
    return entry.passage.kind != "heading" and all(
        concept.weight < TELLING_WEIGHT for concept in entry.fresh
    )


def without_empty_headings(entries: Sequence[Weighed]) -> list[Weighed]:
    """The entries without headings that have nothing left below them."""
    kept: list[Weighed] = []
    for entry, following in zip(entries, [*entries[1:], None], strict=False):
        below = following is not None and following.passage.kind != "heading"
        if entry.passage.kind != "heading" or below:
            kept.append(entry)
    return kept
