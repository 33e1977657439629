"""What has grown stale: brought in long ago, not referred to since, and not what the work is about now.

Promise: staleness is a number in 0..1 that grows with age and falls with references and similarity. The same turns give
the same decisions; a turn costs the same however many there were, and what is remembered is bounded.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby

from autogen_context.triggers.checks import check_amount, check_least, check_share
from autogen_context.triggers.decision import NOTHING, Scope, TriggerDecision
from autogen_context.triggers.enough import LEAST_TURNS, is_enough
from autogen_context.triggers.mention import Mentions
from autogen_context.triggers.outcome import Outcomes
from autogen_context.triggers.settings import STALE_ABOVE
from autogen_context.triggers.turn import Turn, check_turn

CONFIDENCE = 0.70
MAX_AGE = 50
MAX_REFERENCES = 10
JUDGED_EVERY = 4  # turns: so that a turn costs little; what is stale was nearly so before
REMEMBERED = 2  # times the maximal age; turns that are older are let go of

AGE_SHARE, REFERENCE_SHARE, SIMILARITY_SHARE = 0.3, 0.4, 0.3


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
        check_share("threshold", threshold)
        check_share("confidence", confidence)
        self._scale = Scale(max_age=max_age, max_references=max_references)
        self._threshold, self._confidence = threshold, confidence
        self._mentions = Mentions(max(REMEMBERED * max_age, REMEMBERED * max_references))
        self._similarity = checked(similarity) if similarity else self._mentions.similarity
        self._outcomes = Outcomes()
        self._now = 0
        self._stale: set[int] = set()
        self._proposed: set[int] = set()
        self._known: dict[int, float] = {}  # staleness by turn, as far as asked for now

    def observe(self, turn: Turn) -> TriggerDecision:
        """Whether a stretch of turns has grown stale."""
        check_turn(turn)
        self._outcomes.add(turn)
        self._now = turn.number
        forgotten = self._mentions.add(turn)
        self._stale.difference_update(forgotten)
        self._proposed.difference_update(forgotten)
        self._known.clear()
        if not self._judge():
            return NOTHING
        return next(filter(None, map(self._proposal, self._grown())), NOTHING)

    def staleness_of(self, number: int) -> float:
        """How stale a turn is now, 0..1.

        Raises:
            KeyError: there is no such turn, or it is older than twice the maximal age.
            ValueError: the similarity that was handed in is not in its range.
        """
        references = self._mentions.references(number, turns=self._scale.max_references)
        return self._scale.staleness(self._now - number, references, self._similarity(number))

    def _judge(self) -> bool:
        """Judge the turns whose time it is; whether one is stale that was not."""
        new = set(filter(self._is_stale, self._due()))
        self._stale.update(new)
        return bool(new)

    def _due(self) -> AbstractSet[int]:
        """The turns that are judged now: those no longer young and not stale yet, each in its turn."""
        oldest = self._mentions.oldest
        youngest = self._now - max(1, self._scale.max_references)
        first = oldest + (self._now - oldest) % JUDGED_EVERY
        turns = set(range(first, youngest + 1, JUDGED_EVERY)) - self._stale
        return self._mentions.numbers & turns

    def _is_stale(self, number: int) -> bool:
        scale, age = self._scale, self._now - number
        references = self._mentions.references(number, turns=scale.max_references)
        if references and scale.staleness(age, references, 0.0) <= self._threshold:
            return False  # whatever it is about; to ask for that is what costs
        found = scale.staleness(age, references, self._similarity(number))
        self._known[number] = found
        return found > self._threshold

    def _grown(self) -> list[Sequence[int]]:
        """The stretches of stale turns that have grown since they were proposed, oldest first; what is fresh again is out."""
        grown = self._stretches()
        fresh = [turn for turns in grown for turn in turns if not self._is_stale(turn)]
        if not fresh:
            return grown
        self._stale.difference_update(fresh)
        return self._stretches()

    def _stretches(self) -> list[Sequence[int]]:
        """The same, with what was stale when it was judged."""
        new = self._stale - self._proposed
        if len(new) < LEAST_TURNS:
            return []
        runs = groupby(self._mentions.numbers, self._stale.__contains__)
        stretches = (tuple(run) for stale, run in runs if stale)
        return [turns for turns in stretches if len(new.intersection(turns)) >= LEAST_TURNS]

    def _proposal(self, turns: Sequence[int]) -> TriggerDecision | None:
        start, stop = turns[0], turns[-1] + 1
        scope = Scope(start=start, stop=stop, outcomes=self._outcomes.within(start, stop))
        if not is_enough(scope):
            return None
        self._proposed.update(turns)
        return TriggerDecision(
            kind="staleness",
            scope=scope,
            confidence=self._confidence,
            details={
                "turns": len(turns),
                "least_staleness": round(min(map(self._known.__getitem__, turns)), 3),
                "threshold": self._threshold,
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What counts as old, and as often referred to.

    Attributes:
        max_age: turns, 1 or more.
        max_references: turns, 0 or more.
    """

    max_age: int
    max_references: int

    def staleness(self, age: float, references: float, similarity: float, /) -> float:
        """How stale a thing is, by numbers that are in their ranges."""
        most = self.max_references
        aged = AGE_SHARE * (age / self.max_age if age < self.max_age else 1.0)
        apart = SIMILARITY_SHARE * (1 - similarity)
        if most == 0:
            return (aged + apart) / (AGE_SHARE + SIMILARITY_SHARE)
        unused = 1 - references / most if references < most else 0.0
        return aged + REFERENCE_SHARE * unused + apart


def checked(similarity: Callable[[int], float]) -> Callable[[int], float]:
    """The same, with what is no share refused."""

    def of(number: int) -> float:
        share = similarity(number)
        check_share("similarity", share)
        return share

    return of


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
        max_references: turns, 0 or more. Where it is 0, references say nothing, and the other two shares are scaled up
            to 0.5 each, so that the result can still be anything in 0..1.

    Returns:
        A number in 0..1; 1 is stale.

    Raises:
        ValueError: an argument is negative, not a number, or not in its range.
    """
    check_amount("age", age)
    check_amount("recent_references", recent_references)
    check_share("similarity", similarity)
    check_least("max_age", max_age, 1)
    check_least("max_references", max_references, 0)
    scale = Scale(max_age=max_age, max_references=max_references)
    return scale.staleness(age, recent_references, similarity)
