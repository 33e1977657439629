"""Where a cache keeps bytes by name beyond this process, and whose they are.

Promise: a folder, a server and anybody's own keep the same contract, which one test holds each against.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from autogen_context.messages.message import content_digest

EVERYTHING: Final = ""  # told in place of a name: any of them may be invalid


class Tier(Protocol):
    """Bytes by name; a ``DiskStore`` and a ``RedisTier`` are one. Called in threads that may wait a little."""

    def read_all(self, names: Iterable[str], /) -> Mapping[str, bytes]:
        """The values under names, as far as they can be had now; never fails for want of its place."""
        ...

    def write(self, values: Mapping[str, bytes], /, *, ttl_s: float | None = None) -> list[str]:
        """Keep values, for so many seconds or as long as there is room; the names that went. Never fails either."""
        ...

    def held(self, names: Iterable[str], /) -> set[str]:
        """Which of these there are; never fails."""
        ...

    def forget(self, names: Iterable[str], /) -> None:
        """Delete what is under names; not read any more, it raises ``StoreUnavailable`` where it may still be there."""
        ...

    def clear(self) -> None:
        """Delete everything; raises ``StoreUnavailable`` likewise."""
        ...

    def close(self) -> None:
        """Write what waits, and let go of what is open."""
        ...


class SharedTier(Tier, Protocol):
    """Where several machines keep one cache."""

    def listen(self, heard: Callable[[str], None], /) -> Callable[[], None]:
        """Have names that were deleted elsewhere told to ``heard``; what is returned ends that.

        ``EVERYTHING`` stands for all names: any of them may have been deleted while nobody could be told. It is told
        each time the connection is made, the first time included. ``heard`` may be called in any thread.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose something is, in a store that several share; equal keys mean the same tenant and agent.

    Attributes:
        tenant: the customer, the user, the project: whoever must not see what others have.
        agent: the agent's name.
    """

    tenant: str = ""
    agent: str = ""

    @property
    def key(self) -> str:
        """Stands for the scope where it is written down; tells nobody the names."""
        return content_digest(self.tenant, self.agent).hex()
