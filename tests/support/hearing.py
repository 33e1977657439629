"""Hear what a file watch tells, and wait for it."""

import time
from collections.abc import Callable, Collection
from pathlib import Path

PATIENCE_S = 60.0  # a busy machine may take as long; nobody waits it out where all is well


class Hearing:
    """Listens to a watch."""

    def __init__(self) -> None:
        self.bursts: list[frozenset[Path]] = []

    def hear(self, paths: Collection[Path]) -> None:
        """What the watch calls."""
        self.bursts.append(frozenset(paths))

    @property
    def paths(self) -> frozenset[Path]:
        """All that was told so far."""
        return frozenset(path for burst in self.bursts for path in burst)

    def knows(self, path: Path) -> bool:
        """Whether a path was told of, or a folder above it."""
        return not self.paths.isdisjoint({path, *path.parents})

    def wait_for(self, *paths: Path) -> None:
        """Until each of them was told of."""
        wait_until(lambda: all(map(self.knows, paths)), f"told of {paths}")

    def clear(self) -> None:
        """Forget what was told."""
        self.bursts.clear()


def wait_until(holds: Callable[[], object], what: str, *, pause_s: float = 0.005) -> None:
    """Until something holds; it is asked after each pause."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(pause_s)
