"""Processes that share a folder of values, and some that are killed while they write."""

import asyncio
import os
import random
import signal
import sqlite3
import time
from contextlib import closing
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from autogen_context.cache.cache import ContextCache, row_of
from autogen_context.cache.store import DiskStore
from support.forks import forked

KILLS = 10
ROUNDS = 25
KEYS = [f"key {number}" for number in range(12)]
VALUE_BYTES = 100_000


def value_of(text: str) -> str:
    """What is built from a file."""
    return text * (VALUE_BYTES // (len(text) or 1))


def test_who_is_killed_leaves_nothing_damaged_or_stale(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Killed at any moment: every entry is whole, and what is served is of the file as it is."""
    file, folder = tmp_path / "file.txt", tmp_path / "cache"
    file.touch()

    async def write_on() -> None:
        cache = ContextCache(folder)
        for number in count():
            file.write_text(f"{os.getpid()}-{number}.")
            for key in KEYS:
                await cache.get_or_build(key, lambda: value_of(file.read_text()), depends_on=[file])

    async def whole_entries() -> int:
        if not (folder / "cache.db").exists():
            return 0
        with closing(DiskStore(folder, keep_open=True)) as disk:
            found = [data for _, data in disk.items()]
            assert None not in found
            with closing(sqlite3.connect(disk.path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            text = file.read_text()
            async with ContextCache(folder) as cache:
                for key in KEYS[:3]:
                    built = await cache.get_or_build(key, lambda: value_of(text), depends_on=[file])
                    assert built == value_of(text)
            return len(found)

    kept, longest_s = 0, 0.1
    for number in range(KILLS):
        writer, _ = forked(lambda: asyncio.run(write_on()))
        time.sleep(random.Random(number).random() * longest_s)  # noqa: S311 - no secret
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        found = asyncio.run(whole_entries())
        longest_s *= 1.0 if found else 1.5  # where writers are slow to begin
        kept += found
    assert kept > KILLS
    assert caplog.records == []


def test_processes_share_a_folder(tmp_path: Path) -> None:
    """While three write to it this one reads: nothing is lost, and nobody is told of a fault."""

    async def shared(name: str) -> None:
        async with ContextCache(tmp_path) as cache:
            for number in range(ROUNDS):
                for key in (f"{name}{number}", f"both{number}"):
                    value = key * 1_000
                    assert await cache.get_or_build(key, partial(str, value)) == value

    def share(name: str) -> None:
        asyncio.run(shared(name))

    processes = [forked(partial(share, name))[0] for name in "xyz"]
    with closing(DiskStore(tmp_path, keep_open=True)) as disk:
        while processes:
            disk.read(row_of("both0"))
            ended, status = os.waitpid(processes[-1], os.WNOHANG)
            if ended:
                assert os.waitstatus_to_exitcode(status) == 0
                processes.pop()
        found = [data for _, data in disk.items()]
    assert len(found) == 4 * ROUNDS
    assert None not in found
