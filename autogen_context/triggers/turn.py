"""The input and output of triggers: turns with their outcome, scopes and decisions.

Promise: the same turns give the same values. Memory is bounded, and the cost of a turn does not grow with their number.
A failed call counts as no change; test output without a clear result is neither a pass nor a failure.
"""

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, takewhile
from typing import Literal, NamedTuple, Protocol

from autogen_context.argument import require_kind
from autogen_context.guard import Guard, Unusable, of_kind
from autogen_context.language.phrases import listed, phrases
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import RUNS, ToolAction, answers_of, outcome_of_call
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of
from autogen_context.text.memo import remembered
from autogen_context.text.work import ends_of

LEAST_TURNS = 4  # shorter scopes are not worth a summary

TriggerKind = str  # "subtask", "intent", "boundary", "staleness", "turn_count", one of your own, or "none" for no proposal
Verdict = Literal["passed", "failed"]
FileSort = Literal["code", "test", "document", "try"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One tool call of a turn, with its result."""

    tool: str
    action: ToolAction
    observation: str | None = None  # the result; None while the call is pending


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One assistant message with its tool calls and results. Turn numbers increase."""

    number: int
    reasoning: str = field(default="", hash=False)  # the number identifies the turn
    steps: tuple[Step, ...] = field(default=(), hash=False)


def turn_of(unit: Unit, number: int, *, kinds: ToolKinds = BY_NAME) -> Turn:
    """Convert a unit (an assistant message and its tool results) to a turn; ``kinds`` classifies the tools."""
    steps = tuple(
        Step(tool=call.name, action=action, observation=answer)
        for action, (call, answer) in zip(actions_of(unit, kinds), answers_of(unit), strict=True)
    )
    return Turn(number=number, reasoning=unit.messages[0].text, steps=steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRange:
    """A range of turns, ``start`` inclusive to ``stop`` exclusive; ``outcomes`` are the turns in it to keep."""

    start: int
    stop: int
    outcomes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for an empty range or outcomes outside of it."""
        if not 0 <= self.start < self.stop:
            raise ValueError(f"start={self.start}, stop={self.stop}: give 0 <= start < stop")
        outside = [turn for turn in self.outcomes if not self.start <= turn < self.stop]
        if outside:
            raise ValueError(f"outcomes={self.outcomes}: {outside} lie outside the scope")

    @property
    def is_enough(self) -> bool:
        """Whether the scope is long enough, with at least one turn that may be dropped."""
        return self.stop - self.start >= max(LEAST_TURNS, len(self.outcomes) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerDecision:
    """What a trigger proposes. The cost estimate decides whether it is carried out."""

    kind: TriggerKind = "none"
    scope: TurnRange | None = None  # the turns that may be compacted
    confidence: float = 0.0  # probability that a developer would agree, 0..1
    details: Mapping[str, str | float] = field(default_factory=dict[str, str | float])

    @property
    def fires(self) -> bool:
        """Whether the trigger proposes anything."""
        return self.kind != "none"


NOTHING = TriggerDecision()


class Trigger(Protocol):
    """Proposes turns to compact."""

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """Return the proposal after one more turn, or ``NOTHING``."""
        ...


class GuardedTrigger:
    """A trigger of the user's own: what it raises, or returns in place of a decision on past turns, proposes nothing, and is told of once."""

    def __init__(self, own: Trigger) -> None:
        self._own = own
        self._guard = Guard(type(own).__name__, "no trigger")

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """Return its proposal."""

        def read(found: object) -> TriggerDecision:
            decision = of_kind(found, TriggerDecision)
            if decision.scope is not None and decision.scope.stop > turn.number + 1:
                raise Unusable(f"its scope ends at turn {decision.scope.stop}, behind the newest")
            return decision

        return self._guard.asked("observe", lambda: self._own.observe(turn), read) or NOTHING


# Statements about the work, by the tables ``work`` and ``clause`` of language/*.toml

# Characters read from the beginning and the end of a text, where agents report what they did.
SAID_CHARS = (600, 300)
_LEFT_OUT = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{1,200}`"  # code
    r"|\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d|(?<!\w)'[^'\n]{2,100}'(?!\w)|^[ \t]*>[^\n]*$"  # quotes
    r"|(?P<markup></?\w{1,40}>|\*\*|^#{1,6} )",
    re.DOTALL | re.MULTILINE,
)


@cache
def _joints() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for clause boundaries and for interjections at the beginning of a clause."""
    joints, interjections = (
        "|".join(re.escape(word) for label, word in listed("clause") if label == wanted)
        for wanted in ("joint", "interjection")
    )
    breaks = rf"(?<=[.!?;:])\s+|\s*\n\s*| [\u2013\u2014-] |, (?=(?:{joints})(?!\w))"
    opening = rf"\A(?:[\W_]*(?<!\w)(?:{interjections})(?!\w))+(?=.*[^\W_])"
    return re.compile(breaks, re.IGNORECASE), re.compile(opening, re.IGNORECASE | re.DOTALL)


@remembered(8)
def labels_of(text: str) -> tuple[frozenset[str], ...]:
    """Label each clause of a text by the table ``work``; code and quotations are ignored.

    The label ``whole`` counts only at the end of its clause; ``?`` marks a question.
    """
    text = ends_of(text, *SAID_CHARS).replace("\u2019", "'")
    text = _LEFT_OUT.sub(lambda left: " " if left["markup"] else " _ ", text)
    found: list[frozenset[str]] = []
    breaks, interjections = _joints()
    for part in breaks.split(text):
        clause = interjections.sub("", part, count=1).strip()
        labels = {
            each.label
            for each in phrases("work").find(clause)
            if each.label != "whole" or not re.search(r"[^\W_]", clause[each.stop :])
        }
        if clause:
            asked = {"?"} if clause.rstrip("\"') ").endswith("?") else set[str]()
            found.append(frozenset(labels | asked))
    return tuple(found)


# The purpose of a file

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DOCUMENT = re.compile(
    r".*\.(?:md|mdx|rst|adoc|txt|tex|html?|docx?|ipynb)|(?:readme|changelog|contributing)(?:\..*)?",
    re.IGNORECASE,
)
_TESTING = re.compile(r"tests?|specs?|testing|conftest", re.IGNORECASE)
_TRYING = re.compile(
    r"repro(?:duc(?:e|er|tion))?|scratch|te?mp|debug|demo|try|experiment|inspect|verify|check|edge",
    re.IGNORECASE,
)


@remembered(1_000)
def sort_of(path: str) -> FileSort:
    """Classify a file by the words of its path; a ``"try"`` is a throw-away script."""
    *folders, name = path.split("/")
    words = _PART.findall(name)
    if name.endswith((".patch", ".diff")):
        return "code"  # a change of code, in any folder
    if any(map(_TRYING.fullmatch, [*words, *folders])):
        return "try"
    if any(map(_TESTING.fullmatch, words)):
        return "test"
    if _DOCUMENT.fullmatch(name):
        return "document"
    return "test" if any(map(_TESTING.fullmatch, folders)) else "code"


# The outcome of a turn

REMEMBERED = 500  # newest turns whose outcome is kept
MOST_OPEN = 50  # of them, that triggers look back at
_FINISHING = re.compile(  # tools that submit the work
    r"finish|submit|done|terminate|(?:task_)?complete|attempt_completion|final_answer|exit",
    re.IGNORECASE,
)


class Outcome(NamedTuple):
    """The outcome of a turn: the facts that triggers decide by."""

    turn: int
    worked: bool  # called a tool
    lookups: tuple[str, ...]  # what it read or searched, in the words of the calls
    seen: tuple[str, ...]  # files that it looked at
    tried: frozenset[FileSort]  # of the files that it tried to change
    written: tuple[str, ...]  # files that it changed
    answered: tuple[str, ...]  # tools that answered with something other than a file
    verdict: Verdict | None  # result of its tests
    edited: bool  # a write call succeeded
    ran: bool
    failed: bool  # a write or a run failed
    finished: bool  # submitted its work

    @property
    def changed(self) -> bool:
        """Whether it changed anything, files or not."""
        return self.edited or bool(self.written)

    @property
    def changed_work(self) -> bool:
        """Whether it changed anything but throw-away scripts."""
        return self.changed and [*self.tried] != ["try"]

    @property
    def went_well(self) -> bool:
        """Whether something ran without a failure."""
        return self.ran and not self.failed


@remembered(2)
def outcome_of(turn: Turn) -> Outcome:
    """Determine the outcome of a turn; cached, since each trigger asks for the same turn."""
    done = [(step, step.action, has_succeeded(step)) for step in turn.steps]
    tested = {verdict_of(step) for step, do, _ in done if do.kind == "test"}
    written = (  # a failed run may have written files
        path
        for step, do, succeeded in done
        if succeeded or (step.observation is not None and do.kind in RUNS)
        for path in do.writes
    )
    return Outcome(
        turn=turn.number,
        worked=bool(done),
        lookups=tuple(
            f"{step.tool} {do.key or ' '.join(view.described() for view in do.views)}"
            for step, do, _ in done
            if do.kind in {"read", "search"}
        ),
        seen=tuple(view.path for _, do, _ in done for view in do.views),
        tried=frozenset(sort_of(path) for _, do, _ in done for path in do.writes),
        written=tuple(dict.fromkeys(written)),
        answered=tuple(  # the tool itself is the source, not a file
            step.tool
            for step, do, _ in done
            if do.kind == "read" and not do.views and do.key.startswith(step.tool[:40])
        ),
        verdict="failed" if "failed" in tested else "passed" if "passed" in tested else None,
        edited=any(do.kind == "write" and succeeded for _, do, succeeded in done),
        ran=any(do.kind in RUNS for _, do, _ in done),
        failed=any(do.kind in {"write", *RUNS} and not succeeded for _, do, succeeded in done),
        finished=any(_FINISHING.fullmatch(step.tool) for step in turn.steps),
    )


def has_succeeded(step: Step) -> bool:
    """Whether a call has a result, and that shows no failure."""
    return (
        step.observation is not None and not outcome_of_call(step.action, step.observation).failed
    )


def verdict_of(step: Step) -> Verdict | None:
    """Return the result of tests; ``None`` where the output shows none, or that they did not run."""
    found = outcome_of_call(step.action, step.observation)
    if found.failed:
        return "failed" if found.has_run else None
    return "passed" if found.succeeded else None


class Outcomes:
    """Outcomes of the newest turns, and which turns to keep for them.

    Kept are the last change of each file, the newest test result, and the newest answer of each service: a file can be
    read again, an answer of a service may not be available a second time.

    Attributes:
        start: first turn that was not proposed yet; its owner moves it.
    """

    def __init__(self) -> None:
        self.start = 0
        self._known: deque[Outcome] = deque(maxlen=REMEMBERED)

    @property
    def open(self) -> list[Outcome]:
        """The outcomes of the newest turns that were not proposed yet."""
        newest = islice(reversed(self._known), MOST_OPEN)
        return [*takewhile(lambda known: known.turn >= self.start, newest)][::-1]

    def add(self, turn: Turn) -> Outcome:
        """Add a turn and return its outcome; turns must come in order."""
        require_kind("turn", turn, Turn, give="a Turn; turn_of(unit, number) makes one")
        if not self._known:
            self.start = turn.number
        elif turn.number <= (newest := self._known[-1].turn):
            raise ValueError(
                f"turn {turn.number} came after turn {newest}: give turns in order, each once"
            )
        self._known.append(outcome_of(turn))
        return self._known[-1]

    def scope(self, start: int, stop: int, more: Iterable[int] = ()) -> TurnRange:
        """Return the scope from ``start`` to before ``stop``; ``more`` are further turns to keep."""
        seen, stay = set[str](), {number for number in more if start <= number < stop}
        for known in takewhile(lambda known: known.turn >= start, reversed(self._known)):
            outcomes = {*known.written, *known.answered, *(["a verdict"] if known.verdict else [])}
            if known.turn < stop and not outcomes <= seen:
                stay.add(known.turn)
                seen |= outcomes
        return TurnRange(start=start, stop=stop, outcomes=tuple(sorted(stay)))
