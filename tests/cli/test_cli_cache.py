"""The ``cache`` command."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from autogen_context.cache.cache import ContextCache

Run = Callable[..., str]


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


def test_statistics_and_clearing(folder: Path, shown: Run) -> None:
    """How many, and how large; nothing after it was emptied; for programs the same as JSON."""
    lines = shown("cache", "stats", "--directory", folder).splitlines()
    assert lines[0].endswith("cache.db: 2 entries")
    size = sum(file.stat().st_size for file in folder.glob("cache.db*"))
    assert [line.split()[0] for line in lines[1:3]] == ["3,019", f"{size:,}"]
    for action, entries in (("stats", 2), ("verify", 2), ("clear", 0)):
        found = json.loads(shown("cache", action, "--directory", folder, "--json"))
        assert (len(found) if action == "verify" else found["entries"]) == entries
    assert "cache.db: 0 entries" in shown("cache", "stats", "--directory", folder)


def test_entries_are_good_or_outdated(folder: Path, shown: Run) -> None:
    """One line for each, and the count; what has changed is named, and is no damage: it would be built anew."""
    lines = shown("cache", "verify", "--directory", folder).splitlines()
    entries = [["numbers", "good"], ["outline?of", "it", "good"]]
    assert sorted(line.split() for line in lines[3:5]) == entries
    assert lines[-1] == "2 entries, 0 damaged"
    (folder.parent / "notes.txt").write_text("two")
    out = "".join(shown("cache", "verify", "--directory", folder).split())
    assert f"{folder.parent.name}/notes.txt" in out.partition("outdated:")[2]


def test_damage_is_exit_code_1(folder: Path, shown: Run) -> None:
    """A row that holds something else is told, by its name in the database."""
    with closing(sqlite3.connect(folder / "cache.db")) as connection, connection:
        connection.execute("UPDATE Cache SET mode = 4 WHERE length(value) > 1000")
    lines = shown("cache", "verify", "--directory", folder, code=1).splitlines()
    assert lines[-1] == "2 entries, 1 damaged"
    assert sum("damaged, or not written by this" in line for line in lines) == 1
