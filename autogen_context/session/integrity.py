"""Check that what is held of a conversation is whole.

Promise: nothing is repaired and nothing is changed; each fault is said in words. What was checked at the front of a list
that only grew is not checked again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, Verbatim, messages_of
from autogen_context.messages.prefix import same_at_front
from autogen_context.session.assemble import Checked
from autogen_context.session.conversation import Conversation
from autogen_context.session.held import Held
from autogen_context.session.notices import Notices
from autogen_context.view.decision import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What the units so far have together.

    Attributes:
        stop: position after the last message.
        tokens: what they cost.
        hidden: how many are not, or not all, in sight.
        messages: how many messages are sent for them.
        checked: whether calls and results belong together.
    """

    stop: int = 0
    tokens: int = 0
    hidden: int = 0
    messages: int = 0
    checked: Checked = field(default_factory=Checked)


class Integrity:
    """Checks one conversation as it grows.

    Args:
        conversation: what there is.
        held: what is held of it.
        open_pairs: whether calls without results may be sent, as they came in.
    """

    def __init__(self, conversation: Conversation, held: Held, *, open_pairs: bool) -> None:
        self._conversation = conversation
        self._held = held
        self._open_pairs = open_pairs
        self._known: list[Decision] = []
        self._sums: list[Sum] = []

    def faults(self, notices: Notices) -> list[str]:
        """What is wrong, in words; nothing while a loaded state's messages were not read yet.

        Args:
            notices: what is told beside the messages.
        """
        if len(self._conversation.messages) < self._held.stop:
            return list(faults_of_notices(notices))
        same = same_at_front(self._known, self._held.decisions)
        del self._known[same:], self._sums[same:]
        for decision in self._held.decisions[same:]:
            last = self._sums[-1] if self._sums else Sum()
            faults = list(faults_of_unit(decision, after=last.stop))
            if faults:
                return faults
            self._known.append(decision)
            self._sums.append(self._after(last, decision))
        return [*self._faults_of_sums(), *faults_of_notices(notices)]

    def _after(self, last: Sum, decision: Decision) -> Sum:
        said = messages_of(decision.sent, self._conversation.messages)
        return Sum(
            stop=decision.stop,
            tokens=last.tokens + decision.tokens_after,
            hidden=last.hidden + decision.hides,
            messages=last.messages + len(said),
            checked=last.checked.after(said, uncounted),
        )

    def _faults_of_sums(self) -> Iterator[str]:
        """What is wrong with the whole."""
        held, there, found = self._held, self._conversation, self._sums[-1:] or [Sum()]
        whole = found[0]
        if whole.stop != len(there.messages):
            yield f"{whole.stop} of {len(there.messages)} messages are decided"
        if whole.checked.orphans and not self._open_pairs:
            yield f"{whole.checked.orphans} calls or results are sent without their counterpart"
        if (whole.tokens, whole.hidden) != (held.tokens, held.hidden):
            yield f"the units have {whole.tokens} tokens, and {held.tokens} are counted"
        tokens = sum(candidate.tokens for candidate in there.candidates)
        if tokens != there.tokens:
            yield f"the messages have {tokens} tokens, and {there.tokens} are counted"
        sent = sum(map(length_of, held.pieces))
        if sent != whole.messages:
            yield f"{sent} messages are sent for units that have {whole.messages}"


def faults_of_unit(decision: Decision, *, after: int) -> Iterator[str]:
    """What is wrong with a decision: its place, or what it sends.

    Args:
        decision: on a unit.
        after: where the unit before it ends.
    """
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


def length_of(piece: Piece) -> int:
    """How many messages a piece sends."""
    return piece.stop - piece.start if isinstance(piece, Verbatim) else 1


def uncounted(_message: Message) -> int:
    """Tokens are summed by unit."""
    return 0
