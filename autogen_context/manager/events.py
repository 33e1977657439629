"""The events of a turn: their schema, and the recorder of one conversation.

Promise: a turn only hands over immutable values; the event is completed from them when it is written. It lists the units that
are new or have a new decision, so that all events together hold every decision; the first event in a file lists all units.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from time import perf_counter, time
from typing import TYPE_CHECKING, Literal, NamedTuple, NotRequired, cast
from uuid import uuid4

from typing_extensions import TypedDict

from autogen_context.cache.values import Cache, Counting
from autogen_context.config.config import ContextConfig
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.event_log import Event, EventBuilder, EventLog, Writer
from autogen_context.manager.injected import OPENING
from autogen_context.manager.parts import price_in
from autogen_context.manager.prepared import Prepared
from autogen_context.messages.identifiers import is_telling, values_of
from autogen_context.messages.message import SYSTEM_ROLES, Message, joined_text
from autogen_context.messages.piece import Piece, Written
from autogen_context.messages.segment import Unit
from autogen_context.models.completion import Complete
from autogen_context.tokens.measure import Count
from autogen_context.tokens.prices import Price
from autogen_context.triggers.price import CostEstimate
from autogen_context.view.certificate import Certificate
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Candidate, Decision, Decisions
from autogen_context.view.view import ContextView, as_message

if TYPE_CHECKING:
    from autogen_context.manager.metrics import Metrics

TEXT_CHARS = 200  # recorded of a unit's text, if text is recorded
SECTIONS = ("system", "pinned", "people", "model", "tools", "told", "retrieved")


class UnitEvent(TypedDict):
    """The decision on a unit: messages ``unit`` up to but not including ``stop`` of the host's list, from 0."""

    unit: int
    stop: int
    role: str  # of its first message
    tool: str  # the first one called; empty if none
    section: str
    action: str
    reason: str
    before: int  # tokens as received
    after: int  # tokens as sent
    handle: str
    score: float | None  # None if the unit was not ranked
    place: int | None
    among: int | None
    text: NotRequired[str]


class Size(TypedDict):
    """The size of a list of messages."""

    messages: int
    tokens: int


class SentTokens(Size):
    """The size of a request: ``prefix`` tokens shared with the start of the previous one, then ``new`` tokens."""

    new: int
    prefix: int
    cached: NotRequired[int]  # of the prefix, by the provider's rule
    cost: NotRequired[float]  # in uncached input tokens


class PriceEvent(TypedDict):
    """Input prices: cached and written tokens as fractions of an uncached one; dollars per million uncached, and speed, if known."""

    cached: float
    write: float
    dollars: float | None
    tokens_per_s: NotRequired[float | None]


class QualityEvent(TypedDict):
    """Quality measures of a compaction; ``None`` where there was nothing to measure."""

    used: float | None  # fraction of the model and tool text sent before that was used again
    relevance: float | None  # 0..10: share of the total score that was kept
    compression: float | None  # 0..10: share of values kept in shortened units


class Header(TypedDict):
    """What every event of a run has."""

    v: Literal[1]
    run: str
    agent: str
    model: str
    turn: int
    at: float


class TurnEvent(Header):
    """One turn. Its units from message ``since`` on replace those of earlier events."""

    event: Literal["turn"]
    ms: float
    limit: int
    bound: Count  # upper bound on the provider's count
    counted: int
    fixed: int
    history: Size
    sent: SentTokens
    compacted: bool
    estimate: CostEstimate | None
    price: PriceEvent
    sections: dict[str, int]
    since: int
    units: list[UnitEvent]
    cut: float | None
    compaction_ms: float  # 0 if it did not compact
    quality: QualityEvent | None  # None as well then


class ImpossibleEvent(Header):
    """A turn that could not be prepared: the tokens needed, by part."""

    event: Literal["impossible"]
    ms: float
    limit: int
    needed: int
    parts: dict[str, int]
    history: Size


class Captured(NamedTuple):
    """The immutable values of a turn, with which its event is completed later."""

    event: TurnEvent
    decisions: Decisions
    same: int  # leading units unchanged since the previous turn
    new: tuple[Candidate, ...]  # the remaining units
    preamble: tuple[int, int]  # its tokens, and the host's messages before it
    pinned: frozenset[int]
    before: Mapping[int, tuple[int, int]]  # tokens of notices and retrieved content before a unit


class TurnLog:
    """Records the events of one conversation in an event log, metrics or both."""

    def __init__(
        self, log: EventLog | None, config: ContextConfig, metrics: "Metrics | None" = None
    ) -> None:
        self.log = Writer() if log is None else log
        self._metrics = metrics
        if metrics is not None:
            metrics.follow(self.log)
        self._run, self._model, self._turn = uuid4().hex[:12], config.model, 0
        named = (each.agent for each in (log, metrics) if each is not None)
        self._agent = config.agent or next(filter(None, named), "")
        self._series = Series(price_in(config), record_text=log is not None and log.record_text)
        self._caches: list[tuple[Counting, tuple[int, int, int]]] = []
        self._known: list[Candidate] = []
        self._decisions = Decisions()
        self._pins: frozenset[bytes] = frozenset()
        self._pinned: frozenset[int] = frozenset()
        self._preamble = ("", 0)
        self._certificates: deque[tuple[Certificate, int]] = deque(maxlen=16)

    def turn(
        self,
        conversation: Conversation,
        view: ContextView,
        prepared: Prepared[object],
        *,
        count: Callable[[Message], int],
        started_s: float,
        planned_s: float,
    ) -> None:
        """Record a prepared turn; ``planned_s`` is the time when all new messages had been read."""
        known, decisions, text = self._known, view.decisions, view.preamble.text
        candidates, certificate = conversation.candidates, prepared.certificate
        same = min(len(known), len(candidates))
        while same and known[same - 1] is not candidates[same - 1]:
            same -= 1
        if text != self._preamble[0]:
            self._preamble = text, count(as_message(text)) if text else 0
        goes_on = same == len(known) and decisions.continues(self._decisions)
        # If the view only grew, only the newest unit can have new pieces before it.
        looked = (len(decisions) - 1,) if goes_on and decisions else decisions.live
        before = {i: injected(decisions[i].before, count) for i in looked}
        now_s, counted = perf_counter(), certificate.counted_tokens
        event: TurnEvent = {
            **self._next_turn(),
            "event": "turn",
            "ms": round(1_000 * (now_s - started_s), 3),
            "limit": certificate.limit_tokens,
            "bound": certificate.bound,
            "counted": counted,
            "fixed": certificate.fixed_tokens,
            "history": size_of(conversation),
            "sent": {"messages": len(prepared.messages), "tokens": 0, "new": 0, "prefix": 0},
            "compacted": prepared.compacted,
            "estimate": prepared.cost_estimate,
            "price": self._series.price,
            "sections": {},
            "since": 0,
            "units": [],
            "cut": None,
            "compaction_ms": round(1_000 * (now_s - planned_s), 3) if prepared.compacted else 0.0,
            "quality": None,
        }
        self._certificates.append((certificate, self._turn))
        new = tuple(candidates[same:])
        now = Captured(
            event=event,
            decisions=decisions,
            same=same,
            new=new,
            preamble=(self._preamble[1], view.preamble.at if text else 0),
            pinned=self._positions(
                conversation, view, candidates[same - 1].unit.stop if same else 0
            ),
            before=before,
        )
        if self._put(partial(self._series.event, now)):
            known[same:] = new
            self._decisions = decisions
        for at, (cache, told) in enumerate(self._caches):
            if (counts := cache.counts) != told:
                hits, misses, invalidated = (n - m for n, m in zip(counts, told, strict=True))
                self._tell("cache", hits=hits, misses=misses, invalidated=invalidated)
                self._caches[at] = cache, counts

    def impossible(
        self, conversation: Conversation, error: ContextWindowExceeded, *, started_s: float
    ) -> None:
        """Record a turn that could not be prepared."""
        event: ImpossibleEvent = {
            **self._next_turn(),
            "event": "impossible",
            "ms": round(1_000 * (perf_counter() - started_s), 3),
            "limit": error.limit_tokens,
            "needed": error.floor_tokens,
            "parts": error.parts,
            "history": size_of(conversation),
        }
        self._put(lambda _: event)

    def follow(self, cache: Cache) -> None:
        """Record with each turn the cache's hits and misses since the previous one, if it counts them."""
        if isinstance(cache, Counting):
            self._caches.append((cache, cache.counts))

    def usage(self, certificate: Certificate, *, prompt_tokens: int, cached_tokens: int) -> None:
        """Record what the provider billed for a turn."""
        turn = next((turn for known, turn in self._certificates if known is certificate), None)
        self._tell("usage", turn=turn, prompt=prompt_tokens, cached=cached_tokens)

    def asked_back(self, handle: str, query: str, *, found: bool) -> None:
        """Record that the agent asked for evicted content; a handle that may be free text is not recorded."""
        shown = handle if handle.isalnum() and len(handle) < TEXT_CHARS else ""  # may be free text
        self._tell("asked_back", handle=shown, query_chars=len(query), found=found)

    def summary(self, why: str) -> None:
        """Record the check of a model's summary; ``why`` is the reason for rejecting it, or empty."""
        self._tell("summary", used=not why, why=why)

    def timed(self, complete: Complete, what: str) -> Complete:
        """Wrap a model so that its calls are recorded."""

        async def told(prompt: str, /) -> str:
            started_s, why = perf_counter(), ""
            try:
                with self._metrics.model_call(what) if self._metrics else nullcontext():
                    return await complete(prompt)
            except BaseException as error:
                why = type(error).__name__
                raise
            finally:
                ms = round(1_000 * (perf_counter() - started_s), 1)
                self._tell("model_call", what=what, ms=ms, ok=not why, why=why)

        return told

    def _positions(
        self, conversation: Conversation, view: ContextView, start: int
    ) -> frozenset[int]:
        """Return the positions of pinned messages; those before ``start`` are known from the last turn."""
        if view.pins:
            digests = conversation.history.digests
            start = start if view.pins == self._pins else 0
            known = {at for at in self._pinned if at < start}
            new = {at for at in range(start, len(digests)) if digests[at] in view.pins}
            self._pinned = frozenset(known | new)
        elif self._pinned:
            self._pinned = frozenset()
        self._pins = view.pins
        return self._pinned

    @property
    def _header(self) -> Header:
        return {
            "v": 1,
            "run": self._run,
            "agent": self._agent,
            "model": self._model,
            "turn": self._turn,
            "at": round(time(), 6),
        }

    def _next_turn(self) -> Header:
        self._turn += 1
        return self._header

    def _tell(self, event: str, **told: object) -> None:
        said = {**self._header, "event": event, **told}
        self._put(lambda _: said)

    def _put(self, told: EventBuilder) -> bool:
        return self.log.put(told if self._metrics is None else self._metrics.fed(told))


def size_of(conversation: Conversation) -> Size:
    """Return the size of the host's list."""
    return Size(messages=len(conversation.messages), tokens=conversation.tokens)


def injected(pieces: Iterable[Piece], count: Callable[[Message], int]) -> tuple[int, int]:
    """Return the tokens of notices and of retrieved content among the pieces before a unit."""
    told, retrieved = 0, 0
    for piece in pieces:
        if isinstance(piece, Written):
            tokens = count(piece.message)
            if piece.message.text.startswith(OPENING):
                told += tokens
            else:
                retrieved += tokens
    return told, retrieved


# In the writer's thread


@dataclass(slots=True)
class Row:
    """The last recorded state of a unit."""

    unit: Unit
    decision: Decision
    before: tuple[int, int]
    told: UnitEvent
    tokens: Mapping[str, int]  # sent, by section


class Series:
    """Completes the turn events of one conversation, in order."""

    def __init__(self, tariff: Price, *, record_text: bool) -> None:
        self.price = PriceEvent(
            cached=tariff.cached_fraction,
            write=tariff.write_fraction,
            dollars=tariff.input_per_million,
            tokens_per_s=tariff.tokens_per_s,
        )
        self._tariff = tariff
        self._record_text = record_text
        self._stretch = 0
        self._rows: list[Row] = []
        self._decisions = Decisions()
        self._pinned: frozenset[int] = frozenset()
        self._sections: Counter[str] = Counter()
        self._fixed, self._preamble = -1, (0, 0)  # of the last request
        self._cut: float | None = None
        self._named: dict[str, int] = {}  # value -> last unit in which the model used it

    def event(self, now: Captured, stretch: int) -> Event:
        """Return the event of a turn; the first one of a ``stretch`` lists all units."""
        event, sent = now.event, now.event["sent"]
        if not event["sections"]:  # else it is asked for again, for another file
            rows = enumerate(self._rows[: now.same] if event["compacted"] else [])
            shown = [(i, row) for i, row in rows if row.decision.action != "drop"]
            event["units"], first = self._updated(now)
            event["since"] = now.new[0].unit.start if now.new else event["history"]["messages"]
            if event["compacted"]:
                event["quality"] = self._quality(shown, event["units"])
            counted, prefix = event["counted"], self._prefix(now, first)
            cached = self._tariff.cached_tokens(prefix)
            sent["tokens"], sent["new"] = counted - event["fixed"], max(0, counted - prefix)
            sent["prefix"], sent["cached"] = prefix, cached
            sent["cost"] = round(self._tariff.cost_tokens(counted, cached), 1)
            event["sections"] = {name: self._sections[name] for name in SECTIONS}
            event["sections"]["told"] += now.preamble[0]
            event["cut"] = self._cut
        if stretch != self._stretch:
            event["since"], event["units"] = 0, [row.told for row in self._rows]
        self._stretch = stretch
        return cast("Event", event)

    def _quality(
        self, shown: Iterable[tuple[int, Row]], units: Sequence[UnitEvent]
    ) -> QualityEvent:
        """Measure a compaction: ``shown`` are the units sent before it, ``units`` those it decided on."""
        lines = [
            (line, any(self._named.get(value, i) > i for value in telling(line)))
            for i, row in shown
            if row.told["section"] in ("model", "tools")
            for line in joined_text(sent_of(row)).splitlines()
        ]
        chars = sum(len(line) for line, _ in lines)
        used = sum(len(line) for line, is_used in lines if is_used)
        ranked = [(unit["score"] or 0.0, unit) for unit in units if unit["score"] is not None]
        whole = sum(score * unit["before"] for score, unit in ranked)
        stays = sum(score * min(unit["before"], unit["after"]) for score, unit in ranked)
        shortened = {unit["unit"] for unit in units if unit["action"] == "shorten"}
        cut = [row for row in self._rows if row.decision.start in shortened]
        before = [telling(joined_text(row.unit.messages)) for row in cut]
        values = sum(map(len, before))
        kept = sum(
            len(b & telling(joined_text(sent_of(r)))) for b, r in zip(before, cut, strict=True)
        )
        return QualityEvent(
            used=round(used / chars, 3) if chars else None,
            relevance=round(10 * stays / whole, 2) if whole else None,
            compression=round(10 * kept / values, 2) if values else None,
        )

    def _updated(self, now: Captured) -> tuple[list[UnitEvent], int]:
        """Return the changed unit events, and the first unit sent differently from the last request."""
        rows, decisions, same = self._rows, now.decisions, now.same
        for row in rows[same:]:
            self._sections.subtract(row.tokens)
        if len(rows) > same:
            self._named = {value: i for value, i in self._named.items() if i < same}
        del rows[same:]
        goes_on = decisions.continues(self._decisions) and now.pinned == self._pinned
        start = min(len(rows), max(0, len(self._decisions) - 1)) if goes_on else 0
        units, first = list[UnitEvent](), len(decisions)
        for i in range(start, len(decisions)):
            decision, old = decisions[i], rows[i] if i < len(rows) else None
            if old and old.decision is decision and now.pinned == self._pinned:
                continue
            unit = old.unit if old else now.new[i - same].unit
            row = self._row(
                unit, decision, now.pinned, now.before.get(i, old.before if old else None)
            )
            if old is None:
                rows.append(row)
                said = joined_text([m for m in unit.messages if m.role == "assistant"])
                self._named |= dict.fromkeys(values_of(said), i)
            else:
                rows[i] = row
                self._sections.subtract(old.tokens)
            self._sections.update(row.tokens)
            if old is None or old.decision.sent != decision.sent:
                first = min(first, i)
            if old is None or old.told != row.told:
                units.append(row.told)
        if not goes_on:
            ranks = [d.rank.score for d in decisions if d.rank and d.action != "drop"]
            self._cut = min(ranks, default=None)
        self._decisions, self._pinned = decisions, now.pinned
        return units, first

    def _row(
        self,
        unit: Unit,
        decision: Decision,
        pinned: frozenset[int],
        before: tuple[int, int] | None,
    ) -> Row:
        told, retrieved = before if before and decision.before else (0, 0)
        section = section_of(unit, pinned)
        rest = decision.tokens_after - told - retrieved
        tokens = Counter({"told": told, "retrieved": retrieved})
        tokens["told" if decision.action == "drop" else section] += rest
        calls, rank = unit.messages[0].calls, decision.rank
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
        return Row(unit, decision, (told, retrieved), event, tokens)

    def _prefix(self, now: Captured, first: int) -> int:
        """Return the tokens of the prefix shared with the last request, tools included."""
        fixed, preamble, rows = now.event["fixed"], now.preamble, self._rows
        is_same, before = fixed == self._fixed, self._preamble
        self._fixed, self._preamble = fixed, preamble
        if not is_same:
            return 0
        if preamble == before:
            return fixed + preamble[0] + now.decisions.tokens - tokens_of(rows[first:])
        at = min(
            at for tokens, at in (before, preamble) if tokens
        )  # where it came, changed or went
        same = takewhile(
            lambda row: row.told["section"] == "system" or row.told["stop"] <= at, rows[:first]
        )
        return fixed + tokens_of(same)


def tokens_of(rows: Iterable[Row]) -> int:
    """Return the tokens sent of units."""
    return sum(row.decision.tokens_after for row in rows)


def telling(text: str) -> frozenset[str]:
    """Return the distinctive values in a text: paths, identifiers, numbers."""
    return frozenset(filter(is_telling, values_of(text)))


def sent_of(row: Row) -> list[Message]:
    """Return the messages sent of a unit."""
    unit, said = row.unit, list[Message]()
    for piece in row.decision.pieces:
        if isinstance(piece, Written):
            said.append(piece.message)
        else:
            said += unit.messages[piece.start - unit.start : piece.stop - unit.start]
    return said


def section_of(unit: Unit, pinned: frozenset[int]) -> str:
    """Return a unit's section: pinned, system, tools (calls and results), model or people."""
    role = unit.messages[0].role
    if not pinned.isdisjoint(range(unit.start, unit.stop)):
        return "pinned"
    if role in SYSTEM_ROLES:
        return "system"
    if unit.has_calls or unit.is_stray:
        return "tools"
    return "model" if role == "assistant" else "people"
