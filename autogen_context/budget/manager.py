"""TokenBudgetManager: token budgets by task, complexity, query kind, role and measured usage.

Promise: the allocations of a budget are non-negative integers that add up to its total, for any role, efficiency and needs. A
larger total gives no section less. ``flow`` gives no section but the buffer more than it needs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeVar, get_args

from autogen_context.argument import require_choice, require_fraction, require_whole, wrong_argument
from autogen_context.budget.policy import (
    NO_TASK,
    BudgetRequest,
    CompactionBudget,
    Efficiency,
    Profile,
    Role,
    Section,
    TurnBudget,
)
from autogen_context.budget.task import Complexity, TaskDefinition
from autogen_context.language.query import QueryKind

FIVE: tuple[Section, ...] = get_args(Section)[:5]
# Percentages of the whole, 5 per row left for a buffer. Used as weights; the actual buffer is the reserve of 10.
BALANCED: Mapping[Complexity, Mapping[Section, int]] = {
    "high": dict(zip(FIVE, (25, 25, 20, 15, 10), strict=True)),
    "medium": dict(zip(FIVE, (20, 20, 25, 20, 10), strict=True)),
    "low": dict(zip(FIVE, (15, 15, 30, 25, 10), strict=True)),
}
BALANCED_RESERVE = Fraction(10, 100)
ROLE_WEIGHTS: Mapping[Role, Mapping[Section, float]] = {  # 1 for sections not listed
    "assistant": {},
    "coder": {"execution_history": 1.2, "project_structure": 1.3, "memory_patterns": 0.8},
    "planner": {"requirements": 1.4, "design": 1.3, "execution_history": 0.7},
    "researcher": {"memory_patterns": 1.5, "design": 0.8, "project_structure": 0.8},
    "reviewer": {"requirements": 1.2, "design": 1.3, "execution_history": 0.8},
    "tester": {"requirements": 1.2, "execution_history": 1.4, "design": 0.8},
}
# Tokens in a window of CONSERVATIVE_TOKENS. Rows: maximum number of messages, tokens of ``recent``.
CONSERVATIVE_TOKENS = 12_000
RECENT_TOKENS: tuple[tuple[float, int], ...] = ((6, 2_000), (20, 3_500), (float("inf"), 4_000))
# In order of priority: each section is filled before the next. Facts come before retrieved content.
CONSERVATIVE: Mapping[QueryKind, Mapping[Section, int]] = {
    "casual": {"system": 4_000, "recent": 4_000, "facts": 1_000},
    "recall": {"system": 5_000, "recent": 4_000, "facts": 1_000, "retrieved": 3_000},
    "summary": {"system": 4_000, "recent": 4_000, "facts": 1_000, "summaries": 2_000},
}
STRICT: Mapping[Section, int] = {"system": 10, "knowledge": 40, "conversation": 43}
STRICT_MARGIN = Fraction(7, 100)
DEFAULT_TOKENS: Mapping[Profile, int] = {  # if the model is unknown
    "value": 8_000,
    "balanced": 8_000,
    "conservative": CONSERVATIVE_TOKENS,
    "strict": 1_500,
}
USUAL_ROOM = 8_000  # tokens; the fractions below were measured on windows of 3,000 to 80,000
USUAL_FRACTION = 0.36  # of the room for unprotected units, at USUAL_ROOM
STEP_FRACTION = 0.16  # added per doubling of the room: a larger room lasts more turns, so kept content is rewritten less often
KEPT_FRACTIONS = (0.32, 0.52)  # minimum and maximum
ASKED_FRACTION = 0.95  # if a user asks about the past: the answer may fill nearly everything
ASKED_NEWEST_FRACTION = 0.03  # of that, for the newest units
ASKED_RULES_FRACTION = 0.05  # of the total, and of the kept tokens, for users' rules and limits
SUMMARY_FRACTION = 0.15  # of the kept tokens, for the notice, if it contains model summaries
RETRIEVED_FRACTION = 0.07  # of the room, for retrieved content
LEAST_RETRIEVED = 256  # tokens, even in a small room
MOST_RETRIEVED_FRACTION = 0.15  # of the room: upper limit of LEAST_RETRIEVED
NOTICE_FRACTION = 0.1  # of the room, for the notices of one request
LEAST_NOTICE = 64  # tokens, even in a small room
MOST_NOTICE_FRACTION = 0.25  # of the room: upper limit of LEAST_NOTICE
FACTORS = (0.7, 1.4)  # limits of the change by complexity, role and measured usage
LONG_TALK = 100  # messages; a longer conversation gets no more tokens

# Table sections, by the part of a conversation that they cover.
NEWEST: tuple[Section, ...] = ("recent", "conversation")
STATED: tuple[Section, ...] = ("facts", "summaries")
RETRIEVED: tuple[Section, ...] = ("retrieved", "knowledge")

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """Tokens of a window by section.

    Attributes:
        total: total tokens.
        allocations: tokens by section; with ``buffer`` they add up to the total.
        reserve_buffer: tokens that stay free; ``allocations["buffer"]`` is this or more.
        compression_threshold: fraction of the total at which compression is due.

    Raises:
        ValueError: an allocation is negative or of an unknown section, they do not add up to the total, or the threshold is not in 0..1.
    """

    total: int
    allocations: Mapping[Section, int]
    reserve_buffer: int
    compression_threshold: float = 0.8

    def __post_init__(self) -> None:
        """Raise `ValueError` for invalid allocations or an invalid threshold."""
        for section in self.allocations:
            require_choice("allocations", section, get_args(Section))
        given = sum(self.allocations.values())
        if given != self.total or min(self.allocations.values(), default=0) < 0:
            raise ValueError(
                f"allocations={dict(self.allocations)}: they have {given} tokens; give 0 or more each, {self.total} in all"
            )
        give = "a fraction from 0 to 1, such as 0.8"
        require_fraction("compression_threshold", self.compression_threshold, give=give)

    @property
    def compress_at_tokens(self) -> int:
        """Tokens in use at which compression is due."""
        return int(self.total * self.compression_threshold)


class Shares(NamedTuple):
    """Weights of the sections, and the fraction of the whole left free as a buffer."""

    weights: Mapping[Section, float]
    free: Fraction

    def of(self, *sections: Section) -> float:
        """Return the share of some sections together, as a fraction of the whole."""
        part = sum(self.weights.get(section, 0) for section in sections)
        return float(1 - self.free) * part / sum(self.weights.values())


USUAL_BUDGET = CompactionBudget(total_tokens=0)  # its fractions are meant
USUAL = Shares(BALANCED["medium"], BALANCED_RESERVE)  # assumed by these


class TokenBudgetManager:
    """Computes the budgets of turns and compactions, and divides a window among the sections of a context.

    Args:
        total_tokens: maximum tokens; by default the whole window, or if that is unknown 8,000, for
            ``conservative`` 12,000 and for ``strict`` 1,500.
        role: role of the agent, which adjusts the shares.
        profile: ``value``: keep the highest scores; ``balanced``: shares of sections by complexity, role and measured
            usage; ``conservative``: by the kind of query and the length of the conversation; ``strict``: one
            fixed table.
        compact_at_fraction: fill level of the room that triggers a compaction.
        compact_to_fraction: fill level after a compaction, of the room for unprotected units; by default from the room
            size or the profile's table.

    Raises:
        ValueError: ``total_tokens`` is not a positive integer, a fraction is not above 0 and at most 1, or ``role`` or
            ``profile`` is unknown.
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
        require_choice("profile", profile, get_args(Profile))
        require_choice("role", role, tuple(ROLE_WEIGHTS))
        if total_tokens is not None:
            give = f"1 or more, or leave it out for {DEFAULT_TOKENS[profile]}"
            require_whole("total_tokens", total_tokens, least=1, give=give)
        fractions = {
            "compact_at_fraction": compact_at_fraction,
            "compact_to_fraction": compact_to_fraction,
        }
        for name, fraction in fractions.items():
            if fraction is not None and not 0 < fraction <= 1:
                raise wrong_argument(name, fraction, "a fraction above 0, at most 1")
        self.total_tokens = DEFAULT_TOKENS[profile] if total_tokens is None else total_tokens
        self.role: Role = role
        self.profile: Profile = profile
        self.efficiency = Efficiency()
        self._most_tokens = math.inf if total_tokens is None else total_tokens
        self._compact_at_fraction = compact_at_fraction
        self._compact_to_fraction = compact_to_fraction
        self._turn: tuple[int, TurnBudget] | None = None  # the last room and its budget

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        """Return the budget of a turn whose request may have ``room_tokens``; raises nothing."""
        known = self._turn
        if known is None or known[0] != room_tokens:
            room = self._within_total(room_tokens)
            least_notice = min(LEAST_NOTICE, int(MOST_NOTICE_FRACTION * room))
            least_retrieved = min(LEAST_RETRIEVED, int(MOST_RETRIEVED_FRACTION * room))
            is_strict = self.profile == "strict"  # notices carry the knowledge, new in each turn
            notices = (
                Shares(STRICT, STRICT_MARGIN).of("knowledge") if is_strict else NOTICE_FRACTION
            )
            budget = TurnBudget(
                compact_at_tokens=int(room * self._compact_at_fraction),
                kept_fraction=self._kept_fraction(room),
                retrieved_tokens=max(int(RETRIEVED_FRACTION * room), least_retrieved),
                notice_tokens=max(int(notices * room), least_notice),
                notice_rooms=1 if is_strict else 2,
            )
            known = self._turn = room_tokens, budget
        return known[1]

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        """Return how much a compaction keeps, by kind of content; raises nothing."""
        task, room = request.task, self._within_total(request.room_tokens)
        total = max(0, room - request.fixed_tokens)
        if self.profile in ("conservative", "strict"):
            return self._by_table(task, request.messages, total, asks_back=request.asks_back)
        shares, kept = self._shares(task, request.messages), self._kept_fraction(room)
        sections: dict[Section, float] | None = None
        if self.profile == "balanced":
            sections = {each: shares.of(each) for each in FIVE}
        if request.asks_back:
            return CompactionBudget(
                total_tokens=total,
                kept_fraction=ASKED_FRACTION,
                people_fraction=ASKED_RULES_FRACTION,
                long_message_fraction=1.0,
                stated_fraction=ASKED_RULES_FRACTION,
                newest_fraction=ASKED_NEWEST_FRACTION,
                notice_fraction=0.0,
                sections=sections,
            )
        usual, (least, most) = USUAL_BUDGET, FACTORS
        people, notice, newest = (
            min(most, max(least, shares.of(section) / USUAL.of(section)))
            for section in ("requirements", "design", "execution_history")
        )
        is_long = request.has_summaries or task.query_kind == "summary"
        return CompactionBudget(
            total_tokens=total,
            kept_fraction=kept,
            people_fraction=usual.people_fraction * people,
            newest_fraction=usual.newest_fraction * newest,
            notice_fraction=(SUMMARY_FRACTION if is_long else usual.notice_fraction) * notice,
            sections=sections,
        )

    def allocate(self, task: str | TaskDefinition, *, messages: int = 0) -> TokenBudget:
        """Divide the window for a task.

        Args:
            task: the agent's task; a text is classified by its words.
            messages: number of messages in the conversation; ``conservative`` gives longer ones more.

        Raises:
            ValueError: the task is not a text.
        """
        defined = task if isinstance(task, TaskDefinition) else TaskDefinition.from_text(task)
        shares, total = self._shares(defined, messages), self.total_tokens
        reserve = int(total * shares.free)
        parts = apportion(total - reserve, shares.weights)
        allocations: dict[Section, int] = {**parts, "buffer": total - sum(parts.values())}
        return TokenBudget(total=total, allocations=allocations, reserve_buffer=reserve)

    def record_usage(self, section: Section, *, given_tokens: int, used_tokens: int) -> None:
        """Record the tokens of a section in a request, and how many of them later turns used.

        Raises:
            ValueError: the section is unknown or ``buffer``, or more was used than given.
        """
        given_to = tuple(each for each in get_args(Section) if each != "buffer")
        require_choice("section", section, given_to)
        self._turn = None
        self.efficiency = self.efficiency.measured(
            section, given_tokens=given_tokens, used_tokens=used_tokens
        )

    def _within_total(self, room_tokens: int) -> int:
        return int(min(max(0, room_tokens), self._most_tokens))

    def _kept_fraction(self, room_tokens: int) -> float:
        """Return the fraction of the room for unprotected units that a compaction fills, if nobody asks about the past."""
        if self._compact_to_fraction is not None:
            return self._compact_to_fraction
        if self.profile in ("conservative", "strict"):
            return self._by_table(NO_TASK, LONG_TALK, room_tokens, asks_back=False).kept_fraction
        doublings = math.log2(max(1, room_tokens) / USUAL_ROOM)
        least, most = KEPT_FRACTIONS
        by_room = USUAL_FRACTION + STEP_FRACTION * doublings
        return min(most, max(least, by_room)) * self._compact_at_fraction

    def _by_table(
        self, task: TaskDefinition, messages: int, total: int, *, asks_back: bool
    ) -> CompactionBudget:
        """Return the budget by the table of ``conservative`` or ``strict``; protected units count as its system section."""
        shares = self._shares(task, messages)
        newest, notice = shares.of(*NEWEST), shares.of(*STATED)
        kept = newest + notice + (shares.of(*RETRIEVED) if asks_back else 0)
        return CompactionBudget(
            total_tokens=total,
            kept_fraction=min(1.0, kept / (1 - shares.of("system"))) * self._compact_at_fraction,
            newest_fraction=newest / kept,
            notice_fraction=notice / kept,
        )

    def _shares(self, task: TaskDefinition, messages: int) -> Shares:
        """Return the shares of the profile's table, or those by complexity adjusted for role and efficiency, as weights."""
        if self.profile == "strict":
            return Shares(STRICT, STRICT_MARGIN)
        if self.profile == "conservative":
            left, weights = CONSERVATIVE_TOKENS, dict[Section, float]()
            recent = next(tokens for most, tokens in RECENT_TOKENS if messages <= most)
            for section, most in CONSERVATIVE[task.query_kind].items():
                weights[section] = min(left, recent if section == "recent" else most)
                left -= int(weights[section])
            return Shares(weights, Fraction(left, CONSERVATIVE_TOKENS))
        by_role = ROLE_WEIGHTS[self.role]
        moved: dict[Section, float] = {
            section: share * by_role.get(section, 1.0) * self.efficiency.factor(section)
            for section, share in BALANCED[task.complexity].items()
        }
        return Shares(moved, BALANCED_RESERVE)


def flow(budget: TokenBudget, needs: Mapping[Section, int]) -> dict[Section, int]:
    """Reallocate a budget by the tokens that each section needs; a section not listed needs none.

    Returns:
        Allocations of the same total: unneeded tokens go to the sections that need more, in proportion to their shares;
        the rest goes to ``buffer``.

    Raises:
        ValueError: a need is negative, or its section is not in the budget.
    """
    weights: dict[Section, float] = {**budget.allocations}
    total = budget.total - int(weights.pop("buffer", 0))
    for section, tokens in needs.items():
        require_choice("needs", section, tuple(weights))
        require_whole(f"needs[{section!r}]", tokens, least=0, give="0 tokens or more")
    parts: dict[Section, int] = {}
    hungry: dict[Section, float] = weights
    while hungry:
        shared = apportion(total - sum(parts.values()), hungry)
        sated: dict[Section, int] = {
            each: needs.get(each, 0) for each in shared if shared[each] >= needs.get(each, 0)
        }
        parts |= sated or shared
        hungry = {each: weights[each] for each in weights if each not in parts}
    return {**parts, "buffer": budget.total - sum(parts.values())}


def apportion(total: int, weights: Mapping[Name, float]) -> dict[Name, int]:
    """Divide tokens in proportion to weights; equally if all weights are 0.

    Webster's method by "jump and step" (Pukelsheim, Proportional Representation, 2014, chapter 4): a larger total gives
    nobody less.
    """
    exact = {name: Fraction(weight) for name, weight in weights.items()}  # exact, no float rounding
    if not any(exact.values()):
        exact = dict.fromkeys(weights, Fraction(1))
    whole = sum(exact.values())
    parts = {name: int(total * weight / whole + Fraction(1, 2)) for name, weight in exact.items()}
    while parts and (missing := total - sum(parts.values())):
        if missing > 0:  # the highest quotient gains a token; ties: the first
            gains = max(parts, key=lambda name: exact[name] / (2 * parts[name] + 1))
            parts[gains] += 1
        else:  # the lowest quotient loses a token; ties: the last
            nonzero = [name for name in reversed(parts) if parts[name]]
            parts[min(nonzero, key=lambda name: exact[name] / (2 * parts[name] - 1))] -= 1
    return parts
