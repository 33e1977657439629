"""What broke a prefix, as the event log of a run has it: in the doctor, on the page, in metrics and in an explanation; without a text."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.manager.event_log import EventLog
from autogen_context.report.bill import bill_of
from autogen_context.report.breaks import breaks_in, breaks_of
from autogen_context.report.events import Run, read_events, runs_of
from autogen_context.report.page import page_of
from autogen_context.testing.conversation import conversation
from autogen_context.testing.usage import PromptCache, prompt_parts
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import price_of
from support.planting import CLEAN, FROM, PLANTS, Plant, Request, diagnosed, requests
from support.runs import LONG, lived, manager_of, run_of, turn, unit

# What a log has no news of, and what a manager sends as it was: tools in their first order.
OTHER = {"model", "setting", "expired", "not cached", "tools reordered"}
SEEN = {name: row for name, row in PLANTS.items() if row[1] not in OTHER}
Command = Callable[..., str]


def logged(path: Path, sent: Iterable[Request]) -> Run:
    """The run of a manager that is given each of these requests, with room for all."""
    log = EventLog(path)
    manager = IncrementalContextManager("gpt-4o", window_tokens=60_000, events=log)
    for request in sent:
        manager.prepare_nowait(request["messages"], request.get("tools", []))
    return run_of(log)


@pytest.mark.parametrize(("plant", "cause"), SEEN.values(), ids=SEEN)
@pytest.mark.filterwarnings("ignore")
def test_a_log_says_what_the_requests_say(tmp_path: Path, plant: Plant, cause: str) -> None:
    """The same turns; the cause and the place as a file of these requests has them, and no word of a text."""
    sent = requests(plant)
    run = logged(tmp_path / "run.jsonl", sent)
    by_log, by_file = list(breaks_of(run)), diagnosed(sent)
    assert [each.turn for each in by_log] == [each.turn for each in by_file]
    assert {each.cause for each in by_log} == {cause}
    text = (tmp_path / "run.jsonl").read_text("utf-8")
    assert not re.search(r"SHOP-3318|10:3\d|\[cut\]|Be kind|Runs them|4b2f0c1e", text)


SENT_ALIKE = {**CLEAN, "tools in another order": PLANTS["tools in another order"][0]}


@pytest.mark.parametrize("plant", SENT_ALIKE.values(), ids=SENT_ALIKE)
def test_a_run_that_only_appends_has_no_finding(tmp_path: Path, plant: Plant | None) -> None:
    """As in a file of its requests; tools that come in another order are sent in the first one."""
    assert list(breaks_of(logged(tmp_path / "run.jsonl", requests(plant)))) == []


def test_a_bill_has_what_a_changed_prompt_costs(tmp_path: Path) -> None:
    """What is cached of each request is what a provider has of it, in blocks of its cache."""
    sent = requests(PLANTS["a memory"][0])
    cache, counter = PromptCache(), MessageCounter.for_model("gpt-4o")
    records = bill_of(logged(tmp_path / "run.jsonl", sent))
    for request, record in zip(sent, records, strict=True):
        parts = prompt_parts(
            request["messages"], request["tools"], count=lambda text: counter.count(text).tokens
        )
        assert record.sent
        assert abs(record.sent.cached_tokens - cache.cached_tokens(parts)) <= 256
    assert [r.detail for r in records if r.detail] == [
        "since the system prompt changed (system prompt, line 1)"
    ]


def test_compactions_are_named_as_such(tmp_path: Path) -> None:
    """Each of them, and nothing else; what they cost is the extra price of what is sent again."""
    log = EventLog(tmp_path / "run.jsonl")
    list(lived(manager_of(log, 6_000), conversation(turns=40)))
    run = run_of(log)
    found = list(breaks_of(run))
    assert [each.turn for each in found] == [t["turn"] for t in run.turns if t["compacted"]]
    assert {(each.cause, each.is_avoidable) for each in found} == {("compaction", False)}
    price = price_of(run.turns[0]["model"])
    for each in found:
        assert each.cost_tokens == each.lost_tokens * (1 - price.cached_fraction)


def test_time_and_bills_say_what_bytes_do_not() -> None:
    """Nothing was cached after a pause, or although it was sent again in time; where nobody says it only a pause is told."""
    sent = {"messages": 9, "tokens": 3_000, "new": 100, "prefix": 2_900}
    long = {"history": {"messages": 9, "tokens": 3_000}, "counted": 3_000, "sent": sent}
    turns = [turn(n, [unit(n)], **{**long, "at": at}) for n, at in ((1, 0.0), (2, 9.0), (3, 999.0))]

    def causes(*cached: int | None) -> list[tuple[int, str]]:
        bills: list[dict[str, object]] = [
            {"event": "usage", "turn": n, "prompt": 3_000, "cached": each}
            for n, each in enumerate(cached, 1)
        ]
        run = Run(id="r", turns=turns, others=bills)
        return [(each.turn, each.cause) for each in breaks_of(run) if each.turn > 1]

    assert causes(0, 2_816, 2_816) == []
    assert causes(0, 2_816, 0) == [(3, "expired")]
    assert causes(0, 0, 2_816) == [(2, "not cached")]
    assert causes(None, None, None) == [(3, "expired")]


def test_what_is_read_of_a_log_is_said_everywhere(tmp_path: Path, shown: Command) -> None:
    """By the command, in its table and as JSON, with the exit code; on the page; of a message of that turn."""
    path = tmp_path / "run.jsonl"
    run = logged(path, requests(PLANTS["a tool less"][0]))
    number, said = FROM + 1, "a tool was removed (tool run_tests)"
    assert " ".join(said.split()) in " ".join(shown("doctor", path, code=1).split())
    [found] = json.loads(shown("doctor", path, "--json", code=1))["findings"]
    assert (found["turn"], found["cause"], found["evidence"]) == (number, "tool removed", said)
    assert said in shown("explain", path, "--message", 0, "--turn", number)
    assert said not in shown("explain", path, "--message", 0, "--turn", number - 1)
    assert said in page_of([run], title="run")
    shown("doctor", path, "--ignore", "tool removed")


def test_a_log_of_an_earlier_release_is_read() -> None:
    """It says how much was lost where it does not say why."""
    run = Run(id="r", turns=[turn(1, [unit(0)])])
    assert list(breaks_of(run)) == []
    other: Any = {"cause": "some new one", "where": "", "tokens": 9, "again": 9, "cost": 9.0}
    [found] = breaks_of(Run(id="r", turns=[turn(1, [unit(0)], lost=other)]))
    assert (found.cause, found.evidence) == ("message edited", "earlier content changed")


def test_requests_with_other_tools_share_the_cause(tmp_path: Path) -> None:
    """What changed while one list of tools was not sent is named when it is sent again, and a second list is none by itself."""
    log = EventLog(tmp_path / "run.jsonl")
    manager = IncrementalContextManager("gpt-4o", window_tokens=60_000, events=log)
    tools = requests()[0]["tools"]
    for number, stop in enumerate(range(2, 32, 2)):
        said = [dict(message) for message in LONG[:stop]]
        if number >= FROM:
            said[1] = {**said[1], "content": "Something else is asked."}
        manager.prepare_nowait(said, tools if number % 2 else [])
    found = list(breaks_of(run_of(log)))
    assert [(each.turn, each.cause) for each in found] == [
        (FROM + 1, "message edited"),
        (FROM + 2, "message edited"),
    ]


def test_a_run_that_goes_on_from_another_one_is_compared_with_it(tmp_path: Path) -> None:
    """With another model nothing is cached; with the same one all is, unless the bill says otherwise; another conversation is none."""
    log = EventLog(tmp_path / "run.jsonl")
    sent = [request["messages"] for request in requests()]

    def run(model: str, lists: Iterable[list[Any]], cached: int | None = None) -> None:
        manager = IncrementalContextManager(model, window_tokens=60_000, events=log)
        for said in lists:
            prepared = manager.prepare_nowait(said)
            if cached is not None:
                manager.record_usage(prepared, prompt_tokens=2_000, cached_tokens=cached)

    run("gpt-4o", sent[:6])
    run("gpt-4o", sent[6:7])
    run("gpt-4o-mini", sent[7:])
    run("gpt-4o", sent[6:7], cached=0)
    run("gpt-4o", [conversation(turns=9, seed=7)])
    assert log.flush(30)
    found = breaks_in(runs_of(read_events(log.path)))
    assert [(each.conversation, each.turn, each.cause) for each in found] == [
        (3, 1, "model"),
        (4, 1, "not cached"),
    ]
    assert (
        found[0].evidence
        == "'gpt-4o-mini' is asked, and 'gpt-4o' had the conversation in its cache"
    )
    assert found[0].lost_tokens > 1_024


def test_a_bill_has_the_rules_of_an_engine_of_ones_own(tmp_path: Path) -> None:
    """Whatever the name of the model: what is cached there, and for how long, is in the event."""
    log = EventLog(tmp_path / "run.jsonl")
    config = ContextConfig(model="gpt-4o", prefill_tokens_per_s=100.0, window_tokens=60_000)
    manager = IncrementalContextManager(config=config, events=log)
    for request in requests():
        manager.prepare_nowait(request["messages"])
    run = run_of(log)
    for record, event in zip(bill_of(run), run.turns, strict=True):
        assert record.sent
        assert record.sent.cached_tokens == event["sent"].get("cached") == event["sent"]["prefix"]
