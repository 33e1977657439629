"""What triggers see and propose: a turn, what was said and done in it and what came of it; scopes and decisions.

Promise: the same turns give the same values; what is remembered is bounded, and a turn costs the same however many there
were. A call that failed changed nothing; output of tests that does not tell is neither a pass nor a failure.
"""

import re
import reprlib
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import takewhile
from posixpath import basename
from typing import Literal, NamedTuple, Protocol

from autogen_context.language.phrases import package_phrases, phrases
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction, ToolKind, answers_of, is_failure
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of

LEAST_TURNS = 4  # of a scope; a shorter one is not worth its summary

TriggerKind = Literal["subtask", "intent", "boundary", "staleness", "turn_count", "none"]
Verdict = Literal["passed", "failed"]
FileSort = Literal["code", "test", "document", "try"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of a turn.

    Attributes:
        tool: its name.
        action: what it does, and with which files.
        observation: what came back; ``None`` where nothing has yet.
    """

    tool: str
    action: ToolAction
    observation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What an agent thought, did and saw between two requests to its model.

    Attributes:
        number: its place among the turns of the conversation, from 0; each turn has a greater one than the turn before.
        reasoning: what the model wrote.
        steps: what it did, in the order of its calls; empty where it only spoke.
    """

    number: int
    reasoning: str = field(default="", hash=False)  # its number is enough to look it up by
    steps: tuple[Step, ...] = field(default=(), hash=False)


def turn_of(unit: Unit, number: int, *, kinds: ToolKinds = BY_NAME) -> Turn:
    """The turn that a unit of the model is.

    Args:
        unit: a message of the model, and the results of its calls.
        number: its place among the turns.
        kinds: what tools do.
    """
    steps = tuple(
        Step(tool=call.name, action=action, observation=answer)
        for action, (call, answer) in zip(actions_of(unit, kinds), answers_of(unit), strict=True)
    )
    return Turn(number=number, reasoning=unit.messages[0].text, steps=steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Turns that belong together, to be compacted from the inside out.

    Attributes:
        start: number of the first turn.
        stop: number behind the last one.
        outcomes: numbers of the turns among them that say what came out, and stay.

    Raises:
        ValueError: it is empty, or an outcome lies outside.
    """

    start: int
    stop: int
    outcomes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0 <= self.start < self.stop:
            raise ValueError(f"start={self.start}, stop={self.stop}: give 0 <= start < stop")
        outside = [turn for turn in self.outcomes if not self.start <= turn < self.stop]
        if outside:
            raise ValueError(f"outcomes={self.outcomes}: {outside} lie outside the scope")

    def is_enough(self, least_turns: int = LEAST_TURNS) -> bool:
        """Whether it has so many turns, and not all of them stay."""
        turns = self.stop - self.start
        return turns >= least_turns and len(self.outcomes) < turns


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerDecision:
    """What a trigger proposes; whether it is done is decided by the price.

    Attributes:
        kind: which trigger; ``"none"`` where nothing is proposed.
        scope: the turns that may be compacted; ``None`` where nothing is proposed.
        confidence: that a developer would call it right, 0..1.
        details: what was seen, by name, for reports.
    """

    kind: TriggerKind = "none"
    scope: Scope | None = None
    confidence: float = 0.0
    details: Mapping[str, str | float] = field(default_factory=dict[str, str | float])

    @property
    def fires(self) -> bool:
        """Whether anything is proposed."""
        return self.kind != "none"


NOTHING = TriggerDecision()


class Trigger(Protocol):
    """Something that proposes turns to be compacted."""

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """What is proposed after one more turn; ``NOTHING`` where nothing is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerSettings:
    """Which triggers there are.

    Attributes:
        subtasks: whether a completed subtask is one.
        intents: whether a change of what the agent is after is one.
        boundaries: whether a boundary in the work is one.
        staleness: whether what has grown stale is one.
        staleness_threshold: above which a turn is stale, 0..1.
        fallback_turns: without a proposal, after which turns are proposed for their number alone; 0 for never.

    Raises:
        ValueError: a number is none of these.
    """

    subtasks: bool = True
    intents: bool = True
    boundaries: bool = True
    staleness: bool = True
    staleness_threshold: float = 0.7
    fallback_turns: int = 10

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_fraction("staleness_threshold", self.staleness_threshold)
        check_least("fallback_turns", self.fallback_turns, 0)


def check_turn(turn: object) -> None:
    """Refuse what is no turn."""
    if not isinstance(turn, Turn):
        raise ValueError(  # noqa: TRY004 - a wrong argument is a ValueError, of whatever type it is
            f"turn={reprlib.repr(turn)}: give a Turn; turn_of(unit, number) makes one of a message of the model and the"
            " results of its calls, Turn(number=..., reasoning=..., steps=...) one by hand"
        )


def check_fraction(name: str, value: float) -> None:
    """Refuse what is not in 0..1."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value}: give a number in 0..1")


def check_least(name: str, value: int, least: int) -> None:
    """Refuse what is too small."""
    if value < least:
        raise ValueError(f"{name}={value}: give {least} or more")


# What is said: the tables ``work`` and ``clause`` of language/*.toml

SAID_CHARS = (
    600,
    300,
)  # of a text, from its beginning and its end: what was done is said first or last
CLAUSE_CHARS = 300  # a longer one is pasted, not said
_LEFT_OUT = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]{1,200}`"  # code
    r"|\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d|(?<!\w)'[^'\n]{2,100}'(?!\w)|^[ \t]*>[^\n]*$"  # quotes
    r"|(?P<markup></?\w{1,40}>|\*\*|^#{1,6} )",
    re.DOTALL | re.MULTILINE,
)


@cache
def _joints() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What clauses are parted by, and what stands in front of one that says something else as well."""
    words: dict[str, list[str]] = {"joint": [], "interjection": []}
    for label, word in package_phrases().listed("clause"):
        words[label].append(re.escape(word))
    joints, interjections = map("|".join, words.values())
    breaks = rf"(?<=[.!?;:])\s+|\s*\n\s*| [\u2013\u2014-] |, (?=(?:{joints})(?!\w))"
    opening = rf"\A(?:[\W_]*(?<!\w)(?:{interjections})(?!\w))+(?=.*[^\W_])"
    return re.compile(breaks, re.IGNORECASE), re.compile(opening, re.IGNORECASE | re.DOTALL)


@lru_cache(8)
def labels_of(text: str) -> tuple[frozenset[str], ...]:
    """What each clause of a text says of the work, in labels of the table ``work``; code and quotes say nothing.

    ``whole`` claims count where nothing stands behind them, ``?`` stands for a question.
    """
    head, tail = SAID_CHARS
    if len(text) > head + tail:
        text = f"{text[:head]}\n{text[-tail:]}"
    text = _LEFT_OUT.sub(lambda left: " " if left["markup"] else " _ ", text.replace("\u2019", "'"))
    found: list[frozenset[str]] = []
    breaks, interjections = _joints()
    for part in breaks.split(text):
        clause = interjections.sub("", part, count=1).strip()
        if not clause or len(clause) > CLAUSE_CHARS:
            continue
        labels = {
            each.label
            for each in phrases("work").find(clause)
            if each.label != "whole" or not re.search(r"[^\W_]", clause[each.stop :])
        }
        found.append(frozenset({*labels, "?"} if clause.rstrip("\"') ").endswith("?") else labels))
    return tuple(found)


# Whether tests passed: counts in lines that summarise, else status words, a trace, the exit code

VERDICT_CHARS = (2_000, 8_000)  # of an output, from its beginning and its end
LINE_CHARS = 300  # a longer line summarises nothing
_COUNTED = {
    **dict.fromkeys(["fail", "fails", "failed", "failing", "failure", "failures", "error", "errors"], "bad"),
    **dict.fromkeys(["pass", "passes", "passed", "passing", "success", "successes", "succeeded"], "good"),
    **dict.fromkeys(["tests", "test", "examples", "specs", "scenarios", "runs", "total"], "all"),
    **dict.fromkeys(["tests run"], "all"),
    **dict.fromkeys(["skipped", "skip", "pending", "todo", "ignored", "xfailed", "xpassed", "deselected", "warnings", "warning"], ""),
    **dict.fromkeys(["assertions", "measured"], ""),
}  # fmt: skip  # a row a meaning
_WORD = "|".join(sorted(_COUNTED, key=len, reverse=True))
_COUNT = re.compile(
    rf"(?<![\w.])(\d+) (?:(?:unit )?tests? )?({_WORD})(?![\w%])"
    rf"|\b({_WORD})(?: *[:=] *| (?=\d+\s*$))(\d+)\b(?![%:/-]|\.\d| +(?:{_WORD})\b)",
    re.IGNORECASE,
)
_BESIDE = re.compile(  # what may stand beside a single count
    r"\b(?:tests?|suites?|files?|cases?|results?|run|ran|finished|completed|in|with|out|of|ok|failed|passed|fail"
    r"|errors?|time|during collection|m?s|secs?|seconds?)\b|(?<=\d)m?s\b",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_FAILED = re.compile(
    r"^\W{0,12}(?:FAILED\b(?! parameters)|FAIL(?:\s|:(?! *0\s*$)|$)|FAILURES!|ERRORS!|(?:FAIL|ERROR): \w+ \(|BUILD FAIL|not ok \d+(?!.*# (?:TODO|SKIP))"
    r"|ERROR (?:\S+(?:::|\.py\b)|collecting )|error: (?:test failed|could not compile)|(?P<n>\d+)(?:/| (?:out )?of )(?!(?P=n)\b)\d+ (?:tests? )?pass)"
    r"|^\s*[✕✗✘❌\xd7] |\.\.\. (?:FAIL|FAILED|ERROR)\s*$|::\S+ (?:FAILED|ERROR)\b|\[build failed\]",
    re.MULTILINE,
)
_PASSED = re.compile(
    r"^\W{0,12}(?:OK(?: \(.*\))?\s*$|OK, but |ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))(?!.*no tests)|PASS(?:ED)?!?\s*$|PASS +\S+\.\w|Passed!"
    r"|BUILD SUCCESS|Test Run Successful|100(?:\.0+)?% (?:tests )?passed|(?i:all) (?:\w+ ){0,3}(?i:tests|checks|cases|specs) (?i:pass|succeed|successful))",
    re.MULTILINE,
)
_NOT_RUN = re.compile(
    r"no tests? (?:to run|ran|were)|tests are skipped|no-source|not found|no module named|modulenotfounderror|can't open file"
    r"|missing script|unknown command|no such (?:file|command)",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"^Traceback \(most recent call last\)|^(?:\w+\.)*\w*(?:Error|Exception)\b(?::|\s*$)|^panic: |panicked at|^make: \*\*\*"
    r"|:\d+: (?:fatal )?error\b|^error(?:\[\w+\])?: |Segmentation fault|[Tt]imed out|command not found|No such file or directory"
    r"|(?:exit(?:ed)?(?: with)?(?: code| status)?|returncode)\W{0,3}[1-9]\d{0,2}\b",
    re.MULTILINE,
)


@lru_cache(8)
def verdict_of(text: str) -> Verdict | None:
    """What the output of tests says of them: one failure among any number of passes is a failure."""
    head, tail = VERDICT_CHARS
    if len(text) > head + tail:
        text = f"{text[:head]}\n{text[-tail:]}"
    text, counts = _COLOUR.sub("", text), Counter[str]()
    for line in text.split("\n"):
        found = list(_COUNT.finditer(line)) if len(line) <= LINE_CHARS else []
        if len(found) == 1 and re.search(r"[^\W\d_]", _BESIDE.sub("", _COUNT.sub("", line))):
            continue  # a number in a sentence
        for before, word, name, behind in (item.groups() for item in found):
            counts[_COUNTED[(word or name).lower()]] += int(before or behind)
    if counts["bad"] or _FAILED.search(text):
        return "failed"
    has_run = counts.get("all") != 0
    if counts["good"] or (has_run and "bad" in counts and "good" not in counts):
        return "passed"
    if _NOT_RUN.search(text):
        return None
    if has_run and _PASSED.search(text):
        return "passed"
    return "failed" if _TROUBLE.search(text) else None


# What a file is for

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DOCUMENT = re.compile(
    r".*\.(?:md|mdx|rst|adoc|txt|tex|html?|po|docx?|ipynb)|(?:readme|changelog|changes|news|contributing|authors|todo)(?:\..*)?",
    re.IGNORECASE,
)
_TESTING = frozenset({"test", "tests", "spec", "specs", "testing", "conftest"})
_TRYING_IN = frozenset({"reproduce", "reproduction", "repro", "scratch", "tmp", "temp"})
_TRYING = _TRYING_IN | {"debug", "demo", "try", "experiment", "inspect", "verify", "check", "edge"}


@lru_cache(1_000)
def sort_of(path: str) -> FileSort:
    """What a file is for, by the whole words of its path; a try is thrown away later."""
    name = basename(path)
    if name.endswith((".patch", ".diff")):
        return "code"  # a change of it, wherever it lies
    words, folders = (
        {word.lower() for word in _PART.findall(text)} for text in (name, path.removesuffix(name))
    )
    if words & _TRYING or folders & _TRYING_IN or path.startswith("/tmp/"):  # noqa: S108 - judged, not used
        return "try"
    is_document = _DOCUMENT.fullmatch(name) is not None
    if words & _TESTING or (folders & _TESTING and not is_document):
        return "test"
    return "document" if is_document else "code"


# What came of a turn

REMEMBERED = 1_000  # turns with an outcome; of older ones none is known
RUNNING: frozenset[ToolKind] = frozenset({"run", "test"})
FINISHING = frozenset(
    [
        "finish",
        "finished",
        "submit",
        "done",
        "terminate",
        "complete",
        "complete_task",
        "task_complete",
        "task_done",
        "attempt_completion",
        "final_answer",
        "end_task",
        "mark_complete",
        "exit",
    ]
)  # names of tools that hand the work in


class Outcome(NamedTuple):
    """What a turn came to.

    Attributes:
        turn: its number.
        written: the files that it changed.
        answered: the tools by which it read what is no file.
        verdict: of the tests that it ran; one that failed is a failure; ``None`` where they tell nothing, or none ran.
        edited: whether a call whose purpose is to write worked.
        ran: whether it ran or tested something.
        failed: whether a change failed, or what ran ended in trouble.
        finished: whether it handed the work in.
    """

    turn: int
    written: tuple[str, ...]
    answered: tuple[str, ...]
    verdict: Verdict | None
    edited: bool
    ran: bool
    failed: bool
    finished: bool

    @property
    def changed(self) -> bool:
        """Whether it changed anything, also what is no file."""
        return self.edited or bool(self.written)

    @property
    def went_well(self) -> bool:
        """Whether something ran, and nothing tells of trouble."""
        return self.ran and not self.failed


@lru_cache(2)
def outcome_of(turn: Turn) -> Outcome:
    """What a turn came to; each trigger asks for that of the same turn."""
    steps, kinds = turn.steps, [step.action.kind for step in turn.steps]
    tested = {verdict_of(step.observation or "") for step in steps if step.action.kind == "test"}
    written = (path for step in steps if _has_written(step) for path in step.action.writes)
    return Outcome(
        turn=turn.number,
        written=tuple(dict.fromkeys(written)),
        answered=tuple(
            step.tool
            for step in steps  # the tool itself is what is asked
            if step.action.kind == "read"
            and not step.action.views
            and step.action.key.startswith(step.tool[:40])
        ),
        verdict="failed" if "failed" in tested else "passed" if "passed" in tested else None,
        edited=any(step.action.kind == "write" and _has_worked(step) for step in steps),
        ran=not RUNNING.isdisjoint(kinds),
        failed=any(
            step.action.kind in {"run", "test", "write"} and not _has_worked(step) for step in steps
        ),
        finished=any(step.tool.lower() in FINISHING for step in steps),
    )


def _has_worked(step: Step) -> bool:
    """Whether a call has an answer that tells of no trouble."""
    answer = step.observation
    if answer is None:
        return False
    if step.action.kind not in RUNNING:
        return not is_failure("\n".join(answer[:300].split("\n")[:2]))  # where it says so at once
    verdict = verdict_of(answer)
    return verdict == "passed" if verdict else _TROUBLE.search(answer[-2_000:]) is None


def _has_written(step: Step) -> bool:
    """Whether a step did what it was to write; a run that fails may have written before."""
    if not step.action.writes or step.observation is None:
        return False
    return step.action.kind != "write" or not is_failure(step.observation)


class Outcomes:
    """What came out of the newest turns, and which of them say so: they stay.

    Those are the last change of each file, the newest verdict of tests, and the newest answer of each service that was read
    from: a file can be read again as it is now, the account that was looked up stands nowhere else.
    """

    def __init__(self) -> None:
        self._known: deque[Outcome] = deque(maxlen=REMEMBERED)
        self._newest = -1

    def add(self, turn: Turn) -> Outcome:
        """What came out of one more turn."""
        check_turn(turn)
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

    def scope(self, start: int, stop: int, *, more: Iterable[int] = ()) -> Scope:
        """The turns from ``start`` to before ``stop``, with those that stay, and more that do."""
        seen, stay = set[str](), {number for number in more if start <= number < stop}
        for known in takewhile(lambda known: known.turn >= start, reversed(self._known)):
            told = {*known.written, *known.answered, *(["a verdict"] if known.verdict else [])}
            if known.turn < stop and not told <= seen:
                stay.add(known.turn)
                seen |= told
        return Scope(start=start, stop=stop, outcomes=tuple(sorted(stay)))
