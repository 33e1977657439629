"""The event log: a JSON Lines file, written in the background, that records what each turn sent and why.

Promise: a turn never waits for the log and never fails because of it. Events lost to a full queue or disk are counted, with one
warning; a full disk never leaves half a line. No file exceeds ``max_bytes``, unless by a single event.
"""

import json
import logging
import os
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from queue import Full, Queue

from autogen_context.argument import require_path, require_whole
from autogen_context.cache.seal import take_file
from autogen_context.forks import when_forked

logger = logging.getLogger(__name__)

MOST_WAITING = 1_000  # events
EACH_S = 0.1  # polling interval
IDLE_S = 5.0  # until the idle thread ends; the next event starts a new one
EXIT_S = 2.0  # at most, that process exit waits for pending writes
LOST = "events find no room and are lost: %s"

Event = Mapping[str, object]
EventBuilder = Callable[[int], Event]
"""Builds an event when it is written, given the number of the stretch of lines without a gap; its first one must be complete.

Called in order, and at once again if the event turns out to begin another stretch.
"""


class EventLog:
    """A file to which agents, also of several processes, append their events.

    Args:
        path: the file; missing folders are created; a new file is accessible to this user only.
        record_text: also write the first characters of each unit; otherwise no message text and no key is written.
        max_bytes: before the file exceeds this size, it is renamed to ``run.jsonl.1`` and a new one is started.
        keep: the number of renamed files to keep.

    Raises:
        ValueError: an argument is invalid; the message names it, its value and a remedy.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        record_text: bool = False,
        max_bytes: int = 50_000_000,
        keep: int = 3,
    ) -> None:
        require_path("path", path)
        require_whole("max_bytes", max_bytes, least=1, give="a number of bytes, 1 or more")
        require_whole("keep", keep, least=0, give="how many older files are kept, 0 or more")
        if not os.fspath(path) or Path(path).is_dir():
            raise ValueError(f"path={os.fspath(path)!r}: give a file, such as run.jsonl")
        self.path = Path(path)
        self.record_text = record_text
        # The thread writes later, when the program may be in another folder.
        self._writer = Writer(LogFile(self.path.absolute(), max_bytes, keep))
        weakref.finalize(self, self._writer.flush, EXIT_S)

    @property
    def lost(self) -> int:
        """The number of events lost."""
        return self._writer.lost

    def put(self, builder: EventBuilder) -> bool:
        """Queue an event for writing, without waiting; return False if the queue is full."""
        return self._writer.put(builder)

    def flush(self, timeout_s: float = EXIT_S) -> bool:
        """Wait until all queued events are written; return False on timeout."""
        return self._writer.flush(timeout_s)


class Writer:
    """A queue, polled by a thread: waking the thread would cost a turn more than queueing the event.

    Without a file, events are still built, for metrics, but nothing is written.
    """

    def __init__(self, file: "LogFile | None" = None) -> None:
        self.lost = 0
        self._file = file
        self._unsaid = 0  # lost events not yet reported in the file
        self._begin()
        when_forked(self._begin)  # the parent has the thread and writes the queue

    def _begin(self) -> None:
        self._lock, self._wake = threading.Lock(), threading.Event()
        self._queue = Queue[EventBuilder](MOST_WAITING)
        self._thread: threading.Thread | None = None

    def put(self, builder: EventBuilder) -> bool:
        """Queue an event, without waiting; return False if the queue is full."""
        with self._lock:
            try:
                self._queue.put_nowait(builder)
            except Full:
                self._lose(1, "the queue is full")
                return False
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="autogen-context-events", daemon=True
                )
                self._thread.start()
        return True

    def flush(self, timeout_s: float = EXIT_S) -> bool:
        """Wait until all queued events are written; return False on timeout."""
        with self._lock:
            queue = self._queue
        self._wake.set()
        with queue.all_tasks_done:
            return queue.all_tasks_done.wait_for(lambda: not queue.unfinished_tasks, timeout_s)

    def _run(self) -> None:
        idle_s = 0.0
        while idle_s < IDLE_S or not self._has_ended():
            self._wake.wait(EACH_S)
            self._wake.clear()
            waiting = [self._queue.get_nowait() for _ in range(self._queue.qsize())]
            idle_s = 0.0 if waiting else idle_s + EACH_S
            self._write(waiting)
            for _ in waiting:
                self._queue.task_done()

    def _has_ended(self) -> bool:
        """End the idle thread, unless an event has come meanwhile."""
        with self._lock:
            if self._queue.empty():
                self._thread = None
            return self._thread is None

    def _write(self, events: Sequence[EventBuilder]) -> None:
        if self._file is None:
            for event in events:
                event(0)
            return
        lost, why = self._file.append(events)
        with self._lock:
            self._lose(lost, why)
        if self._unsaid and not lost:
            said = {"v": 1, "event": "lost", "count": self._unsaid}
            if not self._file.append([lambda _: said])[0]:
                self._unsaid = 0

    def _lose(self, events: int, why: str) -> None:
        if events and not self.lost:
            logger.warning(LOST, why, extra={"lost": events})
        self.lost += events
        self._unsaid += events


class LogFile:
    """A rotated file to which whole lines are appended; several processes may share it.

    ``logging``'s ``RotatingFileHandler`` serves one process, leaves half a line on a full disk, and writes what it was given:
    here the first event of a file is made again, so that the file can be read without those before it.
    """

    def __init__(self, path: Path, max_bytes: int, keep: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._stretch = 0  # incremented after a rotation, a failure or a replaced file
        self._known = (0, 0)  # inode and size of the file last written

    def append(self, events: Sequence[EventBuilder]) -> tuple[int, str]:
        """Append events, each completely or not at all; return how many were lost, and why."""
        lost, why = 0, ""
        for event in events:
            try:
                self._append(event)
            except Exception as error:  # noqa: BLE001 - a failing log loses events, never the agent
                lost += 1
                why = str(error) if isinstance(error, PermissionError) else type(error).__name__
                self._stretch += 1
        return lost, why

    def _append(self, event: EventBuilder) -> None:
        """Append an event; if the file would become too large, start another one with the complete event."""
        event(self._stretch)  # written or not: the next events depend on it
        with self._locked() as file:
            if not file.seekable():  # a terminal or a pipe
                _write_all(file, line_of(event(self._stretch)))
                return
            size, inode = file.seek(0, os.SEEK_END), os.fstat(file.fileno()).st_ino
            self._stretch += inode != self._known[0] or size < self._known[1]
            self._known = inode, size
            line = line_of(event(self._stretch))
            if size and size + len(line) > self._max_bytes:
                self._rotate()
            else:
                self._write(file, size, line)
                return
        self._append(event)

    @contextmanager
    def _locked(self) -> Generator[FileIO]:
        """Open the file, locked where the system supports that."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            with FileIO(self._path, "a+", opener=_private) as file:
                _lock(file)
                try:
                    with suppress(FileNotFoundError):
                        if os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                            yield file
                            return
                    # It was renamed meanwhile.
                finally:
                    _lock(file, free=True)  # a forked process may hold the file open too

    def _write(self, file: FileIO, size: int, line: bytes) -> None:
        """Write a whole line, after a line that a killed process may have left unfinished."""
        file.seek(max(0, size - 1))
        try:
            _write_all(file, line if file.read(1) in (b"", b"\n") else b"\n" + line)
        except BaseException:
            with suppress(OSError):
                file.truncate(size)
            raise
        self._known = self._known[0], file.tell()

    def _rotate(self) -> None:
        for number in range(self._keep - 1, -1, -1):
            with suppress(FileNotFoundError):
                numbered(self._path, number).replace(numbered(self._path, number + 1))
        if not self._keep:
            self._path.unlink()


def line_of(event: Event) -> bytes:
    """Return an event as a line of JSON."""
    return f"{json.dumps(event, allow_nan=False, default=asdict)}\n".encode()


def numbered(path: Path, number: int) -> Path:
    """Return the path of a log file: 0 is the current one, n the one renamed n rotations ago."""
    return path.with_name(f"{path.name}.{number}") if number else path


def _write_all(file: FileIO, line: bytes) -> None:
    data = memoryview(line)
    while data:
        data = data[file.write(data) or 0 :]


def _private(path: str, flags: int) -> int:
    """Open a file of ours; ``OSError`` if it is a link or another user's. Others lose their rights on it.

    What is no file (a device, a terminal, a pipe) is left as it is, and found through the links of the system (``/dev/stdout``).
    """
    if os.path.dirname(path) == "/dev" or (not os.path.isfile(path) and os.path.exists(path)):  # noqa: PTH110, PTH113, PTH120
        return os.open(path, flags, 0o600)
    if os.path.lexists(path):
        take_file(Path(path))
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


def _lock(file: FileIO, *, free: bool = False) -> None:
    with suppress(ImportError, OSError):  # not supported everywhere
        import fcntl  # noqa: PLC0415 - not on every system

        if sys.platform != "win32":  # for type checkers
            fcntl.flock(file, fcntl.LOCK_UN if free else fcntl.LOCK_EX)
