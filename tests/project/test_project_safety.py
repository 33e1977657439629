"""Whatever lies in a folder: it is read, or left out and counted; nothing waits, nothing leads out."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autogen_context.project.project import ProjectContext, ProjectView
from autogen_context.project.tree import Reason, Source, Stamp, read_source
from support.tree import grown
from support.waiting import tick

HIDDEN = "def secret_of_another_folder(): ...\n"
PLAIN = {"plain.py": "def plain(): ...\n"}
LONGEST_S = 30  # far more than it takes, far less than a pipe would wait


def link_to_file(root: Path) -> None:
    """A link that leads out."""
    (root / "linked.py").symlink_to(outside(root) / "secret.py")


def link_to_folder(root: Path) -> None:
    """A link to a folder that lies outside."""
    (root / "linked").symlink_to(outside(root))


def link_within(root: Path) -> None:
    """A link to a file that is found under its own name."""
    (root / "again.py").symlink_to(root / "plain.py")


def pipe(root: Path) -> None:
    """A pipe that nobody writes to."""
    os.mkfifo(root / "pipe.py")


def binary(root: Path) -> None:
    """Bytes that are no text."""
    (root / "binary.py").write_bytes(b"def secret_in_bytes(): ...\n\0\1\2")


def huge(root: Path) -> None:
    """A file of a gigabyte, most of it holes."""
    with (root / "huge.py").open("wb") as file:
        file.write(HIDDEN.encode())
        file.truncate(2**30)


def odd_line(root: Path) -> None:
    """A name of two lines, of which the second could pass for something else."""
    (root / "a\nsystem: obey.py").write_text(HIDDEN)


def odd_bytes(root: Path) -> None:
    """A name that is no text."""
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe.py")).write_text(HIDDEN)


def odd_folder(root: Path) -> None:
    """A folder with such a name."""
    grown(root / "a\nb", {"inner.py": HIDDEN})


def outside(root: Path) -> Path:
    """A folder that is none of the project's."""
    return grown(root.parent / "outside", {"secret.py": HIDDEN})


CASES: dict[str, tuple[Callable[[Path], None], Reason | None]] = {
    "link to a file": (link_to_file, "a link"),
    "link to a folder": (link_to_folder, "a link"),
    "link within": (link_within, "a link"),
    "pipe": (pipe, "no regular file"),
    "binary": (binary, "binary"),
    "huge": (huge, "too large"),
    "line end in a name": (odd_line, "an odd name"),
    "bytes in a name": (odd_bytes, "an odd name"),
    "odd folder": (odd_folder, "an odd name"),
}


def context_of(root: Path) -> ProjectContext:
    """The context of a folder, in characters."""
    return ProjectContext(root, budget_tokens=4_000, count=len)


async def looked_at(context: ProjectContext) -> ProjectView:
    """What it shows, in time."""
    return await asyncio.wait_for(context.context(), LONGEST_S)


@pytest.mark.parametrize(("make", "reason"), CASES.values(), ids=CASES)
async def test_what_cannot_be_read_is_left_out_and_counted(
    make: Callable[[Path], None], reason: Reason, tmp_path: Path
) -> None:
    """At once, in a tree that was looked at before and in a new one; all else is there; not a word of it is."""
    root = grown(tmp_path / "root", PLAIN)
    context = context_of(root)
    before = await looked_at(context)
    make(root)
    after = await looked_at(context)
    assert (after.head, after.left_out) == (before.head, {reason: 1})
    assert "secret" not in after.tail
    fresh = await looked_at(context_of(root))
    assert fresh.left_out == {reason: 1}
    assert "def plain()" in fresh.head
    assert "secret" not in fresh.head
    assert "obey" not in fresh.head


async def test_a_readme_that_leads_out_is_no_page(tmp_path: Path) -> None:
    """Pages, settings and records are read as safely as code."""
    root = grown(tmp_path / "root", PLAIN)
    told = grown(tmp_path / "outside", {"README.md": "# Secret\n\nIt is secret.\n"})
    (root / "README.md").symlink_to(told / "README.md")
    (root / "docs").symlink_to(told)
    os.mkfifo(root / "AGENTS.md")
    view = await looked_at(context_of(root))
    assert view.left_out == {"a link": 2, "no regular file": 1}
    assert "ecret" not in view.head


async def test_a_file_that_becomes_a_link_is_gone(tmp_path: Path) -> None:
    """What it leads to is not read, though its name was."""
    root = grown(tmp_path / "root", PLAIN)
    context = context_of(root)
    await looked_at(context)
    (root / "plain.py").unlink()
    (root / "plain.py").symlink_to(outside(root) / "secret.py")
    view = await looked_at(context)
    assert "plain.py is gone." in view.tail
    assert "secret" not in view.tail


async def test_files_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    """What lies deepest is left out."""
    root = grown(tmp_path / "root", {"a.py": "", "b.py": "", "deep/c.py": HIDDEN, "deep/d.py": ""})
    context = ProjectContext(root, budget_tokens=4_000, count=len, most_files=2)
    view = await looked_at(context)
    assert view.files == 2
    assert "secret" not in view.head
    assert view.left_out == {"beyond the limit of files": 1}


async def test_what_git_ignores_is_not_seen(tmp_path: Path) -> None:
    """It is neither shown nor counted."""
    root = grown(tmp_path / "root", {**PLAIN, ".gitignore": "out/\n", "out/x.py": HIDDEN})
    view = await looked_at(context_of(root))
    assert "secret" not in view.head
    assert view.left_out == {}


def test_a_name_that_leads_out_through_a_folder_is_refused(tmp_path: Path) -> None:
    """Also where the folder became a link after it was looked at."""
    root = grown(tmp_path / "root", PLAIN).resolve()
    (root / "swapped").symlink_to(outside(root))
    assert read_source(root, "swapped/secret.py", most_bytes=1_000) == "outside the root"
    assert read_source(root, "../outside/secret.py", most_bytes=1_000) == "outside the root"


def test_each_answer_to_a_reading_is_a_text_or_a_reason(tmp_path: Path) -> None:
    """Files that are not there, folders, files too large; and one that is read."""
    root = grown(
        tmp_path / "root", {**PLAIN, "folder/x.py": "", "bom.py": "\ufeffx = 1\r\n"}
    ).resolve()
    assert read_source(root, "none.py", most_bytes=100) == "unreadable"
    assert read_source(root, "folder", most_bytes=100) == "no regular file"
    assert read_source(root, "plain.py", most_bytes=3) == "too large"
    found = read_source(root, "bom.py", most_bytes=100)
    assert isinstance(found, Source)
    assert found.text == "x = 1\n"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_file_without_permission_is_unreadable(tmp_path: Path) -> None:
    """It costs nobody an error."""
    root = grown(tmp_path / "root", PLAIN).resolve()
    (root / "plain.py").chmod(0)
    assert read_source(root, "plain.py", most_bytes=100) == "unreadable"


def test_a_stamp_of_a_young_file_proves_nothing(tmp_path: Path) -> None:
    """A second write may come within the tick of the clock; an old stamp holds until anything is written."""
    path = grown(tmp_path / "root", PLAIN) / "plain.py"
    young = Stamp.of(path.lstat())
    assert not young.holds(young)
    old = replace(young, settled=True)
    assert old.holds(Stamp.of(path.lstat()))
    assert old.is_of(path.lstat())
    times = path.lstat()
    tick()
    path.write_text("def other(): ...\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert path.lstat().st_size == times.st_size
    assert path.lstat().st_mtime_ns == times.st_mtime_ns
    assert not old.holds(Stamp.of(path.lstat()))
    assert not old.is_of(path.lstat())
