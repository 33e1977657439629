"""Conversations whose blocks are scored."""

from collections.abc import Iterable, Sequence

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.prioritizer.prioritizer import FOCUS_UNITS, BlockAt, Need, ValueScores
from autogen_context.prioritizer.record import ConversationRecord
from autogen_context.prioritizer.references import References
from autogen_context.view.index import ConversationIndex
from support.units import candidates_of


def scores_of(messages: Sequence[Message], room: int = 10_000) -> ValueScores:
    """The scores of the blocks of a conversation."""
    return ValueScores(record_of(messages), Need(room_tokens=room), {})


def record_of(messages: Sequence[Message]) -> ConversationRecord:
    """A conversation as a prioritizer is given it, all of whose units are under consideration."""
    return ConversationRecord(references_of(messages))


def references_of(messages: Sequence[Message]) -> References:
    """The values of a conversation."""
    references = References()
    ConversationIndex(candidates_of(messages)).follow(references.superseded, references)
    references.cut(range(len(references.units)))
    return references


def blocks_in(messages: Sequence[Message]) -> list[BlockAt]:
    """All blocks of a conversation."""
    return [
        BlockAt(unit, text, block)
        for unit, content in enumerate(references_of(messages).units)
        for text, cut in enumerate(content.texts)
        for block in range(len(cut.blocks))
    ]


def says(text: str) -> Message:
    """A message of a model."""
    return Message(role="assistant", text=text)


def asks(text: str) -> Message:
    """A message of a person."""
    return Message(role="user", text=text)


def returns(text: str, *, arguments: str = "{}", name: str = "f") -> list[Message]:
    """A call with its result."""
    call = ToolCall(id="1", name=name, arguments=arguments)
    result = ToolResult(call_id="1", text=text)
    return [Message(role="assistant", calls=(call,)), Message(role="tool", results=(result,))]


def steps(texts: Iterable[str]) -> list[Message]:
    """Calls with these results."""
    return [message for text in texts for message in returns(text)]


PAUSE = [says("well")] * FOCUS_UNITS
