"""What is told in the place of units that are left out: what was stated, what a model made of them, what was done.

Promise: it fits its room; statements go last. It is made of the units themselves, never of an earlier notice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.compressor.action_log import action_log
from autogen_context.compressor.shorten import CountText
from autogen_context.ledger import Entry
from autogen_context.ledger.rendering import render
from autogen_context.prioritizer.references import UnitText

STATED_FRACTION = 0.5  # of the room, for statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarised:
    """What a model made of some units that are left out.

    Attributes:
        text: the summary, without what was overruled since.
        units: the units.
    """

    text: str
    units: Sequence[UnitText]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What is to be told.

    Attributes:
        statements: what was stated out of sight and holds.
        summaries: what a model made of stretches of units, oldest first.
        units: the units of which there is no summary, oldest first, with what their calls do.
    """

    statements: Sequence[Entry] = ()
    summaries: Sequence[Summarised] = ()
    units: Sequence[UnitText] = ()


def notice_of(left_out: LeftOut, *, room_tokens: int, count: CountText) -> str:
    """What is to be known of units that are left out: statements, the newest summaries that have room, an action log.

    Args:
        left_out: what there is to tell.
        room_tokens: what may be said, in tokens.
        count: tokens of a text.
    """
    room = int(room_tokens * STATED_FRACTION)
    stated = render(left_out.statements, room_tokens=room, count=count).text
    room_tokens -= count(stated) + 1
    units, summed = list(left_out.units), list[str]()
    for summary in reversed(left_out.summaries):
        tokens = count(summary.text) + 1
        if summary.text and tokens <= room_tokens:
            summed.insert(0, summary.text)
            room_tokens -= tokens
        else:
            units += summary.units
    units.sort(key=lambda each: each.unit.start)
    done = action_log(units, room_tokens=room_tokens, count=count)
    return "\n\n".join(part for part in (stated, *summed, done) if part)
