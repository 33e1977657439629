"""Originals of what left the window, by handle: in memory, and in tiers behind it, such as a disk or a server.

Promise: what was put comes back equal while the store holds it. Each place holds at most its limit; the oldest entries go
first, and how many are nowhere any more is reported. What is past its time, or forgotten, is gone. No scope has what
another has; what is read from a tier is what was written under this scope and handle, or nothing.
"""

import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from autogen_context.cache.tier import Memory, Scope, TellsNames, Tier
from autogen_context.errors import OriginalNotFound, StoreRefused, StoreUnavailable
from autogen_context.messages.message import Message
from autogen_context.messages.saved import messages_as_bytes, messages_from_bytes

if TYPE_CHECKING:
    from autogen_context.cache.redis_server import RedisServer

Entry = tuple[str, tuple[Message, ...]]

MESSAGE_BYTES = 200  # what a message costs beside its texts, roughly

_LOGGER = logging.getLogger(__name__)
_FOLDER = "originals"


class OriginalTier:
    """The originals of one scope beyond this process, in any ``Tier``."""

    def __init__(self, tier: Tier, *, scope: Scope) -> None:
        self._tier = tier
        self.prefix = f"{scope.key}:"

    def write(self, entries: Iterable[Entry], *, ttl_s: float | None = None) -> list[str]:
        """Keep entries, each as the newest one; the handles of this scope that went for want of room, oldest first."""
        values = {self._name(handle): messages_as_bytes(messages) for handle, messages in entries}
        gone = self._tier.write(values, ttl_s=ttl_s)
        own = self._handles(gone)
        if len(own) < len(gone):
            _LOGGER.warning(
                "originals of other agents left the folder, which is full",
                extra={"left": len(gone) - len(own)},
            )
        return own

    def read(self, handle: str) -> tuple[Message, ...] | None:
        """The messages under a handle, if they are there whole and their time is not over; never raises."""
        name = self._name(handle)
        with suppress(StoreRefused, ValueError):  # anybody may have planted it
            value = self._tier.read_all([name]).get(name)
            return None if value is None else messages_from_bytes(value)
        return None

    def handles(self) -> list[str]:
        """What can be asked back, whoever of this scope wrote it, oldest first; empty where the place cannot tell."""
        return self._handles(self._tier.names()) if isinstance(self._tier, TellsNames) else []

    def forget(self, handle: str) -> None:
        """Delete what is under a handle; raises ``StoreUnavailable`` where it may still be there, or ``StoreRefused``."""
        self._tier.forget([self._name(handle)])

    def clear(self) -> None:
        """Delete all that this scope has, whoever wrote it; raises what ``forget`` does."""
        self._tier.clear()

    def _name(self, handle: str) -> str:
        """The handle as it stands in the place; whatever a model asks for can be written so."""
        return self.prefix + handle.encode("utf-8", "surrogatepass").hex()

    def _handles(self, names: Iterable[str]) -> list[str]:
        """The handles of this scope among names in the place."""
        own = (name.removeprefix(self.prefix) for name in names if name.startswith(self.prefix))
        return [bytes.fromhex(name).decode("utf-8", "surrogatepass") for name in own]


class OriginalStore:
    """A store of messages with limits.

    Args:
        limit_bytes: what the texts of all entries in memory may have together.
        entries: what is in it from the start, oldest first.
        tiers: keep every entry as well, beyond this process, and are asked in this order: a ``DiskOriginals``, a
            ``RedisOriginals``. Without one, what memory gives up is gone.
        shared: one more, which a team has together: what others put there is searched as well.
        ttl_s: how long an entry is kept after it was put last, in seconds.
        clock: the time in seconds.

    Attributes:
        evicted: how many originals went for want of room so far, and are nowhere any more.

    Raises:
        ValueError: ``ttl_s`` is not positive, or ``limit_bytes`` negative.
    """

    def __init__(
        self,
        limit_bytes: int,
        entries: Iterable[Entry] = (),
        *,
        tiers: Sequence[OriginalTier] = (),
        shared: OriginalTier | None = None,
        ttl_s: float = math.inf,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not ttl_s > 0:
            raise ValueError(f"ttl_s={ttl_s}: give seconds above 0; to keep nothing, give no room")
        self.limit_bytes = limit_bytes
        self.evicted = 0
        self._memory = Memory[tuple[Message, ...]](limit_bytes=limit_bytes)
        self._tiers = tuple(tiers) if shared is None else (*tiers, shared)
        self._shared = shared
        self._ttl_s = ttl_s
        self._clock = clock
        self._known: dict[str, float] = {}  # what was put here and is not lost, with its time
        self._places: dict[str, int] = {}  # that hold it still
        self.put_all(entries)

    def __contains__(self, handle: str) -> bool:
        """Whether there is an original under a handle, anywhere."""
        return self._found(handle) is not None

    def __iter__(self) -> Iterator[Entry]:
        """The entries in memory, oldest first."""
        known = set(self._own)
        return iter([entry for entry in self._memory.items() if entry[0] in known])

    @property
    def held_bytes(self) -> int:
        """What the entries in memory have."""
        return self._memory.held_bytes

    @property
    def handles(self) -> tuple[str, ...]:
        """What others put into the store that is shared, and what was put here and is held, each oldest first."""
        others = self._shared.handles() if self._shared else ()
        return (*(handle for handle in others if handle not in self._known), *self._own)

    @property
    def _own(self) -> tuple[str, ...]:
        now = self._clock()
        return tuple(handle for handle, expires_at in self._known.items() if expires_at > now)

    def put(self, handle: str, messages: tuple[Message, ...]) -> None:
        """Keep messages under a handle, as the newest entry, in place of what was there."""
        self.put_all([(handle, messages)])

    def put_text(self, handle: str, text: str) -> None:
        """Keep a text that stands for itself: what a tool returned, before it was reduced."""
        self.put(handle, (Message(role="tool", text=text),))

    def put_all(self, entries: Iterable[Entry]) -> None:
        """Keep many; room is made and reported, and a file opened, once for all of them."""
        new, now = dict(entries), self._clock()
        over = [handle for handle, _ in takewhile(lambda each: each[1] <= now, self._known.items())]
        for handle in over:
            del self._known[handle], self._places[handle]
        self._memory.forget(over)
        gone: list[str] = []
        for handle, messages in new.items():
            self._known.pop(handle, None)
            self._known[handle] = now + self._ttl_s
            self._places[handle] = 1 + len(self._tiers)
            gone += self._memory.put(handle, messages, size_bytes=size_of(messages))
        for tier in self._tiers if new else ():
            ttl_s = None if self._ttl_s == math.inf else self._ttl_s
            gone += tier.write(new.items(), ttl_s=ttl_s)
        self._report(gone)

    def get(self, handle: str) -> tuple[Message, ...]:
        """The messages under a handle.

        Raises:
            OriginalNotFound: nothing was put under it, or it was evicted or forgotten, or its time is over.
        """
        found = self._found(handle)
        if found is None:
            raise OriginalNotFound(handle, evicted=self.evicted)
        return found

    def forget(self, handle: str) -> None:
        """Delete what is under a handle, everywhere.

        Raises:
            StoreUnavailable: a tier cannot be written now, so that it may still be there.
        """
        self._memory.forget([handle])
        self._known.pop(handle, None)
        self._places.pop(handle, None)
        self._delete(lambda tier: tier.forget(handle))

    def clear(self) -> None:
        """Delete everything, of a tier all that its scope has, whoever wrote it; raises what ``forget`` does."""
        self._memory.forget(list(self._known))
        self._known.clear()
        self._places.clear()
        self._delete(lambda tier: tier.clear())

    def _delete(self, delete: Callable[[OriginalTier], None]) -> None:
        """Delete in every tier, also where one before raises; the first error is raised then."""
        errors: list[Exception] = []
        for tier in self._tiers:
            try:
                delete(tier)
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]

    def _found(self, handle: str) -> tuple[Message, ...] | None:
        if self._known.get(handle, math.inf) <= self._clock():
            return None
        messages = self._memory.look(handle)
        if messages is not None:
            return messages
        found = (tier.read(handle) for tier in self._tiers)
        return next((messages for messages in found if messages is not None), None)

    def _report(self, gone: Iterable[str]) -> None:
        left = 0
        for handle in gone:
            self._places[handle] = self._places.get(handle, 1) - 1
            if self._places[handle] <= 0:
                self._known.pop(handle, None)
                del self._places[handle]
                left += 1
        if left:
            self.evicted += left
            numbers = {"limit_bytes": self.limit_bytes, "left": left, "evicted": self.evicted}
            _LOGGER.warning("originals left their store, which is full", extra=numbers)


class DiskOriginals(OriginalTier):
    """The originals of one scope in a folder.

    Args:
        directory: the folder; it may be that of a cache, too. What is in it is for its owner alone, in the clear.
        scope: whose originals these are.
        limit_bytes: what the originals of all scopes in the folder may have together, as JSON.

    Raises:
        ValueError: ``directory`` is something else than a folder, or the limit is negative.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, scope: Scope, limit_bytes: int = 1024**3
    ) -> None:
        from autogen_context.cache.store import DiskStore  # noqa: PLC0415 - for who has a folder

        DiskStore(directory)  # whether it is a folder is told of the name that was given
        self.store = DiskStore(Path(directory) / _FOLDER, limit_bytes=limit_bytes)
        super().__init__(self.store, scope=scope)

    @override
    def clear(self) -> None:
        self.store.clear(self.prefix)


class RedisOriginals(OriginalTier):
    """The originals of one scope on a server: what one worker put away, another has by its handle.

    A turn waits for no write, and for a read ``timeout_s`` at most. An original is kept for seven days at most, and goes
    earlier where the server has a limit of memory and evicts.

    Args:
        server: where they are, or its url.
        scope: whose originals these are.

    Raises:
        StoreRefused: the server refuses the url, and says so within ``timeout_s``.
    """

    def __init__(self, server: "RedisServer | str", *, scope: Scope) -> None:
        from autogen_context.cache.redis_server import server_of  # noqa: PLC0415 - optional
        from autogen_context.cache.redis_tier import RedisTier  # noqa: PLC0415 - as above

        line = server_of(server)
        self._shared = RedisTier(
            line, tenant=scope.tenant, agent=scope.agent, kind="original", lists_names=True
        )
        super().__init__(self._shared, scope=scope)
        with suppress(StoreUnavailable):  # it may come yet
            line.reach(line.limits.timeout_s)

    def flush(self) -> None:
        """Wait until what was written is on the server.

        Raises:
            StoreUnavailable: it cannot be had now; what waits is written when it is back.
        """
        self._shared.flush()


def size_of(messages: tuple[Message, ...]) -> int:
    """Bytes of the texts of messages as UTF-8, and some for the rest of each."""
    size_bytes = MESSAGE_BYTES * len(messages)
    for message in messages:
        texts = [message.role, message.name, message.text, message.extra]
        for call in message.calls:
            texts += (call.id, call.name, call.arguments)
        for result in message.results:
            texts += (result.call_id, result.name, result.text)
        for text in texts:  # the usual one is not written out for it
            size_bytes += len(text if text.isascii() else text.encode("utf-8", "surrogatepass"))
    return size_bytes
