"""Choose the blocks with the highest score for their tokens, and say what becomes of the units that they are of.

Promise: what is chosen fits the room, by the count of what would be sent; a unit stays whole, in parts with marks, or goes,
and none grows. Greedy by score per token, evaluated lazily (Minoux, "Accelerated greedy algorithms for maximizing submodular
set functions", 1978); how far that is from the best choice of all: docs/decisions/0011-plan.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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

MARK_TOKENS = 6  # for the mark where something is left out
FRAME_FRACTION = 0.4  # of a unit's frame, counted against its first block: others will share it
MOST_FRAME = 40  # tokens counted against the first block
LEAST_ROOM = 25  # tokens; with less left the choice ends
REACH = 8  # rooms: of what is older nothing stands for choice
NO_ROOM = "left out: its best part did not fit what was left of the room"
BEYOND = 1e-6  # of its score, for a block of a section that has its share


class UnitCost(NamedTuple):
    """What a unit costs with no block at all (roles, ids, short arguments), and of each of its passages the blocks, in tokens."""

    frame_tokens: int
    passages: Sequence[Sequence[int]]


class Unchosen(NamedTuple):
    """Why nothing of a unit stays, and how it stood."""

    reason: str
    rank: Rank


class Filled(NamedTuple):
    """What became of the units that stood for choice: decisions on those of which something stays, and what is said of the others."""

    stays: Mapping[int, Decision]
    left: Mapping[int, Unchosen]


def standing(conversation: References, need: Need) -> list[int]:
    """The units that stand for choice, ascending.

    Those of the newest ``REACH`` rooms; where a person asks for the past, as much of those that answer best.
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
    """Chooses among the units of a conversation; ``shares`` are tokens that each section may have before all others are served."""

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
        self._scores = scores if shares is None else SectionScores(scores, conversation, shares)

    def fill(
        self, taken: Mapping[int, Decision], room_tokens: int, among: Iterable[int] | None = None
    ) -> Filled:
        """Decide on units that are not ``taken``: on those ``among`` which is chosen, or on all that stand for choice."""
        for i in taken:
            if not self._units[i].named.is_sought:
                self._scores.keep_unit(i)
        units = self._conversation.standing if among is None else among
        costs = {i: self._cost(self._units[i]) for i in units if i not in taken}
        selection = Selection(costs, scores=self._scores, room_tokens=room_tokens)
        stays = self._within(selection.choose(), room_tokens)
        ranking = selection.ranking()
        least = min((ranking[i].score for i in stays), default=-1.0)
        less = f"left out: what stays has {least:.3g} a token or more"  # one text for all of them
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
        """The decisions that keep these blocks; the last ones go where the estimate was too low."""
        stays: dict[int, dict[int, set[int]]] = {}
        for at in order:
            stays.setdefault(at.unit, {}).setdefault(at.passage, set()).add(at.block)
        decisions = {i: self._decision(self._units[i], stays[i]) for i in stays}
        while (tokens := tokens_of(decisions)) > room_tokens:
            excess = ceil(len(order) * (tokens - room_tokens) / tokens)  # as if blocks were alike
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
    """Chooses blocks of units; a unit costs its frame once, with its first block."""

    def __init__(self, costs: Mapping[int, UnitCost], *, scores: Scores, room_tokens: int) -> None:
        self._costs = costs
        self._frames = {  # with a mark for each passage and nothing else
            unit: cost.frame_tokens + MARK_TOKENS * len(cost.passages)
            for unit, cost in costs.items()
        }
        self._scores = scores
        self._room = room_tokens
        self._best: dict[int, float] = {}  # of each unit of which something is kept, for the first
        self._kept: set[BlockAt] = set()
        self._heap = [
            (-self._density(at), -unit, at)
            for unit, cost in costs.items()
            for passage, blocks in enumerate(cost.passages)
            for at in (BlockAt(unit, passage, block) for block in range(len(blocks)))
        ]
        self._too_large: list[tuple[float, int, BlockAt]] = []

    def choose(self) -> list[BlockAt]:
        """The blocks that stay, the best first; of equals those of the newest unit."""
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
            order.append(at)
            self._kept.add(at)
            self._best.setdefault(at.unit, density)
            self._scores.keep(at)
            for block in (at.block - 1, at.block + 1):  # no mark is needed there any more
                if 0 <= block < len(self._costs[at.unit].passages[at.passage]):
                    beside = BlockAt(at.unit, at.passage, block)
                    heappush(heap, (-self._density(beside), unit, beside))
        return order

    def ranking(self) -> dict[int, Rank]:
        """The score of each unit when it was decided on, for each token of its best block, and its place by that.

        Nothing that is left out was more when it was last compared than what was kept, but for what did not fit.
        """
        best = dict.fromkeys(self._costs, 0.0)
        for negative, _, at in (*self._heap, *self._too_large):
            best[at.unit] = max(best[at.unit], -negative)
        best |= self._best
        places = sorted(best, key=lambda unit: (-best[unit], -unit))
        return {
            unit: Rank(score=best[unit], place=place, among=len(best))
            for place, unit in enumerate(places, 1)
        }

    def _density(self, at: BlockAt) -> float:
        """The score for each token; of a frame that others will share, a part."""
        tokens: float = self._tokens(at)
        if at.unit not in self._best:
            tokens += min(MOST_FRAME, FRAME_FRACTION * self._frames[at.unit])
        return self._scores.score(at) / max(1.0, tokens)

    def _tokens(self, at: BlockAt) -> int:
        """What a block costs in its unit: instead of the mark of its gap, one for each gap that is left beside it."""
        unit, passage, block = at
        blocks = self._costs[unit].passages[passage]
        gap_before = block > 0 and (unit, passage, block - 1) not in self._kept
        gap_behind = block + 1 < len(blocks) and (unit, passage, block + 1) not in self._kept
        return blocks[block] + MARK_TOKENS * (gap_before + gap_behind - 1)


# ---- the shares of sections, where a budget has them


class SectionScores:
    """Puts blocks of sections that have their share behind all others, so that what others leave flows to them."""

    def __init__(
        self, scores: Scores, conversation: References, shares: Mapping[Section, int]
    ) -> None:
        self._scores = scores
        self._units = conversation.units
        self._sections = sections_of(conversation)
        self._left: dict[Section, float] = dict(shares)
        self.keep_unit = scores.keep_unit
        self.reasons = scores.reasons

    def score(self, at: BlockAt) -> float:
        """What a block adds to what is kept."""
        score = self._scores.score(at)
        return score if self._left[self._sections[at.unit]] > 0 else score * BEYOND

    def keep(self, at: BlockAt) -> None:
        """Take a block as kept; its section has less left."""
        self._scores.keep(at)
        self._left[self._sections[at.unit]] -= tokens_at(self._units[at.unit], at)


def sections_of(conversation: References) -> dict[int, Section]:
    """The section of each unit that stands for choice."""
    return {i: SECTION_OF[conversation.units[i].category] for i in conversation.standing}


def efficiency_of(conversation: References) -> Efficiency:
    """What each section has on offer, and what of it the model named again in later units, by telling values."""
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


# ---- what became of one unit, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Decision):
    """A decision, and the score of its unit.

    Attributes:
        score: for each token of its best part: the one that decided, where ``rank`` is there; else as it is now.
        reasons: its place by that, and where the score comes from, in words.
    """

    score: float
    reasons: tuple[str, ...]


def explained(decision: Decision, at: int, unit: UnitText | None, scores: Scores) -> Explanation:
    """What became of the unit at a position, and why; ``unit`` is None while a loaded state is all there is."""
    known = {each.name: getattr(decision, each.name) for each in fields(Decision)}
    if unit is None:
        return Explanation(**known, score=0.0, reasons=("its messages were not read yet",))
    blocks = (BlockAt(at, i, n) for i, p in enumerate(unit.passages) for n in range(len(p.blocks)))
    each = (scores.score(block) / max(1.0, tokens_at(unit, block)) for block in blocks)
    score, reasons = max(each, default=0.0), scores.reasons(at)
    if decision.rank:
        score, reasons = decision.rank.score, (str(decision.rank), *reasons)
    return Explanation(**known, score=score, reasons=reasons)


def tokens_at(unit: UnitText, at: BlockAt) -> float:
    """What a block has, as if the tokens of its unit were spread evenly."""
    return len(unit.passages[at.passage].blocks[at.block].text) * unit.tokens_per_char
