"""What the agent is at: the type of its task, how complex it is, and what kind of question is asked.

Promise: whole words decide, never parts of words; code and paths in a text are no words of it; any text goes, empty ones
too, and a long one costs no more than its first and last characters. The words are data: the table ``[task]`` of each file
of ``language/``. Of a type, ``debug`` lists what is to be done and ``debug_topic`` what it is about.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

from autogen_context.argument import require_text
from autogen_context.language.phrases import Found, phrases
from autogen_context.language.query import QueryKind, kind_of

TaskType = Literal["debug", "implement", "explore", "verify", "document", "refactor", "chat"]
Complexity = Literal["low", "medium", "high"]

TYPES: tuple[TaskType, ...] = get_args(TaskType)  # where two have as many points, the first has it
TOPIC = "_topic"
TOPIC_POINTS, WORD_POINTS, PHRASE_POINTS = 1, 2, 4
LEAD_POINTS = 2  # for the first of the text: people say first what they want
TYPE_CHARS = 750  # from the beginning; what follows are details, a log, or a template's advice
READ_CHARS = 8_000  # of a longer text: three quarters from its beginning, the rest from its end

MEDIUM_FROM, HIGH_FROM = 2, 5  # points
TWICE, ONCE = ((2, 1), (4, 2)), ((1, 1), (3, 2))
COMPLEXITY_POINTS: Mapping[str, tuple[tuple[int, int], ...]] = {  # so many points from so many on
    "words": ((30, 1), (100, 2), (300, 3)),
    "constraints": ONCE,
    "files named": TWICE,
    "things to do": TWICE,
    "steps": TWICE,
    "question words": TWICE,
    "uses of tools": ONCE,
}

_NEGATED = re.compile(r"[^,.;:!?\n]{0,24}")  # behind "don't": what stands so near is not asked for
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_RUN = re.compile(r"\S+")
_NAME = re.compile(r"[/\\_]|\w\.(?=[a-z]\w{0,5}\b)")  # in a path, a file or an identifier
_FILE = re.compile(r"(?<![\w./\\-])[\w./\\-]*\w\.[A-Za-z]\w{0,5}\b(?!\()")
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_STEP_LINE = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDefinition:
    """What the words of a task say of it.

    Attributes:
        text: the task as it was given.
        type: what is to be done.
        complexity: how much is asked.
        query_kind: whether it asks for the past, for a summary, or for neither.
        reasons: why, one line a verdict.
    """

    text: str
    type: TaskType = "chat"
    complexity: Complexity = "low"
    query_kind: QueryKind = "casual"
    reasons: tuple[str, ...] = ()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Judge a task by its words.

        Args:
            text: the task, in any language; may be empty.

        Returns:
            Its definition; ``chat``, ``low`` and ``casual`` where nothing tells more.

        Raises:
            ValueError: it is no text.
        """
        require_text("text", text, give="the task as a text")
        read = text
        if len(text) > READ_CHARS:
            read = f"{text[: READ_CHARS * 3 // 4]}\n{text[-READ_CHARS // 4 :]}"
        prose = _RUN.sub(lambda run: " " if _NAME.search(run[0]) else run[0], _CODE.sub(" ", read))
        found = phrases("task").find(prose)
        told = list(type_signals(prose, found))
        task_type, type_reason = type_of(told)
        complexity, complexity_reason = complexity_of(
            {
                "words": len(_WORD.findall(prose)),
                "constraints": sum(each.label == "constraint" for each in found),
                "files named": len({*_FILE.findall(read)}),
                "things to do": sum(points > TOPIC_POINTS for _, points, _ in told),
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


def type_signals(prose: str, found: Sequence[Found]) -> Iterator[tuple[TaskType, int, str]]:
    """What tells of a type, in the order of the text: the type, points, and the words; each phrase once.

    The longest of several counts, its words for no other. What is asked not to be done is left out.
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


def type_of(told: Sequence[tuple[TaskType, int, str]]) -> tuple[TaskType, str]:
    """The type of a task by its signals, and why."""
    if not told:
        return "chat", "chat: no word tells of a task"
    points = dict.fromkeys(TYPES, 0)
    lead = next((signal for signal in told if signal[0] != "chat"), told[0])  # not a greeting
    for signal in told:
        points[signal[0]] += signal[1] + (LEAD_POINTS if signal is lead else 0)
    best = max(TYPES, key=points.__getitem__)
    words = dict.fromkeys(words for kind, _, words in told if kind == best)
    return best, f"{best}: {', '.join(words)}"


def complexity_of(features: Mapping[str, int]) -> tuple[Complexity, str]:
    """How much is asked, and why: points for how often each feature occurs."""
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
