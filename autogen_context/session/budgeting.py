"""How much of a room each part of a plan may have, and which blocks come first.

Promise: the same conversation in the same room gets the same shares. By default what a block is worth decides alone; a
profile sets shares, and a model's advice weighs the categories. What neither asks for is not read.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from autogen_context.budget.aim import RECENT_FRACTION, TOLD_FRACTION, Aim, aim_of
from autogen_context.budget.allocate import TokenBudgetManager
from autogen_context.budget.profile import Section
from autogen_context.budget.task import TaskDefinition
from autogen_context.prioritizer.advice import Advice
from autogen_context.prioritizer.advising import key_of
from autogen_context.prioritizer.category import SECTION_OF
from autogen_context.prioritizer.references import References
from autogen_context.prioritizer.score import Scores, SectionScores, efficiency_of
from autogen_context.session.depth import low_fraction
from autogen_context.session.rules import Room, Rules

ASKED_FRACTION = 0.95  # of the room beside what must stay, where a person asks for the past
ASKED_RECENT_FRACTION = 0.03  # of that, for the newest units
SUMMED_FRACTION = 0.15  # of that, for what is told of what is left out, where a model summarised it


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The turn that compacts.

    Attributes:
        text: what a person said last; empty where nobody did.
        messages: how many the conversation has.
        asks: whether the newest of them asks for the past.
        summed: whether a model summarised some of what will be left out.
    """

    text: str
    messages: int
    asks: bool
    summed: bool


class Budgeting:
    """Shares out the room of one conversation.

    Args:
        rules: the profile and the agent's role among them.
        advice: what a model says of tasks, by their key; it may grow.
    """

    def __init__(self, rules: Rules, advice: Mapping[str, Advice]) -> None:
        self._rules = rules
        self._advice = advice

    def aim(self, turn: Turn, room: Room) -> Aim:
        """How full the room is left, and how much of that is for the newest units and for what is told."""
        limit_tokens = room.limit_tokens - room.fixed_tokens
        if self._rules.table is not None:
            return self._aim_of_table(turn, limit_tokens)
        if turn.asks:
            return Aim(
                limit_tokens=limit_tokens,
                target_fraction=ASKED_FRACTION,
                recent_fraction=ASKED_RECENT_FRACTION,
                told_fraction=0.0,
            )
        return Aim(
            limit_tokens=limit_tokens,
            target_fraction=low_fraction(self._rules, room.limit_tokens),
            recent_fraction=RECENT_FRACTION,
            told_fraction=SUMMED_FRACTION if turn.summed else TOLD_FRACTION,
        )

    def shared(
        self, scores: Scores, references: References, turn: Turn, *, room_tokens: int
    ) -> Scores:
        """The scores of blocks, with what the profile has to say.

        Args:
            scores: what they score by themselves.
            references: the values of the conversation.
            turn: the turn that compacts.
            room_tokens: what the units that need not stay may have, about.
        """
        if self._rules.profile != "balanced":
            return scores
        sections: list[Section] = [SECTION_OF[unit.category] for unit in references.units]
        manager = self._manager(room_tokens)
        manager.efficiency = efficiency_of(references, sections)
        needs: Counter[Section] = Counter()
        for unit, section in zip(references.units, sections, strict=True):
            needs[section] += unit.candidate.tokens
        budget = manager.allocate(self._task(turn), needs=needs, messages=turn.messages)
        return SectionScores(scores, references, sections, budget.allocations)

    def _aim_of_table(self, turn: Turn, limit_tokens: int) -> Aim:
        budget = self._manager(limit_tokens).allocate(self._task(turn), messages=turn.messages)
        aim = aim_of(budget.allocations, limit_tokens=limit_tokens, asks=turn.asks)
        return replace(aim, target_fraction=aim.target_fraction * self._rules.compact_at_fraction)

    def _manager(self, total_tokens: int) -> TokenBudgetManager:
        profile = self._rules.profile
        return TokenBudgetManager(
            total_tokens=max(1, total_tokens),
            role=self._rules.role,
            profile="balanced" if profile == "value" else profile,
        )

    def _task(self, turn: Turn) -> TaskDefinition:
        """The task, with what a model advised on it."""
        task, advice = TaskDefinition.from_text(turn.text), self.advised(turn.text)
        return task if advice is None else advice.applied_to(task)

    def advised(self, text: str) -> Advice | None:
        """What a model said of a task; ``None`` where none did."""
        return self._advice.get(key_of(text)) if self._advice else None
