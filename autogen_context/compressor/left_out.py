"""What a notice says of units that are left out: statements still in force, summaries, a log of the actions taken.

Promise: the notice fits its limit and contains only text of the conversation or verified summaries by a model, each line of
it marked as a quotation. Statements are dropped last; of the log, which has a bounded size, what failed last stays longest.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from autogen_context.compressor.summaries import Span
from autogen_context.ledger import Entry
from autogen_context.ledger.ledger import statements_in
from autogen_context.ledger.rendering import render
from autogen_context.messages.blocks import parsed, strings_in
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import RUNS, ToolKind, answers_of, outcome_of_call
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of
from autogen_context.text.fit import CountText, fit, marked
from autogen_context.text.outcome import most_informative
from autogen_context.text.quote import MARK, block, named, quoted

# The log of actions

DONE: dict[ToolKind, tuple[str, int]] = {  # verb in the log, weight (lower is dropped first)
    "read": ("read", 0),
    "search": ("searched", 1),
    "other": ("called", 2),
    "run": ("ran", 3),
    "write": ("changed", 4),
    "test": ("tested", 5),
}
OPEN_WEIGHT = 6  # of an action whose last attempt failed
LINE_CHARS = 160  # of the subjects of one action
FAILED = "failed"  # in place of an error without a line that tells why
ARGUMENT_CHARS = 60  # of one argument, for calls without a known subject
MOST_PARTS = 40  # of one subject
MOST_THINGS = 200  # in a log; beyond, the heaviest and then the latest are kept
READINGS = re.compile(rf"^{MARK}read .*(?:\n{MARK}read .*)+", re.MULTILINE)


class Action(NamedTuple):
    """The actions of one kind on one subject.

    Attributes:
        kind: what was done.
        thing: to what.
        parts: of it.
        error: of the last attempt, if its result shows that it failed.
        succeeded: whether the result of the last attempt shows that it succeeded.
        failed: number of failures.
        times: number of attempts.
    """

    kind: ToolKind
    thing: str
    parts: tuple[str, ...] = ()
    error: str = ""
    succeeded: bool = False
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
            often = f" ({shortened(map(named, self.parts), ', ')})"
        if self.error:
            ended = f": failed: {self.error}" if self.error != FAILED else ": failed"
        elif self.succeeded and self.kind in RUNS:
            ended = ": failed, then went well" if self.failed else ": went well"
        else:  # how it ended is not known, so nothing is said of it
            ended = ": failed at first" if self.failed else ""
        return f"{MARK}{DONE[self.kind][0]} {self.thing}{often}{ended}"


class ActionLog:
    """A log of actions, oldest first, one line per subject, bounded; it may continue another log."""

    def __init__(self, before: "ActionLog | None" = None) -> None:
        self._done: dict[tuple[ToolKind, str], Action] = {}
        self._forgotten = 0  # readings
        if before is not None:
            self._done |= before._done  # noqa: SLF001 - of its kind
            self._forgotten = before._forgotten  # noqa: SLF001 - of its kind

    def add(self, actions: Iterable[Action]) -> None:
        """Add the actions of a unit."""
        done = self._done
        for action in actions:
            key = action.kind, action.thing
            done[key] = done[key].then(action) if key in done else action
        if len(done) > 2 * MOST_THINGS:
            by_weight = sorted(done, key=lambda key: done[key].weight)  # of equal ones the oldest
            for key in by_weight[:-MOST_THINGS]:
                del done[key]
                self._forgotten += key[0] == "read"

    def text(self, *, room_tokens: int, count: CountText) -> str:
        """Return the log within a limit, preferring heavier, then newer lines; may be empty. It says how many more were read."""
        actions = list(self._done.values())
        read = [at for at, action in enumerate(actions) if action.kind == "read"]
        total = self._forgotten + len(read)
        lines = [action.line for action in actions]
        mark, shown, kept = count(f" and {total} more"), list[int](), dict[int, str]()
        for reserve in (0, mark):
            found = fit(
                range(len(actions)),
                room_tokens - reserve,
                cost=lambda at: count(lines[at]) + 1,
                score=lambda at: (actions[at].weight, at),
            )
            kept = {at: lines[at] for at in sorted(found.kept)}
            shown = [at for at in read if at in kept]
            if not 0 < len(shown) < total or found.left + reserve >= mark:
                break
        if 0 < len(shown) < total:
            kept[shown[-1]] += f" and {total - len(shown)} more"
        text = "\n".join(kept.values())
        return READINGS.sub(lambda run: run.group().replace(f"\n{MARK}read ", ", "), text)


def actions_in(unit: Unit, kinds: ToolKinds = BY_NAME) -> list[Action]:
    """Return the actions of a unit."""
    actions: list[Action] = []
    for action, (call, answer) in zip(actions_of(unit, kinds), answers_of(unit), strict=True):
        kind, views = action.kind, action.views if action.kind == "read" else ()
        things = list(dict.fromkeys([v.path for v in views] or action.subjects))
        if things in ([], [""], [call.name]):
            strings = strings_in(parsed(call.arguments))
            short = (each for each in strings if len(each) <= ARGUMENT_CHARS)
            kind, things = "other", [call.name, *short]
        part = ""
        if len(views) == 1 and not views[0].whole:
            lines = views[0].lines
            part = f"{lines[0]}-{lines[1]}" if lines else views[0].part
        outcome = outcome_of_call(action, answer)
        reason = most_informative(outcome.lines)
        error = (quoted(reason) if reason else FAILED) if outcome.failed else ""
        parts = (part,) if part else ()
        thing = shortened(map(named, things))
        actions.append(Action(kind, thing, parts, error, outcome.succeeded, failed=bool(error)))
    return actions


def shortened(values: Iterable[str], between: str = " ") -> str:
    """Join the first of these values on a line of bounded length; each is whole, so that its quotation is closed."""
    line = ""
    for value in values:
        if line and len(line) + len(value) > LINE_CHARS:
            return f"{line}{between}…"
        line += f"{between}{value}" if line else value
    return line


# The notice

STATED_FRACTION = 0.5  # of the limit, for statements
SUMMED = "A model's summary of what happened:"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The content for a notice about evicted units.

    Attributes:
        statements: valid statements that are no longer visible.
        summaries: a model's summaries of spans of units, oldest first.
        units: the actions of each unit, by its number, oldest first; the notice has those that no summary covers.
        earlier: log of the actions before all these.
    """

    statements: Sequence[Entry]
    summaries: Mapping[Span, str]
    units: Mapping[int, Sequence[Action]]
    earlier: ActionLog | None


def notice_of(left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
    """Return the notice within a limit: statements, the newest summaries that fit, an action log."""
    room = int(room_tokens * STATED_FRACTION)
    stated = render(left_out.statements, room_tokens=room, count=count, is_quoted=True).text
    room_tokens -= count(stated) + 1
    texts = {span: block(summary) for span, summary in left_out.summaries.items()}
    found = fit(
        [span for span in [*texts][::-1] if texts[span]],
        room_tokens - count(SUMMED) - 1,
        cost=lambda span: count(texts[span]) + 1,
    )
    covered = {unit for span in found.kept for unit in range(span.start, span.stop)}
    summed = [texts[span] for span in texts if span in found.kept]
    room_tokens = found.left + (0 if summed else count(SUMMED) + 1)
    log = ActionLog(left_out.earlier)
    for unit, actions in left_out.units.items():
        log.add(() if unit in covered else actions)
    done = log.text(room_tokens=room_tokens, count=count)
    summed = [f"{SUMMED}\n{summed[0]}", *summed[1:]] if summed else []
    return "\n\n".join(part for part in (stated, *summed, done) if part)


def stated_in(text: str, /) -> str:
    """Return the sentences of a person's text that state something, with marks for the others; empty if none does."""
    parts: list[str] = []
    at = 0
    for _, statement in statements_in(text, "person"):
        stop = statement.stop + text[statement.stop : statement.stop + 1].isspace()
        parts += [marked(text[at : statement.start]), text[statement.start : stop]]
        at = stop
    return "".join([*parts, marked(text[at:])]) if parts else ""
