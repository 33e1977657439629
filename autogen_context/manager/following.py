"""Tell a conversation what became of the files that it shows, when somebody else changes them.

Promise: a change by somebody else is told once, with a short diff; what the agent itself wrote is not. Where nothing
changed on disk, nothing is different. A disk that is slow or fails costs what it would have told, and nothing else.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from autogen_context.messages.message import Text
from autogen_context.messages.prefix import same_at_front
from autogen_context.messages.saved import read_saved, saved
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.project.file_changes import FileChange, FileChangeTracker, SeenFiles
from autogen_context.manager.changes import apply
from autogen_context.manager.change import ContextChange
from autogen_context.session.files import touches
from autogen_context.session.session import Session
from autogen_context.view.decision import Candidate

LONGEST_WAIT_S = 1.0  # of a turn, for the disk
MOST_READ_NOWAIT = 4  # files, by a turn that does not wait
MOST_DIFFS = 8  # in a turn; of more files it is told that they changed
MOST_TOLD = 4  # times of one file, until it is read again: it may be written all the time
NO_MORE = "It keeps changing; what becomes of it from now on is not told before it is read again."

_LOGGER = logging.getLogger(__name__)


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
    seen: tuple[_SavedFile, ...] = ()
    schema: int = 1


class Following:
    """Follows the files that one conversation shows; a ``Companion``.

    Args:
        tracker: the folder that they are in.
        kinds: what tools do.
    """

    name = "files"

    def __init__(self, tracker: FileChangeTracker, kinds: ToolKinds) -> None:
        self._tracker = tracker
        self._kinds = kinds
        self._seen: SeenFiles | None = SeenFiles(tracker)
        self._read: list[Candidate] = []
        self._touched: set[int] = set()
        self._told: dict[str, tuple[str, int]] = {}  # which content was told last, and how often
        self._resumed = 0
        self._is_settled = True
        self._has_looked = False
        self._warned = False

    @property
    def state(self) -> Mapping[str, object]:
        """Which files were seen and what they held, by digests, and what was told of them."""
        files: list[_SavedFile] = []
        for name, digest in (self._seen.digests if self._seen else {}).items():
            told, times = self._told.get(name, ("", 0))
            files.append(_SavedFile(name=name, digest=digest, told=told, times=times))
        return saved(_SavedFiles(seen=tuple(files)))

    def read(self, session: Session) -> None:
        """Learn from the units that are new which files are shown now, and which the agent wrote."""
        try:
            self._follow(session.conversation.candidates)
        except Exception as error:  # noqa: BLE001 - the turn is worth more than the news
            self._warn(error)

    async def before_turn(self, session: Session, fixed_tokens: int) -> None:  # noqa: ARG002 - a companion's
        """Look at the disk in a thread; a slow one is not waited for."""
        if self._seen is None or not self._seen.is_busy:
            return
        look = partial(self._look, self._seen, settled=self._is_settled)
        looking = asyncio.get_running_loop().run_in_executor(None, look)
        await asyncio.wait([looking], timeout=LONGEST_WAIT_S)
        self._has_looked = True

    def turn(self, session: Session, fixed_tokens: int) -> None:  # noqa: ARG002 - a companion's
        """Have what is known told in the next turn of a session, whose messages are taken in."""
        if self._seen is None:
            return
        if not self._has_looked:
            self._look(self._seen, settled=self._is_settled, most_read=MOST_READ_NOWAIT)
        self._has_looked = False
        try:
            self._tell(session, self._seen.changes())
        except Exception as error:  # noqa: BLE001 - as above
            self._warn(error)

    def branch(self) -> "Following":
        """Another one, for a conversation that goes on from here."""
        other = Following(self._tracker, self._kinds)
        other._seen = self._seen.branch() if self._seen else other._seen
        other._touched, other._told = set(self._touched), dict(self._told)
        other._resumed = self._resumed
        return other

    def resumed(self, state: Mapping[str, object], messages: int) -> "Following":
        """Another one, which has seen what is in a state; what changed since then is news to it."""
        files = read_saved(
            _SavedFiles, state, what="files that were seen", schema=1, source="save_state()"
        ).seen
        other = Following(self._tracker, self._kinds)
        other._resumed = messages
        other._told = {each.name: (each.told, each.times) for each in files if each.times}
        seen = self._seen or SeenFiles(self._tracker)
        other._seen = seen.resumed({each.name: each.digest for each in files})
        return other

    def doubt(self) -> None:
        """What was told may not stand any more: the conversation is another one."""
        if self._seen is not None:
            self._seen.doubt()

    async def aclose(self) -> None:
        """Follow nothing any more."""
        self._seen = None

    def _follow(self, candidates: Sequence[Candidate]) -> None:
        """Read the units that are new; the last one when its calls are answered."""
        self._is_settled = not (candidates and candidates[-1].unit.unanswered)
        stop = len(candidates) - (not self._is_settled)
        known = len(self._read)
        if known and (known > len(candidates) or self._read[-1] is not candidates[known - 1]):
            del self._read[same_at_front(self._read, candidates[:stop]) :]
        for candidate in candidates[len(self._read) : stop]:
            # first: one that cannot be learned from does not stop the others
            self._read.append(candidate)
            if self._seen is not None:
                self._learn(self._seen, candidate)

    def _learn(self, seen: SeenFiles, candidate: Candidate) -> None:
        """What a unit shows is to be read as it is now; so is what it changed of a file that was seen."""
        for touch in touches(candidate.unit, self._kinds):
            if touch.key in self._touched:  # the host edited what stands in front of it
                continue
            self._touched.add(touch.key)
            if candidate.unit.stop <= self._resumed and all(map(seen.knows, touch.shown)):
                continue  # as it was when this was saved; what it wrote may not have been seen at all
            written = [path for path in touch.written if seen.knows(path)]
            for path in (*touch.shown, *written):
                seen.see(path)
                self._told.pop(path, None)

    def _look(self, seen: SeenFiles, *, settled: bool, **most: int) -> None:
        try:
            seen.look(settled=settled, **most)
        except Exception as error:  # noqa: BLE001 - as above
            self._warn(error)

    def _tell(self, session: Session, found: Mapping[str, FileChange | None]) -> None:
        """Apply to a session what is news to it; of a file that is as it was, what others said stands."""
        changes: list[ContextChange] = []
        for name, change in found.items():
            if change is None:
                if self._told.pop(name, None):
                    session.beside.take_back(name)
            elif session.beside.may_show(name) and self._is_new(session, name, change):
                changes.append(self._change(name, change, with_diff=len(changes) < MOST_DIFFS))
        if changes:
            apply(session, changes)

    def _is_new(self, session: Session, name: str, change: FileChange) -> bool:
        """Whether a change was not told yet, and may be."""
        if name not in self._told:
            return True
        told, times = self._told[name]
        stands = session.beside.notices.get("file", name) is not None
        return not (stands and (told == _key(change) or times >= MOST_TOLD))

    def _change(self, name: str, change: FileChange, *, with_diff: bool) -> ContextChange:
        """What is told of a file; remembered as told."""
        _, times = self._told.get(name, ("", 0))
        self._told[name] = (_key(change), times + 1)
        if change.kind == "deleted":
            return ContextChange.file_deleted(name)
        if times + 1 >= MOST_TOLD:
            return ContextChange.file_modified(name, text=NO_MORE)
        return ContextChange.file_modified(name, text=change.detail if with_diff else "")

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _LOGGER.warning("what became of files on disk is not told", exc_info=error)


def _key(change: FileChange) -> str:
    """What tells one change of a file from another: what it holds now."""
    return change.digest or f"{change.kind} {change.detail}"
