"""ContextView: how a conversation is sent, as one value.

Promise: immutable. A turn makes a new one that shares what it has with the one before; a version is an old one, a branch is
the same one, a refused change leaves the one before, and a saved state is it in JSON.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from pydantic import BeforeValidator, PlainSerializer

from autogen_context.messages.message import Message, Text
from autogen_context.messages.piece import Piece, messages_of
from autogen_context.tokens.calibrate import Calibration
from autogen_context.view.certificate import Checked
from autogen_context.view.decision import Decisions, faults_of_decisions
from autogen_context.view.notice import Notices, PreambleOffer

HELPED_FRACTION = 0.5  # of what a rewrite promised; one that brought less did not help


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
class Situation:
    """What decides what a rewrite can do."""

    movable_tokens: int
    changes: int = 0
    limit_tokens: int = 0

    def is_like(self, other: "Situation") -> bool:
        """Whether nothing but what came in is different."""
        return (self.changes, self.limit_tokens) == (other.changes, other.limit_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A rewrite that was done, remembered so that one that did not help is not repeated."""

    situation: Situation
    promised_tokens: int
    saved_tokens: int

    @property
    def helped(self) -> bool:
        """Whether it saved a good part of what it promised."""
        least = HELPED_FRACTION * self.promised_tokens
        return self.saved_tokens > 0 and self.saved_tokens >= least

    def is_vain(self, now: Situation) -> bool:
        """Whether nothing has changed that would let it do better: pins, window, past, or as much new as was promised."""
        grown = now.movable_tokens - self.situation.movable_tokens
        is_same = now.is_like(self.situation) and grown < max(1, self.promised_tokens)
        return is_same and not self.helped


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What is remembered from turn to turn; the functions of ``triggers.price`` make the next one."""

    turns: int = 0
    waited_tokens: float = 0.0
    last_turn_s: float | None = None
    attempt: Attempt | None = None
    changes: int = 0
    seen_units: int = 0
    finished_waited_tokens: float = 0.0
    finished_saving_tokens: float = 0.0

    def is_vain(self, now: Situation) -> bool:
        """Whether the last rewrite did not help, and nothing has changed since."""
        return self.attempt is not None and self.attempt.is_vain(now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preamble:
    """What stands behind the system prompt, what is to stand there next, and whether that stands there or was told."""

    text: Text = ""
    offer: PreambleOffer = field(default_factory=PreambleOffer)
    is_placed: bool = False
    is_told: bool = False

    @property
    def is_offered(self) -> bool:
        """Whether there is an offer, or one that is to go: a folder that is gone has nothing to tell."""
        return bool(self.offer.parts or self.text)


def as_message(text: str) -> Message:
    """A text as the message that stands in front: the user's, since that role every chat template takes there."""
    return Message(role="user", text=text, own=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """How a conversation is sent."""

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


def faults_of(view: ContextView, messages: Sequence[Message], *, open_pairs: bool) -> Iterator[str]:
    """What is wrong with a view of n messages, in words; nothing is repaired."""
    if not view.notices.is_sound:
        yield "two notices are about the same"
    yield from faults_of_decisions(view.decisions, known=len(messages))
    if view.decisions.stop > len(messages):
        return
    sent = [m for d in view.decisions for m in messages_of(d.sent, messages)]
    checked = Checked().after(sent, lambda _: 0)
    if checked.orphans and not open_pairs:
        yield f"{checked.orphans} calls or results are sent without their counterpart"
    tokens = sum(decision.tokens_after for decision in view.decisions)
    if tokens != view.tokens:
        yield f"the units have {tokens} tokens, and {view.tokens} are counted"
