"""What discovery found so far, as a source that never waits.

Promise: a finding answers until a newer one takes its place, and an endpoint is asked about a model once at a
time, and no more often than its answers grow old.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from autogen_context.tokens.limit_sources import Step
from autogen_context.tokens.limit_table import ModelLimit

if TYPE_CHECKING:  # only who asks an endpoint pays for what talks to it
    from autogen_context.tokens.discovery import Discovery

# An endpoint that failed, or does not know the model, is not asked again before this has passed.
_RETRY_S = 60.0


class Discovered:
    """The memory of a discovery.

    Args:
        discovery: whom to ask; None is a source that knows nothing.
        ttl_s: after this a finding is due again, in seconds; until there is a new one it still answers.
        clock: seconds that only go up.
    """

    def __init__(
        self, discovery: "Discovery | None", *, ttl_s: float, clock: Callable[[], float]
    ) -> None:
        self._discovery = discovery
        self._ttl_s = ttl_s
        self._clock = clock
        self._found: dict[str, ModelLimit] = {}
        self._due_at: dict[str, float] = {}
        self._locks: WeakKeyDictionary[
            asyncio.AbstractEventLoop, defaultdict[str, asyncio.Lock]
        ] = WeakKeyDictionary()

    def ask(self, model: str) -> Step:
        """What was found of ``model``."""
        if self._discovery is None:
            return Step(source="discovery", note="off")
        limit = self._found.get(model)
        if limit is None:
            asked = model in self._due_at
            return Step(source="discovery", note="no number" if asked else "not asked yet")
        return Step(source="discovery", limit=limit, note=self._discovery.address)

    def is_due(self, model: str) -> bool:
        """Whether the endpoint should be asked about ``model`` now."""
        return self._discovery is not None and self._clock() >= self._due_at.get(model, 0.0)

    async def refresh(self, model: str) -> bool:
        """Ask the endpoint about ``model``, once for all who wait; whether it told something."""
        locks = self._locks.setdefault(asyncio.get_running_loop(), defaultdict(asyncio.Lock))
        async with locks[model]:
            if self._discovery is None or not self.is_due(model):
                return False
            limit = await self._discovery.ask(model)
            wait_s = self._ttl_s if limit else min(self._ttl_s, _RETRY_S)
            self._due_at[model] = self._clock() + wait_s
            if limit:
                self._found[model] = limit
            return limit is not None
