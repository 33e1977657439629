"""What others say was deleted, as it is said.

Promise: whoever listens hears of every deletion by others, or that some may have been missed: each time the line to the
server is made, the first time included, all keys are told to be invalid. Own deletions are not told.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import cast
from uuid import uuid4

from autogen_context.cache.redis.client import Fault, fault_of
from autogen_context.cache.redis.line import RedisLine, pause_s
from autogen_context.cache.redis.values import EVERYTHING

Heard = Callable[[str], None]

_LOGGER = logging.getLogger(__name__)


class Hearing:
    """The news of one channel.

    Args:
        line: the server; ``run`` runs in its loop.
        channel: where deletions are published.
    """

    def __init__(self, line: RedisLine, channel: str) -> None:
        self.listeners: list[Heard] = []
        self._line = line
        self._channel = channel
        self._up = asyncio.Event()
        self._tries = 0
        self._warned = False
        self._own = uuid4().hex  # tells apart who speaks; decides nothing

    def announced(self, keys: tuple[str, ...]) -> bytes:
        """The message that says these keys are invalid."""
        text = json.dumps([self._own, *keys], ensure_ascii=False)
        return text.encode("utf-8", "surrogatepass")

    async def is_up(self, *, within_s: float) -> bool:
        """Whether news are heard, or will be so soon; a server that is away is not waited for."""
        if self._line.away:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                return await self._up.wait()
        return False

    async def run(self) -> None:
        """Hear, until this is cancelled."""
        while True:
            redis = await self._line.until_here()
            try:
                async with aclosing(redis.messages(self._channel)) as messages:
                    async for message in messages:
                        self._tries = 0
                        self._tell(message)
            except Exception as error:  # noqa: BLE001 - a line may break in any way, and is made again
                self._note(fault_of(error))
            self._up.clear()
            self._tries += 1
            await asyncio.sleep(pause_s(self._tries, self._line.limits))

    def _note(self, fault: Fault) -> None:
        """Warn once of a server that is well and will not tell; that it is away is said elsewhere."""
        if fault.kind != "away" and not self._warned:
            numbers = {"store": self._line.name, "reason": fault.reason}
            _LOGGER.warning("a shared store tells no news (%s)", fault.reason, extra=numbers)
            self._warned = True

    def _tell(self, message: bytes | None) -> None:
        if message is None:
            self._up.set()
        for key in [EVERYTHING] if message is None else self._keys_in(message):
            for heard in list(self.listeners):
                heard(key)

    def _keys_in(self, message: bytes) -> list[str]:
        """The keys of a message of others; none if it is ours, or no such message."""
        with suppress(ValueError, RecursionError):
            said = cast("object", json.loads(message.decode("utf-8", "surrogatepass")))
            if isinstance(said, list):
                sender, *keys = cast("list[object]", said) or [self._own]
                return [] if sender == self._own else [key for key in keys if isinstance(key, str)]
        return []


def in_its_loop(heard: Heard) -> Heard:
    """The same, called in the loop that runs now; where none runs, in whichever thread hears."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return heard

    def hand_over(key: str) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is there to be told
            loop.call_soon_threadsafe(heard, key)

    return hand_over
