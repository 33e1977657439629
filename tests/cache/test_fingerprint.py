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

SETTLED_NS = NEVER_NS - 1  # so late that every time proves something
Change = Callable[[Path], object]


def reader() -> FingerprintReader:
    """A reader for whom all that happened happened long ago."""
    return FingerprintReader(now_ns=lambda: SETTLED_NS)


def fingerprints_of(*names: Path | str) -> tuple[Fingerprint, ...]:
    """What these are now; what is done from now on has another time."""
    found = reader().read(absolute_names(names)).fingerprints
    tick()
    return found


def still_holds(old: tuple[Fingerprint, ...]) -> bool:
    """Whether it is all as it was."""
    return reader().renewed(old) is not None


def rewritten(text: str) -> Change:
    """Writing into the file that is there."""
    return lambda file: file.write_text(text)


def with_old_times(file: Path) -> None:
    """Other content, as long as before, with the times that the file had."""
    found = file.stat()
    file.write_text("other")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))


def replaced(file: Path) -> None:
    """Another file takes its name, as large and as old."""
    found, other = file.stat(), file.with_name("other")
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


CHANGES: dict[str, Change] = {
    "grown": rewritten("text and more"),
    "same size": rewritten("other"),
    "old times": with_old_times,
    "deleted": Path.unlink,
    "replaced": replaced,
    "pipe in its place": a_pipe_now,
    "folder above replaced": in_another_folder,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file in a folder of its own."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file.txt").write_text("text!")
    return folder / "file.txt"


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_seen(file: Path, change: Change) -> None:
    """Whatever was done to the file, its name, its times or the folders above it."""
    old, by_pattern = fingerprints_of(file), fingerprints_of(f"{file.parent}/*.txt")
    assert still_holds(old)
    assert still_holds(by_pattern)
    change(file)
    assert not still_holds(old)
    assert not still_holds(by_pattern)


@pytest.mark.parametrize("names", [["file.txt"], ["*.txt"], ["**"], ["file.txt", "gone"]], ids=str)
def test_what_is_only_touched_is_the_same(file: Path, names: Sequence[str]) -> None:
    """Of files the content decides, of patterns where contents are read; the times of now are kept then."""
    whole = FingerprintReader(pattern_contents=True, now_ns=lambda: SETTLED_NS)
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
    assert still_holds(old)
    missing.parent.mkdir()
    assert still_holds(old)
    missing.touch()
    assert not still_holds(old)


def retargeted(link: Path, target: str) -> None:
    """The link leads elsewhere."""
    link.unlink()
    link.symlink_to(target)


LINKS: dict[str, Change] = {
    "retargeted": lambda link: retargeted(link, "two"),
    "target written": lambda link: (link.parent / "one").write_text("other"),
    "target deleted": lambda link: (link.parent / "one").unlink(),
    "folder link retargeted": lambda link: retargeted(link.parent.parent / "current", "b"),
}


@pytest.mark.parametrize("change", LINKS.values(), ids=LINKS)
def test_links_are_followed(tmp_path: Path, change: Change) -> None:
    """Through links of files and of folders, to what is there in the end."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "one").write_text(name)
        (tmp_path / name / "two").write_text(name * 2)
        (tmp_path / name / "link").symlink_to("one")
    (tmp_path / "current").symlink_to("a")
    old = fingerprints_of(tmp_path / "current" / "link")
    assert still_holds(old)
    change(tmp_path / "a" / "link")
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
    "*.py": ["a.py", "sub.py"],
    "?.py": ["a.py"],
    "[ab].py": ["a.py"],
    "**/*.py": ["a.py", "sub.py", "sub/.hidden.py", "sub/deep/c.py", "sub/deep/new\nline.py"],
    "sub/**/c.py": ["sub/deep/c.py"],
    "sub/**": ["sub/.hidden.py", "sub/deep", "sub/deep/c.py", "sub/deep/new\nline.py", "sub/up"],
    "*/deep/*.py": ["sub/deep/c.py", "sub/deep/new\nline.py"],
    "s*/up/a.py": ["sub/up/a.py"],
    "**/**/c.py": ["sub/deep/c.py"],
    "odd[1].txt": ["odd1.txt", "odd[1].txt"],
    "none/*": [],
    "a.py/*": [],
}


@pytest.mark.parametrize(("pattern", "expected"), PATTERNS.items(), ids=PATTERNS)
def test_a_pattern_names_files(tmp_path: Path, pattern: str, expected: Sequence[str]) -> None:
    """Hidden ones too, at any depth for two stars, through linked folders only where they are named."""
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    for name in PATTERNS["**/*.py"]:
        (tmp_path / name).touch()
    (tmp_path / "sub" / "up").symlink_to("..")
    (tmp_path / "odd[1].txt").touch()
    (tmp_path / "odd1.txt").touch()
    found, _ = matches(str(tmp_path / pattern))
    assert sorted(os.path.relpath(path, tmp_path) for path in found.values()) == sorted(expected)


def test_times_prove_nothing_within_a_tick(file: Path) -> None:
    """A change within the tick of the last one has the same time: a reading says when that tick is over."""
    changed_ns = file.stat().st_ctime_ns
    for late_ns, settled in [(0, False), (TICK_NS - 1, False), (TICK_NS, True), (-TICK_NS, False)]:
        now = FingerprintReader(now_ns=partial(int, changed_ns + late_ns))
        reading = now.read([str(file)])
        assert (reading.settles_in_s <= 0) == settled
        assert reading.settles_in_s == pytest.approx((TICK_NS - late_ns) / 1e9)
        assert now.read([f"{file.parent}/*"]).settles_in_s >= reading.settles_in_s


def test_a_stamp_of_whole_seconds_takes_longer_to_prove_something() -> None:
    """It may be of a file system that stamps every two seconds."""
    assert settled_ns(7_000_000_000) == 7_000_000_000 + COARSE_TICK_NS
    assert settled_ns(7_000_000_001) == 7_000_000_001 + TICK_NS


def there_and_gone(path: Path) -> None:
    """What was not there is not there again."""
    path.touch()
    path.unlink()


def elsewhere_and_back(link: Path) -> None:
    """A link leads elsewhere in between."""
    retargeted(link, "two")
    retargeted(link, "one")


THERE_AND_BACK: dict[str, tuple[str, Change]] = {
    "a match of a pattern": ("*.py", lambda folder: there_and_gone(folder / "new.py")),
    "a missing file": ("none", lambda folder: there_and_gone(folder / "none")),
    "a link": ("link", lambda folder: elsewhere_and_back(folder / "link")),
}


@pytest.mark.parametrize(("name", "change"), THERE_AND_BACK.values(), ids=THERE_AND_BACK)
def test_there_and_back_leaves_a_mark(tmp_path: Path, name: str, change: Change) -> None:
    """What is as before again is no proof that nothing else was there in between."""
    (tmp_path / "one").touch()
    (tmp_path / "link").symlink_to("one")
    names = [f"{tmp_path}/{name}"]
    before = reader().read(names)
    assert reader().mark(names) == before.mark
    tick()
    change(tmp_path)
    assert reader().mark(names) != before.mark
    assert still_holds(before.fingerprints)


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    """What depends on it, on a socket, a device or a name that leads nowhere is known never to settle."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(tmp_path / "socket"))
        one = reader()
        for name in (
            tmp_path / "pipe",
            tmp_path / "socket",
            Path("/dev/zero"),
            tmp_path / ("x" * 300),
        ):
            reading = one.read([str(name)])
            assert reading.settles_in_s == float("inf")
            assert one.renewed(reading.fingerprints) is None


def test_a_large_file_is_followed_by_its_times(file: Path) -> None:
    """One of a gigabyte is not read; a touch counts as a change then."""
    with file.open("wb") as opened:
        opened.truncate(1024**3)
    one = FingerprintReader(now_ns=lambda: SETTLED_NS)
    old = one.read([str(file)]).fingerprints
    assert old[0].content == ""
    assert one.renewed(old) == old
    tick()
    os.utime(file)
    assert one.renewed(old) is None
    all_of_it = FingerprintReader(limit_bytes=1024**3, now_ns=lambda: SETTLED_NS)
    file.write_text("small")
    assert all_of_it.read([str(file)]).fingerprints[0].content


def test_a_file_whose_size_is_a_lie_is_not_followed() -> None:
    """Those in ``/proc`` change without a trace in their times."""
    assert reader().read(["/proc/self/stat"]).settles_in_s == float("inf")


def test_by_content_a_write_through_a_map_is_seen(file: Path) -> None:
    """The system notes the first one to a page; of those that follow there is no trace in the times."""
    exact = FingerprintReader(compare="content", now_ns=lambda: SETTLED_NS)
    with file.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        mapped[0:1] = b"1"
        before = exact.read([str(file)])
        assert exact.renewed(before.fingerprints) is not None
        mapped[0:1] = b"2"
        assert exact.renewed(before.fingerprints) is None
        assert exact.mark([str(file)]) != before.mark


BAD_NAMES = {
    "one text": "src/a.py",
    "empty": [""],
    "nul": ["a\0b"],
}


@pytest.mark.parametrize("names", BAD_NAMES.values(), ids=BAD_NAMES)
def test_what_is_no_list_of_names_is_refused(names: Sequence[str]) -> None:
    """With the argument and its value."""
    with pytest.raises(ValueError, match="depends_on"):
        absolute_names(names)


TOUCHES = [
    ("/a/b", "/a/b", True),
    ("/a/b", "/a", True),
    ("/a/b", "/", True),
    ("/a/b", "/a/b/c", False),
    ("/a/b", "/a/bc", False),
    ("/a/*.py", "/a/x.py", True),
    ("/a/*.py", "/", True),
    ("/a/*.py", "/b/x.py", False),
]


@pytest.mark.parametrize(("name", "path", "expected"), TOUCHES)
def test_what_a_change_may_touch(name: str, path: str, *, expected: bool) -> None:
    """The path itself, what is below, and what is at or below the root of a pattern."""
    assert is_touched(name, path) == expected
