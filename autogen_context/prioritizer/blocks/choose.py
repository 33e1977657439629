"""Choose the blocks that are worth most for their tokens.

Promise: what is chosen fits the room by the estimate it is given; the same input gives the same choice; a unit costs
its frame (roles, ids, short arguments) once, with its first block.

Greedy by worth per token. While more is kept a block's worth falls, so one that leads with its worth brought up to date
is the best one (lazy evaluation). Beside a block that was just kept one becomes cheaper, and is looked at again; the
other blocks of its unit, whose frame is paid now, are looked at when their turn comes. How far that is from the best
choice of all: docs/decisions/0011-plan.md.

Source:
    Minoux, "Accelerated greedy algorithms for maximizing submodular set functions", 1978.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Protocol

from autogen_context.prioritizer.blocks.worth import Spot

MARK_TOKENS = 6  # for the mark where something is left out
FRAME_SHARE = 0.4  # of a unit's frame, counted against its first block: others will share it
MOST_FRAME = 40  # tokens counted against the first block
LEAST_ROOM = 25  # tokens; with less left the choice ends


class Values(Protocol):
    """What blocks are worth, given what is kept."""

    def of(self, spot: Spot, /) -> float:
        """What a block adds to what is kept."""
        ...

    def keep(self, spot: Spot, /) -> None:
        """Take a block as kept."""
        ...

    def keep_unit(self, unit: int, /) -> None:
        """Take a whole unit as kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A unit whose blocks may be chosen.

    Attributes:
        frame_tokens: what it costs with no block at all.
        passages: for each passage the tokens of its blocks.
    """

    frame_tokens: int
    passages: Sequence[Sequence[int]]


class Selection:
    """Chooses blocks of units.

    Args:
        offers: the units, by position.
        worth: what blocks are worth.
        room_tokens: what may be chosen.
    """

    def __init__(self, offers: Mapping[int, Offer], *, worth: Values, room_tokens: int) -> None:
        self._offers = offers
        self._frames = {  # with a mark for each passage and nothing else
            unit: offer.frame_tokens + MARK_TOKENS * len(offer.passages)
            for unit, offer in offers.items()
        }
        self._worth = worth
        self._room = room_tokens
        self._order: list[Spot] = []
        self._units: set[int] = set()
        self._kept: set[Spot] = set()

    def choose(self) -> list[Spot]:
        """The blocks that stay, the best first."""
        heap = [(-self._density(spot), spot) for spot in self._spots()]
        heapify(heap)
        while heap and self._room >= LEAST_ROOM:
            _, spot = heappop(heap)
            if spot in self._kept:
                continue
            density = self._density(spot)
            if heap and -density > heap[0][0]:
                heappush(heap, (-density, spot))
            elif self._take(spot):
                for beside in self._beside(spot):  # no mark is needed there any more
                    heappush(heap, (-self._density(beside), beside))
        return self._order

    def _spots(self) -> list[Spot]:
        return [
            Spot(unit, passage, block)
            for unit, offer in self._offers.items()
            for passage, blocks in enumerate(offer.passages)
            for block in range(len(blocks))
        ]

    def _density(self, spot: Spot) -> float:
        """Worth per token; of a frame that others will share, a part."""
        tokens: float = self._tokens(spot)
        if spot.unit not in self._units:
            tokens += min(MOST_FRAME, FRAME_SHARE * self._frames[spot.unit])
        return self._worth.of(spot) / max(1.0, tokens)

    def _take(self, spot: Spot) -> bool:
        """Keep a block if it fits what is left; says whether it does."""
        tokens = self._tokens(spot) + (0 if spot.unit in self._units else self._frames[spot.unit])
        if tokens > self._room:
            return False
        self._room -= tokens
        self._order.append(spot)
        self._kept.add(spot)
        self._units.add(spot.unit)
        self._worth.keep(spot)
        return True

    def _tokens(self, spot: Spot) -> int:
        """What a block costs in its unit: instead of the mark of its gap, one for each gap that is left beside it."""
        unit, passage, block = spot
        blocks = self._offers[unit].passages[passage]
        gap_before = block > 0 and (unit, passage, block - 1) not in self._kept
        gap_behind = block + 1 < len(blocks) and (unit, passage, block + 1) not in self._kept
        return blocks[block] + MARK_TOKENS * (gap_before + gap_behind - 1)

    def _beside(self, spot: Spot) -> list[Spot]:
        """The blocks beside one in its passage."""
        blocks = range(len(self._offers[spot.unit].passages[spot.passage]))
        beside = (spot.block - 1, spot.block + 1)
        return [Spot(spot.unit, spot.passage, block) for block in beside if block in blocks]
