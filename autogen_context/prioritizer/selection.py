"""Choose the blocks with the highest score per token.

Promise: the chosen blocks fit the room with the frames of their units and a mark for each gap, as estimated. Source: lazy
greedy selection (Minoux, "Accelerated greedy algorithms for maximizing submodular set functions", 1978); its distance from
the optimum: docs/decisions/0011-plan.md.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import NamedTuple

from autogen_context.budget.policy import Efficiency, Section
from autogen_context.messages.identifiers import is_distinctive
from autogen_context.prioritizer.category import SECTION_OF
from autogen_context.prioritizer.prioritizer import BlockAt, Need, Scores, answers_of
from autogen_context.prioritizer.references import References, UnitText
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Rank

MARK_TOKENS = 6  # for the mark of a gap
FRAME_FRACTION = 0.4  # of a unit's frame, charged to its first block; later blocks share the frame
MOST_FRAME = 40  # the most tokens of a frame charged to the first block
LEAST_ROOM = 25  # tokens; selection ends when less is left
HORIZON = 8  # times the room: older units are not considered
BEYOND = 1e-6  # factor for blocks of a section that has used up its share


class UnitCost(NamedTuple):
    """Tokens of a unit: its frame (roles, ids, short arguments), and the blocks of each text."""

    frame_tokens: int
    texts: Sequence[Sequence[int]]


def within_horizon(conversation: References, need: Need) -> list[int]:
    """Return the units to consider, ascending, up to ``HORIZON`` times the room.

    They are the newest ones; for a question about the past, the most relevant ones first.
    """
    units, answers = conversation.units, answers_of(conversation, need.relevance)
    best = sorted(answers, key=lambda i: (-answers[i], -i))
    found, left = set[int](), HORIZON * need.room_tokens
    for i in chain(best, range(len(units) - 1, -1, -1)):
        if left <= 0:
            break
        left -= 0 if i in found else units[i].candidate.tokens
        found.add(i)
    return sorted(found)


def considered(conversation: References, need: Need) -> tuple[list[int], list[int]]:
    """Return the units to compare, and those within the horizon whatever is asked for."""
    compared = within_horizon(conversation, need)
    recent = Need(room_tokens=need.room_tokens)
    return compared, within_horizon(conversation, recent) if need.relevance else compared


def cost_of(unit: UnitText, counter: MessageCounter) -> UnitCost:
    """Return the tokens of a unit by blocks; those of a block by its part of the text it stands in."""
    texts: list[list[int]] = []
    for text in unit.texts:
        message = unit.messages[text.message]
        whole = message.text
        if text.place == "result":
            whole = message.results[text.index].text
        elif text.place == "argument":
            whole = message.calls[text.index].arguments
        rate = counter.text(whole) / len(whole)
        texts.append([round(rate * len(block.text)) for block in text.blocks])
    return UnitCost(max(0, unit.candidate.tokens - sum(map(sum, texts))), texts)


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
        self._costs, self._scores, self._room = costs, scores, room_tokens
        self._sections = sections or {}
        self._left: dict[Section, float] = dict(shares or {})
        self._frames = {  # a unit with all blocks replaced by marks
            unit: cost.frame_tokens + MARK_TOKENS * len(cost.texts) for unit, cost in costs.items()
        }
        self._best: dict[int, float] = {}  # density of the first kept block of each unit
        self._kept: set[BlockAt] = set()
        blocks = (
            BlockAt(unit, text, block)
            for unit, cost in costs.items()
            for text, tokens in enumerate(cost.texts)
            for block in range(len(tokens))
        )
        self._heap = [(-self._density(at), -at.unit, at) for at in blocks]
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
            blocks = self._costs[at.unit].texts[at.text]
            self._room -= tokens
            if at.unit in self._sections:
                self._left[self._sections[at.unit]] -= blocks[at.block]
            order.append(at)
            self._kept.add(at)
            self._best.setdefault(at.unit, density)
            self._scores.keep(at)
            for block in (at.block - 1, at.block + 1):  # the gap beside it is smaller now
                if 0 <= block < len(blocks):
                    neighbour = at._replace(block=block)
                    heappush(heap, (-self._density(neighbour), unit, neighbour))
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
        unit, text, block = at
        blocks = self._costs[unit].texts[text]
        gap_before = block > 0 and (unit, text, block - 1) not in self._kept
        gap_behind = block + 1 < len(blocks) and (unit, text, block + 1) not in self._kept
        return blocks[block] + MARK_TOKENS * (gap_before + gap_behind - 1)


def blocks_at(unit: UnitText, position: int) -> Iterator[BlockAt]:
    """Yield the positions of the blocks of a unit."""
    for at, text in enumerate(unit.texts):
        for block in range(len(text.blocks)):
            yield BlockAt(position, at, block)


# ---- sections of the budget


def sections_of(conversation: References) -> dict[int, Section]:
    """Return the section of each unit considered."""
    return {i: SECTION_OF[conversation.units[i].category] for i in conversation.considered}


def efficiency_of(conversation: References) -> Efficiency:
    """Measure the tokens of each section, and how many of them later units refer to by identifiers."""
    given, used = Counter[Section](), Counter[Section]()
    for i, section in sections_of(conversation).items():
        unit = conversation.units[i]
        for block in unit.blocks:
            tokens = round(len(block.text) * unit.tokens_per_char)
            given[section] += tokens
            uses = ((conversation.uses(value), value) for value in block.values)
            if any(later and later[-1] > i and is_distinctive(value) for later, value in uses):
                used[section] += tokens
    return Efficiency(given=given, used=used)
