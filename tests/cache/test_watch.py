"""What a file watch tells of changes, and to whom (K3)."""

import errno
import gc
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from watchdog.observers import Observer

from autogen_context.cache import watch as watching
from autogen_context.cache.watch import MOST_CHANGES, FileWatch
from support.hearing import Hearing, wait_until

MAKER = """
import os, sys
for number in range(int(sys.argv[2])):
    place = f"{sys.argv[1]}/{number % 5}/{number % 11}"
    os.makedirs(place, exist_ok=True)
    with open(f"{place}/{number}", "w") as file:
        file.write(str(number))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of a small project, beside a folder that is none of it."""
    for path in ("project/src/deep/a.py", "project/src/b.py", "outside/file"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("before")
    return tmp_path / "project"


@pytest.fixture
def hearing() -> Hearing:
    """Listens."""
    return Hearing()


@pytest.fixture
def watch(hearing: Hearing) -> Iterator[FileWatch]:
    """Of what the system tells."""
    with FileWatch(debounce_s=0.02) as watch:
        watch.listen(hearing.hear)
        yield watch


def replace_atomically(root: Path) -> None:
    """As editors do: a file beside it, and a rename over it."""
    (root / "src" / "b.py.tmp").write_text("after")
    (root / "src" / "b.py.tmp").replace(root / "src" / "b.py")


def move_a_folder_in(root: Path) -> None:
    """With a file in it, from outside."""
    (root.parent / "outside").rename(root / "src" / "inside")


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "write": (lambda r: (r / "src/b.py").write_text("after"), ["src/b.py"]),
    "create": (lambda r: (r / "src/new.py").touch(), ["src/new.py"]),
    "delete": (lambda r: (r / "src/b.py").unlink(), ["src/b.py"]),
    "rename over it": (replace_atomically, ["src/b.py"]),
    "a folder from outside": (move_a_folder_in, ["src/inside/file"]),
    "rename a folder": (lambda r: (r / "src").rename(r / "s"), ["src/deep/a.py", "s/deep/a.py"]),
    "delete a folder": (lambda r: shutil.rmtree(r / "src"), ["src/deep/a.py"]),
    "folders in folders": (lambda r: (r / "x/y/z").mkdir(parents=True), ["x/y/z"]),
    "a name that is no text": (lambda r: (r / "x\udcff").touch(), ["x\udcff"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_told(root: Path, watch: FileWatch, hearing: Hearing, name: str) -> None:
    """Each path whose content is another one now, or a folder above it, but not the root; by the name that is followed."""
    link = root.parent / "link"
    link.symlink_to(root)
    change, paths = CHANGES[name]
    watch.follow(link)
    change(root)
    hearing.wait_for(*(link / path for path in paths))
    assert all(path.is_relative_to(link) for path in hearing.paths)
    assert link not in hearing.paths


def test_what_came_is_followed_and_reading_is_no_change(
    root: Path, watch: FileWatch, hearing: Hearing
) -> None:
    """Nor is opening a file to write, or listing a folder; a root that went and came is followed when named again."""
    watch.follow(root)
    (root / "src").rename(root / "s")
    hearing.wait_for(root / "s")
    hearing.clear()
    (root / "s" / "b.py").read_text()
    (root / "s" / "b.py").open("a").close()
    list(root.rglob("*"))
    (root / "s" / "deep" / "new").touch()
    hearing.wait_for(root / "s" / "deep" / "new")
    assert hearing.paths == {root / "s" / "deep" / "new"}
    shutil.rmtree(root)
    hearing.wait_for(root)
    root.mkdir()
    watch.follow(root)
    (root / "new").touch()
    hearing.wait_for(root / "new")


def test_what_is_written_on_and_on_is_told_all_the_same(root: Path) -> None:
    """A burst that does not end is told after a second, however long the quiet that is asked for."""
    hearing = Hearing()
    with FileWatch(debounce_s=0.5) as watch:
        watch.listen(hearing.hear)
        watch.follow(root)
        began = time.monotonic()
        while not hearing.bursts:
            (root / "src" / "b.py").write_text("again")
            time.sleep(0.01)
            assert time.monotonic() < began + 60
    assert hearing.paths == {root / "src" / "b.py"}


def test_a_flood_is_a_change_of_all_there_is(
    root: Path, hearing: Hearing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is left alone for a while; when it is watched again, all may have changed meanwhile."""
    monkeypatch.setattr(watching, "_REST_S", 1.0)
    told_at: list[float] = []
    monkeypatch.setattr(watching, "_LONGEST_S", 60.0)  # a busy machine makes no flood
    with FileWatch(debounce_s=1.0) as watch:
        watch.listen(hearing.hear)
        watch.listen(lambda _: told_at.append(time.monotonic()))
        watch.follow(root)
        command = [sys.executable, "-c", MAKER, str(root), str(MOST_CHANGES)]
        subprocess.run(command, check=True)  # noqa: S603 - our own code
        wait_until(lambda: len(hearing.bursts) >= 2, "told twice")
        wait_until(lambda: len(told_at) >= 2, "told both")
        assert hearing.bursts[:2] == [{root}, {root}]
        assert told_at[1] - told_at[0] >= 1.0
        (root / "src" / "b.py").write_text("after")
        hearing.clear()
        (root / "src" / "b.py").write_text("again")
        hearing.wait_for(root / "src" / "b.py")
    assert max(map(len, hearing.bursts)) <= MOST_CHANGES


def test_where_no_watch_is_left_the_folder_is_polled(
    root: Path,
    hearing: Hearing,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With a warning that says why."""

    def none_left(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(Observer, "start", none_left)
    monkeypatch.setattr(watching, "_POLL_S", 0.05)
    with FileWatch() as watch:
        watch.listen(hearing.hear)
        watch.follow(root)
        (root / "new").touch()
        hearing.wait_for(root / "new")
    assert "inotify watch limit reached" in caplog.text


def test_one_who_fails_hinders_nobody(
    root: Path, watch: FileWatch, hearing: Hearing, caplog: pytest.LogCaptureFixture
) -> None:
    """The others hear, it hears the next time as well, and there is one warning."""
    calls: list[Collection[Path]] = []

    def fails(paths: Collection[Path]) -> None:
        calls.append(paths)
        raise RuntimeError("no room")

    watch.listen(fails)
    second = Hearing()
    watch.listen(second.hear)
    watch.follow(root)
    for times in (1, 2):
        (root / f"new{times}").touch()
        second.wait_for(root / f"new{times}")
        assert len(calls) >= times
    hearing.wait_for(root / "new1", root / "new2")
    said = [record.getMessage() for record in caplog.records]
    assert said == ["a listener for file changes failed"]


def test_who_leaves_hears_no_more(root: Path, watch: FileWatch, hearing: Hearing) -> None:
    """Leaving twice is leaving once; and one whose object is gone has left."""
    first, second = Hearing(), Hearing()
    leave = watch.listen(first.hear)
    watch.listen(second.hear)
    watch.follow(root)
    leave()
    leave()
    heard = second.bursts
    del second
    gc.collect()
    (root / "new").touch()
    hearing.wait_for(root / "new")
    assert not first.bursts
    assert not heard


def threads() -> set[int | None]:
    """All there are; who was forgotten in a circle lets go of them here."""
    gc.collect()
    return {each.ident for each in threading.enumerate()}


def test_nothing_runs_before_something_is_followed_and_after_the_end(root: Path) -> None:
    """Nor when somebody listens; closing twice is closing once."""
    before = threads()
    watch = FileWatch()
    watch.listen(Hearing().hear)
    assert threads() <= before
    watch.follow(root)
    assert threads() > before
    watch.close()
    watch.close()
    wait_until(lambda: threads() <= before, "no thread of this one")


def test_it_ends_with_its_owner(root: Path) -> None:
    """Who follows and listens, and is forgotten without a word, leaves no thread behind."""

    class Owner:
        def __init__(self) -> None:
            self.watch = FileWatch()
            self.watch.listen(self.hear)
            self.watch.follow(root)

        def hear(self, paths: Collection[Path]) -> None:
            """Nothing to do."""

    before = threads()
    owner = Owner()
    assert threads() > before
    del owner
    wait_until(lambda: threads() <= before, "no thread of this one")


def test_what_means_nothing_is_refused(root: Path, watch: FileWatch) -> None:
    """With its name and value."""
    for seconds in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match=f"debounce_s={seconds}: give a number of seconds"):
            FileWatch(debounce_s=seconds)
    with pytest.raises(ValueError, match=r"root='.*no/file': give a folder; this is not one"):
        watch.follow(os.path.join(root, "no", "file"))  # noqa: PTH118 - as a text
