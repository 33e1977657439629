"""Looks at files that were seen: few, and none is forgotten."""

import logging
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from typing_extensions import override

from autogen_context import FileWatch
from autogen_context.project.files.followed import Followed
from autogen_context.project.files.followed_files import FollowedFiles
from support.coder import (
    NAMES,
    join_followers,
    watching,
)
from support.hearing import wait_until


@pytest.fixture
def watch(root: Path) -> Iterator[FileWatch]:
    """It follows the project already."""
    with watching(root) as watch:
        yield watch


def covered(files: FollowedFiles) -> Followed:
    """Three files that were seen, and of which each change is told."""
    followed = Followed(files)
    for name in NAMES:
        followed.see(name)
    wait_until(lambda: not is_busy_after_a_look(followed), "covered")
    return followed


def is_busy_after_a_look(followed: Followed) -> bool:
    """Whether there is more to do."""
    followed.look()
    return followed.is_busy


def test_a_watch_that_ends_is_said_once(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """However many conversations there are; all their files are looked at from then on."""
    with FileWatch(debounce_s=0.02) as watch:
        watch.follow(root)
        files = FollowedFiles(root, watch=watch)
        both = [covered(files) for _ in range(2)]
    for name in NAMES:
        (root / name).write_text("else")
    with caplog.at_level(logging.WARNING):
        for followed in both:
            assert is_busy_after_a_look(followed)
            assert {news.name for news in followed.news()} == set(NAMES)
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("changed", "told"),
    [pytest.param("src", "src/c.py", id="its folder"), pytest.param("b.py", "b.py", id="itself")],
)
def test_what_is_told_needs_no_look(root: Path, watch: FileWatch, changed: str, told: str) -> None:
    """A folder stands for all below it."""
    followed = covered(FollowedFiles(root, watch=watch))
    (root / changed).rename(root.parent / "gone")
    wait_until(lambda: followed.is_busy, "heard")
    followed.look()
    assert [news.name for news in followed.news()] == [told]
    assert followed.news() == []


def is_begun(watch: FileWatch) -> bool:
    """Whether something is followed, once those are done who begin it."""
    join_followers()
    return watch.is_alive


def test_nothing_runs_before_a_file_was_seen(root: Path) -> None:
    """One that is not there was not."""
    with FileWatch(debounce_s=0.02) as watch:
        followed = Followed(FollowedFiles(root, watch=watch))
        for path, begins in (("none.py", False), ("../outside.py", False), ("a.py", True)):
            followed.see(path)
            followed.look()
            assert is_begun(watch) == begins


def test_who_goes_on_is_told_as_well(root: Path) -> None:
    """Once something was seen before it was saved, and not before."""
    seen = Followed(FollowedFiles(root))
    seen.see("a.py")
    seen.look()
    with FileWatch(debounce_s=0.02) as watch:
        files = FollowedFiles(root, watch=watch)
        Followed(files).resumed({})
        assert not is_begun(watch)
        other = Followed(files).resumed(seen.seen)
        assert other.seen == seen.seen
        wait_until(lambda: watch.covers(root), "watched")


def test_what_is_saved_of_other_folders_is_left_out(root: Path, closed: FileWatch) -> None:
    """The project may be somewhere else by now."""
    digest = "00" * 16
    followed = Followed(FollowedFiles(root, watch=closed))
    other = followed.resumed({"../outside.py": digest, "a.py": digest, "/b.py": digest})
    assert other.seen == {"a.py": digest}
    other.look()
    assert [news.name for news in other.news()] == ["a.py"]


class Polled(FileWatch):
    """Follows, and covers nothing."""

    @override
    def covers(self, path: Path) -> bool:
        return False


def test_what_is_followed_no_more_keeps_nobody_busy(root: Path) -> None:
    """As a file that is shown again, and is gone by the time that it is read."""
    with Polled(debounce_s=0.02) as watch:
        watch.follow(root)
        followed = Followed(FollowedFiles(root, watch=watch))
        followed.see("a.py")
        followed.look()
        assert followed.is_busy
        (root / "a.py").unlink()
        followed.see("a.py")
        followed.look()
        assert not followed.is_busy
        assert not followed.knows("a.py")
        assert followed.news() == []


def test_a_branch_has_seen_what_is_being_read(root: Path, closed: FileWatch) -> None:
    """Whenever it is made while another thread looks."""
    names = [f"large_{n}" for n in range(60)]
    for name in names:
        (root / name).write_text("x" * 80 + "\n" * 400_000)
    followed = Followed(FollowedFiles(root, watch=closed))
    for name in names:
        followed.see(name)
    looking = Thread(target=followed.look)
    looking.start()
    is_over = False
    while not is_over:
        is_over = not looking.is_alive()
        branch = followed.branch()
        assert [name for name in names if not branch.knows(name)] == []
    looking.join()


def test_a_look_reads_so_many_files(root: Path, closed: FileWatch) -> None:
    """What was seen comes first; the rest has its turn."""
    followed = Followed(FollowedFiles(root, watch=closed))
    for name in NAMES:
        followed.see(name)
    followed.look()
    for name in NAMES:
        (root / name).write_text("else")
    followed.see("a.py")
    found: list[list[str]] = []
    for _ in range(4):
        followed.look(most_read=1)
        found.append([news.name for news in followed.news()])
    assert found == [[], ["b.py"], ["src/c.py"], []]


def test_what_is_seen_again_is_no_news(root: Path, closed: FileWatch) -> None:
    """What was found before does not count, read again or not yet."""
    followed = Followed(FollowedFiles(root, watch=closed))
    followed.see("a.py")
    followed.look()
    (root / "a.py").write_text("else")
    followed.look()
    followed.see("a.py")
    assert followed.news() == []


def test_a_branch_has_the_news_that_nobody_asked_for_yet(root: Path, closed: FileWatch) -> None:
    """Both tell them, each once."""
    followed = Followed(FollowedFiles(root, watch=closed))
    followed.see("a.py")
    followed.look()
    (root / "a.py").write_text("else")
    followed.look()
    branch = followed.branch()
    assert [news.name for news in branch.news()] == ["a.py"] == [n.name for n in followed.news()]
    assert followed.news() == branch.news() == []
