"""Which signals of completion a turn gives, seen from the subtask that is open.

Promise: a signal ends the subtask with the turn, or before it; a claim counts for nothing while the last run failed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from autogen_context.triggers.checks import check_least
from autogen_context.triggers.claims import Claims
from autogen_context.triggers.deeds import Deeds, run_in
from autogen_context.triggers.file_sort import sort_of
from autogen_context.triggers.subtask_signals import (
    EDITS_IN_A_ROW,
    QUIET_TURNS,
    SignalName,
)
from autogen_context.triggers.turn import Turn

MOST_FILES = 500  # of a subtask; of more the first are known


@dataclass(slots=True, kw_only=True)
class Subtask:
    """What is known of the subtask that is open.

    Attributes:
        start: number of its first turn.
        changed: number of the last turn that changed something.
        files: changed, but for those that are tries, and those that were made here and run, which served to try something.
        met: the files seen or changed, each with whether it was there before: it was looked at first.
        tried: whether any file was changed, these included.
        edits: how many turns in a row edited, up to the last.
        worked: whether anything was done.
        looked: whether anything was looked at before the last change.
        seen: number of the last turn that looked at anything.
        failing: whether what ran last went ill.
        proven: number of the last turn that ran something, where that went well and nothing was changed since.
    """

    start: int
    changed: int | None = None
    files: set[str] = field(default_factory=set[str])
    met: dict[str, bool] = field(default_factory=dict[str, bool])
    tried: bool = False
    edits: int = 0
    worked: bool = False
    looked: bool = False
    seen: int | None = None
    failing: bool = False
    proven: int | None = None

    @property
    def settled(self) -> bool:
        """Whether something was changed, and nothing tells that it does not work."""
        return self.changed is not None and not self.failing

    def add(self, turn: Turn, deeds: Deeds) -> None:
        """Take one more turn in."""
        self.worked = self.worked or bool(turn.steps)
        self._meet(turn)
        self.seen = turn.number if deeds.looked else self.seen
        self.edits = self.edits + 1 if deeds.edited else 0
        if deeds.changed:
            self.changed, self.proven = turn.number, None
            self.looked = self.looked or self.seen is not None
            self.tried = self.tried or bool(deeds.outcome.written)
            kept = (path for path in deeds.outcome.written if sort_of(path) != "try")
            self.files.update(list(kept)[: MOST_FILES - len(self.files)])
        if deeds.ran:
            self.files.difference_update(path for path in run_in(turn) if not self.met.get(path))
            self.failing = deeds.failed
            self.proven = None if deeds.failed else turn.number

    def _meet(self, turn: Turn) -> None:
        if len(self.met) >= MOST_FILES:
            return
        for action in (step.action for step in turn.steps):
            for path in action.writes:
                self.met.setdefault(path, False)
            for view in action.views:
                self.met.setdefault(view.path, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many turns make a signal.

    Attributes:
        edits_in_a_row: that went well, before something else.
        quiet_turns: without a change.

    Raises:
        ValueError: one of them is below 1.
    """

    edits_in_a_row: int = EDITS_IN_A_ROW
    quiet_turns: int = QUIET_TURNS

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_least("edits_in_a_row", self.edits_in_a_row, 1)
        check_least("quiet_turns", self.quiet_turns, 1)


Sign = tuple[SignalName, int]
"""A signal, and the number behind the last turn of the subtask that it ends."""


def signs_of(subtask: Subtask, turn: Turn, deeds: Deeds, limits: Limits) -> Iterator[Sign]:
    """The signals that a turn gives.

    Args:
        subtask: as it was before the turn.
        turn: the turn.
        deeds: what it came to.
        limits: how many turns make a signal.
    """
    if deeds.verdict == "passed" and deeds.clean and (deeds.changed or subtask.changed is not None):
        yield "tests_passed", turn.number + 1
    if subtask.worked and (deeds.finished or not turn.steps):
        yield from signs_of_reports(subtask, turn, deeds)
    elif subtask.settled and turn.steps and not deeds.ran:
        yield from signs_of_turning(subtask, turn, deeds, limits)


def signs_of_reports(subtask: Subtask, turn: Turn, deeds: Deeds) -> Iterator[Sign]:
    """The agent does nothing but speak, or hands its work in."""
    claims = Claims(turn.reasoning)
    done = claims.done or (subtask.changed is not None and claims.reported)
    if deeds.finished or (done and not claims.planned and not subtask.failing):
        yield "said_done", turn.number + 1


def signs_of_turning(subtask: Subtask, turn: Turn, deeds: Deeds, limits: Limits) -> Iterator[Sign]:
    """The agent turns to something else, with what it changed behind it."""
    if subtask.tried and not subtask.files:
        return
    claims = Claims(turn.reasoning)
    if not claims.denied and claims.done:
        yield "said_done", turn.number
    if not subtask.files:
        return
    if subtask.looked and subtask.proven is not None and claims.praised and not claims.denied:
        yield "worked_through", turn.number
    if subtask.edits >= limits.edits_in_a_row and not deeds.edited:
        yield "edits_in_a_row", turn.number
    if claims.elsewhere or (is_other(subtask, deeds) and not claims.denied and claims.next):
        yield "moving_on", turn.number
    last = max(subtask.changed or 0, subtask.proven or 0)
    if turn.number - last >= limits.quiet_turns:
        yield "quiet", last + 1


def is_other(subtask: Subtask, deeds: Deeds) -> bool:
    """Whether a change is other work: of other files, or after the last was tried out."""
    files = {path for path in deeds.outcome.written if sort_of(path) != "try"}
    others = bool(files) and files.isdisjoint(subtask.files)
    return deeds.changed and (subtask.proven is not None or others)
