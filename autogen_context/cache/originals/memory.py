"""Originals in memory, by handle.

Promise: the texts of all entries together are at most the limit; the oldest entries go first. What is past its time is
not there.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from autogen_context.messages.message import Message

Entry = tuple[str, tuple[Message, ...]]

ENTRY_BYTES = 200  # what a message costs beside its texts, roughly


class Held(NamedTuple):
    """An entry: what is under a handle, until when, and what its texts have."""

    messages: tuple[Message, ...]
    expires_at: float
    size_bytes: int


class StashMemory:
    """Entries with a limit, oldest first.

    Args:
        limit_bytes: what the texts may have together, as UTF-8.

    Attributes:
        held_bytes: what they have.

    Raises:
        ValueError: the limit is negative.
    """

    def __init__(self, limit_bytes: int) -> None:
        if limit_bytes < 0:
            raise ValueError(f"limit_bytes={limit_bytes}: give a number of bytes, 0 or more")
        self.limit_bytes = limit_bytes
        self.held_bytes = 0
        self._entries: OrderedDict[str, Held] = OrderedDict()

    def __contains__(self, handle: str) -> bool:
        """Whether there is an entry, be its time over or not."""
        return handle in self._entries

    def __iter__(self) -> Iterator[Entry]:
        """The entries, oldest first."""
        return iter([(handle, held.messages) for handle, held in self._entries.items()])

    def write(self, entries: Iterable[Entry], *, expires_at: float) -> list[str]:
        """Keep entries as the newest; the handles that went for want of room, oldest first."""
        for handle, messages in entries:
            known = self._entries.get(handle)
            if known is not None and known.messages is messages:
                size = known.size_bytes  # at each compaction most come again
            else:
                size = size_of(messages)
            self.forget(handle)
            self._entries[handle] = Held(messages, expires_at, size)
            self.held_bytes += size
        gone: list[str] = []
        while self.held_bytes > self.limit_bytes:
            gone.append(next(iter(self._entries)))
            self.forget(gone[-1])
        return gone

    def read(self, handle: str, *, now: float) -> tuple[Message, ...] | None:
        """The messages under a handle, if they are there and their time is not over."""
        held = self._entries.get(handle)
        return held.messages if held is not None and held.expires_at > now else None

    def expire(self, now: float) -> None:
        """Drop what is past its time."""
        over = [handle for handle, held in self._entries.items() if held.expires_at <= now]
        for handle in over:
            self.forget(handle)

    def forget(self, handle: str) -> None:
        """Drop what is under a handle."""
        if handle in self._entries:
            self.held_bytes -= self._entries.pop(handle).size_bytes


def size_of(messages: tuple[Message, ...]) -> int:
    """Bytes of the texts of messages as UTF-8, and some for the rest of each."""
    return sum(ENTRY_BYTES + sum(map(bytes_of, texts_of(message))) for message in messages)


def texts_of(message: Message) -> Iterator[str]:
    """All strings of a message that can be long."""
    yield from (message.role, message.name, message.text, message.extra)
    for call in message.calls:
        yield from (call.id, call.name, call.arguments)
    for result in message.results:
        yield from (result.call_id, result.name, result.text)


def bytes_of(text: str) -> int:
    """What a text has as UTF-8; the usual one is not written out for it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
