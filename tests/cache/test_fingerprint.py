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
    ChangedPaths,
    Fingerprint,
    FingerprintReader,
    absolute_names,
    matches,
    stable_ns,
)
from support.waiting import tick

Change = Callable[[Path], object]  # of the folder ``project``
# For it all that happened happened long ago: every time proves something.
READER = FingerprintReader(now_ns=lambda: NEVER_NS - 1)


def fingerprints_of(*names: Path | str, reader: FingerprintReader = READER) -> list[Fingerprint]:
    """What these are now; what is done from now on has another time."""
    found = reader.read(absolute_names(names)).fingerprints
    tick()
    return list(found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder of three files and a link to one of them, beside another folder, and a link to the first one."""
    for name, text in {
        "project/file": "text!",
        "project/one": "a",
        "project/two": "bb",
        "other/link": "a",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "project" / "link").symlink_to("one")
    (tmp_path / "current").symlink_to("project")
    return tmp_path / "project"


def written_over(project: Path, *, by_another_file: bool) -> None:
    """Other content, as long as before, with the times that the file had; from within, or by a file that takes its name."""
    file = project / "file"
    found, other = file.stat(), project / "another" if by_another_file else file
    other.write_text("other")
    os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
    other.replace(file)


def in_another_folder(project: Path) -> None:
    """The folder gives its name to another one with a file of the same name in it."""
    project.rename(project.with_name("before"))
    project.mkdir()
    (project / "file").write_text("other")


def a_pipe_now(project: Path) -> None:
    """A pipe takes the name of the file."""
    (project / "file").unlink()
    os.mkfifo(project / "file")


def retargeted(link: Path, target: str) -> None:
    """A link leads elsewhere."""
    link.unlink()
    link.symlink_to(target)


def there_and_gone(path: Path) -> None:
    """What was not there is not there again."""
    path.touch()
    path.unlink()


def in_a_new_folder(file: Path) -> None:
    """A file comes with its folder."""
    file.parent.mkdir()
    file.touch()


def elsewhere_and_back(link: Path) -> None:
    """A link leads elsewhere in between."""
    retargeted(link, "two")
    retargeted(link, "one")


SEEN: dict[str, tuple[str, Change]] = {
    "grown": ("file f*", lambda project: (project / "file").write_text("text and more")),
    "same size": ("file f*", lambda project: (project / "file").write_text("other")),
    "old times": ("file f*", partial(written_over, by_another_file=False)),
    "deleted": ("file f* .", lambda project: (project / "file").unlink()),
    "replaced": ("file f*", partial(written_over, by_another_file=True)),
    "pipe in its place": ("file f*", a_pipe_now),
    "folder above replaced": ("file f* .", in_another_folder),
    "link retargeted": ("../current/link l*", lambda project: retargeted(project / "link", "two")),
    "target written": ("../current/link l*", lambda project: (project / "one").write_text("b")),
    "target deleted": ("../current/link l*", lambda project: (project / "one").unlink()),
    "folder link retargeted": (
        "../current/link",
        lambda project: retargeted(project.parent / "current", "other"),
    ),
    "created": ("new n* .", lambda project: (project / "new").touch()),
    "created in a new folder": (
        "new/file **/n*/file",
        lambda project: in_a_new_folder(project / "new" / "file"),
    ),
}
NOT_SEEN: dict[str, tuple[str, Change]] = {
    "touched": ("file one", lambda project: os.utime(project / "file")),
    "written in a folder": (".", lambda project: (project / "file").write_text("other")),
    "there and gone": (". new n*", lambda project: there_and_gone(project / "new")),
    "elsewhere and back": ("link", lambda project: elsewhere_and_back(project / "link")),
    "a folder for a missing file": ("new/file", lambda project: (project / "new").mkdir()),
    "elsewhere": ("file one n*", lambda project: (project / "two").write_text("other")),
}


@pytest.mark.parametrize(("names", "change"), SEEN.values(), ids=SEEN)
def test_a_change_is_seen(project: Path, names: str, change: Change) -> None:
    """Whatever was done to a file, its name, its times, what a link leads to, or the folders above it."""
    (project.parent / "other" / "link").write_text("of another")
    old = fingerprints_of(*(project / name for name in names.split()))
    assert all(READER.renewed([one]) for one in old)
    change(project)
    assert not any(READER.renewed([one]) for one in old)
    assert not any(READER.hold_at_a_glance([one]) for one in old)


@pytest.mark.parametrize(("names", "change"), NOT_SEEN.values(), ids=NOT_SEEN)
def test_what_is_the_same_again_holds(project: Path, names: str, change: Change) -> None:
    """Of a file the content decides, of a folder the names in it."""
    old = fingerprints_of(*(project / name for name in names.split()))
    change(project)
    assert all(READER.renewed([one]) for one in old)


@pytest.mark.parametrize("names", [["file"], ["f*"], ["**"], ["file", "gone"]], ids=str)
def test_what_is_only_touched_has_new_times(project: Path, names: Sequence[str]) -> None:
    """Where contents are read, of patterns as well; then it holds at a glance."""
    whole = FingerprintReader(pattern_contents=True, now_ns=lambda: NEVER_NS - 1)
    old = fingerprints_of(*(project / name for name in names), reader=whole)
    os.utime(project / "file")
    young = FingerprintReader(
        pattern_contents=True, now_ns=partial(int, (project / "file").stat().st_ctime_ns)
    )
    assert young.renewed(old) == tuple(old)  # its new times prove nothing yet
    renewed = whole.renewed(old)
    assert renewed
    assert list(renewed) != old
    assert whole.hold_at_a_glance(renewed) == ("*" not in names[0])


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


def test_times_prove_nothing_within_a_tick(project: Path) -> None:
    """A change within the tick of the last one has the same time: a reading says when that tick is over.

    A stamp of whole seconds may be of a file system that stamps every two seconds.
    """
    file = project / "file"
    changed_ns = file.stat().st_ctime_ns
    for late_ns, proves in [(0, False), (TICK_NS - 1, False), (TICK_NS, True), (-TICK_NS, False)]:
        now = FingerprintReader(now_ns=partial(int, changed_ns + late_ns))
        reading = now.read([str(file)])
        assert now.proves(reading) == proves
        assert reading.stable_in_s == pytest.approx((TICK_NS - late_ns) / 1e9)
        assert now.read([f"{file.parent}/*"]).stable_in_s >= reading.stable_in_s
    assert stable_ns(7_000_000_000) == 7_000_000_000 + COARSE_TICK_NS
    assert stable_ns(7_000_000_001) == 7_000_000_001 + TICK_NS


THERE_AND_BACK = ["there and gone", "elsewhere and back"]


@pytest.mark.parametrize("name", THERE_AND_BACK)
def test_there_and_back_is_no_proof(project: Path, name: str) -> None:
    """What is as before again may have been something else in between."""
    names, change = NOT_SEEN[name]
    before = [READER.read([str(project / each)]) for each in names.split()]
    assert all(map(READER.proves, before))
    tick()
    change(project)
    assert not any(map(READER.proves, before))


def test_what_says_nothing_of_its_changes_never_settles(tmp_path: Path) -> None:
    """A pipe, socket or device is never opened; files in ``/proc`` change without a trace in their times."""
    os.mkfifo(tmp_path / "pipe")
    long = tmp_path / ("x" * 300)
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.path.relpath(tmp_path / "socket"))
        for name in (tmp_path / "pipe", tmp_path / "socket", "/dev/zero", long, "/proc/self/stat"):
            reading = READER.read([str(name)])
            assert reading.stable_in_s == float("inf")
            assert name == "/proc/self/stat" or READER.renewed(reading.fingerprints) is None


def test_what_changes_while_it_is_read_never_settles(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read is perhaps neither the old nor the new."""
    read = os.read

    def changing(descriptor: int, most_bytes: int) -> bytes:
        content = read(descriptor, most_bytes)
        tick()
        (project / "file").write_text("other")
        return content

    monkeypatch.setattr(os, "read", changing)
    assert READER.read([str(project / "file")]).stable_in_s == float("inf")


def test_a_large_file_is_followed_by_its_times(project: Path) -> None:
    """One of a gigabyte is not read; a touch counts as a change then."""
    file = project / "file"
    os.truncate(file, 1024**3)
    old = fingerprints_of(file)
    assert old[0].content == ""
    assert READER.renewed(old) == tuple(old)
    os.utime(file)
    assert READER.renewed(old) is None
    for size, is_read in ((64 * 1024**2, True), (64 * 1024**2 + 1, False)):
        os.truncate(file, size)
        assert bool(fingerprints_of(file)[0].content) == is_read


def test_by_content_a_write_through_a_map_is_seen(project: Path) -> None:
    """The system notes the first one to a page; of those that follow there is no trace in the times."""
    exact = FingerprintReader(compare="content", now_ns=lambda: NEVER_NS - 1)
    with (project / "file").open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        mapped[0:1] = b"1"
        before = exact.read([str(project / "file")])
        assert exact.renewed(before.fingerprints) is not None
        assert exact.proves(before)
        mapped[0:1] = b"2"
        assert exact.renewed(before.fingerprints) is None
        assert not exact.proves(before)


@pytest.mark.parametrize(
    ("name", "touching", "not_touching"),
    [("/a/b", "/a/b /a /", "/a/b/c /a/bc"), ("/a/*.py", "/a/x.py /", "/b/x.py")],
)
def test_what_a_change_may_touch(name: str, touching: str, not_touching: str) -> None:
    """The path itself, what is below, and what is at or below the root of a pattern."""
    assert all(ChangedPaths([path]).touch(name) for path in touching.split())
    assert not ChangedPaths(not_touching.split()).touch(name)
    assert ChangedPaths([*not_touching.split(), touching.rsplit(maxsplit=1)[-1]]).touch(name)
