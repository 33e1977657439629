"""What a file watch tells of changes, and to whom (K3)."""

import errno
import gc
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from watchdog.observers import Observer
from watchdog.utils import BaseThread

from autogen_context.cache import watch as watching
from autogen_context.cache.watch import MOST_CHANGES, FileWatch
from support.waiting import wait_until


class Hearing:
    """Listens to a watch, and waits for what it tells."""

    def __init__(self, watch: FileWatch) -> None:
        self.bursts: list[frozenset[Path]] = []
        self.watch = watch
        self.leave = watch.listen(self.hear)

    def hear(self, paths: Collection[Path]) -> None:
        """What the watch calls."""
        self.bursts.append(frozenset(paths))

    @property
    def paths(self) -> frozenset[Path]:
        """All that was told so far."""
        return frozenset(path for burst in self.bursts for path in burst)

    def wait_for(self, *paths: Path) -> None:
        """Until each of them was told of, or a folder above it."""
        wait_until(lambda: all(self.paths & {path, *path.parents} for path in paths))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of a small project, beside a folder that is none of it."""
    for path in ("project/src/deep/a.py", "project/src/b.py", "outside/file"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("before")
    return tmp_path / "project"


@pytest.fixture
def hearing() -> Iterator[Hearing]:
    """Of what the system tells."""
    with FileWatch(debounce_s=0.02) as watch:
        yield Hearing(watch)


def replace_atomically(root: Path) -> None:
    """As editors do: a file beside it, and a rename over it."""
    (root / "src" / "b.py.tmp").write_text("after")
    (root / "src" / "b.py.tmp").replace(root / "src" / "b.py")


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "write": (lambda r: (r / "src/b.py").write_text("after"), ["src/b.py"]),
    "create": (lambda r: (r / "src/new.py").touch(), ["src/new.py"]),
    "delete": (lambda r: (r / "src/b.py").unlink(), ["src/b.py"]),
    "rename over it": (replace_atomically, ["src/b.py"]),
    "a folder from outside": (
        lambda r: (r.parent / "outside").rename(r / "src/inside"),
        ["src/inside/file"],
    ),
    "rename a folder": (lambda r: (r / "src").rename(r / "s"), ["src/deep/a.py", "s/deep/a.py"]),
    "delete a folder": (lambda r: shutil.rmtree(r / "src"), ["src/deep/a.py"]),
    "folders in folders": (lambda r: (r / "x/y/z").mkdir(parents=True), ["x/y/z"]),
    "a name that is no text": (lambda r: (r / "x\udcff").touch(), ["x\udcff"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_told(root: Path, hearing: Hearing, name: str) -> None:
    """Each path whose content is another one now, or a folder above it, but not the root; by the name that is followed."""
    link = root.parent / "link"
    link.symlink_to(root)
    change, paths = CHANGES[name]
    hearing.watch.follow(link)
    change(root)
    hearing.wait_for(*(link / path for path in paths))
    assert all(path.is_relative_to(link) for path in hearing.paths)
    assert link not in hearing.paths


def test_what_came_is_followed_and_reading_is_no_change(root: Path, hearing: Hearing) -> None:
    """Nor is opening a file to write, or listing a folder; a root that went and came is followed when named again."""
    hearing.watch.follow(root)
    (root / "src").rename(root / "s")
    hearing.wait_for(root / "s")
    hearing.bursts.clear()
    (root / "s" / "b.py").read_text()
    (root / "s" / "b.py").open("a").close()
    list(root.rglob("*"))
    (root / "s" / "deep" / "new").touch()
    hearing.wait_for(root / "s" / "deep" / "new")
    assert hearing.paths == {root / "s" / "deep" / "new"}
    shutil.rmtree(root)
    hearing.wait_for(root)
    root.mkdir()
    hearing.watch.follow(root)
    (root / "new").touch()
    hearing.wait_for(root / "new")


def test_what_is_written_on_and_on_is_told_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A burst that does not end is told after its longest time, however long the quiet that is asked for."""
    monkeypatch.setattr(watching, "_LONGEST_S", 0.2)
    with FileWatch(debounce_s=0.1) as watch:
        hearing = Hearing(watch)
        watch.follow(root)

        def is_told() -> bool:
            (root / "src" / "b.py").write_text("again")
            return bool(hearing.bursts)

        wait_until(is_told)
    assert hearing.paths == {root / "src" / "b.py"}


def test_a_flood_is_a_change_of_all_there_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is left alone for a while; when it is watched again, all may have changed meanwhile."""
    monkeypatch.setattr(watching, "_REST_S", 0.3)
    monkeypatch.setattr(watching, "_LONGEST_S", 60.0)  # a busy machine makes no flood
    told_at: list[float] = []
    with FileWatch(debounce_s=0.5) as watch:
        hearing = Hearing(watch)
        watch.listen(lambda _: told_at.append(time.monotonic()))
        watch.follow(root)
        for number in range(MOST_CHANGES + 1):
            (root / f"{number}").touch()
        wait_until(lambda: len(hearing.bursts) >= 2 and len(told_at) >= 2)
        assert hearing.bursts[:2] == [{root}, {root}]
        assert told_at[1] - told_at[0] >= 0.3
        hearing.bursts.clear()
        (root / "src" / "b.py").write_text("again")
        hearing.wait_for(root / "src" / "b.py")
    assert max(map(len, hearing.bursts)) <= MOST_CHANGES


def test_where_no_watch_is_left_the_folder_is_polled(
    root: Path, hearing: Hearing, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With a warning that says why."""

    def none_left(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(Observer, "start", none_left)
    monkeypatch.setattr(watching, "_POLL_S", 0.05)
    hearing.watch.follow(root)
    (root / "new").touch()
    hearing.wait_for(root / "new")
    assert "inotify watch limit reached" in caplog.text


def test_one_who_fails_hinders_nobody(
    root: Path, hearing: Hearing, caplog: pytest.LogCaptureFixture
) -> None:
    """The others hear, it hears the next time as well, and there is one warning."""
    calls: list[Collection[Path]] = []

    def fails(paths: Collection[Path]) -> None:
        calls.append(paths)
        raise RuntimeError("no room")

    hearing.watch.listen(fails)
    last = Hearing(hearing.watch)
    hearing.watch.follow(root)
    for times in (1, 2):
        (root / f"new{times}").touch()
        last.wait_for(root / f"new{times}")
        assert len(calls) >= times
    hearing.wait_for(root / "new1", root / "new2")
    assert [each.getMessage() for each in caplog.records] == ["a listener for file changes failed"]


def test_who_leaves_hears_no_more(root: Path, hearing: Hearing) -> None:
    """Leaving twice is leaving once; and one whose object is gone has left."""
    first, second = Hearing(hearing.watch), Hearing(hearing.watch)
    hearing.watch.follow(root)
    first.leave()
    first.leave()
    heard = second.bursts
    del second
    gc.collect()
    (root / "new").touch()
    hearing.wait_for(root / "new")
    assert not first.bursts
    assert not heard


def threads() -> set[int | None]:
    """Those of watches, by the number that is not used again at once; who was forgotten in a circle lets go of them here."""
    gc.collect()
    all_there_are = threading.enumerate()
    return {
        t.native_id for t in all_there_are if t.name == "file-watch" or isinstance(t, BaseThread)
    }


def test_nothing_runs_before_something_is_followed_and_after_the_end(root: Path) -> None:
    """F17: nor when somebody listens; who follows and listens, and is forgotten without a word, leaves no thread behind."""
    before = threads()
    closed, forgotten = Hearing(FileWatch()), Hearing(FileWatch())
    assert threads() <= before
    for each in (closed, forgotten):
        there = threads()
        each.watch.follow(root)
        assert threads() - there
        each.watch.follow(root)
    closed.watch.close()
    closed.watch.close()
    del each, forgotten
    wait_until(lambda: threads() <= before)
