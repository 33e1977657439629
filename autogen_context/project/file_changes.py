"""Notify a conversation when files that it has shown are changed by someone else.

Promise: a change by someone else is reported once, with a short diff without secrets; the agent's own changes are not. Only
regular files below the folder are read. A slow or failing disk costs these notices and nothing else.
"""

import errno
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from difflib import unified_diff
from functools import partial
from itertools import accumulate, islice, takewhile
from pathlib import Path
from typing import NamedTuple

from autogen_context.cache.files import read_regular
from autogen_context.cache.fingerprint import Proof, changed
from autogen_context.forks import when_forked
from autogen_context.messages.message import Text, content_digest
from autogen_context.messages.saved import read_saved, saved
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import answers_of, outcome_of_call
from autogen_context.messages.tool_call import ToolKinds, actions_of
from autogen_context.project.index import BINARY_BYTES
from autogen_context.project.secrets import without_secrets
from autogen_context.project.thread import in_thread, wait_for
from autogen_context.text.quote import named
from autogen_context.view.notice import (
    CHANGED,
    DELETED,
    NOTHING,
    Notice,
    ProviderTurn,
    ProviderUpdate,
)

LONGEST_WAIT_S = 1.0  # time that a turn waits for the disk
MOST_READ_NOWAIT = 4  # files read by a turn that cannot wait
MOST_FILES = 256  # of one change that are named
MOST_BYTES_PER_FILE = 128 * 1024  # only the size of a larger file is reported

MOST_DIFFS = 8  # per turn; changes of more files are reported without a diff
MOST_REPORTS = 4  # notices per file until it is read again: it may be written continuously
AGAIN = "{path} is on disk again as it was read above"
GONE = "deleted"  # key of that change
ONLY_SECRETS = "(only in what looks like a secret, which is not shown)"
NO_MORE = "It keeps changing; further changes are not reported until it is read again."

MOST_CHARS = 2_000  # of the diff of one file
MOST_LINES = 2_000  # compared; difflib takes seconds for more
CONTEXT_LINES = 2
LONGEST_LINE = 200  # in characters; longer lines are cut
MORE_CHARS = 40  # reserved for the line with the number of omitted hunks


class FileChangeTracker:
    """A folder whose files are tracked once a conversation has seen them; conversations may share it.

    Args:
        root: the folder; nothing outside it is read.

    Raises:
        ValueError: ``root`` is not a folder.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(os.path.normpath(Path(root).absolute()))
        if not self.root.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder; this is not one")
        self._real_root = self.root.resolve()

    def path_of(self, written: str) -> str | None:
        """Return the path of a file as written in a conversation, or ``None`` if it is not below the root."""
        path = Path(os.path.normpath(self.root / written))
        for root in (self.root, self._real_root):
            if path.is_relative_to(root):
                return str(self.root / path.relative_to(root))
        return None

    def real(self, path: str) -> Path:
        """Resolve the links in a path, whether or not it exists; raise ``OSError`` if it leads outside the root."""
        real = (self._real_root / Path(path).relative_to(self.root)).resolve()
        if not real.is_relative_to(self._real_root):
            raise PermissionError(errno.EPERM, "it leads out of the project")
        return real


class FileContent(NamedTuple):
    """The content of a file: a digest, and its text if it can be shown, else a description."""

    digest: str
    text: str | None = None
    words: str = ""


class SeenFile(NamedTuple):
    """A file that was seen, under the name used in the conversation."""

    name: str
    content: FileContent | None = None  # as it was shown; ``None`` until it is read
    proof: Proof | None = None  # identifies the state compared last; ``None`` if not compared yet
    reported: str = ""  # key of the change reported last; empty if unchanged since shown
    times: int = 0  # number of notices about it


class CheckedFile(NamedTuple):
    """The result of checking a file: its record before and now, and what to report of it."""

    path: str
    before: SeenFile
    now: SeenFile
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFiles:
    """Saved state: per seen file its name, digest, last reported change and number of notices; and the messages read."""

    seen: tuple[tuple[Text, str, Text, int], ...] = ()
    messages: int = 0
    schema: int = 2


class FilesProvider:
    """Tracks the files that one conversation shows; a ``ContextProvider``.

    Checks may run in a thread: they get immutable records and return results, which a turn applies.
    """

    name = "files"

    def __init__(self, tracker: FileChangeTracker, kinds: ToolKinds) -> None:
        self._tracker = tracker
        self._kinds = kinds
        self._files: dict[str, SeenFile] = {}  # by path, least recently seen first
        self._look: Future[list[CheckedFile]] | None = None  # results that no turn has applied yet
        self._awaited: Future[list[CheckedFile]] | None = None  # the same, if this turn waits
        self._touched: set[int] = set()
        self._messages = 0  # number of messages read
        self._resumed = 0  # number of messages read before the state was saved
        self._closed = False
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self._look = self._awaited = None  # its thread is the parent's

    @property
    def state(self) -> Mapping[str, object]:
        """The seen files with digests of their contents and what was reported about them."""
        seen = tuple(
            (file.name, file.content.digest, file.reported, file.times)
            for file in self._files.values()
            if file.content is not None
        )
        return saved(SavedFiles(seen=seen, messages=max(self._messages, self._resumed)))

    def resumed(self, state: Mapping[str, object], /) -> "FilesProvider":
        """Return a provider that resumes from a saved state; it reports what changed since."""
        source = "save_state()"
        found = read_saved(SavedFiles, state, what="files that were seen", schema=2, source=source)
        other = FilesProvider(self._tracker, self._kinds)
        other._resumed = found.messages
        for name, digest, reported, times in found.seen:
            path = self._tracker.path_of(name)
            if path is None:  # the project may have moved
                continue
            content = FileContent(digest, words="what it was is not known any more")
            known = self._files.get(path)
            if known and known.content and known.content.digest == digest:
                content = known.content
            other._files[path] = SeenFile(name, content, reported=reported, times=times)
        return other

    def begin(self, turn: ProviderTurn, /) -> None:
        """Check the files in a thread, unless the disk is still busy with the last check."""
        self._read(turn)
        self._awaited = None
        if self._files and (self._look is None or self._look.done()):
            due = self._due(turn)
            self._look = in_thread(partial(compared, self._tracker, due, MOST_FILES))
            self._awaited = self._look

    async def before_turn(self, _turn: ProviderTurn, /) -> None:
        """Wait at most ``LONGEST_WAIT_S`` for the files."""
        if (awaited := self._awaited) is not None:
            await wait_for(awaited, LONGEST_WAIT_S)

    def turn(self, turn: ProviderTurn, /) -> ProviderUpdate:
        """Return notices about files that changed since they were shown."""
        self._read(turn)
        if self._look is None:
            found = compared(self._tracker, self._due(turn), MOST_READ_NOWAIT)
        elif self._look.done():
            look, self._look = self._look, None
            found = look.result()
        else:
            return NOTHING
        return self._news(found, turn) if found else NOTHING

    async def aclose(self) -> None:
        """Stop tracking files."""
        self._files, self._closed = {}, True

    def _read(self, turn: ProviderTurn) -> None:
        """Mark for reading the files that new units show, and the seen files that they write."""
        if self._closed:
            return
        if not turn.known and self._messages:  # another conversation may lack the notices
            self._files = {path: file._replace(proof=None) for path, file in self._files.items()}
        self._messages = turn.units[-1].stop if turn.units else 0
        for unit in turn.new:
            for key, shown, written in touches(unit, self._kinds):
                if key in self._touched:  # seen before; the host edited earlier messages
                    continue
                self._touched.add(key)
                if unit.stop <= self._resumed and all(map(self._knows, shown)):
                    continue  # already covered by the saved state
                for name in (*shown, *filter(self._knows, written)):
                    path = self._tracker.path_of(name)
                    if path is not None:
                        self._files.pop(path, None)
                        self._files[path] = SeenFile(name)
        while len(self._files) > MOST_FILES:
            del self._files[next(iter(self._files))]

    def _knows(self, name: str) -> bool:
        return self._tracker.path_of(name) in self._files

    def _due(self, turn: ProviderTurn) -> dict[str, SeenFile]:
        """Return the files to check, unread ones first; only those while a call without result may be writing files."""
        waits = bool(turn.units) and turn.units[-1].unanswered
        unread = {path: file for path, file in self._files.items() if file.content is None}
        return unread if waits else unread | self._files

    def _news(self, found: Iterable[CheckedFile], turn: ProviderTurn) -> ProviderUpdate:
        """Apply the results; return notices about new changes, and withdrawals for files that are as shown again."""
        in_force = {notice.key for notice in turn.in_force if notice.topic == "file"}
        notices: list[Notice] = []
        withdrawn: list[Notice] = []
        for path, before, now, detail in found:
            if self._files.get(path) is not before:
                continue  # evicted, or shown again
            if now.content is None:  # unreadable files are not tracked
                del self._files[path]
                continue
            name, key, times = before.name, now.reported, before.times
            if not key and before.reported:
                text = AGAIN.format(path=named(name))
                withdrawn.append(Notice(topic="file", key=name, text=text))
            is_new = key != before.reported or (before.proof is None and name not in in_force)
            if key and is_new:
                times += 1
                shown = detail if len(notices) < MOST_DIFFS else ""
                shown = NO_MORE if times >= MOST_REPORTS and key != GONE else shown
                text = (DELETED if key == GONE else CHANGED).format(path=named(name))
                notices.append(Notice(topic="file", key=name, text=text, detail=shown))
            self._files[path] = now._replace(times=times if key else 0)
        return ProviderUpdate(notices=tuple(notices), withdrawn=tuple(withdrawn))


def touches(unit: Unit, kinds: ToolKinds) -> Iterator[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    """Yield, per successful tool call that uses files: a hash of call and result, the files shown, the files written."""
    if not unit.has_calls:
        return
    for action, (call, answer) in zip(actions_of(unit, kinds), answers_of(unit), strict=True):
        shown = tuple(view.path for view in action.views)
        is_of_files = answer is not None and bool(shown or action.writes)
        if is_of_files and not outcome_of_call(action, answer).failed:
            yield hash((call, answer)), shown, action.writes


def compared(
    tracker: FileChangeTracker, files: Mapping[str, SeenFile], most_read: int
) -> list[CheckedFile]:
    """Check the files that may have changed, and those not read yet."""
    differing = changed({path: file.proof or () for path, file in files.items()})
    due = islice(differing.items(), most_read)
    return [checked(tracker, path, files[path], proof) for path, proof in due]


def checked(tracker: FileChangeTracker, path: str, file: SeenFile, proof: Proof) -> CheckedFile:
    """Compare a file with its content as it was shown, or take its current content for that."""
    same = file._replace(proof=proof, reported="")
    try:
        now = content_of(tracker.real(path))
    except FileNotFoundError:
        return CheckedFile(path, file, same._replace(reported=GONE))
    except (OSError, ValueError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else "its name leads nowhere"
        detail = f"it cannot be read any more: {why}"
        return CheckedFile(path, file, same._replace(reported=detail), detail)
    before = file.content or now
    if before.digest == now.digest:
        return CheckedFile(path, file, same._replace(content=now))
    detail = f"({now.words or before.words})"
    if before.text is not None and now.text is not None:
        detail = difference_of(before.text, now.text, most_chars=MOST_CHARS)
    return CheckedFile(path, file, same._replace(content=before, reported=now.digest), detail)


def content_of(real: Path) -> FileContent:
    """Read the content of a file, without secrets, or raise ``OSError``; line ending style and trailing newlines are ignored."""
    try:
        content = read_regular(real, most_bytes=MOST_BYTES_PER_FILE)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        found = real.stat()
        identity = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"
        words = f"too large to show, {found.st_size:,} bytes"
        return FileContent(content_digest(identity).hex(), words=words)
    if b"\0" in content[:BINARY_BYTES]:
        return FileContent(content_digest(content).hex(), words=f"binary, {len(content):,} bytes")
    text = content.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n")
    return FileContent(content_digest(text).hex(), without_secrets(text))


def difference_of(before: str, after: str, *, most_chars: int) -> str:
    """Return the number of lines removed and added (up to 100 characters), and as many hunks of a unified diff as fit."""
    if before == after:
        return ONLY_SECRETS
    old, new = before.split("\n"), after.split("\n")
    gone, come = Counter(old), Counter(new)  # moved lines count as neither
    went, came = (gone - come).total(), (come - gone).total()
    same = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    first = sum(1 for _ in same) + 1
    said = f"{went:,} of {len(old):,} lines removed, {came:,} added, from line {first:,} on"
    if max(len(old), len(new)) > MOST_LINES:
        return said
    lines = islice(unified_diff(old, new, n=CONTEXT_LINES, lineterm=""), 2, None)
    cut = (line[: LONGEST_LINE + 1] + "…" * (len(line) > LONGEST_LINE + 1) for line in lines)
    places = [f"@@{place}" for place in "\n".join(["", *cut]).split("\n@@")[1:]]
    room, sizes = most_chars - len(said) - 2, list(accumulate(len(place) + 1 for place in places))
    room -= MORE_CHARS if sizes and sizes[-1] > room else 0
    kept = places[: bisect_right(sizes, room)]
    if not kept:
        return said
    if left := len(places) - len(kept):
        kept.append(f"[… {left:,} more places]")
    return "\n".join([f"{said}:", *kept])
