"""A thread that changes a file again and again, and says when each change is complete.

Promise: state ``n`` of the file is ``state(n)``; ``None`` is that there is no file.
"""

import os
import random
import time
from pathlib import Path
from threading import Event, Thread

from typing_extensions import override

SIZE = 24
PAUSE_AFTER = 10
WAYS = ("same size", "grown", "old times", "renamed over", "link", "hard link", "deleted", "renamed away")  # fmt: skip


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
    text, how = state(number), way(number)
    if text is None:
        if how == "renamed away" and path.is_file():
            path.replace(path.with_name("away"))
        path.unlink(missing_ok=True)
        return
    is_in_place = how in ("same size", "old times") and path.is_file()
    if is_in_place and len(path.read_text()) == len(text):
        before = path.stat()
        descriptor = os.open(path, os.O_WRONLY)
        os.pwrite(descriptor, text.encode(), 0)
        os.close(descriptor)
        if how == "old times":
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return
    new, number = path.with_name("new"), number % 8
    new.unlink(missing_ok=True)
    new.write_text(text)
    if how == "link":  # what the path leads to now is replaced as a whole, too
        target = new.replace(path.with_name(f"target{number}"))
        new.symlink_to(target)
    elif how == "hard link":
        second = path.with_name(f"second{number}")
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
