"""The event log: what turns tell, and that a log costs its events at most, never a turn."""

import asyncio
import json
import logging
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.manager import event_log
from autogen_context.manager.event_log import MOST_WAITING, EventLog
from autogen_context.manager.event_schema import UnitEvent
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.report.bill import bill_of
from autogen_context.report.events import read_events, runs_of
from autogen_context.testing import ChatMessage
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import price_of
from autogen_context.view.decision import Decision
from autogen_context.view.notice import Notice, PreambleOffer, ProviderTurn, ProviderUpdate
from support.forks import ended, forked
from support.runs import LONG, MODEL, WINDOW, lived, manager_of, run_of
from support.saying import asks, call_of, says, tells
from support.waiting import LONGEST_S, wait_until

Told = Mapping[int, UnitEvent]


def say(told: Told, decisions: Sequence[Decision]) -> None:
    """Assert that what was told of units is what was decided."""
    assert [
        (unit["unit"], unit["stop"], unit["action"], unit["reason"], unit["before"], unit["after"])
        for unit in told.values()
    ] == [
        (each.start, each.stop, each.action, each.reason, each.tokens_before, each.tokens_after)
        for each in decisions
    ]
    assert [unit["score"] for unit in told.values()] == [
        each.rank.score if each.rank else None for each in decisions
    ]


@settings(max_examples=15)
@given(data=st.data())
def test_all_events_together_are_the_decisions_of_each_turn(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the host does between two turns: it goes on, takes messages back, replaces them, pins one, loads a state."""
    path = tmp_path_factory.mktemp("log") / "run.jsonl"
    log = EventLog(path, max_bytes=data.draw(st.sampled_from([1, 5_000, 50_000_000])), keep=100)
    manager, said, decided = manager_of(log), list(LONG[:2]), list[Sequence[Decision]]()
    for _ in range(data.draw(st.integers(1, 12))):
        act = data.draw(st.sampled_from(["on", "on", "on", "far", "back", "other", "pin"]))
        more = 8 if act == "far" else 2
        if act == "back":
            said = said[: 2 * data.draw(st.integers(1, len(said) // 2))]
        elif act == "other":
            said[1] = {"role": "user", "content": f"{data.draw(st.integers(0, 9))} is the task."}
        elif act == "pin":
            manager.pin(data.draw(st.sampled_from(said)))
        said = [*said, *LONG[len(said) : len(said) + more]]
        prepared = manager.prepare_nowait(said)
        decided.append(tuple(prepared.decisions))
        if data.draw(st.booleans()):
            assert log.flush()
    assert log.flush()
    count = 0
    for turn, units in run_of(EventLog(path)).states():
        say(units, decided[count])
        count += 1
        assert turn["turn"] == count
        assert sum(turn["sections"].values()) + turn["fixed"] == turn["counted"]
        assert turn["sent"]["new"] + turn["sent"]["prefix"] == turn["counted"]
    assert (count, log.lost) == (len(decided), 0)


# A log costs its events at most


def test_a_full_disk_loses_events_and_no_turn(caplog: pytest.LogCaptureFixture) -> None:
    """They are counted and told once, without a text; what is sent is what is sent without a log."""
    log = EventLog("/dev/full")
    manager, other = manager_of(log), IncrementalContextManager(MODEL, window_tokens=WINDOW)
    with caplog.at_level(logging.WARNING, "autogen_context.manager.event_log"):
        for stop in range(2, 40, 2):
            told, plain = manager.prepare_nowait(LONG[:stop]), other.prepare_nowait(LONG[:stop])
            assert told.messages == plain.messages
            log.flush()
    assert log.lost == 19
    [warning] = caplog.records
    assert warning.getMessage() == "events find no room and are lost: OSError"


def test_a_file_that_may_not_grow_has_whole_lines_and_goes_on_when_it_may(tmp_path: Path) -> None:
    """What was lost is said in it, and the next turn has all that is needed to read it."""
    path, limits = tmp_path / "run.jsonl", resource.RLIMIT_FSIZE

    def run() -> None:
        log = EventLog(path)
        manager = manager_of(log)
        resource.setrlimit(limits, (5_000, resource.RLIM_INFINITY))
        for _ in lived(manager, LONG[:28]):
            log.flush()
        assert 0 < log.lost < 14
        resource.setrlimit(limits, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        decisions = manager.prepare_nowait(LONG[:32]).decisions
        assert log.flush()
        say(run_of(log).at(15)[1], decisions)
        counts = [event["count"] for event in read_events(path) if event["event"] == "lost"]
        assert sum(each for each in counts if isinstance(each, int)) == log.lost

    assert ended(forked(run)[0]) == 0
    assert {event["event"] for event in read_events(path)} == {"turn", "lost"}


def test_a_process_that_is_killed_leaves_what_it_wrote(tmp_path: Path) -> None:
    """At worst with half a line, which costs that line; the next one goes on in the same file."""
    path = tmp_path / "run.jsonl"

    def run() -> None:
        manager = manager_of(path)
        while True:
            manager.prepare_nowait(LONG[:20])

    process, _ = forked(run)
    wait_until(lambda: path.exists() and path.stat().st_size > 50_000)
    os.kill(process, signal.SIGKILL)
    assert ended(process) == -signal.SIGKILL
    with path.open("ab") as file:
        file.write(b'{"v": 1, "event": "tu')
    log = EventLog(path)
    decisions = list(lived(manager_of(log), LONG[:30]))[-1].decisions
    assert log.flush()
    events = list(read_events(path))
    killed, after = runs_of(events)
    assert sum(event["event"] == "damaged" for event in events) in {1, 2}
    assert len(killed.turns) > 10
    say(after.at(15)[1], decisions)


def test_a_file_is_rotated_and_what_is_left_is_enough(tmp_path: Path) -> None:
    """By one write of all turns: of all files the oldest go, none is too large, and each begins with everything. Nobody else reads them."""
    path = tmp_path / "logs" / "run.jsonl"
    log, plain = EventLog(path, max_bytes=14_000, keep=2), EventLog(tmp_path / "plain.jsonl")
    decisions = list(lived(manager_of(log)))[-1].decisions
    assert list(lived(manager_of(plain)))[-1].decisions == decisions
    assert log.flush()
    assert max(file.stat().st_size for file in path.parent.iterdir()) <= 14_000
    assert {each.name for each in path.parent.iterdir()} == {
        *("run.jsonl", "run.jsonl.1", "run.jsonl.2")
    }
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for file in path.parent.iterdir():
        assert json.loads(file.read_text().splitlines()[0])["since"] == 0
    run = run_of(EventLog(path))
    assert run.turns[0]["turn"] > 1
    for turn in run.turns:  # whether it was the first in its file or not
        assert turn["sent"] == run_of(plain).at(turn["turn"])[0]["sent"]
    say(run.at(31)[1], decisions)
    with pytest.raises(ValueError, match=rf"^turn=1: the run has {run.turns[0]['turn']} to 31$"):
        run.at(1)


def test_a_file_that_cannot_be_opened_for_a_while_is_whole_when_it_can(tmp_path: Path) -> None:
    """What was told meanwhile is lost; the next event has all that is needed to read it, as after somebody emptied the file."""
    path, aside = tmp_path / "run.jsonl", tmp_path / "aside"
    log, decisions = EventLog(path), tuple[Decision, ...]()
    manager = manager_of(log)
    for stop in range(2, 42, 2):
        if stop == 10:
            path.rename(aside)
            path.mkdir()
        if stop == 16:
            path.rmdir()
            aside.rename(path)
        if stop == 30:
            os.truncate(path, 0)
        decisions = tuple(manager.prepare_nowait(LONG[:stop]).decisions)
        log.flush()
    assert log.lost == 3
    say(run_of(EventLog(path)).at(20)[1], decisions)


def test_a_turn_does_not_wait_for_the_log(tmp_path: Path) -> None:
    """What comes while the disk hangs waits for it in a bounded queue; the rest is lost, and then it goes on."""
    log, began, hangs = EventLog(tmp_path / "run.jsonl"), threading.Event(), threading.Event()
    manager, said = manager_of(log), LONG[:2]

    def hang(_stretch: int) -> Mapping[str, object]:
        began.set()
        return {"hung": hangs.wait(60)}

    log.put(hang)
    assert began.wait(60)
    for _ in range(MOST_WAITING + 10):
        manager.prepare_nowait(said)
    assert log.lost >= 10
    assert not log.flush(0.01)
    hangs.set()
    assert log.flush()
    decisions = manager.prepare_nowait(LONG[:20]).decisions
    assert log.flush()
    assert [e["count"] for e in read_events(log.path) if e["event"] == "lost"] == [log.lost]
    say(run_of(log).at(MOST_WAITING + 11)[1], decisions)


def test_an_idle_log_has_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends when nothing comes, and what comes later is written as well."""
    monkeypatch.setattr(event_log, "IDLE_S", 0.0)
    log, before = EventLog(tmp_path / "run.jsonl"), set(threading.enumerate())
    for _ in lived(manager_of(log), LONG[:8]):
        assert log.flush()
        wait_until(lambda: set(threading.enumerate()) <= before)
    assert len(run_of(log).turns) == 4


def test_agents_share_a_file(tmp_path: Path) -> None:
    """Each has its own run in it, whether they share the log or only the file, and whoever rotates it."""
    path = tmp_path / "run.jsonl"
    one, other = EventLog(path, max_bytes=9_000, keep=99), EventLog(path, max_bytes=9_000, keep=99)
    managers = [
        IncrementalContextManager(
            config=ContextConfig(model=MODEL, agent=name, window_tokens=WINDOW), events=log
        )
        for name, log in (("coder", one), ("tester", one), ("critic", other))
    ]
    together = zip(*(lived(manager, LONG[:38]) for manager in managers), strict=True)
    decided = [prepared.decisions for prepared in list(together)[-1]]
    assert one.flush()
    assert other.flush()
    events = list(read_events(path))
    assert {event["event"] for event in events} == {"turn"}
    runs = {run.agent: run for run in runs_of(events)}
    for name, decisions in zip(("coder", "tester", "critic"), decided, strict=True):
        assert [turn["turn"] for turn in runs[name].turns] == list(range(1, 20))
        say(runs[name].at(19)[1], decisions)


SECRET = "hunter2"  # noqa: S105 - of nothing
SECRETIVE: list[ChatMessage] = [
    says(f"Never say {SECRET}.", "system"),
    says(f"The password is {SECRET}.", "user"),
    asks(call_of(SECRET, "login", key=SECRET), text=f"I try {SECRET}."),
    tells(SECRET, f"{SECRET} is wrong.\n" * 900),
    says(f"What was the password, {SECRET}?", "user"),
]


@pytest.mark.parametrize("record_text", [False, True])
def test_no_text_is_recorded_unless_that_is_asked_for(tmp_path: Path, *, record_text: bool) -> None:
    """Neither of messages, nor of what an agent asks back, nor of what a model that fails says."""
    path = tmp_path / "run.jsonl"

    async def model(_prompt: str) -> str:
        raise RuntimeError(SECRET)

    async def talk() -> None:
        log = EventLog(path, record_text=record_text)
        config = ContextConfig(model=MODEL, window_tokens=1_500, prepare_at_fraction=0.1)
        async with IncrementalContextManager(
            config=config, model_client=model, events=log
        ) as manager:
            prepared = await manager.prepare([*SECRETIVE, *LONG[2:12]])
            manager.record_usage(prepared, prompt_tokens=900, cached_tokens=100)
            manager.recall_context(SECRET + " ", SECRET)
            handle = next(each.handle for each in prepared.decisions if each.handle)
            manager.recall_context(handle)

    asyncio.run(talk())
    assert (SECRET in path.read_text()) is record_text
    events = list(read_events(path))
    told = {str(event["event"]): event for event in events}
    assert told.keys() == {"turn", "usage", "asked_back", "model_call", "summary", "cache"}
    assert [told["usage"][key] for key in ("turn", "prompt", "cached")] == [1, 900, 100]
    assert (told["model_call"]["ok"], told["model_call"]["why"]) == (False, "RuntimeError")
    assert [event["found"] for event in events if event["event"] == "asked_back"] == [False, True]


TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]


class News:
    """A provider whose notice and preamble are other ones every now and then."""

    name = "news"

    async def before_turn(self, _turn: ProviderTurn, /) -> None:
        """Nothing to wait for."""

    def turn(self, turn: ProviderTurn, /) -> ProviderUpdate:
        """What is new."""
        often, seldom = len(turn.units) // 5, len(turn.units) // 20
        offer = PreambleOffer(parts=("The project.", f"Phase {seldom}."), most_tokens=99)
        notice = Notice(key="news", text=f"It is the {often}. of May.")
        return ProviderUpdate(notices=(notice,), preambles=(offer,))


@pytest.mark.parametrize("every", [1, 2, 3], ids=["one list of tools", "none in turns", "rarely"])
def test_what_is_told_of_sections_and_the_prefix_is_what_is_sent(
    tmp_path: Path, every: int
) -> None:
    """Counted anew from the messages of two requests with the same tools, which a provider caches apart from those with others.

    With a pin, notices and another preamble; the prefix is told in whole units.
    """
    host, counter = OpenAIChat(), MessageCounter.for_model(MODEL)

    def tokens(messages: Sequence[object]) -> int:
        return sum(counter.message(host.read(message)) for message in messages)

    log, sent, pinned = EventLog(tmp_path / "run.jsonl"), list[list[ChatMessage]](), LONG[9]
    manager = IncrementalContextManager(MODEL, window_tokens=WINDOW, events=log, providers=[News()])
    for stop in (*range(2, 32, 2), *range(24, 48, 2), 14, 18):  # the host takes some back, twice
        if stop == 16:
            manager.pin(pinned)
        if stop == 18 and len(sent) > 20:
            manager.roll_back(2)  # to when it had other notices
        tools = TOOLS if len(sent) % every == 0 else []
        sent.append(manager.prepare_nowait(LONG[:stop], tools).messages)
    last = dict[int, list[ChatMessage]]()
    for now, turn in zip(sent, run_of(log).turns, strict=True):
        before, last[turn["fixed"]] = last.get(turn["fixed"], []), now
        pairs = enumerate(zip(before, now, strict=False))
        same = next((i for i, (a, b) in pairs if a != b), len(before))
        shared = tokens(now[:same]) + turn["fixed"] if before else 0
        largest = max((unit["before"] for unit in turn["units"]), default=0)
        assert 0 <= shared - turn["sent"]["prefix"] <= (largest if turn["compacted"] else 0)
        assert turn["sent"]["tokens"] == tokens(now)
        of_host = [message for message in now if message in LONG and message != pinned]
        told = [m for m in now if m["role"] == "user" and m not in LONG]
        found = {
            role: tokens([m for m in of_host if m["role"] == role]) for role in ("system", "user")
        }
        assert turn["sections"]["system"] == found["system"]
        assert turn["sections"]["people"] == found["user"]
        assert turn["sections"]["notices"] == tokens(told)
        assert (turn["sections"]["pinned"] > 0) == (8 <= turn["turn"] < 29)
    assert len(last) == min(every, 2)


def test_a_bill_compares_requests_with_the_same_tools(tmp_path: Path) -> None:
    """What is sent whole costs what sending everything costs, also where each second request has other tools; the rest is cached."""
    log, price = EventLog(tmp_path / "run.jsonl"), price_of(MODEL)
    manager = IncrementalContextManager(MODEL, window_tokens=60_000, events=log)
    for stop in range(2, 62, 2):
        manager.prepare_nowait(LONG[:stop], TOOLS if stop % 4 else [])
    records = bill_of(run_of(log))
    for record in records:
        assert record.sent == record.whole == record.sliding
    for earlier, record in zip(records, records[2:], strict=False):
        assert record.sent
        assert record.sent.cached_tokens == price.cached_tokens(earlier.whole.tokens)
        assert record.happened == "hold"


def test_tools_of_the_same_size_are_other_tools(tmp_path: Path) -> None:
    """A provider has nothing of a request whose tools are others, whatever their size."""
    log = EventLog(tmp_path / "run.jsonl")
    manager = IncrementalContextManager(MODEL, window_tokens=60_000, events=log)
    for stop in range(2, 62, 2):
        manager.prepare_nowait(
            LONG[:stop], [{"type": "function", "function": {"name": f"t{stop}"}}]
        )
    records = bill_of(run_of(log))
    assert [record.sent.cached_tokens for record in records if record.sent] == [0] * 30
    assert [record.whole.cached_tokens for record in records if record.whole] == [0] * 30


def test_the_folder_of_a_log_is_that_in_which_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the program goes before an event is written."""
    began, goes_on = threading.Event(), threading.Event()

    def hold(_stretch: int) -> Mapping[str, object]:
        began.set()
        return {"held": goes_on.wait(LONGEST_S)}

    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    log = EventLog("run.jsonl")
    log.put(hold)
    assert began.wait(LONGEST_S)
    monkeypatch.chdir(tmp_path / "there")
    goes_on.set()
    assert log.flush()
    assert [path.name for path in tmp_path.rglob("*.jsonl")] == ["run.jsonl"]
    assert (tmp_path / "here" / "run.jsonl").exists()


@pytest.mark.parametrize("kind", ["link", "open to all"])
def test_a_log_is_ours_alone(tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is written through a link, which a warning says; others lose their rights on a file of ours. The agent goes on."""
    path, other = tmp_path / "run.jsonl", tmp_path / "other"
    other.write_text("mine\n")
    other.chmod(0o666)
    if kind == "open to all":
        other.rename(path)
    else:
        path.symlink_to(other)
    log = EventLog(path)
    prepared = manager_of(log).prepare_nowait(LONG[:4])
    assert prepared.messages == LONG[:4]
    assert log.flush(30)
    if kind == "open to all":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(path.read_text().splitlines()) > 1
    else:
        assert other.read_text() == "mine\n"
        assert "is a link" in caplog.text


TO_STDOUT = """
from autogen_context import IncrementalContextManager
from autogen_context.manager.event_log import EventLog
log = EventLog("/dev/stdout")
IncrementalContextManager(window_tokens=4_000, events=log).prepare_nowait([{"role": "user", "content": "Hello."}])
assert log.flush(30) and not log.lost
"""


@pytest.mark.parametrize("to", ["a pipe", "a file"])
def test_a_log_may_be_what_a_program_prints(tmp_path: Path, to: str) -> None:
    """The links that a system has for it are followed."""
    command = [sys.executable, "-W", "ignore", "-c", TO_STDOUT]
    if to == "a pipe":
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - our own code
    else:
        with (tmp_path / "printed").open("w") as file:
            subprocess.run(command, stdout=file, check=True)  # noqa: S603 - our own code
        printed = (tmp_path / "printed").read_text()
    assert "turn" in [json.loads(line)["event"] for line in printed.splitlines()]


def test_a_fork_tells_its_own_turns(tmp_path: Path) -> None:
    """Its thread is not there any more; it begins another one. What its parent has not written yet is its parent's."""
    log, hangs = EventLog(tmp_path / "run.jsonl"), threading.Event()
    manager = manager_of(log)
    manager.prepare_nowait(LONG[:4])
    assert log.flush()
    log.put(lambda _: {"hung": hangs.wait(60)})

    def run() -> bool:
        if not log.flush(0):
            return True
        manager.prepare_nowait(LONG[:6])
        return not log.flush()

    assert ended(forked(run)[0]) == 0
    hangs.set()
    manager.prepare_nowait(LONG[:6])
    assert log.flush()
    assert sorted(turn["turn"] for turn in run_of(log).turns) == [1, 2, 2]


DAMAGED = [b"", b"{}", b"[1]", b"[" * 100_000, b"\xff", b'{"v": 1}', b'{"v": 0, "event": "usage"}']


@pytest.mark.parametrize("line", [*DAMAGED, b'{"v": 1, "event": "turn", "turn": "x"}'], ids=repr)
def test_a_damaged_line_costs_that_line(tmp_path: Path, line: bytes) -> None:
    """It is named, and the others are read; a log of a newer version is refused with what reads it."""
    path, good = tmp_path / "run.jsonl", b'{"v": 1, "event": "usage", "run": "a"}'
    path.write_bytes(b"\n".join([good, line, good, b""]))
    assert [event["event"] for event in read_events(path)] == ["usage", "damaged", "usage"]
    path.write_text('{"v": 2, "event": "turn"}\n')
    with pytest.raises(ValueError, match="version 2 of its events; a newer autogen-context"):
        list(read_events(path))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"path": ""}, "path=''"),
        ({"path": "."}, "path='.'"),
        ({"path": 5}, "path=5"),
        ({"path": "a", "max_bytes": 0}, "max_bytes=0"),
        ({"path": "a", "keep": -1}, "keep=-1"),
    ],
)
def test_a_log_is_not_made_of_anything(arguments: Mapping[str, object], named: str) -> None:
    """The argument is named."""
    with pytest.raises(ValueError, match=f"^{named}: give "):
        cast("Callable[..., object]", EventLog)(**arguments)
