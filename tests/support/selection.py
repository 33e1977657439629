"""Small choices of blocks, and the best one of all, found by trying each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, groupby
from random import Random

from autogen_context.prioritizer.prioritizer import BlockAt
from autogen_context.prioritizer.selection import MARK_TOKENS, UnitCost

LESS = 0.3  # of a value's worth, where another kept block has it


@dataclass(slots=True, kw_only=True)
class Covering:
    """Blocks worth the values that they name; each counts fully once."""

    named: Mapping[BlockAt, Sequence[str]]
    weights: Mapping[str, float]
    kept: set[str] = field(default_factory=set[str])

    def score(self, at: BlockAt, /) -> float:
        """What a block adds."""
        return sum(self.weights[v] * (LESS if v in self.kept else 1) for v in self.named[at])

    def keep(self, at: BlockAt, /) -> None:
        """Take a block as kept."""
        self.kept.update(self.named[at])

    def reasons(self, unit: int, /) -> tuple[str, ...]:
        """What the blocks of a unit name."""
        return tuple(v for at, values in self.named.items() if at.unit == unit for v in values)

    def of_all(self, spots: Iterable[BlockAt]) -> float:
        """What blocks are worth together."""
        fresh = Covering(named=self.named, weights=self.weights)
        total = 0.0
        for at in spots:
            total += fresh.score(at)
            fresh.keep(at)
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A choice to make."""

    costs: Mapping[int, UnitCost]
    scores: Covering
    room_tokens: int


def drawn(random: Random, *, blocks: int, overlapping: bool) -> Case:
    """A case of so many blocks; where they overlap they name the same values."""
    costs: dict[int, UnitCost] = {}
    spots: list[BlockAt] = []
    while len(spots) < blocks:
        sizes = [random.randint(20, 120) for _ in range(random.randint(1, 4))]
        sizes = sizes[: blocks - len(spots)]
        cut = random.randint(0, len(sizes))
        unit = len(costs) * 2
        texts = [part for part in (sizes[:cut], sizes[cut:]) if part]
        costs[unit] = UnitCost(frame_tokens=random.randint(4, 60), texts=texts)
        spots += [BlockAt(unit, p, b) for p, part in enumerate(texts) for b in range(len(part))]
    names = [f"v{i}" for i in range(blocks + 4 if overlapping else 9 * blocks)]
    pool = iter(names)
    named = {
        at: random.sample(names, random.randint(1, 4))
        if overlapping
        else [next(pool) for _ in range(random.randint(1, 9))]
        for at in spots
    }
    weights = {name: random.choice([0.1, 0.5, 1, 1, 2, 3]) for name in names}
    whole = cost(costs, spots)
    room = int(whole * random.uniform(0.2, 0.7))
    return Case(costs=costs, scores=Covering(named=named, weights=weights), room_tokens=room)


def cost(costs: Mapping[int, UnitCost], spots: Iterable[BlockAt]) -> int:
    """What blocks cost together: of each unit the frame, the blocks, and a mark for each gap."""
    kept, tokens = set(spots), 0
    for unit in {at.unit for at in kept}:
        tokens += costs[unit].frame_tokens
        for text, sizes in enumerate(costs[unit].texts):
            stays = [BlockAt(unit, text, block) in kept for block in range(len(sizes))]
            tokens += sum(size for size, stay in zip(sizes, stays, strict=True) if stay)
            tokens += MARK_TOKENS * sum(not stay for stay, _ in groupby(stays))
    return tokens


def best(case: Case) -> float:
    """The most that fits is worth."""
    spots = list(case.scores.named)
    every = chain.from_iterable(combinations(spots, n) for n in range(len(spots) + 1))
    return max(
        case.scores.of_all(some) for some in every if cost(case.costs, some) <= case.room_tokens
    )
