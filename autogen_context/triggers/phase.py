"""Turns in a row with one intent, and the debugging that they are a part of.

Promise: values only. Debugging goes on over attempts at a repair: a short change behind it is the repair, and what is looked
into when that did not help is the same debugging.
"""

from dataclasses import dataclass, replace
from typing import Literal

from autogen_context.triggers.intent import Standing
from autogen_context.triggers.intent_words import Intent


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Turns with one intent.

    Attributes:
        intent: of its turns.
        start: number of its first turn.
        standing: how the work stood before that.
        by: who told the intent.
        decided: number of the turn in which it was believed.
        since: number of the first turn of the debugging that it is a part of: attempts at a repair, and what was looked
            into after them; ``None`` where it is none.
    """

    intent: Intent
    start: int
    standing: Standing
    by: Literal["rules", "model"]
    decided: int
    since: int | None = None

    @property
    def is_continued(self) -> bool:
        """Whether it goes on with a debugging that began before."""
        return self.since is not None and self.since < self.start

    def goes_on(self, intent: Intent) -> bool:
        """Whether an intent is of the work of this phase: a fault is looked for, what is debugged is repaired."""
        repaired = (self.intent, intent) == ("DEBUG", "IMPLEMENT")
        return repaired or intent in ("DEBUG", self.intent)

    def behind(self, ended: "Phase | None") -> "Phase":
        """The same phase, with the debugging that goes on in it; behind another where that was not proposed."""
        repairs = ended is not None and (self.intent, ended.intent) == ("IMPLEMENT", "DEBUG")
        repaired = ended is not None and self.intent == "DEBUG" and ended.is_repair(self.start)
        if ended and (repairs or repaired):
            return replace(self, since=ended.since)
        return replace(self, since=self.start) if self.intent == "DEBUG" else self

    def is_repair(self, stop: int) -> bool:
        """Whether it is the repair of what was debugged before, up to a turn: no longer than the debugging was."""
        debugged = self.start - self.since if self.since is not None else 0
        return self.intent == "IMPLEMENT" and stop - self.start <= debugged

    def whole(self, stop: int) -> "Phase":
        """What ends before a turn: the debugging from its beginning, where it does or was repaired; else the phase."""
        if self.since is None or not (self.intent == "DEBUG" or self.is_repair(stop)):
            return self
        return replace(self, intent="DEBUG", start=self.since)
