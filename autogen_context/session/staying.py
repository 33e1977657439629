"""Which units must stay, told from what was noted of them, without a look at each.

Promise: the units that ``floors_of`` names. A turn looks at the opening, at the newest unit and at the pinned ones.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile

from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.session.floors import is_instruction
from autogen_context.view.decision import Candidate


def staying(
    candidates: Sequence[Candidate], pinned: frozenset[int], tasks: Sequence[int]
) -> frozenset[int]:
    """Positions of the units that must stay.

    Args:
        candidates: n units.
        pinned: positions of pinned messages.
        tasks: the first and the last of those of the first n - 1 units in which a person says something.
    """
    newest = len(candidates) - 1
    if newest < 0:
        return frozenset()
    people = [*tasks, newest] if is_instruction(candidates, newest) else tasks
    kept = (newest, *people[:1], *people[-1:], *opening(candidates), *units_of(candidates, pinned))
    return frozenset(kept)


def opening(candidates: Sequence[Candidate]) -> Iterator[int]:
    """The system prompt."""
    roles = enumerate(candidate.unit.messages[0].role for candidate in candidates)
    return (i for i, _ in takewhile(lambda role: role[1] in SYSTEM_ROLES, roles))


def units_of(candidates: Sequence[Candidate], messages: frozenset[int]) -> Iterator[int]:
    """The units that have these messages; what stands behind the last unit is in none."""
    stop = candidates[-1].unit.stop
    inside = (message for message in messages if message < stop)
    return (bisect_right(candidates, m, key=lambda c: c.unit.start) - 1 for m in inside)
