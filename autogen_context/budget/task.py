"""Task classification by wording: type, complexity and kind of query.

Promise: whole words decide, never parts of words; code and paths are ignored. Any text is accepted, including an empty one;
of a long text only the beginning and end are read. The words are data: the table ``[task]`` of each file of ``language/``.
For a type such as ``debug``, ``debug`` lists words for the action and ``debug_topic`` words for its subject.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

from autogen_context.argument import require_text
from autogen_context.language.phrases import PhraseMatch, phrases
from autogen_context.language.query import QueryKind, kind_of
from autogen_context.text.work import ends_of

TaskType = Literal["debug", "implement", "explore", "verify", "document", "refactor", "chat"]
Complexity = Literal["low", "medium", "high"]

TYPES: tuple[TaskType, ...] = get_args(TaskType)  # ties: the first
TOPIC = "_topic"
TOPIC_POINTS, WORD_POINTS, PHRASE_POINTS = 1, 2, 4  # for what a phrase of a table tells of a task
LEAD_POINTS = 2  # bonus of the first signal: people state their request first
TYPE_CHARS = 750  # from the beginning; later text is details, a log, or boilerplate
READ_CHARS = 8_000  # of a longer text: three quarters from its beginning, the rest from its end

MEDIUM_FROM, HIGH_FROM = 2, 5  # points
TWICE, ONCE = ((2, 1), (4, 2)), ((1, 1), (3, 2))  # (count from which, points)
COMPLEXITY_POINTS: Mapping[str, tuple[tuple[int, int], ...]] = {  # (count from which, points)
    "words": ((30, 1), (100, 2), (300, 3)),
    "constraints": ONCE,
    "files named": TWICE,
    "things to do": TWICE,
    "steps": TWICE,
    "question words": TWICE,
    "uses of tools": ONCE,
}

_NEGATED = re.compile(r"[^,.;:!?\n]{0,24}")  # text after "don't" that is not asked for
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_RUN = re.compile(r"\S+")
_NAME = re.compile(r"[/\\_]|\w\.(?=[a-z]\w{0,5}\b)")  # matches in a path, file name or identifier
_FILE = re.compile(r"(?<![\w./\\-])[\w./\\-]*\w\.[A-Za-z]\w{0,5}\b(?!\()")
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_STEP_LINE = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDefinition:
    """Classification of a task by its words.

    Attributes:
        text: the task as given.
        type: type of work.
        complexity: amount of work.
        query_kind: ``recall`` if it asks about the past, ``summary`` for a summary, else ``casual``.
        reasons: explanation, one line per verdict.
    """

    text: str
    type: TaskType = "chat"
    complexity: Complexity = "low"
    query_kind: QueryKind = "casual"
    reasons: tuple[str, ...] = ()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Classify a task by its words.

        Args:
            text: the task, in any language; may be empty.

        Returns:
            Its definition; ``chat``, ``low`` and ``casual`` by default.

        Raises:
            ValueError: ``text`` is not a string.
        """
        require_text("text", text, give="the task as a text")
        read = ends_of(text, READ_CHARS * 3 // 4, READ_CHARS // 4)
        prose = _RUN.sub(lambda run: " " if _NAME.search(run[0]) else run[0], _CODE.sub(" ", read))
        found = phrases("task").find(prose)
        signals = list(type_signals(prose, found))
        task_type, type_reason = type_of(signals)
        complexity, complexity_reason = complexity_of(
            {
                "words": len(_WORD.findall(prose)),
                "constraints": sum(each.label == "constraint" for each in found),
                "files named": len({*_FILE.findall(read)}),
                "things to do": sum(points > TOPIC_POINTS for _, points, _ in signals),
                "steps": sum(each.label == "step" for each in found)
                + len(_STEP_LINE.findall(read)),
                "question words": sum(each.label == "question" for each in found),
                "uses of tools": sum(each.label == "tool" for each in found),
            }
        )
        kind, kind_reason = kind_of(text)
        reasons = (type_reason, complexity_reason, f"{kind}: {kind_reason}")
        return cls(
            text=text, type=task_type, complexity=complexity, query_kind=kind, reasons=reasons
        )

    @classmethod
    def of_goal(cls, goal: str, said: str) -> Self:
        """Classify what people want together with what they said last.

        Type and complexity are the goal's: what was said last may be more than the goal, and never makes less of it. What it asks for
        decides the kind of query.

        Args:
            goal: what people want, in any language; without one what was said last stands for it.
            said: what they said last; it may be the goal itself.

        Raises:
            ValueError: one of the two is not a string.
        """
        require_text("goal", goal, give="the goal as a text")
        last = cls.from_text(said)
        if not goal.strip() or said.strip() == goal.strip():
            return last
        wanted = cls.from_text(goal)
        levels = get_args(Complexity)
        greater = max(wanted, last, key=lambda task: levels.index(task.complexity))
        kind = wanted if wanted.type != "chat" else last
        return cls(
            text=with_said(goal, said),
            type=kind.type,
            complexity=greater.complexity,
            query_kind=last.query_kind,
            reasons=(kind.reasons[0], greater.reasons[1], last.reasons[2]),
        )


def with_said(goal: str, said: str) -> str:
    """Return a goal, and behind it what was said last unless that is part of it."""
    return "\n\n".join(filter(None, (goal, "" if said in goal else said)))


def type_signals(prose: str, found: Sequence[PhraseMatch]) -> Iterator[tuple[TaskType, int, str]]:
    """Yield the signals of a type in text order: type, points and words; each phrase once.

    Of overlapping phrases only the longest counts. Negated requests are skipped.
    """
    behind = [_NEGATED.match(prose, each.stop) for each in found if each.label == "negation"]
    negated = [each.span() for each in behind if each]
    reached, seen = 0, set[tuple[str, str]]()
    for each in sorted(found, key=lambda each: (each.start, -each.stop)):
        label, words = each.label.removesuffix(TOPIC), prose[each.start : each.stop].lower()
        if label not in TYPES or each.start < reached or each.stop > TYPE_CHARS:
            continue
        reached = each.stop
        if (label, words) in seen or any(start <= each.start < stop for start, stop in negated):
            continue
        seen.add((label, words))
        points = PHRASE_POINTS if len(_WORD.findall(words)) > 1 else WORD_POINTS
        yield label, TOPIC_POINTS if each.label.endswith(TOPIC) else points, words


def type_of(signals: Sequence[tuple[TaskType, int, str]]) -> tuple[TaskType, str]:
    """Return the type of a task by its signals, and the reason."""
    if not signals:
        return "chat", "chat: no words of a task found"
    points = dict.fromkeys(TYPES, 0)
    # Skip a greeting.
    lead = next((signal for signal in signals if signal[0] != "chat"), signals[0])
    for signal in signals:
        points[signal[0]] += signal[1] + (LEAD_POINTS if signal is lead else 0)
    best = max(TYPES, key=points.__getitem__)
    words = dict.fromkeys(words for kind, _, words in signals if kind == best)
    return best, f"{best}: {', '.join(words)}"


def complexity_of(features: Mapping[str, int]) -> tuple[Complexity, str]:
    """Return the complexity and the reason, by points for the count of each feature."""
    given = {
        name: max(
            (points for start, points in COMPLEXITY_POINTS[name] if amount >= start), default=0
        )
        for name, amount in features.items()
    }
    points = sum(given.values())
    level: Complexity = "low" if points < MEDIUM_FROM else "medium"
    level = level if points < HIGH_FROM else "high"
    listed = [f"{features[name]} {name} (+{each})" for name, each in given.items() if each]
    return level, f"{level}: {', '.join(listed) or 'short and plain'}"
