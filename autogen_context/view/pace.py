"""What the price of a rewrite is judged by, from turn to turn.

Promise: values only. What was judged depends on the turns alone, so that a saved state judges alike.
"""

from dataclasses import dataclass

HELPED_FRACTION = 0.5  # of what a rewrite promised; one that brought less did not help


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What decides what a rewrite can do.

    Attributes:
        movable_tokens: what it may touch, all that must stay apart.
        changes: how often pins or what was said before have changed.
        limit_tokens: what a request may have.
    """

    movable_tokens: int
    changes: int = 0
    limit_tokens: int = 0

    def is_like(self, other: "Situation") -> bool:
        """Whether nothing but what came in is different."""
        return (self.changes, self.limit_tokens) == (other.changes, other.limit_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A rewrite that was done, remembered so that one that did not help is not repeated.

    Attributes:
        situation: when it was done.
        promised_tokens: what it was to save.
        saved_tokens: what it saved; below 0 where more was there afterwards.
    """

    situation: Situation
    promised_tokens: int
    saved_tokens: int

    @property
    def helped(self) -> bool:
        """Whether it saved a good part of what it promised."""
        least = HELPED_FRACTION * self.promised_tokens
        return self.saved_tokens > 0 and self.saved_tokens >= least

    def is_vain(self, now: Situation) -> bool:
        """Whether nothing has changed that would let it do better: pins, window, past, or as much new as was promised."""
        grown = now.movable_tokens - self.situation.movable_tokens
        is_same = now.is_like(self.situation) and grown < max(1, self.promised_tokens)
        return is_same and not self.helped


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What is remembered from turn to turn; the functions of ``triggers.price`` make the next one.

    Attributes:
        turns: how many there were.
        waited_tokens: what it has cost not to rewrite, since the last rewrite, in uncached tokens.
        last_turn_s: when the last one was, by the clock handed in; ``None`` where there was none.
        attempt: the last rewrite, and what it brought.
        changes: how often pins or what was said before have changed.
        seen_units: how many units the turns so far had.
        finished_waited_tokens: what it has cost not to cut what is finished, as far as it was proposed.
        finished_saving_tokens: what that costs in each turn.
    """

    turns: int = 0
    waited_tokens: float = 0.0
    last_turn_s: float | None = None
    attempt: Attempt | None = None
    changes: int = 0
    seen_units: int = 0
    finished_waited_tokens: float = 0.0
    finished_saving_tokens: float = 0.0

    def is_vain(self, now: Situation) -> bool:
        """Whether the last rewrite did not help, and nothing has changed since."""
        return self.attempt is not None and self.attempt.is_vain(now)
