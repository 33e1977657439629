"""Thousands of new files at once, from another process."""

import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from autogen_context.cache.watch import MOST_PATHS, FileWatch
from support.hearing import wait_until

MAKER = """
import os, sys
folder, files = sys.argv[1], int(sys.argv[2])
for number in range(files):
    place = f"{folder}/{number % 5}/{number % 11}"
    os.makedirs(place, exist_ok=True)
    with open(f"{place}/{number}", "w") as file:
        file.write(str(number))
    if number % 3 == 1:
        os.rename(f"{place}/{number}", f"{place}/{number}-moved")
    if number % 3 == 2:
        os.unlink(f"{place}/{number}")
"""


class Mirror:
    """What is known of a folder by one who looks only at what he is told of."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.content = dict(self._below(root))
        self.longest = 0

    def hear(self, paths: Collection[Path]) -> None:
        """What the watch calls: forget what it names and all below, and read that again."""
        self.longest = max(self.longest, len(paths))
        told = set(paths)
        left = {
            path: text
            for path, text in self.content.items()
            if told.isdisjoint({path, *path.parents})
        }
        self.content = left | {path: text for each in told for path, text in self._below(each)}

    def is_exact(self) -> bool:
        """Whether that is what is there."""
        return self.content == dict(self._below(self._root))

    def _below(self, path: Path) -> Collection[tuple[Path, str]]:
        files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
        found: list[tuple[Path, str]] = []
        for file in files:
            try:
                found.append((file, file.read_text()))
            except OSError:  # it went in the meantime, of which one will be told
                continue
        return found


def test_a_flood_loses_nothing_and_holds_little(tmp_path: Path) -> None:
    """Of more new files than are held: one who reads again only what is told has, soon after the last change, what is there."""
    mirror = Mirror(tmp_path)
    with FileWatch() as watch:
        watch.listen(mirror.hear)
        watch.follow(tmp_path)
        command = [sys.executable, "-c", MAKER, str(tmp_path), "4500"]
        subprocess.run(command, check=True)  # noqa: S603 - our own code
        wait_until(mirror.is_exact, "what is there is known", pause_s=0.3)
        assert watch.is_alive
    assert 0 < mirror.longest <= MOST_PATHS
