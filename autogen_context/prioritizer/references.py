"""References between units: where values occur, who used them again, and which units are superseded.

Promise: following unit by unit or all at once gives the same result, and costs what is new. Only units under consideration
are split into blocks. A unit is superseded only if later units show everything that it shows.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from autogen_context.messages.blocks import (
    Block,
    UnitPassage,
    parsed,
    passages_of,
    strings_in,
)
from autogen_context.messages.identifiers import NOTHING, values_of
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.origin import is_users
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import (
    RUNS,
    ToolAction,
    ToolKind,
    View,
    answers_of,
    outcome_of_call,
)
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of
from autogen_context.prioritizer.category import Category, category_of
from autogen_context.view.decision import Candidate

LEAST_FRACTION = 0.5  # of an older read's characters that a newer read needs to supersede it
MOST_COMPARED = 200  # earlier views of a file compared with a new one
TOLD_CHARS = 80  # of a command in a reason
IN_CALL = 2**62  # size of content that is complete in the call itself
WORDS: Mapping[ToolKind, str] = {
    "read": "read",
    "write": "version",
    "search": "search",
    "run": "run",
    "test": "run",
}


class Named(NamedTuple):
    """Values of a unit by who named them, and the actions of its tool calls."""

    used: tuple[str, ...]  # by the model
    asked: tuple[str, ...]  # by a person
    is_sought: bool  # by a person or a system message
    actions: tuple[ToolAction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitText:
    """The content of a unit; parsed content is kept only while the unit is under consideration."""

    candidate: Candidate
    kinds: ToolKinds
    read: Named | None = None
    passages: tuple[UnitPassage, ...] = ()

    @property
    def named(self) -> Named:
        """Values by who named them."""
        return self.read or named_in(self.candidate, self.kinds)

    @property
    def unit(self) -> Unit:
        """The unit."""
        return self.candidate.unit

    @property
    def messages(self) -> Sequence[Message]:
        """Its messages, as they may be sent."""
        return self.candidate.said

    @property
    def category(self) -> Category:
        """Its category, one of seven."""
        return category_of(self.unit, self.named.actions)

    @property
    def tokens_per_char(self) -> float:
        """Average tokens per character."""
        return self.candidate.tokens / max(1, sum(passage.chars for passage in self.passages))

    @property
    def blocks(self) -> list[Block]:
        """The blocks of all its passages."""
        return [block for passage in self.passages for block in passage.blocks]

    @property
    def values(self) -> frozenset[str]:
        """All values that it names."""
        return frozenset(self.named.used).union(*(block.values for block in self.blocks))


def unit_at(units: Sequence[Candidate] | Sequence[UnitText], position: int) -> int:
    """Return the index of the unit that contains the message at a position."""
    return bisect_right(units, position, key=lambda each: each.unit.start) - 1


class References:
    """The units of a conversation and the values in them; ``kinds`` classifies the tools."""

    def __init__(self, kinds: ToolKinds = BY_NAME) -> None:
        self.units: list[UnitText] = []
        self.blocks: Counter[str] = (
            Counter()
        )  # number of blocks with a value, in the units under consideration
        self.total_blocks = 0  # number of their blocks
        self.asked: Counter[str] = Counter()  # number of units in which a person named a value
        self.superseded = Superseded()
        self._kinds = kinds
        self._cut: set[int] = set()
        self._uses: dict[str, list[int]] = {}

    @property
    def standing(self) -> list[int]:
        """The units under consideration, whose texts are split into blocks, ascending."""
        return sorted(self._cut)

    @property
    def used(self) -> Collection[str]:
        """All values that the model named."""
        return self._uses.keys()

    def uses(self, value: str) -> Sequence[int]:
        """Return the units in which the model named a value, oldest first."""
        return self._uses.get(value, ())

    def follow(self, candidates: Sequence[Candidate]) -> None:
        """Read new units; if a candidate is unchanged, so are all before it."""
        for i, (text, candidate) in enumerate(zip(self.units, candidates, strict=False)):
            if not is_system(text.candidate) or not is_system(candidate):
                break
            if text.candidate is not candidate:  # a host's system prompt may change
                self._forget_blocks(i)
                self.units[i] = UnitText(candidate=candidate, kinds=self._kinds)
        same = min(len(self.units), len(candidates))
        while same and self.units[same - 1].candidate is not candidates[same - 1]:
            same -= 1
        self.superseded.truncate(same)
        while len(self.units) > same:
            named = self.units[-1].named
            self._forget_blocks(len(self.units) - 1)
            self.units.pop()
            for value in named.used:
                self._uses[value].pop()
                if not self._uses[value]:
                    del self._uses[value]
            forget(named.asked, self.asked)
        for candidate in candidates[same:]:
            named, here = named_in(candidate, self._kinds), len(self.units)
            for value in named.used:
                known = self._uses.setdefault(
                    value, [here]
                )  # list literals are smaller than grown lists
                known += [] if known[-1] == here else [here]
            self.asked.update(named.asked)
            self.units.append(UnitText(candidate=candidate, kinds=self._kinds, read=named))
            self.superseded.add(candidate.unit, named.actions)

    def cut(self, units: Iterable[int]) -> None:
        """Split the texts of exactly these units into blocks."""
        wanted = set(units)
        for unit in self._cut - wanted:
            self._forget_blocks(unit)
        for unit in sorted(wanted - self._cut):
            self._cut.add(unit)
            text = self.units[unit]
            text = replace(text, read=text.named, passages=passages_of(text.messages))
            self.units[unit], blocks = text, text.blocks
            self.blocks.update(chain.from_iterable([block.values for block in blocks]))
            self.total_blocks += len(blocks)

    def _forget_blocks(self, unit: int) -> None:
        self._cut.discard(unit)
        text = self.units[unit]
        for block in text.blocks:
            forget(block.values, self.blocks)
            self.total_blocks -= 1
        self.units[unit] = replace(text, read=None, passages=())


def is_system(candidate: Candidate) -> bool:
    """Return True for a system message."""
    return candidate.unit.messages[0].role in SYSTEM_ROLES


def forget(values: Iterable[str], counts: Counter[str]) -> None:
    """Decrement the counts of values and remove those at 0."""
    for value in values:
        counts[value] -= 1
        if not counts[value]:
            del counts[value]


def named_in(candidate: Candidate, kinds: ToolKinds) -> Named:
    """Return the values of a unit by who named them; keys of tool arguments do not count as named by the model."""
    used, asked, told = NOTHING, NOTHING, NOTHING
    for message in candidate.said:
        if message.role == "assistant":
            texts = [message.text]
            for call in message.calls:
                value = parsed(call.arguments)
                texts += [call.arguments] if value is None else strings_in(value)
            used |= values_of("\n".join(texts))  # no value spans lines
        elif message.role in SYSTEM_ROLES:
            told |= values_of(message.text)
        elif is_users(message):
            asked |= values_of(message.text)
    return Named(
        used=tuple(used),
        asked=tuple(asked),
        is_sought=bool(asked or told),
        actions=actions_of(candidate.unit, kinds),
    )


# ---- superseded units


@dataclass(slots=True, kw_only=True, eq=False)
class Shown:
    """One thing that a unit shows: a view of a file, or the result of a command or query; ``by`` shows it again."""

    unit: int
    kind: ToolKind
    what: View | str
    chars: int
    by: int | None = None

    @property
    def place(self) -> str:
        """Key under which things are compared; the prefix keeps commands apart from files."""
        return self.what.path if isinstance(self.what, View) else f"\0{self.what}"

    @property
    def told(self) -> str:
        """Short description for a reason."""
        what = self.what.told() if isinstance(self.what, View) else self.what
        return what if len(what) <= TOLD_CHARS else f"{what[:TOLD_CHARS]}…"

    def replaces(self, older: "Shown") -> bool:
        """Whether it shows all that the older one showed; a far smaller result, such as "unchanged", does not."""
        if isinstance(self.what, str) or isinstance(older.what, str):
            return self.what == older.what
        return self.what.covers(older.what) and self.chars >= LEAST_FRACTION * older.chars


SHOWS_NOTHING: tuple[Sequence[Shown], bool] = ((), False)  # shared by most units


class Superseded:
    """Tracks which units are superseded; the cost of a unit does not grow with their number."""

    def __init__(self) -> None:
        # What each unit shows, and whether it also did something that no later unit can show.
        self._units: list[tuple[Sequence[Shown], bool]] = []
        self._shown: defaultdict[str, list[Shown]] = defaultdict(list)  # by place

    def __len__(self) -> int:
        """Number of units."""
        return len(self._units)

    def add(self, unit: Unit, actions: Sequence[ToolAction] | None = None) -> None:
        """Append a unit with the actions of its calls; failed and pending calls supersede nothing."""
        here, found, lasting = len(self), list[Shown](), False
        known = actions_of(unit) if actions is None else actions
        for action, (_, answer) in zip(known, answers_of(unit), strict=True):
            worked = answer is not None and not outcome_of_call(action, answer).failed
            size = len(answer or "")
            things: list[tuple[View | str, int, bool]] = [
                (view, IN_CALL if view.path in action.writes else size, worked)
                for view in action.views
            ]
            if action.key:
                came_out = (
                    answer is not None and action.kind in RUNS
                )  # a failure is a result of these
                things.append((action.key, size, worked or came_out))
            for what, chars, counts in things:
                shown = Shown(unit=here, kind=action.kind, what=what, chars=chars)
                same = self._shown[shown.place]
                for older in same[-MOST_COMPARED:] if counts else ():
                    if older.by is None and shown.replaces(older):
                        older.by = here
                same.append(shown)
                found.append(shown)
            whole = {view.path for view in action.views if view.whole}
            lasting |= not things or not whole.issuperset(action.writes)
        self._units.append((tuple(found), lasting) if found or lasting else SHOWS_NOTHING)

    def truncate(self, units: int) -> None:
        """Remove all units after the first ``units``, and undo what they superseded."""
        while len(self) > units:
            found, _ = self._units.pop()
            for shown in reversed(found):
                same = self._shown[shown.place]
                same.pop()
                for older in same[-MOST_COMPARED:]:
                    older.by = None if older.by == shown.unit else older.by
                if not same:
                    del self._shown[shown.place]

    def by(self, index: int) -> int | None:
        """Return the unit from which on everything that this one shows is shown again, or ``None``."""
        shown, lasting = self._units[index]
        found = [each.by for each in shown if each.by is not None]
        return max(found) if found and len(found) == len(shown) and not lasting else None

    def showing(self, path: str) -> list[int]:
        """Return the units whose view of a file is not superseded, oldest first."""
        return [shown.unit for shown in self._shown.get(path, ()) if shown.by is None]

    def reason(self, index: int) -> str:
        """Explain why a unit is superseded; empty if it is not."""
        if self.by(index) is None:
            return ""
        first = self._units[index][0][0]
        return f"older {WORDS.get(first.kind, 'call')} of {first.told}"
