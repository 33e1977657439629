"""Tell a conversation what became of the files that it shows, when somebody else changes them.

Promise: a change by somebody else is told once, with a short diff; what the agent itself wrote is not. Where nothing
changed on disk, nothing is different. A disk that is slow or fails costs what it would have told, and nothing else.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from autogen_context.messages.prefix import same_at_front
from autogen_context.messages.record import Record
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.project.files.followed import Followed, News
from autogen_context.project.files.followed_files import FollowedFiles
from autogen_context.project.files.seen_file import SeenChange
from autogen_context.session.applying import apply
from autogen_context.session.change import ContextChange
from autogen_context.session.files import Touch, touches
from autogen_context.session.session import Session
from autogen_context.view.decision import Candidate

LONGEST_WAIT_S = 1.0  # of a turn, for the disk
MOST_READ_NOWAIT = 4  # files, by a turn that does not wait
MOST_DIFFS = 8  # in a turn; of more files it is told that they changed
MOST_TOLD = 4  # times of one file, until it is read again: it may be written all the time
NO_MORE = "It keeps changing; what becomes of it from now on is not told before it is read again."

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What was told of a file since it was seen: which content it had last, and how often."""

    key: str
    times: int


class Following:
    """Follows the files that one conversation shows; a ``Companion``.

    Args:
        files: the folder that they are in.
        kinds: what tools do.
    """

    name = "files"

    def __init__(self, files: FollowedFiles, kinds: ToolKinds) -> None:
        self._followed: Followed | None = Followed(files)
        self._files = files
        self._kinds = kinds
        self._read: list[Candidate] = []
        self._touched: set[int] = set()
        self._told: dict[str, _Told] = {}
        self._resumed = 0
        self._is_settled = True
        self._has_looked = False
        self._warned = False

    @property
    def state(self) -> Mapping[str, object]:
        """Which files were seen and what they held, by digests, and what was told of them."""
        seen = self._followed.seen if self._followed else {}
        nothing = _Told(key="", times=0)
        told = {name: self._told.get(name, nothing) for name in seen}
        return {
            "seen": [
                {"name": name, "digest": seen[name], "told": each.key, "times": each.times}
                for name, each in told.items()
            ]
        }

    def read(self, session: Session) -> None:
        """Learn from the units that are new which files are shown now, and which the agent wrote."""
        try:
            self._follow(session.conversation.candidates)
        except Exception as error:  # noqa: BLE001 - the turn is worth more than the news
            self._warn(error)

    async def before_turn(self, session: Session, fixed_tokens: int) -> None:  # noqa: ARG002 - a companion's
        """Look at the disk in a thread; a slow one is not waited for."""
        followed = self._followed
        if followed is None or not followed.is_busy:
            return
        look = partial(self._look, followed, settled=self._is_settled)
        looking = asyncio.get_running_loop().run_in_executor(None, look)
        await asyncio.wait([looking], timeout=LONGEST_WAIT_S)
        self._has_looked = True

    def turn(self, session: Session, fixed_tokens: int) -> None:  # noqa: ARG002 - a companion's
        """Have what is known told in the next turn of a session, whose messages are taken in."""
        followed = self._followed
        if followed is None:
            return
        if not self._has_looked:
            self._look(followed, settled=self._is_settled, most_read=MOST_READ_NOWAIT)
        self._has_looked = False
        try:
            self._tell(session, followed.news())
        except Exception as error:  # noqa: BLE001 - as above
            self._warn(error)

    def branch(self) -> "Following":
        """Another one, for a conversation that goes on from here."""
        other = Following(self._files, self._kinds)
        if self._followed is not None:
            other._followed = self._followed.branch()
        other._touched, other._told = set(self._touched), dict(self._told)
        other._resumed = self._resumed
        return other

    def resumed(self, state: Record, messages: int) -> "Following":
        """Another one, which has seen what is in a state; what changed since then is news to it."""
        other = Following(self._files, self._kinds)
        other._resumed, seen = messages, dict[str, str]()
        for file in state.records("seen"):
            name, times = file.text("name"), file.whole("times")
            seen[name] = file.text("digest")
            if times:
                other._told[name] = _Told(key=file.text("told"), times=times)
        other._followed = (self._followed or Followed(self._files)).resumed(seen)
        return other

    def doubt(self) -> None:
        """What was told may not stand any more: the conversation is another one."""
        if self._followed is not None:
            self._followed.doubt()

    async def aclose(self) -> None:
        """Follow nothing any more."""
        self._followed = None

    def _follow(self, candidates: Sequence[Candidate]) -> None:
        """Read the units that are new; the last one when its calls are answered."""
        self._is_settled = not (candidates and candidates[-1].unit.unanswered)
        stop = len(candidates) - (not self._is_settled)
        if not self._continues(candidates):
            del self._read[same_at_front(self._read, candidates[:stop]) :]
        for candidate in candidates[len(self._read) : stop]:
            self._read.append(
                candidate
            )  # first: one that cannot be learned from does not stop the others
            self._learn(candidate)

    def _continues(self, candidates: Sequence[Candidate]) -> bool:
        """Whether all units that were read are still there, by the last one of them."""
        known = len(self._read)
        return not known or (known <= len(candidates) and self._read[-1] is candidates[known - 1])

    def _learn(self, candidate: Candidate) -> None:
        """What a unit shows is to be read as it is now; so is what it changed of a file that was seen."""
        if self._followed is None:
            return
        for touch in touches(candidate.unit, self._kinds):
            if touch.key in self._touched:  # the host edited what stands in front of it
                continue
            self._touched.add(touch.key)
            if candidate.unit.stop <= self._resumed and self._knows_all(touch):
                continue  # as it was when this was saved
            seen = [path for path in touch.written if self._followed.knows(path)]
            for path in (*touch.shown, *seen):
                self._followed.see(path)
                self._told.pop(path, None)

    def _knows_all(self, touch: Touch) -> bool:
        """Whether what a call shows is known of; what it wrote may not have been seen at all."""
        return self._followed is not None and all(map(self._followed.knows, touch.shown))

    def _look(self, followed: Followed, *, settled: bool, **most: int) -> None:
        try:
            followed.look(settled=settled, **most)
        except Exception as error:  # noqa: BLE001 - as above
            self._warn(error)

    def _tell(self, session: Session, news: Sequence[News]) -> None:
        """Apply to a session what is news to it."""
        changes: list[ContextChange] = []
        for each in news:
            if each.change is None:
                self._take_back(session, each.name)
            elif session.beside.may_show(each.name) and self._is_new(session, each):
                with_diff = len(changes) < MOST_DIFFS
                changes.append(self._change(each.name, each.change, with_diff=with_diff))
        if changes:
            apply(session, changes)

    def _take_back(self, session: Session, name: str) -> None:
        """A file is as it was; what was said of it by others stands."""
        if self._told.pop(name, None):
            session.beside.take_back(name)

    def _is_new(self, session: Session, news: News) -> bool:
        """Whether a change was not told yet, and may be."""
        told = self._told.get(news.name)
        if told is None or news.change is None:
            return told is None
        stands = session.beside.notices.get("file", news.name) is not None
        return not (stands and (told.key == key_of(news.change) or told.times >= MOST_TOLD))

    def _change(self, name: str, change: SeenChange, *, with_diff: bool) -> ContextChange:
        """What is told of a file; remembered as told."""
        times = self._told[name].times + 1 if name in self._told else 1
        self._told[name] = _Told(key=key_of(change), times=times)
        if change.kind == "deleted":
            return ContextChange.file_deleted(name)
        if times >= MOST_TOLD:
            return ContextChange.file_modified(name, text=NO_MORE)
        return ContextChange.file_modified(name, text=detail_of(change) if with_diff else "")

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _LOGGER.warning("what became of files on disk is not told", exc_info=error)


def key_of(change: SeenChange) -> str:
    """What tells one change of a file from another: what it holds now."""
    return change.digest or change.text


def detail_of(change: SeenChange) -> str:
    """What is told of a change below the line that names the file."""
    _, _, detail = change.text.partition(" since it was shown")
    return detail.removeprefix(";").strip() or change.text
