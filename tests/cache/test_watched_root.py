"""Where changes are learned of, and what waits to be told: by the system, by looking, in a bounded set."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override
from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
)

from autogen_context.cache.inotify import InotifyTree
from autogen_context.cache.watch import Pending, Reader, WatchedRoot, remote_type
from support.hearing import wait_until

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
        pytest.param("/srv/code/deep/down", "nfs4", id="below it"),
        pytest.param("/srv/code/local/project", None, id="a local one within it"),
        pytest.param("/home/me/with blank/project", "cifs", id="a name with a blank"),
        pytest.param("/run/gvfs/x", "fuse.gvfsd-fuse", id="a program"),
        pytest.param("/twice/x", None, id="the last one counts"),
    ],
)
def test_a_remote_file_system_is_known(folder: str, kind: str | None) -> None:
    """By the nearest mount above the folder, and by all below it; nothing where the system says nothing."""
    assert remote_type(folder, MOUNTS) == kind
    assert remote_type(folder, "") is None


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
def project(tmp_path: Path) -> Path:
    """Three folders with a file each."""
    for number in range(3):
        (tmp_path / f"folder{number}").mkdir()
        (tmp_path / f"folder{number}" / "file").touch()
    return tmp_path


def followed(project: Path, reader: Reader) -> tuple[WatchedRoot, list[str]]:
    """A root, and what is told of it."""
    told: list[str] = []
    root = WatchedRoot(str(project), reader, lambda path, _: told.append(path))
    root.start()
    return root, told


def test_without_a_reader_nothing_is_covered_and_that_is_said(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With the root and the reason."""

    def no_instance() -> InotifyFD:
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    root, told = followed(project, Reader(begin=no_instance))
    root.check()
    assert not root.covers(str(project))
    assert told == []
    (said,) = (record.getMessage() for record in caplog.records)
    assert said == f"{project} is not watched: inotify instance limit reached"


@pytest.mark.parametrize("left", [0, 1, 3])
def test_with_too_few_watches_nothing_is_half_watched(
    project: Path, few: FewWatches, caplog: pytest.LogCaptureFixture, left: int
) -> None:
    """The watches that it had are given back."""
    few.left = left
    root, _ = followed(project, Reader(begin=lambda: few))
    assert not root.covers(str(project))
    assert f"{project} is not watched: inotify watch limit reached" in caplog.text
    assert few.left == left


def test_watches_that_run_out_later_are_noticed(
    project: Path, few: FewWatches, caplog: pytest.LogCaptureFixture
) -> None:
    """All may have changed, and nothing is covered until there are enough again."""
    few.left = 5
    root, told = followed(project, Reader(begin=lambda: few))
    assert root.covers(str(project / "folder2"))
    (project / "more" / "and" / "more").mkdir(parents=True)
    wait_until(lambda: str(project) in told, "told of all")
    assert not root.covers(str(project / "folder2"))
    told.clear()
    root.check()
    assert told == [str(project)]
    assert "is not watched: inotify watch limit reached" in caplog.text


def test_a_queue_that_flows_over_loses_nothing(project: Path) -> None:
    """With more events than the system keeps while nobody reads them."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    told: set[str] = set()
    reader = InotifyFD()
    tree = InotifyTree(reader, str(project), told.add)
    for number in range(limit // 2 + 1):  # each comes and goes
        (project / f"early{number}").touch()
        (project / f"early{number}").unlink()
    (project / "late").mkdir()
    (project / "late" / "file").touch()
    reader.start()
    wait_until(lambda: str(project) in told, "told of all")
    (project / "late" / "file").write_text("after")
    wait_until(lambda: str(project / "late" / "file") in told, "told of what came unheard")
    tree.stop()
    reader.stop()
    reader.join()


NAMES = st.sampled_from(["a", "b", "c", "ab"])
BELOW = st.lists(NAMES, max_size=5).map(lambda names: "".join(f"/{name}" for name in names))
TOPS = ("/one", "/two/deep", "/two/deep/a")
CHANGES = st.lists(
    st.tuples(st.sampled_from(TOPS), BELOW).map(lambda each: (each[0], each[0] + each[1])),
    max_size=60,
)


def pending(most_paths: int = 100) -> Pending:
    """With a tenth of a second of quiet, and a second at most."""
    return Pending(debounce_s=0.1, longest_s=1.0, most_paths=most_paths)


@given(CHANGES, st.integers(len(TOPS), 8) | st.just(100))
def test_each_path_is_told_or_a_folder_above_it(
    changes: list[tuple[str, str]], most_paths: int
) -> None:
    """However few are held; nothing above a top stands for anything, and with room nothing is told that did not change."""
    waiting = pending(most_paths)
    for top, path in changes:
        waiting.add(path, top=top, now=0)
        assert waiting.holds(path)
    told = waiting.take()
    assert len(told) <= most_paths
    assert told == sorted(set(told))
    assert all({path, *map(str, Path(path).parents)} & {*told} for _, path in changes)
    assert all(any(Path(each).is_relative_to(top) for top in TOPS) for each in told)
    if most_paths > len(changes):
        assert set(told) <= {path for _, path in changes}


@given(st.lists(st.floats(0, 0.5), min_size=1, max_size=40))
def test_it_is_told_when_quiet_or_when_it_lasts(pauses: list[float]) -> None:
    """A tenth of a second after the last change, and a second after the first one of a burst whatever comes."""
    waiting, now = pending(), 7.0
    waiting.add("/one/b", top="/one", now=0)
    waiting.take()
    first = now + pauses[0]
    for pause in pauses:
        now += pause
        waiting.add("/one/a", top="/one", now=now)
        assert waiting.due_at == pytest.approx(min(now + 0.1, first + 1.0))
    assert waiting.take() == ["/one/a"]
    assert waiting.due_at is None
    assert waiting.take() == []
