"""A thread that changes a file again and again, and says when each change is complete.

Promise: state ``n`` of the file is ``state(n)``; ``None`` is that there is no file.
"""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from typing_extensions import override

SIZE = 24
PAUSE_AFTER = 10
WAYS = (
    "same size",
    "grown",
    "old times",
    "renamed over",
    "link",
    "hard link",
    "deleted",
    "renamed away",
)


def way(number: int) -> str:
    """How a state comes about."""
    return random.Random(number).choice(WAYS)  # noqa: S311 - the same in both processes


def state(number: int) -> str | None:
    """What a reader finds."""
    if way(number) in {"deleted", "renamed away"}:
        return None
    text = f"state {number:06d} ".ljust(SIZE, "#")
    return text * 2 if way(number) == "grown" else text


def change(path: Path, number: int) -> None:
    """Bring about a state, from whatever there is, in one step that a reader sees whole or not at all."""
    text = state(number)
    if text is None and path.is_file() and way(number) == "renamed away":
        path.replace(path.with_name("away"))
    elif text is None:
        path.unlink(missing_ok=True)
    elif way(number) in _IN_PLACE and path.is_file() and len(path.read_text()) == len(text):
        _IN_PLACE[way(number)](path, text)
    else:
        _put_in_place(path, number, text)


def _write_over(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    os.pwrite(descriptor, text.encode(), 0)
    os.close(descriptor)


def _write_with_old_times(path: Path, text: str) -> None:
    found = path.stat()
    _write_over(path, text)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


_IN_PLACE: dict[str, Callable[[Path, str], None]] = {
    "same size": _write_over,
    "old times": _write_with_old_times,
}


def _put_in_place(path: Path, number: int, text: str) -> None:
    """Let another file, a link to one, or a second name of one take the path."""
    new, target = path.with_name("new"), path.with_name(f"target{number % 8}")
    new.unlink(missing_ok=True)
    new.write_text(text)
    if way(number) == "link":  # what the path leads to now is replaced as a whole, too
        new.replace(target)
        new.symlink_to(target)
    elif way(number) == "hard link":
        second = path.with_name(f"second{number % 8}")
        second.unlink(missing_ok=True)
        second.hardlink_to(new)
    new.replace(path)


class Changing(Thread):
    """Changes a file quickly, with a pause now and then, for as long as somebody likes, in which a reader can keep something.

    Attributes:
        done: the number of the last change that is complete.
        pauses: set while it waits for somebody to clear it.
    """

    def __init__(self, path: Path, last: int) -> None:
        super().__init__(daemon=True)
        self.path, self.last, self.done, self.pauses = path, last, 0, Event()
        change(path, 0)
        self.start()

    @override
    def run(self) -> None:
        for number in range(1, self.last + 1):
            change(self.path, number)
            self.done = number
            if number % PAUSE_AFTER == 0 and number < self.last:
                self.pauses.set()
                while self.pauses.is_set():
                    time.sleep(0.001)
            time.sleep(random.Random(number).random() / 500)  # noqa: S311 - no secret
