"""OpenTelemetry metrics and spans of turns, derived from the events of the event log.

Promise: metrics and log agree, since both come from the same events. They are recorded in the background; a turn only notes its
current span. Billed tokens follow OpenTelemetry's generative AI conventions; all other names are ``autogen_context.*``.
"""

import atexit
import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, Self, cast
from weakref import WeakSet

from autogen_context.errors import MissingExtra
from autogen_context.manager.event_log import Event, EventBuilder, EventLog, Writer
from autogen_context.tokens.prices import price_of

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import Meter, MeterProvider
    from opentelemetry.trace import TracerProvider
    from opentelemetry.util.types import AttributeValue

    from autogen_context.manager.events import TurnEvent

    Attributes = Mapping[str, AttributeValue]
    Recorder = Callable[[float, Attributes], None]

logger = logging.getLogger(__name__)

NAME = "autogen_context"
MILLION = 1_000_000
# Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics (read 2026-11)
TOKEN_BUCKETS = [float(4**power) for power in range(14)]
SECOND_BUCKETS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
Kind = Literal["counter", "gauge", "histogram"]
USAGE = "gen_ai.client.token.usage"
PROVIDERS = {"Google": "gcp.gemini", "xAI": "x_ai"}  # others: the name in lower case
INSTRUMENTS: Mapping[str, tuple[Kind, str, str]] = {
    "tokens": ("counter", "{token}", "Input tokens sent, by section, as counted here"),
    "cost": ("counter", "{token}", "Estimated price of what was sent, in uncached input tokens"),
    "cost.dollars": ("counter", "USD", "The same in dollars, if the model's price is known"),
    "cached_tokens": ("counter", "{token}", "Billed input tokens that the provider had cached"),
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
        self.agent = ""
        self._trace, self._now_in = trace, context.get_current
        self._tracer = trace.get_tracer(NAME, tracer_provider=tracer_provider)
        meter = metrics.get_meter(NAME, meter_provider=meter_provider)
        self._instruments = {
            name: recorder_of(meter, f"{NAME}.{name}", *of) for name, of in INSTRUMENTS.items()
        }
        if token_usage:
            said = "Number of input and output tokens used"
            self._instruments[USAGE] = recorder_of(meter, USAGE, "histogram", "{token}", said)
        self._logs: WeakSet[EventLog | Writer] = WeakSet()
        atexit.register(partial(flush, self._logs))  # runs before older providers shut down

    def of(self, agent: str) -> Self:
        """Return the same metrics for an agent whose settings give no name."""
        same = copy(self)
        same.agent = agent
        return same

    def follow(self, log: EventLog | Writer) -> None:
        """Flush this log at process exit."""
        self._logs.add(log)

    def fed(self, told: EventBuilder) -> EventBuilder:
        """Wrap an event so that building it also records metrics, under the span that is current now."""
        now_in, is_new = self._now_in(), True

        def both(stretch: int) -> Event:
            nonlocal is_new
            event = told(stretch)
            try:
                if is_new:
                    self._tell(event, now_in)
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

    def _tell(self, event: Event, now_in: "Context") -> None:
        names = {
            name: str(event[key])
            for name, key in (("gen_ai.agent.name", "agent"), ("gen_ai.request.model", "model"))
            if event.get(key)
        }
        kind = event["event"]
        if kind == "turn":
            self._tell_turn(cast("TurnEvent", event), names, now_in)
        elif kind == "usage":
            self._tell_usage(event, names)
        elif kind == "impossible":
            self._add("impossible_turns", 1, names)
            self._span(event, {**names, "error.type": "ContextWindowExceeded"}, now_in)
        elif kind == "cache":
            for result in ("hits", "misses"):
                self._add("cache.lookups", number(event[result]), names, result=result)
            self._add("cache.invalidations", number(event["invalidated"]), names)
        elif kind == "model_call":
            said = names if event["ok"] else {**names, "error.type": str(event["why"])}
            seconds = number(event["ms"]) / 1_000
            self._record("model_call.duration", seconds, said, what=str(event["what"]))
        elif kind == "asked_back":
            self._add("recalls", 1, names, found=bool(event["found"]))

    def _tell_turn(self, turn: "TurnEvent", names: "Attributes", now_in: "Context") -> None:
        """Record the metrics and spans of a turn."""
        sent, price, history = turn["sent"], turn["price"], turn["history"]["tokens"]
        for section, tokens in {**turn["sections"], "fixed": turn["fixed"]}.items():
            self._add("tokens", tokens, names, section=section)
        cached = sent.get("cached", 0) * price["cached"]
        for state, cost in (("cached", cached), ("uncached", sent.get("cost", 0) - cached)):
            self._add("cost", cost, names, cache=state)
            self._add("cost.dollars", cost * (price["dollars"] or 0) / MILLION, names, cache=state)
        self._record("turn.duration", turn["ms"] / 1_000, names)
        if history:
            self._record("memory.fraction", sent["tokens"] / history, names)
        span = self._span(
            cast("Event", turn),
            names,
            now_in,
            turn=turn["turn"],
            run=turn["run"],
            limit_tokens=turn["limit"],
            tokens=turn["counted"],
            history_tokens=history,
            prefix_tokens=sent["prefix"],
            compacted=turn["compacted"],
        )
        if turn["compacted"]:
            why, ms = turn["estimate"].why if turn["estimate"] else "", turn["compaction_ms"]
            self._add("compactions", 1, names, why=why)
            self._record("compaction.duration", ms / 1_000, names)
            for name, value in (turn["quality"] or {}).items():
                if isinstance(value, int | float):
                    self._record(f"quality.{name}", value, names)
            self._span({**turn, "event": "compaction", "ms": ms}, names, span, why=why)

    def _tell_usage(self, event: Event, names: "Attributes") -> None:
        """Record what the provider billed."""
        self._add("cached_tokens", number(event["cached"]), names)
        if USAGE in self._instruments:
            provider = price_of(str(event["model"])).provider
            said = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": PROVIDERS.get(provider, provider.lower()),
                "gen_ai.token.type": "input",
            }
            if event["model"]:
                said["gen_ai.request.model"] = str(event["model"])
            self._instruments[USAGE](number(event["prompt"]), said)

    def _add(self, name: str, amount: float, names: "Attributes", **said: "AttributeValue") -> None:
        if amount > 0:
            self._record(name, amount, names, **said)

    def _record(
        self, name: str, value: float, names: "Attributes", **said: "AttributeValue"
    ) -> None:
        self._instruments[name](value, {**names, **ours(said)})

    def _span(
        self, event: Event, names: "Attributes", now_in: "Context", **said: "AttributeValue"
    ) -> "Context":
        """Create a span ending at the event's time, and return the context within it."""
        ends_ns = int(number(event["at"]) * 1e9)
        kind = str(event["event"])
        span = self._tracer.start_span(
            f"{NAME}.{'turn' if kind == 'impossible' else kind}",
            context=now_in,
            attributes={**names, **ours(said)},
            start_time=ends_ns - int(number(event["ms"]) * 1e6),
        )
        if kind == "impossible":
            span.set_status(self._trace.StatusCode.ERROR)
        span.end(ends_ns)
        return self._trace.set_span_in_context(span, now_in)


def recorder_of(meter: "Meter", name: str, kind: Kind, unit: str, said: str) -> "Recorder":
    """Create an instrument and return the method that records a value."""
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
    """Return attributes under this package's prefix."""
    return {f"{NAME}.{name}": value for name, value in said.items()}


def number(value: object) -> float:
    """Return a number of an event; 0 for anything else."""
    return value if isinstance(value, int | float) else 0


def flush(logs: "WeakSet[EventLog | Writer]") -> None:
    """Flush logs at process exit."""
    for log in list(logs):
        log.flush()


@cache
def of_process() -> Metrics:
    """Return the process-wide metrics used for ``metrics=True``."""
    return Metrics()
