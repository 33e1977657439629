"""Processes that keep values of a file that they change, to be killed at any moment.

Run as a program with a file and a folder: for each line of its input it forks such a process and writes its number, and
a line when it has ended. It exists since a process that has imported everything is forked in a millisecond.
"""

# ruff: noqa: ASYNC240 - nothing else runs here

import asyncio
import os
import sys
from itertools import count
from pathlib import Path

from autogen_context.cache import store
from autogen_context.cache.cache import ContextCache

KEYS = [f"key {number}" for number in range(12)]
VALUE_BYTES = 100_000


def value_of(text: str) -> str:
    """What is built from a file."""
    return text * (VALUE_BYTES // (len(text) or 1))


async def write_on(file: Path, folder: Path) -> None:
    """Change the file, build from it and keep that, until it ends."""
    store.__dict__["_LOCKED_S"] = 60.0  # a busy machine is no fault
    cache = ContextCache(folder)
    for number in count():
        file.write_text(f"{os.getpid()}-{number}.")
        for key in KEYS:
            await cache.get_or_build(key, lambda: value_of(file.read_text()), depends_on=[file])


def main(file: Path, folder: Path) -> None:
    """Fork a process for every line."""
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(write_on(file, folder))
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        os.waitpid(child, 0)
        sys.stdout.write("ended\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
