"""What a turn came to, and which turns of a span say what came out of it, and stay.

Those are the last change of each file, the newest verdict of tests, and the newest answer of each service that was read
from: a file can be read again as it is now, the account that was looked up stands nowhere else.

Promise: the same turns give the same outcomes; what is remembered is bounded, and a turn costs the same however many
there were. A call that failed changed nothing; a run whose output does not tell is neither well nor ill.
"""

import re
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from posixpath import basename
from typing import Literal

from autogen_context.messages.tool_action import ToolKind, is_failure
from autogen_context.triggers.turn import Step, Turn
from autogen_context.triggers.verdict import Verdict, verdict_of

FIRST_LINES_CHARS = 300  # of an answer, where it says at once that it failed
LAST_CHARS = 2_000  # of an answer, where what ran says how it ended
COUNT_CHARS = 200  # of the answer to an edit, where tests are run with each
NAME_CHARS = 40  # of a tool's name, with which the key of its call begins
REMEMBERED = 1_000  # turns with an outcome, paths; of older ones none is known
LOOKED_UP = 2  # turns

RUNNING: frozenset[ToolKind] = frozenset({"run", "test"})
FINISHING = frozenset({
    *("finish", "finished", "submit", "done", "terminate", "complete", "complete_task", "task_complete", "task_done"),
    *("attempt_completion", "final_answer", "end_task", "mark_complete", "exit"),
})  # fmt: skip  # names of tools that hand the work in
_TROUBLE = re.compile(
    r"^Traceback \(most recent call last\)|^(?:\w+\.)*\w*(?:Error|Exception)\b(?::|\s*$)|^panic: |panicked at|^make: \*\*\*"
    r"|:\d+: (?:fatal )?error\b|^error(?:\[\w+\])?: |Segmentation fault|[Tt]imed out|command not found|No such file or directory"
    r"|(?:exit(?:ed)?(?: with)?(?: code| status)?|returncode)\W{0,3}[1-9]\d{0,2}\b",
    re.MULTILINE,
)

FileSort = Literal["code", "test", "document", "try"]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DOCUMENT = re.compile(
    r".*\.(?:md|mdx|rst|adoc|txt|tex|html?|po|docx?|ipynb)|(?:readme|changelog|changes|news|history|contributing|authors|todo)(?:\..*)?",
    re.IGNORECASE,
)
_TESTING = frozenset({"test", "tests", "spec", "specs", "testing", "conftest"})
_EDITING = frozenset({
    *("apply", "patch", "fix", "update", "replace", "modify", "edit", "insert", "rewrite", "refactor"),
})  # fmt: skip
_TRYING_IN = frozenset({"reproduce", "reproduction", "repro", "scratch", "tmp", "temp"})
_TRYING = _TRYING_IN | {
    *("reproducer", "reproducing", "debug", "demo", "try", "experiment", "inspect", "inspection"),
    *("verify", "check", "minimal", "poc", "edge"),
}  # fmt: skip


@lru_cache(REMEMBERED)
def sort_of(path: str) -> FileSort:
    """What a file is for, by the whole words of its path; a try is thrown away later."""
    name = basename(path)
    if name.endswith((".patch", ".diff")):
        return "code"  # a change of it, wherever it lies
    words, folders = _words(name), _words(path.removesuffix(name))
    if words & _TRYING or folders & _TRYING_IN or path.startswith("/tmp/"):  # noqa: S108 - judged, not used
        return "try"
    is_document = _DOCUMENT.fullmatch(name) is not None
    if words & _TESTING or (folders & _TESTING and not is_document):
        return "test"
    return "document" if is_document else "code"


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a turn came to.

    Attributes:
        turn: its number.
        written: the files that it changed.
        answered: the tools by which it read what is no file.
        verdict: of the tests that it ran; one that failed is a failure; ``None`` where they tell nothing, or none ran.
        proof: the same, or of the tests that an edit ran.
        changed: whether it changed anything, also what is no file.
        edited: whether a call whose only purpose is to write did.
        looked: whether it read or searched.
        ran: whether it ran or tested something; a script that edits is a change, not a run.
        failed: whether a change failed, or what ran ended in trouble.
        finished: whether it handed the work in.
    """

    turn: int
    written: tuple[str, ...]
    answered: tuple[str, ...]
    verdict: Verdict | None
    proof: Verdict | None
    changed: bool
    edited: bool
    looked: bool
    ran: bool
    failed: bool
    finished: bool

    @property
    def went_well(self) -> bool:
        """Whether something ran, and nothing tells of trouble."""
        return self.ran and not self.failed


@lru_cache(LOOKED_UP)
def outcome_of(turn: Turn) -> Outcome:
    """What a turn came to; each trigger asks for that of the same turn."""
    verdict = _verdict(turn)
    proof = verdict or _verdict_with_edits(turn)
    acted = [step for step in turn.steps if step.action.kind in {"run", "test", "write"}]
    edited = any(step.action.kind == "write" and _has_worked(step) for step in acted)
    scripts = [step for step in acted if step.action.kind in RUNNING and not _is_run(step)]
    written = (path for step in turn.steps if _has_written(step) for path in step.action.writes)
    files = tuple(dict.fromkeys(written))
    return Outcome(
        turn=turn.number,
        written=files,
        answered=tuple(step.tool for step in turn.steps if _is_answer(step)),
        verdict=verdict,
        proof=proof,
        changed=edited or bool(files) or any(map(_has_worked, scripts)),
        edited=edited,
        looked=any(step.action.kind in {"read", "search"} for step in turn.steps),
        ran=proof is not None or any(map(_is_run, acted)),
        failed=proof == "failed" or not all(map(_has_worked, acted)),
        finished=any(step.tool.lower() in FINISHING for step in turn.steps),
    )


def _verdict(turn: Turn) -> Verdict | None:
    tests = [step.observation for step in turn.steps if step.action.kind == "test"]
    verdicts = {verdict_of(text) for text in tests if text is not None} - {None}
    if not verdicts:
        return None
    return "failed" if "failed" in verdicts else "passed"


def _verdict_with_edits(turn: Turn) -> Verdict | None:
    """The verdict below the newest edit, where the editor runs the tests itself."""
    answers = [step.observation for step in turn.steps if step.action.kind == "write"]
    counts = (answers[-1] or "")[-COUNT_CHARS:] if answers else ""
    return verdict_of(counts) if "passed" in counts else None


def _is_run(step: Step) -> bool:
    """Whether a step runs something, and not a script that by its name changes other files."""
    if step.action.kind not in RUNNING:
        return False
    script = next(iter(step.action.subjects), "")
    return not (sort_of(script) == "code" and _words(basename(script)) & _EDITING)


def _has_worked(step: Step) -> bool:
    """Whether a call has an answer that tells of no trouble."""
    answer = step.observation
    if answer is None:
        return False
    if step.action.kind not in RUNNING:
        return not is_failure("\n".join(answer[:FIRST_LINES_CHARS].split("\n")[:2]))
    if verdict := verdict_of(answer):
        return verdict == "passed"
    return _TROUBLE.search(answer[-LAST_CHARS:]) is None


def _has_written(step: Step) -> bool:
    """Whether a step did what it was to write; a run that fails may have written before."""
    if not step.action.writes or step.observation is None:
        return False
    return step.action.kind != "write" or not is_failure(step.observation)


def _is_answer(step: Step) -> bool:
    """Whether a step read what is no file: then the tool itself is what is asked."""
    action = step.action
    asks_tool = action.key.startswith(step.tool[:NAME_CHARS])
    return action.kind == "read" and not action.views and asks_tool


def files_run(turn: Turn) -> set[str]:
    """What a turn ran that may be a file."""
    ran = (step.action.subjects for step in turn.steps if step.action.kind in RUNNING)
    return {path for subjects in ran for path in subjects}


class Outcomes:
    """What came out of the newest turns."""

    def __init__(self) -> None:
        self._known: deque[Outcome] = deque(maxlen=REMEMBERED)
        self._newest = -1

    def add(self, turn: Turn) -> Outcome:
        """What came out of one more turn.

        Raises:
            ValueError: it does not come behind those before.
        """
        if turn.number <= self._newest:
            raise ValueError(
                f"turn {turn.number} came after turn {self._newest}: give turns in order, each once"
            )
        self._newest = turn.number
        outcome = outcome_of(turn)
        if outcome.written or outcome.verdict or outcome.answered:
            self._known.append(outcome)
        return outcome

    def last_change(self, start: int) -> int | None:
        """The number of the newest turn since ``start`` that changed a file; ``None`` where none did."""
        newest = next((known.turn for known in reversed(self._known) if known.written), -1)
        return newest if newest >= start else None

    def within(self, start: int, stop: int, *, outdated: Collection[int] = ()) -> tuple[int, ...]:
        """The numbers of the turns from ``start`` to before ``stop`` that stay, in order.

        Args:
            start: the number of the first turn.
            stop: the number behind the last one.
            outdated: turns whose answers need not stay.
        """
        files: set[str] = set()
        services: set[str] = set()
        tested, stay = False, list[int]()
        for known in takewhile(lambda known: known.turn >= start, reversed(self._known)):
            if known.turn >= stop:
                continue
            answered = () if known.turn in outdated else known.answered
            is_newest_verdict = known.verdict is not None and not tested
            is_newest = not (files.issuperset(known.written) and services.issuperset(answered))
            if is_newest_verdict or is_newest:
                stay.append(known.turn)
            files.update(known.written)
            services.update(answered)
            tested = tested or is_newest_verdict
        return tuple(reversed(stay))
