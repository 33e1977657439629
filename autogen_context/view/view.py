"""ContextView: the complete state of how a conversation is sent, as one value.

Promise: immutable. Each turn creates a new view that shares structure with the previous one. A version keeps an old view, a
branch starts from the same view, a rejected change leaves the view as it was, and a saved state is the view as JSON.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

from pydantic import BeforeValidator, PlainSerializer

from autogen_context.messages.message import Message, Text
from autogen_context.messages.piece import LINES_ABOVE, Piece, Written
from autogen_context.tokens.calibrate import Calibration
from autogen_context.view.alignment import HostChange
from autogen_context.view.decision import (
    Candidate,
    Decision,
    Decisions,
    Why,
    kept,
    moved,
)
from autogen_context.view.goal import WANTED_NOTHING, WantedBefore
from autogen_context.view.invariants import Checked, faults_of_decisions
from autogen_context.view.notice import Notices, PreambleOffer
from autogen_context.view.prompt import SplitPrompt
from autogen_context.view.statement import AbsentRules


def from_hex(value: object) -> bytes:
    """Parse hexadecimal digits."""
    if not isinstance(value, str):
        raise ValueError("Input should be hexadecimal digits")  # noqa: TRY004 - pydantic collects ValueErrors
    return bytes.fromhex(value)


def in_order(digests: frozenset[bytes]) -> list[str]:
    """Return the digests in hex, sorted, so that equal sets serialize equally."""
    return sorted(digest.hex() for digest in digests)


Digest = Annotated[bytes, BeforeValidator(from_hex), PlainSerializer(bytes.hex)]
Digests = Annotated[frozenset[Digest], PlainSerializer(in_order)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledUsage:
    """Token usage that the provider billed so far.

    Attributes:
        requests: number of billed requests.
        prompt_tokens: input tokens of all requests.
        cached_tokens: part of ``prompt_tokens`` read from the provider's prompt cache; of the requests whose bill said how many, and
            ``None`` if none did, which is not 0.
    """

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int | None = None

    def after(self, prompt_tokens: int, cached_tokens: int | None) -> "BilledUsage":
        """Return the usage with one more request; ``None`` cached tokens are not reported."""
        known = self.cached_tokens
        return BilledUsage(
            requests=self.requests + 1,
            prompt_tokens=self.prompt_tokens + prompt_tokens,
            cached_tokens=known if cached_tokens is None else (known or 0) + cached_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What decides when to compact, carried from turn to turn.

    Attributes:
        turns: number of them so far.
        waited_tokens: what a compaction would have saved in the turns that waited for it.
        last_turn_s: the clock at the last turn; ``None`` without one.
        seen_units: number of units at the last turn.
        finished_waited_tokens: as ``waited_tokens``, for finished work.
        finished_saving_tokens: what cutting finished work saves in each turn.
        retry_at_tokens: size of a request below which another compaction would not help.
    """

    turns: int = 0
    waited_tokens: float = 0.0
    last_turn_s: float | None = None
    seen_units: int = 0
    finished_waited_tokens: float = 0.0
    finished_saving_tokens: float = 0.0
    retry_at_tokens: int = 0

    def after_turn(
        self, waited_tokens: float, *, rewrote: bool, units: int, now_s: float | None
    ) -> Self:
        """Return the pace for the next turn; ``rewrote`` if this turn compacted, so that nothing was waited for."""
        finished = self.finished_waited_tokens + self.finished_saving_tokens
        return replace(
            self,
            turns=self.turns + 1,
            waited_tokens=0.0 if rewrote else waited_tokens,
            last_turn_s=now_s,
            seen_units=units,
            finished_waited_tokens=0.0 if rewrote else finished,
            finished_saving_tokens=0.0 if rewrote else self.finished_saving_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preamble:
    """The preamble that is sent, and the latest offer for it."""

    text: Text = ""
    at: int = 0  # host messages before it, if that is not the system prompt alone
    offer: PreambleOffer = field(default_factory=PreambleOffer)
    is_placed: bool = False  # the text is that of the offer, as far as there was room

    @property
    def is_offered(self) -> bool:
        """True if there is an offer to place, or a text to remove because the offer is now empty."""
        return bool(self.offer.parts or self.text)

    @property
    def is_late(self) -> bool:
        """True if there is an offer to place and nothing is sent."""
        return bool(self.offer.parts) and not (self.text or self.is_placed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A statement of a message that the host no longer has."""

    kind: Text
    text: Text
    author: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What still holds of the messages that a host cut from the front of its list, and the text that tells it."""

    stated: tuple[Stated, ...] = ()
    text: Text = ""
    wanted: WantedBefore = WANTED_NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """The state of how a conversation is sent.

    Attributes:
        decisions: on each unit, oldest first.
        pins: digests of the messages that stay as they are.
        notices: what is true beyond the messages, sent or to be sent.
        preamble: what stands behind the system prompt, such as a project's context.
        sent: number of host messages in the request that the next one continues; 0 if it continues none.
        rewrites: how often a request did not continue the one before.
        must_replan: whether a pin or a change of the list asks for a plan even if all fits.
        pace: what decides when to compact.
        calibration: how the count compares with the bills.
        usage: the bills, added up.
        record: what still holds of messages that the host cut from the front.
        forgotten: messages that a host may still hand in, and how many of each.
        prompt: which parts of the system prompt are sent in front, and which behind.
        loaded_tools: names of the tools that are sent although schemas are deferred, in the order in which they were called or
            found; ``None`` until schemas are deferred.
        tool_order: names of all tools so far, in the order in which they first came.
        absent: the rules in force that the last request has not.
        goal: what the agent is to do, as a program set it; empty if that follows from what people say.
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
    usage: BilledUsage = field(default_factory=BilledUsage)
    record: Record = field(default_factory=Record)
    forgotten: tuple[tuple[Digest, int], ...] = ()
    prompt: SplitPrompt = field(default_factory=SplitPrompt)
    loaded_tools: tuple[Text, ...] | None = None
    tool_order: tuple[Text, ...] = ()
    absent: AbsentRules = field(default_factory=AbsentRules)
    goal: Text = ""

    @property
    def tokens(self) -> int:
        """Tokens of all units as they are sent."""
        return self.decisions.tokens

    @property
    def new_tokens(self) -> int:
        """Tokens of the units that were in no request yet."""
        tokens = 0
        for decision in reversed(self.decisions):
            if decision.start < self.sent:
                break
            tokens += decision.tokens_after
        return tokens

    def pinned(self, digest: bytes) -> Self:
        """Return the view with one more pinned message; a dropped message returns at the next plan."""
        return replace(self.changed(), pins=self.pins | {digest}, must_replan=True)

    def unpinned(self, digest: bytes) -> Self:
        """Return the view without a pin; the message may be dropped at the next compaction."""
        return replace(self.changed(), pins=self.pins - {digest})

    def renamed(self, digests: Mapping[bytes, bytes]) -> Self:
        """Return the view with the pins of these messages under other digests."""
        return replace(self, pins=frozenset(digests.get(pin, pin) for pin in self.pins))

    def changed(self) -> Self:
        """Return the view in which a compaction that did not help may run again."""
        return replace(self, pace=replace(self.pace, retry_at_tokens=0))

    def _cut_back(self, messages: int) -> Self:
        """Return the view cut back to ``messages`` messages, after which the host's history has changed."""
        decisions, preamble = self.decisions.until(messages), self.preamble
        has_notices = self.notices.in_force or self.notices.due
        return replace(
            self.changed(),
            decisions=decisions,
            notices=self.notices.cut_back(messages) if has_notices else self.notices,
            preamble=replace(preamble, at=min(preamble.at, decisions.stop)),
            prompt=replace(self.prompt, at=0),
            must_replan=True,
            # Messages that were read but not sent break no prefix.
            rewrites=self.rewrites + (messages < self.sent),
            sent=min(self.sent, messages),
        )

    def begun_anew(self) -> Self:
        """Return the view without any decision, to decide on all units as on new ones."""
        return replace(
            self.changed(),
            decisions=Decisions(),
            notices=self.notices.anew(),
            preamble=replace(self.preamble, at=0),
            prompt=replace(self.prompt, at=0),
            must_replan=True,
            rewrites=self.rewrites + bool(self.sent),
            sent=0,
        )

    def has_derived(self, positions: AbstractSet[int], lines: AbstractSet[str]) -> bool:
        """Return True if a text of ours may tell what messages at these positions, with these lines, said."""
        return any(
            (each.hides and not positions.isdisjoint(range(each.start, each.stop)))
            or not lines.isdisjoint(own_lines(each))
            for each in self.decisions
        )

    def realigned(self, change: HostChange, candidates: Sequence[Candidate]) -> Self:
        """Return the view after the host changed its list to these units; what stays is sent as it was.

        A changed unit before others that stay is sent whole; those behind them are decided on as new ones are.
        """
        if change.heads:
            return self.with_heads(change.heads, candidates)
        if change.same >= self.decisions.stop:
            return self
        first = next(change.gone(), self.decisions.stop)
        known = {
            now.start: now
            for each in self.decisions
            if (now := realigned(each, change))
            and not (each.start > first and LINES_ABOVE in written_in(each))
        }
        found = [known.pop(each.unit.start, None) for each in candidates]
        pairs = zip(found, candidates, strict=True)
        stay = [each if each and each.stop == c.unit.stop else None for each, c in pairs]
        while stay and stay[-1] is None:
            stay.pop()
        if not stay or candidates[len(stay) - 1].unit.stop <= change.same:
            return self._cut_back(change.same)
        notices_now = sum(map(has_notice, filter(None, stay)))
        loses_notice = sum(map(has_notice, self.decisions)) > notices_now
        if loses_notice and any(each.hides for each in stay if each):
            return self.begun_anew()  # nothing would tell what is hidden
        decisions = Decisions(
            each or kept(c, Why.CHANGED)
            for each, c in zip(stay, candidates[: len(stay)], strict=True)
        )
        loses_piece = sum(map(has_piece_before, self.decisions)) > sum(
            map(has_piece_before, filter(None, stay))
        )
        notices = self.notices
        if notices.in_force or notices.due:
            notices = notices.realigned(change, anew=loses_piece)
        at = min(change.stop_at(self.preamble.at), decisions.stop)
        return replace(
            self.changed(),
            decisions=decisions,
            notices=notices,
            preamble=replace(self.preamble, at=at),
            prompt=replace(self.prompt, at=0),
            must_replan=True,
            rewrites=self.rewrites + (change.same < self.sent),
            sent=min(change.stop_at(self.sent), decisions.stop),
        )

    def with_heads(
        self, heads: Iterable[int], candidates: Sequence[Candidate], *, why: Why | None = None
    ) -> Self:
        """Return the view after other system messages replaced these; all else is as it was."""
        decisions = self.decisions
        known = ((i, decisions[i]) for i in heads if i < len(decisions))
        changes = {
            i: kept(candidates[i], why or before.why)
            for i, before in known
            if (before.tokens_before, before.pieces) != (candidates[i].tokens, candidates[i].pieces)
            or why not in (None, before.why)
        }
        rewrites = self.rewrites + bool(self.sent)
        absent = self.absent.after_heads(self.rewrites, rewrites)
        decisions = decisions.changed(changes)
        return replace(self, decisions=decisions, rewrites=rewrites, absent=absent)

    @property
    def past(self) -> "ContextView":
        """What a version keeps of the view: its decisions, pins and notices."""
        return ContextView().rolled_back(self)

    def rolled_back(self, past: "ContextView") -> Self:
        """Return the view with the decisions, pins and notices of a past one."""
        return replace(
            self,
            decisions=past.decisions,
            pins=past.pins,
            notices=past.notices,
            must_replan=past.must_replan,
        )

    def with_before_last(self, piece: Piece, tokens: int) -> Self:
        """Return the view with a piece added before the newest unit, after the pieces already there."""
        last = self.decisions[-1].after(piece, tokens)
        return replace(self, decisions=self.decisions.with_last(last))


def realigned(decision: Decision, change: HostChange) -> Decision | None:
    """Return the decision at the place where its unit is now; ``None`` if the unit is not there as it was."""
    start, last = change.now_at(decision.start), change.now_at(decision.stop - 1)
    if start is None or last is None or last - start != decision.stop - 1 - decision.start:
        return None
    return moved(decision, start - decision.start)


def written_in(decision: Decision) -> str:
    """Return the results that are sent in another form than the host's."""
    written = (piece.message.results for piece in decision.pieces if isinstance(piece, Written))
    return "\n".join(result.text for results in written for result in results)


def own_texts(decision: Decision) -> Iterator[str]:
    """Yield the texts of our own messages among what is sent for a unit."""
    for piece in decision.sent:
        if isinstance(piece, Written) and piece.index is None:
            yield piece.message.text


def own_lines(decision: Decision) -> Iterator[str]:
    """Yield the lines of these texts, without marks of quoting."""
    for text in own_texts(decision):
        yield from (line.lstrip("->* \t").rstrip() for line in text.splitlines())


def has_notice(decision: Decision) -> bool:
    """Return True if a notice stands in the place of a unit."""
    return decision.hides and any(
        isinstance(piece, Written) and piece.index is None for piece in decision.pieces
    )


def has_piece_before(decision: Decision) -> bool:
    """Return True if something is sent before a unit."""
    return bool(decision.before)


def faults_of(view: ContextView, messages: Sequence[Message], *, open_pairs: bool) -> Iterator[str]:
    """Yield a description of each inconsistency between a view and its messages; nothing is repaired."""
    if not view.notices.is_sound:
        yield "two notices have the same name"
    yield from faults_of_decisions(view.decisions, known=len(messages))
    if view.decisions.stop > len(messages):
        return
    sent = (piece for decision in view.decisions for piece in decision.sent)
    checked = Checked().after(sent, messages, lambda _: 0)
    if checked.orphans and not open_pairs:
        yield f"{checked.orphans} calls or results are sent without their counterpart"
    tokens = sum(decision.tokens_after for decision in view.decisions)
    if tokens != view.tokens:
        yield f"the units have {tokens} tokens, and {view.tokens} are counted"
