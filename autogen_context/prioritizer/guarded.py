"""A prioritizer of the user's own in a turn: its scores decide while they can be used, else those of ``ContextPrioritizer``.

Promise: nothing that it raises or returns fails a turn or keeps it from its end. No turn waits for scores that are to be awaited: it is
given up (``ScoresDue``), they are awaited on values and with a time limit, and it is taken again with what came of them.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf
from typing import cast
from weakref import WeakValueDictionary

from autogen_context.guard import Due, Guard, Unusable, of_kind
from autogen_context.prioritizer.prioritizer import (
    BlockAt,
    ContextPrioritizer,
    Need,
    Prioritizer,
    Scores,
    UnitScores,
    ValueScores,
)
from autogen_context.prioritizer.record import ConversationRecord


def is_awaited(prioritizer: Prioritizer | None) -> bool:
    """Whether a prioritizer says that its scores are to be awaited."""
    return inspect.iscoroutinefunction(getattr(prioritizer, "scores", None))


@dataclass(frozen=True, kw_only=True)
class Awaited:
    """What came of awaiting the scores of a conversation; ``None``: the usual ones decide. Known for as long as it is held."""

    scores: Mapping[int, float] | None


class ScoresDue(Due):
    """A turn needs scores that are to be awaited outside of it; ``came`` takes what came of that."""

    def __init__(
        self, came: Callable[[Callable[[], object]], Awaited], scores: Awaitable[object]
    ) -> None:
        super().__init__()
        self._came, self._scores = came, scores

    async def awaited(self, timeout_s: float) -> Awaited:
        """Await the scores within a time limit; what comes of it is to be held until the turn was taken again."""

        async def scored() -> object:
            return await self._scores

        task = asyncio.ensure_future(scored())
        try:
            await asyncio.wait([task], timeout=timeout_s)
        finally:
            is_done = task.done() and not task.cancelled()
            task.cancel()  # its end is not waited for
        return self._came(task.result if is_done else late)

    def decline(self) -> Awaited:
        """Await nothing; the same."""
        if inspect.iscoroutine(self._scores):
            self._scores.close()
        return self._came(unasked)


def late() -> object:
    """Raise that scores did not come."""
    raise Unusable("it was cancelled, or took longer than prioritizer_timeout_s")


def unasked() -> object:
    """Raise that scores are not awaited."""
    raise Unusable("its scores are to be awaited, which only prepare does")


class GuardedPrioritizer:
    """Asks a prioritizer of the user's own, and where that fails the usual one, with one warning for each of its methods."""

    def __init__(self, own: Prioritizer) -> None:
        self._own, self._usual = own, ContextPrioritizer()
        self._guard = Guard("prioritizer", "ContextPrioritizer")
        self._awaited = WeakValueDictionary[bytes, Awaited]()  # by conversation

    def scores(self, conversation: ConversationRecord, need: Need, /) -> Scores:
        """Return the scores of a compaction; raise ``ScoresDue`` if they are to be awaited first."""
        usual = partial(self._usual.scores, conversation, need)
        name = conversation.name
        awaited = self._awaited.get(name)
        if awaited is not None and awaited.scores is None:
            return usual()

        def ask() -> object:
            return awaited.scores if awaited else self._own.scores(conversation, need)

        def read(found: object) -> Scores:
            if inspect.isawaitable(found):
                conversation.detach()
                raise ScoresDue(partial(self._came, name), found)
            return scores_from(found, conversation)

        own = self._guard.asked("scores", ask, read)
        if own is None or isinstance(own, UnitScores | ValueScores):
            return own or usual()
        return GuardedScores(own, usual, self._guard)

    def _came(self, conversation: bytes, answer: Callable[[], object]) -> Awaited:
        """Note what was awaited."""
        came = Awaited(scores=self._guard.asked("scores", answer, by_unit))
        self._awaited[conversation] = came
        return came


def by_unit(found: object) -> Mapping[int, float]:
    """Return a copy of one score for each unit."""
    if not isinstance(found, Mapping):
        raise Unusable(f"it gave {type(found).__name__} instead of a score for each unit")
    return dict(cast("Mapping[int, float]", found))  # read where it is used


def scores_from(found: object, conversation: ConversationRecord) -> Scores:
    """Return what a prioritizer returned as scores of blocks."""
    if isinstance(found, Mapping):
        try:
            return UnitScores(conversation, cast("Mapping[int, float]", found))
        except (TypeError, ValueError) as error:
            raise Unusable(str(error)) from error
    if not all(callable(getattr(found, name, None)) for name in ("score", "keep", "reasons")):
        raise Unusable(
            f"it returned {type(found).__name__}, neither Scores nor a score for each unit"
        )
    return cast("Scores", found)  # it has the methods


class GuardedScores:
    """Scores of the user's own; from the first that cannot be used on, those of ``usual``.

    Between two calls of ``keep`` a block has one score, so that a choice among blocks comes to its end whatever they are.
    """

    def __init__(self, own: Scores, usual: Callable[[], Scores], guard: Guard) -> None:
        self._own: Scores | None = own
        self._make_usual, self._guard = usual, guard
        self._known: dict[BlockAt, float] = {}
        self._kept: list[BlockAt] = []

    @cached_property
    def _usual(self) -> Scores:
        usual = self._make_usual()
        for at in self._kept:
            usual.keep(at)
        return usual

    def score(self, at: BlockAt) -> float:
        """Return what a block adds."""
        own, known = self._own, self._known.get(at)
        if own is not None and known is None:
            known = self._guard.asked("score", lambda: own.score(at), checked)
            if known is None:
                self._own = None
            else:
                self._known[at] = known
        return self._usual.score(at) if known is None or self._own is None else known

    def keep(self, at: BlockAt) -> None:
        """Note that a block is kept."""
        own = self._own
        self._known.clear()
        if own is None:
            self._usual.keep(at)
            return
        self._kept.append(at)
        if self._guard.asked("keep", lambda: own.keep(at), lambda _: True) is None:
            self._own = None

    def reasons(self, unit: int) -> tuple[str, ...]:
        """Explain the scores of a unit's blocks in words."""
        own = self._own
        if own is None:
            return self._usual.reasons(unit)
        return self._guard.asked("reasons", lambda: own.reasons(unit), words) or ()


def checked(found: object) -> float:
    """Return a score, or raise ``Unusable``."""
    if not (isinstance(found, int | float) and 0 <= found < inf):
        raise Unusable(f"{found!r:.40} is no number, 0 or more")
    return found


def words(found: object) -> tuple[str, ...]:
    """Return reasons as texts."""
    return tuple(map(str, cast("Iterable[object]", of_kind(found, tuple))))
