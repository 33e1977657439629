"""Looks at files that were seen: few, and none is forgotten."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typing_extensions import override

from autogen_context import FileWatch
from autogen_context.store.files.followed import Followed
from autogen_context.store.files.followed_files import FollowedFiles
from support.coder import (
    NAMES,
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


class Counted(FileWatch):
    """Counts what it is asked."""

    asked = 0

    @override
    def covers(self, path: Path) -> bool:
        self.asked += 1
        return super().covers(path)


def test_a_quiet_look_asks_of_one_file(root: Path) -> None:
    """However many there are; the others have their turn."""
    with Counted(debounce_s=0.02) as watch:
        watch.follow(root)
        followed = covered(FollowedFiles(root, watch=watch))
        watch.asked = 0
        followed.look()
        assert watch.asked == 1
        assert not followed.is_busy
        os.link(root / "b.py", root.parent / "second")  # by that name it is written to unheard
        wait_until(lambda: is_busy_after_a_look(followed), "no longer covered")


def test_what_is_told_needs_no_look(root: Path, watch: FileWatch) -> None:
    """A folder stands for all below it."""
    followed = covered(FollowedFiles(root, watch=watch))
    (root / "src").rename(root.parent / "gone")
    wait_until(lambda: followed.is_busy, "heard")
    followed.look()
    assert [news.name for news in followed.news()] == ["src/c.py"]
    assert followed.news() == []


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
