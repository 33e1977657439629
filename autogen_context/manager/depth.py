"""How full a compaction leaves a room.

Promise: a share between 0 and 1, the same for the same room.
"""

import math
from typing import Literal

from autogen_context.manager.rules import Rules

SMALL_ROOM = 8_000  # tokens; the shares below were measured on windows of 3,000 to 80,000
SMALL_FRACTION = 0.36  # of the room beside what must stay, in a room as small or smaller
SHARE_STEP = 0.16  # more for each doubling of the room
LARGE_FRACTION = 0.52  # at most
LONG_TALK = 100  # messages; a profile gives a longer talk no more


def low_fraction(rules: Rules, room_tokens: int) -> float:
    """What a compaction fills of the room beside what must stay.

    A large room is left fuller, since it holds for more turns all the same; a profile with a table says it itself.
    """
    if rules.compact_to_fraction is not None:
        return rules.compact_to_fraction
    if rules.table is not None:
        return share_of_table(rules.table, room_tokens) * rules.compact_at_fraction
    doublings = math.log2(max(1, room_tokens) / SMALL_ROOM)
    share = min(LARGE_FRACTION, max(SMALL_FRACTION, SMALL_FRACTION + SHARE_STEP * doublings))
    return share * rules.compact_at_fraction


def share_of_table(profile: Literal["conservative", "strict"], room_tokens: int) -> float:
    """What the profile's table fills where nobody asks for the past."""
    from autogen_context.budget.aim import aim_of  # noqa: PLC0415 - for who has one
    from autogen_context.budget.allocate import TokenBudgetManager  # noqa: PLC0415 - as above
    from autogen_context.budget.task import TaskDefinition  # noqa: PLC0415 - as above

    manager = TokenBudgetManager(total_tokens=max(1, room_tokens), profile=profile)
    budget = manager.allocate(TaskDefinition(text=""), messages=LONG_TALK)
    return aim_of(budget.allocations, limit_tokens=room_tokens, asks=False).target_fraction
