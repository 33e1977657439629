"""Diffs of files that changed, many files at once, and disks that hang or fail."""

import asyncio
import logging
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.project.file_changes import (
    MOST_LINES,
    MOST_TOLD,
    NO_MORE,
    FileChangeTracker,
    told_changes,
)
from support.coder import CHANGED, DIFF, EDIT, Coder, block
from support.waiting import LONGEST_S

LINES = st.lists(st.sampled_from(["a", "b", "", "    return x", "ü" * 300]), max_size=30)
NUMBERS_CHARS = 100
BEFORE = "\n".join(f"line {n}" for n in range(1, 101))


@settings(max_examples=15)
@given(LINES, LINES)
def test_a_diff_turns_one_text_into_the_other(before: list[str], after: list[str]) -> None:
    """Where there is room for all of it and no line is cut: patch says so."""
    old, new = ("\n".join(line[:150] for line in lines) for lines in (before, after))
    if old == new:
        return
    _, _, diff = told_changes(old, new, most_chars=100_000).partition(":\n")
    with TemporaryDirectory() as name:
        file = Path(name, "file")
        file.write_text(old + "\n")
        patch = shutil.which("patch")
        assert patch is not None, "this law is held against patch itself: install it"
        told = f"--- file\n+++ file\n{diff}\n"
        subprocess.run([patch, "-s", str(file)], input=told, text=True, check=True)  # noqa: S603 - a file of ours
        assert file.read_text() == new + "\n"


@given(LINES, LINES, st.integers(NUMBERS_CHARS, 400))
def test_what_is_told_has_room(before: list[str], after: list[str], most_chars: int) -> None:
    """For any texts; whole places stand in it or none."""
    old, new = "\n".join(before), "\n".join(after)
    told = told_changes(old, new, most_chars=most_chars)
    assert len(told) <= most_chars
    whole = told_changes(old, new, most_chars=100_000)
    assert whole.startswith(told.partition("\n[… ")[0].removesuffix(":"))


def test_a_diff_reads_as_one() -> None:
    """With numbers of lines, context, and nothing else; of texts that are long, numbers alone."""
    after = BEFORE.replace("line 10\n", "line ten\nand more\n").replace("\nline 50\n", "\n")
    assert told_changes(BEFORE, after, most_chars=500) == (
        "2 of 100 lines removed, 2 added, from line 10 on:\n"
        "@@ -8,5 +8,6 @@\n line 8\n line 9\n-line 10\n+line ten\n+and more\n line 11\n line 12\n"
        "@@ -48,5 +49,4 @@\n line 48\n line 49\n-line 50\n line 51\n line 52"
    )
    assert told_changes(BEFORE, after, most_chars=180).endswith(" line 12\n[… 1 more places]")
    told = "10,000 of 40,001 lines removed, 0 added, from line 1 on"
    assert told_changes("x\ny\n" * 20_000, "y\nx\nx\n" * 10_000, most_chars=2_000) == told
    many = ["\n".join(f"{k} {n}\nsame" for n in range(MOST_LINES // 2)) for k in "ab"]
    assert told_changes(*many, most_chars=2_000).startswith(
        "1,000 of 2,000 lines removed, 1,000 added"
    )


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


class Broken(FileChangeTracker):
    """Fails when it is asked."""

    @override
    def real(self, path: str) -> Path:
        raise MemoryError


async def test_a_failure_is_not_the_callers(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is one warning; turns go on."""
    with caplog.at_level(logging.WARNING):
        coder = Coder(root, files=Broken(root))
        for waits in (True, False, True):
            coder.reads("a.py")
            assert await coder.turn(waits=waits) == []
    assert [record.message for record in caplog.records] == [
        "a context provider failed; its notices are skipped"
    ]


class Slow(FileChangeTracker):
    """Answers when it is let go."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.answers = Event()

    @override
    def real(self, path: str) -> Path:
        assert self.answers.wait(LONGEST_S)
        return super().real(path)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn does not wait long for the disk."""
    monkeypatch.setattr("autogen_context.project.file_changes.LONGEST_WAIT_S", 0.1)


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
    state = await asyncio.wait_for(asyncio.to_thread(coder.manager.save_state), LONGEST_S)
    branch = await asyncio.wait_for(asyncio.to_thread(coder.manager.branch), LONGEST_S)
    loaded = coder.another()
    await asyncio.wait_for(asyncio.to_thread(loaded.load_state, state), LONGEST_S)
    files.answers.set()
    for manager in (branch, coder.manager):
        coder.manager = manager
        told: list[str] = []
        while not told:  # the look that hung comes to its end in its own time
            coder.goes_on()
            told = await coder.turn()
        assert told == [block(CHANGED, DIFF)]


def test_the_guides_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Their Python prints what stands there."""
    for page, opening in (("files", "Told"), ("project", "The project")):
        guide = Path(__file__).parents[2] / "docs" / "guides" / f"{page}.md"
        text = guide.read_text("utf-8")
        code, shown = (
            "\n".join(part.partition("```")[0] for part in text.split(start)[1:])
            for start in ("```python\n", f"```\n[{opening}")
        )
        exec(compile(code, str(guide), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
        assert capsys.readouterr().out == f"[{opening}{shown}"
