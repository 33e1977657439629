"""The five steps, the cheapest first, each on what the one before left.

Promise: a step is done only when the one before did not meet the target; same input, same drafts.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from autogen_context.compressor.core import core_of, noted
from autogen_context.compressor.counting import Tally
from autogen_context.compressor.detail import with_few_details
from autogen_context.compressor.draft import Draft
from autogen_context.compressor.examples import with_short_examples
from autogen_context.compressor.passage import Passage
from autogen_context.compressor.redundancy import without_redundancy
from autogen_context.compressor.result import Strategy
from autogen_context.compressor.sections import with_fewer_sentences
from autogen_context.compressor.weigh import Weighed, best, total, weighed

CANDIDATES = 5  # times what has room, for what is worth a look at its words
CORE_TRIES = 4  # what a whole costs is not quite the sum of what its parts cost


def drafts(
    start: Draft, *, target_tokens: int, tally: Tally, keep: Collection[str]
) -> Iterator[Draft]:
    """Ever smaller drafts; some of the last ones differ only in how much room they leave.

    Args:
        start: all that there is.
        target_tokens: what the text may have.
        tally: counts a text.
        keep: keywords to keep.
    """

    def draft(strategy: Strategy, found: Sequence[Passage]) -> Draft:
        return replace(start, passages=found, strategy=strategy)

    yield draft("remove redundancy", passages := without_redundancy(start.passages))
    yield draft("compress examples", passages := with_short_examples(passages))
    room = target_tokens - tally.tokens(start.stated) - 1
    entries = with_fewer_sentences(weighed(passages, tally, keep), room)
    yield draft("summarise sections", texts(entries))
    looked_at = candidates(entries, room)
    shorter = with_few_details(looked_at, tally)
    if len(looked_at) == len(entries):  # otherwise shorter sentences alone would not do it
        yield draft("abstract details", texts(shorter))
    notes = noted(shorter, tally)
    for _ in range(CORE_TRIES):
        core = core_of(notes, room, tally)
        yield (last := draft("keep core concepts", texts(core)))
        over = tally.tokens(last.text) - target_tokens
        room = min(room, total(core)) - over - 1


def candidates(entries: Sequence[Weighed], room: int) -> list[Weighed]:
    """The entries, the best of them where they are far more than what has room."""
    if total(entries) <= CANDIDATES * room:
        return list(entries)
    kept = best(entries, CANDIDATES * room)
    return [entry for at, entry in enumerate(entries) if at in kept]


def texts(entries: Sequence[Weighed]) -> list[Passage]:
    """The passages of some entries."""
    return [entry.passage for entry in entries]
