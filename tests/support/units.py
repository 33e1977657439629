"""Transcripts as the plan sees them: read, cut into units, repaired, and measured by four characters a token."""

from collections.abc import Sequence

from autogen_context.compressor.shorten import fit_pieces
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.origin import resolved
from autogen_context.messages.piece import Piece, Written, messages_of
from autogen_context.messages.segment import Unit, repaired, segment
from autogen_context.testing import ChatMessage
from autogen_context.view.decision import Candidate
from autogen_context.view.index import ConversationIndex, Overview
from support.counting import COUNTER


def asks(*ids: str) -> Message:
    """A message that calls, an id each."""
    return Message(role="assistant", calls=tuple(ToolCall(id=i, name=f"f_{i}", arguments="{}") for i in ids))  # fmt: skip


def tells(*ids: str, text: str = "") -> Message:
    """A message with a result for each id."""
    return Message(role="tool", results=tuple(ToolResult(call_id=i, text=f"of {i}") for i in ids), text=text)  # fmt: skip


def read_all(payloads: Sequence[ChatMessage]) -> list[Message]:
    """The messages that can be read: those that have a role."""
    return [OpenAIChat().read(payload) for payload in payloads if payload.get("role")]


def candidates_of(messages: Sequence[Message]) -> list[Candidate]:
    """The units of a transcript with their cost, each message with its origin."""
    known = messages if all(message.origin for message in messages) else list(resolved(messages))
    units = segment(known)
    return [candidate(unit, known, last=unit is units[-1]) for unit in units]


def candidate(unit: Unit, messages: Sequence[Message], *, last: bool) -> Candidate:
    """A unit with its cost."""
    pieces = repaired(unit, last=last)
    tokens = sum(map(COUNTER.message, messages_of(pieces, messages)))
    is_broken = any(isinstance(piece, Written) for piece in pieces)
    return Candidate(unit=unit, repairs=pieces if is_broken else (), tokens=tokens)


def overview_of(candidates: Sequence[Candidate]) -> Overview:
    """Who says something where in n units."""
    overview = Overview()
    ConversationIndex(candidates).follow(overview)
    return overview


def fit(candidate: Candidate, room: int) -> tuple[tuple[Piece, ...], int] | None:
    """Shortens as a session does."""
    unit = candidate.unit
    pending = bool(unit.unanswered)
    return fit_pieces(
        candidate.pieces, unit.messages, room_tokens=room, counter=COUNTER, keep_calls=pending
    )
