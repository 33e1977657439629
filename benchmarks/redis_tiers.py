"""What a value costs in memory, on disk and on a Redis server, and what a worker waits that starts.

Usage: python benchmarks/redis_tiers.py

Times are those that pass, not CPU time: most of it is waiting for a server. A machine that is busy with others makes most
runs too long, so the time shown is the one that a tenth of the runs stay below. ``redis-server`` of Debian is started on a
free port of this machine, and ended.
"""

import asyncio
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing
from math import inf
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from side_by_side import ms, table, times

from autogen_context.cache.entry import CacheEntry, encoded, entry_as_bytes, entry_from_bytes
from autogen_context.cache.originals import DiskOriginals, RedisOriginals
from autogen_context.cache.redis_server import RedisLimits, RedisServer
from autogen_context.cache.redis_tier import RedisTier
from autogen_context.cache.store import DiskStore
from autogen_context.cache.tier import Memory, Scope
from autogen_context.messages.message import Message

RUNS = 300
KEY = "the key of a benchmark"
TEXT = "worker 7 is ready, queue length 42\n" * 300  # about 10 kB, as a tool's result has
LIMITS = RedisLimits(timeout_s=5.0)  # a busy machine is measured, not left out
Do = Callable[[int], Awaitable[object]]


def entry(number: int) -> CacheEntry:
    """A value of a cache that depends on no file."""
    data = encoded(f"{number} {TEXT}")
    return CacheEntry(key=str(number), data=data, dependencies=(), built_at=0.0, expires_at=inf)


async def main() -> None:
    """Start a server, and print both tables."""
    program = shutil.which("redis-server")
    if program is None:
        sys.exit("needs a Redis server: apt-get install redis-server")
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: ASYNC220, S603
        try:
            await measured(f"redis://127.0.0.1:{port}/0", Path(folder))
        finally:
            process.kill()
            process.wait()


async def measured(url: str, folder: Path) -> None:
    """Print what a put and a get take, and what the first get of a process takes."""
    async with RedisServer(url, limits=LIMITS, key=KEY) as server:
        tier, stash = RedisTier(server), RedisOriginals(server, scope=Scope(agent="coder"))
        puts, gets = alternatives(tier, stash, folder)
        taken = await typical(puts)
        for each in (tier, stash):  # so that it is not read from what waits
            await asyncio.to_thread(each.flush)
        taken |= await typical(gets)
    least = taken["cache, memory: get"]
    rows = [[name, us(each), times(each / least)] for name, each in taken.items()]
    print(table(["10 kB", "time", "beside memory"], *rows))
    print()
    started = perf_counter()
    server = RedisServer(url, limits=LIMITS, key=KEY)
    made = perf_counter()
    tier = RedisTier(server)
    await asyncio.to_thread(tier.read_all, ["0"])
    first = perf_counter()
    await asyncio.to_thread(tier.read_all, ["0"])
    second = perf_counter()
    server.close()
    steps = {"make the server": made - started, "first get": first - made, "second": second - first}
    print(
        table(["a worker that starts", "time"], *([name, ms(each)] for name, each in steps.items()))
    )


def alternatives(
    tier: RedisTier, stash: RedisOriginals, folder: Path
) -> tuple[Mapping[str, Do], Mapping[str, Do]]:
    """The puts of all tiers, and their gets of what was put; a cold get is of what is not there."""
    memory, disk = (
        Memory[CacheEntry](entries=RUNS, limit_bytes=2**30),
        DiskStore(folder / "cache", keep_open=True),
    )
    file = DiskOriginals(folder / "stash", scope=Scope(agent="coder"))

    async def put_shared(n: int) -> None:
        tier.write({str(n): entry_as_bytes(entry(n))})

    def original(n: int) -> list[tuple[str, tuple[Message, ...]]]:
        return [(str(n), (Message(role="tool", text=f"{n} {TEXT}"),))]

    puts = {
        "cache, memory: put": at_once(
            lambda n: memory.put(str(n), entry(n), size_bytes=entry(n).size_bytes)
        ),
        "cache, disk: put": at_once(lambda n: disk.write({str(n): entry_as_bytes(entry(n))})),
        "cache, Redis: put (queued)": put_shared,
        "originals, disk: put": at_once(lambda n: file.write(original(n))),
        "originals, Redis: put (queued)": at_once(lambda n: stash.write(original(n))),
    }
    gets: dict[str, Do] = {
        "cache, memory: get": at_once(lambda n: memory.use(str(n))),
        "cache, disk: get": at_once(lambda n: entry_from_bytes(disk.read(str(n)) or b"")),
        "cache, Redis: cold get": lambda n: asyncio.to_thread(tier.read_all, [f"none {n}"]),
        "cache, Redis: warm get": lambda n: asyncio.to_thread(tier.read_all, [str(n)]),
        "originals, disk: get": at_once(lambda n: file.read(str(n))),
        "originals, Redis: get": at_once(lambda n: stash.read(str(n))),
    }
    return puts, gets


def at_once(do: Callable[[int], object]) -> Do:
    """The same, to be awaited."""

    async def done(number: int) -> None:
        do(number)

    return done


async def typical(alternatives: Mapping[str, Do]) -> dict[str, float]:
    """What a tenth of many runs of each, in turn, stay below, in seconds."""
    taken: dict[str, list[float]] = {name: [] for name in alternatives}
    for number in range(RUNS):
        for name, do in alternatives.items():
            started = perf_counter()
            await do(number)
            taken[name].append(perf_counter() - started)
    return {name: quantiles(each, n=10)[0] for name, each in taken.items()}


def us(taken_s: float) -> str:
    """A time in microseconds, as a cell."""
    return f"{taken_s * 1e6:,.1f} µs"


if __name__ == "__main__":
    asyncio.run(main())
