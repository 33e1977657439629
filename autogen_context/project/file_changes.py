"""Tell a conversation what became of the files that it shows, when somebody else changes them.

Promise: a change by somebody else is told once, with a short diff; what the agent itself wrote is not. Only regular files
below the folder are read. A disk that is slow or fails costs what it would have told, and nothing else.
"""

import asyncio
import errno
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

from autogen_context.cache.files import read_regular
from autogen_context.messages.message import Text, content_digest
from autogen_context.messages.saved import read_saved, saved
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import answers_of, is_failure
from autogen_context.messages.tool_call import ToolKinds, actions_of
from autogen_context.project.index import Proof, changed
from autogen_context.view.notice import CHANGED, DELETED, NOTHING, Notice, ProviderTurn, Told

LONGEST_WAIT_S = 1.0  # of a turn, for the disk
MOST_READ_NOWAIT = 4  # files, by a turn that does not wait
MOST_FILES = 256
MOST_BYTES_PER_FILE = 128 * 1024  # a larger file is told in numbers
SNIFFED_BYTES = 8_192  # a zero byte among these is what git takes for the sign of a binary file

MOST_DIFFS = 8  # in a turn; of more files it is told that they changed
MOST_TOLD = 4  # times of one file, until it is read again: it may be written all the time
AGAIN = "{path} is on disk again as it was read above"
NO_MORE = "It keeps changing; what becomes of it from now on is not told before it is read again."

MOST_CHARS = 2_000  # of what is told of a file
MOST_LINES = 2_000  # that are compared; of more difflib takes seconds
CONTEXT_LINES = 2
LONGEST_LINE = 200  # in characters; of a longer one the rest is cut
MORE_CHARS = 40  # for the line that says what was left out


class FileChangeTracker:
    """A folder whose files are followed once a conversation has seen them; several conversations may share it.

    Args:
        root: the folder; nothing outside of it is read.

    Raises:
        ValueError: ``root`` is no folder.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(os.path.normpath(Path(root).absolute()))
        if not self.root.is_dir():
            raise ValueError(f"root={str(root)!r}: give a folder; this is not one")
        self._real_root = self.root.resolve()

    def path_of(self, written: str) -> str | None:
        """The file that a conversation means; ``None`` where that is not below the root."""
        path = Path(os.path.normpath(self.root / written))
        for root in (self.root, self._real_root):
            if path.is_relative_to(root):
                return str(self.root / path.relative_to(root))
        return None

    def real(self, path: str) -> Path:
        """Where a file below the root lies, without links, be it there or not; ``OSError`` where that is outside of it."""
        real = (self._real_root / Path(path).relative_to(self.root)).resolve()
        if not real.is_relative_to(self._real_root):
            raise PermissionError(errno.EPERM, "it leads out of the project")
        return real


class Content(NamedTuple):
    """What a file holds: a digest, the text where it is to be shown, and what it is in words where it is not."""

    digest: str
    text: str | None = None
    words: str = ""


class SeenFile(NamedTuple):
    """A file that was seen, by the name that the conversation wrote."""

    name: str
    content: Content | None = None  # as it was shown; none until it is read
    proof: Proof | None = None  # that it is as it was compared last; none where it was not
    told: str = ""  # which content was told of last; empty where it is as it was shown
    times: int = 0  # it was told of


class Found(NamedTuple):
    """A file that was read: as it was known before, what it held when it was shown, and what became of it since."""

    path: str
    before: SeenFile
    content: Content | None
    proof: Proof
    key: str = ""  # what tells this change from another; empty where there is none
    line: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFiles:
    """The files that were seen: name, digest, what was told and how often; and how many messages showed them."""

    seen: tuple[tuple[Text, str, Text, int], ...] = ()
    messages: int = 0
    schema: int = 2


class FilesProvider:
    """Follows the files that one conversation shows; a ``ContextProvider``.

    A look at the disk may be in a thread: it is handed frozen records and leaves an answer, which a turn takes in.
    """

    name = "files"

    def __init__(self, tracker: FileChangeTracker, kinds: ToolKinds) -> None:
        self._tracker = tracker
        self._kinds = kinds
        self._files: dict[str, SeenFile] = {}  # by path, the longest unseen first
        self._look: Future[list[Found]] | None = None  # that no turn has taken in yet
        self._touched: set[int] = set()
        self._messages = 0  # that were read
        self._resumed = 0  # messages that another one had read
        self._closed = False

    @property
    def state(self) -> Mapping[str, object]:
        """Which files were seen and what they held, by digests, and what was told of them."""
        seen = tuple(
            (file.name, file.content.digest, file.told, file.times)
            for file in self._files.values()
            if file.content is not None
        )
        return saved(SavedFiles(seen=seen, messages=max(self._messages, self._resumed)))

    def resumed(self, state: Mapping[str, object], /) -> "FilesProvider":
        """Another one, which has seen what is in a state; what changed since then is news to it."""
        source = "save_state()"
        found = read_saved(SavedFiles, state, what="files that were seen", schema=2, source=source)
        other = FilesProvider(self._tracker, self._kinds)
        other._resumed = found.messages
        for name, digest, told, times in found.seen:
            path = self._tracker.path_of(name)
            if path is None:  # the project may be somewhere else by now
                continue
            content = Content(digest, words="what it was is not known any more")
            known = self._files.get(path)
            if known and known.content and known.content.digest == digest:
                content = known.content
            other._files[path] = SeenFile(name, content, told=told, times=times)
        return other

    async def before_turn(self, turn: ProviderTurn, /) -> None:
        """Look at the disk in a thread; a slow one is not waited for."""
        self._read(turn)
        if self._files and (self._look is None or self._look.done()):
            self._look, due = Future(), self._due(turn)
            in_thread = asyncio.get_running_loop().run_in_executor
            looking = in_thread(None, answer, self._look, self._tracker, due)
            await asyncio.wait([looking], timeout=LONGEST_WAIT_S)

    def turn(self, turn: ProviderTurn, /) -> Told:
        """What became of files since they were shown."""
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
        """Follow nothing any more."""
        self._files, self._closed = {}, True

    def _read(self, turn: ProviderTurn) -> None:
        """What new units show is to be read as it is now; so is what they changed of a file that was seen."""
        if self._closed:
            return
        if not turn.known and self._messages:  # another conversation: what was told may not stand
            self._files = {path: file._replace(proof=None) for path, file in self._files.items()}
        self._messages = turn.units[-1].stop if turn.units else 0
        for unit in turn.new:
            for key, shown, written in touches(unit, self._kinds):
                if key in self._touched:  # the host edited what stands in front
                    continue
                self._touched.add(key)
                if unit.stop <= self._resumed and all(map(self._knows, shown)):
                    continue  # as it was when this was saved
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
        """What to look at: what is to be read first. While a call has no result it may be writing a file: changes wait."""
        waits = bool(turn.units) and turn.units[-1].unanswered
        unread = {path: file for path, file in self._files.items() if file.content is None}
        return unread if waits else unread | self._files

    def _news(self, found: Iterable[Found], turn: ProviderTurn) -> Told:
        """Take in what was found, and tell what of it is news; of a file that is as it was, what others said stands."""
        standing = {notice.key for notice in turn.standing if notice.topic == "file"}
        notices: list[Notice] = []
        withdrawn: list[Notice] = []
        for path, before, content, proof, key, line, detail in found:
            if self._files.get(path) is not before:
                continue  # it went, or was shown again
            if content is None:  # what cannot be read is not followed
                del self._files[path]
                continue
            name, told, times = before.name, before.told, before.times
            if not key and told:
                text = AGAIN.format(path=name)
                withdrawn.append(Notice(topic="file", key=name, text=text))
            if key and (key != told or (before.proof is None and name not in standing)):
                times += 1
                shown = detail if len(notices) < MOST_DIFFS else ""
                shown = NO_MORE if times >= MOST_TOLD and line == CHANGED else shown
                text = line.format(path=name)
                notices.append(Notice(topic="file", key=name, text=text, detail=shown))
            self._files[path] = SeenFile(name, content, proof, key, times if key else 0)
        return Told(notices=tuple(notices), withdrawn=tuple(withdrawn))


def touches(unit: Unit, kinds: ToolKinds) -> Iterator[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    """What the calls of a unit did with files: a key of call and answer, what they show, what they wrote; not if they failed."""
    if not unit.has_calls:
        return
    for action, (call, answer) in zip(actions_of(unit, kinds), answers_of(unit), strict=True):
        shown = tuple(view.path for view in action.views)
        if (shown or action.writes) and answer is not None and not is_failure(answer):
            yield hash((call, answer)), shown, action.writes


def answer(
    look: "Future[list[Found]]", tracker: FileChangeTracker, files: Mapping[str, SeenFile]
) -> None:
    """Look at files in a thread."""
    try:
        look.set_result(compared(tracker, files, MOST_FILES))
    except Exception as error:  # noqa: BLE001 - the turn raises it
        look.set_exception(error)


def compared(
    tracker: FileChangeTracker, files: Mapping[str, SeenFile], most_read: int
) -> list[Found]:
    """Files that may have changed, beside what they held when they were shown; of those not read yet, what they hold."""
    found: list[Found] = []
    differing = changed({path: file.proof or () for path, file in files.items()})
    for path, proof in islice(differing.items(), most_read):
        file = files[path]
        try:
            now = content_of(tracker.real(path))
        except FileNotFoundError:
            found.append(Found(path, file, file.content, proof, "deleted", DELETED))
            continue
        except (OSError, ValueError, RuntimeError) as error:
            why = error.strerror if isinstance(error, OSError) else "its name leads nowhere"
            detail = f"it cannot be read any more: {why}"
            found.append(Found(path, file, file.content, proof, detail, CHANGED, detail))
            continue
        before = file.content or now
        if before.digest == now.digest:
            found.append(Found(path, file, now, proof))
            continue
        detail = f"({now.words or before.words})"
        if before.text is not None and now.text is not None:
            detail = told_changes(before.text, now.text, most_chars=MOST_CHARS)
        found.append(Found(path, file, before, proof, now.digest, CHANGED, detail))
    return found


def content_of(real: Path) -> Content:
    """What a file holds now, or ``OSError``; how lines end, and whether the last one does, makes no difference to a text."""
    try:
        content = read_regular(real, most_bytes=MOST_BYTES_PER_FILE)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        found = real.stat()
        identity = f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"
        words = f"too large to show, {found.st_size:,} bytes"
        return Content(content_digest(identity).hex(), words=words)
    if b"\0" in content[:SNIFFED_BYTES]:
        return Content(content_digest(content).hex(), words=f"binary, {len(content):,} bytes")
    text = content.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n")
    return Content(content_digest(text).hex(), text)


def told_changes(before: str, after: str, *, most_chars: int) -> str:
    """How many lines of a text went and came, and a unified diff as far as there is room; the numbers may have 100 characters."""
    old, new = before.split("\n"), after.split("\n")
    gone, come = Counter(old), Counter(new)  # a line that moved did neither
    went, came = (gone - come).total(), (come - gone).total()
    same = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    first = sum(1 for _ in same) + 1
    said = f"{went:,} of {len(old):,} lines went, {came:,} came, from line {first:,} on"
    if max(len(old), len(new)) > MOST_LINES:
        return said
    lines = islice(unified_diff(old, new, n=CONTEXT_LINES, lineterm=""), 2, None)
    cut = (line[: LONGEST_LINE + 1] + "…" * (len(line) > LONGEST_LINE + 1) for line in lines)
    places = [f"@@{place}" for place in "\n".join(["", *cut]).split("\n@@")[1:]]
    kept: list[str] = []
    room = most_chars - len(said) - 2
    for number, place in enumerate(places, start=1):
        room -= len(place) + 1
        if room < (0 if number == len(places) else MORE_CHARS):
            break
        kept.append(place)
    if not kept:
        return said
    if left := len(places) - len(kept):
        kept.append(f"[… {left:,} more places]")
    return "\n".join([f"{said}:", *kept])
