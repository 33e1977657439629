"""What each passage is worth, and which of them have room.

Promise: linear but for sorting; the same passages have the same worth. What is chosen keeps its order.

A passage is worth what it says that none before it says (its concepts by their weights), how much its words are those of
the whole text, and whether it opens its section. Worth counts against what a passage costs.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log

from autogen_context.compressor.concepts import keywords_in
from autogen_context.compressor.counting import Tally
from autogen_context.compressor.passage import Passage
from autogen_context.compressor.sense import Concept, sense_of

OPENING_WORTH = 1.0  # of the first passage of a section, and of the first and the last of all
CENTRAL_WORTH = 2.0  # of a passage whose words are all as frequent as the most frequent one
CONCEPT_POWER = 0.75  # a row of ten numbers says less than ten sentences with one each
COST_BASE = 6  # tokens; of two short passages the shorter is not worth twice as much
COST_POWER = 0.7
BORDER = 1  # tokens that a passage costs beside its text: a line break


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A passage and what is known of it.

    Attributes:
        passage: as it stands.
        concepts: what it says.
        fresh: of these, what none before it says.
        tokens: what it costs, the opening of its turn and a line break included.
        score: its worth for what it costs.
    """

    passage: Passage
    concepts: tuple[Concept, ...]
    fresh: tuple[Concept, ...]
    tokens: int
    score: float


def weighed(passages: Sequence[Passage], tally: Tally, keep: Collection[str]) -> list[Weighed]:
    """The passages with their worth, same order."""
    senses = [sense_of(passage.text) for passage in passages]
    frequency = Counter(chain.from_iterable(set(sense.terms) for sense in senses))
    most = log(1 + max(frequency.values(), default=1))
    centrality = {term: log(1 + count) for term, count in frequency.items()}
    seen: set[Concept] = set()
    result: list[Weighed] = []
    for at, (passage, sense) in enumerate(zip(passages, senses, strict=True)):
        opens = at in {0, len(passages) - 1} or passage.section != passages[at - 1].section
        concepts = sense.concepts
        if keep:
            concepts = (*keywords_in(passage.text, keep), *concepts)
        fresh = tuple(concept for concept in concepts if concept not in seen)
        seen.update(fresh)
        central = sum(map(centrality.__getitem__, sense.terms)) / (len(sense.terms) + 2)
        worth = sum(concept.weight for concept in fresh) ** CONCEPT_POWER
        worth += CENTRAL_WORTH * central / most + OPENING_WORTH * opens
        tokens = tally.tokens(passage.written) + BORDER
        result.append(
            Weighed(
                passage=passage,
                concepts=concepts,
                fresh=fresh,
                tokens=tokens,
                score=worth / (tokens + COST_BASE) ** COST_POWER,
            )
        )
    return result


def reworded(entry: Weighed, text: str, tally: Tally) -> Weighed:
    """The entry with another text: what it says counts the same, what it costs does not."""
    if text == entry.passage.text:
        return entry
    passage = replace(entry.passage, text=text)
    tokens = tally.tokens(passage.written) + BORDER
    cheaper = ((entry.tokens + COST_BASE) / (tokens + COST_BASE)) ** COST_POWER
    return replace(entry, passage=passage, tokens=tokens, score=entry.score * cheaper)


def total(entries: Iterable[Weighed]) -> int:
    """What passages cost together, about."""
    return sum(entry.tokens for entry in entries)


def best(
    entries: Sequence[Weighed], room: int, *, spare: Callable[[Weighed], bool] = lambda _: True
) -> set[int]:
    """Places of the entries that stay when the worst of those that may be spared go, until the rest has room."""
    over = total(entries) - room
    kept = set(range(len(entries)))
    for at in sorted(kept, key=lambda at: (entries[at].score, -at)):
        if over <= 0:
            break
        if spare(entries[at]):
            kept.remove(at)
            over -= entries[at].tokens
    return kept
