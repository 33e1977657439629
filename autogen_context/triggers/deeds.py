"""What a turn came to: what it changed, what it looked at, whether what it ran went well.

Promise: values only. A call that failed changed nothing; a run whose output does not tell is neither well nor ill.
"""

# ruff: noqa: SIM905 - words in a line

import re
from dataclasses import dataclass
from functools import lru_cache

from autogen_context.messages.tool_action import ToolKind, is_failure
from autogen_context.triggers.file_sort import is_editing
from autogen_context.triggers.outcome import Outcome, outcome_of
from autogen_context.triggers.turn import Step, Turn
from autogen_context.triggers.verdict import Verdict, verdict_of

FIRST_LINES_CHARS = 300  # of an answer, where it says at once that it failed
LAST_CHARS = 2_000  # of an answer, where what ran says how it ended
REMEMBERED = 2  # turns
COUNT_CHARS = 200  # of the answer to an edit, where tests are run with each

LOOKING: frozenset[ToolKind] = frozenset({"read", "search"})
RUNNING: frozenset[ToolKind] = frozenset({"run", "test"})
ACTING: frozenset[ToolKind] = frozenset({"run", "test", "write"})
FINISHING = frozenset(
    "finish finished submit done terminate complete complete_task task_complete task_done attempt_completion final_answer "
    "end_task mark_complete exit".split()
)

_TROUBLE = re.compile(
    r"^Traceback \(most recent call last\)|^(?:\w+\.)*\w*(?:Error|Exception)\b(?::|\s*$)|^panic: |panicked at|^make: \*\*\*"
    r"|:\d+: (?:fatal )?error\b|^error(?:\[\w+\])?: |Segmentation fault|[Tt]imed out|command not found|No such file or directory"
    r"|(?:exit(?:ed)?(?: with)?(?: code| status)?|returncode)\W{0,3}[1-9]\d{0,2}\b",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deeds:
    """What a turn came to.

    Attributes:
        outcome: what of it stays.
        verdict: of the tests that it ran, or that an edit ran.
        changed: whether it changed anything, also what is no file.
        edited: whether a call whose only purpose is to write did.
        looked: whether it read or searched.
        ran: whether it ran or tested something; a script that edits is a change, not a run.
        failed: whether a change failed, or what ran ended in trouble.
        finished: whether it handed the work in.
    """

    outcome: Outcome
    verdict: Verdict | None
    changed: bool
    edited: bool
    looked: bool
    ran: bool
    failed: bool
    finished: bool

    @property
    def clean(self) -> bool:
        """Whether something ran, and nothing tells of trouble."""
        return self.ran and not self.failed


@lru_cache(REMEMBERED)
def deeds_of(turn: Turn) -> Deeds:
    """What a turn came to; each trigger asks for that of the same turn."""
    outcome = outcome_of(turn)
    verdict = outcome.verdict or verdict_with_edits(turn)
    acted = [step for step in turn.steps if step.action.kind in ACTING]
    edited = any(step.action.kind == "write" and has_worked(step) for step in acted)
    by_script = [step for step in acted if step.action.kind in RUNNING and not is_run(step)]
    return Deeds(
        outcome=outcome,
        verdict=verdict,
        changed=edited or bool(outcome.written) or any(map(has_worked, by_script)),
        edited=edited,
        looked=any(step.action.kind in LOOKING for step in turn.steps),
        ran=verdict is not None or any(is_run(step) for step in acted),
        failed=verdict == "failed" or not all(map(has_worked, acted)),
        finished=any(step.tool.lower() in FINISHING for step in turn.steps),
    )


def is_run(step: Step) -> bool:
    """Whether a step runs something, and not a script that edits."""
    return step.action.kind in RUNNING and not any(map(is_editing, step.action.subjects[:1]))


def verdict_with_edits(turn: Turn) -> Verdict | None:
    """The verdict below the newest edit, where the editor runs the tests itself."""
    answers = [step.observation for step in turn.steps if step.action.kind == "write"]
    counts = (answers[-1] or "")[-COUNT_CHARS:] if answers else ""
    return verdict_of(counts) if "passed" in counts else None


def has_worked(step: Step) -> bool:
    """Whether a call has an answer that tells of no trouble."""
    answer = step.observation
    if answer is None:
        return False
    if step.action.kind not in RUNNING:
        return not is_failure("\n".join(answer[:FIRST_LINES_CHARS].split("\n")[:2]))
    if verdict := verdict_of(answer):
        return verdict == "passed"
    return _TROUBLE.search(answer[-LAST_CHARS:]) is None


def run_in(turn: Turn) -> set[str]:
    """What a turn ran that is a file."""
    ran = (step.action.subjects for step in turn.steps if step.action.kind in RUNNING)
    return {path for subjects in ran for path in subjects}
