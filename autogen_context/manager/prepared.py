"""What a turn returns.

Promise: a value; changing its list changes nothing that the manager keeps.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from autogen_context.manager.request import Fixed, Window
from autogen_context.messages.message import HostFormat, Message
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.triggers.price import CostEstimate
from autogen_context.view.certificate import Certificate, Checked
from autogen_context.view.decision import Decision

if TYPE_CHECKING:  # loaded for who looks for what is finished
    from autogen_context.triggers.price import FinishedEstimate

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Prepared(Generic[Payload]):
    """A list to send, with its proof.

    Attributes:
        messages: what to send: the caller's own objects where nothing was changed.
        certificate: what holds for it.
        decisions: what became of each unit of the history, oldest first.
        compacted: whether the history was cut in this turn.
        cost_estimate: whether a rewrite is worth its price in this turn, with the numbers that say so, acted upon or not;
            ``None`` where nothing is kept. Lists are equal whatever their estimates.
        finished: what would be cut of what is finished, and whether that pays, where ``compaction`` is cost-based or with
            ``dry_run``; ``None`` where nothing new was found to be finished, or cutting it would bring in less than it costs.
    """

    messages: list[Payload]
    certificate: Certificate
    decisions: Sequence[Decision]
    compacted: bool
    cost_estimate: CostEstimate | None = field(default=None, compare=False)
    finished: "FinishedEstimate | None" = field(default=None, compare=False)


def untouched(
    payloads: Sequence[Payload],
    *,
    host: HostFormat,
    counter: MessageCounter,
    window: Window,
    fixed: Fixed,
) -> Prepared[Payload]:
    """The list as it came, measured as far as it can be read; no message is changed, left out or refused."""
    readable: list[Message] = []
    for payload in payloads:
        with suppress(ValueError, RecursionError):
            readable.append(host.read(payload))
    checked = Checked().after(readable, counter.message)
    tokens = checked.tokens + fixed.tokens
    certificate = Certificate(
        limit_tokens=window.limit_tokens,
        bound=window.bound(counter.calibration, tokens, 0),
        counted_tokens=tokens,
        pairs_closed=not checked.orphans,
        pins_present=True,
        newest_present=True,
    )
    return Prepared(messages=list(payloads), certificate=certificate, decisions=(), compacted=False)
