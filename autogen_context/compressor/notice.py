"""The notice sent in place of evicted units: statements, model summaries and a log of actions.

Promise: the notice fits its limit, and statements are dropped last. It is built from the units themselves, never from an
earlier notice, so it does not degrade. When space is short, reads are dropped first, then searches; unresolved failures last.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from autogen_context.compressor.shorten import CountText, is_error_line
from autogen_context.language.phrases import ends_of
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.reader import STOP
from autogen_context.ledger.rendering import render
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolKind, answers_of, is_failure
from autogen_context.prioritizer.blocks import marked, parsed, strings_in
from autogen_context.prioritizer.category import END_CHARS, is_decision, tells_of_error
from autogen_context.prioritizer.references import UnitText

STATED_FRACTION = 0.5  # of the limit, for statements

DONE: dict[ToolKind, tuple[str, int]] = {  # verb in the log, weight (lower is dropped first)
    "read": ("read", 0),
    "search": ("searched", 1),
    "other": ("called", 2),
    "run": ("ran", 3),
    "write": ("changed", 4),
    "test": ("tested", 5),
}
OPEN_WEIGHT = 6  # of an action whose last attempt failed
DECISION_WEIGHT = 4
LINE_CHARS = 160  # of one subject, error or sentence
ARGUMENT_CHARS = 60  # of one argument, for calls without a known subject
MOST_DECISIONS = 6  # the latest ones
MOST_PARTS = 40  # of one subject
LEAST_LINE_TOKENS = 4  # a shorter line is useless
MOST_THINGS = 200  # in a log; beyond, the heaviest and then the latest are kept
READINGS = re.compile(r"^- read .*(?:\n- read .*)+", re.MULTILINE)
NAMED_ERROR = re.compile(r"[a-z](?:Error|Exception)\b")


class Action(NamedTuple):
    """The actions of one kind on one subject: count, parts, error of the last attempt, and number of failures."""

    kind: ToolKind
    thing: str
    parts: tuple[str, ...] = ()
    error: str = ""
    failed: int = 0
    times: int = 1

    def then(self, later: "Action") -> "Action":
        """Merge with a later action on the same subject."""
        parts = tuple(dict.fromkeys(self.parts + later.parts))[:MOST_PARTS]
        failed, times = self.failed + later.failed, self.times + later.times
        return later._replace(parts=parts, failed=failed, times=times)

    @property
    def weight(self) -> int:
        """The weight when space is short; a higher weight is kept longer."""
        return OPEN_WEIGHT if self.error else DONE[self.kind][1]

    @property
    def line(self) -> str:
        """The action as a line of the log."""
        often = f" ({self.times} times)" if self.times > 1 else ""
        if self.parts:
            often = f" ({shortened(', '.join(self.parts))})"
        if self.error:
            ended = f": failed: {self.error}"
        elif self.failed:
            ended = ": failed, then went well"
        else:
            ended = ": went well" if self.kind in {"run", "test"} else ""
        return f"- {DONE[self.kind][0]} {self.thing}{often}{ended}"


class UnitNote(NamedTuple):
    """A unit's entries for the action log: its actions, and the sentences that state the model's decisions."""

    unit: Unit
    actions: Sequence[Action]
    decided: Sequence[str]


class Summarised(NamedTuple):
    """A model's summary of evicted units, without outdated sentences; the units' notes are used if it does not fit."""

    text: str
    units: Sequence[UnitNote]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The content for a notice about evicted units.

    Attributes:
        statements: valid statements that are no longer visible.
        summaries: a model's summaries of spans of units, oldest first.
        units: notes on the units without a summary, oldest first.
        earlier: log of the actions before all these.
    """

    statements: Sequence[Entry] = ()
    summaries: Sequence[Summarised] = ()
    units: Sequence[UnitNote] = ()
    earlier: "ActionLog | None" = None


def notice_of(left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
    """Return the notice within a limit: statements, the newest summaries that fit, an action log."""
    room = int(room_tokens * STATED_FRACTION)
    stated = render(left_out.statements, room_tokens=room, count=count).text
    room_tokens -= count(stated) + 1
    units, summed = list(left_out.units), list[str]()
    for summary in reversed(left_out.summaries):
        tokens = count(summary.text) + 1
        if summary.text and tokens <= room_tokens:
            summed.insert(0, summary.text)
            room_tokens -= tokens
        else:
            units += summary.units
    units.sort(key=lambda each: each.unit.start)
    log = ActionLog(left_out.earlier)
    for unit in units:
        log.add(unit)
    done = log.text(room_tokens=room_tokens, count=count)
    return "\n\n".join(part for part in (stated, *summed, done) if part)


def stated_in(text: str, /) -> str:
    """Return the sentences of a person's text that state something, with marks for the others; empty if none does."""
    parts: list[str] = []
    gap = ""
    for sentence in spoken_in(text):
        if Ledger().learn_text(sentence):
            parts += [marked(gap), sentence]
            gap = ""
        else:
            gap += sentence
    return "".join([*parts, marked(gap)]) if parts else ""


def spoken_in(text: str) -> list[str]:
    """Split a text into sentences as the ledger does, each with the punctuation and whitespace after it."""
    ends = [0, *(stop.end() for stop in STOP.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


class ActionLog:
    """A log of actions, oldest first, one line per subject, bounded; it may continue another log."""

    def __init__(self, before: "ActionLog | None" = None) -> None:
        self._actions: dict[tuple[ToolKind, str], Action] = {}
        self._decided: dict[str, None] = {}
        if before is not None:
            self._actions |= before._actions  # noqa: SLF001 - of its kind
            self._decided |= before._decided  # noqa: SLF001 - of its kind

    def add(self, note: UnitNote) -> None:
        """Add the actions and decisions of a unit."""
        for action in note.actions:
            key = action.kind, action.thing
            known = self._actions.get(key)
            self._actions[key] = known.then(action) if known else action
        for sentence in note.decided:
            self._decided.pop(sentence, None)
            self._decided[sentence] = None
        for sentence in list(self._decided)[:-MOST_DECISIONS]:
            del self._decided[sentence]
        if len(self._actions) > 2 * MOST_THINGS:
            keys = list(self._actions)
            order = sorted(range(len(keys)), key=lambda at: (self._actions[keys[at]].weight, at))
            for at in order[:-MOST_THINGS]:
                del self._actions[keys[at]]

    def text(self, *, room_tokens: int, count: CountText) -> str:
        """Return the log within a limit, preferring heavier, then newer lines; empty if there is nothing or nothing fits."""
        actions, decided = list(self._actions.values()), list(self._decided)
        weights = [action.weight for action in actions] + [DECISION_WEIGHT] * len(decided)
        kept: dict[int, str] = {}
        for at in sorted(range(len(weights)), key=lambda at: (-weights[at], -at)):
            if room_tokens < LEAST_LINE_TOKENS:
                break
            line = (
                actions[at].line
                if at < len(actions)
                else f"- decided: {decided[at - len(actions)]}"
            )
            tokens = count(line) + 1
            if tokens <= room_tokens:
                room_tokens -= tokens
                kept[at] = line
        text = "\n".join(kept[at] for at in sorted(kept))
        return READINGS.sub(lambda run: run.group().replace("\n- read ", ", "), text)


def note_of(step: UnitText) -> UnitNote:
    """Return a unit's entries for the action log."""
    actions: list[Action] = []
    for action, (call, answer) in zip(step.named.actions, answers_of(step.unit), strict=True):
        kind, views = action.kind, action.views if action.kind == "read" else ()
        thing = shortened(" ".join(dict.fromkeys([v.path for v in views] or action.subjects)))
        if thing in {"", call.name}:
            strings = strings_in(parsed(call.arguments))
            short = (each for each in strings if len(each) <= ARGUMENT_CHARS)
            kind, thing = "other", shortened(" ".join([call.name, *short]))
        part = ""
        if len(views) == 1 and not views[0].whole:
            lines = views[0].lines
            part = f"{lines[0]}-{lines[1]}" if lines else views[0].part
        error = error_of(action.kind, answer or "")
        actions.append(Action(kind, thing, (part,) if part else (), error, failed=bool(error)))
    decided: list[str] = []  # only sentences short enough to be quoted whole
    for message in step.unit.messages:
        text = message.text if message.role == "assistant" and is_decision(message.text) else ""
        sentences = [sentence.strip(" -*#\t\n") for sentence in spoken_in(ends_of(text, END_CHARS))]
        told = [each for each in sentences if each[-1:] != ":" and len(each) <= LINE_CHARS]
        decided += filter(is_decision, told)
    return UnitNote(step.unit, actions, decided)


def shortened(text: str) -> str:
    """Return a text on one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…"


def error_of(kind: ToolKind, answer: str) -> str:
    """Return the line of an answer that describes the failure; empty if it did not fail."""
    failed = is_failure(answer)
    if not (failed or (kind in {"run", "test"} and tells_of_error(answer))):
        return ""
    lines = [line for line in ends_of(answer, END_CHARS).split("\n") if is_error_line(line)]
    telling = [line for line in lines if NAMED_ERROR.search(line)] or lines
    first = answer.strip().partition("\n")[0]
    return shortened(telling[-1] if telling else first if failed else "")
