"""The ``cache`` command, as a user sees it."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from autogen_context.cache.cache import ContextCache
from autogen_context.cli.main import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cache of two values, one of which depends on a file."""
    (tmp_path / "notes.txt").write_text("one")

    async def fill() -> None:
        async with ContextCache(tmp_path / "cache") as cache:
            await cache.get_or_build(
                "outline\nof it", lambda: "x" * 3_000, depends_on=[tmp_path / "notes.txt"]
            )
            await cache.get_or_build("numbers", lambda: [1, 2, 3])

    asyncio.run(fill())
    return tmp_path / "cache"


def shown(capsys: pytest.CaptureFixture[str], folder: Path, action: str, *, code: int = 0) -> str:
    """What the command prints, ending with a code and complaining of nothing."""
    assert main(["cache", action, "--directory", str(folder)]) == code
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_statistics_and_clearing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How many, and how large; nothing after it was emptied."""
    lines = shown(capsys, folder, "stats").splitlines()
    assert lines[0].endswith("cache.db: 2 entries")
    assert [line.split()[0] for line in lines[1:3]] == ["3,019", f"{sizes(folder):,}"]
    assert shown(capsys, folder, "clear").splitlines()[0].endswith("cache.db: 0 entries")
    assert "0 entries" in shown(capsys, folder, "stats")


def test_the_same_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For programs: what there is, what was found, and what is left after it was emptied."""
    for action, entries in (("stats", 2), ("verify", 2), ("clear", 0)):
        assert main(["cache", action, "--directory", str(folder), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (len(found) if action == "verify" else found["entries"]) == entries


def sizes(folder: Path) -> int:
    """The bytes of the files of a cache."""
    return sum(file.stat().st_size for file in folder.iterdir())


def test_sound_entries_are_good(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each, and the count."""
    lines = shown(capsys, folder, "verify").splitlines()
    assert sorted(line.split() for line in lines[3:5]) == [
        ["numbers", "good"],
        ["outline?of", "it", "good"],
    ]
    assert lines[-1] == "2 entries, 0 damaged"


def test_what_has_changed_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no damage: it would be built anew."""
    (folder.parent / "notes.txt").write_text("two")
    out = "".join(shown(capsys, folder, "verify").split())
    assert f"{folder.parent.name}/notes.txt" in out.partition("outdated:")[2]


def test_damage_is_exit_code_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row that holds something else is told, by its name in the database."""
    with closing(sqlite3.connect(folder / "cache.db")) as connection, connection:
        connection.execute("UPDATE Cache SET mode = 4 WHERE length(value) > 1000")
    lines = shown(capsys, folder, "verify", code=1).splitlines()
    assert lines[-1] == "2 entries, 1 damaged"
    assert sum("damaged, or not written by this" in line for line in lines) == 1


def refused(capsys: pytest.CaptureFixture[str], folder: Path, action: str) -> str:
    """What the command says in one line of what it cannot use."""
    assert main(["cache", action, "--directory", str(folder)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize("action", ["stats", "verify", "clear"])
def test_where_there_is_no_cache_it_says_so(
    tmp_path: Path, action: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And makes none."""
    assert "there is no cache in" in refused(capsys, tmp_path / "none", action)
    assert not (tmp_path / "none").exists()
