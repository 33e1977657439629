"""Check that a view of a conversation is whole.

Promise: nothing is repaired and nothing is changed; each fault is said in words.
"""

from collections.abc import Iterable, Iterator, Sequence

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Verbatim, messages_of
from autogen_context.view.certificate import Checked
from autogen_context.view.decision import Decision
from autogen_context.view.view import ContextView


def faults_of(view: ContextView, messages: Sequence[Message], *, open_pairs: bool) -> Iterator[str]:
    """What is wrong, in words."""
    if not view.notices.is_sound:
        yield "two notices are about the same"
    yield from faults_of_decisions(view.decisions, known=len(messages))
    if view.decisions.stop > len(messages):
        return
    sent = [m for d in view.decisions for m in messages_of(d.sent, messages)]
    checked = Checked().after(sent, lambda _: 0)
    if checked.orphans and not open_pairs:
        yield f"{checked.orphans} calls or results are sent without their counterpart"
    tokens = sum(decision.tokens_after for decision in view.decisions)
    if tokens != view.tokens:
        yield f"the units have {tokens} tokens, and {view.tokens} are counted"


def faults_of_decisions(decisions: Iterable[Decision], *, known: int) -> Iterator[str]:
    """Where decisions do not cover the front of ``known`` messages in order, or send what is not their own, or twice."""
    stop = 0
    for decision in decisions:
        if decision.start != stop or decision.stop <= stop:
            yield f"the unit at {decision.start} to {decision.stop} stands behind {stop}"
        next_position = decision.start
        for piece in decision.pieces:
            if isinstance(piece, Verbatim):
                first, behind = piece.start, piece.stop
            elif piece.index is not None:
                first, behind = piece.index, piece.index + 1
            else:
                continue
            if not next_position <= first < behind <= decision.stop:
                yield f"the unit at {decision.start} sends a message of others, twice, or out of order"
            next_position = behind
        stop = decision.stop
    if stop > known:
        yield f"{stop} messages are decided, and there are {known}"
