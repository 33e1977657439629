"""Decisions on units as they arrive: units are kept, and tool results are reduced where that loses nothing.

Promise: a result is reduced once, and its sent text does not change until the next compaction. The decisions are the same
whether messages arrive one by one or all at once. Lines of a file that is shown are kept to the character. Lines that
already appear in earlier messages are replaced by a mark; nothing is lost while those messages are kept.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, islice
from typing import Literal

from autogen_context.cache.originals import OriginalStore
from autogen_context.cache.values import Cache, Forgets
from autogen_context.compressor.code import without_padding
from autogen_context.compressor.json_text import JSON
from autogen_context.compressor.kinds import OUTPUT, reducer_for, tight_output
from autogen_context.compressor.lines import TextLimit
from autogen_context.compressor.protocol import Compressor
from autogen_context.compressor.reducers import GuardedReducer
from autogen_context.messages.blocks import parsed, strings_in
from autogen_context.messages.identifiers import values_of
from autogen_context.messages.message import (
    SYSTEM_ROLES,
    Message,
    ToolCall,
    ToolResult,
    content_digest,
    handle_of,
)
from autogen_context.messages.origin import is_users
from autogen_context.messages.piece import LINES_ABOVE, Verbatim, Written, messages_of
from autogen_context.messages.segment import Unit, pair
from autogen_context.messages.tool_call import ToolKinds, action_of
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.text.fit import CountText
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Candidate, Decision, Decisions, Why, kept, replaced

Mode = Literal["off", "lossless", "lossy"]
LEAST_CHARS = 200  # of a result; reducing a shorter one gains nothing

# Larger results are cut if the original can be recalled. Code gets more, since agents edit it by its exact text.
MOST_TOKENS = 800
MOST_CODE_TOKENS = 5_000

WANTED = 60  # names taken from the call and the task, those of the call first
ARGUMENT_CHARS = 400  # of an argument; a longer one is content
TASK_CHARS = 20_000  # of a task that are searched for names; the rest is content

KIND, SCHEMA = "reduction", "1"  # in the cache
WAYS = ("result", "file", "cut")
LEAST_CACHED_CHARS = (
    1_000  # a look-up costs some 30 µs, restructuring a result 600, a cut 6,000 (2026-11-28)
)

LEAST_LEFT = 480  # characters; if fewer are new, the beginning is kept as well
LEAST_ABOVE = 160  # characters of replaced lines; a mark and finding its lines cost about two
PLACES = 4  # positions remembered per line, the latest ones


class Reductions:
    """Reductions of texts by content and target, in a cache: a result is often shown again, and a compaction reduces all anew.

    What a cache returns is believed if it has the mark that was put on it: a cache of a user's own may return anything.
    """

    def __init__(self, cache: Cache | None) -> None:
        self._cache = cache

    def made(self, text: str, way: str, *target: str, make: Callable[[], str]) -> str:
        """Return the reduction of a text in some way and to some target, from the cache, or else as it is made."""
        if self._cache is None or len(text) < LEAST_CACHED_CHARS:
            return make()
        key = _key_of(text, way)
        match self._cache.remembered(KIND, key):
            case [str(mark), str(short)] if mark == _mark_on(key, *target, short):
                return short or text
            case _:
                short = make() or text
        kept_text = "" if short == text else short
        self._cache.remember(KIND, key, [_mark_on(key, *target, kept_text), kept_text])
        return short

    def forget(self, messages: Iterable[Message]) -> None:
        """Delete what was made of the results of messages."""
        texts = {result.text for message in messages for result in message.results}
        if isinstance(self._cache, Forgets):
            self._cache.forget(KIND, [_key_of(text, way) for text in texts for way in WAYS])


def _key_of(text: str, way: str) -> str:
    return content_digest(way, text).hex()


def _mark_on(key: str, *parts: str) -> str:
    return content_digest(SCHEMA, key, *parts).hex()


NOT_CACHED = Reductions(None)


def tightened(text: str, *, shows_file: bool = False, known: Reductions = NOT_CACHED) -> str:
    """Return a result without redundancy: padding, terminal codes, repeated lines, JSON whitespace. Unchanged if there is none."""
    tight = without_padding(text) if shows_file else tight_output(text)
    if tight == text and (shows_file or not JSON.recognises(text, ())):
        return text  # only JSON can still get smaller

    def make() -> str:
        reducer = reducer_for(text)
        if reducer is None or (shows_file and reducer.kind != "code"):
            return text  # agents edit files by their exact text
        return reducer.tighten(text)

    return known.made(text, "file" if shows_file else "result", make=make)


def wanted_of(call: ToolCall | None, task: str) -> frozenset[str]:
    """Return the names in a call's arguments, then those in the task, in lower case; the same in every process."""
    arguments = strings_in(parsed(call.arguments)) if call else []
    named: dict[str, None] = {}
    for text in (*(a for a in arguments if len(a) <= ARGUMENT_CHARS), task[:TASK_CHARS]):
        found = sorted((text.find(value), value) for value in values_of(text))
        named.update((value.lower(), None) for _, value in found)
    return frozenset(islice(named, WANTED))


def cut(
    text: str,
    original: str,
    *,
    count: CountText,
    call: ToolCall | None = None,
    task: str = "",
    shows_file: bool = False,
    handle_key: bytes = b"",
    known: Reductions = NOT_CACHED,
) -> tuple[str, str]:
    """Cut a result to its token limit; return it with the handle of its original, or the text and no handle if it fits."""
    tokens = count(text)
    if tokens <= MOST_TOKENS:
        return text, ""
    reducer = reducer_for(text) or OUTPUT
    most = MOST_CODE_TOKENS if shows_file or reducer.kind == "code" else MOST_TOKENS
    if tokens <= most:
        return text, ""
    handle = handle_of(original, key=handle_key)
    mark = mark_of(count(original), handle)
    room = TextLimit(tokens=most - count(mark) - 1, count=count, wanted=wanted_of(call, task))
    target = text, str(tokens), str(room.tokens), *sorted(room.wanted)
    short = known.made(original, "cut", *target, make=lambda: reducer.cut(text, room))
    short = f"{short}\n{mark}"
    return (short, handle) if len(short) < len(text) else (text, "")


def mark_of(tokens: int, handle: str) -> str:
    """Return the last line of a cut result."""
    return f'[reduced from {tokens} tokens; the whole: {RECALL_TOOL_NAME}(handle="{handle}")]'


class LinesAbove:
    """Index of the lines already sent, used to replace repeated lines.

    A mark refers to the nearest earlier place where the lines before and after the mark appear at the same distance.
    """

    def __init__(self) -> None:
        self._texts: list[Sequence[str]] = []
        self._places: dict[str, tuple[tuple[int, int], ...]] = {}  # text number, line number

    def add(self, text: str) -> None:
        """Index a text as sent."""
        if len(text) < LEAST_ABOVE:
            return
        lines = text.split("\n")
        number, places = len(self._texts), self._places
        self._texts.append(lines)
        for at, line in enumerate(lines):
            if line and not line.isspace():  # no run starts with a blank line
                places[line] = (*places.get(line, ())[1 - PLACES :], (number, at))

    def without(self, text: str) -> str:
        """Return the text with each long run of already sent lines replaced by a mark, except its first and last line."""
        if len(text) < LEAST_LEFT + LEAST_ABOVE:
            return text
        lines = text.split("\n")
        short = self._marked(lines, start=0)
        if len(short) < LEAST_LEFT:  # keep enough to show what it is
            short = self._marked(lines, start=text.count("\n", 0, LEAST_LEFT - 1) + 1)
        return text if short == text else short

    def _marked(self, lines: Sequence[str], *, start: int) -> str:
        at, parts = 0, list[str]()
        for first, line in enumerate(lines):
            if first < max(at, start) or line not in self._places:
                continue
            run = self._run(lines, first)
            inner = lines[first + 1 : first + run - 1] if run else ()
            if sum(map(len, inner)) + len(inner) >= LEAST_ABOVE:
                parts += (*lines[at : first + 1], lines_mark_of(len(inner)), lines[first + run - 1])
                at = first + run
        return "\n".join((*parts, *lines[at:]))

    def _run(self, lines: Sequence[str], start: int) -> int:
        """Return the length of the longest repeated run from a line on; 0 if the mark would refer to another place."""
        places, common = self._places[lines[start]], list[int]()
        for text, at in places:
            above, n = self._texts[text], 0
            most = min(len(lines) - start, len(above) - at)
            while n < most and lines[start + n] == above[at + n]:
                n += 1
            common.append(n)
        best = max(common)
        for (text, at), length in zip(reversed(places), reversed(common), strict=True):
            last = self._texts[text][at + best - 1 : at + best]
            if last and last[0] == lines[start + best - 1]:  # the place that the mark refers to
                return best if length >= best else 0
        return 0


def lines_mark_of(lines: int) -> str:
    """Return the mark for that many repeated lines."""
    return f"[… {lines}{LINES_ABOVE}"


class Arrival:
    """Decides on units as they arrive; what is not sent whole is kept in ``originals``."""

    def __init__(
        self,
        counter: MessageCounter,
        *,
        kinds: ToolKinds,
        originals: OriginalStore,
        compressor: Compressor,
        reducers: Sequence[GuardedReducer] = (),
        cache: Cache | None = None,
        handle_key: bytes = b"",
    ) -> None:
        self.reductions = Reductions(cache)
        self._handle_key = handle_key
        self._reducers = reducers
        self._on_arrival = compressor.on_arrival
        self.mode: Mode = "lossless"
        self._counter = counter
        self._kinds = kinds
        self._originals = originals
        self._forget()

    def _forget(self) -> None:
        self._read: Decisions | None = None  # those of which the texts sent are known
        self._above = LinesAbove()
        self._instruction: Message | None = None

    def extended(
        self,
        decisions: Decisions,
        candidates: Sequence[Candidate],
        messages: Sequence[Message],
        *,
        spared: AbstractSet[int],
    ) -> Decisions:
        """Return the decisions with those on all units that are new or have grown; messages at ``spared`` positions are not reduced.

        Of decisions that others made, what they send is read again.
        """
        if not self._knows(decisions):
            self._forget()
            for message in messages_of(
                chain(*(decisions[i].sent for i in decisions.live)), messages
            ):
                self._see(message)
        first = known = len(decisions)
        if (last := decisions.last) is not None:
            grown = self._decided(candidates[known - 1], last, spared=spared)
            if grown is not last:
                decisions, first = decisions.with_last(grown), known - 1
        for candidate in candidates[known:]:
            decisions = decisions.extended(self._stays(candidate, None, {}, spared=spared))
        self._keep(decisions, candidates, range(first, len(decisions)))
        self._read = decisions
        return decisions

    def replace(self, before: Decisions, after: Decisions) -> None:
        """Take decisions for known that differ from known ones by system messages alone, whose lines no result repeats."""
        self._read = after if self._knows(before) else None

    def _knows(self, decisions: Decisions) -> bool:
        """Whether what these decisions send is known; what is sent before the newest unit may differ."""
        known = self._read
        if known is None or len(known) != len(decisions) or not decisions.continues(known):
            return False
        one, other = known.last, decisions.last
        return one is other or (
            one is not None and other is not None and one.pieces == other.pieces
        )

    def _decided(
        self, candidate: Candidate, before: Decision, *, spared: AbstractSet[int]
    ) -> Decision:
        """Return the decision on a unit that may have new results."""
        if (candidate.unit.stop, candidate.tokens) == (before.stop, before.tokens_before):
            return before  # no new result or repair, either of which changes the tokens
        if before.action == "drop":
            if candidate.unit.stop == before.stop:
                return before
            tokens, detail = before.tokens_after - before.before_tokens, before.detail
            gone = replaced(candidate, "drop", before.why, before.pieces, tokens, detail=detail)
            return before.then(gone)
        if before.action == "shorten":
            as_before = before.stop - before.start
            for message in candidate.unit.messages[as_before:]:
                self._see(message)
            return replace(
                before,
                stop=candidate.unit.stop,
                tokens_before=candidate.tokens,
                tokens_after=max(0, before.tokens_after + candidate.tokens - before.tokens_before),
                pieces=before.pieces[:as_before] + candidate.pieces[as_before:],
            )
        written = before.pieces if before.action == "reduce" else ()
        pieces = [each for each in written if isinstance(each, Written)]
        reduced = {each.index: each.message for each in pieces if each.index is not None}
        return self._stays(candidate, before, reduced, since=before.stop, spared=spared)

    def finalise(
        self,
        before: Decisions,
        changes: Mapping[int, Decision],
        candidates: Sequence[Candidate],
        messages: Sequence[Message],
        *,
        spared: AbstractSet[int],
        since: int = 0,
    ) -> Decisions:
        """Return the decisions as a plan changes them, with repeated lines removed; units before ``since`` are already sent and do not change."""
        self._forget()
        decisions, final = before.changed(changes), dict[int, Decision]()
        for i in decisions.live:
            decision = decisions[i]
            if i >= since and decision.action in ("keep", "reduce"):
                final[i] = self._stays(candidates[i], decision, {}, spared=spared)
            else:
                for message in messages_of(decision.sent, messages):
                    self._see(message)
        self._read = decisions = decisions.changed(final)
        self._keep(decisions, candidates, [i for i in changes if decisions[i] is not before[i]])
        return decisions

    def _keep(
        self, decisions: Decisions, candidates: Sequence[Candidate], units: Iterable[int]
    ) -> None:
        """Store the originals of those of these units that are not sent whole."""
        new = [(decisions[i].handle, candidates[i].unit.messages) for i in units]
        if originals := [each for each in new if each[0]]:
            self._originals.put_all(originals)

    def _stays(
        self,
        candidate: Candidate,
        before: Decision | None,
        reduced: dict[int, Message],
        *,
        since: int = 0,
        spared: AbstractSet[int],
    ) -> Decision:
        """Keep a unit, with tool results reduced from position ``since`` on; earlier messages are sent as before."""
        unit, count = candidate.unit, self._counter.message
        stays_whole = bool(candidate.repairs) or self.mode == "off"
        calls = answered_in(unit) if unit.has_calls and not stays_whole else {}
        by: list[str] = []  # reducers of the user's own
        for position, message in enumerate(unit.messages, unit.start):
            if position < since:
                continue
            if message.results and not (stays_whole or position in spared):
                made = [self._result(each, calls.get(id(each))) for each in message.results]
                short = with_texts(message, [text for text, _ in made])
                by += [own for _, own in made if own]
                if short is not message:
                    reduced[position] = short
            self._see(reduced.get(position, message))
        why, detail = (before.why, before.detail) if before else (Why.NEW, "")
        decision = kept(candidate, why, detail)
        if reduced:
            pieces = tuple(
                Written(message=reduced[piece.start], index=piece.start)
                if isinstance(piece, Verbatim) and piece.start in reduced
                else piece
                for piece in candidate.pieces
            )
            saved = sum(count(unit.messages[i - unit.start]) - count(m) for i, m in reduced.items())
            tokens = candidate.tokens - saved
            reduced_now = replaced(candidate, "reduce", why, pieces, tokens, detail=detail)
            decision = replace(reduced_now, reduced_by=tuple(by))
        return before.then(decision) if before else decision

    def _result(self, result: ToolResult, call: ToolCall | None) -> tuple[str, str]:
        """Return the text to send for a result, and which reducer of the user's own made it, if any.

        It is the original unless an exact count shows that the reduced one is smaller.
        """
        count, original = self._counter.text, result.text
        is_recalled = call is not None and call.name == RECALL_TOOL_NAME
        if is_recalled or len(original) < LEAST_CHARS:
            return original, ""
        shows_file = call is not None and bool(action_of(call, self._kinds).views)
        short, handle, own = original, "", ""
        if self._reducers:
            short, handle, own = self._by_own(original, call, shows_file=shows_file)
        if not own:
            tight = tightened(original, shows_file=shows_file, known=self.reductions)
            short = self._above.without(tight)
        if self.mode == "lossy" and not handle:
            task = self._instruction.text.strip() if self._instruction else ""
            short, handle = cut(
                short,
                original,
                count=count,
                call=call,
                task=task,
                shows_file=shows_file,
                handle_key=self._handle_key,
                known=self.reductions,
            )
        sent = self._on_arrival(original, short, count=count)
        if sent not in (short, original):
            short, handle = sent, handle_of(original, key=self._handle_key)
        if short is original or count(short) >= count(original):
            return original, ""
        if handle:
            self._originals.put_text(handle, original)
        return short, own

    def _by_own(
        self, text: str, call: ToolCall | None, *, shows_file: bool
    ) -> tuple[str, str, str]:
        """Return a result as a reducer of the user's own leaves it, the handle of its original if it lost something, and by whom."""
        reducer = next((each for each in self._reducers if each.recognises(call, text)), None)
        if reducer is None or self.mode == "off":
            return text, "", ""
        count, handle = self._counter.text, handle_of(text, key=self._handle_key)
        mark = mark_of(count(text), handle)
        most = (MOST_CODE_TOKENS if shows_file else MOST_TOKENS) - count(mark) - 1
        found = reducer.reduced(call, text, room_tokens=most, count=count)
        if found is None or not (found.reduction.is_lossless or self.mode == "lossy"):
            return text, "", ""
        if found.reduction.is_lossless:
            return found.reduction.text, "", found.by
        return f"{found.reduction.text}\n{mark}", handle, found.by

    def _see(self, message: Message) -> None:
        if message.own:
            return  # our own messages may be removed while tool results stay
        if message.role == "user" and is_users(message) and message.text.strip():
            before = self._instruction
            # by who spoke first, if no person does
            is_led = (
                before is None
                or before.origin == "doubtful"
                or (before.origin != "person" and before.name == message.name != "")
            )
            if is_led or message.origin in {"person", ""}:
                self._instruction = message
        if message.text and message.role not in SYSTEM_ROLES:  # which hosts may change
            self._above.add(message.text)
        for result in message.results:
            self._above.add(result.text)


def answered_in(unit: Unit) -> dict[int, ToolCall | None]:
    """Return the call that each result of a unit answers, by the result's identity; an only call all of them."""
    calls = unit.messages[0].calls
    results = [each for message in unit.messages for each in message.results]
    if len(calls) == 1:
        return {id(result): calls[0] for result in results}
    pairs, _ = pair(calls, results)
    return {id(result): call for call, result in reversed(pairs)}


def with_texts(message: Message, texts: Sequence[str]) -> Message:
    """Return the message with these result texts; the same object if nothing changes."""
    results = tuple(
        result if text is result.text else replace(result, text=text)
        for result, text in zip(message.results, texts, strict=True)
    )
    return message if results == message.results else replace(message, results=results)
