"""Certify what is sent.

Promise: a certificate is computed from the messages that are sent, not from the plan that chose them.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from autogen_context.messages.message import Message, ToolCall
from autogen_context.messages.piece import Piece, Verbatim
from autogen_context.messages.segment import pair
from autogen_context.tokens.measure import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What holds for a prepared list.

    Attributes:
        limit_tokens: what the request may have as input: the window without the reserve.
        bound: an upper bound of what it has, and where that number comes from.
        counted_tokens: the same before calibration: messages, tools that were handed over, what the format adds.
        assumed_tokens: of these, what is no text but assumed of the format and of tools.
        fixed_tokens: of the counted ones, what is beside messages: tools that were handed over, what the format adds to each request.
        rewrites: how often what was sent before was not continued: compactions, and changes of the host's past.
        pairs_closed: no result without its call, and no call without its result but pending ones at the end.
        pins_present: every pinned message of the history is there as it came in.
        newest_present: the newest message is there, whole or shortened.
        instruction_present: the latest instruction is there, whole or shortened.
        orphans: positions in the host's list of units that came in with a call or a result missing.
    """

    limit_tokens: int
    bound: Count
    counted_tokens: int
    pairs_closed: bool
    pins_present: bool
    newest_present: bool
    instruction_present: bool = True
    orphans: tuple[int, ...] = ()
    assumed_tokens: int = 0
    fixed_tokens: int = 0
    rewrites: int = 0

    @property
    def fits(self) -> bool:
        """Whether the bound is within the limit, with the latest instruction in it."""
        return self.bound.tokens <= self.limit_tokens and self.instruction_present


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check found so far, to be continued with what follows."""

    tokens: int = 0
    calls: int = 0
    results: int = 0
    orphans: int = 0
    open_calls: tuple[ToolCall, ...] = ()

    def after(self, messages: Iterable[Message], count: Callable[[Message], int]) -> "Checked":
        """What the check has found after more messages."""
        tokens, calls, results = self.tokens, self.calls, self.results
        orphans, open_calls = self.orphans, self.open_calls
        for message in messages:
            tokens += count(message)
            calls += len(message.calls)
            results += len(message.results)
            if message.results:
                pairs, open_calls = pair(open_calls, message.results)
                orphans += sum(c is None or c.id != result.call_id for c, result in pairs)
            elif open_calls or message.calls:
                orphans += len(open_calls)
                open_calls = message.calls
        return Checked(
            tokens=tokens, calls=calls, results=results, orphans=orphans, open_calls=open_calls
        )


def holds_some(pieces: Sequence[Piece], positions: range) -> bool:
    """Whether one of the host's messages at these positions is sent, whole or shortened; true of no positions."""
    if not positions:
        return True
    for piece in reversed(pieces):
        if isinstance(piece, Verbatim):
            if piece.start < positions.stop and positions.start < piece.stop:
                return True
        elif piece.index is not None and piece.index in positions:
            return True
    return False


def holds_verbatim(pieces: Iterable[Piece], positions: Collection[int]) -> bool:
    """Whether the host's messages at these positions are sent as they are."""
    stretches = [range(p.start, p.stop) for p in pieces if isinstance(p, Verbatim)]
    return all(any(position in stretch for stretch in stretches) for position in positions)
