"""Give a conversation the context of the project that it is about.

Promise: a turn takes what is there. A folder that is slow, gone or damaged costs what would have been told of it, and one
warning; the head is written anew well before a compaction, once, so that the compaction finds it.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Thread

from pydantic import StrictBool

from autogen_context.manager.telling import head_of, notices_of
from autogen_context.messages.saved import read_saved, saved
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.project.project import ProjectContext, head_in_state
from autogen_context.project.since import Current
from autogen_context.recall.exchanges import newest_request
from autogen_context.session.files import touches
from autogen_context.session.session import Session
from autogen_context.view.decision import Candidate

FIRST_WAIT_S = 10.0  # of a turn, for the first head
LONGEST_WAIT_S = 1.0  # of a later one
MOST_UNITS = 60  # the newest; the files in them are in play
MOST_MESSAGES = 400  # the newest; the latest instruction stands among them

SCHEMA = 1

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a conversation is written about with.

    Attributes:
        kinds: what tools do.
        share: of the window, for the project, 0..1.
        renew_at_fraction: how full the room is when the head is written anew.
        count: tokens of a text.
    """

    kinds: ToolKinds
    share: float
    renew_at_fraction: float
    count: Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the project is asked.

    Attributes:
        task: what a head is written for.
        in_play: the files that are looked at.
        renew: whether another head is to be written, after what the one before has to tell.
    """

    task: str = ""
    in_play: tuple[str, ...] = ()
    renew: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedProject:
    """What was asked of a project, for another process.

    Attributes:
        renewed: whether a head was written for the next compaction.
        head: that was written last, as the project gives it; empty where none was.
        schema: the number of this shape.
    """

    renewed: StrictBool
    head: Mapping[str, object]
    schema: int = SCHEMA


class Projecting:
    """Tells one conversation of its project; a ``Companion``.

    Args:
        project: the folder; what is read of it is shared with others.
        means: how it is written about.
    """

    name = "project"

    def __init__(self, project: ProjectContext, means: Means) -> None:
        self._shared = project
        self._means = means
        self._own: ProjectContext | None = None
        self._saved: Mapping[str, object] = {}
        self._answers = deque[Current]()
        self._asking: asyncio.Task[None] | Thread | None = None
        self._until = 0.0  # by the clock of the process; turns wait for the answer until then
        self._has_asked = False
        self._renewed = False
        self._warned = False
        self._closed = False

    @property
    def state(self) -> Mapping[str, object]:
        """The head that was written, and what has changed since; a thread that asks is waited for."""
        return saved(SavedProject(renewed=self._renewed, head=self._head_state))

    def read(self, session: Session) -> None:
        """Nothing: what is looked at is asked when a head is to be written."""

    async def before_turn(self, session: Session, fixed_tokens: int) -> None:
        """Ask the project; an answer that takes longer than it may is for a later turn, which does not wait for it."""
        self._begin(session, fixed_tokens)
        self._has_asked = True
        left_s = self._until - time.monotonic()
        if left_s > 0 and isinstance(self._asking, asyncio.Task) and is_here(self._asking):
            await asyncio.wait({self._asking}, timeout=left_s)

    def turn(self, session: Session, fixed_tokens: int) -> None:
        """Have told what was answered; where nobody asked for this turn, ask for the next one."""
        if not self._has_asked:
            self._begin(session, fixed_tokens)
        self._has_asked = False
        most_tokens = int(self._means.share * session.window.limit_tokens)
        while self._answers:  # one that comes meanwhile, too
            current = self._answers.popleft()
            known = session.beside.notices.of("project")
            session.front.offer(head_of(current, most_tokens), notices_of(current, known))

    def branch(self) -> "Projecting":
        """Another one, which begins with the same head."""
        other = Projecting(self._shared, self._means)
        other._saved = self._head_state
        other._renewed = self._renewed
        return other

    def resumed(self, state: Mapping[str, object], messages: int) -> "Projecting":  # noqa: ARG002 - a companion's
        """Another one, which begins with the head in a state."""
        read = read_saved(SavedProject, state, what="project", schema=SCHEMA, source="save_state()")
        head_in_state(read.head)  # refuses what is damaged, now
        other = Projecting(self._shared, self._means)
        other._renewed, other._saved = read.renewed, read.head
        return other

    def doubt(self) -> None:
        """Nothing: what stands in front is the session's."""

    async def aclose(self) -> None:
        """Ask nothing any more."""
        self._closed = True
        asking, self._asking = self._asking, None
        if isinstance(asking, asyncio.Task) and is_here(asking):
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        if self._own is not None:
            self._own.close()

    @property
    def _head_state(self) -> Mapping[str, object]:
        asking = self._asking if isinstance(self._asking, Thread) else None
        if asking is not None:
            asking.join(LONGEST_WAIT_S)
        if self._own is not None and not (asking and asking.is_alive()):
            self._saved = self._own.state
        return self._saved

    def _begin(self, session: Session, fixed_tokens: int) -> None:
        """Ask in the background, in the loop that is running, else in a thread; not while another question is open."""
        if self._closed or is_under_way(self._asking):
            return
        self._leave_behind()
        timeout_s = LONGEST_WAIT_S if session.front.is_offered else FIRST_WAIT_S
        self._until = time.monotonic() + timeout_s
        try:
            project = self._project_of(session)
        except ValueError as error:  # the folder is gone
            self._warn(error)
            return
        asked = self._ask(project, self._question(session, fixed_tokens))
        try:
            self._asking = asyncio.get_running_loop().create_task(asked)
        except RuntimeError:
            self._asking = Thread(target=asyncio.run, args=(asked,), daemon=True)
            self._asking.start()

    def _leave_behind(self) -> None:
        """A question whose loop stopped before it was answered keeps what it asked: another one is asked from now on."""
        if isinstance(self._asking, asyncio.Task) and not self._asking.done() and self._own:
            self._saved = self._own.state
            self._own.close()
            self._own = None

    def _project_of(self, session: Session) -> ProjectContext:
        """The project for this conversation, by the window that it has when it is asked first."""
        if self._own is None:
            tokens = max(1, int(self._means.share * session.window.limit_tokens))
            own = self._shared.for_conversation(budget_tokens=tokens, count=self._means.count)
            own.resume(self._saved)
            self._own = own
        return self._own

    def _question(self, session: Session, fixed_tokens: int) -> Question:
        """What to ask; the conversation is looked at only where a head is to be written."""
        is_full = session.is_full(fixed_tokens, at_fraction=self._means.renew_at_fraction)
        renew = is_full and not self._renewed and session.front.is_offered
        self._renewed = is_full and (renew or self._renewed)
        if session.front.is_offered and not renew:
            return Question()
        there = session.conversation
        in_play = files_in(there.candidates[-MOST_UNITS:], self._means.kinds)
        task = newest_request(there.messages[-MOST_MESSAGES:])
        return Question(task=task, in_play=tuple(in_play), renew=renew)

    async def _ask(self, project: ProjectContext, question: Question) -> None:
        try:
            self._answers.append(await project.current(question.task, in_play=question.in_play))
            if question.renew:
                project.renew()
                self._answers.append(await project.current(question.task, in_play=question.in_play))
        except Exception as error:  # noqa: BLE001 - a turn is worth more than what would be told
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        is_end = "shutdown" in str(error)  # the process ends while a thread asks: nobody is told
        if not (self._warned or is_end):
            self._warned = True
            _LOGGER.warning("what the project is like is not told", exc_info=error)


def is_under_way(asking: "asyncio.Task[None] | Thread | None") -> bool:
    """Whether a question is being answered; a loop that does not run answers none."""
    if isinstance(asking, Thread):
        return asking.is_alive()
    return asking is not None and not asking.done() and asking.get_loop().is_running()


def is_here(task: "asyncio.Task[None]") -> bool:
    """Whether a task is of the loop that is running."""
    return task.get_loop() is asyncio.get_running_loop()


def files_in(candidates: Sequence[Candidate], kinds: ToolKinds) -> Iterator[str]:
    """The files that calls read or wrote."""
    for candidate in candidates:
        for touch in touches(candidate.unit, kinds):
            yield from (*touch.shown, *touch.written)
