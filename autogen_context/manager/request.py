"""From a view to what is sent, with the proof that it may be.

Promise: the certificate is of exactly the pieces beside it; both cost what is new in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.manager.outbox import Outbox
from autogen_context.manager.window import Fixed, Window
from autogen_context.messages.message import HostFormat
from autogen_context.messages.piece import Piece, RoleRules, Verbatim, Written, coalesce
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.certificate import (
    Certificate,
    Certifier,
    ends_with,
    holds_some,
    holds_verbatim,
)
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Decision
from autogen_context.view.decisions import Decisions
from autogen_context.view.preamble import as_message, placed
from autogen_context.view.view import ContextView


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent, and what holds for it.

    Attributes:
        pieces: what is sent.
        certificate: what holds for it.
    """

    pieces: tuple[Piece, ...]
    certificate: Certificate


class RequestWriter:
    """Writes and certifies the requests of one conversation; what it remembers can be made again from a view."""

    def __init__(self, host: HostFormat, *, counter: MessageCounter, roles: RoleRules) -> None:
        self._outbox = Outbox(host)
        self._counter = counter
        self._roles = roles
        self._certifier = Certifier(counter.message)
        self._decided = Decisions()
        self._settled: list[Piece] = []  # what is sent of all units but the newest
        self._preamble = Written(message=as_message(""))

    def forget(self) -> None:
        """Check everything next time: the messages under the same positions may be others."""
        self._certifier.forget()

    def pieces(self, decisions: Decisions) -> tuple[Piece, ...]:
        """What is sent of the units, neighbouring stretches joined."""
        if decisions.continues(self._decided):
            for decision in decisions[max(0, len(self._decided) - 1) : max(0, len(decisions) - 1)]:
                self._settle(decision)
        else:
            self._settled = []
            for i in decisions.live[:-1]:
                self._settle(decisions[i])
        self._decided = decisions
        last = decisions.last.sent if decisions.last else ()
        return (*self._settled[:-1], *coalesce([*self._settled[-1:], *last]))

    def request(
        self,
        view: ContextView,
        conversation: Conversation,
        *,
        window: Window,
        fixed: Fixed,
        pinned: frozenset[int],
    ) -> Request:
        """What is sent for a view."""
        sent = self.pieces(view.decisions)
        pieces = self._with_preamble(sent, view.preamble.text, conversation)
        pieces = self._roles.apply(pieces, conversation.messages)
        checked = self._certifier.check(pieces, conversation.messages)
        tokens, overheads = checked.tokens + fixed.tokens, self._counter.overheads
        assumed = overheads.assumed(calls=checked.calls, results=checked.results)
        certificate = Certificate(
            limit_tokens=window.limit_tokens,
            bound=window.bound(view.calibration, tokens, view.rewrites),
            counted_tokens=tokens,
            pairs_closed=not checked.orphans,
            pins_present=holds_verbatim(sent, pinned),
            newest_present=ends_with(sent, len(conversation.messages) - 1),
            instruction_present=holds_some(sent, conversation.latest_instruction),
            orphans=conversation.orphans,
            assumed_tokens=fixed.assumed + assumed,
            rewrites=view.rewrites,
        )
        return Request(pieces=pieces, certificate=certificate)

    def payloads(
        self, request: Request, payloads: Sequence[object], *, edition: int
    ) -> list[object]:
        """The list to send, of the host's kind; the edition is that of its list."""
        return self._outbox.payloads(request.pieces, payloads, edition=edition)

    def _settle(self, decision: Decision) -> None:
        """Put its pieces behind those that will not change any more."""
        last = self._settled[-1] if self._settled else None
        untouched = decision.action == "keep" and not decision.before
        if untouched and isinstance(last, Verbatim) and last.stop == decision.start:
            self._settled[-1] = Verbatim(start=last.start, stop=decision.stop)
        else:
            self._settled[-1:] = coalesce([*self._settled[-1:], *decision.sent])

    def _with_preamble(
        self, pieces: tuple[Piece, ...], text: str, conversation: Conversation
    ) -> tuple[Piece, ...]:
        at = conversation.system_messages
        if not text or at == len(conversation.messages):
            return pieces
        if text != self._preamble.message.text:  # the same object goes out as it went out before
            self._preamble = Written(message=as_message(text))
        return placed(pieces, self._preamble, at=at)
