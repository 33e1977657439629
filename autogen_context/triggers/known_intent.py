"""What a model says an agent is at: a seam to where models are called.

Promise: to look an answer up never waits; to ask for one does, and is never done in a turn.
"""

from typing import Protocol

from autogen_context.triggers.intent_words import Intent
from autogen_context.triggers.turn import Turn


class KnownIntent(Protocol):
    """Answers of a model that are there already."""

    def __call__(self, turn: Turn, /) -> Intent | None:
        """The intent of a turn; ``None`` where no sound answer is there. Never waits."""
        ...


class AskIntent(KnownIntent, Protocol):
    """A model that can be asked ahead; an ``IntentModel`` is one."""

    async def ask(self, turn: Turn, /) -> Intent | None:
        """The intent of a turn, kept for whoever looks it up; it never raises but for cancellation."""
        ...
