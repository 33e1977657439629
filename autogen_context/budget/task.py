"""What the agent is at: the type of its task, how complex it is, and what kind of question is asked.

Promise: whole words decide, never parts of words; code and paths in a text are no words of it; the same text gives the
same definition, with the reasons; any text goes, empty ones and other languages too, and a long one costs no more than
its first and last characters.

The words themselves are data: ``budget.signals``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Literal, Self

from autogen_context.argument import require_text, require_texts
from autogen_context.budget.signals import (
    COMPLEXITY_POINTS,
    COMPLEXITY_SIGNALS,
    FILE_ENDINGS,
    LONGEST_SIGNAL,
    SKIPPED,
    TYPE_SIGNALS,
    TaskType,
    base_forms,
)
from autogen_context.language.query import QueryKind, kind_of

Complexity = Literal["low", "medium", "high"]

MEDIUM_FROM = 2  # points
HIGH_FROM = 5  # points
TYPE_WORDS = 150  # from the beginning; what follows are details, a log, or a template's advice
LEAD_POINTS = 2  # for the first signal of the text: people say first what they want
DEED_POINTS = 2  # of a signal that is something to do, not just a topic
READ_CHARS = 8_000  # of a longer text: three quarters from its beginning, the rest from its end
RECENT_READ = 6  # texts at most, for what the task itself does not say

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_CHUNK = re.compile(r"\S+")
_WORD = re.compile(r"\w+(?:'\w+)*")
_STEP_LINE = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_FILE_ENDINGS = frozenset(FILE_ENDINGS.split())
_SKIPPED = frozenset(SKIPPED.split())
_AROUND_NAME = ".,;:!?()[]{}<>\"'`*"

Signal = tuple[str, ...]


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
        words = words_of(text)
        type_and_why = type_of(words, recent=recent)
        complexity_and_why = complexity_of(text, words)
        kind, kind_reason = kind_of(text)
        return cls(
            text=text,
            type=type_and_why[0],
            complexity=complexity_and_why[0],
            query_kind=kind,
            reasons=(type_and_why[1], complexity_and_why[1], f"{kind}: {kind_reason}"),
        )


def type_of(words: Sequence[str], *, recent: Sequence[str] = ()) -> tuple[TaskType, str]:
    """The type of a task, and why: of its own words, else of the newest text that has one that tells."""
    before = (words_of(text) for text in reversed(recent[-RECENT_READ:]))
    for place, each in enumerate(chain([words], before)):
        points, found = type_points(each)
        if found:
            best = max(points, key=points.__getitem__)
            where = f" ({place} before)" if place else ""
            return best, f"{best}: {', '.join(found[best])}{where}"
    return "chat", "chat: no word tells of a task"


def type_points(
    words: Sequence[str],
) -> tuple[dict[TaskType, int], dict[TaskType, list[str]]]:
    """Points of each type in the order of their table, and the signals that gave them."""
    table = type_table()
    points: dict[TaskType, int] = dict.fromkeys(TYPE_SIGNALS, 0)
    found: dict[TaskType, list[str]] = {}
    for signal in dict.fromkeys(signals_in(words[:TYPE_WORDS], table)):
        task_type, worth = table[signal]
        leads = not (found.keys() - {"chat"} or task_type == "chat")  # a greeting leads nowhere
        points[task_type] += worth + leads * LEAD_POINTS
        found.setdefault(task_type, []).append(" ".join(signal))
    return points, found


def complexity_of(text: str, words: Sequence[str]) -> tuple[Complexity, str]:
    """How much is asked, and why: points for each feature, by ``COMPLEXITY_POINTS``."""
    features = features_of(text, words)
    given = {name: points_for(name, amount) for name, amount in features.items()}
    points = sum(given.values())
    level: Complexity = (
        "high" if points >= HIGH_FROM else "medium" if points >= MEDIUM_FROM else "low"
    )
    listed = [f"{features[name]} {name} (+{worth})" for name, worth in given.items() if worth]
    return level, f"{level}: {', '.join(listed) or 'short and plain'}"


def features_of(text: str, words: Sequence[str]) -> dict[str, int]:
    """How often each feature of complexity occurs."""
    read = read_part(text)
    table = complexity_table()
    found: dict[str, int] = dict.fromkeys(COMPLEXITY_SIGNALS, 0)
    for signal in signals_in(words, table):
        found[table[signal]] += 1
    found["steps"] += len(_STEP_LINE.findall(read))
    deeds = {signal for signal in signals_in(words, type_table()) if is_deed(signal)}
    names = {chunk.strip(_AROUND_NAME) for chunk in _CHUNK.findall(read)}
    files = [name for name in names if is_file(name)]
    return {"words": len(words), "files named": len(files), "things to do": len(deeds), **found}


def points_for(feature: str, amount: int) -> int:
    """What so much of a feature adds."""
    return max((worth for start, worth in COMPLEXITY_POINTS[feature] if amount >= start), default=0)


def words_of(text: str) -> list[str]:
    """The words of a text in their base forms, without code, paths and fillers."""
    prose = _CODE.sub(" ", read_part(text)).replace("\u2019", "'")
    chunks = (chunk.strip(_AROUND_NAME) for chunk in _CHUNK.findall(prose))
    chunks = (chunk for chunk in chunks if not ("/" in chunk or is_file(chunk)))
    words = (word for chunk in chunks for word in _WORD.findall(chunk.casefold()))
    return [base_of(word) for word in words if word not in _SKIPPED]


def is_file(name: str) -> bool:
    """Whether it is the name of a file, as far as its ending tells."""
    stem, _, ending = name.rpartition(".")
    return bool(stem) and ending.lower() in _FILE_ENDINGS


def read_part(text: str) -> str:
    """What of a text is read: all of it, or its beginning and its end."""
    if len(text) <= READ_CHARS:
        return text
    return f"{text[: READ_CHARS * 3 // 4]}\n{text[-READ_CHARS // 4 :]}"


def signals_in(words: Sequence[str], table: Mapping[Signal, object]) -> Iterator[Signal]:
    """The signals of a table in these words, in their order; the longest wins, none overlap."""
    place = 0
    while place < len(words):
        signal = longest_signal(words[place : place + LONGEST_SIGNAL], table)
        if signal:
            yield signal
        place += len(signal) or 1


def longest_signal(words: Sequence[str], table: Mapping[Signal, object]) -> Signal:
    """The longest signal with which these words begin; an empty one where there is none."""
    if words[0] not in vocabulary():
        return ()
    tried = (tuple(words[:size]) for size in range(len(words), 0, -1))
    return next((signal for signal in tried if signal in table), ())


@cache
def type_table() -> dict[Signal, tuple[TaskType, int]]:
    """Each signal with its type and points."""
    table: dict[Signal, tuple[TaskType, int]] = {}
    for kind, rows in TYPE_SIGNALS.items():
        for worth, text in rows.items():
            table |= dict.fromkeys(split(text), (kind, worth))
    return table


@cache
def complexity_table() -> dict[Signal, str]:
    """Each signal with its feature."""
    return {signal: name for name, text in COMPLEXITY_SIGNALS.items() for signal in split(text)}


def is_deed(signal: Signal) -> bool:
    """Whether a signal of a type is something to be done, by its points."""
    return type_table()[signal][1] >= DEED_POINTS


def split(signals: str) -> Iterator[Signal]:
    """Signals as the tables have them: words of one joined by hyphens, signals apart."""
    return (tuple(signal.split("-")) for signal in signals.split())


@cache
def vocabulary() -> frozenset[str]:
    """Every word of every signal."""
    return frozenset(chain.from_iterable([*type_table(), *complexity_table()]))


def base_of(word: str) -> str:
    """The form in which the tables have a word; the word itself where they do not."""
    return next((form for form in base_forms(word) if form in vocabulary()), word)
