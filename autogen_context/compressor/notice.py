"""What is told in the place of units that are left out: what was stated, what a model made of them, a log of what was done.

Promise: it fits its room, and statements go last. It is made of the units themselves, never of an earlier notice, so that it
does not decay. Under pressure reads go first, then searches; what failed last and was not done again since stays longest.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from autogen_context.compressor.shorten import CountText, is_error_line
from autogen_context.ledger import Entry, Ledger
from autogen_context.ledger.reader import STOP
from autogen_context.ledger.rendering import render
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolKind, answers_of, is_failure
from autogen_context.prioritizer.blocks import marked, parsed, strings_in
from autogen_context.prioritizer.category import ends_of, is_decision, tells_of_error
from autogen_context.prioritizer.references import UnitText

STATED_FRACTION = 0.5  # of the room, for statements

DONE: dict[ToolKind, tuple[str, int]] = {  # the word, and how long it stays under pressure
    "read": ("read", 0),
    "search": ("searched", 1),
    "other": ("called", 2),
    "run": ("ran", 3),
    "write": ("changed", 4),
    "test": ("tested", 5),
}
OPEN_WEIGHT = 6  # of what failed last
DECISION_WEIGHT = 4
LINE_CHARS = 160  # of one thing, of one error, of one sentence
ARGUMENT_CHARS = 60  # of one argument of a call of which nothing else is known
MOST_DECISIONS = 6  # the latest ones
MOST_PARTS = 40  # of a thing that a line names
LEAST_LINE_TOKENS = 4  # a shorter line says nothing
MOST_THINGS = 200  # of which a log speaks; of more, those that stay longest under pressure, and then the latest
READINGS = re.compile(r"^- read .*(?:\n- read .*)+", re.MULTILINE)
NAMED_ERROR = re.compile(r"[a-z](?:Error|Exception)\b")


class Action(NamedTuple):
    """What was done to one thing: how often, to which parts of it, the error of the last time, and how often it failed."""

    kind: ToolKind
    thing: str
    parts: tuple[str, ...] = ()
    error: str = ""
    failed: int = 0
    times: int = 1

    def then(self, later: "Action") -> "Action":
        """It with what was done to the same thing later."""
        parts = tuple(dict.fromkeys(self.parts + later.parts))[:MOST_PARTS]
        failed, times = self.failed + later.failed, self.times + later.times
        return later._replace(parts=parts, failed=failed, times=times)

    @property
    def weight(self) -> int:
        """How long it stays under pressure, more is longer."""
        return OPEN_WEIGHT if self.error else DONE[self.kind][1]

    @property
    def line(self) -> str:
        """It as a line."""
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
    """What an action log says of a unit: what its calls did, and the sentences in which the model says what it decided."""

    unit: Unit
    actions: Sequence[Action]
    decided: Sequence[str]


class Summarised(NamedTuple):
    """What a model made of some units that are left out, without what was overruled since; a log may speak of them instead."""

    text: str
    units: Sequence[UnitNote]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What is to be told.

    Attributes:
        statements: what was stated out of sight and holds.
        summaries: what a model made of stretches of units, oldest first.
        units: the units of which there is no summary, oldest first, with what their calls did.
        earlier: what was done before all these.
    """

    statements: Sequence[Entry] = ()
    summaries: Sequence[Summarised] = ()
    units: Sequence[UnitNote] = ()
    earlier: "ActionLog | None" = None


def notice_of(left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
    """Of units that are left out, within a room: statements, the newest summaries that have room, an action log."""
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
    """The sentences of a person's text that state something, with marks where others were; empty where none does."""
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
    """The sentences of a text as the ledger parts them, each with what stands behind it."""
    ends = [0, *(stop.end() for stop in STOP.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


class ActionLog:
    """What was done in some units, and in those of another log, oldest first: a line for each thing, of so many at most."""

    def __init__(self, before: "ActionLog | None" = None) -> None:
        self._actions: dict[tuple[ToolKind, str], Action] = {}
        self._decided: dict[str, None] = {}
        if before is not None:
            self._actions |= before._actions  # noqa: SLF001 - of its kind
            self._decided |= before._decided  # noqa: SLF001 - of its kind

    def add(self, note: UnitNote) -> None:
        """Log what was done in one more unit."""
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
        """It in lines, those that stay longest where not all have room; empty where nothing was done, or nothing fits."""
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
    """What an action log says of a unit."""
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
    decided: list[str] = []  # in sentences that are short enough to be told whole
    for message in step.unit.messages:
        text = message.text if message.role == "assistant" and is_decision(message.text) else ""
        sentences = [sentence.strip(" -*#\t\n") for sentence in spoken_in(ends_of(text))]
        told = [each for each in sentences if each[-1:] != ":" and len(each) <= LINE_CHARS]
        decided += filter(is_decision, told)
    return UnitNote(step.unit, actions, decided)


def shortened(text: str) -> str:
    """A text on one line that is not too long."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…"


def error_of(kind: ToolKind, answer: str) -> str:
    """The line that tells how it failed; empty where none does."""
    failed = is_failure(answer)
    if not (failed or (kind in {"run", "test"} and tells_of_error(answer))):
        return ""
    lines = [line for line in ends_of(answer).split("\n") if is_error_line(line)]
    telling = [line for line in lines if NAMED_ERROR.search(line)] or lines
    first = answer.strip().partition("\n")[0]
    return shortened(telling[-1] if telling else first if failed else "")
