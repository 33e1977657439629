"""Certificates: checks on a prepared message list.

Promise: a certificate is computed from the messages that are sent, not from the plan that chose them.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from autogen_context.messages.message import Message, ToolCall
from autogen_context.messages.piece import Piece, Verbatim
from autogen_context.messages.segment import OpenCalls
from autogen_context.tokens.measure import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Checked properties of a prepared message list.

    Attributes:
        limit_tokens: maximum input tokens of the request: the window minus the reserve.
        bound: upper bound on the input tokens, with the source of that number.
        counted_tokens: input tokens before calibration: messages, tool schemas and the format's overhead.
        assumed_tokens: part of ``counted_tokens`` that is not text but assumed for the format and for tools.
        fixed_tokens: part of ``counted_tokens`` outside messages: tool schemas and overhead per request.
        rewrites: number of times the sent prefix was not continued: compactions, and changes of the host's past.
        pairs_closed: every result has its call, and every call has its result, except pending calls at the end.
        pins_present: every pinned message of the history is included unchanged.
        newest_present: the newest message is included, whole or shortened.
        instruction_present: the latest instruction is included, whole or shortened.
        orphans: positions in the host's list of units that arrived with a call or a result missing.
        partly_read: positions in the host's list of messages that are longer than a stage reads (``text.work``): they are kept,
            counted and recalled as any other, but statements, names and blocks are looked for at their ends.
    """

    limit_tokens: int
    bound: Count
    counted_tokens: int
    pairs_closed: bool
    pins_present: bool
    newest_present: bool
    instruction_present: bool = True
    orphans: tuple[int, ...] = ()
    partly_read: tuple[int, ...] = ()
    assumed_tokens: int = 0
    fixed_tokens: int = 0
    rewrites: int = 0

    @property
    def fits(self) -> bool:
        """True if the bound is within the limit and the latest instruction is included."""
        return self.bound.tokens <= self.limit_tokens and self.instruction_present


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Running totals of a check, which ``after`` continues with more messages."""

    tokens: int = 0
    calls: int = 0
    results: int = 0
    orphans: int = 0
    open_calls: tuple[ToolCall, ...] = ()

    def after(self, messages: Iterable[Message], count: Callable[[Message], int]) -> "Checked":
        """Return the totals with ``messages`` added."""
        tokens, calls, results = self.tokens, self.calls, self.results
        orphans, waiting = self.orphans, OpenCalls(self.open_calls)
        for message in messages:
            tokens += count(message)
            calls += len(message.calls)
            results += len(message.results)
            for result in message.results:
                call = waiting.answered(result)
                orphans += call is None or call.id != result.call_id
            if not message.results and (message.calls or waiting.left):
                orphans += len(waiting.left)
                waiting = OpenCalls(message.calls)
        return Checked(
            tokens=tokens,
            calls=calls,
            results=results,
            orphans=orphans,
            open_calls=tuple(waiting.left.values()),
        )


def holds_some(pieces: Sequence[Piece], positions: range) -> bool:
    """Return True if a host message at these positions is sent, whole or shortened, or if there are no positions."""
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
    """Return True if the host's messages at these positions are all sent unchanged."""
    stretches = [range(p.start, p.stop) for p in pieces if isinstance(p, Verbatim)]
    return all(any(position in stretch for stretch in stretches) for position in positions)
