"""The five steps, the cheapest first, each on what the one before left.

Promise: a step is done only when the one before did not meet the target; same input, same drafts.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from autogen_context.pipeline.compress.core import core_of, noted
from autogen_context.pipeline.compress.counting import Tally
from autogen_context.pipeline.compress.detail import with_few_details
from autogen_context.pipeline.compress.draft import Draft
from autogen_context.pipeline.compress.examples import with_short_examples
from autogen_context.pipeline.compress.passage import Passage
from autogen_context.pipeline.compress.redundancy import without_redundancy
from autogen_context.pipeline.compress.result import Strategy
from autogen_context.pipeline.compress.sections import with_fewer_sentences
from autogen_context.pipeline.compress.weigh import Weighed, total, weighed

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
    entries = with_few_details(entries, tally)
    yield draft("abstract details", texts(entries))
    notes = noted(entries, tally)
    for _ in range(CORE_TRIES):
        kept = core_of(notes, room, tally)
        yield (last := draft("keep core concepts", texts(kept)))
        over = tally.tokens(last.text) - target_tokens
        room = min(room, total(kept)) - over - 1


def texts(entries: Sequence[Weighed]) -> list[Passage]:
    """The passages of some entries."""
    return [entry.passage for entry in entries]
