"""TokenBudgetManager: how much of what, by the task, its complexity, the kind of query, the role and what was used.

Promise: the allocations of a budget are whole numbers, none negative, and add up to its total, whatever the role, the
efficiency and the needs; a larger total gives no section less; nobody has more than it needs but the buffer.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import NamedTuple, TypeVar, get_args

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
# Per cent of the whole. With the 5 that each row leaves for a buffer they make 100; the buffer is the reserve of 10.
BALANCED: Mapping[Complexity, Mapping[Section, int]] = {
    "high": dict(zip(FIVE, (25, 25, 20, 15, 10), strict=True)),
    "medium": dict(zip(FIVE, (20, 20, 25, 20, 10), strict=True)),
    "low": dict(zip(FIVE, (15, 15, 30, 25, 10), strict=True)),
}
BALANCED_RESERVE = Fraction(10, 100)
ROLE_WEIGHTS: Mapping[Role, Mapping[Section, float]] = {  # 1 where a section is not named
    "assistant": {},
    "coder": {"execution_history": 1.2, "project_structure": 1.3, "memory_patterns": 0.8},
    "planner": {"requirements": 1.4, "design": 1.3, "execution_history": 0.7},
    "researcher": {"memory_patterns": 1.5, "design": 0.8, "project_structure": 0.8},
    "reviewer": {"requirements": 1.2, "design": 1.3, "execution_history": 0.8},
    "tester": {"requirements": 1.2, "execution_history": 1.4, "design": 0.8},
}
# Tokens of a window of CONSERVATIVE_TOKENS. ``recent`` is what a conversation of so many messages has at most.
CONSERVATIVE_TOKENS = 12_000
RECENT_TOKENS: tuple[tuple[float, int], ...] = ((6, 2_000), (20, 3_500), (float("inf"), 4_000))
# In this order: what comes first has its whole part, the last one what is left. Facts come before what is retrieved.
CONSERVATIVE: Mapping[QueryKind, Mapping[Section, int]] = {
    "casual": {"system": 4_000, "recent": 4_000, "facts": 1_000},
    "recall": {"system": 5_000, "recent": 4_000, "facts": 1_000, "retrieved": 3_000},
    "summary": {"system": 4_000, "recent": 4_000, "facts": 1_000, "summaries": 2_000},
}
STRICT: Mapping[Section, int] = {"system": 10, "knowledge": 40, "conversation": 43}
STRICT_MARGIN = Fraction(7, 100)
DEFAULT_TOKENS: Mapping[Profile, int] = {  # where nothing is known of the model
    "value": 8_000,
    "balanced": 8_000,
    "conservative": CONSERVATIVE_TOKENS,
    "strict": 1_500,
}
USUAL_ROOM = 8_000  # tokens; the fractions below were measured on windows of 3,000 to 80,000
USUAL_FRACTION = 0.36  # of the room beside what is protected, in such a room
STEP_FRACTION = 0.16  # more for each doubling of the room: it holds for more turns, so what is kept is written less often
KEPT_FRACTIONS = (0.32, 0.52)  # least and most
ASKED_FRACTION = 0.95  # where a person asks for the past: what answers that may fill nearly all
ASKED_NEWEST_FRACTION = 0.03  # of that, for the newest units
ASKED_PEOPLE_FRACTION = 0.05  # of the total, for people's words that nobody asked for
ASKED_STATED_FRACTION = 0.1  # of what is filled, for rules and limits beyond that
SUMMARY_FRACTION = 0.15  # of what is filled, for what is told, where a model summarised some of it
RETRIEVED_FRACTION = 0.07  # of the room, for what a question brings back
LEAST_RETRIEVED = 256  # tokens, in a small room as well
MOST_RETRIEVED_FRACTION = 0.15  # of a room in which that would be much
NOTICE_FRACTION = 0.1  # of the room, for what is told at once of what changed
LEAST_NOTICE = 64  # tokens, in a small room as well
MOST_NOTICE_FRACTION = 0.25  # of a room in which that would be much
FACTORS = (0.7, 1.4)  # by how much complexity, role and what was used move a part at most
LONG_TALK = 100  # messages; a profile gives a longer talk no more

# What each section of a profile with a table is in a conversation.
NEWEST: tuple[Section, ...] = ("recent", "conversation")
TOLD: tuple[Section, ...] = ("facts", "summaries")
RETRIEVED: tuple[Section, ...] = ("retrieved", "knowledge")

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """How much of a window each section of a context may have.

    Attributes:
        total: the whole, in tokens.
        allocations: tokens by section; with ``buffer`` they add up to the total.
        reserve_buffer: tokens that stay free; ``allocations["buffer"]`` is this or more.
        compression_threshold: the fraction of the total at which compression is due.

    Raises:
        ValueError: an allocation is negative, they do not add up to the total, or the threshold is no fraction.
    """

    total: int
    allocations: Mapping[Section, int]
    reserve_buffer: int
    compression_threshold: float = 0.8

    def __post_init__(self) -> None:
        """Refuse what is no division of the whole."""
        given = sum(self.allocations.values())
        if given != self.total or min(self.allocations.values(), default=0) < 0:
            raise ValueError(
                f"allocations={dict(self.allocations)}: they have {given} tokens; give 0 or more each, {self.total} in all"
            )
        if not 0 <= self.compression_threshold <= 1:
            raise ValueError(
                f"compression_threshold={self.compression_threshold}: give a fraction from 0 to 1, such as 0.8"
            )

    @property
    def compress_at_tokens(self) -> int:
        """How much may be in use before compression is due, in tokens."""
        return int(self.total * self.compression_threshold)


class Shares(NamedTuple):
    """What each section weighs, and what part of the whole stays free for the buffer."""

    weights: Mapping[Section, float]
    free: Fraction

    def of(self, *sections: Section) -> float:
        """What some sections have together, as a fraction of the whole."""
        part = sum(self.weights.get(section, 0) for section in sections)
        return float(1 - self.free) * part / sum(self.weights.values())


USUAL = Shares(BALANCED["medium"], BALANCED_RESERVE)  # what the fractions of a compaction are for


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
        _require_known("profile", profile, get_args(Profile))
        _require_known("role", role, tuple(ROLE_WEIGHTS))
        is_whole = isinstance(total_tokens, int) and not isinstance(total_tokens, bool)
        if total_tokens is not None and not (is_whole and total_tokens > 0):
            raise ValueError(
                f"total_tokens={total_tokens!r}: give 1 or more, or leave it out for {DEFAULT_TOKENS[profile]}"
            )
        for name, fraction in (
            ("compact_at_fraction", compact_at_fraction),
            ("compact_to_fraction", 1 if compact_to_fraction is None else compact_to_fraction),
        ):
            if not 0 < fraction <= 1:
                raise ValueError(f"{name}={fraction!r}: give a fraction above 0, at most 1")
        self.total_tokens = DEFAULT_TOKENS[profile] if total_tokens is None else total_tokens
        self.role: Role = role
        self.profile: Profile = profile
        self.efficiency = Efficiency()
        self._most_tokens = math.inf if total_tokens is None else total_tokens
        self._compact_at_fraction = compact_at_fraction
        self._compact_to_fraction = compact_to_fraction
        self._turn: tuple[int, TurnBudget] | None = None  # the last room, and what was said of it

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        """What decides in each turn, where a request may have so much; raises nothing."""
        known = self._turn
        if known is None or known[0] != room_tokens:
            room = self._within_total(room_tokens)
            least_notice = min(LEAST_NOTICE, int(MOST_NOTICE_FRACTION * room))
            least_retrieved = min(LEAST_RETRIEVED, int(MOST_RETRIEVED_FRACTION * room))
            is_strict = self.profile == "strict"  # what is told is the knowledge, new in each turn
            told = Shares(STRICT, STRICT_MARGIN).of("knowledge") if is_strict else NOTICE_FRACTION
            budget = TurnBudget(
                compact_at_tokens=int(room * self._compact_at_fraction),
                kept_fraction=self._kept_fraction(room),
                retrieved_tokens=max(int(RETRIEVED_FRACTION * room), least_retrieved),
                notice_tokens=max(int(told * room), least_notice),
                notice_rooms=1 if is_strict else 2,
            )
            known = self._turn = room_tokens, budget
        return known[1]

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        """How much a compaction keeps, and of what; raises nothing."""
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
                people_fraction=ASKED_PEOPLE_FRACTION,
                stated_fraction=ASKED_STATED_FRACTION,
                newest_fraction=ASKED_NEWEST_FRACTION,
                told_fraction=0.0,
                sections=sections,
            )
        usual, (least, most) = CompactionBudget(total_tokens=total), FACTORS
        people, told, newest = (
            min(most, max(least, shares.of(section) / USUAL.of(section)))
            for section in ("requirements", "design", "execution_history")
        )
        is_told = request.has_summaries or task.query_kind == "summary"
        return CompactionBudget(
            total_tokens=total,
            kept_fraction=kept,
            people_fraction=usual.people_fraction * people,
            newest_fraction=usual.newest_fraction * newest,
            told_fraction=(SUMMARY_FRACTION if is_told else usual.told_fraction) * told,
            sections=sections,
        )

    def allocate(self, task: str | TaskDefinition, *, messages: int = 0) -> TokenBudget:
        """Share out the window for a task.

        Args:
            task: what the agent is at; a text is judged by its words.
            messages: how many messages the conversation has; ``conservative`` gives longer ones more.

        Raises:
            ValueError: the task is no text.
        """
        defined = task if isinstance(task, TaskDefinition) else TaskDefinition.from_text(task)
        shares, total = self._shares(defined, messages), self.total_tokens
        reserve = int(total * shares.free)
        parts = apportion(total - reserve, shares.weights)
        allocations: dict[Section, int] = {**parts, "buffer": total - sum(parts.values())}
        return TokenBudget(total=total, allocations=allocations, reserve_buffer=reserve)

    def record_usage(self, section: Section, *, given_tokens: int, used_tokens: int) -> None:
        """Note what a section had in a request and what of it later turns used.

        Raises:
            ValueError: it is no section to which tokens are given, or more was used than given.
        """
        given_to = tuple(each for each in get_args(Section) if each != "buffer")
        _require_known("section", section, given_to)
        self._turn = None
        self.efficiency = self.efficiency.measured(
            section, given_tokens=given_tokens, used_tokens=used_tokens
        )

    def _within_total(self, room_tokens: int) -> int:
        return int(min(max(0, room_tokens), self._most_tokens))

    def _kept_fraction(self, room_tokens: int) -> float:
        """What a compaction fills of the room beside what is protected, where nobody asks for the past."""
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
        """What the table of ``conservative`` or ``strict`` says; what is protected takes the place of its system part."""
        shares = self._shares(task, messages)
        newest, told = shares.of(*NEWEST), shares.of(*TOLD)
        kept = newest + told + (shares.of(*RETRIEVED) if asks_back else 0)
        return CompactionBudget(
            total_tokens=total,
            kept_fraction=min(1.0, kept / (1 - shares.of("system"))) * self._compact_at_fraction,
            newest_fraction=newest / kept,
            told_fraction=told / kept,
        )

    def _shares(self, task: TaskDefinition, messages: int) -> Shares:
        """By the profile's table; by complexity moved by role and efficiency, as weights: what one gains the others lose."""
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
    """What the sections of a budget have once each has said what it needs, in tokens; one that is not named needs nothing.

    Returns:
        Allocations of the same total: what a section leaves goes to those that need more, by their shares; what nobody
        needs stays free, in ``buffer``.

    Raises:
        ValueError: a need is negative or of a section that the budget does not have.
    """
    weights: dict[Section, float] = {**budget.allocations}
    total = budget.total - int(weights.pop("buffer", 0))
    for section, tokens in needs.items():
        if section not in weights:
            raise ValueError(f"needs={section!r}: give one of {', '.join(weights)}")
        if tokens < 0:
            raise ValueError(f"needs[{section!r}]={tokens}: give 0 tokens or more")
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
    """Divide tokens by weights; equal parts where all weights are 0.

    Webster's method by "jump and step" (Pukelsheim, Proportional Representation, 2014, chapter 4): more gives nobody less.
    """
    exact = {name: Fraction(weight) for name, weight in weights.items()}  # never by rounding
    if not any(exact.values()):
        exact = dict.fromkeys(weights, Fraction(1))
    whole = sum(exact.values())
    parts = {name: floor(total * weight / whole + Fraction(1, 2)) for name, weight in exact.items()}
    while parts and (missing := total - sum(parts.values())):
        if missing > 0:  # the highest quotient gains the next token; of equals the first
            gains = max(parts, key=lambda name: exact[name] / (2 * parts[name] + 1))
            parts[gains] += 1
        else:  # the lowest one loses its last; of equals the last
            held = [name for name in reversed(parts) if parts[name]]
            parts[min(held, key=lambda name: exact[name] / (2 * parts[name] - 1))] -= 1
    return parts


def _require_known(argument: str, name: str, known: tuple[str, ...]) -> None:
    """Refuse a name that is not in a list, and say the list."""
    if name not in known:
        raise ValueError(f"{argument}={name!r}: give one of {', '.join(known)}")
