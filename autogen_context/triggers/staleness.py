"""What has grown stale: brought in long ago, not referred to since, and not what the work is about now.

Promise: staleness is a number in 0..1 that grows with age and falls with references and similarity. The same turns give
the same decisions; a turn costs the same however many there were, and what is read and remembered of each is bounded.
"""

from collections.abc import Callable, Iterable, Iterator, KeysView, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from math import isfinite

from autogen_context.messages.identifiers import is_telling, values_of
from autogen_context.triggers.decision import (
    LEAST_TURNS,
    NOTHING,
    STALE_ABOVE,
    Scope,
    TriggerDecision,
)
from autogen_context.triggers.outcome import Outcomes
from autogen_context.triggers.turn import Turn, check_fraction, check_least, check_turn

CONFIDENCE = 0.70
MAX_AGE = 50
MAX_REFERENCES = 10
JUDGED_EVERY = 4  # turns: so that a turn costs little
REMEMBERED = 2  # times the maximal age; turns that are older are let go of
AGE_WEIGHT, REFERENCE_WEIGHT, SIMILARITY_WEIGHT = 0.3, 0.4, 0.3

SAID_CHARS = 300  # of what the model wrote, from its beginning and its end
SHOWN_CHARS = 450  # of what came back, from its beginning, middle and end
MOST_STEPS = 6  # of a turn
MOST_SUBJECTS = 20  # of a call
CONTEXT_TURNS = 5  # the newest turns: what the work is about now

NO_NAMES: frozenset[str] = frozenset()


def staleness(
    *,
    age: float,
    recent_references: float,
    similarity: float,
    max_age: int = MAX_AGE,
    max_references: int = MAX_REFERENCES,
) -> float:
    """How stale a thing is: 0.3 for its age, 0.4 for want of references, 0.3 for not being what the work is about.

    Args:
        age: turns since it was brought in; above ``max_age`` it counts like this.
        recent_references: recent turns that referred to it; above ``max_references`` they count like this.
        similarity: to what the work is about now, 0..1.
        max_age: turns, 1 or more.
        max_references: turns, 0 or more. Where it is 0, references say nothing, and the other two weights are scaled up
            to 0.5 each, so that the result can still be anything in 0..1.

    Returns:
        A number in 0..1; 1 is stale.

    Raises:
        ValueError: an argument is negative, not a number, or not in its range.
    """
    for name, value in (("age", age), ("recent_references", recent_references)):
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"{name}={value}: give a finite number, 0 or more")
    check_fraction("similarity", similarity)
    check_least("max_age", max_age, 1)
    check_least("max_references", max_references, 0)
    aged = AGE_WEIGHT * min(age / max_age, 1.0)
    apart = SIMILARITY_WEIGHT * (1 - similarity)
    if max_references == 0:
        return (aged + apart) / (AGE_WEIGHT + SIMILARITY_WEIGHT)
    return aged + REFERENCE_WEIGHT * (1 - min(recent_references / max_references, 1.0)) + apart


class StalenessTracker:
    """Proposes the oldest stretch of turns that have all grown stale.

    A turn is judged from what it brought in: files it viewed or wrote, and the names in what came back. Turns that name
    one of these again refer to it. A turn is young, and not stale, until ``max_references`` turns had a chance to. A
    stretch is proposed again when four more turns of it are stale.

    Args:
        max_age: turns; what is older counts like this. 1 or more.
        max_references: recent turns that are looked at for references. 0: references say nothing.
        threshold: staleness above which a turn is stale, 0..1.
        confidence: that a developer would call a proposal right, 0..1.
        similarity: for the number of a turn, how near it is to what the work is about now, 0..1: by embeddings, say. By
            the names that it shares with the newest turns where nothing is given.

    Raises:
        ValueError: an argument is none of these.
    """

    def __init__(
        self,
        max_age: int = MAX_AGE,
        max_references: int = MAX_REFERENCES,
        threshold: float = STALE_ABOVE,
        confidence: float = CONFIDENCE,
        *,
        similarity: Callable[[int], float] | None = None,
    ) -> None:
        check_least("max_age", max_age, 1)
        check_least("max_references", max_references, 0)
        check_fraction("threshold", threshold)
        check_fraction("confidence", confidence)
        self._max_age, self._max_references = max_age, max_references
        self._threshold, self._confidence = threshold, confidence
        self._mentions = Mentions(REMEMBERED * max(max_age, max_references))
        self._similarity = similarity or self._mentions.similarity
        self._outcomes = Outcomes()
        self._now = 0
        self._until_judged = JUDGED_EVERY
        self._proposed: set[int] = set()

    def observe(self, turn: Turn) -> TriggerDecision:
        """Whether a stretch of turns has grown stale; looked for every few turns."""
        check_turn(turn)
        self._outcomes.add(turn)
        self._now = turn.number
        self._proposed.difference_update(self._mentions.add(turn))
        self._until_judged -= 1
        if self._until_judged:
            return NOTHING
        self._until_judged = JUDGED_EVERY
        numbers = self._mentions.numbers
        old = (n for n in numbers if n <= self._now - max(1, self._max_references))
        new = {n for n in old if n not in self._proposed and self._is_stale(n)}
        if len(new) < LEAST_TURNS:
            return NOTHING
        stale = new.union(filter(self._is_stale, self._proposed))
        for is_stale, run in groupby(numbers, stale.__contains__):
            turns = tuple(run)
            if is_stale and len(new.intersection(turns)) >= LEAST_TURNS:
                decision = self._proposal(turns)
                if decision.fires:
                    return decision
        return NOTHING

    def staleness_of(self, number: int) -> float:
        """How stale a turn is now, 0..1.

        Raises:
            KeyError: there is no such turn, or it is older than twice the maximal age.
            ValueError: the similarity that was handed in is not in its range.
        """
        return staleness(
            age=self._now - number,
            recent_references=self._mentions.references(number, turns=self._max_references),
            similarity=self._similarity(number),
            max_age=self._max_age,
            max_references=self._max_references,
        )

    def _is_stale(self, number: int) -> bool:
        return self.staleness_of(number) > self._threshold

    def _proposal(self, turns: Sequence[int]) -> TriggerDecision:
        start, stop = turns[0], turns[-1] + 1
        scope = Scope(start=start, stop=stop, outcomes=self._outcomes.within(start, stop))
        if not scope.is_enough():
            return NOTHING
        self._proposed.update(turns)
        least = round(min(map(self.staleness_of, turns)), 3)
        return TriggerDecision(
            kind="staleness",
            scope=scope,
            confidence=self._confidence,
            details={"turns": len(turns), "least_staleness": least, "threshold": self._threshold},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What a turn names, what of it came back, and the turns to which it refers: they brought in what it names itself."""

    number: int
    names: frozenset[str]
    shown: frozenset[str]
    refers: frozenset[int]


class Mentions:
    """The names of the newest turns: which brought them in, and which referred to them again.

    A name names one thing (a path, an identifier, a code); a plain word or number is none.

    Args:
        turns: how many turns back are remembered.
    """

    def __init__(self, turns: int) -> None:
        self._remembered = turns
        self._turns: dict[int, _Named] = {}
        self._newest: dict[str, int] = {}  # the newest turn that brought a name in
        self._now = 0
        self._context = NO_NAMES  # what the newest turns name

    @property
    def numbers(self) -> KeysView[int]:
        """The turns that are remembered, oldest first."""
        return self._turns.keys()

    def add(self, turn: Turn) -> Sequence[int]:
        """Read one more turn; the numbers of those that are forgotten for it."""
        self._now = turn.number
        oldest = self._now - self._remembered
        forgotten = list(takewhile(lambda number: number < oldest, self._turns))
        for number in forgotten:
            for name in self._turns.pop(number).shown:
                if self._newest[name] == number:
                    del self._newest[name]
        said, shown = names_in(said_in(turn)), names_in(shown_in(turn))
        refers = frozenset(self._newest[name] for name in self._newest.keys() & said)
        self._turns[turn.number] = _Named(
            number=turn.number, names=said | shown, shown=shown, refers=refers
        )
        self._newest.update(dict.fromkeys(shown, turn.number))
        newest = islice(reversed(self._turns.values()), CONTEXT_TURNS)
        self._context = NO_NAMES.union(*[each.names for each in newest])
        return forgotten

    def references(self, number: int, *, turns: int) -> int:
        """How many of the newest so many turns named again what a turn brought in."""
        since, recent = self._now - turns, islice(reversed(self._turns.values()), turns)
        return sum([number in each.refers for each in recent if each.number > since])

    def similarity(self, number: int) -> float:
        """How many of a turn's names the newest turns share, of those that could be; 0 where it has none."""
        names, now = self._turns[number].names, self._context
        shared = names & now
        return len(shared) / min(len(names), len(now)) if shared else 0.0


def said_in(turn: Turn) -> Iterator[str]:
    """What a turn named itself: the words of the model, and what its calls are about."""
    yield from _parts(turn.reasoning, 2, SAID_CHARS // 2)
    for step in turn.steps[:MOST_STEPS]:
        yield from step.action.subjects[:MOST_SUBJECTS]


def shown_in(turn: Turn) -> Iterator[str]:
    """What a turn brought in: the files it viewed or wrote, and what came back."""
    steps = turn.steps[:MOST_STEPS]
    for step in steps:
        yield from (view.path for view in step.action.views[:MOST_SUBJECTS])
        yield from step.action.writes[:MOST_SUBJECTS]
        yield from _parts(step.observation or "", 3, SHOWN_CHARS // 3 // len(steps))


def _parts(text: str, parts: int, chars: int) -> Iterator[str]:
    """The text; so many parts of it where it is longer than all of them, the first and the last among them."""
    if len(text) <= parts * chars:
        yield text
        return
    step = (len(text) - chars) // (parts - 1)
    yield from (text[i * step : i * step + chars] for i in range(parts - 1))
    yield text[-chars:]


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """The names in some texts, and the last part of each path."""
    values = [each for each in values_of("\n".join(texts)) if is_telling(each)]
    paths = [each.rpartition("/")[2] for each in values if "/" in each]
    return frozenset(each for each in (*values, *paths) if each and not each.isdecimal())
