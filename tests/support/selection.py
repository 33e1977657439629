"""Small choices of blocks, and the best one of all, found by trying each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, groupby
from random import Random

from autogen_context.prioritizer.blocks.choose import MARK_TOKENS, Offer
from autogen_context.prioritizer.blocks.worth import Spot

LESS = 0.3  # of a value's worth, where another kept block has it


@dataclass(slots=True, kw_only=True)
class Covering:
    """Blocks worth the values that they name; each counts fully once."""

    named: Mapping[Spot, Sequence[str]]
    weights: Mapping[str, float]
    kept: set[str] = field(default_factory=set[str])

    def of(self, spot: Spot, /) -> float:
        """What a block adds."""
        return sum(self.weights[v] * (LESS if v in self.kept else 1) for v in self.named[spot])

    def keep(self, spot: Spot, /) -> None:
        """Take a block as kept."""
        self.kept.update(self.named[spot])

    def keep_unit(self, unit: int, /) -> None:
        """Take a unit as kept."""
        for spot in self.named:
            if spot.unit == unit:
                self.keep(spot)

    def of_all(self, spots: Iterable[Spot]) -> float:
        """What blocks are worth together."""
        fresh = Covering(named=self.named, weights=self.weights)
        total = 0.0
        for spot in spots:
            total += fresh.of(spot)
            fresh.keep(spot)
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A choice to make."""

    offers: Mapping[int, Offer]
    worth: Covering
    room_tokens: int


def drawn(random: Random, *, blocks: int, overlapping: bool) -> Case:
    """A case of so many blocks; where they overlap they name the same values."""
    offers: dict[int, Offer] = {}
    spots: list[Spot] = []
    while len(spots) < blocks:
        sizes = [random.randint(20, 120) for _ in range(random.randint(1, 4))]
        sizes = sizes[: blocks - len(spots)]
        cut = random.randint(0, len(sizes))
        unit = len(offers) * 2
        passages = [part for part in (sizes[:cut], sizes[cut:]) if part]
        offers[unit] = Offer(frame_tokens=random.randint(4, 60), passages=passages)
        spots += [Spot(unit, p, b) for p, part in enumerate(passages) for b in range(len(part))]
    names = [f"v{i}" for i in range(blocks + 4 if overlapping else 9 * blocks)]
    pool = iter(names)
    named = {
        spot: random.sample(names, random.randint(1, 4))
        if overlapping
        else [next(pool) for _ in range(random.randint(1, 9))]
        for spot in spots
    }
    weights = {name: random.choice([0.1, 0.5, 1, 1, 2, 3]) for name in names}
    whole = cost(offers, spots)
    room = int(whole * random.uniform(0.2, 0.7))
    return Case(offers=offers, worth=Covering(named=named, weights=weights), room_tokens=room)


def cost(offers: Mapping[int, Offer], spots: Iterable[Spot]) -> int:
    """What blocks cost together: of each unit the frame, the blocks, and a mark for each gap."""
    kept, tokens = set(spots), 0
    for unit in {spot.unit for spot in kept}:
        tokens += offers[unit].frame_tokens
        for passage, sizes in enumerate(offers[unit].passages):
            stays = [Spot(unit, passage, block) in kept for block in range(len(sizes))]
            tokens += sum(size for size, stay in zip(sizes, stays, strict=True) if stay)
            tokens += MARK_TOKENS * sum(not stay for stay, _ in groupby(stays))
    return tokens


def best(case: Case) -> float:
    """The most that fits is worth."""
    spots = list(case.worth.named)
    every = chain.from_iterable(combinations(spots, n) for n in range(len(spots) + 1))
    return max(
        case.worth.of_all(some) for some in every if cost(case.offers, some) <= case.room_tokens
    )
