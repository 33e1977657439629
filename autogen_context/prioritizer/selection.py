"""Choose the blocks with the highest score per token, and decide on their units.

Promise: the chosen blocks fit the room as they would be sent. A unit is kept whole, shortened with marks, or dropped, and
never grows. Source: lazy greedy selection (Minoux, "Accelerated greedy algorithms for maximizing submodular set functions",
1978); its distance from the optimum: docs/decisions/0011-plan.md.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from heapq import heapify, heappop, heappush
from math import ceil
from typing import NamedTuple

from autogen_context.budget.policy import Efficiency, Section
from autogen_context.messages.identifiers import is_telling
from autogen_context.messages.piece import Written, index_of
from autogen_context.prioritizer.blocks import Kept, extracted
from autogen_context.prioritizer.category import SECTION_OF
from autogen_context.prioritizer.prioritizer import BlockAt, Need, Scores, relevance_of
from autogen_context.prioritizer.references import References, UnitText
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Decision, Rank, kept, replaced, tokens_of

MARK_TOKENS = 6  # for the mark of a gap
FRAME_FRACTION = 0.4  # of a unit's frame, charged to its first block; later blocks share the frame
MOST_FRAME = 40  # the most tokens of a frame charged to the first block
LEAST_ROOM = 25  # tokens; selection ends when less is left
REACH = 8  # times the room: older units are not considered
NO_ROOM = "left out: its best part did not fit the remaining room"
BEYOND = 1e-6  # factor for blocks of a section that has used up its share


class UnitCost(NamedTuple):
    """Tokens of a unit: its frame (roles, ids, short arguments), and the blocks of each passage."""

    frame_tokens: int
    passages: Sequence[Sequence[int]]


class Unchosen(NamedTuple):
    """Why nothing of a unit stays, and how it stood."""

    reason: str
    rank: Rank


class Filled(NamedTuple):
    """Decisions on the units considered: those kept whole or in part, and why the others were dropped."""

    stays: Mapping[int, Decision]
    left: Mapping[int, Unchosen]


def standing(conversation: References, need: Need) -> list[int]:
    """Return the units to consider, ascending.

    They are the newest ones, up to ``REACH`` times the room; for a question about the past, the most relevant ones.
    """
    units = conversation.units
    order: Iterable[int] = range(len(units) - 1, -1, -1)
    if need.relevance:
        order = sorted(order, key=lambda i: -relevance_of(units[i].unit, need.relevance))
    found: list[int] = []
    left = REACH * need.room_tokens
    for i in order:
        if left <= 0:
            break
        left -= units[i].candidate.tokens
        found.append(i)
    return sorted(found)


class BlockSelector:
    """Chooses among the units of a conversation; ``shares`` are the tokens guaranteed to each section of the budget, if any."""

    def __init__(
        self,
        conversation: References,
        counter: MessageCounter,
        scores: Scores,
        shares: Mapping[Section, int] | None = None,
    ) -> None:
        self._conversation = conversation
        self._units = conversation.units
        self._counter = counter
        self._scores = scores
        self._shares = shares
        self._sections = sections_of(conversation) if shares is not None else {}

    def fill(
        self, taken: Mapping[int, Decision], room_tokens: int, among: Iterable[int] | None = None
    ) -> Filled:
        """Decide on the units ``among`` (default: all considered) that are not ``taken`` already."""
        for i in taken:
            for at in () if self._units[i].named.is_sought else blocks_at(self._units, i):
                self._scores.keep(at)
        units = self._conversation.standing if among is None else among
        costs = {i: self._cost(self._units[i]) for i in units if i not in taken}
        selection = Selection(
            costs,
            scores=self._scores,
            room_tokens=room_tokens,
            sections=self._sections,
            shares=self._shares,
        )
        stays = self._within(selection.choose(), room_tokens)
        ranking = selection.ranking()
        least = min((ranking[i].score for i in stays), default=-1.0)
        less = f"left out: what is kept has {least:.3g} a token or more"  # one string, shared
        left = {
            i: Unchosen(less if ranking[i].score <= least else NO_ROOM, ranking[i])
            for i in costs
            if i not in stays
        }
        return Filled({i: replace(stays[i], rank=ranking[i]) for i in stays}, left)

    def _cost(self, unit: UnitText) -> UnitCost:
        passages: list[list[int]] = []
        for passage in unit.passages:
            message = unit.messages[passage.message]
            whole = message.text
            if passage.place == "result":
                whole = message.results[passage.index].text
            elif passage.place == "argument":
                whole = message.calls[passage.index].arguments
            rate = self._counter.text(whole) / len(whole)
            passages.append([round(rate * len(block.text)) for block in passage.blocks])
        frame = unit.candidate.tokens - sum(map(sum, passages))
        return UnitCost(max(0, frame), passages)

    def _within(self, order: list[BlockAt], room_tokens: int) -> dict[int, Decision]:
        """Return the decisions that keep these blocks, dropping the last ones if the estimate was too low."""
        stays: dict[int, dict[int, set[int]]] = {}
        for at in order:
            stays.setdefault(at.unit, {}).setdefault(at.passage, set()).add(at.block)
        decisions = {i: self._decision(self._units[i], stays[i]) for i in stays}
        while (tokens := tokens_of(decisions)) > room_tokens:
            excess = ceil(
                len(order) * (tokens - room_tokens) / tokens
            )  # as if all blocks had the same size
            gone = order[-excess:]
            del order[-excess:]
            for at in gone:
                stays[at.unit][at.passage].discard(at.block)
            for i in {at.unit for at in gone}:
                del decisions[i]
                if any(stays[i].values()):
                    decisions[i] = self._decision(self._units[i], stays[i])
        return decisions

    def _decision(self, unit: UnitText, stays: Kept) -> Decision:
        candidate = unit.candidate
        short = extracted(unit.messages, unit.passages, stays)
        tokens = sum(map(self._counter.message, short))
        if tokens >= candidate.tokens:
            return kept(candidate, "worth its tokens")
        pieces = tuple(
            piece if after is before else Written(message=after, index=index_of(piece))
            for piece, before, after in zip(candidate.pieces, unit.messages, short, strict=True)
        )
        blocks = sum(len(passage.blocks) for passage in unit.passages)
        reason = f"{sum(map(len, stays.values()))} of {blocks} blocks are worth their tokens"
        return replaced(candidate, "shorten", reason, pieces, tokens)


class Selection:
    """Lazy greedy selection of blocks; the first block of a unit also pays for its frame.

    Blocks of a section that has used up its share come behind all others, so that only unused room goes to them.
    """

    def __init__(
        self,
        costs: Mapping[int, UnitCost],
        *,
        scores: Scores,
        room_tokens: int,
        sections: Mapping[int, Section] | None = None,
        shares: Mapping[Section, int] | None = None,
    ) -> None:
        self._costs = costs
        self._sections = sections or {}
        self._left: dict[Section, float] = dict(shares or {})
        self._frames = {  # a unit with all blocks replaced by marks
            unit: cost.frame_tokens + MARK_TOKENS * len(cost.passages)
            for unit, cost in costs.items()
        }
        self._scores = scores
        self._room = room_tokens
        self._best: dict[int, float] = {}  # density of the first kept block of each unit
        self._kept: set[BlockAt] = set()
        self._heap = [
            (-self._density(at), -unit, at)
            for unit, cost in costs.items()
            for passage, blocks in enumerate(cost.passages)
            for at in (BlockAt(unit, passage, block) for block in range(len(blocks)))
        ]
        self._too_large: list[tuple[float, int, BlockAt]] = []

    def choose(self) -> list[BlockAt]:
        """Return the blocks to keep, best first; ties go to the newer unit."""
        heap, order = self._heap, list[BlockAt]()
        heapify(heap)
        while heap and self._room >= LEAST_ROOM:
            _, unit, at = heappop(heap)
            if at in self._kept:
                continue
            density = self._density(at)
            if heap and -density > heap[0][0]:
                heappush(heap, (-density, unit, at))
                continue
            tokens = self._tokens(at) + (0 if at.unit in self._best else self._frames[at.unit])
            if tokens > self._room:
                self._too_large.append((-density, unit, at))
                continue
            self._room -= tokens
            if at.unit in self._sections:
                self._left[self._sections[at.unit]] -= self._costs[at.unit].passages[at.passage][
                    at.block
                ]
            order.append(at)
            self._kept.add(at)
            self._best.setdefault(at.unit, density)
            self._scores.keep(at)
            for block in (at.block - 1, at.block + 1):  # the gap beside it is smaller now
                if 0 <= block < len(self._costs[at.unit].passages[at.passage]):
                    beside = BlockAt(at.unit, at.passage, block)
                    heappush(heap, (-self._density(beside), unit, beside))
        return order

    def ranking(self) -> dict[int, Rank]:
        """Return for each unit the score per token of its best block at the time of the decision, and its rank.

        No dropped unit ranked above a kept one when they were compared, unless it did not fit.
        """
        best = dict.fromkeys(self._costs, 0.0)
        for negative, _, at in (*self._heap, *self._too_large):
            best[at.unit] = max(best[at.unit], -negative)
        best |= self._best
        places, among = sorted(best, key=lambda unit: (-best[unit], -unit)), len(best)
        return {
            unit: Rank(score=best[unit], place=place, among=among)
            for place, unit in enumerate(places, 1)
        }

    def _density(self, at: BlockAt) -> float:
        """Return the score per token, with part of the frame for a unit's first block."""
        tokens: float = self._tokens(at)
        if at.unit not in self._best:
            tokens += min(MOST_FRAME, FRAME_FRACTION * self._frames[at.unit])
        score = self._scores.score(at) / max(1.0, tokens)
        is_over = at.unit in self._sections and self._left[self._sections[at.unit]] <= 0
        return score * BEYOND if is_over else score

    def _tokens(self, at: BlockAt) -> int:
        """Return the tokens that keeping a block adds, marks of gaps included."""
        unit, passage, block = at
        blocks = self._costs[unit].passages[passage]
        gap_before = block > 0 and (unit, passage, block - 1) not in self._kept
        gap_behind = block + 1 < len(blocks) and (unit, passage, block + 1) not in self._kept
        return blocks[block] + MARK_TOKENS * (gap_before + gap_behind - 1)


def blocks_at(units: Sequence[UnitText] | Mapping[int, UnitText], i: int) -> Iterator[BlockAt]:
    """Yield the positions of the blocks of a unit."""
    for passage, text in enumerate(units[i].passages):
        for block in range(len(text.blocks)):
            yield BlockAt(i, passage, block)


# ---- sections of the budget


def sections_of(conversation: References) -> dict[int, Section]:
    """Return the section of each unit considered."""
    return {i: SECTION_OF[conversation.units[i].category] for i in conversation.standing}


def efficiency_of(conversation: References) -> Efficiency:
    """Measure the tokens of each section, and how many of them later units refer to by identifiers."""
    given, used = Counter[Section](), Counter[Section]()
    for i, section in sections_of(conversation).items():
        unit = conversation.units[i]
        for block in (block for passage in unit.passages for block in passage.blocks):
            tokens = round(len(block.text) * unit.tokens_per_char)
            given[section] += tokens
            uses = ((conversation.uses(value), value) for value in block.values)
            if any(later and later[-1] > i and is_telling(value) for later, value in uses):
                used[section] += tokens
    return Efficiency(given=given, used=used)


# ---- explanation of one unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Decision):
    """A decision with the score of its unit.

    Attributes:
        score: score per token of its best block: the one that decided if ``rank`` is set, else the current one.
        reasons: its rank, and the origin of the score in words.
    """

    score: float
    reasons: tuple[str, ...]


def explained(decision: Decision, at: int, unit: UnitText | None, scores: Scores) -> Explanation:
    """Explain the decision on a unit; ``unit`` is ``None`` if its messages are not known since a state was loaded."""
    known = {each.name: getattr(decision, each.name) for each in fields(Decision)}
    if unit is None:
        return Explanation(**known, score=0.0, reasons=("its messages were not read yet",))
    each = (scores.score(b) / max(1.0, tokens_at(unit, b)) for b in blocks_at({at: unit}, at))
    score, reasons = max(each, default=0.0), scores.reasons(at)
    if decision.rank:
        score, reasons = decision.rank.score, (str(decision.rank), *reasons)
    return Explanation(**known, score=score, reasons=reasons)


def tokens_at(unit: UnitText, at: BlockAt) -> float:
    """Estimate the tokens of a block by its share of the unit's characters."""
    return len(unit.passages[at.passage].blocks[at.block].text) * unit.tokens_per_char
