"""Where built texts are kept, as a seam; and a keeper in memory for who brings none.

Promise: what was built under a key is what its builder gives; a key names all that this depends on.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

Builder = Callable[[], str]  # called in a thread

MOST_BUILDS = 50_000  # in memory; the symbols of a file are a kilobyte or two


class Builds(Protocol):
    """Keeps what was built; a ``ContextCache`` does."""

    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:
        """What is kept under a key, built anew where it is not there or a file that it depends on has changed."""
        ...


class Kept:
    """Keeps in memory, the least recently used go; for keys that name contents, so that no file is looked at."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, str] = OrderedDict()

    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:  # noqa: ARG002 - a cache's
        """What is kept under a key."""
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self._kept[key] = await asyncio.to_thread(builder)
            if len(self._kept) > MOST_BUILDS:
                self._kept.popitem(last=False)
        return self._kept[key]
