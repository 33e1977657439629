"""The one index of a conversation: what rooms know of its units, brought up to date where it is needed.

Promise: a part has read the units of the list as it is now, in their order, each once; asking for it costs what is new since.
The conversation alone compares a list with the one before: what it drops leaves all parts at once. Another system prompt in
place of a leading one is read in its place, and nothing else is read again.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from autogen_context.view.decision import Candidate


class Part(Protocol):
    """What is read of units; it can be made again by reading them."""

    def add(self, at: int, candidate: Candidate, /) -> None:
        """Read the next unit, or a system message that stands in place of a leading one."""
        ...

    def truncate(self, units: int, /) -> int:
        """Forget all but the first units; return how many are left, fewer where they have to be read again."""
        ...


class ConversationIndex:
    """The parts of one conversation; ``units`` are those of its list, which its owner changes."""

    def __init__(self, units: Sequence[Candidate]) -> None:
        self.units = units
        self._parts: dict[int, Part] = {}  # by identity
        self._read: dict[int, int] = {}  # units that a part has read

    def follow(self, *parts: Part, stop: int | None = None) -> None:
        """Bring parts up to date: they know the first ``stop`` units, all by default, and no others."""
        stop = len(self.units) if stop is None else stop
        for part in parts:
            key = id(part)
            if self._read.get(key, 0) > stop:
                self._read[key] = part.truncate(stop)
            for at in range(self._read.get(key, 0), stop):
                self._parts[key], self._read[key] = part, at + 1
                part.add(at, self.units[at])

    def truncate(self, units: int, parts: Iterable[Part] | None = None) -> None:
        """Have parts, all by default, forget all but the first units."""
        for part in list(self._parts.values()) if parts is None else parts:
            if self._read.get(id(part), 0) > units:
                self._read[id(part)] = part.truncate(units)

    def replace(self, heads: Iterable[int]) -> None:
        """Have all parts read the system messages that stand in place of leading ones, by index."""
        for at in heads:
            for key, part in self._parts.items():
                if at < self._read[key]:
                    part.add(at, self.units[at])
