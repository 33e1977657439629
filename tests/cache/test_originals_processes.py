"""Processes that share a folder of originals, and one that is killed while it writes."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from autogen_context.cache.originals import DiskOriginals, OriginalStore
from autogen_context.cache.tier import Scope
from support.entries import said

SCOPE = Scope(tenant="acme", agent="coder")
ENTRIES = 100
WRITER = """
import sys
from itertools import count
from pathlib import Path
from autogen_context.messages.message import Message
from autogen_context.cache.tier import Scope
from autogen_context.cache import store as disk
from autogen_context.cache.originals import OriginalStore
from autogen_context.cache.originals import DiskOriginals

disk._LOCKED_S = 60.0  # a busy machine is no fault
folder, name, entries = sys.argv[1:]
stash = OriginalStore(0, tiers=[DiskOriginals(Path(folder), scope=Scope(tenant="acme", agent="coder"))])
for number in range(int(entries)) if int(entries) else count():
    handle = f"{name}{number}"
    stash.put(handle, (Message(role="user", text=handle * 5_000),))
    print(handle, flush=True)
print(stash.evicted, flush=True)
"""


def writer(folder: Path, name: str, entries: int) -> subprocess.Popen[str]:
    """A process that writes so many entries, for ever at 0, and names each when it is written."""
    command = [sys.executable, "-c", WRITER, str(folder), name, str(entries)]
    return subprocess.Popen(  # noqa: S603 - our own code
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_a_killed_process_loses_the_entry_it_was_writing_at_most(tmp_path: Path) -> None:
    """Whatever it said it had kept is there, to the byte, and the folder can be written on."""
    folder = tmp_path / "stash"
    for times in range(3):
        name = f"run{times}-"
        told: list[str] = []
        with writer(folder, name, 0) as process:
            assert process.stdout is not None
            while len(told) < 20 + times:
                told.append(process.stdout.readline().strip())
            process.kill()
            told += process.stdout.read().split()
        stash = OriginalStore(0, tiers=[DiskOriginals(folder, scope=SCOPE)])
        whole = [handle for handle in told if handle.startswith(name)][: len(told) - 1]
        for handle in whole:
            assert stash.get(handle) == said(handle * 5_000)
        stash.put("after", said("after"))
        assert stash.get("after") == said("after")


def test_four_processes_share_a_folder(tmp_path: Path) -> None:
    """While all write and this one reads, nothing is lost, and nobody is told of a fault."""
    folder = tmp_path / "stash"
    processes = [writer(folder, name, ENTRIES) for name in "wxyz"]
    with ThreadPoolExecutor() as pool:
        done = [pool.submit(process.communicate) for process in processes]
        stash = OriginalStore(0, tiers=[DiskOriginals(folder, scope=SCOPE)])
        while not all(future.done() for future in done):
            for handle in ("w0", "z0"):
                assert handle not in stash or stash.get(handle) == said(handle * 5_000)
    for name, future in zip("wxyz", done, strict=True):
        out, errors = future.result()
        assert errors == ""
        assert out.split() == [*(f"{name}{number}" for number in range(ENTRIES)), "0"]
    for handle in (f"{name}{number}" for name in "wxyz" for number in range(ENTRIES)):
        assert stash.get(handle) == said(handle * 5_000)


def test_several_that_begin_at_once_lose_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each makes the file if it is not there, and waits for the others where SQLite would not."""

    def begin(folder: Path, name: str, together: Barrier) -> OriginalStore:
        stash = OriginalStore(0, tiers=[DiskOriginals(folder, scope=SCOPE)])
        together.wait()
        stash.put(name, said(name))
        return stash

    with ThreadPoolExecutor(4) as pool:
        for number in range(60):
            folder, together = tmp_path / str(number), Barrier(4)
            begun = [pool.submit(begin, folder, name, together) for name in "abcd"]
            stashes = [future.result() for future in begun]
            assert [stashes[0].get(name) for name in "abcd"] == [said(name) for name in "abcd"]
    assert not caplog.records
