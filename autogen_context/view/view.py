"""ContextView: how a conversation is sent, as one value.

Promise: immutable. A turn makes a new one that shares what it has with the one before; a version is an old one, a branch is
the same one, a refused change leaves the one before, and a saved state is it in JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from pydantic import BeforeValidator, PlainSerializer

from autogen_context.messages.piece import Piece
from autogen_context.tokens.calibrate import Calibration
from autogen_context.view.decision import Decision
from autogen_context.view.decisions import Decisions
from autogen_context.view.notices import Notices
from autogen_context.view.pace import Pace
from autogen_context.view.preamble import Preamble


def from_hex(value: object) -> bytes:
    """Bytes from their hexadecimal digits."""
    if not isinstance(value, str):
        raise ValueError("Input should be hexadecimal digits")  # noqa: TRY004 - pydantic collects ValueErrors
    return bytes.fromhex(value)


def in_order(digests: frozenset[bytes]) -> list[str]:
    """The same set gives the same data."""
    return sorted(digest.hex() for digest in digests)


Digest = Annotated[bytes, BeforeValidator(from_hex), PlainSerializer(bytes.hex)]
Digests = Annotated[frozenset[Digest], PlainSerializer(in_order)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the provider billed so far.

    Attributes:
        requests: bills recorded.
        prompt_tokens: input tokens of all requests.
        cached_tokens: of these, what the provider had cached.
    """

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0

    def after(self, *, prompt_tokens: int, cached_tokens: int) -> "Usage":
        """The usage with one more bill."""
        return Usage(
            requests=self.requests + 1,
            prompt_tokens=self.prompt_tokens + prompt_tokens,
            cached_tokens=self.cached_tokens + cached_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """How a conversation is sent.

    Attributes:
        decisions: what became of each unit.
        pins: digests of pinned messages.
        notices: what is told beside the messages.
        preamble: what stands behind the system prompt.
        sent: how many of the host's messages the last request had; what stands in front of those is not touched.
        rewrites: how often what was sent before was not continued: compactions, and changes of the host's past.
        must_replan: whether a pin or a change of the past asks for another choice at the next turn.
        pace: what the price of a rewrite is judged by.
        calibration: what the bills taught of the count.
        usage: what the provider billed in all.
    """

    decisions: Decisions = field(default_factory=Decisions)
    pins: Digests = frozenset()
    notices: Notices = field(default_factory=Notices)
    preamble: Preamble = field(default_factory=Preamble)
    sent: int = 0
    rewrites: int = 0
    must_replan: bool = False
    pace: Pace = field(default_factory=Pace)
    calibration: Calibration = field(default_factory=Calibration)
    usage: Usage = field(default_factory=Usage)

    @property
    def tokens(self) -> int:
        """What the units cost, as they are sent."""
        return self.decisions.tokens

    def pinned(self, digest: bytes) -> Self:
        """It with one more message that stays; it comes back if it was dropped."""
        return replace(self.changed(), pins=self.pins | {digest}, must_replan=True)

    def unpinned(self, digest: bytes) -> Self:
        """It with a pinned message that may go at the next compaction."""
        return replace(self.changed(), pins=self.pins - {digest})

    def changed(self) -> Self:
        """It where pins or the past have changed: a compaction that did not help may help now."""
        return replace(self, pace=replace(self.pace, changes=self.pace.changes + 1))

    def cut_back(self, messages: int) -> Self:
        """It where the host has another past from a message on."""
        decisions = self.decisions.until(messages)
        notices = self.notices
        if notices.standing or notices.due:
            notices = notices.cut_back(messages)
        return replace(
            self.changed(),
            decisions=decisions,
            notices=notices,
            must_replan=True,
            rewrites=self.rewrites + (messages < self.sent),  # what was read alone was not sent
            sent=min(self.sent, messages),
        )

    def rolled_back(self, past: "ContextView") -> Self:
        """It with decisions, notices and pins of a past one; nothing that was sent is continued."""
        return replace(
            self,
            decisions=past.decisions,
            pins=past.pins,
            notices=past.notices,
            must_replan=past.must_replan,
            sent=0,
            rewrites=self.rewrites + 1,
        )

    def with_before_last(self, piece: Piece, tokens: int) -> Self:
        """It with something in front of the newest unit, behind what stands there already, from now on."""
        last = self.decisions[-1]
        told = replace(last, before=(*last.before, piece), tokens_after=last.tokens_after + tokens)
        return replace(self, decisions=self.decisions.with_last(told))

    def with_decisions(self, decisions: Sequence[Decision]) -> Self:
        """It with other decisions on the same units."""
        return replace(self, decisions=Decisions(decisions))
