"""What watching costs: requests while a file changes, watched and not, and 10,000 writes a second by another process.

Usage: python benchmarks/watch.py

CPU is of this process alone. A busy machine makes the flood last longer; its rate is shown.
"""

# ruff: noqa: ASYNC240 - nothing else runs here

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path

from side_by_side import table

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.watch import FileWatch

CHANGES = 2_000
FILES = 2_000
FLOOD = 30_000
PER_SECOND = 10_000

WRITER = """
import os, sys, time
paths = sys.stdin.read().split()
writes, rate = int(sys.argv[1]), int(sys.argv[2])
began = time.monotonic()
for number in range(writes):
    descriptor = os.open(paths[number % len(paths)], os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, b"%d" % number)
    os.close(descriptor)
    if number % 100 == 0:
        time.sleep(max(0, began + number / rate - time.monotonic()))
"""


async def main() -> None:
    """Print the tables."""
    rows = [await changed(watched=watched) for watched in (False, True)]
    print(table((f"{CHANGES:,} changes", "stale", "CPU", "builds", "hits"), *rows))
    print()
    print(table((f"{FLOOD:,} writes", "a second", "CPU", "memory", "told"), flooded()))


async def changed(*, watched: bool) -> tuple[str, ...]:
    """Change a file and ask twice for what it has, again and again."""
    with tempfile.TemporaryDirectory() as name, FileWatch() if watched else nullcontext() as watch:
        path, stale = Path(name, "file"), 0
        if watch is not None:
            watch.follow(name)
        async with ContextCache(watch=watch) as cache:
            began = time.process_time()
            for number in range(CHANGES):
                path.write_text(str(number), "utf-8")
                for _ in range(2):
                    found = await cache.get_or_build("key", path.read_text, depends_on=[path])
                    stale += found != str(number)
            cpu_s, stats = time.process_time() - began, cache.stats()
    what = "watched" if watched else "not watched"
    return what, f"{stale}", f"{cpu_s:.2f} s", f"{stats.builds:,}", f"{stats.hits:,}"


def flooded() -> tuple[str, ...]:
    """Files that another process writes as fast as it can, or as it should."""
    bursts: list[Collection[Path]] = []
    with tempfile.TemporaryDirectory() as name, FileWatch() as watch:
        paths = [Path(name, f"folder{number % 100}", f"file{number}") for number in range(FILES)]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            path.touch()
        watch.listen(bursts.append)
        watch.follow(name)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        began, began_cpu = time.monotonic(), time.process_time()
        command = [sys.executable, "-c", WRITER, str(FLOOD), str(PER_SECOND)]
        subprocess.run(  # noqa: S603 - our own code
            command, input="\n".join(map(str, paths)), text=True, check=True
        )
        rate, cpu_s = FLOOD / (time.monotonic() - began), time.process_time() - began_cpu
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    told = f"{sum(map(len, bursts)):,} in {len(bursts)}"
    return "FileWatch", f"{rate:,.0f}", f"{cpu_s:.2f} s", f"{grown / 1024:+.1f} MB", told


if __name__ == "__main__":
    asyncio.run(main())
