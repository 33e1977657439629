"""Originals of messages removed from the context window, by handle: in memory, and in tiers such as a disk or server.

Promise: a stored original is returned unchanged until it is evicted, expires or is deleted. Each tier stays within its limit
by evicting the oldest entries; originals lost from every tier are counted and logged. Scopes are isolated: a read from a
tier returns what was written under this scope and handle, or nothing.
"""

import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import takewhile
from threading import RLock
from typing import TYPE_CHECKING, Final, Literal, Self, TypeVar

from typing_extensions import override

from autogen_context.argument import require_seconds, require_whole
from autogen_context.cache.tier import Memory, Scope, Tier
from autogen_context.errors import OriginalNotFound, StoreRefused, StoreUnavailable
from autogen_context.forks import when_forked
from autogen_context.messages.message import Message
from autogen_context.messages.saved import messages_as_bytes, messages_from_bytes

if TYPE_CHECKING:
    from autogen_context.cache.redis_server import RedisServer
    from autogen_context.cache.redis_tier import RedisTier

ResultT = TypeVar("ResultT")
Entry = tuple[str, tuple[Message, ...]]
DeletionExtent = Literal["own", "put", "all"]
"""Where originals are deleted: in the conversation's own tiers, in the shared one as well, or in those it only reads, too."""

MESSAGE_BYTES = 200  # approximate overhead of a message

_LOGGER = logging.getLogger(__name__)
_FOLDER = "originals"
NOBODY: Final = Scope()  # whoever gets it completes it


class OriginalTier:
    """The originals of one scope in any ``Tier`` outside this process's memory.

    A scope that names an agent, or a team, is shared by everybody who names it. A manager that gets a tier whose scope names
    none keeps its conversation's originals there under a scope of their own.

    Args:
        tier: where they are kept. What it returns is believed, unless it has ``is_authenticated`` and that is false.
        scope: the owner of these originals.
    """

    def __init__(self, tier: Tier, *, scope: Scope) -> None:
        self._tier = tier
        self.scope = scope
        self._has_warned = False

    @property
    def prefix(self) -> str:
        """What the names of this scope begin with in the tier."""
        return f"{self.scope.key}:"

    @property
    def is_authenticated(self) -> bool:
        """Whether what stands in the tier can only have been written by who may."""
        return bool(getattr(self._tier, "is_authenticated", True))

    def of(self, scope: Scope, *, key: str | None = None) -> Self:  # noqa: ARG002 - for tiers with a key
        """Return the originals of another scope in the same place; ``key`` is for a place that has none."""
        other = copy(self)
        other.scope = scope
        return other

    def write(self, entries: Iterable[Entry], *, ttl_s: float | None = None) -> list[str]:
        """Store entries as the newest. Returns the handles of this scope not stored or evicted, oldest first."""
        values = {self._name(handle): messages_as_bytes(messages) for handle, messages in entries}
        if not self.is_authenticated:
            return self._handles(values)
        gone = self._tried(lambda: self._tier.write(values, ttl_s=ttl_s), list(values))
        own = self._handles(gone)
        if len(own) < len(gone):
            _LOGGER.warning(
                "originals of other agents were evicted: the folder is full",
                extra={"left": len(gone) - len(own)},
            )
        return own

    def read(self, handle: str) -> tuple[Message, ...] | None:
        """Return the messages under a handle; ``None`` if missing, damaged or expired. Never raises."""
        if not self.is_authenticated:
            return None
        name = self._name(handle)
        value = self._tried(lambda: self._tier.read_all([name]).get(name), None)
        return self._tried(lambda: None if value is None else messages_from_bytes(value), None)

    def handles(self) -> list[str]:
        """Return the handles stored in this scope by any process, oldest first; empty if the tier cannot list them."""
        return self._handles(self._tried(self._names, [])) if self.is_authenticated else []

    def _names(self) -> list[str]:
        with suppress(StoreUnavailable):  # no failure: a tier may be unable to list
            return self._tier.names()
        return []

    def forget(self, handles: str | Iterable[str]) -> None:
        """Delete handles. Raises ``StoreUnavailable`` if one may still be stored, or ``StoreRefused``."""
        self._tier.forget([self._name(handle) for handle in listed_handles(handles)])

    def clear(self) -> None:
        """Delete all originals of this scope, whichever process wrote them. Raises what ``forget`` and ``names`` of the tier do."""
        from autogen_context.cache.store import DiskStore  # noqa: PLC0415 - only needed with a folder

        if isinstance(self._tier, DiskStore):  # which may hold what it cannot list now
            self._tier.clear(self.prefix)
            return
        done = set[str]()
        while due := {n for n in self._tier.names() if n.startswith(self.prefix)} - done:
            self._tier.forget(due)
            done |= due  # a tier may list only so many at once

    def _tried(self, action: Callable[[], ResultT], otherwise: ResultT) -> ResultT:
        """Return what the tier says; ``otherwise`` if it fails, which must not end a turn."""
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - any that a custom tier may raise
            if not self._has_warned and not isinstance(error, ValueError | StoreRefused):
                self._has_warned = True
                reason = type(error).__name__
                _LOGGER.warning("a store of originals failed (%s); continuing without it", reason)
            return otherwise

    def _name(self, handle: str) -> str:
        """Return the name of a handle in the tier; hex, since a model may ask for any text."""
        return self.prefix + handle.encode("utf-8", "surrogatepass").hex()

    def _handles(self, names: Iterable[str]) -> list[str]:
        """Return the handles of this scope among names of the tier; what is no name of ours stands for none."""
        own = (name.removeprefix(self.prefix) for name in names if name.startswith(self.prefix))
        handles: list[str] = []
        for name in own:
            with suppress(ValueError):
                handles.append(bytes.fromhex(name).decode("utf-8", "surrogatepass"))
        return handles


class OriginalStore:
    """A bounded store of original messages.

    Args:
        limit_bytes: the limit for the texts of all entries in memory.
        entries: initial entries, oldest first.
        tiers: further stores, such as a ``DiskOriginals`` or a ``RedisOriginals``; each gets every entry, and they are
            read in this order. Without tiers, an entry evicted from memory is lost.
        shared: one more tier, shared by a team of agents; ``handles`` includes what others stored there, and ``clear`` leaves
            that alone.
        earlier: tiers of the conversations that this one began as, which are read, and deleted from only by ``forget``.
        ttl_s: the time to live in seconds since the entry was last stored.
        clock: returns the time in seconds.

    Attributes:
        evicted: how many originals were evicted from every tier so far and are lost.

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
        earlier: Sequence[OriginalTier] = (),
        ttl_s: float = math.inf,
        clock: Callable[[], float] = time.time,
    ) -> None:
        require_whole("limit_bytes", limit_bytes, least=0, give="a number, 0 or more")
        require_seconds("ttl_s", ttl_s)
        self.limit_bytes = limit_bytes
        self.evicted = 0
        self._memory = Memory[tuple[Message, ...]](limit_bytes=limit_bytes)
        self._tiers = tuple(tiers) if shared is None else (*tiers, shared)
        self._shared, self._earlier = shared, tuple(earlier)
        # Not read from earlier conversations, which may keep them.
        self._forgotten: frozenset[str] = frozenset()
        self._ttl_s = ttl_s
        self._clock = clock
        # Entries stored here and not lost: when they expire, and how many places still have them.
        self._known: dict[str, tuple[float, int]] = {}
        self._begin_anew()
        when_forked(self._begin_anew)
        self.put_all(entries)

    def _begin_anew(self) -> None:
        self._lock = RLock()  # of ``_known``; nothing is waited for under it

    def __contains__(self, handle: str) -> bool:
        """Return True if memory or a tier has an original under the handle."""
        return self._found(handle) is not None

    def __iter__(self) -> Iterator[Entry]:
        """The entries in memory, oldest first."""
        known = set(self._own)
        return iter([entry for entry in self._memory.items() if entry[0] in known])

    @property
    def handles(self) -> tuple[str, ...]:
        """The handles others put into the shared tier, then those stored here and not lost, each oldest first."""
        others = self._shared.handles() if self._shared else ()
        return (*(handle for handle in others if handle not in self._known), *self._own)

    @property
    def _own(self) -> tuple[str, ...]:
        now = self._clock()
        with self._lock:
            known = list(self._known.items())
        return tuple(handle for handle, (expires_at, _) in known if expires_at > now)

    def put(self, handle: str, messages: tuple[Message, ...]) -> None:
        """Store messages under a handle as the newest entry.

        A handle that has other messages keeps them, with a warning: ``forget`` it first.
        """
        self.put_all([(handle, messages)])

    def put_text(self, handle: str, text: str) -> None:
        """Store a single text, such as a tool result before it was reduced."""
        self.put(handle, (Message(role="tool", text=text),))

    def put_all(self, entries: Iterable[Entry]) -> None:
        """Store several entries; eviction, its log message, and each tier's write happen once for all."""
        self._drop_expired()
        new, gone = self._without_taken(entries), list[str]()
        expiry_and_places = self._clock() + self._ttl_s, 1 + len(self._tiers)
        with self._lock:
            for handle in new:
                self._known.pop(handle, None)
            self._known |= dict.fromkeys(new, expiry_and_places)
        for handle, messages in new.items():
            gone += self._memory.put(handle, messages, size_bytes=size_of(messages))
        for tier in self._tiers if new else ():
            ttl_s = None if self._ttl_s == math.inf else self._ttl_s
            gone += tier.write(new.items(), ttl_s=ttl_s)
        self._report(gone)

    def _drop_expired(self) -> None:
        now = self._clock()
        with self._lock:
            by_expiry = self._known.items()
            over = [handle for handle, _ in takewhile(lambda each: each[1][0] <= now, by_expiry)]
            for handle in over:
                del self._known[handle]
        self._memory.forget(over)

    def _without_taken(self, entries: Iterable[Entry]) -> dict[str, tuple[Message, ...]]:
        """Return entries by handle, without those whose handle has other messages."""
        new: dict[str, tuple[Message, ...]] = {}
        for handle, messages in entries:
            known = new.get(handle, self._found(handle) if handle in self._known else None)
            if known is None or known == messages:
                new.pop(handle, None)  # the last one is the newest
                new[handle] = messages
            else:
                _LOGGER.warning("an original was not stored: its handle has another one")
        return new

    def get(self, handle: str) -> tuple[Message, ...]:
        """Return the messages under a handle.

        Raises:
            OriginalNotFound: the handle was never stored, or its entry was evicted or deleted or has expired.
        """
        found = self._found(handle)
        if found is None:
            raise OriginalNotFound(handle, evicted=self.evicted)
        return found

    def extent_of(self, handle: str) -> DeletionExtent:
        """Return where an original is deleted with its message: the shared tier may have it from others alone."""
        return "put" if handle in self._known else "own"

    def forget(self, handles: str | Iterable[str], *, extent: DeletionExtent = "all") -> None:
        """Delete the entry under a handle, or those under several, from memory and from tiers.

        Args:
            handles: one or several.
            extent: ``all`` is every tier, those of the conversations that this one began as included; ``put`` leaves these
                alone, and ``own`` the shared tier as well.

        Raises:
            StoreUnavailable: a tier cannot be written now, so entries may still be there; they are gone from the others.
        """
        names = listed_handles(handles)
        with self._lock:
            for name in names:
                self._known.pop(name, None)
            self._forgotten |= frozenset(names)
        self._memory.forget(names)
        tiers = [tier for tier in self._tiers if extent != "own" or tier is not self._shared]
        tiers += self._earlier if extent == "all" else ()
        self._delete(lambda tier: tier.forget(names), tiers)

    def clear(self) -> None:
        """Delete everything, in each tier all originals of its scope, by any process; of those shared, what was put here.

        Raises what ``forget`` does.
        """
        with self._lock:
            handles, self._earlier = list(self._known), ()
            self._known.clear()
        self._memory.forget_where(lambda _: True)
        self._delete(
            lambda tier: tier.forget(handles) if tier is self._shared else tier.clear(), self._tiers
        )

    def _delete(
        self, delete: Callable[[OriginalTier], None], tiers: Iterable[OriginalTier]
    ) -> None:
        """Delete from each tier, even if an earlier one fails; then raise the first error."""
        errors: list[Exception] = []
        for tier in tiers:
            try:
                delete(tier)
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]

    def _found(self, handle: str) -> tuple[Message, ...] | None:
        if self._known.get(handle, (math.inf, 0))[0] <= self._clock():
            return None
        messages = self._memory.look(handle)
        if messages is not None:
            return messages
        earlier = () if handle in self._forgotten else self._earlier
        found = (tier.read(handle) for tier in (*self._tiers, *earlier))
        return next((messages for messages in found if messages is not None), None)

    def _report(self, gone: Iterable[str]) -> None:
        left = 0
        with self._lock:
            for handle in gone:
                expires_at, places = self._known.get(handle, (0.0, 1))
                if places > 1:
                    self._known[handle] = expires_at, places - 1
                else:
                    self._known.pop(handle, None)
                    left += 1
            before, self.evicted = self.evicted, self.evicted + left
        if self.evicted.bit_length() > before.bit_length():  # the first, and when it has doubled
            numbers = {"limit_bytes": self.limit_bytes, "left": left, "evicted": self.evicted}
            _LOGGER.warning(
                "originals were evicted, their store is full: raise originals_bytes or set originals_directory",
                extra=numbers,
            )


class DiskOriginals(OriginalTier):
    """The originals of one scope in a folder.

    Args:
        directory: the folder, which may also be that of a cache. Readable by its owner only; not encrypted.
        scope: the owner of these originals; empty for a manager that names its own.
        limit_bytes: the limit for the originals of all scopes in the folder, as JSON.
        key: seals the originals; default: ``AUTOGEN_CONTEXT_STORE_KEY``, or else a key of the folder's own.

    Raises:
        ValueError: ``directory`` is not a folder, the limit is negative, or the key is too short.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        scope: Scope = NOBODY,
        limit_bytes: int = 1024**3,
        key: str | bytes | None = None,
    ) -> None:
        from autogen_context.cache.store import DiskStore  # noqa: PLC0415 - only needed with a folder

        self.store = DiskStore(directory, subfolder=_FOLDER, limit_bytes=limit_bytes, key=key)
        super().__init__(self.store, scope=scope)

    @override
    def clear(self) -> None:
        self.store.clear(self.prefix)


class RedisOriginals(OriginalTier):
    """The originals of one scope on a server, so that one worker can read by handle what another stored.

    A turn never waits for a write, and at most ``timeout_s`` for a read. An original expires after seven days at most, or
    earlier if the server evicts it. Without a key (of the server, or ``AUTOGEN_CONTEXT_STORE_KEY``) nothing is shared.

    Args:
        server: the server, or its url.
        scope: the owner of these originals; empty for a manager that names its own.
        key: seals the originals; default: the server's.

    Raises:
        StoreRefused: the server rejects the credentials in the url within ``timeout_s``.
        ValueError: the key is too short to be a secret.
    """

    def __init__(
        self, server: "RedisServer | str", *, scope: Scope = NOBODY, key: str | bytes | None = None
    ) -> None:
        from autogen_context.cache.redis_server import server_of  # noqa: PLC0415 - optional

        self._server, self._key = server_of(server), key
        super().__init__(self._tier_of(scope), scope=scope)
        with suppress(StoreUnavailable):  # it may connect later
            self._server.ask(lambda redis: redis.ping())  # pyright: ignore[reportUnknownMemberType] - its options have no types

    def _tier_of(self, scope: Scope) -> "RedisTier":
        from autogen_context.cache.redis_tier import RedisTier  # noqa: PLC0415 - optional

        self._shared = RedisTier(
            self._server,
            tenant=scope.tenant,
            agent=scope.agent,
            conversation=scope.conversation,
            kind="original",
            key=self._key,
        )
        return self._shared

    @override
    def of(self, scope: Scope, *, key: str | None = None) -> Self:
        other = super().of(scope)
        if not self.is_authenticated:
            other._key = key  # noqa: SLF001 - of the same class
        other._tier = other._tier_of(scope)  # noqa: SLF001 - likewise
        return other

    @override
    def clear(self) -> None:
        self._shared.clear()

    def flush(self) -> None:
        """Wait until pending writes are on the server.

        Raises:
            StoreUnavailable: the server is unavailable; pending writes are sent when it is back.
        """
        self._shared.flush()


def listed_handles(handles: str | Iterable[str]) -> list[str]:
    """Return handles as a list; a single one is not read as its letters."""
    return [handles] if isinstance(handles, str) else list(handles)


def size_of(messages: tuple[Message, ...]) -> int:
    """Return the UTF-8 size of the texts of messages, plus a fixed overhead for each message."""
    size_bytes = MESSAGE_BYTES * len(messages)
    for message in messages:
        texts = [message.role, message.name, message.text, message.extra]
        for call in message.calls:
            texts += (call.id, call.name, call.arguments)
        for result in message.results:
            texts += (result.call_id, result.name, result.text)
        for text in texts:  # ASCII needs no encoding to be measured
            size_bytes += len(text if text.isascii() else text.encode("utf-8", "surrogatepass"))
    return size_bytes
