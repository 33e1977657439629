"""From what is held to what is sent, with the proof that it may be.

Promise: the certificate is of exactly the pieces beside it; both cost what is new in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.messages.message import HostFormat
from autogen_context.messages.piece import Piece
from autogen_context.messages.roles import RoleRules
from autogen_context.session.assemble import (
    Certificate,
    Certifier,
    ends_with,
    holds_some,
    holds_verbatim,
)
from autogen_context.session.conversation import Conversation
from autogen_context.session.front import Front
from autogen_context.session.held import Held
from autogen_context.session.outbox import Outbox
from autogen_context.session.rules import Fixed
from autogen_context.session.window import Window
from autogen_context.tokens.message_counter import MessageCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent, and what holds for it.

    Attributes:
        pieces: what is sent.
        certificate: what holds for it.
    """

    pieces: tuple[Piece, ...]
    certificate: Certificate


class Sender:
    """Writes and certifies the requests of one conversation.

    Args:
        host: writes messages.
        counter: counts them.
        window: what a request may have.
        roles: what the model insists on.
    """

    def __init__(
        self, host: HostFormat, *, counter: MessageCounter, window: Window, roles: RoleRules
    ) -> None:
        self._outbox = Outbox(host)
        self._counter = counter
        self._window = window
        self._roles = roles
        self._certifier = Certifier(counter.message)

    def forget(self) -> None:
        """Check everything next time: the messages under the same positions may be others."""
        self._certifier.forget()

    def request(
        self,
        held: Held,
        conversation: Conversation,
        *,
        front: Front,
        fixed: Fixed,
        pinned: frozenset[int],
        rewrites: int,
    ) -> Request:
        """What is sent for what is held.

        Args:
            held: the decisions in force.
            conversation: what they are on.
            front: what stands behind the system prompt.
            fixed: what the request has beside messages.
            pinned: positions of pinned messages.
            rewrites: how often what was sent before was not continued.
        """
        sent = held.pieces
        pieces = self._roles.apply(front.before(sent), conversation.messages)
        checked = self._certifier.check(pieces, conversation.messages)
        tokens, overheads = checked.tokens + fixed.tokens, self._counter.overheads
        assumed = overheads.assumed(calls=checked.calls, results=checked.results)
        certificate = Certificate(
            limit_tokens=self._window.limit_tokens,
            bound=self._window.bound(tokens, rewrites),
            counted_tokens=tokens,
            pairs_closed=not checked.orphans,
            pins_present=holds_verbatim(sent, pinned),
            newest_present=ends_with(sent, len(conversation.messages) - 1),
            instruction_present=holds_some(sent, conversation.latest_instruction),
            orphans=conversation.orphans,
            assumed_tokens=fixed.assumed + assumed,
            rewrites=rewrites,
        )
        return Request(pieces=pieces, certificate=certificate)

    def payloads(
        self, request: Request, payloads: Sequence[object], *, edition: int
    ) -> list[object]:
        """The list to send, of the host's kind; the edition is that of its list."""
        return self._outbox.payloads(request.pieces, payloads, edition=edition)
