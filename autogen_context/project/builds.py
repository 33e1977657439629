"""Where built texts are kept, as a seam; and a keeper in memory for who brings none.

Promise: what is handed out was built while all that it depends on was as it is now.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from autogen_context.project.source import Stamp

Builder = Callable[[], str]  # called in a thread

MOST_BUILDS = 50_000  # in memory; the symbols of a file are a kilobyte or two


class Builds(Protocol):
    """Keeps what was built; a ``ContextCache`` does."""

    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:
        """What is kept under a key, built anew where a file that it depends on has changed."""
        ...


class Kept:
    """Keeps in memory, the least recently used go."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[str, list[Stamp | None]]] = OrderedDict()

    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:
        """What is kept under a key, built anew where a file that it depends on has changed."""
        stamps = await asyncio.to_thread(stamps_of, depends_on) if depends_on else []
        kept = self._kept.get(key)
        if kept is not None and all(map(is_same, kept[1], stamps)):
            self._kept.move_to_end(key)
            return kept[0]
        built = await asyncio.to_thread(builder)
        self._kept[key] = built, stamps
        if len(self._kept) > MOST_BUILDS:
            self._kept.popitem(last=False)
        return built


class Counted:
    """A keeper that counts.

    Attributes:
        asked: how often something was wanted.
        built: how often it had to be built.
    """

    def __init__(self, builds: Builds) -> None:
        self.asked = 0
        self.built = 0
        self._builds = builds

    def has(self) -> None:
        """Count something that was wanted and is at hand."""
        self.asked += 1

    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:
        """What the keeper has, or makes."""

        def build() -> str:
            self.built += 1
            return builder()

        self.asked += 1
        return await self._builds.get_or_build(key, build, depends_on=depends_on)


def stamps_of(paths: Sequence[Path]) -> list[Stamp | None]:
    """What the system says of some files; ``None`` of one that is not there."""
    found: list[Stamp | None] = []
    for path in paths:
        try:
            found.append(Stamp.of(path.lstat()))
        except OSError:
            found.append(None)
    return found


def is_same(before: Stamp | None, now: Stamp | None) -> bool:
    """Whether a file is as it was."""
    if before is None or now is None:
        return before is now
    return before.holds(now)
