"""What becomes of units as they come in: they stay, and what a tool returned is made smaller where that costs nothing.

Promise: a result is reduced once; what was sent of it stays as it is until the next compaction. What a person, the
system or the model said stays as it came, and so does what is pinned. The same messages give the same, one by one or all
at once.
"""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Literal, Protocol

from autogen_context.compressor.arrival.arrive import (
    Asked,
    asked_by,
    by_itself,
    cut,
    handle_of,
    tidied,
)
from autogen_context.compressor.arrival.deduplication import LinesAbove
from autogen_context.compressor.arrival.reducer import CountText
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.people import words_and_output
from autogen_context.messages.piece import Piece, Verbatim, Written, messages_of
from autogen_context.messages.segment import Unit, pair
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision, kept, replaced

Mode = Literal["off", "lossless", "lossy"]
Known = dict[tuple[ToolCall | None, ToolResult], tuple[Asked, str]]
REDUCED = "; reduced on arrival"  # behind the reason why a unit stays


class OnArrival(Protocol):
    """What a compressor makes of a result, as ``Compressor.on_arrival`` says."""

    def __call__(self, text: str, reduced: str, /, *, count: CountText) -> str:
        """What is sent."""
        ...


def as_reduced(_text: str, reduced: str, /, *, count: CountText) -> str:  # noqa: ARG001 - of that shape
    """A result as it is reduced here."""
    return reduced


class Arrival:
    """Decides on units as they come in.

    Args:
        counter: counts messages.
        kinds: what tools do.
        keep: puts the original of a result that was cut under its handle.
        on_arrival: a compressor's; what is sent of a result, for the text and what is made of it here.

    Attributes:
        mode: whether results are made smaller, and whether large ones are cut.
    """

    def __init__(
        self,
        counter: MessageCounter,
        *,
        kinds: ToolKinds,
        keep: Callable[[str, str], None],
        on_arrival: OnArrival = as_reduced,
    ) -> None:
        self._on_arrival = on_arrival
        self.mode: Mode = "lossless"
        self._counter = counter
        self._kinds = kinds
        self._keep = keep
        self._above = LinesAbove()
        self._task = ""
        self._last: Message | None = None
        self._by_itself: Known = {}
        self._by_itself_before: Known = {}

    def restart(self, sent: Iterable[Message]) -> None:
        """Forget what was sent before; this is."""
        self._forget()
        self._by_itself, self._by_itself_before = {}, {}
        for message in sent:
            self._see(message)

    def decide(
        self,
        candidate: Candidate,
        before: Decision | None = None,
        *,
        spared: AbstractSet[int] = frozenset(),
    ) -> Decision:
        """What becomes of a unit that is new, or has more results, or is followed by others.

        Args:
            candidate: the unit.
            before: what was decided on it last.
            spared: positions of messages that stay as they are.
        """
        if before is None:
            return self._arrived(candidate, {}, spared=spared, reason="new")
        if (candidate.unit.stop, candidate.tokens) == (before.stop, before.tokens_before):
            return before  # no result came, and no repair, which costs tokens
        if before.action == "drop":
            gone = replaced(candidate, "drop", before.reason, before.pieces, before.tokens_after)
            return (
                before
                if gone.stop == before.stop
                else replace(gone, before=before.before, rank=before.rank)
            )
        if before.action == "shorten":
            return self._grown(before, candidate)
        return self._again(candidate, before, written_in(before), since=before.stop, spared=spared)

    def settle(
        self,
        decisions: Sequence[Decision],
        candidates: Sequence[Candidate],
        messages: Sequence[Message],
        *,
        spared: AbstractSet[int],
        since: int = 0,
    ) -> list[Decision]:
        """What a plan decided, without what would be said twice in it.

        Args:
            decisions: n decisions of a plan.
            candidates: its n units.
            messages: of the conversation.
            spared: positions of messages that stay as they are.
            since: position of the first unit that is not sent already.
        """
        self._forget()
        self._by_itself, self._by_itself_before = (
            {},
            self._by_itself,
        )  # of what left nothing is remembered
        settled: list[Decision] = []
        for i, (decision, candidate) in enumerate(zip(decisions, candidates, strict=True)):
            if i >= since and decision.action in ("keep", "reduce"):
                settled.append(self._again(candidate, decision, {}, spared=spared))
            else:
                own = decision
                if i >= since and decision.action == "shorten":
                    own = self._compressed(decision)
                settled.append(own)
                for message in messages_of(own.sent, messages):
                    self._see(message)
        return settled

    def _compressed(self, decision: Decision) -> Decision:
        """A unit of which a plan chose parts, with what the compressor makes of these parts of results."""
        pieces: list[Piece] = []
        saved = 0
        for piece in decision.pieces:
            if not isinstance(piece, Written) or not piece.message.results:
                pieces.append(piece)
                continue
            short, count = piece.message, self._counter.text
            results = tuple(
                replace(result, text=self._on_arrival(result.text, result.text, count=count))
                for result in short.results
            )
            own = short if results == short.results else replace(short, results=results)
            less = self._counter.message(short) - self._counter.message(own)
            is_kept = own is short or less < 0
            pieces.append(piece if is_kept else replace(piece, message=own))
            saved += 0 if is_kept else less
        if tuple(pieces) == decision.pieces:
            return decision
        return replace(decision, pieces=tuple(pieces), tokens_after=decision.tokens_after - saved)

    def _again(
        self,
        candidate: Candidate,
        before: Decision,
        reduced: dict[int, Message],
        *,
        since: int = 0,
        spared: AbstractSet[int],
    ) -> Decision:
        """A unit that stays, decided on again from a position on; what stands in front of it stays there."""
        reason = before.reason.removesuffix(REDUCED)
        again = self._arrived(candidate, reduced, since=since, spared=spared, reason=reason)
        again = replace(again, rank=before.rank)
        if not before.before:
            return again
        in_front = sum(map(self._counter.message, messages_of(before.before, ())))
        return replace(again, before=before.before, tokens_after=again.tokens_after + in_front)

    def _arrived(
        self,
        candidate: Candidate,
        reduced: dict[int, Message],
        *,
        since: int = 0,
        spared: AbstractSet[int],
        reason: str,
    ) -> Decision:
        """A unit that stays, with its messages from a position on reduced; those before it are."""
        unit = candidate.unit
        reduced = dict(reduced)
        for position, message in enumerate(unit.messages, unit.start):
            if position < since:
                continue
            spare = position in spared or candidate.repaired or self.mode == "off"
            short = message if spare else self._reduced(message, unit)
            if short is not message:
                reduced[position] = short
            self._see(short)
        if not reduced:
            return kept(candidate, reason)
        pieces = tuple(with_reduced(candidate.pieces, reduced))
        saved = sum(
            self._counter.message(unit.messages[position - unit.start])
            - self._counter.message(short)
            for position, short in reduced.items()
        )
        reason += REDUCED
        return replaced(candidate, "reduce", reason, pieces, candidate.tokens - saved)

    def _grown(self, decision: Decision, candidate: Candidate) -> Decision:
        """A shortened unit after its call got more results."""
        as_before = decision.stop - decision.start
        for message in candidate.unit.messages[as_before:]:
            self._see(message)
        return replace(
            decision,
            stop=candidate.unit.stop,
            tokens_before=candidate.tokens,
            tokens_after=max(0, decision.tokens_after + candidate.tokens - decision.tokens_before),
            pieces=decision.pieces[:as_before] + candidate.pieces[as_before:],
        )

    def _reduced(self, message: Message, unit: Unit) -> Message:
        """A message with smaller results; itself where they are as small as they get."""
        results = tuple([self._result(result, call_of(unit, result)) for result in message.results])
        same = all(new is old for new, old in zip(results, message.results, strict=True))
        return message if same else replace(message, results=results)

    def _result(self, result: ToolResult, call: ToolCall | None) -> ToolResult:
        """A smaller result, by an exact count; itself where it is as small as it gets."""
        count, original = self._counter.text, result.text
        asked, text = self._known(result, call)
        short, handle = tidied(text, asked, self._above), ""
        if self.mode == "lossy":
            arrived = cut(short, original, replace(asked, task=self._task), count)
            short, handle = arrived.text, arrived.handle
        sent = self._on_arrival(original, short, count=count)
        if sent not in (short, original):
            short, handle = sent, handle_of(original)
        if short is original or count(short) >= count(original):
            return result
        if handle:
            self._keep(handle, original)
        return replace(result, text=short)

    def _known(self, result: ToolResult, call: ToolCall | None) -> tuple[Asked, str]:
        """What a result answers, and what it is by itself: told once, though each compaction decides on it again."""
        known = self._by_itself.get((call, result)) or self._by_itself_before.get((call, result))
        if known is None:
            asked = asked_by(call, "", self._kinds)
            known = asked, by_itself(result.text, asked)
        self._by_itself[call, result] = known
        return known

    def _forget(self) -> None:
        self._above, self._task, self._last = LinesAbove(), "", None

    def _see(self, message: Message) -> None:
        if message.own:
            return  # some come and go while what a tool returned stays
        if message.role == "user" and not message.results:
            self._task = words_and_output(message, self._last)[0].strip() or self._task
        self._last = message
        self._above.add(message.text)
        for result in message.results:
            self._above.add(result.text)


def call_of(unit: Unit, result: ToolResult) -> ToolCall | None:
    """The call that a result answers: the one with its id, of equal ones the oldest that nothing else answers."""
    calls = unit.messages[0].calls
    if len(calls) == 1:
        return calls[0]
    pairs, _ = pair(calls, [each for message in unit.messages for each in message.results])
    return next((call for call, answer in pairs if answer is result), None)


def written_in(decision: Decision) -> dict[int, Message]:
    """What was written anew for the host's messages, by position; nothing unless it was reduced."""
    if decision.action != "reduce":
        return {}
    pieces = [piece for piece in decision.pieces if isinstance(piece, Written)]
    return {piece.index: piece.message for piece in pieces if piece.index is not None}


def with_reduced(pieces: Iterable[Piece], reduced: dict[int, Message]) -> Iterable[Piece]:
    """Pieces of one message each, with what was reduced in place of what came in."""
    for piece in pieces:
        if isinstance(piece, Verbatim) and piece.start in reduced:
            yield Written(message=reduced[piece.start], index=piece.start)
        else:
            yield piece
