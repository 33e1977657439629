"""Tell a conversation what became of the files that it shows, when somebody else changes them.

Promise: a change by somebody else is told once, with a short diff; what the agent itself wrote is not. Where nothing
changed on disk, nothing is different. A disk that is slow or fails costs what it would have told, and nothing else.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from autogen_context.messages.message import Text
from autogen_context.messages.saved import read_saved, saved
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import answers_of, is_failure
from autogen_context.messages.tool_call import ToolKinds, actions_of
from autogen_context.project.file_changes import FileChange, FileChangeTracker, SeenFiles
from autogen_context.view.notice import Notice
from autogen_context.view.provider import NOTHING, ProviderTurn, Told

LONGEST_WAIT_S = 1.0  # of a turn, for the disk
MOST_READ_NOWAIT = 4  # files, by a turn that does not wait
MOST_DIFFS = 8  # in a turn; of more files it is told that they changed
MOST_TOLD = 4  # times of one file, until it is read again: it may be written all the time
CHANGED = "{name} changed on disk since it was read above"
DELETED = "{name} was deleted from disk since it was read above"
AGAIN = "{name} is on disk again as it was read above"
NO_MORE = "It keeps changing; what becomes of it from now on is not told before it is read again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """What a call that did what it should did with files.

    Attributes:
        key: the same for the same call with the same answer, wherever it stands.
        shown: the files of which it shows something.
        written: the files that it changed.
    """

    key: int
    shown: tuple[str, ...]
    written: tuple[str, ...]


def touches(unit: Unit, kinds: ToolKinds) -> Iterator[Touch]:
    """What the calls of a unit did with files, in their order; calls that failed did nothing."""
    if not unit.has_calls:
        return
    for action, (call, answer) in zip(actions_of(unit, kinds), answers_of(unit), strict=True):
        shown = tuple(view.path for view in action.views)
        if (shown or action.writes) and answer is not None and not is_failure(answer):
            yield Touch(key=hash((call, answer)), shown=shown, written=action.writes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SavedFile:
    """A file that was seen, and what was told of it since.

    Attributes:
        name: as the agent wrote it.
        digest: of what it held when it was seen, in hex.
        told: which content it had when it was told of last.
        times: how often it was told of.
    """

    name: Text
    digest: str
    told: Text = ""
    times: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _SavedFiles:
    """The files that were seen, and how many messages showed them."""

    seen: tuple[_SavedFile, ...] = ()
    messages: int = 0
    schema: int = 1


class FilesProvider:
    """Follows the files that one conversation shows; a ``ContextProvider``.

    Args:
        tracker: the folder that they are in.
        kinds: what tools do.
    """

    name = "files"

    def __init__(self, tracker: FileChangeTracker, kinds: ToolKinds) -> None:
        self._tracker = tracker
        self._kinds = kinds
        self._seen: SeenFiles | None = SeenFiles(tracker)
        self._touched: set[int] = set()
        self._told: dict[str, tuple[str, int]] = {}  # which content was told last, and how often
        self._messages = 0  # that were read
        self._resumed = 0  # messages that another one had read
        self._has_looked = False
        self._failed: Exception | None = None

    @property
    def state(self) -> Mapping[str, object]:
        """Which files were seen and what they held, by digests, and what was told of them."""
        files: list[_SavedFile] = []
        for name, digest in (self._seen.digests if self._seen else {}).items():
            told, times = self._told.get(name, ("", 0))
            files.append(_SavedFile(name=name, digest=digest, told=told, times=times))
        messages = max(self._messages, self._resumed)
        return saved(_SavedFiles(seen=tuple(files), messages=messages))

    def resumed(self, state: Mapping[str, object], /) -> "FilesProvider":
        """Another one, which has seen what is in a state; what changed since then is news to it."""
        source = "save_state()"
        found = read_saved(_SavedFiles, state, what="files that were seen", schema=1, source=source)
        other = FilesProvider(self._tracker, self._kinds)
        other._resumed = found.messages
        other._told = {each.name: (each.told, each.times) for each in found.seen if each.times}
        seen = self._seen or SeenFiles(self._tracker)
        other._seen = seen.resumed({each.name: each.digest for each in found.seen})
        return other

    async def before_turn(self, turn: ProviderTurn, /) -> None:
        """Look at the disk in a thread; a slow one is not waited for."""
        self._read(turn)
        if not self._seen:
            return
        look = partial(self._look, self._seen, settled=is_settled(turn))
        looking = asyncio.get_running_loop().run_in_executor(None, look)
        await asyncio.wait([looking], timeout=LONGEST_WAIT_S)
        self._has_looked = True

    def turn(self, turn: ProviderTurn, /) -> Told:
        """What became of files since they were shown."""
        self._read(turn)
        if self._seen is None:
            return NOTHING
        if not self._has_looked:
            self._look(self._seen, settled=is_settled(turn), most_read=MOST_READ_NOWAIT)
        self._has_looked = False
        if self._failed:
            error, self._failed = self._failed, None
            raise error
        return self._news(self._seen.changes(), turn)

    async def aclose(self) -> None:
        """Follow nothing any more."""
        self._seen = None

    def _read(self, turn: ProviderTurn) -> None:
        """What new units show is to be read as it is now; so is what they changed of a file that was seen."""
        if self._seen is None:
            return
        if not turn.known and self._messages:
            self._seen.doubt()
        self._messages = turn.units[-1].stop if turn.units else 0
        for unit in turn.new:
            for touch in touches(unit, self._kinds):
                if touch.key not in self._touched:  # else the host edited what stands in front
                    self._touched.add(touch.key)
                    self._learn(self._seen, touch, is_old=unit.stop <= self._resumed)

    def _learn(self, seen: SeenFiles, touch: Touch, *, is_old: bool) -> None:
        """Take in what a call did with files."""
        if is_old and all(map(seen.knows, touch.shown)):
            return  # as it was when this was saved; what it wrote may not have been seen at all
        written = [path for path in touch.written if seen.knows(path)]
        for path in (*touch.shown, *written):
            seen.see(path)
            self._told.pop(path, None)

    def _look(self, seen: SeenFiles, *, settled: bool, **most: int) -> None:
        try:
            seen.look(settled=settled, **most)
        except Exception as error:  # noqa: BLE001 - it may be in a thread: the turn raises it
            self._failed = error

    def _news(self, found: Mapping[str, FileChange | None], turn: ProviderTurn) -> Told:
        """What of what was found is news; of a file that is as it was, what others said stands."""
        standing = {notice.key for notice in turn.standing if notice.topic == "file"}
        notices: list[Notice] = []
        withdrawn: list[Notice] = []
        for name, change in found.items():
            told, times = self._told.get(name, ("", 0))
            if change is None:
                if self._told.pop(name, None):
                    text = AGAIN.format(name=name)
                    withdrawn.append(Notice(topic="file", key=name, text=text))
            elif not (
                name in standing and times and (told == key_of(change) or times >= MOST_TOLD)
            ):
                self._told[name] = (key_of(change), times + 1)
                detail = change.detail if len(notices) < MOST_DIFFS else ""
                detail = NO_MORE if times + 1 >= MOST_TOLD else detail
                notices.append(notice_of(name, change, detail))
        return Told(notices=tuple(notices), withdrawn=tuple(withdrawn))


def is_settled(turn: ProviderTurn) -> bool:
    """Whether all that the agent did to files is known: a call without a result may be writing one."""
    return not (turn.units and turn.units[-1].unanswered)


def key_of(change: FileChange) -> str:
    """What tells one change of a file from another: what it holds now."""
    return change.digest or f"{change.kind} {change.detail}"


def notice_of(name: str, change: FileChange, detail: str) -> Notice:
    """What is told of a file."""
    if change.kind == "deleted":
        return Notice(topic="file", key=name, text=DELETED.format(name=name))
    return Notice(topic="file", key=name, text=CHANGED.format(name=name), detail=detail)
