"""Files that the conversation shows: many of them, and disks that hang or fail."""

import asyncio
import logging
import shutil
from pathlib import Path
from threading import Event

import pytest
from typing_extensions import override

from autogen_context.project.file_changes import MOST_FILES, MOST_LOOKED_AT, FileChangeTracker
from autogen_context.project.files import MOST_DIFFS, MOST_READ_NOWAIT, MOST_TOLD, NO_MORE
from support.coder import (
    CHANGED,
    CONTENT,
    DIFF,
    EDIT,
    Coder,
    block,
    told_in,
)
from support.hearing import PATIENCE_S


async def test_of_many_files_each_is_told(coder: Coder) -> None:
    """The first with their diffs; one block has room for all that is said."""
    names = [f"part_{n}.py" for n in range(3 * MOST_DIFFS)]
    for name in names:
        (coder.root / name).write_text(CONTENT)
        coder.reads(name)
    await coder.turn()
    coder.shell("sed -i s/two/TWO/ part_*.py")
    coder.goes_on()
    [told] = await coder.turn()
    assert told.count("changed on disk") == len(names)
    assert told.count("+TWO") == MOST_DIFFS


async def test_a_file_that_keeps_changing_is_told_so_often(coder: Coder) -> None:
    """Then that it does, once, until it is read again."""
    coder.reads("a.py")
    await coder.turn()
    told: list[str] = []
    for n in range(MOST_TOLD + 3):
        coder.shell(f"echo {n} >> a.py")
        coder.goes_on()
        told = await coder.turn()
    assert len(told) == MOST_TOLD == len(coder.manager.versions) - 1
    assert [NO_MORE in each for each in told] == [False] * (MOST_TOLD - 1) + [True]
    coder.reads("a.py")
    await coder.turn()
    coder.shell("echo more >> a.py")
    coder.goes_on()
    told = await coder.turn()
    assert len(told) == MOST_TOLD + 1
    assert told[-1].endswith("> +more\n]")


async def test_of_a_thousand_files_the_newest_are_followed(root: Path) -> None:
    """However many there are, as many are kept; a turn looks at so many of them, and in the end at all."""
    coder = Coder(root, window_tokens=200_000)
    for n in range(1_000):
        (root / f"{n}.py").write_text(CONTENT)
        coder.reads(f"{n}.py")
    for _ in range(1_000 // MOST_FILES + 2):
        await coder.turn()
    coder.shell("sed -i s/two/TWO/ 0.py 999.py 600.py")
    told: list[str] = []
    for _ in range(MOST_FILES // MOST_LOOKED_AT + 2):
        coder.goes_on()
        told = await coder.turn()
    text = "\n".join(told)
    assert "999.py changed" in text
    assert "600.py changed" in text
    assert "\n0.py changed" not in text


async def test_a_turn_that_does_not_wait_reads_few_files(root: Path) -> None:
    """The others are read in later ones."""
    coder = Coder(root)
    names = [f"part_{n}.py" for n in range(3 * MOST_READ_NOWAIT)]
    for name in names:
        (root / name).write_text(CONTENT)
        coder.reads(name)
    await coder.turn(waits=False)
    for name in names:
        (root / name).write_text("else\n")
    told: list[str] = []
    for _ in range(7):
        coder.goes_on()
        told = await coder.turn(waits=False)
    assert "\n".join(told).count("changed on disk") == MOST_READ_NOWAIT


class Broken(FileChangeTracker):
    """Fails when it is asked."""

    @override
    def real(self, path: Path) -> Path:
        raise MemoryError


async def test_a_failure_is_not_the_callers(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is one warning; turns go on."""
    with caplog.at_level(logging.WARNING):
        coder = Coder(root, files=Broken(root))
        for waits in (True, False, True):
            coder.reads("a.py")
            assert await coder.turn(waits=waits) == []
    assert [record.message for record in caplog.records] == [
        "a context provider failed; what it knows is not told"
    ]


class Slow(FileChangeTracker):
    """Answers when it is let go."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.answers = Event()

    @override
    def real(self, path: Path) -> Path:
        assert self.answers.wait(PATIENCE_S)
        return super().real(path)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn does not wait long for the disk."""
    monkeypatch.setattr("autogen_context.project.files.LONGEST_WAIT_S", 0.2)


@pytest.mark.usefixtures("hasty")
async def test_a_disk_that_hangs_holds_up_no_turn(root: Path) -> None:
    """What is learned when it answers is told in a later one; meanwhile nobody is kept from saving and branching."""
    files = Slow(root)
    files.answers.set()
    coder = Coder(root, files=files)
    coder.reads("a.py")
    assert await coder.turn() == []
    coder.shell(EDIT)
    files.answers.clear()
    coder.goes_on()
    assert await coder.turn() == []
    assert await coder.turn(waits=False) == []
    state = await asyncio.wait_for(asyncio.to_thread(coder.manager.save_state), PATIENCE_S)
    branch = await asyncio.wait_for(asyncio.to_thread(coder.manager.branch), PATIENCE_S)
    loaded = coder.another()
    await asyncio.wait_for(asyncio.to_thread(loaded.load_state, state), PATIENCE_S)
    files.answers.set()
    for manager in (branch, coder.manager):
        coder.manager = manager
        told: list[str] = []
        while not told:  # the look that hung comes to its end in its own time
            coder.goes_on()
            told = await coder.turn()
        assert told == [block(CHANGED, DIFF)]


async def test_a_folder_that_is_gone_keeps_nobody_from_going_on(coder: Coder) -> None:
    """What was seen in it is told as deleted by a branch, and by another process."""
    coder.reads("a.py")
    await coder.turn()
    shutil.rmtree(coder.root)
    state = coder.manager.save_state()
    loaded, branch = coder.manager, coder.manager.branch()
    loaded.load_state(state)
    coder.goes_on()
    for manager in (branch, loaded):
        [told] = told_in(await manager.prepare(coder.messages))
        assert told == block("a.py was deleted from disk since it was read above")
