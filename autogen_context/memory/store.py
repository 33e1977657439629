"""Where one person's memory is kept: values by name in a folder, on a server, or in a tier of your own.

Promise: names and values are those of this person alone. A store that fails returns nothing, and is told once; a deletion that
cannot be done now raises.
"""

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar, cast

from autogen_context.argument import wrong_argument
from autogen_context.cache.seal import store_key
from autogen_context.cache.tier import Scope, Tier

if TYPE_CHECKING:
    from autogen_context.cache.redis_server import RedisServer

ResultT = TypeVar("ResultT")
READ_NAMES: Final = 500  # at once
SERVERS: Final = ("redis://", "rediss://", "unix://")
METHODS: Final = ("read_all", "write", "names", "forget", "clear")

_LOGGER = logging.getLogger(__name__)


class MemoryStore:
    """The values of one scope in a tier.

    Args:
        given: a folder; a ``RedisServer``, or its url; or an object with the methods of ``Tier``.
        scope: whose values they are.
        key: seals them; default: as of the store.
        limit_bytes: of a folder.
        ttl_s: how long a value is kept; ``None`` for as long as the store does.

    Attributes:
        key: what nobody else can make a digest with; empty if there is none.

    Raises:
        ValueError: it is no store, or the key is too short.
    """

    def __init__(
        self,
        given: object,
        scope: Scope,
        key: str | bytes | None,
        *,
        limit_bytes: int,
        ttl_s: float | None,
    ) -> None:
        self._tier, self.key = opened(given, scope, key, limit_bytes=limit_bytes)
        self._is_alone = self._tier is not given  # nothing of others is there
        self._prefix, self._ttl_s = f"{scope.key}:", ttl_s
        self._warned: set[str] = set()

    @property
    def _is_believed(self) -> bool:
        return bool(getattr(self._tier, "is_authenticated", True))

    def names(self) -> list[str] | None:
        """Return all names; ``None`` if the store fails."""
        return self._tried(self._listed, None)

    def read(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return the values under these names that can be read."""
        found, nothing = dict[str, bytes](), dict[str, bytes]()
        for at in range(0, len(names), READ_NAMES):
            wanted = [self._prefix + name for name in names[at : at + READ_NAMES]]
            found |= self._tried(partial(self._read, wanted), nothing)
        return {name.removeprefix(self._prefix): value for name, value in found.items()}

    def write(self, values: Mapping[str, bytes]) -> set[str]:
        """Store values; return the names of those that were not stored."""
        full = {self._prefix + name: value for name, value in values.items()}
        if not full or not self._is_believed:
            return set(values)
        gone = self._tried(lambda: self._tier.write(full, ttl_s=self._ttl_s), list(full))
        return {name.removeprefix(self._prefix) for name in gone}

    def forget(self, names: Iterable[str]) -> None:
        """Delete names. Raises what the tier does, such as ``StoreUnavailable`` if they may still be there."""
        if full := [self._prefix + name for name in names]:
            self._tier.forget(full)

    def forget_quietly(self, names: Iterable[str]) -> None:
        """Delete names; a store that cannot do it now is asked again by its tier, or when they are too old."""
        self._tried(partial(self.forget, names), None)

    def clear(self) -> None:
        """Delete everything. Raises as ``forget``."""
        if self._is_alone:
            self._tier.clear()
        else:
            self.forget(self._listed())

    def warn(self, text: str, *parts: object) -> None:
        """Warn of something once, however often it happens."""
        if text not in self._warned:
            self._warned.add(text)
            _LOGGER.warning(text, *parts)

    def _read(self, names: Sequence[str]) -> dict[str, bytes]:
        return dict(self._tier.read_all(names))

    def _listed(self) -> list[str]:
        if not self._is_believed:
            return []
        own, size = self._prefix, len(self._prefix)
        return [name[size:] for name in self._tier.names() if name.startswith(own)]

    def _tried(self, action: Callable[[], ResultT], otherwise: ResultT) -> ResultT:
        """Return what the store says; ``otherwise`` if it fails, which must not end a turn."""
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - any that a custom tier may raise
            self.warn(
                "the store of a person's memory failed (%s); continuing without it",
                type(error).__name__,
            )
            return otherwise


def opened(
    given: object, scope: Scope, key: str | bytes | None, *, limit_bytes: int
) -> tuple[Tier, bytes]:
    """Return the tier of a person's memory, and its key; empty if there is none."""
    is_url = isinstance(given, str) and given.startswith(SERVERS)
    if (isinstance(given, str) and not is_url) or hasattr(given, "__fspath__"):
        from autogen_context.cache.store import DiskStore  # noqa: PLC0415 - only needed with a folder

        folder = cast("str | os.PathLike[str]", given)
        own = f"memory/{scope.key}"  # a file for each person, so that nothing of others is read
        store = DiskStore(folder, subfolder=own, limit_bytes=limit_bytes, key=key)
        return store, store_key(key)
    if all(hasattr(given, method) for method in METHODS) and not isinstance(given, type):
        return cast("Tier", given), store_key(key)
    if is_url or type(given).__name__ == "RedisServer":
        from autogen_context.cache.redis_server import server_of  # noqa: PLC0415 - optional
        from autogen_context.cache.redis_tier import RedisTier  # noqa: PLC0415 - optional

        server = server_of(cast("RedisServer | str", given))
        tier = RedisTier(
            server,
            tenant=scope.tenant,
            agent=scope.agent,
            conversation=scope.conversation,
            kind="memory",
            key=key,
        )
        return tier, server.key if key is None else store_key(key)
    give = "a folder, a RedisServer or its url, or an object with the methods of Tier"
    raise wrong_argument("store", given, give)
