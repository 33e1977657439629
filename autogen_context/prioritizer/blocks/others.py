"""What some units of a conversation share with all the others, which are kept.

Promise: the same as looking at each of the others, at the cost of the few alone; the others are looked at once, however
often is asked.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autogen_context.prioritizer.blocks.references import UnitText


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What stands elsewhere as well.

    Attributes:
        values: that the others name.
        lines: that stand in them.
    """

    values: frozenset[str]
    lines: frozenset[str]


class Others:
    """Counts in how many units something stands, but for what people and the system prompt say: what they name is sought after.

    Args:
        units: n units.
    """

    def __init__(self, units: Sequence[UnitText]) -> None:
        self._units = units
        self._values, self._lines = counted(units)

    def shared_with(self, few: Iterable[int]) -> Shared:
        """What some units share with the rest of the n.

        Args:
            few: their positions.
        """
        texts = [self._units[i] for i in few]
        values, lines = counted(texts)
        return Shared(
            values=elsewhere({v for text in texts for v in text.values}, self._values, values),
            lines=elsewhere({x for text in texts for x in text.lines}, self._lines, lines),
        )


def counted(units: Iterable[UnitText]) -> tuple[Counter[str], Counter[str]]:
    """In how many units each value and each line stands."""
    values, lines = Counter[str](), Counter[str]()
    for unit in units:
        if not (unit.asked or unit.told):
            values.update(unit.values)
            lines.update(unit.lines)
    return values, lines


def elsewhere(found: Iterable[str], all_of_it: Counter[str], here: Counter[str]) -> frozenset[str]:
    """What stands in more units than here."""
    return frozenset(each for each in found if all_of_it[each] > here[each])
