"""What a turn returns.

Promise: a value; changing its list changes nothing that the manager keeps.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from autogen_context.triggers.price import CostEstimate
from autogen_context.view.certificate import Certificate
from autogen_context.view.decision import Decision

if TYPE_CHECKING:  # loaded for who looks for what is finished
    from autogen_context.triggers.finished import FinishedEstimate

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True, kw_only=True)
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
    decisions: tuple[Decision, ...]
    compacted: bool
    cost_estimate: CostEstimate | None = field(default=None, compare=False)
    finished: "FinishedEstimate | None" = field(default=None, compare=False)
