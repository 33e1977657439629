"""What a model advises on the task at hand, ahead of need.

Promise: a task is asked about once; the work is done in the background and ends with its owner, and a turn takes what is
there. Only sound advice of a model is kept, that on the newest task. Cancellation passes through. Each turn may have an
event loop of its own.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

from pydantic import TypeAdapter

from autogen_context.budget.task import TaskDefinition
from autogen_context.cache.values import Cache
from autogen_context.messages.message import content_digest
from autogen_context.models.background import Background, is_cut_off
from autogen_context.prioritizer.advice import Advice

ADVICE = TypeAdapter(Advice)
KIND = "advice"  # in the cache


class Advise(Protocol):
    """Says what matters for a task; an ``Advisor`` does."""

    async def advise(self, task: TaskDefinition, /) -> Advice:
        """The advice; it never raises but for cancellation."""
        ...


class Advising:
    """The advice on the task of one conversation.

    Args:
        advisor: asks a model.
        known: advice of a saved state, by the key of its task.
        background: where it is asked for.
        cache: keeps advice for other conversations, and for later processes.

    Attributes:
        known: the advice there is, by the key of its task; one at most.
    """

    def __init__(
        self,
        advisor: Advise,
        known: Mapping[str, Advice],
        background: Background,
        cache: Cache | None = None,
    ) -> None:
        self._background = background
        self.known = dict(known)
        self._cache = cache
        self._advisor = advisor
        self._key = ""
        self._task: asyncio.Task[None] | None = None

    def ask(self, text: str) -> None:
        """Have a task thought about, unless it was; needs a running event loop."""
        key = key_of(text)
        if key in self.known or (self._key == key and self._task and not is_cut_off(self._task)):
            return
        self._key = key
        self._task = self._background.start(self._ask(key, text), name="advice")

    async def _ask(self, key: str, text: str) -> None:
        advice = await self._kept(key) or await self._advised(key, text)
        if advice.source == "model" and key == self._key:  # else there is a newer task
            self.known.clear()
            self.known[key] = advice

    async def _advised(self, key: str, text: str) -> Advice:
        advice = await self._advisor.advise(TaskDefinition.from_text(text))
        if advice.source == "model" and self._cache is not None:
            self._cache.remember(KIND, key, ADVICE.dump_python(advice, mode="json"))
        return advice

    async def _kept(self, key: str) -> Advice | None:
        """The advice that the cache has; what is not sound was not written here."""
        if self._cache is None:
            return None
        await self._cache.warm(KIND, [key])
        found = self._cache.remembered(KIND, key)
        with suppress(ValueError):
            advice = None if found is None else ADVICE.validate_python(found)
            return advice if advice is not None and advice.is_sound else None
        return None


def key_of(text: str) -> str:
    """What stands for a task: 32 hex digits."""
    return content_digest(text).hex()
