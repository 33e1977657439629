"""What a turn returns.

Promise: a value; changing its list changes nothing that the manager keeps.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from autogen_context.pipeline.assemble import Certificate
from autogen_context.pipeline.decision import Decision

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(Generic[Payload]):
    """A list to send, with its proof.

    Attributes:
        messages: what to send: the caller's own objects where nothing was changed.
        certificate: what holds for it.
        decisions: what became of each unit of the history, oldest first.
        compacted: whether the history was cut in this turn.
    """

    messages: list[Payload]
    certificate: Certificate
    decisions: tuple[Decision, ...]
    compacted: bool
