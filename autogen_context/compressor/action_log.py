"""The action log: in a few lines what was done in the units that are left out.

Promise: the text fits its room; every name, path and word of a result in it stands in those units; the same units give
the same text. It is made from the units themselves, never from an earlier log, so that it does not decay.

One line says all that was done to one thing, in the order of the first time: what was read, searched, changed, run and
tested, how that ended, and, in the model's own words, what it decided. Under pressure reads go first, then searches;
what failed last and was not done again since stays longest.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from autogen_context.compressor.shorten import CountText, is_error_line
from autogen_context.messages.message import ToolCall
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction, ToolKind, answers_of, is_failure
from autogen_context.prioritizer.blocks import parsed, strings_in
from autogen_context.prioritizer.category import ends_of, is_decision, tells_of_error

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


@dataclass(slots=True, kw_only=True)
class Action:
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

    @property
    def weight(self) -> int:
        """How long it stays under pressure, more is longer."""
        return OPEN_WEIGHT if self.error else WEIGHT[self.kind]

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
        return f"- {DONE[self.kind]} {self.thing}{often}{ended}"


def action_log(steps: Sequence[Step], *, room_tokens: int, count: CountText) -> str:
    """What was done in these units.

    Args:
        steps: the units, oldest first, with what their calls do.
        room_tokens: what the text may have, in tokens.
        count: tokens of a text.

    Returns:
        Lines; empty where nothing was done, or nothing fits.
    """
    lines = [(action.line, action.weight) for action in actions_of(steps)]
    lines += [(f"- decided: {said}", DECISION_WEIGHT) for said in decisions_of(steps)]
    kept: set[int] = set()
    for at in sorted(range(len(lines)), key=lambda at: (-lines[at][1], -at)):
        tokens = count(lines[at][0]) + 1
        if tokens <= room_tokens:
            room_tokens -= tokens
            kept.add(at)
    text = "\n".join(lines[at][0] for at in sorted(kept))
    return READINGS.sub(lambda run: run.group().replace(f"\n{READ}", ", "), text)


def actions_of(steps: Iterable[Step]) -> list[Action]:
    """What was done, one for each thing and kind, in the order of the first time."""
    actions: dict[tuple[ToolKind, str], Action] = {}
    for step in steps:
        for done, (call, answer) in zip(step.actions, answers_of(step.unit), strict=True):
            kind, views = done.kind, done.views if done.kind == "read" else ()
            thing = shortened(" ".join(dict.fromkeys([v.path for v in views] or done.subjects)))
            if thing in {"", call.name}:
                kind, thing = "other", called(call)
            action = actions.setdefault((kind, thing), Action(kind=kind, thing=thing))
            action.times += 1
            if len(views) == 1 and not views[0].whole:
                lines = views[0].lines
                action.parts[f"{lines[0]}-{lines[1]}" if lines else views[0].part] = None
            action.error = error_of(done.kind, answer or "")
            action.failed += bool(action.error)
    return list(actions.values())


def called(call: ToolCall) -> str:
    """A call of which nothing is known but its name and its arguments."""
    strings = strings_in(parsed(call.arguments))
    return shortened(" ".join([call.name, *(s for s in strings if len(s) <= ARGUMENT_CHARS)]))


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


def decisions_of(steps: Sequence[Step]) -> list[str]:
    """The latest sentences in which the model says what it decided; none before them is looked for."""
    latest: dict[str, None] = {}
    for step in reversed(steps):
        for message in reversed(step.unit.messages):
            if len(latest) >= MOST_DECISIONS:
                break
            if message.role == "assistant":
                latest.update(dict.fromkeys(reversed(list(deciding(message.text)))))
    return list(reversed(list(latest)[:MOST_DECISIONS]))


def deciding(text: str) -> Iterator[str]:
    """The sentences of a text that tell of a decision, and are short enough to be told whole."""
    if not is_decision(text):
        return
    for match in SENTENCE.finditer(ends_of(text)):
        sentence = match.group().strip(" -*#\t")
        if sentence[-1:] != ":" and len(sentence) <= LINE_CHARS and is_decision(sentence):
            yield sentence
