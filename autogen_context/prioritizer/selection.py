"""Choose the blocks with the highest score for their tokens, and say what becomes of the units that they are of.

Promise: what is chosen fits the room, by the count of what would be sent; the same input gives the same choice; a unit
stays whole, in parts with marks, or goes, and none grows. A unit costs its frame (roles, ids, short arguments) once,
with its first block.

Greedy by score per token. While more is kept a block's score falls, so one that leads with its score brought up to date
is the best one (lazy evaluation). Beside a block that was just kept one becomes cheaper, and is looked at again; the
other blocks of its unit, whose frame is paid now, are looked at when their turn comes. How far that is from the best
choice of all: docs/decisions/0011-plan.md.

Source:
    Minoux, "Accelerated greedy algorithms for maximizing submodular set functions", 1978.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import ceil

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Written, index_of
from autogen_context.prioritizer.blocks import Kept, Passage, extracted
from autogen_context.prioritizer.references import References, UnitText
from autogen_context.prioritizer.score import BlockAt, Need, Scores
from autogen_context.prioritizer.value import relevance_of
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Decision, Rank, kept, replaced, tokens_of

MARK_TOKENS = 6  # for the mark where something is left out
FRAME_FRACTION = 0.4  # of a unit's frame, counted against its first block: others will share it
MOST_FRAME = 40  # tokens counted against the first block
LEAST_ROOM = 25  # tokens; with less left the choice ends
REACH = 8  # rooms: of what is older nothing stands for choice

Staying = dict[int, dict[int, set[int]]]
"""Of each unit, of each of its passages, the blocks that stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCost:
    """A unit whose blocks may be chosen.

    Attributes:
        frame_tokens: what it costs with no block at all.
        passages: for each passage the tokens of its blocks.
    """

    frame_tokens: int
    passages: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What became of the units that stood for choice.

    Attributes:
        stays: decisions on those of which something stays.
        left: decisions on the others.
    """

    stays: Mapping[int, Decision]
    left: Mapping[int, Decision]


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
    """Chooses among the units of a conversation.

    Args:
        conversation: its units.
        counter: counts messages.
        scores: of its blocks.
    """

    def __init__(self, conversation: References, counter: MessageCounter, scores: Scores) -> None:
        self._conversation = conversation
        self._units = conversation.units
        self._counter = counter
        self._scores = scores

    def fill(
        self, taken: Mapping[int, Decision], room_tokens: int, among: Iterable[int] | None = None
    ) -> Filled:
        """Decide on units that are still open.

        Args:
            taken: what was decided on others, by position.
            room_tokens: what may be chosen.
            among: positions of those that are chosen from; left out, all that stand for choice.
        """
        for i in taken:
            if not self._units[i].is_sought:
                self._scores.keep_unit(i)
        units = self._conversation.standing if among is None else among
        costs = {i: self._cost(self._units[i]) for i in units if i not in taken}
        selection = Selection(costs, scores=self._scores, room_tokens=room_tokens)
        stays = self._within(selection.choose(), room_tokens)
        ranking = selection.ranking()
        least = min((ranking[i].score for i in stays), default=None)
        return Filled(
            stays={i: replace(stays[i], rank=ranking[i]) for i in stays},
            left={i: self._left(i, ranking[i], least) for i in costs if i not in stays},
        )

    def _left(self, i: int, rank: Rank, least: float | None) -> Decision:
        """The decision to leave a unit out, and why: its score is no higher than that of what stays, or it did not fit."""
        if least is None or rank.score > least:
            why = f"{rank}, and its best part did not fit what was left of the room"
        else:
            why = f"{rank}; what stays has {least:.3g} or more"
        return replace(
            replaced(self._units[i].candidate, "drop", f"left out: {why}", (), 0), rank=rank
        )

    def _cost(self, unit: UnitText) -> UnitCost:
        passages = [self._tokens(unit.messages[p.message], p) for p in unit.passages]
        frame = unit.candidate.tokens - sum(map(sum, passages))
        return UnitCost(frame_tokens=max(0, frame), passages=passages)

    def _tokens(self, message: Message, passage: Passage) -> list[int]:
        """Tokens of the blocks of a passage, as if those of its text were spread evenly over it: nothing is counted twice."""
        whole = whole_of(message, passage)
        rate = self._counter.text(whole) / len(whole)
        return [round(rate * len(block.text)) for block in passage.blocks]

    def _decision(self, unit: UnitText, stays: Kept) -> Decision:
        """A unit with some of its blocks; whole where that is no more."""
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

    def _within(self, order: list[BlockAt], room_tokens: int) -> dict[int, Decision]:
        """The decisions that keep these blocks; the last ones go where the estimate was too low."""
        stays = by_unit(order)
        decisions = {i: self._decision(self._units[i], stays[i]) for i in stays}
        while (tokens := tokens_of(decisions)) > room_tokens:
            excess = ceil(len(order) * (tokens - room_tokens) / tokens)  # as if blocks were alike
            for i in let_go(order, stays, excess):
                del decisions[i]
                if any(stays[i].values()):
                    decisions[i] = self._decision(self._units[i], stays[i])
        return decisions


class Selection:
    """Chooses blocks of units.

    Args:
        costs: of the units, by position.
        scores: of their blocks.
        room_tokens: what may be chosen.
    """

    def __init__(self, costs: Mapping[int, UnitCost], *, scores: Scores, room_tokens: int) -> None:
        self._costs = costs
        self._frames = {  # with a mark for each passage and nothing else
            unit: cost.frame_tokens + MARK_TOKENS * len(cost.passages)
            for unit, cost in costs.items()
        }
        self._scores = scores
        self._room = room_tokens
        self._order: list[BlockAt] = []
        self._best: dict[int, float] = {}  # of each unit of which something is kept, for the first
        self._kept: set[BlockAt] = set()
        self._heap = [(-self._density(at), -at.unit, at) for at in self._blocks()]
        self._too_large: list[tuple[float, int, BlockAt]] = []

    def choose(self) -> list[BlockAt]:
        """The blocks that stay, the best first; of equals those of the newest unit."""
        heap = self._heap
        heapify(heap)
        while heap and self._room >= LEAST_ROOM:
            _, unit, at = heappop(heap)
            if at in self._kept:
                continue
            density = self._density(at)
            if heap and -density > heap[0][0]:
                heappush(heap, (-density, unit, at))
            elif self._take(at, density):
                for beside in self._beside(at):  # no mark is needed there any more
                    heappush(heap, (-self._density(beside), unit, beside))
            else:
                self._too_large.append((-density, unit, at))
        return self._order

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

    def _blocks(self) -> list[BlockAt]:
        return [
            BlockAt(unit, passage, block)
            for unit, cost in self._costs.items()
            for passage, blocks in enumerate(cost.passages)
            for block in range(len(blocks))
        ]

    def _density(self, at: BlockAt) -> float:
        """The score for each token; of a frame that others will share, a part."""
        tokens: float = self._tokens(at)
        if at.unit not in self._best:
            tokens += min(MOST_FRAME, FRAME_FRACTION * self._frames[at.unit])
        return self._scores.score(at) / max(1.0, tokens)

    def _take(self, at: BlockAt, density: float) -> bool:
        """Keep a block if it fits what is left; says whether it does."""
        tokens = self._tokens(at) + (0 if at.unit in self._best else self._frames[at.unit])
        if tokens > self._room:
            return False
        self._room -= tokens
        self._order.append(at)
        self._kept.add(at)
        self._best.setdefault(at.unit, density)
        self._scores.keep(at)
        return True

    def _tokens(self, at: BlockAt) -> int:
        """What a block costs in its unit: instead of the mark of its gap, one for each gap that is left beside it."""
        unit, passage, block = at
        blocks = self._costs[unit].passages[passage]
        gap_before = block > 0 and (unit, passage, block - 1) not in self._kept
        gap_behind = block + 1 < len(blocks) and (unit, passage, block + 1) not in self._kept
        return blocks[block] + MARK_TOKENS * (gap_before + gap_behind - 1)

    def _beside(self, at: BlockAt) -> list[BlockAt]:
        """The blocks beside one in its passage."""
        blocks = range(len(self._costs[at.unit].passages[at.passage]))
        beside = (at.block - 1, at.block + 1)
        return [BlockAt(at.unit, at.passage, block) for block in beside if block in blocks]


def let_go(order: list[BlockAt], stays: Staying, blocks: int) -> set[int]:
    """Let the last blocks go; says of which units they were."""
    gone = order[-blocks:]
    del order[-blocks:]
    for at in gone:
        stays[at.unit][at.passage].discard(at.block)
    return {at.unit for at in gone}


def whole_of(message: Message, passage: Passage) -> str:
    """The text of a message that a passage is, or the arguments that it is in."""
    if passage.place == "text":
        return message.text
    if passage.place == "result":
        return message.results[passage.index].text
    return message.calls[passage.index].arguments


def by_unit(order: Iterable[BlockAt]) -> Staying:
    """The blocks of each unit, by passage."""
    units: Staying = {}
    for at in order:
        units.setdefault(at.unit, {}).setdefault(at.passage, set()).add(at.block)
    return units
