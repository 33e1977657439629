"""Decisions as JSON data, and back.

Promise: what is read equals what was written; decisions that do not follow each other, or send what is not their own, are
refused.
"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import cast, get_args

from autogen_context.messages.message_json import dump_message, load_message
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.messages.record import Record
from autogen_context.view.decision import Action, Decision


def checked(decisions: Iterable[Decision], *, known: int) -> tuple[Decision, ...]:
    """The decisions of one list of messages.

    Args:
        decisions: as they were read.
        known: how many messages there are.

    Raises:
        ValueError: they do not cover its front without a gap; says where.
    """
    found, stop = tuple(decisions), 0
    for decision in found:
        check_decision(decision, after=stop)
        stop = decision.stop
    if stop > known:
        raise ValueError(f"{stop} messages are decided and {known} are known")
    return found


def check_decision(decision: Decision, *, after: int) -> None:
    """Refuse a decision that does not follow the one before, or sends what is not its own.

    Raises:
        ValueError: says which.
    """
    if decision.start != after or decision.stop <= after:
        raise ValueError(f"decision on {decision.start} to {decision.stop} after {after}")
    for piece in decision.pieces:
        first = piece.start if isinstance(piece, Verbatim) else piece.index
        last = piece.stop - 1 if isinstance(piece, Verbatim) else piece.index
        if first is not None and last is not None and not after <= first <= last < decision.stop:
            raise ValueError(f"a piece with {first} to {last} in the decision on {after}")


def dump_decision(decision: Decision) -> dict[str, object]:
    """A decision as JSON data."""
    fields = asdict(decision)
    pieces = [dump_piece(piece) for piece in decision.pieces]
    return {**fields, "pieces": pieces, "before": [dump_piece(p) for p in decision.before]}


def load_decision(data: Record) -> Decision:
    """A decision from JSON data."""
    action = data.text("action")
    if action not in get_args(Action):
        raise ValueError(f"no such action: {action}")
    return Decision(
        start=data.whole("start"),
        stop=data.whole("stop"),
        action=cast("Action", action),  # checked above
        reason=data.text("reason"),
        tokens_before=data.whole("tokens_before"),
        tokens_after=data.whole("tokens_after"),
        pieces=tuple(map(load_piece, data.records("pieces"))),
        handle=data.text("handle"),
        before=tuple(map(load_piece, data.records("before"))),
    )


def dump_piece(piece: Piece) -> dict[str, object]:
    """A piece as JSON data."""
    if isinstance(piece, Verbatim):
        return {"start": piece.start, "stop": piece.stop}
    index = {} if piece.index is None else {"index": piece.index}
    return {**index, "message": dump_message(piece.message)}


def load_piece(data: Record) -> Piece:
    """A piece from JSON data."""
    if "message" not in data:
        return Verbatim(start=data.whole("start"), stop=data.whole("stop"))
    message = load_message(data.record("message"))
    return Written(message=message, index=data.whole("index") if "index" in data else None)
