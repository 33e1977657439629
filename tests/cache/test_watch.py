"""Know which files changed, without asking for each: what is told, and to whom."""

import gc
import os
import shutil
import threading
from collections.abc import Callable, Collection, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from autogen_context.cache.watch import FileWatch
from support.hearing import Hearing, wait_until
from support.waiting import tick


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder of a small project, beside a folder that is none of it."""
    with TemporaryDirectory() as name:
        project = Path(name).resolve() / "project"
        for path in ("src/deep/a.py", "src/b.py", "kept.log", "node_modules/x.js", ".git/index"):
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text("before")
        (project / ".gitignore").write_text("*.log\n!kept.log\n")
        (project / "src" / ".gitignore").write_text("build/\n")
        (project.parent / "outside").mkdir()
        (project.parent / "outside" / "file").write_text("before")
        yield project


@pytest.fixture
def hearing() -> Hearing:
    """Listens."""
    return Hearing()


@pytest.fixture
def watch(hearing: Hearing) -> Iterator[FileWatch]:
    """Of what the system tells."""
    with FileWatch(debounce_s=0.02, check_s=0.05) as watch:
        watch.listen(hearing.hear)
        yield watch


Change = Callable[[Path], object]


def replace_atomically(root: Path) -> None:
    """As editors do: a file beside it, and a rename over it."""
    (root / "src" / "b.py.tmp").write_text("after")
    (root / "src" / "b.py.tmp").replace(root / "src" / "b.py")


def rewrite_with_the_old_time(root: Path) -> None:
    """The same size, and the same time of change."""
    path = root / "src" / "b.py"
    before = path.stat()
    path.write_text("BEFORE")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def move_a_folder_in(root: Path) -> None:
    """With a file in it, from outside."""
    (root.parent / "outside").rename(root / "src" / "inside")


CHANGES: dict[str, tuple[Change, list[str]]] = {
    "write": (lambda r: (r / "src/b.py").write_text("after"), ["src/b.py"]),
    "taken back in": (lambda r: (r / "kept.log").write_text("x"), ["kept.log"]),
    "same size, old time": (rewrite_with_the_old_time, ["src/b.py"]),
    "rename over it": (replace_atomically, ["src/b.py"]),
    "a folder from outside": (move_a_folder_in, ["src/inside/file"]),
    "rename a folder": (lambda r: (r / "src").rename(r / "s"), ["src/deep/a.py", "s/deep/a.py"]),
    "delete a folder": (lambda r: shutil.rmtree(r / "src"), ["src/deep/a.py"]),
    "a name that is no text": (lambda r: (r / "x\udcff").touch(), ["x\udcff"]),
    "a pipe": (lambda r: os.mkfifo(r / "pipe"), ["pipe"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_told(root: Path, watch: FileWatch, hearing: Hearing, name: str) -> None:
    """Each path whose content is another one now, or a folder above it, but not the root."""
    change, paths = CHANGES[name]
    watch.follow(root)
    tick()
    change(root)
    hearing.wait_for(*(root / path for path in paths))
    assert all(path.is_relative_to(root) for path in hearing.paths)
    assert root not in hearing.paths


@pytest.mark.parametrize("paths", [["src/new.py", "s/deep/new", "s/deep/a.py", "x/y/z/new"]])
def test_what_came_is_followed_too(
    root: Path, watch: FileWatch, hearing: Hearing, paths: list[str]
) -> None:
    """Folders that were made, moved, and made within those."""
    watch.follow(root)
    (root / "x" / "y" / "z").mkdir(parents=True)
    (root / "src").rename(root / "s")
    (root / "src").mkdir()
    (root / "last").touch()
    hearing.wait_for(root / "s", root / "x", root / "src", root / "last")
    hearing.clear()
    for path in paths:
        (root / path).write_text("after")
    hearing.wait_for(*(root / path for path in paths))
    assert root not in hearing.paths


def test_reading_is_no_change(root: Path, watch: FileWatch, hearing: Hearing) -> None:
    """Nor is opening a file to write, listing a folder, or the same change told twice."""
    watch.follow(root)
    (root / "src" / "b.py").read_text()
    (root / "src" / "b.py").open("a").close()
    list(root.rglob("*"))
    (root / "kept.log").write_text("after")
    hearing.wait_for(root / "kept.log")
    assert hearing.paths == {root / "kept.log"}


def test_what_is_ignored_is_not_told(root: Path, watch: FileWatch, hearing: Hearing) -> None:
    """By rules of the root, by those of a folder, and where no rule says so."""
    watch.follow(root)
    for path in ("x.log", "src/y.log", "node_modules/x.js", ".git/index"):
        (root / path).write_text("after")
    (root / "src" / "build" / "deep").mkdir(parents=True)
    (root / "src" / "build" / "deep" / "file").touch()
    (root / "src" / "b.py").write_text("after")
    hearing.wait_for(root / "src" / "b.py")
    assert hearing.paths == {root / "src" / "b.py"}


def test_changed_rules_are_read_again(root: Path, watch: FileWatch, hearing: Hearing) -> None:
    """What they take back in is told, what they ignore from now on is not."""
    (root / "src" / "build").mkdir()
    watch.follow(root)
    (root.parent / "rules").write_text("deep/\n")
    (root.parent / "rules").replace(root / "src" / ".gitignore")
    (root / "z-last").touch()
    hearing.wait_for(root / "src" / "build", root / "z-last")
    hearing.clear()
    (root / "src" / "build" / "file").touch()
    (root / "src" / "deep" / "a.py").write_text("after")
    hearing.wait_for(root / "src" / "build" / "file")
    assert not hearing.knows(root / "src" / "deep" / "a.py")


def test_a_root_that_goes_and_comes_back_is_a_change_of_all(
    root: Path, watch: FileWatch, hearing: Hearing
) -> None:
    """Each time; and it is followed again."""
    watch.follow(root)
    shutil.rmtree(root)
    hearing.wait_for(root)
    assert not watch.covers(root / "src")
    hearing.clear()
    root.mkdir()
    hearing.wait_for(root)
    names = map(str, count())

    def is_followed() -> bool:
        new = root / next(names)
        hearing.clear()
        new.touch()
        hearing.wait_for(new)
        return root not in hearing.paths

    wait_until(is_followed, "a file by its name")  # that the root went may be told twice


def test_a_root_behind_a_link_is_told_by_its_own_name(
    root: Path, watch: FileWatch, hearing: Hearing
) -> None:
    """And where the link leads elsewhere, all of it changed."""
    link = root.parent / "link"
    link.symlink_to(root)
    watch.follow(link)
    (root / "src" / "b.py").write_text("after")
    hearing.wait_for(link / "src" / "b.py")
    assert hearing.paths == {link / "src" / "b.py"}
    link.unlink()
    link.symlink_to(root.parent / "outside")
    hearing.wait_for(link)
    hearing.clear()
    (root.parent / "outside" / "file").write_text("after")
    hearing.wait_for(link / "file")


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
        assert len(calls) == times
    hearing.wait_for(root / "new1", root / "new2")
    assert [record.getMessage() for record in caplog.records] == [
        "who listens to changed files failed"
    ]


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


def threads() -> set[str]:
    """The threads of all watches."""
    return {each.name for each in threading.enumerate() if each.name.startswith("file-watch")}


def no_threads() -> bool:
    """Whether there are none; who was forgotten in a circle lets go of them here."""
    gc.collect()
    return not threads()


def test_nothing_runs_before_something_is_followed_and_after_the_end(root: Path) -> None:
    """Nwatch when it is made, nor when somebody listens, nor when it was closed; closing twice is closing once."""
    wait_until(no_threads, "no thread of another test")
    watch = FileWatch()
    watch.listen(Hearing().hear)
    assert not threads()
    assert not watch.is_alive
    assert not watch.covers(root / "src")
    watch.follow(root)
    assert watch.is_alive
    watch.close()
    watch.close()
    assert not watch.is_alive
    assert not watch.covers(root / "src")
    wait_until(lambda: not threads(), "no thread of this one")
    with pytest.raises(RuntimeError, match="closed"):
        watch.follow(root)


def test_it_ends_with_its_owner(root: Path) -> None:
    """Who follows and listens, and is forgotten without a word, leaves no thread behind."""

    class Owner:
        def __init__(self) -> None:
            self.watch = FileWatch()
            self.watch.listen(self.hear)
            self.watch.follow(root)

        def hear(self, paths: Collection[Path]) -> None:
            """Nothing to do."""

    wait_until(no_threads, "no thread of another test")
    owner = Owner()
    assert threads()
    del owner
    gc.collect()
    wait_until(lambda: not threads(), "no thread of this one")


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    """With its name and value."""
    with pytest.raises(ValueError, match=f"debounce_s={seconds}: give a number of seconds above 0"):
        FileWatch(debounce_s=seconds)
    with pytest.raises(ValueError, match=f"check_s={seconds}: give a number of seconds above 0"):
        FileWatch(check_s=seconds)


def test_what_is_no_folder_is_refused(root: Path, watch: FileWatch) -> None:
    """With its name."""
    with pytest.raises(ValueError, match=r"root='.*no/file': give a folder; this is none"):
        watch.follow(root / "no" / "file")


def test_only_folders_of_which_all_is_told_at_once_are_covered(
    root: Path, watch: FileWatch, hearing: Hearing
) -> None:
    """No file, nothing ignored, nothing behind a link, nothing where a folder was."""
    (root / "link").symlink_to(root / "src")
    yes = {"", "src", "src/deep"}
    no = {
        *("src/b.py", "node_modules", ".git", "src/build", "link", "link/deep", "no/where"),
        *("..", "../outside", "src/../src", "../project-two"),
    }
    watch.follow(root)
    assert {name for name in yes | no if watch.covers(root / name)} == yes
    (root / "src").rename(root.parent / "moved")
    (root / "src").symlink_to(root.parent / "moved")
    hearing.wait_for(root / "src")
    assert not watch.covers(root / "src")
    assert not watch.covers(root / "src" / "deep")


def test_what_waits_to_be_told_is_not_covered(root: Path, hearing: Hearing) -> None:
    """Nor is what lies below it; all else is."""
    (root / "src" / "deep" / "down").mkdir()
    with FileWatch(debounce_s=3_600) as watch:
        watch.listen(hearing.hear)
        watch.follow(root)
        (root / "src" / "deep").rename(root / "src" / "new")
        wait_until(lambda: not watch.covers(root / "src" / "deep"), "heard")
        assert not watch.covers(root / "src" / "new" / "down")
        assert watch.covers(root / "src")
        assert not hearing.bursts
