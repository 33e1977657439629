"""What would be cut of what is finished, and whether that is worth its price.

Promise: values only; they tell the same whether or not they are acted upon.
"""

from dataclasses import dataclass

from autogen_context.triggers.decision import TriggerKind
from autogen_context.triggers.price.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSpan:
    """A stretch of a conversation that is finished.

    Attributes:
        start: position of its first message in the host's list.
        stop: position behind its last message.
        kind: which trigger told that it is finished.
        confidence: that a developer would call that right, 0..1.
        saved_tokens: what would go of it, about; outcomes and what must stay are never among it.
    """

    start: int
    stop: int
    kind: TriggerKind
    confidence: float
    saved_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedVerdict:
    """Whether to cut what is finished, and what of it.

    Attributes:
        spans: the stretches that together bring in most, in the order of the conversation; one or more.
        verdict: whether cutting them is worth its price now, with the numbers that say so.
        is_done: whether they were cut in this turn.
    """

    spans: tuple[FinishedSpan, ...]
    verdict: Verdict
    is_done: bool
