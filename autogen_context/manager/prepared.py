"""From a view to a request: its pieces, its certificate, and the list of payloads to send.

Promise: the certificate describes exactly its pieces. In a list that only grew, the checked prefix is not checked
again, and each rewritten message is written once.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from autogen_context.manager.room import Fixed, Window
from autogen_context.messages.message import HostFormat, Message, as_message
from autogen_context.messages.piece import (
    Piece,
    RoleRules,
    Verbatim,
    Written,
    coalesce,
    equal_prefix,
    index_of,
)
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Decision, Decisions
from autogen_context.view.invariants import Certificate, Checked, Sent, broken_in
from autogen_context.view.view import ContextView

if TYPE_CHECKING:
    from autogen_context.tokens.prices import CostEstimate
    from autogen_context.triggers.proposals import FinishedEstimate

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Prepared(Generic[Payload]):
    """The result of a turn.

    Attributes:
        messages: the list to send; unchanged messages are the caller's own objects.
        certificate: size and guarantees of the list.
        decisions: the decision on each unit of the history, oldest first.
        compacted: whether this turn compacted the history, or sent it whole again after a pin or a change of the past.
        cost_estimate: whether a compaction pays in this turn, with its numbers, acted upon or not; ``None`` with
            ``enabled=False``. It is not compared by ``==``.
        finished: the finished work that a cost-based compaction cuts or, with ``dry_run``, would cut, and its price;
            ``None`` if there is none that pays.
        moved: the parts of the system prompt that are sent behind what is stable, with ``volatile="behind"``.
        tools: the schemas to send, the caller's own objects, all of them unless some are deferred; ``find_tools`` is among them
            only then, with a description that names what there is. They stand in the order in which they first came.
        deferred_tools: names of the tools that are not sent, and that ``find_tools`` finds.
    """

    messages: list[Payload]
    certificate: Certificate
    decisions: Sequence[Decision]
    compacted: bool
    cost_estimate: "CostEstimate | None" = field(default=None, compare=False)
    finished: "FinishedEstimate | None" = field(default=None, compare=False)
    moved: tuple[str, ...] = ()
    tools: Sequence[Mapping[str, object]] = ()
    deferred_tools: tuple[str, ...] = ()


class CertifiedRequest(NamedTuple):
    """The pieces of a request and its certificate."""

    pieces: tuple[Piece, ...]
    certificate: Certificate


class Rewritten(NamedTuple):
    """What was sent for a rewritten message, and its copy, by which a change of the caller is noticed."""

    piece: Written
    payload: object
    snapshot: object


class RequestWriter:
    """Writes and certifies the requests of one conversation; what it keeps can be rebuilt from a view."""

    def __init__(self, host: HostFormat, *, counter: MessageCounter, roles: RoleRules) -> None:
        self._host = host
        self._counter = counter
        self._roles = roles
        self._decided = Decisions()
        self._final: list[Piece] = []  # pieces of all units but the newest
        self._preamble = self._record = self._moved = Written(message=as_message(""))
        self._written: dict[int, Rewritten] = {}  # by id of the piece
        self.forget()

    def forget(self) -> None:
        """Check everything next time, since messages at known positions may have changed."""
        self._pieces: tuple[Piece, ...] = ()  # of the last request
        self._checked: list[Checked] = []  # after each of them

    def replace_heads(self, last: int, more_tokens: int) -> None:
        """Go on after other leading system messages replaced those up to position ``last``; they have so many more tokens."""
        first = self._pieces[0] if self._pieces else None
        if isinstance(first, Verbatim) and first.start == 0 and last < first.stop:
            self._checked = [replace(c, tokens=c.tokens + more_tokens) for c in self._checked]
        else:
            self.forget()

    def pieces(self, decisions: Decisions) -> tuple[Piece, ...]:
        """Return the pieces of the units, adjacent ranges merged."""
        final = decisions.final_since(self._decided)
        if final is None:
            self._final, final = [], [decisions[i] for i in decisions.live[:-1]]
        for decision in final:
            self._final[-1:] = coalesce([*self._final[-1:], *decision.sent])
        self._decided = decisions
        last = decisions.last.sent if decisions.last else ()
        return (*self._final[:-1], *coalesce([*self._final[-1:], *last]))

    def request(
        self,
        view: ContextView,
        conversation: Conversation,
        *,
        window: Window,
        fixed: Fixed,
        pinned: frozenset[int],
    ) -> CertifiedRequest:
        """Return the request for a view."""
        sent, messages = self.pieces(view.decisions), conversation.messages
        pieces, text = sent, view.preamble.text
        at = max(view.preamble.at, conversation.system_messages) if text else 0
        if view.record.text and conversation.system_messages < len(messages):
            if view.record.text != self._record.message.text:
                self._record = Written(message=as_message(view.record.text))
            pieces = placed(pieces, self._record, at=conversation.system_messages)
        if text and at < len(messages):
            if text != self._preamble.message.text:  # an unchanged preamble stays the same object
                self._preamble = Written(message=as_message(text))
            pieces = placed(pieces, self._preamble, at=at)
        if moved := view.prompt.text_apart:
            if moved != self._moved.message.text:
                self._moved = Written(message=Message(role="system", text=moved, own=True))
            pieces = placed(pieces, self._moved, at=view.prompt.at)
        checked = self._check(self._roles.apply(pieces, messages), messages)
        tokens, overheads = checked.tokens + fixed.tokens, self._counter.overheads
        assumed = overheads.assumed(calls=checked.calls, results=checked.results)
        bound, limit = window.bound(view.calibration, tokens, view.rewrites), window.limit_tokens
        complete = Sent(
            bound_tokens=bound.tokens,
            limit_tokens=limit,
            checked=checked,
            pieces=sent,
            messages=len(messages),
            pinned=pinned,
            instruction=conversation.latest_instruction,
        )
        certificate = Certificate(
            limit_tokens=limit,
            bound=bound,
            counted_tokens=tokens,
            broken=broken_in(complete),
            orphans=conversation.overview.orphans,
            partly_read=conversation.overview.partly_read,
            assumed_tokens=fixed.assumed + assumed,
            fixed_tokens=fixed.tokens,
            tools=fixed.tools,
            rewrites=view.rewrites,
        )
        return CertifiedRequest(self._pieces, certificate)

    def _check(self, pieces: tuple[Piece, ...], messages: Sequence[Message]) -> Checked:
        """Check the messages of these pieces, from the first that the last request did not have."""
        same = equal_prefix(self._pieces, pieces)
        checked, rest = self._checked[same - 1] if same else Checked(), list(pieces[same:])
        old = self._pieces[same] if same < len(self._pieces) else None
        new = rest[0] if rest else None
        if (
            isinstance(new, Verbatim)
            and isinstance(old, Verbatim)
            and old.start == new.start
            and old.stop < new.stop
        ):  # a range that was extended
            checked, rest[0] = self._checked[same], Verbatim(start=old.stop, stop=new.stop)
        # The same objects as before, so that each is written once.
        self._pieces = (*self._pieces[:same], *pieces[same:])
        del self._checked[same:]
        for piece in rest:
            checked = checked.after([piece], messages, self._counter.message)
            self._checked.append(checked)
        return checked

    def payloads(self, pieces: Sequence[Piece], payloads: Sequence[object]) -> list[object]:
        """Return the list to send; unchanged messages are the caller's own objects, others are written once.

        One that the caller modified is written again.
        """
        sent: list[object] = []
        written: dict[int, Rewritten] = {}
        for piece in pieces:
            if isinstance(piece, Verbatim):
                sent += payloads[piece.start : piece.stop]
                continue
            known = self._written.get(id(piece))
            if known is None or not self._is_unchanged(known):
                payload = (
                    self._host.compose(piece.message)
                    if piece.index is None
                    else self._host.rewrite(payloads[piece.index], piece.message)
                )
                known = Rewritten(piece, payload, self._host.snapshot(payload))
            written[id(piece)] = known
            sent.append(known.payload)
        self._written = written
        return sent

    def _is_unchanged(self, sent: Rewritten) -> bool:
        payload, copy = sent.payload, sent.snapshot
        try:
            return payload == copy or self._host.snapshot(payload) == copy
        except (ValueError, RecursionError):  # the caller made it something that is no message
            return False


def placed(pieces: Sequence[Piece], preamble: Piece, *, at: int) -> tuple[Piece, ...]:
    """Insert a piece behind what is sent of the host's first ``at`` messages."""
    behind = 0
    for i, piece in enumerate(pieces):
        if isinstance(piece, Verbatim) and piece.start < at < piece.stop:
            before, rest = Verbatim(start=piece.start, stop=at), Verbatim(start=at, stop=piece.stop)
            return (*pieces[:i], before, preamble, rest, *pieces[i + 1 :])
        position = index_of(piece)
        if position is not None and position >= at:
            break
        behind = behind if position is None else i + 1
    return (*pieces[:behind], preamble, *pieces[behind:])


def untouched(
    payloads: Sequence[Payload],
    *,
    host: HostFormat,
    counter: MessageCounter,
    window: Window,
    fixed: Fixed,
    tools: Sequence[Mapping[str, object]],
) -> Prepared[Payload]:
    """Return the list unchanged, measured as far as it can be read; no message is refused."""
    readable: list[Message] = []
    for payload in payloads:
        with suppress(ValueError, RecursionError):
            readable.append(host.read(payload))
    checked = Checked().after([Verbatim(start=0, stop=len(readable))], readable, counter.message)
    tokens = checked.tokens + fixed.tokens
    certificate = Certificate(
        limit_tokens=window.limit_tokens,
        bound=window.bound(counter.calibration, tokens, 0),
        counted_tokens=tokens,
        broken=("pairs_closed",) if checked.orphans else (),
    )
    return Prepared(
        messages=list(payloads),
        certificate=certificate,
        decisions=(),
        compacted=False,
        tools=tools,
    )
