"""The event log: what turns tell, and that a log costs its events at most, never a turn."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.manager.event_log import EventLog
from autogen_context.manager.events import UnitEvent
from autogen_context.report.events import Run, read_events, runs_of
from autogen_context.testing.conversation import conversation
from autogen_context.view.decision import Decision

MODEL = "gpt-4o"
WINDOW = 3_000
LONG = conversation(turns=30, tokens_per_turn=300)
Told = Mapping[int, UnitEvent]


def manager_of(log: EventLog | Path, window: int = WINDOW) -> IncrementalContextManager:
    """A manager that tells a log."""
    return IncrementalContextManager(MODEL, window_tokens=window, events=log)


def run_of(path: Path) -> Run:
    """The one run in a file."""
    [run] = runs_of(read_events(path))
    return run


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


@settings(max_examples=25, deadline=None)
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
    for turn, units in run_of(path).states():
        say(units, decided[count])
        count += 1
        assert turn["turn"] == count
        assert sum(turn["sections"].values()) + turn["fixed"] == turn["counted"]
        assert turn["sent"]["new"] + turn["sent"]["prefix"] == turn["counted"]
    assert (count, log.lost) == (len(decided), 0)
