"""Metrics and spans: they say what the event log says, within the host's own spans, and cost nobody who does not ask."""

import asyncio
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    HistogramDataPoint,
    InMemoryMetricReader,
    MetricsData,
    NumberDataPoint,
)
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from typing_extensions import override

from autogen_context import (
    ContextCache,
    ContextConfig,
    ContextWindowExceeded,
    MissingExtra,
    register,
)
from autogen_context.manager.event_log import EventLog
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.metrics import Metrics
from autogen_context.report.bill import bill_of, totals_of
from autogen_context.testing import ChatMessage, LoopbackServer, Say, ScriptedModel
from support.runs import LONG, MODEL, WINDOW, lived, run_of
from support.saying import says, step


class Told:
    """Metrics, and what they told."""

    def __init__(self, **options: bool) -> None:
        self._reader, self._spans = InMemoryMetricReader(), InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._spans))
        meters = MeterProvider([self._reader])
        self.metrics = Metrics(meter_provider=meters, tracer_provider=self.provider, **options)

    def numbers(self) -> Mapping[str, Mapping[str, float]]:
        """Each metric's sums by what tells one series from another."""
        found = defaultdict[str, defaultdict[str, float]](lambda: defaultdict(float))
        data = self._reader.get_metrics_data()
        assert isinstance(data, MetricsData)
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            for point in metric.data.data_points:
                names = {"gen_ai.request.model", "gen_ai.agent.name"}
                said = {k: v for k, v in (point.attributes or {}).items() if k not in names}
                value = point.value if isinstance(point, NumberDataPoint) else point.sum
                found[metric.name][" ".join(map(str, said.values()))] += value
                if metric.name == "gen_ai.client.token.usage":  # the SDK's own end at 10,000
                    assert isinstance(point, HistogramDataPoint)
                    assert tuple(point.explicit_bounds) == tuple(4.0**n for n in range(14))
        return found

    def spans(self) -> list[tuple[str, str]]:
        """Each span's name and that of the one it is in, in the order in which they ended."""
        spans = self._spans.get_finished_spans()
        named = {span.context.span_id: span.name for span in spans if span.context}
        return [(s.name, named[s.parent.span_id] if s.parent else "") for s in spans]

    def last(self) -> tuple[StatusCode, Mapping[str, object]]:
        """How the last span came out, and what it says."""
        span = self._spans.get_finished_spans()[-1]
        return span.status.status_code, dict(span.attributes or {})


def test_they_say_what_the_log_says(tmp_path: Path) -> None:
    """Tokens by section, the price as the page has it, the bill by the conventions' names, and how well it chose."""
    told, log = Told(), EventLog(tmp_path / "run.jsonl", max_bytes=14_000, keep=99)
    manager = IncrementalContextManager(
        MODEL, window_tokens=WINDOW, events=log, metrics=told.metrics
    )
    for prepared in lived(manager):
        manager.record_usage(prepared, prompt_tokens=900, cached_tokens=100)
    manager.recall_context("", "billing")
    run, turns = run_of(log), len(LONG) // 2
    sections = Counter[str]()
    for turn in run.turns:
        sections.update({**turn["sections"], "fixed": turn["fixed"]})
    numbers = told.numbers()
    assert numbers["autogen_context.tokens"] == {k: v for k, v in sections.items() if v}
    bill = totals_of(bill_of(run)).sent
    assert sum(numbers["autogen_context.cost"].values()) == pytest.approx(bill.cost_tokens, 0.001)
    assert sum(numbers["autogen_context.cost.dollars"].values()) == pytest.approx(
        bill.dollars, 0.001
    )
    assert numbers["gen_ai.client.token.usage"] == {"chat openai input": 900 * turns}
    assert numbers["autogen_context.cached_tokens"] == {"": 100 * turns}
    assert numbers["autogen_context.recalls"] == {"True": 1}
    compacted = [turn for turn in run.turns if turn["compacted"]]
    assert numbers["autogen_context.compactions"] == {"forced": len(compacted)}
    lost = sum(each["tokens"] for turn in compacted if (each := turn.get("lost")))
    assert numbers["autogen_context.lost_tokens"] == ({"compaction": lost} if lost else {})
    for name, value in (compacted[-1]["quality"] or {}).items():
        assert numbers[f"autogen_context.quality.{name}"] == {"": value}
        assert value
    last = run.turns[-1]
    fraction = last["sent"]["tokens"] / last["history"]["tokens"]
    assert numbers["autogen_context.memory.fraction"] == {"": fraction}
    took_s = sum(turn["ms"] for turn in run.turns) / 1_000
    assert numbers["autogen_context.turn.duration"][""] == pytest.approx(took_s)


@pytest.mark.parametrize("again", [True, False])
def test_used_is_what_the_model_named_again(tmp_path: Path, *, again: bool) -> None:
    """By lines of what stood in the window: much where each is named later, none where none is."""
    log, told = EventLog(tmp_path / "run.jsonl"), Told()
    manager = IncrementalContextManager(
        MODEL, window_tokens=1_500, events=log, metrics=told.metrics
    )
    said: list[ChatMessage] = [{"role": "user", "content": "Read all."}]
    for n in range(12):
        text = " ".join(f"value_{n}_{i}" for i in range(40))
        said += [*step(f"c{n}", "read", text), says(f"So it is {text if again else ''}.")]
        manager.prepare_nowait(said)
    found = [turn["quality"]["used"] for turn in run_of(log).turns if turn["quality"]]
    # What it was named in is not named again.
    assert (found[0] or 0) > 0.4 if again else found[0] == 0
    assert told.numbers()["autogen_context.quality.used"] == {"": found[-1]}


def test_spans_stand_in_the_one_that_is_current() -> None:
    """A turn in the host's, a compaction in its turn, a model's call in the host's; of what failed the kind alone."""
    told = Told()

    async def model(_prompt: str) -> str:
        raise RuntimeError("hunter2")

    async def talk() -> None:
        config = ContextConfig(model=MODEL, window_tokens=1_500, prepare_at_fraction=0.1)
        host = told.provider.get_tracer("host")
        async with IncrementalContextManager(
            config=config, model_client=model, metrics=told.metrics, cache=ContextCache()
        ) as manager:
            with host.start_as_current_span("agent"):
                await manager.prepare(LONG[:16])

    asyncio.run(talk())
    calls = told.spans().count(("autogen_context.model_call", "agent"))
    assert calls
    assert sorted(told.spans()) == sorted(
        [
            *[("autogen_context.model_call", "agent")] * calls,
            ("agent", ""),
            ("autogen_context.turn", "agent"),
            ("autogen_context.compaction", "autogen_context.turn"),
        ]
    )
    numbers = told.numbers()
    assert set(numbers["autogen_context.model_call.duration"]) >= {"RuntimeError summary"}
    assert numbers["autogen_context.cache.lookups"]["misses"] > 0


def test_a_turn_that_is_impossible_is_told(tmp_path: Path) -> None:
    """In the log with what needs how much, as a span that failed, and as a number; it has a number among the turns."""
    told, log = Told(), EventLog(tmp_path / "run.jsonl")
    manager = IncrementalContextManager(MODEL, window_tokens=200, events=log, metrics=told.metrics)
    manager.prepare_nowait(LONG[:2])
    with pytest.raises(ContextWindowExceeded) as caught:
        manager.prepare_nowait([{"role": "system", "content": "Never. " * 300}, *LONG[1:2]])
    manager.prepare_nowait(LONG[:2])
    run = run_of(log)
    [event] = run.others
    assert (event["event"], event["turn"], event["limit"]) == ("impossible", 2, 200)
    assert (event["needed"], event["parts"]) == (caught.value.least_tokens, caught.value.parts)
    assert [turn["turn"] for turn in run.turns] == [1, 3]
    assert told.numbers()["autogen_context.impossible_turns"] == {"": 1}
    with pytest.raises(ValueError, match=r"^turn=2: the protected messages needed"):
        run.at(2)


@pytest.mark.parametrize("log", [True, False])
def test_what_somebody_else_tells_is_not_told_twice(tmp_path: Path, *, log: bool) -> None:
    """Where the host's own instrumentation tells what was billed; with a log and without one."""
    told = Told(token_usage=False)
    events = EventLog(tmp_path / "run.jsonl") if log else None
    config = ContextConfig(model=MODEL, agent="coder")
    manager = IncrementalContextManager(config=config, events=events, metrics=told.metrics)
    manager.record_usage(manager.prepare_nowait(LONG[:2]), prompt_tokens=900)
    asyncio.run(manager.aclose())
    assert "gen_ai.client.token.usage" not in told.numbers()
    assert told.last()[1]["gen_ai.agent.name"] == "coder"
    assert sum(told.numbers()["autogen_context.tokens"].values()) > 0


def test_a_provider_that_fails_costs_neither_turn_nor_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What it raises is a warning."""

    class Broken(SpanProcessor):
        @override
        def on_end(self, span: ReadableSpan) -> None:
            raise RuntimeError

    log = EventLog(tmp_path / "run.jsonl")
    provider = TracerProvider()
    provider.add_span_processor(Broken())
    metrics = Metrics(tracer_provider=provider)
    manager = IncrementalContextManager(MODEL, window_tokens=WINDOW, events=log, metrics=metrics)
    assert len(list(lived(manager, LONG[:8]))) == 4
    assert len(run_of(log).turns) == 4
    assert "metrics failed: RuntimeError" in caplog.messages


def test_without_the_api_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """At construction."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtra, match=r'pip install "autogen-context\[otel\]"'):
        Metrics()


async def test_turns_of_an_agent_stand_in_the_spans_of_its_host() -> None:
    """With AutoGen's own tracer, under the agent's name."""
    told = Told()
    steps = ScriptedModel([Say("ok")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer_provider", lambda: told.provider)
        patch.setattr(trace, "_TRACER_PROVIDER", told.provider)
        async with LoopbackServer(steps, window_tokens=4_000) as server:
            client = OpenAIChatCompletionClient(
                model="gpt-4-0613", api_key="none", base_url=server.base_url
            )
            agent = AssistantAgent("reader", client)
            context = register(agent, window_tokens=4_000, metrics=told.metrics)
            await agent.run(task="Hello.")
            await context.manager.aclose()
            await client.close()
    turns = [span for span in told.spans() if span[0] == "autogen_context.turn"]
    assert turns
    assert set(turns) == {("autogen_context.turn", "invoke_agent reader")}
    assert told.last()[1]["gen_ai.agent.name"] == "reader"


FORGETFUL = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter(formatter=lambda span: span.name)))
trace.set_tracer_provider(provider)
from autogen_context import IncrementalContextManager
manager = IncrementalContextManager("gpt-4o", events=sys.argv[1], metrics=True)
manager.prepare_nowait([{"role": "user", "content": "Hello."}])
"""


def test_what_nobody_closes_is_told_before_the_process_ends(tmp_path: Path) -> None:
    """In the log, and as spans that the provider of the process still exports."""
    path = tmp_path / "run.jsonl"
    command = [sys.executable, "-W", "ignore", "-c", FORGETFUL, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - our own code
    assert run.stdout == "autogen_context.turn"
    assert len(run_of(EventLog(path)).turns) == 1
