"""Tell in a few lines what was done in the units that are left out.

Promise: the text fits its room; every name, path and word of a result in it stands in those units; the same units give
the same text. It is made from the units themselves, never from an earlier telling, so that it does not decay.

One line says all that was done to one thing, in the order of the first time: what was read, searched, changed, run and
tested, how that ended, and, in the model's own words, what it decided. Under pressure reads go first, then searches;
what failed last and was not done again since stays longest.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from autogen_context.compressor.shorten import ERROR_LINE
from autogen_context.messages.message import ToolCall
from autogen_context.messages.segment import Unit
from autogen_context.messages.tools.action import ToolAction, ToolKind
from autogen_context.messages.tools.answer import answers_of, is_failure
from autogen_context.prioritizer.blocks.extract import parsed, strings_in
from autogen_context.prioritizer.classify import ends_of, is_decision, tells_of_error

CountText = Callable[[str], int]

DONE: dict[ToolKind, str] = {
    "read": "read",
    "search": "searched",
    "write": "changed",
    "run": "ran",
    "test": "tested",
    "other": "called",
}
WEIGHT: dict[ToolKind, int] = {"read": 0, "search": 1, "other": 2, "run": 3, "write": 4, "test": 5}
OPEN_WEIGHT = 6  # of what failed last
DECISION_WEIGHT = 4
LINE_CHARS = 160  # of one thing, of one error, of one sentence
ARGUMENT_CHARS = 60  # of one argument of a call of which nothing else is known
MOST_DECISIONS = 6  # the latest ones
READ = f"- {DONE['read']} "
READINGS = re.compile(rf"^{READ}.*(?:\n{READ}.*)+", re.MULTILINE)
NAMED_ERROR = re.compile(r"[a-z](?:Error|Exception)\b")
SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One line of the telling.

    Attributes:
        text: the line.
        weight: how long it stays under pressure, more is longer.
    """

    text: str
    weight: int


@dataclass(slots=True, kw_only=True)
class Deed:
    """What was done to one thing, so far.

    Attributes:
        kind: what was done.
        thing: to what.
        times: how often.
        parts: which parts of it, where it was not all.
        error: of the last time, empty where it went well.
        failed: how often it did not.
    """

    kind: ToolKind
    thing: str
    times: int = 0
    parts: dict[str, None] = field(default_factory=dict[str, None])
    error: str = ""
    failed: int = 0

    def told(self) -> Told:
        """It as a line."""
        often = f" ({self.times} times)" if self.times > 1 else ""
        if self.parts:
            often = f" ({shortened(', '.join(self.parts))})"
        if self.error:
            ended = f": failed: {self.error}"
        elif self.failed:
            ended = ": failed, then went well"
        else:
            ended = ": went well" if self.kind in ("run", "test") else ""
        weight = OPEN_WEIGHT if self.error else WEIGHT[self.kind]
        return Told(text=f"- {DONE[self.kind]} {self.thing}{often}{ended}", weight=weight)


class Step(Protocol):
    """A unit, and what its calls do."""

    @property
    def unit(self) -> Unit:
        """The unit."""
        ...

    @property
    def actions(self) -> Sequence[ToolAction]:
        """What its calls do, in their order."""
        ...


def folded(steps: Sequence[Step], *, room_tokens: int, count: CountText) -> str:
    """What was done in these units.

    Args:
        steps: the units, oldest first, with what their calls do.
        room_tokens: what the text may have, in tokens.
        count: tokens of a text.

    Returns:
        Lines; empty where nothing was done, or nothing fits.
    """
    told = [*(deed.told() for deed in deeds_of(steps)), *decisions_of(steps)]
    sizes = [count(line.text) + 1 for line in told]
    order = sorted(range(len(told)), key=lambda i: (-told[i].weight, -i))
    kept: set[int] = set()
    for i in order:
        if sizes[i] <= room_tokens:
            room_tokens -= sizes[i]
            kept.add(i)
    return joined(told[i].text for i in sorted(kept))


def joined(lines: Iterable[str]) -> str:
    """The lines, readings that follow each other as one."""
    text = "\n".join(lines)
    return READINGS.sub(lambda run: run.group().replace(f"\n{READ}", ", "), text)


def deeds_of(steps: Iterable[Step]) -> list[Deed]:
    """What was done, a deed for each thing and kind, in the order of the first time."""
    deeds: dict[tuple[ToolKind, str], Deed] = {}
    for step in steps:
        for action, (call, answer) in zip(step.actions, answers_of(step.unit), strict=True):
            kind, thing = action.kind, thing_of(action)
            if thing in ("", call.name):
                kind, thing = "other", called(call)
            deed = deeds.setdefault((kind, thing), Deed(kind=kind, thing=thing))
            deed.times += 1
            deed.parts |= dict.fromkeys(parts_of(action))
            deed.error = error_of(action.kind, answer or "")
            deed.failed += bool(deed.error)
    return list(deeds.values())


def thing_of(action: ToolAction) -> str:
    """What an action is about, in one line; empty where that is not known."""
    paths = [view.path for view in action.views] if action.kind == "read" else []
    return shortened(" ".join(dict.fromkeys(paths or action.subjects)))


def parts_of(action: ToolAction) -> list[str]:
    """Which parts of a file a reading shows; none where it shows all, or several files."""
    if action.kind != "read" or len(action.views) != 1 or action.views[0].whole:
        return []
    view = action.views[0]
    return [f"{view.lines[0]}-{view.lines[1]}" if view.lines else view.part]


def called(call: ToolCall) -> str:
    """A call of which nothing is known but its name and its arguments."""
    value = parsed(call.arguments)
    short = [text for text in strings_in(value) if len(text) <= ARGUMENT_CHARS]
    return shortened(" ".join([call.name, *short]))


def shortened(text: str) -> str:
    """A text on one line that is not too long."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…"


def error_of(kind: ToolKind, answer: str) -> str:
    """The line that tells how it failed; empty where none does."""
    failed = is_failure(answer)
    if not (failed or (kind in ("run", "test") and tells_of_error(answer))):
        return ""
    lines = [match.group() for match in ERROR_LINE.finditer(ends_of(answer))]
    telling = [line for line in lines if NAMED_ERROR.search(line)] or lines
    first = answer.strip().partition("\n")[0]
    return shortened(telling[-1] if telling else first if failed else "")


def decisions_of(steps: Sequence[Step]) -> list[Told]:
    """The latest sentences in which the model says what it decided; none before them is looked for."""
    latest: dict[str, None] = {}
    for said in spoken_backwards(steps):
        if len(latest) >= MOST_DECISIONS:
            break
        latest.update(dict.fromkeys(reversed(list(deciding(said)))))
    newest = list(latest)[:MOST_DECISIONS]
    return [Told(text=f"- decided: {said}", weight=DECISION_WEIGHT) for said in reversed(newest)]


def spoken_backwards(steps: Sequence[Step]) -> Iterator[str]:
    """What the model said, the latest first."""
    for step in reversed(steps):
        yield from (m.text for m in reversed(step.unit.messages) if m.role == "assistant")


def deciding(text: str) -> Iterator[str]:
    """The sentences of a text that tell of a decision, and are short enough to be told whole."""
    if not is_decision(text):
        return
    for match in SENTENCE.finditer(ends_of(text)):
        sentence = match.group().strip(" -*#\t")
        if sentence[-1:] != ":" and len(sentence) <= LINE_CHARS and is_decision(sentence):
            yield sentence
