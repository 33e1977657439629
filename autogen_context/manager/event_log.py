"""The event log: a file of JSON lines, written in the background, that says what each turn sent, and why.

Promise: a turn never waits for it and never fails by it. What finds no room in the queue or on the disk is counted, and told
once; a file is never left with half a line by a full disk, and is rotated before it has many more bytes than it may.
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
EACH_S = 0.1  # the file is written
IDLE_S = 5.0  # after which the thread ends; the next event has a new one
EXIT_S = 2.0  # that the end of the process waits for what is still to be written
LOST = "events find no room and are lost: %s"

Event = Mapping[str, object]
Told = Callable[[int], Event]
"""An event, made when it is written; it is told which stretch of a file it goes to, since a new one has nothing in it."""


class EventLog:
    """A file to which agents, of several processes too, append their events.

    Args:
        path: the file; folders that are missing are made, for this user alone.
        record_text: whether the first characters of each message are written as well; without it no text and no key is.
        max_bytes: when the file is that large it is renamed, to ``run.jsonl.1``, and begun anew.
        keep: how many renamed ones are kept.

    Raises:
        ValueError: an argument makes no sense; names it, its value and the way out.
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
        """The same log for an agent that its settings do not name."""
        same = copy(self)
        same.agent = agent
        weakref.finalize(same, self._writer.flush, EXIT_S)
        return same

    @property
    def lost(self) -> int:
        """How many events found no room."""
        return self._writer.lost

    def put(self, told: Told) -> bool:
        """Have an event written; ``False`` where there is no room for it now. Never waits."""
        return self._writer.put(told)

    def flush(self, timeout_s: float = EXIT_S) -> bool:
        """Wait until what was told so far is written; ``False`` where that takes longer."""
        return self._writer.flush(timeout_s)


class Writer:
    """A queue, and a thread that looks into it now and then: to wake one costs a turn more than to tell it.

    Without a file events are made, for who else hears of them, and nothing is written.
    """

    def __init__(self, file: "LogFile | None" = None) -> None:
        self.lost = 0
        self._file = file
        self._unsaid = 0  # of what was lost, what the file does not say yet
        self._queue: deque[Told | threading.Event] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()

    def put(self, told: Told | threading.Event) -> bool:
        """Put an event into the queue, or what is to be set when all before it is written."""
        with self._lock:
            if (
                self._pid != os.getpid()
            ):  # forked: what waits is written by the other, which has the thread
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
        """Wait until all that is in the queue is written."""
        if self._thread is None and not self._queue:
            return True
        done = threading.Event()
        try:
            self.put(done)
        except RuntimeError:  # no thread can be started any more
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
        except Exception as error:  # noqa: BLE001 - a log that fails in any way costs its events, not the agent
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
    """The events, in their order: each goes on from the one before."""
    return [event(stretch) for event in events]


class LogFile:
    """A file that grows by whole lines and is rotated; several processes may have the same one."""

    def __init__(self, path: Path, max_bytes: int, keep: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._stretch = 0  # one more after a rotation, a failure, or where another's file is there
        self._known = (0, 0)  # which file it was, and its size

    def append(self, lines: Callable[[int], bytes]) -> None:
        """Append what is made for a stretch, whole or not at all."""
        try:
            opened = self._opened()
        except BaseException:
            self._known = 0, 0
            lines(self._stretch)  # which the next ones go on from
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
                _lock(file, free=True)  # a fork may have it open as well
            self._known = which, file.tell()

    def _opened(self) -> FileIO:
        """The file, rotated where that is due, and locked where the system can."""
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
            file.close()  # another has renamed it

    def _rotate(self) -> None:
        for number in range(self._keep - 1, -1, -1):
            with contextlib.suppress(FileNotFoundError):
                numbered(self._path, number).replace(numbered(self._path, number + 1))
        if not self._keep:
            self._path.unlink()

    def _closing(self, file: FileIO, size: int) -> bytes:
        """A line's end where a process was killed in a line."""
        if not size:
            return b""
        file.seek(-1, os.SEEK_END)
        return b"" if file.read(1) == b"\n" else b"\n"


def numbered(path: Path, number: int) -> Path:
    """The file itself, with 0, or the one that was renamed so many rotations ago."""
    return path.with_name(f"{path.name}.{number}") if number else path


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _lock(file: FileIO, *, free: bool = False) -> None:
    with contextlib.suppress(ImportError, OSError):  # not on every system or disk
        import fcntl  # noqa: PLC0415 - as said

        fcntl.flock(file, fcntl.LOCK_UN if free else fcntl.LOCK_EX)
