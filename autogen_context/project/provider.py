"""Provide a conversation with the context of its project.

A turn uses the results that are available. A slow, missing or damaged folder costs only its own context. The project head is
rewritten once, well before a compaction, so that it is ready for the compaction.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from threading import Thread

from pydantic import StrictBool

from autogen_context.messages.saved import read_saved, saved
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.project.file_changes import touches
from autogen_context.project.project import TOPIC, Head, ProjectContext, ProjectView
from autogen_context.recall.exchanges import newest_request
from autogen_context.view.notice import FURTHER, Notice, PreambleOffer, ProviderTurn, ProviderUpdate

FIRST_WAIT_S = 10.0  # time that a turn waits for the first head
LONGEST_WAIT_S = 1.0  # time that a turn waits for later results
MOST_UNITS = 60  # newest units; the files in them are in play
MOST_SEARCHED = 400  # newest units; searched for the latest instruction
ALL_ELSE = "all else"

SCHEMA = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedProject:
    """Saved state: whether the head was renewed for the next compaction, and the last head."""

    renewed: StrictBool
    head: Head | None = None
    schema: int = SCHEMA


class ProjectProvider:
    """Provides one conversation with the context of its project; a ``ContextProvider``.

    Hosts with synchronous hooks cannot wait, so the project is queried in the background, on the running event loop or else
    in a thread, and a later turn uses the result. ``fraction`` is the project's share of the window; ``renew_at_fraction`` is
    the fill level at which the head is rewritten.
    """

    name = "project"

    def __init__(
        self,
        project: ProjectContext,
        kinds: ToolKinds,
        *,
        fraction: float,
        renew_at_fraction: float,
        count: Callable[[str], int],
    ) -> None:
        self._shared = project
        self._kinds = kinds
        self._fraction = fraction
        self._renew_at_fraction = renew_at_fraction
        self._count = count
        self._own: ProjectContext | None = None
        self._saved: Head | None = None
        self._answers = deque[ProjectView]()
        self._failed: Exception | None = None
        self._asking: asyncio.Task[None] | Thread | None = None
        self._until = 0.0  # monotonic time until which turns wait for the result
        self._has_asked = False
        self._has_answered = False
        self._renewed = False
        self._closed = False

    @property
    def state(self) -> Mapping[str, object]:
        """The head as saved state; waits up to ``LONGEST_WAIT_S`` for a querying thread, else returns the previous state."""
        asking = self._asking if isinstance(self._asking, Thread) else None
        if asking is not None:
            asking.join(LONGEST_WAIT_S)
        if self._own is not None and not (asking and asking.is_alive()):
            self._saved = self._own.head
        return saved(SavedProject(renewed=self._renewed, head=self._saved))

    def resumed(self, state: Mapping[str, object], /) -> "ProjectProvider":
        """Return a provider that starts with the head of a saved state."""
        read = read_saved(SavedProject, state, what="project", schema=SCHEMA, source="save_state()")
        other = ProjectProvider(
            self._shared,
            self._kinds,
            fraction=self._fraction,
            renew_at_fraction=self._renew_at_fraction,
            count=self._count,
        )
        other._renewed, other._saved = read.renewed, read.head
        other._has_answered = read.head is not None
        return other

    async def before_turn(self, turn: ProviderTurn, /) -> None:
        """Query the project and wait within the time limit; a late result is used by a later turn without waiting."""
        self._begin(turn)
        self._has_asked = True
        left_s = self._until - time.monotonic()
        if (
            left_s > 0
            and isinstance(self._asking, asyncio.Task)
            and self._asking.get_loop() is asyncio.get_running_loop()
        ):
            await asyncio.wait({self._asking}, timeout=left_s)

    def turn(self, turn: ProviderTurn, /) -> ProviderUpdate:
        """Return the available results; if ``before_turn`` was not called, start a query for the next turn."""
        if not self._has_asked:
            self._begin(turn)
        self._has_asked = False
        if self._failed:
            error, self._failed = self._failed, None
            raise error
        known = {notice.key for notice in turn.standing if notice.topic == TOPIC}
        offers: list[PreambleOffer] = []
        while self._answers:  # including results that arrive meanwhile
            offer = offer_of(self._answers.popleft(), self._room_tokens(turn), known)
            known |= {notice.key for notice in offer.newer}
            offers.append(offer)
        self._has_answered |= bool(offers)
        return ProviderUpdate(preambles=tuple(offers))

    async def aclose(self) -> None:
        """Stop querying, and cancel an open query of this event loop."""
        self._closed = True
        asking, self._asking = self._asking, None
        if isinstance(asking, asyncio.Task) and asking.get_loop() is asyncio.get_running_loop():
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    def _room_tokens(self, turn: ProviderTurn) -> int:
        return max(1, int(self._fraction * turn.window_tokens))

    def _begin(self, turn: ProviderTurn) -> None:
        """Start a query in the background unless one is running."""
        asking = self._asking
        if self._closed or (isinstance(asking, Thread) and asking.is_alive()):
            return
        if isinstance(asking, asyncio.Task) and not asking.done():
            if asking.get_loop().is_running():
                return
            if self._own:  # its loop stopped with the query unfinished: start again from the state
                self._saved, self._own = self._own.head, None
        timeout_s = LONGEST_WAIT_S if self._has_answered else FIRST_WAIT_S
        self._until = time.monotonic() + timeout_s
        if self._own is None:
            room = self._room_tokens(turn)  # fixed by the window at the first query
            own = self._shared.for_conversation(budget_tokens=room, count=self._count)
            own.resume(self._saved)
            self._own = own
        task, in_play, renew = self._question(turn)
        asked = self._ask(self._own, task, in_play, renew=renew)
        try:
            self._asking = asyncio.get_running_loop().create_task(asked)
        except RuntimeError:
            self._asking = Thread(target=asyncio.run, args=(asked,), daemon=True)
            self._asking.start()

    def _question(self, turn: ProviderTurn) -> tuple[str, tuple[str, ...], bool]:
        """Return the task to write the head for, the files in play, and whether to renew the head.

        The conversation is read only if a head will be written.
        """
        is_full = turn.used_tokens >= self._renew_at_fraction * turn.room_tokens
        renew = is_full and not self._renewed and self._has_answered
        self._renewed = is_full and (renew or self._renewed)
        if self._has_answered and not renew:
            return "", (), False
        searched = turn.units[-MOST_SEARCHED:]
        touched = (each for unit in searched[-MOST_UNITS:] for each in touches(unit, self._kinds))
        in_play = tuple(name for _, shown, written in touched for name in (*shown, *written))
        task = newest_request([message for unit in searched for message in unit.messages])
        return task, in_play, renew

    async def _ask(
        self, project: ProjectContext, task: str, in_play: tuple[str, ...], *, renew: bool
    ) -> None:
        try:
            self._answers.append(await project.current(task, in_play=in_play))
            if renew:  # after the changes to the old head were reported
                project.renew()
                self._answers.append(await project.current(task, in_play=in_play))
        except Exception as error:  # noqa: BLE001 - raised by a later turn
            is_end = "shutdown" in str(error)  # the process exits during a query in a thread
            self._failed = None if is_end else error


def offer_of(view: ProjectView, most_tokens: int, known: Collection[str]) -> PreambleOffer:
    """Return the head as a preamble with the changes since; for a project without content, only the opening.

    Changes without room are listed by name for ``known`` files, which were reported before, else only counted.
    """
    further = sorted(view.missing & set(known))
    newer = [
        *view.changes,
        *(Notice(topic=TOPIC, key=name, text=FURTHER.format(name=name)) for name in further),
    ]
    if more := len(view.missing - set(known)):
        text = f"{more} more files have changed." if more > 1 else "1 more file has changed."
        newer.append(Notice(topic=TOPIC, key=ALL_ELSE, text=text))
    parts = (view.opening, *view.parts)
    return PreambleOffer(parts=parts, most_tokens=most_tokens, newer=tuple(newer))
