"""Remember a rewrite that did not help, and leave it until something changed.

Promise: what helped is never held back; what did not is tried once in a situation.
"""

from dataclasses import dataclass

HELPED_SHARE = 0.5  # of what was promised


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
    """A rewrite that was done.

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
        return self.saved_tokens > 0 and self.saved_tokens >= HELPED_SHARE * self.promised_tokens

    def is_vain(self, now: Situation) -> bool:
        """Whether there is no reason why it should do better now.

        There is one where pins, window or past have changed, or as much has come as was promised.
        """
        grown = now.movable_tokens - self.situation.movable_tokens
        is_same = now.is_like(self.situation) and grown < max(1, self.promised_tokens)
        return is_same and not self.helped
