"""What the agent is at: the type of its task, how complex it is, and what kind of question is asked.

Promise: whole words decide, never parts of words; code and paths in a text are no words of it; the same text gives the
same definition, with the reasons; any text goes, empty ones too, and a long one costs no more than its first and last
characters.

The words are data: the table ``[task]`` of each file of ``language/``. Of a type, ``debug`` lists what is to be done and
``debug_topic`` what it is about.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, Self, cast, get_args

from autogen_context.argument import require_text, require_texts
from autogen_context.language.matcher import Found
from autogen_context.language.phrases import phrases
from autogen_context.language.query import QueryKind, kind_of

TaskType = Literal["debug", "implement", "explore", "verify", "document", "refactor", "chat"]
Complexity = Literal["low", "medium", "high"]

TYPES: tuple[TaskType, ...] = get_args(TaskType)  # where two have as many points, the first has it
TOPIC = "_topic"
TOPIC_POINTS, WORD_POINTS, PHRASE_POINTS = 1, 2, 4
LEAD_POINTS = 2  # for the first of the text: people say first what they want
TYPE_WORDS = 150  # from the beginning; what follows are details, a log, or a template's advice
READ_CHARS = 8_000  # of a longer text: three quarters from its beginning, the rest from its end
RECENT_READ = 6  # texts at most, for what the task itself does not say

MEDIUM_FROM, HIGH_FROM = 2, 5  # points
COMPLEXITY_POINTS: Mapping[str, tuple[tuple[int, int], ...]] = {  # so many points from so many on
    "words": ((30, 1), (100, 2), (300, 3)),
    "constraints": ((1, 1), (3, 2)),
    "files named": ((2, 1), (4, 2)),
    "things to do": ((2, 1), (4, 2)),
    "steps": ((2, 1), (4, 2)),
    "question words": ((2, 1), (4, 2)),
    "uses of tools": ((1, 1), (3, 2)),
}
FEATURES = {
    "constraint": "constraints",
    "step": "steps",
    "question": "question words",
    "tool": "uses of tools",
}

_NEGATED = re.compile(r"[^,.;:!?\n]{0,24}")  # behind "don't": what stands so near is not asked for
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_NAMES = re.compile(r"\S*(?:[/\\_]|\w\.(?=[a-z]\w{0,5}\b))\S*")  # paths, files and identifiers
_FILE = re.compile(r"[\w./\\-]*\w\.[A-Za-z]\w{0,5}\b(?!\()")
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_STEP_LINE = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDefinition:
    """A task as far as its words tell.

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
    def from_text(cls, text: str, *, recent: Sequence[str] = ()) -> Self:
        """Judge a task by its words.

        Args:
            text: the task, in any language; may be empty.
            recent: what was said before it, newest last; decides the type where the text has no word for it ("go on").

        Returns:
            Its definition; ``chat``, ``low`` and ``casual`` where nothing tells more.

        Raises:
            ValueError: it is no text, or ``recent`` no list of texts.
        """
        require_text("text", text, give="the task as a text")
        require_texts("recent", recent, give="a list of texts, newest last")
        prose = prose_of(text)
        found = phrases("task").find(prose)
        task_type, type_reason = type_of(prose, found, recent)
        complexity, complexity_reason = complexity_of(text, prose, found)
        kind, kind_reason = kind_of(text)
        return cls(
            text=text,
            type=task_type,
            complexity=complexity,
            query_kind=kind,
            reasons=(type_reason, complexity_reason, f"{kind}: {kind_reason}"),
        )


def type_of(prose: str, found: Sequence[Found], recent: Sequence[str]) -> tuple[TaskType, str]:
    """The type of a task, and why: of its own words, else of the newest text that has one that tells."""
    earlier = (prose_of(text) for text in reversed(recent[-RECENT_READ:]))
    texts = chain([(prose, found)], ((each, phrases("task").find(each)) for each in earlier))
    for place, (text, signals) in enumerate(texts):
        told = list(type_signals(text, signals))
        if not told:
            continue
        points = dict.fromkeys(TYPES, 0)
        leads = next((signal for signal in told if signal[0] != "chat"), told[0])  # not a greeting
        for signal in told:
            points[signal[0]] += signal[1] + (LEAD_POINTS if signal is leads else 0)
        best = max(TYPES, key=points.__getitem__)
        words = dict.fromkeys(words.lower() for kind, _, words in told if kind == best)
        where = f" ({place} before)" if place else ""
        return best, f"{best}: {', '.join(words)}{where}"
    return "chat", "chat: no word tells of a task"


def type_signals(text: str, found: Sequence[Found]) -> Iterator[tuple[TaskType, int, str]]:
    """What tells of a type, in the order of the text: the type, points, and the words; each phrase once.

    The longest of several counts, its words for no other. What is asked not to be done is left out, and so is what stands
    behind the first words of a long text.
    """
    last = next(
        (word.end() for i, word in enumerate(_WORD.finditer(text)) if i == TYPE_WORDS), len(text)
    )
    behind = [_NEGATED.match(text, each.stop) for each in found if each.label == "negation"]
    negated = [each.span() for each in behind if each]
    labelled = [each for each in found if each.label.removesuffix(TOPIC) in TYPES]
    reached, seen = 0, set[tuple[str, str]]()
    for each in sorted(labelled, key=lambda each: (each.start, -each.stop)):
        words = text[each.start : each.stop]
        is_negated = any(start <= each.start < stop for start, stop in negated)
        if each.start < reached or each.stop > last:
            continue
        reached = each.stop
        task_type = cast("TaskType", each.label.removesuffix(TOPIC))  # it is one of them
        if is_negated or (task_type, words.lower()) in seen:
            continue
        seen.add((task_type, words.lower()))
        points = PHRASE_POINTS if len(_WORD.findall(words)) > 1 else WORD_POINTS
        yield task_type, TOPIC_POINTS if each.label.endswith(TOPIC) else points, words


def complexity_of(text: str, prose: str, found: Sequence[Found]) -> tuple[Complexity, str]:
    """How much is asked, and why: points for each feature, by ``COMPLEXITY_POINTS``."""
    features = features_of(text, prose, found)
    given = {
        name: max((worth for start, worth in COMPLEXITY_POINTS[name] if amount >= start), default=0)
        for name, amount in features.items()
    }
    points = sum(given.values())
    level: Complexity = (
        "high" if points >= HIGH_FROM else "medium" if points >= MEDIUM_FROM else "low"
    )
    listed = [f"{features[name]} {name} (+{worth})" for name, worth in given.items() if worth]
    return level, f"{level}: {', '.join(listed) or 'short and plain'}"


def features_of(text: str, prose: str, found: Sequence[Found]) -> dict[str, int]:
    """How often each feature of complexity occurs."""
    read = read_part(text)
    deeds = [points for _, points, _ in type_signals(prose, found) if points > TOPIC_POINTS]
    counts = dict.fromkeys(FEATURES.values(), 0)
    for each in found:
        if each.label in FEATURES:
            counts[FEATURES[each.label]] += 1
    counts["steps"] += len(_STEP_LINE.findall(read))
    return {
        "words": len(_WORD.findall(prose)),
        "files named": len({*_FILE.findall(read)}),
        "things to do": len(deeds),
        **counts,
    }


def prose_of(text: str) -> str:
    """What of a text is said in words, without code, paths and identifiers."""
    return _NAMES.sub(" ", _CODE.sub(" ", read_part(text)))


def read_part(text: str) -> str:
    """What of a text is read: all of it, or its beginning and its end."""
    if len(text) <= READ_CHARS:
        return text
    return f"{text[: READ_CHARS * 3 // 4]}\n{text[-READ_CHARS // 4 :]}"
