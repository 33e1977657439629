"""When a subtask is complete: tests pass after changes, the agent says so, the work turns to something else.

Promise: a subtask is proposed once, with all its turns and those that stay; scopes never overlap, and lie within the
turns seen. A claim counts for nothing while the last run failed. The same turns give the same decisions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from autogen_context.triggers.turn import (
    NOTHING,
    RUNNING,
    Outcome,
    Outcomes,
    TriggerDecision,
    Turn,
    labels_of,
    sort_of,
)

SignalName = Literal[
    "tests_passed", "said_done", "worked_through", "edits_in_a_row", "moving_on", "quiet"
]

SIGNALS: Mapping[SignalName, float] = {
    "tests_passed": 0.90,  # after a change
    "said_done": 0.85,  # by the agent, or the work is handed in
    "worked_through": 0.70,  # read, changed, run without trouble, and called good
    "edits_in_a_row": 0.65,  # that went well, and then something else
    "moving_on": 0.60,  # to other work: "now I'll …"
    "quiet": 0.40,  # nothing changed for some turns
}
HIGH_FROM, MEDIUM_FROM = 0.8, 0.5  # confidences in words
EDITS_IN_A_ROW = 3
QUIET_TURNS = 8
MOST_FILES = 500  # of a subtask; of more the first are known
OPENING = 3  # clauses in which what was done last is judged


class SubtaskTrigger:
    """Proposes the turns of a subtask when it is complete; one begins where the one before ended.

    Of the signals that hold the surest is told. ``tests_passed`` and a report (``said_done``) end the subtask with them, the
    others before the agent turns to something else, ``quiet`` behind the last change or the run that proved it.
    """

    def __init__(self) -> None:
        self._subtask: _Subtask | None = None
        self._outcomes = Outcomes()

    def observe(self, turn: Turn) -> TriggerDecision:
        """What is proposed after one more turn."""
        outcome = self._outcomes.add(turn)
        subtask = self._subtask = self._subtask or _Subtask(start=turn.number)
        signs = list(_signs(subtask, turn, outcome))
        if not signs:
            subtask.add(turn, outcome)
            return NOTHING
        name, stop = max(signs, key=lambda sign: SIGNALS[sign[0]])
        looked = subtask.looked if subtask.looked is not None and subtask.looked >= stop else None
        self._subtask = _Subtask(start=stop, looked=looked)
        if stop <= turn.number:
            self._subtask.add(turn, outcome)
        sure = SIGNALS[name]
        level = "high" if sure >= HIGH_FROM else "medium" if sure >= MEDIUM_FROM else "low"
        report = () if turn.steps else (turn.number,)
        return TriggerDecision(
            kind="subtask",
            scope=self._outcomes.scope(subtask.start, stop, more=report),
            confidence=sure,
            details={"signal": name, "level": level},
        )


@dataclass(slots=True, kw_only=True)
class _Subtask:
    """What is known of the subtask that is open."""

    start: int
    changed: int | None = None  # the last turn that changed something
    files: set[str] = field(default_factory=set[str])  # changed, no tries, not written here and run
    met: dict[str, bool] = field(default_factory=dict[str, bool])  # whether looked at first
    edits: int = 0  # turns in a row, up to the last
    worked: bool = False
    looked: int | None = None  # the last turn that did
    read_first: bool = False  # before the last change
    failing: bool = False  # in what ran last
    proven: int | None = None  # the last run, where it went well and nothing was changed since

    def add(self, turn: Turn, outcome: Outcome) -> None:
        """Take one more turn in."""
        self.worked = self.worked or bool(turn.steps)
        self.edits = self.edits + 1 if outcome.edited else 0
        for action in (step.action for step in turn.steps if len(self.met) < MOST_FILES):
            for path in action.writes:
                self.met.setdefault(path, False)
            for view in action.views:
                self.met.setdefault(view.path, True)
            if action.kind in {"read", "search"}:
                self.looked = turn.number
            if action.kind in RUNNING:
                self.files.difference_update(p for p in action.subjects if not self.met.get(p))
        if outcome.changed:
            self.changed, self.proven = turn.number, None
            self.read_first = self.read_first or self.looked is not None
            kept = [path for path in outcome.written if sort_of(path) != "try"]
            self.files.update(kept[: MOST_FILES - len(self.files)])
        if outcome.ran:
            self.failing = outcome.failed
            self.proven = None if outcome.failed else turn.number

    def is_left(self, turn: Turn, outcome: Outcome, clauses: list[frozenset[str]]) -> bool:
        """Whether the agent says that it does something else now, and does.

        It changes other files, or goes on changing after the last change was tried out; or, where it says what it makes
        next, it reads a file that is new to the subtask.
        """
        if outcome.changed:
            files = {path for path in outcome.written if sort_of(path) != "try"}
            others = bool(files) and files.isdisjoint(self.files)
            return any("next" in c for c in clauses) and (self.proven is not None or others)
        views = [view.path for step in turn.steps for view in step.action.views]
        opened = {path for path in views if sort_of(path) != "try"}
        is_new = bool(opened) and opened.isdisjoint(self.met)
        return is_new and any({"next", "making"} <= labels for labels in clauses)


def _signs(subtask: _Subtask, turn: Turn, outcome: Outcome) -> Iterator[tuple[SignalName, int]]:
    """The signals that a turn gives, each with the number behind the last turn of the subtask that it ends."""
    has_changed = outcome.changed or subtask.changed is not None
    if outcome.verdict == "passed" and outcome.went_well and has_changed:
        yield "tests_passed", turn.number + 1
    clauses = [labels for labels in labels_of(turn.reasoning) if "?" not in labels]
    said = frozenset[str]().union(*clauses)
    sure = [labels for labels in clauses if "doubt" not in labels]
    is_done = any(labels & {"done", "whole"} for labels in sure) or "TERMINATE" in turn.reasoning
    if subtask.worked and (outcome.finished or not turn.steps):
        reported = any("reported" in labels and "looked" not in labels for labels in sure)
        claims = is_done or (subtask.changed is not None and reported)
        if outcome.finished or (claims and "planned" not in said and not subtask.failing):
            yield "said_done", turn.number + 1
        return
    if subtask.changed is None or subtask.failing or not turn.steps or outcome.ran:
        return
    # The agent turns to something else, with what it changed behind it.
    opening = frozenset[str]().union(*clauses[:OPENING])
    if is_done and "denied" not in opening:
        yield "said_done", turn.number
    if not subtask.files:
        return
    is_praised = bool(clauses) and "praised" in clauses[0] and "denied" not in opening
    if subtask.read_first and subtask.proven is not None and is_praised:
        yield "worked_through", turn.number
    if subtask.edits >= EDITS_IN_A_ROW and not outcome.edited:
        yield "edits_in_a_row", turn.number
    is_left = subtask.is_left(turn, outcome, clauses) and "denied" not in opening
    if "elsewhere" in said or is_left:
        yield "moving_on", turn.number
    last = max(subtask.changed, subtask.proven or 0)
    if turn.number - last >= QUIET_TURNS:
        yield "quiet", last + 1
