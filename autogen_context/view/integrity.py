"""Check that a view of a conversation is whole.

Promise: nothing is repaired and nothing is changed; each fault is said in words.
"""

from collections.abc import Iterator, Sequence

from autogen_context.messages.piece import Piece, Verbatim, messages_of
from autogen_context.view.certificate import Checked
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Decision
from autogen_context.view.notices import Notices
from autogen_context.view.view import ContextView


def faults_of(view: ContextView, conversation: Conversation, *, open_pairs: bool) -> Iterator[str]:
    """What is wrong, in words."""
    yield from faults_of_notices(view.notices)
    stop = 0
    for decision in view.decisions:
        yield from faults_of_unit(decision, after=stop)
        stop = decision.stop
    if stop > len(conversation.messages):
        yield f"{stop} messages are decided, and there are {len(conversation.messages)}"
        return
    sent = [m for d in view.decisions for m in messages_of(d.sent, conversation.messages)]
    checked = Checked().after(sent, lambda _: 0)
    if checked.orphans and not open_pairs:
        yield f"{checked.orphans} calls or results are sent without their counterpart"
    tokens = sum(decision.tokens_after for decision in view.decisions)
    if tokens != view.tokens:
        yield f"the units have {tokens} tokens, and {view.tokens} are counted"


def faults_of_unit(decision: Decision, *, after: int) -> Iterator[str]:
    """What is wrong with a decision: its place, or what it sends."""
    if decision.start != after or decision.stop <= decision.start:
        yield f"the unit at {decision.start} to {decision.stop} stands behind {after}"
    sent = positions_of(decision.pieces)
    if len(set(sent)) < len(sent):
        yield f"the unit at {decision.start} sends a message twice"
    if sent != sorted(sent):
        yield f"the unit at {decision.start} sends its messages out of order"
    if any(not decision.start <= position < decision.stop for position in sent):
        yield f"the unit at {decision.start} sends messages of others"


def faults_of_notices(notices: Notices) -> Iterator[str]:
    """What is wrong with what is told: two of one name."""
    for told in (notices.standing, notices.due):
        names = [notice.name for notice in told]
        if len(set(names)) < len(names):
            yield "two notices are about the same"


def positions_of(pieces: Sequence[Piece]) -> list[int]:
    """The host's messages that pieces send, by position."""
    positions: list[int] = []
    for piece in pieces:
        if isinstance(piece, Verbatim):
            positions += range(piece.start, piece.stop)
        elif piece.index is not None:
            positions.append(piece.index)
    return positions
