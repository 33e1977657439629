"""Choose blocks by section: what each section has had so far decides how much more it may have.

Promise: the order within a section is that of worth per token. A section that has its share stands behind all that have
not, so that what others leave flows to it and nothing stays empty for its sake.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from autogen_context.budget.efficiency import Efficiency
from autogen_context.budget.profile import Section
from autogen_context.messages.identifiers import is_telling
from autogen_context.prioritizer.blocks.choose import Values
from autogen_context.prioritizer.blocks.references import References, UnitText
from autogen_context.prioritizer.blocks.worth import Spot
from autogen_context.prioritizer.category import Category
from autogen_context.prioritizer.classify import category_of
from autogen_context.prioritizer.sections import SECTION_OF

BEYOND = 1e-6  # of its worth, for a block of a section that has its share


class Advised:
    """What blocks are worth for a task of which somebody said what matters.

    Args:
        worth: what they are worth otherwise.
        categories: of each unit.
        multipliers: of the worth of each category.
    """

    def __init__(
        self, worth: Values, categories: Sequence[Category], multipliers: Mapping[Category, float]
    ) -> None:
        self._worth = worth
        self._factors = [multipliers.get(category, 1.0) for category in categories]
        self.keep, self.keep_unit = worth.keep, worth.keep_unit

    def of(self, spot: Spot) -> float:
        """What a block adds to what is kept."""
        return self._worth.of(spot) * self._factors[spot.unit]


class WithinShares:
    """What blocks are worth while their sections have room.

    Args:
        worth: what they are worth otherwise.
        units: all units.
        sections: of each unit.
        shares: what each section may have, in tokens.
    """

    def __init__(
        self,
        worth: Values,
        units: Sequence[UnitText],
        sections: Sequence[Section],
        shares: Mapping[Section, int],
    ) -> None:
        self._worth = worth
        self._units = units
        self._densities = [density_of(unit) for unit in units]
        self._sections = sections
        self._left: dict[Section, float] = dict(shares)
        self.keep_unit = worth.keep_unit

    def of(self, spot: Spot) -> float:
        """What a block adds to what is kept."""
        worth = self._worth.of(spot)
        return worth if self._left[self._sections[spot.unit]] > 0 else worth * BEYOND

    def keep(self, spot: Spot) -> None:
        """Take a block as kept; its section has less left."""
        self._worth.keep(spot)
        block = self._units[spot.unit].passages[spot.passage].blocks[spot.block]
        tokens = len(block.text) * self._densities[spot.unit]
        self._left[self._sections[spot.unit]] -= tokens


def categories_of(references: References) -> list[Category]:
    """The category of each unit of a conversation."""
    return [category_of(unit.unit, unit.actions) for unit in references.units]


def sections_of(categories: Sequence[Category]) -> list[Section]:
    """The section of each unit, by its category."""
    return [SECTION_OF[category] for category in categories]


def needs_of(units: Sequence[UnitText], sections: Sequence[Section]) -> dict[Section, int]:
    """What each section could use, in tokens."""
    needs: Counter[Section] = Counter()
    for unit, section in zip(units, sections, strict=True):
        needs[section] += unit.candidate.tokens
    return dict(needs)


def efficiency_of(references: References, sections: Sequence[Section]) -> Efficiency:
    """What each section was given so far, and what of it later turns named again.

    A block was used where the model named one of its telling values in a later unit.
    """
    given: Counter[Section] = Counter()
    used: Counter[Section] = Counter()
    for i, (unit, section) in enumerate(zip(references.units, sections, strict=True)):
        density = density_of(unit)
        for block in (block for passage in unit.passages for block in passage.blocks):
            tokens = round(len(block.text) * density)
            given[section] += tokens
            if any(is_named_after(value, i, references) for value in block.values):
                used[section] += tokens
    return Efficiency(given=given, used=used)


def is_named_after(value: str, unit: int, references: References) -> bool:
    """Whether the model named a telling value in a unit behind this one."""
    uses = references.uses(value)
    return bool(uses) and uses[-1] > unit and is_telling(value)


def density_of(unit: UnitText) -> float:
    """Tokens per character of the texts of a unit, as if they were spread evenly over them."""
    characters = sum(len(block.text) for passage in unit.passages for block in passage.blocks)
    return unit.candidate.tokens / max(1, characters)
