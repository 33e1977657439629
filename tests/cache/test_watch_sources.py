"""Where changes are learned of: from the system, and by looking where it does not tell."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override
from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
)

from autogen_context.cache.watch.announce import Announcer
from autogen_context.cache.watch.debounce import Debouncer
from autogen_context.cache.watch.inotify import InotifyTree
from autogen_context.cache.watch.mounts import remote_type
from autogen_context.cache.watch.path import folder_of, is_within, upwards
from autogen_context.cache.watch.poll import PolledTree, differences
from autogen_context.cache.watch.root import FollowedRoot, Sources
from support.hearing import Hearing, wait_until

MOUNTS = """\
/dev/vda / ext4 rw 0 0
proc /proc proc rw 0 0
server:/a /srv/code nfs4 rw 0 0
server:/b /home/me/with\\040blank cifs rw 0 0
/dev/vdb /srv/code/local ext4 rw 0 0
gvfsd /run/gvfs fuse.gvfsd-fuse rw 0 0
/dev/sdb /media/stick fuseblk rw 0 0
server:/c /twice nfs rw 0 0
/dev/vdc /twice ext4 rw 0 0
broken
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        pytest.param("/home/me", "cifs", id="one is mounted below"),
        pytest.param("/home/me/project", None, id="beside it"),
        pytest.param("/srv/code", "nfs4", id="itself"),
        pytest.param("/srv/code/deep/down", "nfs4", id="below it"),
        pytest.param("/srv/code-2", None, id="a name that begins like it"),
        pytest.param("/srv/code/local/project", None, id="a local one within it"),
        pytest.param("/home/me/with blank/project", "cifs", id="a name with a blank"),
        pytest.param("/run/gvfs/x", "fuse.gvfsd-fuse", id="a program"),
        pytest.param("/media/stick/x", None, id="a stick"),
        pytest.param("/twice/x", None, id="the last one counts"),
    ],
)
def test_a_remote_file_system_is_known(folder: str, kind: str | None) -> None:
    """By the nearest mount above the folder, and by all below it."""
    assert remote_type(folder, MOUNTS) == kind


def test_nothing_is_said_where_the_system_says_nothing() -> None:
    """Then its events are believed."""
    assert remote_type("/srv/code", "") is None


@given(st.lists(st.text("ab.", min_size=1).filter(lambda name: name.strip(".")), max_size=4))
def test_paths_as_text_are_paths(names: list[str]) -> None:
    """As pathlib has them."""
    path = Path("/", *names)
    assert folder_of(str(path)) == str(path.parent)
    assert list(upwards(str(path))) == [str(path), *map(str, path.parents)]
    assert all(is_within(str(path), str(each)) for each in (path, *path.parents))
    assert not is_within(str(path.parent), f"{str(path).rstrip('/')}/x")
    assert not is_within(f"{str(path).rstrip('/')}x/y", f"{str(path).rstrip('/')}/x")


class FewWatches(InotifyFD):
    """A system with few watches left."""

    left = 0

    @override
    def add_callback(
        self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
    ) -> WatchDescriptor:
        if self.left == 0:
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        self.left -= 1
        return super().add_callback(path, mask, callback, id_)

    @override
    def remove_callbacks(self, callbacks: list[tuple[WatchDescriptor, CallbackId]]) -> None:
        self.left += len(callbacks)
        super().remove_callbacks(callbacks)


@pytest.fixture
def few() -> Iterator[FewWatches]:
    """It has none before the test says so."""
    reader = FewWatches()
    reader.start()
    yield reader
    reader.stop()
    reader.join()


@pytest.fixture
def announcer() -> Iterator[Announcer]:
    """It tells at once."""
    announcer = Announcer(Debouncer(debounce_s=0.001, longest_s=1))
    announcer.start()
    yield announcer
    announcer.stop()
    announcer.join()


def folders(root: Path, number: int) -> None:
    """So many, with a file each."""
    for each in range(number):
        (root / f"folder{each}").mkdir()
        (root / f"folder{each}" / "file").touch()


def no_instance() -> InotifyFD:
    """A system with no inotify instance left."""
    raise OSError(errno.EMFILE, "inotify instance limit reached")


def test_without_a_reader_all_is_polled_and_said_once(
    tmp_path: Path, announcer: Announcer, caplog: pytest.LogCaptureFixture
) -> None:
    """With the root and the reason, however often it is tried."""
    sources = Sources(poll=False, begin=no_instance)
    root = FollowedRoot(str(tmp_path), recursive=True, sources=sources, announcer=announcer)
    hearing = Hearing()
    announcer.listen(hearing.hear)
    root.start()
    root.stop()
    root.start()
    (tmp_path / "new").touch()
    root.check()
    hearing.wait_for(tmp_path / "new")
    assert not root.covers(str(tmp_path / "new"))
    assert root.hears(str(tmp_path / "new"))
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"{tmp_path} is polled: inotify instance limit reached"]


@pytest.mark.parametrize("left", [0, 1, 3])
def test_with_too_few_watches_all_is_polled(
    tmp_path: Path,
    announcer: Announcer,
    few: FewWatches,
    caplog: pytest.LogCaptureFixture,
    left: int,
) -> None:
    """Nothing is half watched, and the watches that it had are given back."""
    folders(tmp_path, 3)
    few.left = left
    sources = Sources(poll=False, begin=lambda: few)
    root = FollowedRoot(str(tmp_path), recursive=True, sources=sources, announcer=announcer)
    hearing = Hearing()
    announcer.listen(hearing.hear)
    root.start()
    (tmp_path / "folder2" / "file").write_text("after")
    root.check()
    hearing.wait_for(tmp_path / "folder2" / "file")
    assert f"{tmp_path} is polled: inotify watch limit reached" in caplog.text
    assert few.left == left
    few.left = 4
    tree = InotifyTree(few, str(tmp_path), recursive=True, changed=lambda _: None)
    tree.start()
    assert tree.covers(str(tmp_path / "folder2" / "file"))
    tree.stop()


def test_watches_that_run_out_later_are_noticed(
    tmp_path: Path, announcer: Announcer, few: FewWatches, caplog: pytest.LogCaptureFixture
) -> None:
    """All may have changed, nothing is covered, and from the next look on it is polled."""
    folders(tmp_path, 3)
    few.left = 5
    sources = Sources(poll=False, begin=lambda: few)
    root = FollowedRoot(str(tmp_path), recursive=True, sources=sources, announcer=announcer)
    hearing = Hearing()
    announcer.listen(hearing.hear)
    root.start()
    assert root.covers(str(tmp_path / "folder2" / "file"))
    (tmp_path / "more" / "and" / "more").mkdir(parents=True)
    hearing.wait_for(tmp_path)
    assert not root.covers(str(tmp_path / "folder2" / "file"))
    assert not caplog.records
    root.check()
    assert "is polled: inotify watch limit reached" in caplog.text
    hearing.clear()
    (tmp_path / "more" / "file").touch()
    root.check()
    hearing.wait_for(tmp_path / "more" / "file")


def test_where_the_system_lost_events_all_may_have_changed(tmp_path: Path) -> None:
    """It is told once, and what came unheard is watched."""
    folders(tmp_path, 3)
    told: list[str] = []
    reader = InotifyFD()  # it does not run: nothing is heard but what is said below
    tree = InotifyTree(reader, str(tmp_path), recursive=True, changed=told.append)
    tree.start()
    (tmp_path / "new" / "deep").mkdir(parents=True)
    (tmp_path / "folder0").rename(tmp_path / "moved")
    assert not tree.hears(str(tmp_path / "new" / "deep" / "file"))
    overflow = InotifyEvent(WatchDescriptor(-1), InotifyConstants.IN_Q_OVERFLOW, 0, b"")
    reader.handle_event(overflow)
    assert told == [str(tmp_path)]
    assert tree.hears(str(tmp_path / "new" / "deep" / "file"))
    assert tree.hears(str(tmp_path / "moved" / "file"))
    assert not tree.hears(str(tmp_path / "folder0" / "file"))
    tree.stop()
    reader.start()
    reader.stop()
    reader.join()


class Recording(InotifyFD):
    """Knows whom it would call."""

    def __init__(self) -> None:
        super().__init__()
        self.callbacks: list[WatchCallback] = []

    @override
    def add_callback(
        self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
    ) -> WatchDescriptor:
        self.callbacks.append(callback)
        return super().add_callback(path, mask, callback, id_)


def test_what_is_no_longer_watched_is_not_heard(tmp_path: Path) -> None:
    """Though an event of it was on its way."""
    told: list[str] = []
    reader = Recording()
    tree = InotifyTree(reader, str(tmp_path), recursive=True, changed=told.append)
    tree.start()
    tree.stop()
    late = InotifyEvent(WatchDescriptor(1), InotifyConstants.IN_MODIFY, 0, b"file")
    for callback in reader.callbacks:
        callback.on_event(late)
        callback.on_watch_deleted(WatchDescriptor(1))
        callback.on_queue_overflow()
    assert told == []
    reader.start()
    reader.stop()
    reader.join()


def test_a_queue_that_flows_over_loses_nothing(tmp_path: Path) -> None:
    """With more events than the system keeps while nobody reads them."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    told: set[str] = set()
    reader = InotifyFD()
    tree = InotifyTree(reader, str(tmp_path), recursive=True, changed=told.add)
    tree.start()
    for number in range(limit // 2 + 1):  # each comes and goes
        (tmp_path / f"early{number}").touch()
        (tmp_path / f"early{number}").unlink()
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "file").touch()
    reader.start()
    wait_until(lambda: str(tmp_path) in told, "told of all")
    (tmp_path / "late" / "file").write_text("after")
    wait_until(lambda: str(tmp_path / "late" / "file") in told, "told of what came unheard")
    tree.stop()
    reader.stop()
    reader.join()


STAMPS = st.dictionaries(st.sampled_from("abcd"), st.tuples(st.integers(0, 2)))


@given(STAMPS, STAMPS)
def test_what_differs_is_what_came_went_or_changed(
    before: dict[str, tuple[int, ...]], after: dict[str, tuple[int, ...]]
) -> None:
    """And nothing else, by name."""
    found = differences(before, after)
    assert found == sorted(found)
    assert all((path in found) == (before.get(path) != after.get(path)) for path in "abcd")


def test_a_large_tree_is_polled_in_part_and_said_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What lies deepest is left out."""
    folders(tmp_path, 3)
    told: list[str] = []
    tree = PolledTree(str(tmp_path), recursive=True, changed=told.append, most_entries=4)
    tree.start()
    assert f"not all of {tmp_path} is polled" in caplog.text
    for number in range(3):
        (tmp_path / f"folder{number}" / "file").write_text("after")
    tree.check()
    assert told == [str(tmp_path / "folder0" / "file")]


def test_polling_opens_nothing(tmp_path: Path) -> None:
    """A pipe with nobody at its other end, a link in a circle, a file that nobody may read."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "closed").touch(mode=0)
    told: list[str] = []
    tree = PolledTree(str(tmp_path), recursive=True, changed=told.append)
    tree.start()
    tree.check()
    assert told == []
    (tmp_path / "circle").unlink()
    tree.check()
    assert told == [str(tmp_path / "circle")]
