"""What a turn returns.

Promise: a value; changing its list changes nothing that the manager keeps.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from autogen_context.session.assemble import Certificate
from autogen_context.session.finished_verdict import FinishedVerdict
from autogen_context.triggers.price.verdict import Verdict
from autogen_context.view.decision import Decision

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Generic[Payload]):
    """A list to send, with its proof.

    Attributes:
        messages: what to send: the caller's own objects where nothing was changed.
        certificate: what holds for it.
        decisions: what became of each unit of the history, oldest first.
        compacted: whether the history was cut in this turn.
        verdict: whether a rewrite is worth its price in this turn, with the numbers that say so, acted upon or not;
            ``None`` where nothing is kept. Lists are equal whatever their verdicts.
        finished: what would be cut of what is finished, and whether that pays, with ``rewrite="priced"`` or ``shadow``;
            ``None`` where nothing new was found to be finished, or cutting it would bring in less than it costs.
    """

    messages: list[Payload]
    certificate: Certificate
    decisions: tuple[Decision, ...]
    compacted: bool
    verdict: Verdict | None = field(default=None, compare=False)
    finished: FinishedVerdict | None = field(default=None, compare=False)
