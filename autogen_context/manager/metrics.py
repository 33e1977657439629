"""OpenTelemetry metrics and spans of turns, derived from the events of the event log.

Promise: metrics and log agree, since both come from the same events. They are recorded in the background; a turn only notes its
current span. Billed tokens follow OpenTelemetry's generative AI conventions; all other names are ``autogen_context.*``.
"""

import atexit
import logging
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, cast
from weakref import WeakSet

from autogen_context.errors import MissingExtra
from autogen_context.manager.event_log import Event, EventBuilder, EventLog, Writer
from autogen_context.manager.event_schema import price_in
from autogen_context.tokens.prices import price_of

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Meter, MeterProvider
    from opentelemetry.trace import TracerProvider
    from opentelemetry.util.types import AttributeValue

    from autogen_context.manager.event_schema import Header, ImpossibleEvent, TurnEvent

    Attributes = Mapping[str, AttributeValue]
    Recorder = Callable[[float, Attributes], None]

logger = logging.getLogger(__name__)

NAME = "autogen_context"
# Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics (read 2026-11)
TOKEN_BUCKETS = [float(4**power) for power in range(14)]
SECOND_BUCKETS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
InstrumentKind = Literal["counter", "gauge", "histogram"]
USAGE = "gen_ai.client.token.usage"
PROVIDERS = {"Google": "gcp.gemini", "xAI": "x_ai"}  # others: the name in lower case
INSTRUMENTS: Mapping[str, tuple[InstrumentKind, str, str]] = {
    "tokens": ("counter", "{token}", "Input tokens sent, by section, as counted here"),
    "cost": ("counter", "{token}", "Estimated price of what was sent, in uncached input tokens"),
    "cost.dollars": ("counter", "USD", "The same in dollars, if the model's price is known"),
    "cached_tokens": ("counter", "{token}", "Billed input tokens that the provider had cached"),
    "lost_tokens": ("counter", "{token}", "Tokens no longer cached by the provider, by cause"),
    "compactions": ("counter", "{compaction}", "Compactions, by reason"),
    "impossible_turns": ("counter", "{turn}", "Turns whose protected messages exceeded the window"),
    "cache.lookups": ("counter", "{lookup}", "ContextCache look-ups, by hit or miss"),
    "cache.invalidations": ("counter", "{entry}", "Entries that had changed or were invalidated"),
    "recalls": ("counter", "{call}", "Originals the agent asked for, by whether they were found"),
    "memory.fraction": ("gauge", "1", "Tokens sent by tokens of the full history"),
    "quality.used": ("gauge", "1", "Fraction of the candidate content that later turns used"),
    "quality.relevance": ("gauge", "1", "Share of the candidates' score that was kept, 0..10"),
    "quality.compression": ("gauge", "1", "Share of the values kept in shortened texts, 0..10"),
    "turn.duration": ("histogram", "s", "Time to prepare a turn, without waiting for models"),
    "compaction.duration": ("histogram", "s", "Time to plan and write a request that compacts"),
    "model_call.duration": ("histogram", "s", "Time of a model call made by a part"),
    USAGE: ("histogram", "{token}", "Number of input and output tokens used"),
}


class Metrics:
    """Exports agents' turns to OpenTelemetry; one instance serves all agents of a process.

    Args:
        token_usage: record billed tokens as ``gen_ai.client.token.usage``; pass ``False`` if the host or an instrumentation
            of its client already does.
        meter_provider: receives the metrics; by default the process's provider.
        tracer_provider: receives the spans; by default the process's provider.

    Raises:
        MissingExtra: opentelemetry-api is not installed.
    """

    def __init__(
        self,
        *,
        token_usage: bool = True,
        meter_provider: "MeterProvider | None" = None,
        tracer_provider: "TracerProvider | None" = None,
    ) -> None:
        try:
            from opentelemetry import context, metrics, trace  # noqa: PLC0415 - optional
        except ImportError as error:
            raise MissingExtra("otel", needed_for="metrics=") from error
        self._trace, self._now_in = trace, context.get_current
        self._tracer = trace.get_tracer(NAME, tracer_provider=tracer_provider)
        meter = metrics.get_meter(NAME, meter_provider=meter_provider)
        self._record = {
            name: recorder_of(meter, name, *of)
            for name, of in INSTRUMENTS.items()
            if token_usage or name != USAGE
        }
        self._logs: WeakSet[EventLog | Writer] = WeakSet()
        atexit.register(partial(flush, self._logs))  # runs before older providers shut down

    def follow(self, log: EventLog | Writer) -> None:
        """Flush this log at process exit."""
        self._logs.add(log)

    def fed(self, builder: EventBuilder) -> EventBuilder:
        """Wrap an event so that building it also records metrics, under the span that is current now."""
        now_in, is_new = self._now_in(), True

        def both(stretch: int) -> Event:
            nonlocal is_new
            event = builder(stretch)
            try:
                if is_new:
                    self._record_event(event, now_in)
            except Exception as error:  # noqa: BLE001 - a provider may raise anything; the log continues
                logger.warning("metrics failed: %s", type(error).__name__)
            is_new = False
            return event

        return both

    @contextmanager
    def model_call(self, what: str) -> Generator[None]:
        """Open a span around a model call; of an error, it records the type only."""
        with self._tracer.start_as_current_span(
            f"{NAME}.model_call",
            attributes={f"{NAME}.what": what},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(self._trace.StatusCode.ERROR)
                raise

    def _record_event(self, event: Event, now_in: "Context") -> None:
        """Record the measurements of an event, and the spans of a turn."""
        named = {
            "gen_ai.agent.name": event.get("agent"),
            "gen_ai.request.model": event.get("model"),
        }
        names = {name: str(value) for name, value in named.items() if value}
        for name, value, said in measurements(event):
            if name in self._record and (value > 0 or INSTRUMENTS[name][0] == "gauge"):
                self._record[name](value, {**names, **ours(said)})
        if event["event"] == "impossible":
            failed = cast("ImpossibleEvent", event)
            said = {**names, "error.type": "ContextWindowExceeded"}
            self._span("turn", failed, failed["ms"], said, now_in)
        elif event["event"] == "turn":
            turn = cast("TurnEvent", event)
            facts: Attributes = {
                "turn": turn["turn"],
                "run": turn["run"],
                "limit_tokens": turn["limit"],
                "tokens": turn["counted"],
                "history_tokens": turn["history"]["tokens"],
                "prefix_tokens": turn["sent"]["prefix"],
                "compacted": turn["compacted"],
            }
            within = self._span("turn", turn, turn["ms"], {**names, **ours(facts)}, now_in)
            if turn["compacted"]:
                said = {**names, **ours({"why": why_of(turn)})}
                self._span("compaction", turn, turn["compaction_ms"], said, within)

    def _span(
        self, name: str, event: "Header", ms: float, said: "Attributes", now_in: "Context"
    ) -> "Context":
        """Create a span ending at the event's time, and return the context within it."""
        ends_ns = int(event["at"] * 1e9)
        span = self._tracer.start_span(
            f"{NAME}.{name}", context=now_in, attributes=said, start_time=ends_ns - int(ms * 1e6)
        )
        if "error.type" in said:
            span.set_status(self._trace.StatusCode.ERROR)
        span.end(ends_ns)
        return self._trace.set_span_in_context(span, now_in)


def measurements(event: Event) -> "Iterator[tuple[str, float, Attributes]]":
    """Yield the metrics of an event: name, value, attributes."""
    match event:
        case {"event": "turn"}:
            yield from measurements_of_turn(cast("TurnEvent", event))
        case {"event": "impossible"}:
            yield "impossible_turns", 1, {}
        case {"event": "usage", "prompt": int(prompt), "cached": cached, "model": model}:
            provider = price_of(str(model)).provider
            if isinstance(cached, int):
                yield "cached_tokens", cached, {}
            yield (
                USAGE,
                prompt,
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.provider.name": PROVIDERS.get(provider, provider.lower()),
                    "gen_ai.token.type": "input",
                },
            )
        case {"event": "cache", "hits": int(hits), "misses": int(misses), "invalidated": int(gone)}:
            yield "cache.lookups", hits, {"result": "hits"}
            yield "cache.lookups", misses, {"result": "misses"}
            yield "cache.invalidations", gone, {}
        case {"event": "model_call", "ms": float(ms), "what": str(what), "why": str(why)}:
            failed = {"error.type": why} if why else {}
            yield "model_call.duration", ms / 1_000, {**failed, "what": what}
        case {"event": "asked_back", "found": bool(found)}:
            yield "recalls", 1, {"found": found}
        case _:
            pass


def measurements_of_turn(turn: "TurnEvent") -> "Iterator[tuple[str, float, Attributes]]":
    """Yield the metrics of a turn."""
    sent, price, history = turn["sent"], price_in(turn), turn["history"]["tokens"]
    for section, tokens in {**turn["sections"], "fixed": turn["fixed"]}.items():
        yield "tokens", tokens, {"section": section}
    cached = price.cost_tokens(sent.get("cached", 0), sent.get("cached", 0))
    for state, cost in (("cached", cached), ("uncached", sent.get("cost", 0) - cached)):
        yield "cost", cost, {"cache": state}
        if (dollars := price.dollars(cost)) is not None:
            yield "cost.dollars", dollars, {"cache": state}
    if lost := turn.get("lost"):
        yield "lost_tokens", lost["tokens"], {"cause": lost["cause"]}
    yield "turn.duration", turn["ms"] / 1_000, {}
    if history:
        yield "memory.fraction", sent["tokens"] / history, {}
    if turn["compacted"]:
        yield "compactions", 1, {"why": why_of(turn)}
        yield "compaction.duration", turn["compaction_ms"] / 1_000, {}
    for name, value in (turn["quality"] or {}).items():
        if isinstance(value, int | float):
            yield f"quality.{name}", value, {}


def why_of(turn: "TurnEvent") -> str:
    """Return why a turn compacted."""
    return turn["estimate"].why if turn["estimate"] else ""


def recorder_of(
    meter: "Meter", name: str, kind: InstrumentKind, unit: str, said: str
) -> "Recorder":
    """Create an instrument and return the method that records a value."""
    name = name if name == USAGE else f"{NAME}.{name}"
    if kind == "counter":
        return meter.create_counter(name, unit=unit, description=said).add
    if kind == "gauge":
        return meter.create_gauge(name, unit=unit, description=said).set
    return meter.create_histogram(
        name,
        unit=unit,
        description=said,
        explicit_bucket_boundaries_advisory=SECOND_BUCKETS if unit == "s" else TOKEN_BUCKETS,
    ).record


def ours(said: "Attributes") -> "Attributes":
    """Return attributes under this package's prefix, but for those of OpenTelemetry's conventions."""
    return {name if "." in name else f"{NAME}.{name}": value for name, value in said.items()}


def flush(logs: "WeakSet[EventLog | Writer]") -> None:
    """Flush logs at process exit."""
    for log in list(logs):
        log.flush()


@cache
def of_process() -> Metrics:
    """Return the process-wide metrics used for ``metrics=True``."""
    return Metrics()
