"""Which values stand where in a conversation, and who used them again.

Promise: a unit is read once; following a conversation unit by unit or all at once gives the same references.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autogen_context.pipeline.blocks.extract import Passage, parsed, passages_of, strings_in
from autogen_context.pipeline.blocks.values import NOTHING, values_of
from autogen_context.pipeline.decision import Candidate
from autogen_context.pipeline.message import SYSTEM_ROLES, Message
from autogen_context.pipeline.piece import messages_of
from autogen_context.pipeline.prefix import same_at_front
from autogen_context.pipeline.priority.superseded import Superseded
from autogen_context.pipeline.segment import Unit
from autogen_context.pipeline.tools.action import ToolAction
from autogen_context.pipeline.tools.kinds import BY_NAME, ToolKinds, actions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitText:
    """What stands in a unit.

    Attributes:
        candidate: the unit as the plan sees it.
        messages: what it says.
        passages: its texts, cut into blocks.
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
    actions: tuple[ToolAction, ...] = ()

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.candidate.unit

    @property
    def values(self) -> frozenset[str]:
        """All that it names."""
        blocks = (block.values for passage in self.passages for block in passage.blocks)
        return self.used.union(*blocks)


class References:
    """The values of a conversation.

    Attributes:
        units: what stands in each unit.
        blocks: how many blocks have a value.
        total_blocks: how many blocks there are.
        asked: how many units in which a person named a value.
        told: how many system messages have a value.
        superseded: which units later ones make worthless.

    Args:
        kinds: what tools do.
    """

    def __init__(self, kinds: ToolKinds = BY_NAME) -> None:
        self.units: list[UnitText] = []
        self.blocks: Counter[str] = Counter()
        self.total_blocks = 0
        self.asked: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.superseded = Superseded()
        self._kinds = kinds
        self._uses: defaultdict[str, list[int]] = defaultdict(list)

    def uses(self, value: str) -> Sequence[int]:
        """The units in which the model named a value, oldest first."""
        return self._uses.get(value, ())

    def follow(self, candidates: Sequence[Candidate], messages: Sequence[Message]) -> None:
        """Read what is new since the last time, and forget what is no longer there.

        Args:
            candidates: n units, oldest first.
            messages: all messages of the host's list.
        """
        same = same_at_front([known.candidate for known in self.units], candidates)
        self.superseded.truncate(same)
        while len(self.units) > same:
            self._forget_last()
        for candidate in candidates[same:]:
            actions = tuple(actions_of(candidate.unit, self._kinds))
            said = tuple(messages_of(candidate.pieces, messages))
            self._add(replace(unit_text(candidate, said), actions=actions))

    def _add(self, text: UnitText) -> None:
        for value in text.used:
            self._uses[value].append(len(self.units))
        self.asked.update(text.asked)
        self.told.update(text.told)
        for passage in text.passages:
            for block in passage.blocks:
                self.blocks.update(block.values)
            self.total_blocks += len(passage.blocks)
        self.units.append(text)
        self.superseded.add(text.candidate.unit, text.actions)

    def _forget_last(self) -> None:
        text = self.units.pop()
        for value in text.used:
            self._uses[value].pop()
        self.asked.subtract(text.asked)
        self.told.subtract(text.told)
        for passage in text.passages:
            for block in passage.blocks:
                self.blocks.subtract(block.values)
            self.total_blocks -= len(passage.blocks)


def unit_text(candidate: Candidate, messages: tuple[Message, ...]) -> UnitText:
    """What stands in a unit that says these messages."""
    spoken = [m for m in messages if m.role == "user" and not m.own and not m.results]
    system = [m for m in messages if m.role in SYSTEM_ROLES]
    return UnitText(
        candidate=candidate,
        messages=messages,
        passages=passages_of(messages),
        used=NOTHING.union(*(named_by_model(m) for m in messages if m.role == "assistant")),
        asked=NOTHING.union(*(values_of(m.text) for m in spoken)),
        told=NOTHING.union(*(values_of(m.text) for m in system)),
    )


def named_by_model(message: Message) -> frozenset[str]:
    """The values in what a model said and called; the keys of arguments are the tool's, not its own."""
    texts = [message.text]
    for call in message.calls:
        value = parsed(call.arguments)
        texts += [call.arguments] if value is None else strings_in(value)
    return NOTHING.union(*map(values_of, texts))
