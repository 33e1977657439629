"""Provide a conversation with the context of its project.

A turn uses the results that are available. A slow, missing or damaged folder costs only its own context. The project head is
rewritten once, well before a compaction, so that it is ready for the compaction.
"""

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from pydantic import StrictBool

from autogen_context.forks import when_forked
from autogen_context.messages.saved import read_saved, saved
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.project.file_changes import touches
from autogen_context.project.project import TOPIC, Head, ProjectContext, ProjectView
from autogen_context.project.thread import in_thread, wait_for
from autogen_context.recall.exchanges import newest_request
from autogen_context.text.quote import named
from autogen_context.view.notice import FURTHER, Notice, PreambleOffer, ProviderTurn, ProviderUpdate

FIRST_WAIT_S = 10.0  # time that a turn waits for the first head
LONGEST_WAIT_S = 1.0  # time that a turn waits for later results
MOST_UNITS = 60  # newest units; the files in them are in play
MOST_SEARCHED = 400  # newest units; searched for the latest instruction
ALL_ELSE = "all else"

SCHEMA = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedProject:
    """Saved state: whether the head was renewed for the next compaction, and the last head."""

    renewed: StrictBool = False
    head: Head | None = None
    schema: int = SCHEMA


class ProjectProvider:
    """Provides one conversation with the context of its project; a ``ContextProvider``.

    Hosts with synchronous hooks cannot wait, so the project is queried in a thread, and a later turn uses the result.
    ``fraction`` is the project's share of the window; ``renew_at_fraction`` is the fill level at which the head is rewritten.
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
        start: SavedProject = SavedProject(),
    ) -> None:
        self._shared = project
        self._kinds = kinds
        self._fraction = fraction
        self._renew_at_fraction = renew_at_fraction
        self._count = count
        self._own: ProjectContext | None = None
        self._saved = start.head
        self._renewed = start.renewed
        self._query: Future[list[ProjectView]] | None = None
        self._renews = False  # whether it renews the head
        self._until = 0.0  # monotonic time until which turns wait for it
        self._views: list[ProjectView] = []  # that no turn has used yet
        self._has_asked = False
        self._has_answered = start.head is not None
        self._closed = False
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self._query = None  # its thread is the parent's

    @property
    def state(self) -> Mapping[str, object]:
        """The newest head as saved state; a query under way is not waited for."""
        head = self._own.head if self._own else self._saved
        renews = self._renews and self._query is not None and not self._query.done()
        return saved(SavedProject(renewed=self._renewed and not renews, head=head))

    def resumed(self, state: Mapping[str, object], /) -> "ProjectProvider":
        """Return a provider that starts with the head of a saved state."""
        read = read_saved(SavedProject, state, what="project", schema=SCHEMA, source="save_state()")
        return ProjectProvider(
            self._shared,
            self._kinds,
            fraction=self._fraction,
            renew_at_fraction=self._renew_at_fraction,
            count=self._count,
            start=read,
        )

    def begin(self, turn: ProviderTurn, /) -> None:
        """Query the project, unless a query is under way."""
        self._has_asked = True
        self._ask(turn)

    async def before_turn(self, _turn: ProviderTurn, /) -> None:
        """Wait for the query within the time limit; a later turn uses a late result without waiting."""
        query, left_s = self._query, self._until - time.monotonic()
        if query is not None and left_s > 0:
            await wait_for(query, left_s)

    def turn(self, turn: ProviderTurn, /) -> ProviderUpdate:
        """Return the available results; if ``begin`` was not called, start a query for the next turn."""
        if not self._has_asked:
            self._ask(turn)
        self._has_asked = False
        self._collect()
        known = {notice.key for notice in turn.in_force if notice.topic == TOPIC}
        offers: list[PreambleOffer] = []
        for view in self._views:
            offer = offer_of(view, self._room_tokens(turn), known)
            known |= {notice.key for notice in offer.newer}
            offers.append(offer)
        self._views = []
        self._has_answered |= bool(offers)
        return ProviderUpdate(preambles=tuple(offers))

    async def aclose(self) -> None:
        """Stop querying."""
        self._closed = True

    def _room_tokens(self, turn: ProviderTurn) -> int:
        return max(1, int(self._fraction * turn.window_tokens))

    def _collect(self) -> None:
        """Take the result of a query that has ended, or raise its error."""
        if self._query is not None and self._query.done():
            query, self._query = self._query, None
            self._views += query.result()

    def _ask(self, turn: ProviderTurn) -> None:
        """Start a query in the background unless one is running."""
        self._collect()
        if self._closed or self._query is not None:
            return
        timeout_s = LONGEST_WAIT_S if self._has_answered else FIRST_WAIT_S
        self._until = time.monotonic() + timeout_s
        if self._own is None:
            room = self._room_tokens(turn)  # fixed by the window at the first query
            self._own = self._shared.for_conversation(budget_tokens=room, count=self._count)
            self._own.head = self._saved
        task, in_play, self._renews = self._question(turn)
        self._query = in_thread(partial(views_of, self._own, task, in_play, renew=self._renews))

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


def views_of(
    project: ProjectContext, task: str, in_play: tuple[str, ...], *, renew: bool
) -> list[ProjectView]:
    """Return the current view, and the one with a renewed head after it, which the changes to the old head precede."""
    views = [project.view(task, in_play)]
    return [*views, project.view(task, in_play, renew=True)] if renew else views


def offer_of(view: ProjectView, most_tokens: int, known: Collection[str]) -> PreambleOffer:
    """Return the head as a preamble with the changes since; for a project without content, only the opening.

    Changes without room are listed by name for ``known`` files, which were reported before, else only counted.
    """
    further = sorted(view.missing & set(known))
    newer = [
        *view.changes,
        *(Notice(topic=TOPIC, key=name, text=FURTHER.format(name=named(name))) for name in further),
    ]
    if more := len(view.missing - set(known)):
        text = f"{more} more files have changed." if more > 1 else "1 more file has changed."
        newer.append(Notice(topic=TOPIC, key=ALL_ELSE, text=text))
    return PreambleOffer(parts=view.parts, most_tokens=most_tokens, newer=tuple(newer))
