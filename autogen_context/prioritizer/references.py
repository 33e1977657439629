"""Which values stand where in a conversation, and who used them again.

Promise: following a conversation unit by unit or all at once gives the same references. Of each unit stays who named what in
it and what was done; texts are cut into blocks, whose values are counted, only for the units that stand for choice: what a
compaction costs does not grow with what is long gone.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from autogen_context.messages.identifiers import NOTHING, values_of
from autogen_context.messages.message import SYSTEM_ROLES, Message
from autogen_context.messages.piece import messages_of
from autogen_context.messages.prefix import same_at_front
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_action import ToolAction
from autogen_context.messages.tool_call import BY_NAME, ToolKinds, actions_of
from autogen_context.prioritizer.blocks import Passage, parsed, passages_of, strings_in
from autogen_context.prioritizer.category import Category, category_of
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.view.decision import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitText:
    """What stands in a unit.

    Attributes:
        candidate: the unit as the plan sees it.
        messages: what it says.
        passages: its texts, cut into blocks; none while it does not stand for choice.
        used: values that the model named, in what it said or called.
        asked: values that a person named.
        told: values of the system prompt.
        actions: what its calls do, in their order.
    """

    candidate: Candidate
    messages: tuple[Message, ...]
    passages: tuple[Passage, ...]
    used: frozenset[str]
    asked: frozenset[str]
    told: frozenset[str]
    actions: tuple[ToolAction, ...]

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.candidate.unit

    @property
    def category(self) -> Category:
        """Which of the seven it belongs to."""
        return category_of(self.unit, self.actions)

    @property
    def is_sought(self) -> bool:
        """Whether people or the system prompt say it: what these name is sought after, so that it keeps nothing small."""
        return bool(self.asked or self.told)

    @property
    def tokens_per_char(self) -> float:
        """Of its texts, as if its tokens were spread evenly over them."""
        chars = sum(passage.chars for passage in self.passages)
        return self.candidate.tokens / max(1, chars)

    @property
    def values(self) -> frozenset[str]:
        """All that it names."""
        blocks = (block.values for passage in self.passages for block in passage.blocks)
        return self.used.union(*blocks)

    @property
    def lines(self) -> frozenset[str]:
        """All lines of its blocks that an edit could repeat."""
        blocks = (block.lines for passage in self.passages for block in passage.blocks)
        return frozenset(chain.from_iterable(blocks))


class References:
    """The values of a conversation.

    Attributes:
        units: what stands in each unit.
        blocks: how many blocks have a value, of the units that stand for choice.
        total_blocks: how many blocks these have.
        asked: how many units in which a person named a value.
        superseded: which units later ones make worthless.

    Args:
        kinds: what tools do.
    """

    def __init__(self, kinds: ToolKinds = BY_NAME) -> None:
        self.units: list[UnitText] = []
        self.blocks: Counter[str] = Counter()
        self.total_blocks = 0
        self.asked: Counter[str] = Counter()
        self.superseded = Superseded()
        self._kinds = kinds
        self._cut: set[int] = set()
        self._uses: defaultdict[str, list[int]] = defaultdict(list)

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

    def follow(self, candidates: Sequence[Candidate], messages: Sequence[Message]) -> None:
        """Read what is new since the last time, and forget what is no longer there.

        Args:
            candidates: n units, oldest first.
            messages: all messages of the host's list.
        """
        same = len(self.units)
        if same > len(candidates) or (
            same and self.units[-1].candidate is not candidates[same - 1]
        ):  # behind a unit that changed all are others
            same = same_at_front([known.candidate for known in self.units], candidates)
        self.superseded.truncate(same)
        while len(self.units) > same:
            self._forget_last()
        for candidate in candidates[same:]:
            self._add(unit_text(candidate, messages_of(candidate.pieces, messages), self._kinds))

    def cut(self, units: Iterable[int]) -> None:
        """Have the texts of these units in blocks, and of no others."""
        wanted = set(units)
        for unit in self._cut - wanted:
            self._forget_blocks(unit)
        for unit in sorted(wanted - self._cut):
            self.cut_also(unit)

    def cut_also(self, unit: int) -> None:
        """Have the texts of one more unit in blocks."""
        if unit in self._cut:
            return
        self._cut.add(unit)
        text = self.units[unit]
        passages = passages_of(text.messages)
        self.units[unit] = replace(text, passages=passages)
        blocks = [block for passage in passages for block in passage.blocks]
        self.blocks.update(chain.from_iterable([block.values for block in blocks]))
        self.total_blocks += len(blocks)

    def _forget_blocks(self, unit: int) -> None:
        self._cut.discard(unit)
        text = self.units[unit]
        for passage in text.passages:
            for block in passage.blocks:
                forget(block.values, self.blocks)
            self.total_blocks -= len(passage.blocks)
        self.units[unit] = replace(text, passages=())

    def _add(self, text: UnitText) -> None:
        for value in text.used:
            self._uses[value].append(len(self.units))
        if text.asked:
            self.asked.update(text.asked)
        self.units.append(text)
        self.superseded.add(text.candidate.unit, text.actions)

    def _forget_last(self) -> None:
        self._forget_blocks(len(self.units) - 1)
        text = self.units.pop()
        for value in text.used:
            self._uses[value].pop()
            if not self._uses[value]:
                del self._uses[value]
        forget(text.asked, self.asked)


def forget(values: Iterable[str], counts: Counter[str]) -> None:
    """Count values one less; those that are left nowhere are not in it any more."""
    for value in values:
        counts[value] -= 1
        if not counts[value]:
            del counts[value]


def unit_text(candidate: Candidate, said: Iterable[Message], kinds: ToolKinds) -> UnitText:
    """What stands in a unit that says these messages."""
    messages = tuple(said)
    used, asked, told = NOTHING, NOTHING, NOTHING
    for message in messages:
        if message.role == "assistant":
            used |= named_by_model(message)
        elif message.role in SYSTEM_ROLES:
            told |= values_of(message.text)
        elif message.role == "user" and not (message.own or message.results):
            asked |= values_of(message.text)
    return UnitText(
        candidate=candidate,
        messages=messages,
        passages=(),
        used=used,
        asked=asked,
        told=told,
        actions=actions_of(candidate.unit, kinds),
    )


def named_by_model(message: Message) -> frozenset[str]:
    """The values in what a model said and called; the keys of arguments are the tool's, not its own."""
    texts = [message.text]
    for call in message.calls:
        value = parsed(call.arguments)
        texts += [call.arguments] if value is None else strings_in(value)
    return values_of("\n".join(texts))  # no value has that within
