"""What units have to do with each other: which values stand where, who used them again, and what later units supersede.

Promise: following unit by unit or all at once gives the same, and costs what is new. Only units that stand for choice are
cut into blocks. A unit is superseded only where later ones show all that it shows.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from autogen_context.messages.identifiers import NOTHING, values_of
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction, ToolKind, View, answers_of, is_failure
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of
from autogen_context.prioritizer.blocks import Passage, parsed, passages_of, strings_in
from autogen_context.prioritizer.category import Category, category_of
from autogen_context.view.decision import Candidate

LEAST_FRACTION = 0.5  # of an older read's characters, that a newer one must have to take its place
OUTCOMES: frozenset[ToolKind] = frozenset({"run", "test"})  # that they failed is what came out
MOST_COMPARED = 200  # of the views of one file, with a newer one
TOLD_CHARS = 80  # of a command, in a reason
IN_CALL = 2**62  # characters of a content that stands in the call itself: nothing of it is missing
WORDS: Mapping[ToolKind, str] = {
    "read": "read",
    "write": "version",
    "search": "search",
    "run": "run",
    "test": "run",
}


class Named(NamedTuple):
    """Values of a unit by who named them, and what its calls do."""

    used: tuple[str, ...]  # by the model
    asked: tuple[str, ...]  # by a person
    is_sought: bool
    actions: tuple[ToolAction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitText:
    """What stands in a unit; what is read of it is kept while it stands for choice."""

    candidate: Candidate
    kinds: ToolKinds
    read: Named | None = None
    passages: tuple[Passage, ...] = ()

    @property
    def named(self) -> Named:
        """Who names what."""
        return self.read or named_in(self.candidate, self.kinds)

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.candidate.unit

    @property
    def messages(self) -> Sequence[Message]:
        """What it says."""
        return self.candidate.said

    @property
    def category(self) -> Category:
        """Which of the seven it belongs to."""
        return category_of(self.unit, self.named.actions)

    @property
    def tokens_per_char(self) -> float:
        """Of its texts, as if its tokens were spread evenly over them."""
        return self.candidate.tokens / max(1, sum(passage.chars for passage in self.passages))

    @property
    def values(self) -> frozenset[str]:
        """All that it names."""
        blocks = (block.values for p in self.passages for block in p.blocks)
        return frozenset(self.named.used).union(*blocks)

    @property
    def lines(self) -> frozenset[str]:
        """All lines of its blocks that an edit could repeat."""
        return frozenset(line for p in self.passages for block in p.blocks for line in block.lines)


class References:
    """The values of a conversation, whose tools do what ``kinds`` says."""

    def __init__(self, kinds: ToolKinds = BY_NAME) -> None:
        self.units: list[UnitText] = []
        self.blocks: Counter[str] = Counter()  # of units that stand for choice, with a value
        self.total_blocks = 0  # of these units
        self.asked: Counter[str] = Counter()  # in how many units a person named a value
        self.superseded = Superseded()
        self._kinds = kinds
        self._cut: set[int] = set()
        self._uses: dict[str, list[int]] = {}

    @property
    def standing(self) -> list[int]:
        """The units whose texts are in blocks, ascending: those that stand for choice."""
        return sorted(self._cut)

    @property
    def used(self) -> Collection[str]:
        """The values that the model named."""
        return self._uses.keys()

    def uses(self, value: str) -> Sequence[int]:
        """The units in which the model named a value, oldest first."""
        return self._uses.get(value, ())

    def follow(self, candidates: Sequence[Candidate]) -> None:
        """Read what is new; where a candidate is the same as before, so are those before it."""
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
                known = self._uses.setdefault(value, [here])  # a list that grew is larger
                known += [] if known[-1] == here else [here]
            self.asked.update(named.asked)
            self.units.append(UnitText(candidate=candidate, kinds=self._kinds, read=named))
            self.superseded.add(candidate.unit, named.actions)

    def cut(self, units: Iterable[int]) -> None:
        """Have the texts of these units in blocks, and of no others."""
        wanted = set(units)
        for unit in self._cut - wanted:
            self._forget_blocks(unit)
        for unit in sorted(wanted - self._cut):
            self._cut.add(unit)
            text = self.units[unit]
            passages = passages_of(text.candidate.said)
            self.units[unit] = replace(text, read=text.named, passages=passages)
            values = [block.values for passage in passages for block in passage.blocks]
            self.blocks.update(chain.from_iterable(values))
            self.total_blocks += len(values)

    def _forget_blocks(self, unit: int) -> None:
        self._cut.discard(unit)
        for passage in self.units[unit].passages:
            for block in passage.blocks:
                forget(block.values, self.blocks)
            self.total_blocks -= len(passage.blocks)
        self.units[unit] = replace(self.units[unit], read=None, passages=())


def forget(values: Iterable[str], counts: Counter[str]) -> None:
    """Count values one less; those that are left nowhere are not in it any more."""
    for value in values:
        counts[value] -= 1
        if not counts[value]:
            del counts[value]


def named_in(candidate: Candidate, kinds: ToolKinds) -> Named:
    """Who names what in a unit; the keys of arguments are the tool's, and nothing that a model named."""
    used, asked, told = NOTHING, NOTHING, NOTHING
    for message in candidate.said:
        if message.role == "assistant":
            texts = [message.text]
            for call in message.calls:
                value = parsed(call.arguments)
                texts += [call.arguments] if value is None else strings_in(value)
            used |= values_of("\n".join(texts))  # no value has that within
        elif message.role in SYSTEM_ROLES:
            told |= values_of(message.text)
        elif message.role == "user" and not (message.own or message.results):
            asked |= values_of(message.text)
    return Named(
        used=tuple(used),
        asked=tuple(asked),
        is_sought=bool(asked or told),
        actions=actions_of(candidate.unit, kinds),
    )


# ---- what later units make worthless


@dataclass(slots=True, kw_only=True, eq=False)
class Shown:
    """One thing that a unit shows: a view of a file, or the answer to what was asked; and which unit shows it again."""

    unit: int
    kind: ToolKind
    what: View | str
    chars: int
    by: int | None = None

    @property
    def place(self) -> str:
        """Where things are kept that may supersede each other; no file has such a name as what was asked."""
        return self.what.path if isinstance(self.what, View) else f"\0{self.what}"

    @property
    def told(self) -> str:
        """What was shown, in words."""
        what = self.what.told() if isinstance(self.what, View) else self.what
        return what if len(what) <= TOLD_CHARS else f"{what[:TOLD_CHARS]}…"

    def replaces(self, older: "Shown") -> bool:
        """Whether it is all that was shown before; what gives far less, such as "unchanged since", is not."""
        if isinstance(self.what, str) or isinstance(older.what, str):
            return self.what == older.what
        return self.what.covers(older.what) and self.chars >= LEAST_FRACTION * older.chars


SHOWS_NOTHING: tuple[Sequence[Shown], bool] = ((), False)  # what most units share


class Superseded:
    """Which unit of a growing list is superseded by which; a unit costs about the same however many there are."""

    def __init__(self) -> None:
        # What each unit shows, and whether it did more than can be shown again.
        self._units: list[tuple[Sequence[Shown], bool]] = []
        self._shown: defaultdict[str, list[Shown]] = defaultdict(list)  # by place

    def __len__(self) -> int:
        """How many units there are."""
        return len(self._units)

    def add(self, unit: Unit, actions: Sequence[ToolAction] | None = None) -> None:
        """Append a unit, whose calls do ``actions``; a call that failed or has no result supersedes nothing."""
        here, found, lasting = len(self), list[Shown](), False
        known = actions_of(unit) if actions is None else actions
        for action, (_, answer) in zip(known, answers_of(unit), strict=True):
            worked, size = answer is not None and not is_failure(answer), len(answer or "")
            things: list[tuple[View | str, int, bool]] = [
                (view, IN_CALL if view.path in action.writes else size, worked)
                for view in action.views
            ]
            if action.key:
                came_out = answer is not None and action.kind in OUTCOMES
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
        """Forget all but the first so many units, and what they made of those."""
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
        """The later unit that, with those before it, shows all that this one shows; ``None`` where none does."""
        shown, lasting = self._units[index]
        found = [each.by for each in shown if each.by is not None]
        return max(found) if found and len(found) == len(shown) and not lasting else None

    def showing(self, path: str) -> list[int]:
        """The units that show something of a file, or tried to, which no later unit shows, oldest first."""
        return [shown.unit for shown in self._shown.get(path, ()) if shown.by is None]

    def reason(self, index: int) -> str:
        """Why a unit is superseded, in words; empty where it is not."""
        if self.by(index) is None:
            return ""
        first = self._units[index][0][0]
        return f"older {WORDS.get(first.kind, 'call')} of {first.told}"
