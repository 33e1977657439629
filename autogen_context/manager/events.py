"""The recorder of the events of one conversation.

Promise: a turn only hands over immutable values; the event is completed from them when it is written. It lists the units that
are new or have a new decision, so that all events together hold every decision; the first event in a file lists all units.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from operator import sub
from time import perf_counter, time
from typing import TYPE_CHECKING, Literal, NamedTuple, cast
from uuid import uuid4

from autogen_context.cache.values import Cache, Counting
from autogen_context.config.config import ContextConfig
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.broken import Broken, lost_in, parts_of, text_of
from autogen_context.manager.event_log import Event, EventBuilder, EventLog, Writer
from autogen_context.manager.event_schema import (
    GoalEvent,
    Header,
    LostEvent,
    QualityEvent,
    RulesEvent,
    Size,
    TurnEvent,
    UnitEvent,
)
from autogen_context.manager.injected import OPENING
from autogen_context.manager.prepared import Prepared
from autogen_context.manager.record import recorded_in
from autogen_context.manager.rule_events import RuleEvents
from autogen_context.messages.identifiers import is_distinctive, values_of
from autogen_context.messages.message import (
    MODEL_ROLES,
    SYSTEM_ROLES,
    Message,
    as_message,
    content_digest,
    joined_text,
)
from autogen_context.messages.piece import Piece, Written, messages_of, shifted
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_schema import ToolText, texts_of
from autogen_context.models.completion import Complete
from autogen_context.tokens.prices import Price
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Candidate, Decision, Decisions
from autogen_context.view.goal import Goal
from autogen_context.view.invariants import Certificate
from autogen_context.view.view import ContextView, Preamble

if TYPE_CHECKING:
    from autogen_context.manager.metrics import Metrics

TEXT_CHARS = 200  # recorded of a unit's text, if text is recorded
MOST_TOOL_LISTS = 8  # whose last requests are remembered
SECTIONS = ("system", "pinned", "people", "model", "tools", "notices", "retrieved")


class TurnTaken(NamedTuple):
    """The immutable values of a turn, of which its event is made later."""

    header: Header
    prepared: Prepared[object]
    view: ContextView
    history: Size
    ms: float
    compaction_ms: float
    same: int  # leading units unchanged since the previous turn
    new: Sequence[Candidate]  # the remaining units
    heads: Mapping[
        int, Unit
    ]  # other system messages in front, which took the places of those before
    preamble_tokens: int
    pinned: frozenset[int]
    before: Mapping[int, tuple[int, int]]  # tokens of notices and retrieved content before a unit
    tools: Mapping[str, Sequence[ToolText]]  # of all lists so far, by their digests
    goal: Goal


class TurnLog:
    """Records the events of one conversation in an event log, metrics or both."""

    def __init__(
        self,
        log: EventLog | None,
        config: ContextConfig,
        rates: Price,
        metrics: "Metrics | None" = None,
    ) -> None:
        self.log = Writer() if log is None else log
        self._metrics = metrics
        if metrics is not None:
            metrics.follow(self.log)
        run, agent, model = uuid4().hex[:12], config.agent, config.model
        self._header = Header(v=1, run=run, agent=agent, model=model, turn=0, at=0.0)
        self._events = TurnEvents(rates, record_text=log is not None and log.record_text)
        self._cache: Counting | None = None
        self._cache_counts = (0, 0, 0)
        self.tools: Mapping[str, Sequence[ToolText]] = {}  # by the digest of a list
        self._known: list[Candidate] = []
        self._decisions = Decisions()
        self._certificates: deque[tuple[Certificate, int]] = deque(maxlen=16)

    def know_tools(self, which: str, tools: Sequence[Mapping[str, object]]) -> None:
        """Note the tools of the next request, by their digest, as they are written into it."""
        if which not in self.tools:
            newest = [*self.tools.items()][-MOST_TOOL_LISTS:]
            self.tools = {**dict(newest), which: texts_of(tools)}

    def turn(
        self,
        conversation: Conversation,
        view: ContextView,
        prepared: Prepared[object],
        *,
        goal: Goal,
        pinned: frozenset[int],
        count: Callable[[Message], int],
        started_s: float,
        planned_s: float,
    ) -> None:
        """Record a prepared turn; ``planned_s`` is the time when all new messages had been read."""
        known, candidates = self._known, conversation.candidates
        decisions, text, now_s = view.decisions, view.preamble.text, perf_counter()
        same = min(len(known), len(candidates))
        while same and known[same - 1] is not candidates[same - 1]:
            same -= 1
        heads = {
            i: candidates[i].unit
            for i in range(min(same, conversation.system_messages))
            if known[i] is not candidates[i]
        }
        # If the view only grew, only the newest unit can have new pieces before it.
        goes_on = same == len(known) and decisions.continues(self._decisions)
        looked = range(len(decisions))[-1:] if goes_on else decisions.live
        self._header["turn"] += 1
        self._certificates.append((prepared.certificate, self._header["turn"]))
        taken = TurnTaken(
            header=self._now,
            prepared=prepared,
            view=view,
            history=size_of(conversation),
            ms=milliseconds(now_s - started_s),
            compaction_ms=milliseconds(now_s - planned_s) if prepared.compacted else 0.0,
            same=same,
            new=candidates[same:],
            heads=heads,
            preamble_tokens=count(as_message(text)) if text else 0,
            pinned=pinned,
            before={i: injected(decisions[i].before, count) for i in looked},
            tools=self.tools,
            goal=goal,
        )
        if self._put(partial(self._events.event, taken)):
            known[same:], self._decisions = taken.new, decisions
            for i in heads:
                known[i] = candidates[i]
        if self._cache and (counts := self._cache.counts) != self._cache_counts:
            since = map(sub, counts, self._cache_counts)
            names = ("hits", "misses", "invalidated")
            self._record("cache", **dict(zip(names, since, strict=True)))
            self._cache_counts = counts

    def impossible(
        self, conversation: Conversation, error: ContextWindowExceeded, *, started_s: float
    ) -> None:
        """Record a turn that could not be prepared."""
        self._header["turn"] += 1
        self._record(
            "impossible",
            ms=milliseconds(perf_counter() - started_s),
            limit=error.limit_tokens,
            needed=error.least_tokens,
            parts=error.parts,
            history=size_of(conversation),
        )

    def follow(self, cache: Cache) -> None:
        """Record with each turn the cache's hits and misses since the previous one, if it counts them."""
        if isinstance(cache, Counting):
            self._cache, self._cache_counts = cache, cache.counts

    def usage(
        self,
        certificate: Certificate,
        *,
        prompt_tokens: int,
        cached_tokens: int | None,
        believed: bool,
    ) -> None:
        """Record what the provider billed for a turn; ``None`` cached tokens are not reported by the host."""
        turn = next((turn for known, turn in self._certificates if known is certificate), None)
        numbers = {"prompt": prompt_tokens, "cached": cached_tokens, "believed": believed}
        self._record("usage", turn=turn, **numbers)

    def asked_back(self, handle: str, query: str, *, found: bool) -> None:
        """Record that the agent asked for evicted content; a handle that may be free text is not recorded."""
        shown = handle if handle.isalnum() and len(handle) < TEXT_CHARS else ""
        self._record("asked_back", handle=shown, query_chars=len(query), found=found)

    def summary(self, why: str) -> None:
        """Record the check of a model's summary; ``why`` is the reason for rejecting it, or empty."""
        self._record("summary", used=not why, why=why)

    def timed(self, complete: Complete, what: str) -> Complete:
        """Wrap a model so that its calls are recorded."""

        async def timed(prompt: str, /) -> str:
            started_s, why = perf_counter(), ""
            try:
                with self._metrics.model_call(what) if self._metrics else nullcontext():
                    return await complete(prompt)
            except BaseException as error:
                why = type(error).__name__
                raise
            finally:
                ms = milliseconds(perf_counter() - started_s)
                self._record("model_call", what=what, ms=ms, ok=not why, why=why)

        return timed

    @property
    def _now(self) -> Header:
        return {**self._header, "at": round(time(), 6)}

    def _record(self, event: str, **facts: object) -> None:
        made = {**self._now, "event": event, **facts}
        self._put(lambda _: made)

    def _put(self, builder: EventBuilder) -> bool:
        return self.log.put(builder if self._metrics is None else self._metrics.fed(builder))


def milliseconds(seconds: float) -> float:
    """Return a duration as events have it."""
    return round(1_000 * seconds, 3)


def size_of(conversation: Conversation) -> Size:
    """Return the size of the host's list."""
    return Size(messages=len(conversation.messages), tokens=conversation.tokens)


def injected(pieces: Iterable[Piece], count: Callable[[Message], int]) -> tuple[int, int]:
    """Return the tokens of notices and of retrieved content among the pieces before a unit."""
    tokens = [0, 0]
    for piece in pieces:
        if isinstance(piece, Written):
            tokens[not piece.message.text.startswith(OPENING)] += count(piece.message)
    return tokens[0], tokens[1]


# In the writer's thread


@dataclass(frozen=True, slots=True)
class UnitSent:
    """The last recorded state of a unit."""

    unit: Unit
    decision: Decision
    before: tuple[int, int]
    event: UnitEvent
    tokens: Mapping[str, int]  # sent, by section

    @property
    def messages(self) -> list[Message]:
        """The messages sent of it."""
        start = self.unit.start
        return messages_of((shifted(p, -start) for p in self.decision.pieces), self.unit.messages)


class Chain:
    """Digests of a request up to each of its units, each made of the one before it, so that equal ones have equal prefixes."""

    def __init__(self) -> None:
        self._front = ""
        self._digests: list[bytes] = []

    def after(self, units: Sequence[UnitSent], first: int, front: str) -> Sequence[bytes]:
        """Return the digests of a request: units from ``first`` on are others than before, behind a ``front``."""
        if front != self._front:
            self._front, first = front, 0
        del self._digests[first:]
        last = self._digests[-1] if self._digests else front.encode("utf-8", "surrogatepass")
        for unit in units[len(self._digests) :]:
            texts = (f"{message.role}\n{text_of(message)}" for message in unit.messages)
            last = content_digest(last, *texts)
            self._digests.append(last)
        return self._digests


class SentBefore(NamedTuple):
    """What decides how much of an earlier request is the start of the next one with the same tools."""

    preamble: Preamble
    same: int  # first unit that is sent differently since, or is new
    counted: int  # its tokens
    why: Broken | None = None  # cause and place of what changed since


class TurnEvents:
    """Makes the turn events of one conversation, in order."""

    def __init__(self, price: Price, *, record_text: bool) -> None:
        self._price = price
        self._record_text = record_text
        self._stretch = 0
        self._last: tuple[TurnTaken, TurnEvent] | None = None
        self._units: list[UnitSent] = []
        self._decisions = Decisions()
        self._pinned: frozenset[int] = frozenset()
        self._sections: Counter[str] = Counter()
        self._cut: float | None = None
        self._named: dict[str, int] = {}  # value -> last unit in which the model used it
        self._chain = Chain()
        self._sent: dict[str, SentBefore] = {}  # the last request with each list of tools
        self._rules = RuleEvents(record_text=record_text)
        self._goal = Goal()

    def event(self, turn: TurnTaken, stretch: int) -> Event:
        """Return the event of a turn, also when it is asked for again; the first one of a ``stretch`` lists all units."""
        if self._last is None or self._last[0] is not turn:
            self._last = turn, self._made(turn)
        event = self._last[1]
        if stretch != self._stretch:
            event["since"], event["units"] = 0, [unit.event for unit in self._units]
            self._put_rules(event, turn, self._rules.whole())
            event["goal"] = self._goal_event(turn.goal)
        self._stretch = stretch
        return cast("Event", event)

    def _made(self, turn: TurnTaken) -> TurnEvent:
        event = self._as_sent(turn)
        said = [message for each in turn.new for message in each.unit.messages]
        recorded = tuple(recorded_in(turn.view.record))
        self._put_rules(event, turn, self._rules.follow(said, recorded, same=event["since"]))
        if turn.goal != self._goal:
            self._goal = turn.goal
            event["goal"] = self._goal_event(turn.goal)
        return event

    def _goal_event(self, goal: Goal) -> GoalEvent:
        by: Literal["people", "program", "nobody"] = "people" if goal.text else "nobody"
        event = GoalEvent(by="program" if goal.is_set else by, messages=list(goal.positions))
        if self._record_text:
            event["text"] = goal.text[:TEXT_CHARS]
        return event

    def _put_rules(self, event: TurnEvent, turn: TurnTaken, changed: RulesEvent) -> None:
        """Put what changed of the rules into an event, if anything did."""
        changed["absent"] = self._rules.absent(turn.prepared.certificate.rules_absent)
        if any(changed.values()):
            event["rules"] = changed

    def _as_sent(self, turn: TurnTaken) -> TurnEvent:
        prepared, certificate = turn.prepared, turn.prepared.certificate
        price, before = self._price, self._units[: turn.same] if prepared.compacted else []
        sent, last = dict(self._sent), list(self._units)
        units, first = self._updated(turn)
        counted, prefix = certificate.counted_tokens, self._prefix(turn, first)
        digests = self._chain.after(self._units, first, turn.view.preamble.text)
        lost = self._lost(turn, sent, last, prefix)
        cached = price.cached_tokens(prefix)
        sections = {name: self._sections[name] for name in SECTIONS}
        sections["notices"] += turn.preamble_tokens
        return {
            **turn.header,
            "event": "turn",
            "ms": turn.ms,
            "limit": certificate.limit_tokens,
            "bound": certificate.bound,
            "counted": counted,
            "fixed": certificate.fixed_tokens,
            "tools": certificate.tools,
            "history": turn.history,
            "sent": {
                "messages": len(prepared.messages),
                "tokens": counted - certificate.fixed_tokens,
                "new": max(0, counted - prefix),
                "prefix": prefix,
                "cached": cached,
                "cost": round(price.cost_tokens(counted, cached), 1),
            },
            "digest": digests[-1].hex() if digests else "",
            "begins": [] if self._last else [digest.hex() for digest in digests],
            "lost": lost,
            "compacted": prepared.compacted,
            "estimate": prepared.cost_estimate,
            "price": {
                "cached_fraction": price.cached_fraction,
                "write_fraction": price.write_fraction,
                "input_per_million": price.input_per_million,
                "tokens_per_s": price.tokens_per_s,
                "minimum_prefix_tokens": price.minimum_prefix_tokens,
                "block_tokens": price.block_tokens,
                "cache_ttl_s": price.cache_ttl_s,
            },
            "sections": sections,
            "rules": None,
            "goal": None,
            "since": turn.new[0].unit.start if turn.new else turn.history["messages"],
            "units": units,
            "cut": self._cut,
            "compaction_ms": turn.compaction_ms,
            "quality": self._quality(before, units) if prepared.compacted else None,
        }

    def _lost(
        self, turn: TurnTaken, sent: dict[str, SentBefore], last: Sequence[UnitSent], prefix: int
    ) -> LostEvent | None:
        """Return what broke the prefix: of the last request with these tools, or of the last one where these tools are others."""
        certificate = turn.prepared.certificate
        tools, known = certificate.tools, sent.get(certificate.tools)
        newest = next(reversed(sent), "")
        if known is None and not (tools and newest):  # a first request, or one on the side
            return None
        before = known or sent[newest]
        if before.counted <= prefix:
            return None
        named, fixed = turn.tools, certificate.fixed_tokens
        past = self._last[0].view.preamble if self._last else turn.view.preamble
        lost = lost_in(
            parts_of(named.get(tools if known else newest, ()), fixed, sent_of(last, past)),
            parts_of(
                named.get(tools, ()),
                fixed,
                sent_of(self._units, turn.view.preamble, turn.preamble_tokens),
            ),
            prefix=prefix,
            counted=certificate.counted_tokens,
            price=self._price,
            is_compacted=turn.prepared.compacted,
            earlier=known.why if known else None,
        )
        if lost is not None:
            why = Broken(lost["cause"], lost["where"])
            self._sent = {
                each: one if each == tools else one._replace(why=one.why or why)
                for each, one in self._sent.items()
            }
        return lost

    def _quality(self, before: Sequence[UnitSent], units: Sequence[UnitEvent]) -> QualityEvent:
        """Measure a compaction: ``before`` are the units before it, ``units`` those it decided on."""
        lines = [
            (len(line), any(self._named.get(value, i) > i for value in names_in(line)))
            for i, unit in enumerate(before)
            if unit.decision.action != "drop" and unit.event["section"] in ("model", "tools")
            for line in joined_text(unit.messages).splitlines()
        ]
        ranked = [(unit["score"], unit) for unit in units if unit["score"] is not None]
        shortened = {unit["unit"] for unit in units if unit["action"] == "shorten"}
        values = [
            (names_in(joined_text(unit.unit.messages)), names_in(joined_text(unit.messages)))
            for unit in self._units
            if unit.decision.start in shortened
        ]
        chars = sum(length for length, _ in lines)
        used = sum(length for length, is_used in lines if is_used)
        scores = sum(score * unit["before"] for score, unit in ranked)
        stays = sum(score * min(unit["before"], unit["after"]) for score, unit in ranked)
        found = sum(len(whole) for whole, _ in values)
        kept = sum(len(whole & left) for whole, left in values)
        return QualityEvent(
            used=round(used / chars, 3) if chars else None,
            relevance=round(10 * stays / scores, 2) if scores else None,
            compression=round(10 * kept / found, 2) if found else None,
        )

    def _updated(self, turn: TurnTaken) -> tuple[list[UnitEvent], int]:
        """Return the changed unit events, and the first unit sent differently from the last request."""
        known, decisions, same = self._units, turn.view.decisions, turn.same
        for gone in known[same:]:
            self._sections.subtract(gone.tokens)
        if len(known) > same:
            self._named = {value: i for value, i in self._named.items() if i < same}
        del known[same:]
        is_pinned_alike = turn.pinned == self._pinned
        goes_on = decisions.continues(self._decisions) and is_pinned_alike and not turn.heads
        start = min(len(known), max(0, len(self._decisions) - 1)) if goes_on else 0
        changed, first = list[UnitEvent](), len(decisions)
        for i in range(start, len(decisions)):
            decision, old = decisions[i], known[i] if i < len(known) else None
            if old and old.decision is decision and is_pinned_alike and i not in turn.heads:
                continue
            before = turn.before.get(i, old.before if old else (0, 0))
            unit = turn.heads.get(i) or (old.unit if old else turn.new[i - same].unit)
            new = self._unit_sent(unit, decision, turn.pinned, before)
            known[i : i + 1] = [new]
            self._sections.update(new.tokens)
            if old is None:
                said = joined_text([m for m in unit.messages if m.role in MODEL_ROLES])
                self._named |= dict.fromkeys(values_of(said), i)
            else:
                self._sections.subtract(old.tokens)
            if old is None or old.decision.sent != decision.sent or i in turn.heads:
                first = min(first, i)
            if old is None or old.event != new.event:
                changed.append(new.event)
        if not goes_on:
            scores = [d.rank.score for d in decisions if d.rank and d.action != "drop"]
            self._cut = min(scores, default=None)
        self._decisions, self._pinned = decisions, turn.pinned
        return changed, first

    def _unit_sent(
        self, unit: Unit, decision: Decision, pinned: frozenset[int], before: tuple[int, int]
    ) -> UnitSent:
        notices, retrieved = before if decision.before else (0, 0)
        section, calls, rank = section_of(unit, pinned), unit.messages[0].calls, decision.rank
        tokens = Counter({"notices": notices, "retrieved": retrieved})
        own = "notices" if decision.action == "drop" else section
        tokens[own] += decision.tokens_after - notices - retrieved
        event = UnitEvent(
            unit=decision.start,
            stop=decision.stop,
            role=unit.messages[0].role,
            tool=calls[0].name if calls else "",
            section=section,
            action=decision.action,
            reason=decision.reason,
            before=decision.tokens_before,
            after=decision.tokens_after,
            handle=decision.handle,
            score=rank.score if rank else None,
            place=rank.place if rank else None,
            among=rank.among if rank else None,
        )
        if self._record_text:
            event["text"] = joined_text(unit.messages)[:TEXT_CHARS]
        return UnitSent(unit, decision, (notices, retrieved), event, tokens)

    def _prefix(self, turn: TurnTaken, first: int) -> int:
        """Return the tokens shared with the last request with these tools, tools included; ``first`` is the first unit that differs.

        Tools stand in front, so a provider caches the requests with each list of them apart.
        """
        certificate, units = turn.prepared.certificate, self._units
        fixed, now = certificate.fixed_tokens, turn.view.preamble
        known = self._sent.pop(certificate.tools, None)
        self._sent = {
            tools: before._replace(same=min(before.same, first))
            for tools, before in [*self._sent.items()][-MOST_TOOL_LISTS:]
        }
        self._sent[certificate.tools] = SentBefore(
            now, len(units), turn.prepared.certificate.counted_tokens
        )
        if known is None:
            return 0
        past, first = known.preamble, min(known.same, first)
        at = min((preamble.at for preamble in (past, now) if preamble.text), default=0)

        def stands_before(unit: UnitSent) -> bool:
            return unit.event["section"] == "system" or unit.event["stop"] <= at

        is_same = past.text == now.text and (past.at == now.at or not now.text)
        if is_same and not any(map(stands_before, units[first : first + 1])):
            return fixed + turn.preamble_tokens + turn.view.tokens - tokens_of(units[first:])
        return fixed + tokens_of(takewhile(stands_before, units[:first]))


def sent_of(
    units: Iterable[UnitSent], preamble: Preamble, preamble_tokens: int = 0
) -> Iterator[tuple[Message, int]]:
    """Yield the messages of a request with their tokens, those of a unit with its first one."""
    said = bool(preamble.text)
    for unit in units:
        if said and unit.event["section"] != "system" and unit.event["unit"] >= preamble.at:
            said = False
            yield as_message(preamble.text), preamble_tokens
        for at, message in enumerate(unit.messages):
            yield message, 0 if at else unit.decision.tokens_after


def tokens_of(units: Iterable[UnitSent]) -> int:
    """Return the tokens sent of units."""
    return sum(unit.decision.tokens_after for unit in units)


def names_in(text: str) -> frozenset[str]:
    """Return the values in a text that name one thing: paths, identifiers, numbers."""
    return frozenset(filter(is_distinctive, values_of(text)))


def section_of(unit: Unit, pinned: frozenset[int]) -> str:
    """Return a unit's section: pinned, system, tools (calls and results), model or people."""
    role = unit.messages[0].role
    if not pinned.isdisjoint(range(unit.start, unit.stop)):
        return "pinned"
    if role in SYSTEM_ROLES:
        return "system"
    if unit.has_calls or unit.is_stray:
        return "tools"
    return "model" if role in MODEL_ROLES else "people"
