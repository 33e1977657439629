"""How full a compaction leaves a room.

Promise: a share between 0 and 1, the same for the same room.
"""

import math

from autogen_context.session.rules import Rules

SMALL_ROOM = 8_000  # tokens; the shares below were measured on windows of 3,000 to 80,000
SMALL_SHARE = 0.36  # of the room beside what must stay, in a room as small or smaller
SHARE_STEP = 0.16  # more for each doubling of the room
LARGE_SHARE = 0.52  # at most


def low_share(rules: Rules, room_tokens: int) -> float:
    """What a compaction fills of the room beside what must stay.

    A large room is left fuller, since it holds for more turns all the same.
    """
    if rules.compact_to_share is not None:
        return rules.compact_to_share
    doublings = math.log2(max(1, room_tokens) / SMALL_ROOM)
    share = min(LARGE_SHARE, max(SMALL_SHARE, SMALL_SHARE + SHARE_STEP * doublings))
    return share * rules.compact_at_share
