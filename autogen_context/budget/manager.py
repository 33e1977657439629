"""TokenBudgetManager: how much of what, by the task, its complexity, the kind of query, the role and what was used.

Promise: the same request gets the same numbers. The allocations of a budget are whole numbers, none negative, and add up to
its total, whatever the role, the efficiency and the needs; a larger total gives no section less; nobody has more than it
needs but the buffer.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from autogen_context.budget.allocation import TokenBudget, apportion, filled, with_buffer
from autogen_context.budget.efficiency import Efficiency
from autogen_context.budget.policy import NO_TASK, BudgetRequest, CompactionBudget, TurnBudget
from autogen_context.budget.profile import (
    DEFAULT_TOKENS,
    ROLE_WEIGHTS,
    Profile,
    Role,
    Section,
    Shares,
    balanced,
    conservative,
    strict,
)
from autogen_context.budget.task import TaskDefinition

SMALL_ROOM = 8_000  # tokens; the fractions below were measured on windows of 3,000 to 80,000
SMALL_FRACTION = 0.36  # of the room beside what is protected, in a room as small or smaller
STEP_FRACTION = (
    0.16  # more for each doubling of the room: a large one holds for more turns all the same
)
LARGE_FRACTION = 0.52  # at most
ASKED_FRACTION = 0.95  # where a person asks for the past: what answers that may fill nearly all
ASKED_NEWEST_FRACTION = 0.03  # of that, for the newest units
SUMMARY_FRACTION = 0.15  # of what is filled, for what is told, where a model summarised some of it
RETRIEVED_FRACTION = 0.15  # of the room, for what a question brings back
NOTICE_FRACTION = 0.1  # of the room, for what is told at once of what changed
LEAST_NOTICE = 64  # tokens, in a small room as well
MOST_NOTICE_FRACTION = 0.25  # of a room in which that would be much
FACTORS = (0.7, 1.4)  # by how much complexity, role and what was used move a part at most
LONG_TALK = 100  # messages; a profile gives a longer talk no more

# What each section of a profile with a table is in a conversation.
NEWEST: tuple[Section, ...] = ("recent", "conversation")
TOLD: tuple[Section, ...] = ("facts", "summaries")
RETRIEVED: tuple[Section, ...] = ("retrieved", "knowledge")


class TokenBudgetManager:
    """Says every number of a turn and of a compaction, and shares out a window among the sections of a context.

    Args:
        total_tokens: what all may have together; left out, all of the window, and where none is known 8,000, for
            ``conservative`` 12,000 and for ``strict`` 1,500.
        role: what the agent does; it moves the shares.
        profile: ``value``: what the score finds most worth keeping; ``balanced``: shares of sections by complexity, role
            and what was used; ``conservative``: by the kind of query and the length of the conversation; ``strict``: one
            hard table.
        compact_at_fraction: how full the room may get before a compaction.
        compact_to_fraction: how full a compaction leaves the room beside what is protected; left out, by the room or by the
            profile's table.

    Raises:
        ValueError: ``total_tokens`` is no positive whole number, a fraction is none, or ``role`` or ``profile`` is unknown.
    """

    def __init__(
        self,
        total_tokens: int | None = None,
        *,
        role: Role = "assistant",
        profile: Profile = "value",
        compact_at_fraction: float = 1.0,
        compact_to_fraction: float | None = None,
    ) -> None:
        require_known("profile", profile, get_args(Profile))
        require_known("role", role, tuple(ROLE_WEIGHTS))
        if total_tokens is not None and not is_positive(total_tokens):
            raise ValueError(
                f"total_tokens={total_tokens!r}: give 1 or more, or leave it out for {DEFAULT_TOKENS[profile]}"
            )
        require_fraction("compact_at_fraction", compact_at_fraction)
        if compact_to_fraction is not None:
            require_fraction("compact_to_fraction", compact_to_fraction)
        self.total_tokens = DEFAULT_TOKENS[profile] if total_tokens is None else total_tokens
        self.role: Role = role
        self.profile: Profile = profile
        self.efficiency = Efficiency()
        self._most_tokens = math.inf if total_tokens is None else total_tokens
        self._compact_at_fraction = compact_at_fraction
        self._compact_to_fraction = compact_to_fraction

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        """What decides in each turn; raises nothing.

        Args:
            room_tokens: what a request may have, in tokens.
        """
        room = self._within_total(room_tokens)
        notice = max(
            int(NOTICE_FRACTION * room), min(LEAST_NOTICE, int(MOST_NOTICE_FRACTION * room))
        )
        return TurnBudget(
            compact_at_tokens=int(room * self._compact_at_fraction),
            kept_fraction=self._kept_fraction(room),
            retrieved_tokens=int(RETRIEVED_FRACTION * room),
            notice_tokens=notice,
        )

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        """How much a compaction keeps, and of what; raises nothing."""
        room = self._within_total(request.room_tokens)
        total = max(0, room - request.fixed_tokens)
        if self.profile in ("conservative", "strict"):
            shares = self._shares(request.task, request.messages)
            return self._by_table(shares, total, asks_back=request.asks_back)
        sections = None
        if self.profile == "balanced":
            sections = self._shares(request.task, request.messages).fractions
        if request.asks_back:
            return CompactionBudget(
                total_tokens=total,
                kept_fraction=ASKED_FRACTION,
                newest_fraction=ASKED_NEWEST_FRACTION,
                told_fraction=0.0,
                sections=sections,
            )
        usual = CompactionBudget(
            total_tokens=total, kept_fraction=self._kept_fraction(room), sections=sections
        )
        summed = request.has_summaries or request.task.query_kind == "summary"
        told = SUMMARY_FRACTION if summed else usual.told_fraction
        factors = self._factors(request.task)
        return replace(
            usual,
            people_fraction=usual.people_fraction * factors["requirements"],
            newest_fraction=usual.newest_fraction * factors["execution_history"],
            told_fraction=told * factors["design"],
        )

    def allocate(
        self,
        task: str | TaskDefinition,
        *,
        needs: Mapping[Section, int] | None = None,
        messages: int = 0,
    ) -> TokenBudget:
        """Share out the window for a task.

        Args:
            task: what the agent is at; a text is judged by its words.
            needs: what each section could use, in tokens; one that is not named needs nothing. Left out, every section
                has its share.
            messages: how many messages the conversation has; ``conservative`` gives longer ones more.

        Raises:
            ValueError: a need is negative or of a section that this profile does not have; or the task is no text.
        """
        defined = task if isinstance(task, TaskDefinition) else TaskDefinition.from_text(task)
        shares = self._shares(defined, messages)
        total, reserve = self.total_tokens, int(self.total_tokens * shares.free)
        if needs is None:
            parts = apportion(total - reserve, shares.weights)
        else:
            parts = filled(total - reserve, shares.weights, needs)
        return TokenBudget(
            total=total, allocations=with_buffer(parts, total), reserve_buffer=reserve
        )

    def record_usage(self, section: Section, *, given_tokens: int, used_tokens: int) -> None:
        """Note what a section had in a request and what of it later turns used.

        Raises:
            ValueError: it is no section to which tokens are given, or more was used than given.
        """
        given_to = tuple(each for each in get_args(Section) if each != "buffer")
        require_known("section", section, given_to)
        self.efficiency = self.efficiency.measured(
            section, given_tokens=given_tokens, used_tokens=used_tokens
        )

    def _factors(self, task: TaskDefinition) -> dict[Section, float]:
        """How much more or less each section has than for an assistant's task of medium complexity, within bounds."""
        usual = balanced("medium", role="assistant", factor=lambda _: 1.0).fractions
        shares = balanced(task.complexity, role=self.role, factor=self.efficiency.factor).fractions
        least, most = FACTORS
        return {each: min(most, max(least, shares[each] / usual[each])) for each in usual}

    def _within_total(self, room_tokens: int) -> int:
        """What of a room is used: all, or the total that was given."""
        return int(min(max(0, room_tokens), self._most_tokens))

    def _kept_fraction(self, room_tokens: int) -> float:
        """What a compaction fills of the room beside what is protected, where nobody asks for the past."""
        if self._compact_to_fraction is not None:
            return self._compact_to_fraction
        if self.profile in ("conservative", "strict"):
            shares = self._shares(NO_TASK, LONG_TALK)
            return self._by_table(shares, room_tokens, asks_back=False).kept_fraction
        doublings = math.log2(max(1, room_tokens) / SMALL_ROOM)
        by_room = SMALL_FRACTION + STEP_FRACTION * doublings
        return min(LARGE_FRACTION, max(SMALL_FRACTION, by_room)) * self._compact_at_fraction

    def _by_table(self, shares: Shares, total: int, *, asks_back: bool) -> CompactionBudget:
        """What the table of ``conservative`` or ``strict`` says; what is protected takes the place of its system part."""
        newest, told = shares.of(NEWEST), shares.of(TOLD)
        kept = newest + told + (shares.of(RETRIEVED) if asks_back else 0)
        return CompactionBudget(
            total_tokens=total,
            kept_fraction=kept / (1 - shares.of(("system",))) * self._compact_at_fraction,
            newest_fraction=newest / kept,
            told_fraction=told / kept,
        )

    def _shares(self, task: TaskDefinition, messages: int) -> Shares:
        match self.profile:
            case "value" | "balanced":
                return balanced(task.complexity, role=self.role, factor=self.efficiency.factor)
            case "conservative":
                return conservative(task, messages=messages)
            case "strict":
                return strict()


def is_positive(tokens: object) -> bool:
    """Whether it is a whole number above 0; ``True`` is none."""
    return isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0


def require_fraction(argument: str, fraction: float) -> None:
    """Refuse what is no fraction above 0."""
    if not 0 < fraction <= 1:
        raise ValueError(f"{argument}={fraction!r}: give a fraction above 0, at most 1")


def require_known(argument: str, name: str, known: tuple[str, ...]) -> None:
    """Refuse a name that is not in a list, and say the list."""
    if name not in known:
        raise ValueError(f"{argument}={name!r}: give one of {', '.join(known)}")
