"""Processes that share a folder of values, and some that are killed while they write."""

# ruff: noqa: ASYNC220, ASYNC240 - a test may block its own loop

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from autogen_context.cache.cache import ContextCache, row_of
from autogen_context.cache.store import DiskStore
from support import cache_writer

KILLS = 10
SHARER = """
import asyncio, sys
from pathlib import Path
from autogen_context.cache import store
from autogen_context.cache.cache import ContextCache, row_of

store._LOCKED_S = 60.0  # a busy machine is no fault

async def main(folder, name):
    async with ContextCache(folder) as cache:
        for number in range(40):
            for key in (f"{name}{number}", f"both{number}"):
                assert await cache.get_or_build(key, lambda: key * 1_000) == key * 1_000

asyncio.run(main(*sys.argv[1:]))
"""


def is_sound(folder: Path) -> bool:
    """Whether the database says so."""
    with closing(sqlite3.connect(folder / "cache.db")) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_who_is_killed_leaves_nothing_damaged_or_stale(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Killed at any moment: every entry is whole, and what is served is of the file as it is."""
    file, folder = tmp_path / "file.txt", tmp_path / "cache"
    command = [sys.executable, cache_writer.__file__, str(file), str(folder)]
    kept, longest_s = 0, 0.1
    with subprocess.Popen(  # noqa: S603 - our own code
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(KILLS):
            process.stdin.write("\n")
            process.stdin.flush()
            writer = int(process.stdout.readline())
            await asyncio.sleep(random.Random(number).random() * longest_s)  # noqa: S311 - no secret
            os.kill(writer, signal.SIGKILL)
            assert process.stdout.readline() == "ended\n"
            found = await whole_entries(file, folder)
            longest_s *= 1.0 if found else 1.5  # where writers are slow to begin
            kept += found
        process.stdin.close()
    assert kept > KILLS
    assert caplog.records == []


async def whole_entries(file: Path, folder: Path) -> int:
    """How many entries there are, all of them whole, and none of them served if the file is another by now."""
    if not (folder / "cache.db").exists():
        return 0
    disk = DiskStore(folder, keep_open=True)
    found = [data for _, data in disk.items()]
    assert None not in found
    assert is_sound(folder)
    text = file.read_text()
    async with ContextCache(folder) as cache:
        for key in cache_writer.KEYS[:3]:
            built = await cache.get_or_build(
                key, lambda: cache_writer.value_of(text), depends_on=[file]
            )
            assert built == cache_writer.value_of(text)
    disk.close()  # last of all: who is the last one to close waits for the disk
    return len(found)


def test_processes_share_a_folder(tmp_path: Path) -> None:
    """While two write to it this one reads: nothing is lost, and nobody is told of a fault."""
    folder = tmp_path / "cache"
    processes = [
        subprocess.Popen(  # noqa: S603 - our own code
            [sys.executable, "-c", SHARER, str(folder), name], stderr=subprocess.PIPE, text=True
        )
        for name in "xy"
    ]
    disk = DiskStore(folder, keep_open=True)
    while any(process.poll() is None for process in processes):
        disk.read(row_of("both0"))
    for process in processes:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    found = [data for _, data in disk.items()]
    assert len(found) == 120
    assert None not in found
    disk.close()
