"""Originals of what left the window, by handle, in memory.

Promise: what was put comes back equal while the stash holds it. The stash holds at most its limit; the oldest entries
go first, and how many went is reported.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator

from autogen_context.errors import NotStashed
from autogen_context.pipeline.message import Message

logger = logging.getLogger(__name__)

ENTRY_BYTES = 200  # what an entry costs beside its texts, roughly


class Stash:
    """A store of messages with a limit.

    Args:
        limit_bytes: what the texts of all entries may have together.
        entries: what is in it from the start, oldest first.
    """

    def __init__(
        self, limit_bytes: int, entries: Iterable[tuple[str, tuple[Message, ...]]] = ()
    ) -> None:
        self.limit_bytes = limit_bytes
        self.held_bytes = 0
        self.evicted = 0
        self._entries: OrderedDict[str, tuple[Message, ...]] = OrderedDict()
        for handle, messages in entries:
            self.put(handle, messages)

    def __contains__(self, handle: str) -> bool:
        """Whether there is an original under a handle."""
        return handle in self._entries

    def __iter__(self) -> Iterator[tuple[str, tuple[Message, ...]]]:
        """The entries, oldest first."""
        return iter(self._entries.items())

    def put(self, handle: str, messages: tuple[Message, ...]) -> None:
        """Keep messages under a handle; what is there already stays."""
        if handle in self._entries:
            return
        self._entries[handle] = messages
        self.held_bytes += size_of(messages)
        while self.held_bytes > self.limit_bytes:
            self._evict()

    def get(self, handle: str) -> tuple[Message, ...]:
        """The messages under a handle.

        Raises:
            NotStashed: nothing was put under it, or it was evicted.
        """
        if handle not in self._entries:
            raise NotStashed(handle, evicted=self.evicted)
        return self._entries[handle]

    def _evict(self) -> None:
        _, messages = self._entries.popitem(last=False)
        self.held_bytes -= size_of(messages)
        self.evicted += 1
        logger.warning(
            "an original left the stash, which is full",
            extra={"limit_bytes": self.limit_bytes, "evicted": self.evicted},
        )


def size_of(messages: tuple[Message, ...]) -> int:
    """Bytes of the texts of messages, roughly: four a character at most."""
    return sum(
        ENTRY_BYTES
        + len(m.text)
        + len(m.extra)
        + sum(len(call.arguments) for call in m.calls)
        + sum(len(result.text) for result in m.results)
        for m in messages
    )
