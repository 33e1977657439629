"""A file that is changed again and again, in all the ways in which a file changes.

Promise: state ``n`` of the file is ``state(n)``; ``None`` is that there is no file. A reader sees each change whole or not at all.
"""

import os
import random
from pathlib import Path

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
    return random.Random(number).choice(WAYS)  # noqa: S311 - the same each time


def state(number: int) -> str | None:
    """What a reader finds."""
    if way(number) in {"deleted", "renamed away"}:
        return None
    text = f"state {number:06d} ".ljust(24, "#")
    return text * 2 if way(number) == "grown" else text


def change(path: Path, number: int) -> None:
    """Bring about a state, from whatever there is, in one step."""
    text, how = state(number), way(number)
    if how == "renamed away" and path.is_file():
        path.replace(path.with_name("away"))
    elif text is None:
        path.unlink(missing_ok=True)
    elif (
        how in {"same size", "old times"} and path.is_file() and len(path.read_text()) == len(text)
    ):
        found = path.stat()
        descriptor = os.open(path, os.O_WRONLY)
        os.pwrite(descriptor, text.encode(), 0)
        os.close(descriptor)
        if how == "old times":
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    else:
        _put_in_place(path, number, text)


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
