"""A fingerprint holds as long as what it was taken of is what it was, and no longer."""

import mmap
import os
import socket
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from autogen_context.cache.fingerprint import (
    COARSE_TICK_NS,
    NEVER_NS,
    TICK_NS,
    Fingerprint,
    FingerprintReader,
    absolute_names,
    is_touched,
    matches,
    settled_ns,
)
from support.waiting import tick

Change = Callable[[Path], object]
# For it all that happened happened long ago: every time proves something.
READER = FingerprintReader(now_ns=lambda: NEVER_NS - 1)


def fingerprints_of(*names: Path | str) -> tuple[Fingerprint, ...]:
    """What these are now; what is done from now on has another time."""
    found = READER.read(absolute_names(names)).fingerprints
    tick()
    return found


def still_holds(old: tuple[Fingerprint, ...]) -> bool:
    """Whether it is all as it was."""
    return READER.renewed(old) is not None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file in a folder of its own, beside a link to another one, and a folder that a link names."""
    for name, text in {"file.txt": "text!", "one": "a", "two": "bb"}.items():
        (tmp_path / "folder").mkdir(exist_ok=True)
        (tmp_path / "folder" / name).write_text(text)
    (tmp_path / "folder" / "link").symlink_to("one")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "link").write_text("a")
    (tmp_path / "current").symlink_to("folder")
    return tmp_path / "folder" / "file.txt"


def with_old_times(file: Path) -> None:
    """Other content, as long as before, with the times that the file had."""
    found = file.stat()
    file.write_text("other")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


def replaced(file: Path) -> None:
    """Another file takes its name, as large and as old."""
    found, other = file.stat(), file.with_name("another")
    other.write_text("other")
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(file)


def in_another_folder(file: Path) -> None:
    """The folder above gives its name to another one with the same file in it."""
    file.parent.rename(file.parent.with_name("before"))
    file.parent.mkdir()
    file.write_text("other")


def a_pipe_now(file: Path) -> None:
    """A pipe takes its name."""
    file.unlink()
    os.mkfifo(file)


def retargeted(link: Path, target: str) -> None:
    """A link leads elsewhere."""
    link.unlink()
    link.symlink_to(target)


def there_and_gone(path: Path) -> None:
    """What was not there is not there again."""
    path.touch()
    path.unlink()


def elsewhere_and_back(link: Path) -> None:
    """A link leads elsewhere in between."""
    retargeted(link, "two")
    retargeted(link, "one")


CHANGES: dict[str, Change] = {
    "grown": lambda file: file.write_text("text and more"),
    "same size": lambda file: file.write_text("other"),
    "old times": with_old_times,
    "deleted": Path.unlink,
    "replaced": replaced,
    "pipe in its place": a_pipe_now,
    "folder above replaced": in_another_folder,
}
LINKS: dict[str, Change] = {
    "retargeted": lambda file: retargeted(file.with_name("link"), "two"),
    "target written": lambda file: file.with_name("one").write_text("other"),
    "target deleted": lambda file: file.with_name("one").unlink(),
    "folder link retargeted": lambda file: retargeted(file.parent.parent / "current", "other"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_seen(file: Path, change: Change) -> None:
    """Whatever was done to the file, its name, its times or the folders above it."""
    old, by_pattern = fingerprints_of(file), fingerprints_of(f"{file.parent}/*.txt")
    assert still_holds(old)
    assert still_holds(by_pattern)
    change(file)
    assert not still_holds(old)
    assert not still_holds(by_pattern)


@pytest.mark.parametrize("change", LINKS.values(), ids=LINKS)
def test_links_are_followed(file: Path, change: Change) -> None:
    """Through links of files and of folders, to what is there in the end."""
    old = fingerprints_of(file.parent.parent / "current" / "link")
    assert still_holds(old)
    (file.parent.parent / "other" / "link").write_text("of another")
    change(file)
    assert not still_holds(old)


@pytest.mark.parametrize("names", [["file.txt"], ["*.txt"], ["**"], ["file.txt", "gone"]], ids=str)
def test_what_is_only_touched_is_the_same(file: Path, names: Sequence[str]) -> None:
    """Of files the content decides, of patterns where contents are read; the times of now are kept then."""
    whole = FingerprintReader(pattern_contents=True, now_ns=lambda: NEVER_NS - 1)
    old = whole.read([str(file.parent / name) for name in names]).fingerprints
    tick()
    os.utime(file)
    renewed = whole.renewed(old)
    assert renewed is not None
    assert renewed != old
    assert whole.hold_at_a_glance(renewed) == ("*" not in names[0])


def test_a_file_that_is_created_is_seen(tmp_path: Path) -> None:
    """What was missing has a fingerprint too, under folders that were missing as well."""
    missing = tmp_path / "new" / "file.txt"
    old = fingerprints_of(missing, tmp_path / "other")
    missing.parent.mkdir()
    assert still_holds(old)
    missing.touch()
    assert not still_holds(old)


def test_of_a_folder_the_names_count(tmp_path: Path) -> None:
    """Names that come and go are seen, what is written into files is not."""
    (tmp_path / "kept").touch()
    old = fingerprints_of(tmp_path)
    (tmp_path / "kept").write_text("text")
    assert still_holds(old)
    (tmp_path / "new").touch()
    assert not still_holds(old)
    (tmp_path / "new").unlink()
    assert still_holds(old)


PATTERNS = {
    "*.py": "a.py sub.py",
    "?.py": "a.py",
    "[ab].py": "a.py",
    "**/*.py": "a.py sub.py sub/.hidden.py sub/deep/c.py sub/deep/new\nline.py",
    "sub/**/c.py": "sub/deep/c.py",
    "sub/**": "sub/.hidden.py sub/deep sub/deep/c.py sub/deep/new\nline.py sub/up",
    "*/deep/*.py": "sub/deep/c.py sub/deep/new\nline.py",
    "s*/up/a.py": "sub/up/a.py",
    "**/**/c.py": "sub/deep/c.py",
    "odd[1].txt": "odd1.txt odd[1].txt",
    "none/*": "",
    "a.py/*": "",
}


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS.items(), ids=PATTERNS)
def test_a_pattern_names_files(tmp_path: Path, pattern: str, expected: str) -> None:
    """Hidden ones too, at any depth for two stars, through linked folders only where they are named."""
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    for name in (*PATTERNS["**/*.py"].split(" "), "odd[1].txt", "odd1.txt"):
        (tmp_path / name).touch()
    (tmp_path / "sub" / "up").symlink_to("..")
    found, _ = matches(str(tmp_path / pattern))
    names = [os.path.relpath(path, tmp_path) for path in found.values()]
    assert sorted(names) == sorted(filter(None, expected.split(" ")))


def test_times_prove_nothing_within_a_tick(file: Path) -> None:
    """A change within the tick of the last one has the same time: a reading says when that tick is over.

    A stamp of whole seconds may be of a file system that stamps every two seconds.
    """
    changed_ns = file.stat().st_ctime_ns
    for late_ns, settled in [(0, False), (TICK_NS - 1, False), (TICK_NS, True), (-TICK_NS, False)]:
        now = FingerprintReader(now_ns=partial(int, changed_ns + late_ns))
        reading = now.read([str(file)])
        assert (reading.settles_in_s <= 0) == settled
        assert reading.settles_in_s == pytest.approx((TICK_NS - late_ns) / 1e9)
        assert now.read([f"{file.parent}/*"]).settles_in_s >= reading.settles_in_s
    assert settled_ns(7_000_000_000) == 7_000_000_000 + COARSE_TICK_NS
    assert settled_ns(7_000_000_001) == 7_000_000_001 + TICK_NS


THERE_AND_BACK: dict[str, tuple[str, Change]] = {
    "a match of a pattern": ("*.py", lambda folder: there_and_gone(folder / "new.py")),
    "a missing file": ("none", lambda folder: there_and_gone(folder / "none")),
    "a link": ("link", lambda folder: elsewhere_and_back(folder / "link")),
}


@pytest.mark.parametrize(("name", "change"), THERE_AND_BACK.values(), ids=THERE_AND_BACK)
def test_there_and_back_leaves_a_mark(file: Path, name: str, change: Change) -> None:
    """What is as before again is no proof that nothing else was there in between."""
    names = [f"{file.parent}/{name}"]
    before = READER.read(names)
    assert READER.mark(names) == before.mark
    tick()
    change(file.parent)
    assert READER.mark(names) != before.mark
    assert still_holds(before.fingerprints)


def test_what_says_nothing_of_its_changes_never_settles(tmp_path: Path) -> None:
    """A pipe, socket or device is never opened; files in ``/proc`` change without a trace in their times."""
    os.mkfifo(tmp_path / "pipe")
    long = tmp_path / ("x" * 300)
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(tmp_path / "socket"))
        for name in (tmp_path / "pipe", tmp_path / "socket", "/dev/zero", long, "/proc/self/stat"):
            reading = READER.read([str(name)])
            assert reading.settles_in_s == float("inf")
            assert name == "/proc/self/stat" or READER.renewed(reading.fingerprints) is None


def test_a_large_file_is_followed_by_its_times(file: Path) -> None:
    """One of a gigabyte is not read; a touch counts as a change then."""
    os.truncate(file, 1024**3)
    old = fingerprints_of(file)
    assert old[0].content == ""
    assert READER.renewed(old) == old
    os.utime(file)
    assert READER.renewed(old) is None
    os.truncate(file, 10)
    assert FingerprintReader(limit_bytes=10).read([str(file)]).fingerprints[0].content
    assert not FingerprintReader(limit_bytes=9).read([str(file)]).fingerprints[0].content


def test_by_content_a_write_through_a_map_is_seen(file: Path) -> None:
    """The system notes the first one to a page; of those that follow there is no trace in the times."""
    exact = FingerprintReader(compare="content", now_ns=lambda: NEVER_NS - 1)
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        mapped[0:1] = b"1"
        before = exact.read([str(file)])
        assert exact.renewed(before.fingerprints) is not None
        mapped[0:1] = b"2"
        assert exact.renewed(before.fingerprints) is None
        assert exact.mark([str(file)]) != before.mark


@pytest.mark.parametrize("names", ["src/a.py", [""], ["a\0b"]], ids=["one text", "empty", "nul"])
def test_what_is_no_list_of_names_is_refused(names: Sequence[str]) -> None:
    """With the argument and its value."""
    with pytest.raises(ValueError, match="depends_on"):
        absolute_names(names)


@pytest.mark.parametrize(
    ("name", "touching", "not_touching"),
    [("/a/b", "/a/b /a /", "/a/b/c /a/bc"), ("/a/*.py", "/a/x.py /", "/b/x.py")],
)
def test_what_a_change_may_touch(name: str, touching: str, not_touching: str) -> None:
    """The path itself, what is below, and what is at or below the root of a pattern."""
    assert all(is_touched(name, path) for path in touching.split())
    assert not any(is_touched(name, path) for path in not_touching.split())
