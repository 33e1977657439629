"""The event log: a JSON Lines file, written in the background, that records what each turn sent and why.

Promise: a turn never waits for the log and never fails because of it. Events lost to a full queue or disk are counted, with one
warning; a full disk never leaves half a line, and a file is rotated soon after it reaches ``max_bytes``.
"""

import contextlib
import json
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from io import FileIO
from pathlib import Path
from typing import Self

from autogen_context.argument import require_path, require_whole

logger = logging.getLogger(__name__)

MOST_WAITING = 1_000  # events
EACH_S = 0.1  # polling interval
IDLE_S = 5.0  # until the idle thread ends; the next event starts a new one
EXIT_S = 2.0  # at most, that process exit waits for pending writes
LOST = "events find no room and are lost: %s"

Event = Mapping[str, object]
Told = Callable[[int], Event]
"""Builds an event when it is written, given the stretch of the file; the first event of a new stretch must be complete."""


class EventLog:
    """A file to which agents, also of several processes, append their events.

    Args:
        path: the file; missing folders are created; a new file is accessible to this user only.
        record_text: also write the first characters of each unit; otherwise no message text and no key is written.
        max_bytes: at this size the file is renamed to ``run.jsonl.1`` and a new one is started.
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
        self.agent = ""
        self._writer = Writer(LogFile(self.path, max_bytes, keep))
        weakref.finalize(self, self._writer.flush, EXIT_S)

    def of(self, agent: str) -> Self:
        """Return the same log for an agent whose settings give no name."""
        same = copy(self)
        same.agent = agent
        weakref.finalize(same, self._writer.flush, EXIT_S)
        return same

    @property
    def lost(self) -> int:
        """The number of events lost."""
        return self._writer.lost

    def put(self, told: Told) -> bool:
        """Queue an event for writing, without waiting; return False if the queue is full."""
        return self._writer.put(told)

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
        self._queue: deque[Told | threading.Event] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()

    def put(self, told: Told | threading.Event) -> bool:
        """Queue an event, or a ``threading.Event`` to set once everything before it is written."""
        with self._lock:
            if self._pid != os.getpid():  # forked: the parent has the thread and writes the queue
                self._pid, self._thread = os.getpid(), None
                self._queue.clear()
            if len(self._queue) >= MOST_WAITING and not isinstance(told, threading.Event):
                self._lose(1, "the queue is full")
                return False
            self._queue.append(told)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="autogen-context-events", daemon=True
                )
                self._thread.start()
        return True

    def flush(self, timeout_s: float = EXIT_S) -> bool:
        """Wait until everything in the queue is written; return False on timeout."""
        if self._thread is None and not self._queue:
            return True
        done = threading.Event()
        try:
            self.put(done)
        except RuntimeError:  # no thread can be started, as at interpreter shutdown
            return False
        self._wake.set()
        return done.wait(timeout_s)

    def _run(self) -> None:
        idle_s = 0.0
        while True:
            self._wake.wait(EACH_S)
            self._wake.clear()
            waiting = [self._queue.popleft() for _ in range(len(self._queue))]
            idle_s = 0.0 if waiting else idle_s + EACH_S
            self._write([each for each in waiting if not isinstance(each, threading.Event)])
            for each in waiting:
                if isinstance(each, threading.Event):
                    each.set()
            with self._lock:
                if idle_s >= IDLE_S and not self._queue:
                    self._thread = None
                    return

    def _write(self, events: list[Told]) -> None:
        try:
            if events and self._file is None:
                made(events, 0)
            elif events and self._file is not None:
                self._file.append(self._lines(events))
                self._unsaid = 0
        except Exception as error:  # noqa: BLE001 - a failing log loses events, never the agent
            with self._lock:
                self._lose(len(events), type(error).__name__)

    def _lines(self, events: list[Told]) -> Callable[[int], bytes]:
        def lines(stretch: int) -> bytes:
            told = made(events, stretch)
            if self._unsaid:
                told.append({"v": 1, "event": "lost", "count": self._unsaid})
            return "".join(f"{json.dumps(event, allow_nan=False)}\n" for event in told).encode()

        return lines

    def _lose(self, events: int, why: str) -> None:
        if not self.lost:
            logger.warning(LOST, why, extra={"lost": events})
        self.lost += events
        self._unsaid += events


def made(events: Sequence[Told], stretch: int) -> list[Event]:
    """Build the events in order: each one depends on the one before."""
    return [event(stretch) for event in events]


class LogFile:
    """A rotated file to which whole lines are appended; several processes may share it."""

    def __init__(self, path: Path, max_bytes: int, keep: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._stretch = 0  # incremented after a rotation, a failure or a replaced file
        self._known = (0, 0)  # inode and size of the file last written

    def append(self, lines: Callable[[int], bytes]) -> None:
        """Append the lines built for the current stretch, completely or not at all."""
        try:
            opened = self._opened()
        except BaseException:
            self._known = 0, 0
            lines(self._stretch)  # the next events depend on these
            raise
        with opened as file:
            size, which = file.seek(0, os.SEEK_END), os.fstat(file.fileno()).st_ino
            if which != self._known[0] or size < self._known[1]:
                self._stretch += 1
            try:
                data = memoryview(self._closing(file, size) + lines(self._stretch))
                while data:
                    data = data[file.write(data) or 0 :]
            except BaseException:
                self._known = 0, 0
                with contextlib.suppress(OSError):
                    file.truncate(size)
                raise
            finally:
                _lock(file, free=True)  # a forked process may hold the file open too
            self._known = which, file.tell()

    def _opened(self) -> FileIO:
        """Open the file, rotate it if it is full, and lock it where the system supports that."""
        while True:
            try:
                file = FileIO(self._path, "a+", opener=_private)
            except FileNotFoundError:
                self._path.parent.mkdir(mode=0o700, parents=True)
                continue
            _lock(file)
            now = os.fstat(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                if self._path.stat().st_ino == now.st_ino:
                    if now.st_size < self._max_bytes:
                        return file
                    self._rotate()
            file.close()  # it was renamed meanwhile

    def _rotate(self) -> None:
        for number in range(self._keep - 1, -1, -1):
            with contextlib.suppress(FileNotFoundError):
                numbered(self._path, number).replace(numbered(self._path, number + 1))
        if not self._keep:
            self._path.unlink()

    def _closing(self, file: FileIO, size: int) -> bytes:
        """Return a newline if the file ends in a partial line, left by a killed process."""
        if not size:
            return b""
        file.seek(-1, os.SEEK_END)
        return b"" if file.read(1) == b"\n" else b"\n"


def numbered(path: Path, number: int) -> Path:
    """Return the path of a log file: 0 is the current one, n the one renamed n rotations ago."""
    return path.with_name(f"{path.name}.{number}") if number else path


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _lock(file: FileIO, *, free: bool = False) -> None:
    with contextlib.suppress(ImportError, OSError):  # not supported everywhere
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.flock(file, fcntl.LOCK_UN if free else fcntl.LOCK_EX)
