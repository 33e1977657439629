"""Files that a conversation has seen, and what became of them: few looks, and none is forgotten."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest

from autogen_context.cache.files import read_regular
from autogen_context.project.file_changes import (
    MOST_BYTES_PER_FILE,
    MOST_FILES,
    FileChangeTracker,
    SeenFiles,
)
from support.coder import CONTENT, NAMES

BEFORE = "\n".join(f"line {n}" for n in range(1, 101))


def saw(root: Path, *names: str) -> SeenFiles:
    """These were seen and read."""
    seen = SeenFiles(FileChangeTracker(root))
    for name in names:
        seen.see(name)
    seen.look()
    return seen


def told(seen: SeenFiles) -> dict[str, str]:
    """What became of the files, in words."""
    seen.doubt()
    seen.look()
    return {n: f"{c.kind}: {c.detail}" for n, c in seen.changes().items() if c is not None}


def replace(path: Path, make: Callable[[Path], object]) -> None:
    """Something else in its place."""
    path.unlink()
    make(path)


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "edit": (
        lambda p: p.write_text(BEFORE.replace("line 3\n", "line three\n")),
        "changed: 1 of 100 lines went, 1 came, from line 3 on:\n@@ -1,5",
    ),
    "delete": (lambda p: p.unlink(), "deleted: "),
    "binary": (lambda p: p.write_bytes(b"\x7fELF\0\0\0"), "changed: (binary, 7 bytes)"),
    "1 GB": (
        lambda p: os.truncate(p, 1 << 30),
        "changed: (too large to show, 1,073,741,824 bytes)",
    ),
    "a link out": (
        lambda p: replace(p, lambda q: q.symlink_to("../outside.py")),
        "unreadable: it cannot be read any more: it leads out of the project",
    ),
    "a circle": (
        lambda p: replace(p, lambda q: q.symlink_to(q)),
        "unreadable: it cannot be read any more: its name leads nowhere",
    ),
    "a pipe": (
        lambda p: replace(p, os.mkfifo),
        "unreadable: it cannot be read any more: not a regular file",
    ),
    "a folder": (
        lambda p: replace(p, os.mkdir),
        "unreadable: it cannot be read any more: not a regular file",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_became_of_a_file_is_told(root: Path, change: str) -> None:
    """In a line, with a diff where there is one; and that it is again as it was, where it is."""
    path = root / "a.py"
    path.write_text(BEFORE)
    seen = saw(root, "a.py")
    assert seen.changes() == {}
    make, words = CHANGES[change]
    make(path)
    assert told(seen)["a.py"].startswith(words)
    path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
    path.write_bytes(
        BEFORE.replace("\n", "\r\n").encode() + b"\r\n"
    )  # the ends of lines are no change
    seen.doubt()
    seen.look()
    assert seen.changes() == {"a.py": None}


def test_a_digest_says_what_was_shown(root: Path) -> None:
    """States that were saved have them, so that the same text has the same ones for good."""
    for text in (b"one\ntwo", b"one\r\ntwo\r\n", b"one\ntwo\n\n"):
        (root / "a.py").write_bytes(text)
        assert saw(root, "a.py").digests == {"a.py": "548a8df0278c07912adc703b6150b1d5"}


def test_what_is_not_to_be_shown_is_compared_all_the_same(root: Path) -> None:
    """Binary and large files, in words; the largest that has a diff to the byte."""
    for content in (b"\0", b"x" * (MOST_BYTES_PER_FILE + 1)):
        (root / "a.py").write_bytes(content)
        seen = saw(root, "a.py")
        assert told(seen) == {}
        (root / "a.py").write_bytes(content + b"x")
        assert told(seen)["a.py"].startswith("changed: (")
    assert read_regular(root / "b.py", most_bytes=len(CONTENT)) == CONTENT.encode()
    with pytest.raises(OSError, match=f"larger than {len(CONTENT) - 1} bytes"):
        read_regular(root / "b.py", most_bytes=len(CONTENT) - 1)
    (root / "link").symlink_to(root / "b.py")
    with pytest.raises(OSError, match="symbolic links"):
        read_regular(root / "link", most_bytes=100)


@pytest.mark.parametrize(
    "path",
    [
        *("../outside.py", "no/such/file", "", ".", "..", "link", "folder/outside.py", "\0"),
        *("a.py/b", "pipe", "closed/../../outside.py", "x" * 5_000, "circle"),
    ],
)
def test_what_must_not_be_read_is_not(root: Path, path: str) -> None:
    """Outside of the project, by whatever way; it is not known then, and nothing is told of it."""
    (root / "link").symlink_to(root.parent / "outside.py")
    (root / "folder").symlink_to(root.parent)
    (root / "circle").symlink_to(root / "circle")
    os.mkfifo(root / "pipe")
    seen = saw(root, path, "a.py")
    assert list(seen.digests) == ["a.py"]
    assert not seen.knows(path)
    assert told(seen) == {}


def test_links_within_the_project_are_read(root: Path) -> None:
    """And the project may itself be named by a link."""
    (root / "link").symlink_to("a.py")
    (root.parent / "by-link").symlink_to(root)
    names = ["link", "a.py", str(root / "b.py"), str(root.parent / "by-link" / "src" / "c.py")]
    seen = saw(root.parent / "by-link", *names)
    for name in NAMES:
        (root / name).write_text("else")
    assert sorted(told(seen)) == sorted(names)


def test_what_is_kept_stays_within_its_limits(root: Path) -> None:
    """By number and by text: the longest unseen goes first; one that is shown again is the newest."""
    names = [f"{number}" for number in range(40)]
    for name in names:
        (root / name).write_text("x" * (MOST_BYTES_PER_FILE - 1))
    seen = saw(root, *names, "0", "1")
    assert sorted(map(int, seen.digests)) == [0, 1, *range(10, 40)]
    more = [f"more {number}" for number in range(MOST_FILES)]
    for name in more:
        (root / name).touch()
        seen.see(name)
    for _ in range(3):
        seen.look()
    assert list(seen.digests) == more


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """As one to whom not every file is open; the superuser would read them all."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65_534)
    yield
    os.seteuid(was)


@pytest.mark.usefixtures("unprivileged")
def test_a_file_that_was_closed_is_told_of() -> None:
    """In words, without its path."""
    with TemporaryDirectory() as name:
        (Path(name) / "a").write_text("x")
        seen = saw(Path(name), "a")
        (Path(name) / "a").chmod(0)
        assert told(seen) == {"a": "unreadable: it cannot be read any more: Permission denied"}


def test_what_is_saved_of_other_folders_is_left_out(root: Path) -> None:
    """The project may be somewhere else by now."""
    digest = "00" * 16
    other = saw(root).resumed({"../outside.py": digest, "a.py": digest, "/b.py": digest})
    assert other.digests == {"a.py": digest}
    assert told(other) == {"a.py": "changed: (what it was is not known any more)"}


def test_who_goes_on_while_another_looks_has_seen_the_same(root: Path) -> None:
    """Whenever that is; and finds what nobody asked for yet."""
    names = [f"large_{n}" for n in range(60)]
    for name in names:
        (root / name).write_text("x" * 80 + "\n" * 400_000)
    seen = saw(root, "a.py")
    (root / "a.py").unlink()
    seen.look()
    other = seen.resumed(seen.digests)
    other.look()
    assert [*other.changes()] == ["a.py"]
    for name in names:
        seen.see(name)
    looking = Thread(target=seen.look)
    looking.start()
    while looking.is_alive():
        digests = seen.digests
        assert seen.resumed(digests).digests == digests
    looking.join()


def test_a_change_within_a_tick_of_the_clock_is_found(root: Path) -> None:
    """Of the same size, by the same file: its stamp is the same where the clock of the file system is coarse."""
    path, seen = root / "a.py", saw(root)
    for _ in range(300):
        path.write_text("one")
        seen = saw(root, "a.py")
        before = path.stat()
        path.write_text("two")
        if before.st_ctime_ns == path.stat().st_ctime_ns:
            break
    seen.look()
    assert list(seen.changes()) == ["a.py"]


def test_a_look_reads_so_many_files(root: Path) -> None:
    """What was seen comes first, and is no news; the rest has its turn."""
    seen = saw(root, *NAMES)
    for name in NAMES:
        (root / name).write_text("else")
    seen.see("a.py")
    found: list[list[str]] = []
    for _ in range(4):
        seen.look(most_read=1)
        found.append(list(seen.changes()))
    assert found == [[], ["b.py"], ["src/c.py"], []]


def test_what_is_followed_no_more_keeps_nobody_busy(root: Path) -> None:
    """As a file that is shown again, and is gone by the time that it is read."""
    seen = saw(root, "a.py")
    (root / "a.py").unlink()
    seen.see("a.py")
    seen.look()
    assert not seen
    assert not seen.knows("a.py")
    assert seen.changes() == {}
