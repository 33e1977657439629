"""What asking a cache costs, by where the value is and what it depends on.

Usage: python benchmarks/cache.py [REDIS_URL]

Times are of the clock on the wall, the median of the rounds: much of it is waiting for threads, the disk and a server. A
cold start is a new cache on a folder, or on a server, that has the value. A file that was just changed is built from a
tick later, when its times prove something; that wait is in the time.
"""

# ruff: noqa: ASYNC240 - nothing else runs here

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from side_by_side import table

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.tier import CacheLimits, SharedTier

VALUE = "a line of a value\n" * 600  # 11 kB
ROUNDS = 200
KEY = "the key of a benchmark"
COLD_ROUNDS = 20
TREE_FILES = 10_000

Ask = Callable[[], Awaitable[object]]
Row = tuple[str, str]


async def main(arguments: Sequence[str]) -> None:
    """Time every row, and print the table."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        rows = [row async for row in warm(folder)]
        rows += [row async for row in cold(folder)]
        if arguments:
            rows += [row async for row in shared(arguments[0])]
    print(table(("", "µs"), *rows))


async def warm(folder: Path) -> AsyncGenerator[Row]:
    """Values in memory and on disk, of no file, of some, and of a tree."""
    files = tree(folder / "tree")
    everything = [f"{folder}/tree/**/*.py"]
    memory = ContextCache()
    yield "memory, no file", await timed(asking(memory, "none", []))
    yield "memory, 1 file", await timed(asking(memory, "one", files[:1]))
    yield "memory, 50 files", await timed(asking(memory, "fifty", files[:50]))
    tree_of = asking(memory, "tree", everything)
    yield f"memory, a pattern of {TREE_FILES:,} files", await timed(tree_of, rounds=COLD_ROUNDS)
    changed = after_a_change(files[0], tree_of)
    yield "  and one of them changed", await timed(changed, rounds=COLD_ROUNDS)
    async with ContextCache(folder / "disk", limits=CacheLimits(entries=0)) as disk:
        yield "disk, 1 file", await timed(asking(disk, "one", files[:1]))


async def cold(folder: Path) -> AsyncGenerator[Row]:
    """The first value of a process, from disk."""

    async def first() -> None:
        async with ContextCache(folder / "disk") as cache:
            await cache.get_or_build("one", never, depends_on=[folder / "tree" / "0" / "0.py"])

    yield "disk, cold start", await timed(first, rounds=COLD_ROUNDS)


async def shared(url: str) -> AsyncGenerator[Row]:
    """Values of a server, with a line that is there and with one that is made."""
    tier = server(url)
    async with ContextCache(shared=tier, limits=CacheLimits(entries=0)) as cache:
        ask = asking(cache, f"benchmark {os.getpid()}", [])
        await ask()
        await asyncio.sleep(1)  # it is written behind
        yield "redis", await timed(ask)
        assert cache.stats().shared.hits > ROUNDS / 2, cache.stats()


def server(url: str) -> SharedTier:
    """What is at a url."""
    from autogen_context.cache.redis_server import RedisServer  # noqa: PLC0415 - optional
    from autogen_context.cache.redis_tier import RedisTier  # noqa: PLC0415 - as above

    return RedisTier(RedisServer(url, key=KEY), tenant="benchmark")


def tree(folder: Path) -> list[Path]:
    """A tree of files."""
    files = [folder / f"{number % 100}" / f"{number}.py" for number in range(TREE_FILES)]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"number = {file.stem}\n")
    return files


def asking(cache: ContextCache, key: str, names: Sequence[Path | str]) -> Ask:
    """Ask for a value of some files."""
    return lambda: cache.get_or_build(key, built, depends_on=names)


def after_a_change(file: Path, ask: Ask) -> Ask:
    """Write a file and ask for what depends on it."""

    async def change_and_ask() -> None:
        file.write_text(f"number = {time.monotonic_ns()}\n")
        await ask()

    return change_and_ask


async def timed(ask: Ask, *, rounds: int = ROUNDS) -> str:
    """What asking takes once it was asked before, as a cell."""
    await ask()
    times: list[float] = []
    for _ in range(rounds):
        started = time.perf_counter()
        await ask()
        times.append(time.perf_counter() - started)
    return f"{median(times) * 1e6:,.0f}"


async def built() -> str:
    """A value."""
    return VALUE


async def never() -> str:
    """A builder that is not called."""
    raise LookupError("the folder has it")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
