"""What a stash asks of the places behind its memory, and two such places as one.

Promise: what both have is read from the first; what one of them gave up is not lost while the other holds it.
"""

from collections.abc import Iterable
from typing import Protocol

from autogen_context.cache.originals.memory import Entry
from autogen_context.messages.message import Message


class StashTier(Protocol):
    """Originals of one scope by handle, beyond this process."""

    def write(self, entries: Iterable[Entry], *, expires_at: float, now: float) -> list[str]:
        """Keep entries; the handles that went for want of room."""
        ...

    def read(self, handle: str, *, now: float) -> tuple[Message, ...] | None:
        """The messages under a handle, if they are there whole and their time is not over; never raises."""
        ...

    def held(self, handles: Iterable[str], *, now: float) -> set[str]:
        """Which of these have an entry whose time is not over; never raises."""
        ...

    def forget(self, handle: str) -> None:
        """Delete what is under a handle; raises where it may still be there."""
        ...

    def clear(self) -> None:
        """Delete all that the scope has; raises where it may still be there."""
        ...


class StashTiers:
    """Two tiers; a ``StashTier`` itself.

    Args:
        near: asked first: a file of this machine.
        far: asked for what the first has not: a server.
    """

    def __init__(self, near: StashTier, far: StashTier) -> None:
        self._near = near
        self._far = far

    def write(self, entries: Iterable[Entry], *, expires_at: float, now: float) -> list[str]:
        """Keep entries in both; the handles that went from one of them."""
        listed = list(entries)
        gone = self._near.write(listed, expires_at=expires_at, now=now)
        return gone + self._far.write(listed, expires_at=expires_at, now=now)

    def read(self, handle: str, *, now: float) -> tuple[Message, ...] | None:
        """The messages under a handle, from the first that has them."""
        found = self._near.read(handle, now=now)
        return self._far.read(handle, now=now) if found is None else found

    def held(self, handles: Iterable[str], *, now: float) -> set[str]:
        """Which of these one of them has."""
        listed = set(handles)
        near = self._near.held(listed, now=now)
        return near | self._far.held(listed - near, now=now)

    def forget(self, handle: str) -> None:
        """Delete what is under a handle in both; raises what either raises."""
        try:
            self._near.forget(handle)
        finally:
            self._far.forget(handle)

    def clear(self) -> None:
        """Delete all that the scope has in both; raises what either raises."""
        try:
            self._near.clear()
        finally:
            self._far.clear()
