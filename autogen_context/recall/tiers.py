"""Which part of a conversation is in which tier of memory.

Promise: every message from the first that is no system message on is in exactly one tier, the newest in the first; no
exchange and no tool pair is parted.

``immediate``
    the last 3 exchanges, word for word.
``working``
    the 4th to the 10th newest exchange, of which ``selection`` says what stays.
``retrieved``
    what is older: it comes back on demand, through ``search``.

The fourth tier are the ``Facts``, which have no place in the list. Tiers are asked for at a compaction and shape the tail;
between compactions nothing slides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autogen_context.messages.openai_chat import messages_in
from autogen_context.recall.exchange import exchanges

Tier = Literal["immediate", "working", "retrieved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiers:
    """Positions by tier, from 0; one behind the other, the oldest first."""

    retrieved: range
    working: range
    immediate: range

    def tier_of(self, position: int) -> Tier | None:
        """The tier of a message, or of a unit by its first; ``None`` for the system messages that open the list."""
        if position in self.immediate:
            return "immediate"
        if position in self.working:
            return "working"
        return "retrieved" if position in self.retrieved else None


def tiers(
    messages: Sequence[object], *, immediate_exchanges: int = 3, working_exchanges: int = 7
) -> Tiers:
    """The tiers of a conversation as it stands now.

    Args:
        messages: the whole conversation, in OpenAI's format or as ``Message``.
        immediate_exchanges: how many of the newest stay word for word.
        working_exchanges: how many before these are in working memory.

    Raises:
        ValueError: a number is negative, or it is no list.
        BrokenTranscript: one is no message.
    """
    for name, number in (
        ("immediate_exchanges", immediate_exchanges),
        ("working_exchanges", working_exchanges),
    ):
        if number < 0:
            raise ValueError(f"{name} must be 0 or more, got {number}")
    said = list(messages_in(messages))
    borders = [exchange.start for exchange in exchanges(said)] + [len(said)]
    last = len(borders) - 1
    immediate = borders[max(0, last - immediate_exchanges)]
    working = borders[max(0, last - immediate_exchanges - working_exchanges)]
    return Tiers(
        retrieved=range(borders[0], working),
        working=range(working, immediate),
        immediate=range(immediate, len(said)),
    )
