"""The ``replay`` command."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from autogen_context.cli.main import main
from autogen_context.cli.replay import turn_stops
from autogen_context.testing.conversation import conversation

Run = Callable[..., str]
pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture
def long_run() -> str:
    """The name of a file with one conversation of 61 turns and about 18,000 tokens."""
    Path("run.json").write_text(json.dumps(conversation(turns=60)))
    return "run.json"


@pytest.fixture
def two_runs() -> str:
    """The name of a file with two conversations, of which one names its model."""
    first = {"id": "short", "messages": conversation(turns=3)}
    second = {"id": "[long]", "model": "gpt-4.1", "messages": conversation(turns=20, seed=1)}
    Path("runs.jsonl").write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    return "runs.jsonl"


def facts(shown: Run, *argv: str) -> Any:
    """What the command finds, as data."""
    return json.loads(shown("replay", *argv, "--json"))


def test_no_request_exceeds_the_limit_and_the_table_says_what_happened(
    long_run: str, shown: Run
) -> None:
    """Where sending everything does, turn after turn; all compactions, a sample of the rest, the totals; in 80 columns, without colours."""
    found = facts(shown, long_run, "--window", "4000")
    turns, totals = found["conversations"][0]["turns"], found["totals"]
    assert [turn["turn"] for turn in turns] == list(range(1, 62))
    assert [turn["whole"]["messages"] for turn in turns] == list(range(2, 123, 2))
    assert all(turn["sent"]["tokens"] <= 4000 for turn in turns)
    above = sum(turn["whole"]["tokens"] > 4000 for turn in turns)
    assert totals["whole"]["above_limit"] == above > 30
    for side in ("whole", "sent", "sliding"):
        assert totals[side]["tokens"] == sum(turn[side]["tokens"] for turn in turns)
    assert totals["price_ratio"] < 1
    out = shown("replay", long_run, "--window", "4000")
    lines = out.splitlines()
    assert lines[0] == "run.json: 61 turns for gpt-4o"
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in out
    assert [turn for turn in turns if turn["compacted"] and turn["happened"] not in out] == []
    assert "turns in which it held are not shown." in out
    assert "above the limit of 4,000, rejected" in out
    assert "Show every turn with --all." in out


@pytest.mark.parametrize(
    ("roles", "stops"),
    [("suatat", [2, 4, 6]), ("suata", [2, 4]), ("auaa", [2, 3]), ("a", []), ("", [])],
)
def test_turns_are_where_the_model_was_asked(roles: str, stops: list[int]) -> None:
    """Before each answer but one that begins, and at an end that waits for one."""
    names = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    assert list(turn_stops([{"role": names[role]} for role in roles])) == stops


def test_many_conversations_have_a_row_each(two_runs: str, shown: Run) -> None:
    """With names as they are, each with its recorded model; the totals are of all."""
    lines = shown("replay", two_runs, "--window", "3000").splitlines()
    assert lines[0] == "runs.jsonl: 2 conversations, 25 turns for gpt-4.1, gpt-4o"
    assert [line.split()[:3] for line in lines[5:7]] == [["1", "short", "4"], ["2", "[long]", "21"]]
    found = facts(shown, two_runs, "--window", "3000")
    assert [one["model"] for one in found["conversations"]] == ["gpt-4o", "gpt-4.1"]
    assert found["totals"]["turns"] == 25
    for wanted in ("[long]", "2"):
        out = shown("replay", two_runs, "--conversation", wanted)
        assert out.startswith("runs.jsonl: 21 turns for gpt-4.1\n")


def test_every_turn_is_shown_on_demand(long_run: str, shown: Run) -> None:
    """With --all; fewer with --every."""
    for argv, least, most in ((["--all"], 61, 61), (["--every", "20"], 4, 4), ([], 21, 41)):
        lines = shown("replay", long_run, *argv).splitlines()
        assert least <= sum(line.endswith("hold") for line in lines) <= most


def test_a_foreign_tokenizer_is_told(long_run: str, shown: Run) -> None:
    """Otherwise a cut below the limit looks like a fault; and dollars that are not known are not made up."""
    out = shown("replay", long_run, "--model", "claude-9", "--window", "4000")
    assert "may be 4,000 for the provider" in out
    assert "What claude-9 costs in dollars is not known; caching is as for Anthropic." in out
    assert "for the provider" not in shown("replay", long_run)


def test_an_engine_of_ones_own_costs_seconds(
    long_run: str, shown: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not cached, by the speed that is told; no dollars, whatever model it is."""
    monkeypatch.setenv("AUTOGEN_CONTEXT_PREFILL_TOKENS_PER_S", "100")
    argv = (long_run, "--window", "4000")
    totals = facts(shown, *argv)["totals"]
    seconds = [totals[side]["cost_tokens"] / 100 for side in ("sent", "whole")]
    told = "At 100 tokens a second the engine reads for {:,.0f} s, and for {:,.0f} s where everything is sent."
    out = shown("replay", *argv)
    assert told.format(*seconds) in out
    assert "dollars" not in out


def test_settings_come_from_arguments_environment_and_file(
    long_run: str, shown: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this order, as for an agent; the model's own limit without any."""
    Path("s.toml").write_text("window_tokens = 5000\nreserve_tokens = 500\n")
    file = ["--config", "s.toml"]
    arguments = [*file, "--window", "7000", "--reserve", "100"]
    rows: list[tuple[str, list[str], int]] = [("", [], 111_616), ("", file, 4500)]
    for variable, argv, limit in [*rows, ("6000", file, 5500), ("6000", arguments, 6900)]:
        monkeypatch.setenv("AUTOGEN_CONTEXT_WINDOW_TOKENS", variable)
        [one] = facts(shown, long_run, *argv)["conversations"]
        assert one["turns"][0]["limit_tokens"] == limit


def test_a_turn_that_cannot_be_sent_is_a_row(shown: Run) -> None:
    """With what it needs, and the replay goes on."""
    rules = {"role": "system", "content": "rule " * 2_000}
    Path("big.json").write_text(json.dumps([rules, {"role": "user", "content": "hi"}]))
    out = shown("replay", "big.json", "--window", "1000")
    assert "impossible: needs 2,0" in out
    assert "not made: what must stay does not fit" in out


class Terminal(io.StringIO):
    """A standard error that a person watches."""

    @override
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("turns", "watched", "bars"), [(200, True, 1), (3, True, 0), (200, False, 0)]
)
def test_a_long_replay_shows_how_far_it_is(
    turns: int,
    watched: bool,  # noqa: FBT001  a row
    bars: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a terminal only, on standard error, so that the output stays clean; a log file gets none."""
    Path("r.json").write_text(json.dumps(conversation(turns=turns, tokens_per_turn=20)))
    terminal = Terminal() if watched else io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        assert main(["replay", "r.json", "--json"]) == 0
    assert min(terminal.getvalue().count("replaying"), 1) == bars
    json.loads(capsys.readouterr().out)


def test_nothing_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """F21: escapes in recordings, file names, names of models and keys are shown as question marks."""
    escape, turns = "\x1b[2J\x07", conversation(turns=2)
    Path(f"{escape}.json").write_text(json.dumps({"id": escape, "messages": turns}))
    Path("two.json").write_text(json.dumps([{"id": escape, "messages": turns}] * 2))
    Path("bad.json").write_text(json.dumps({escape: 1}))
    Path("bad.toml").write_text('"\\u001b[2J" = 1\n')
    for argv, code in (
        ([f"{escape}.json"], 0),
        (["two.json"], 0),
        (["two.json", "--conversation", "x"], 2),
        (["two.json", "--model", f"m{escape}"], 0),
        ([f"none{escape}"], 2),
        (["bad.json"], 2),
        (["two.json", "--config", "bad.toml"], 2),
        (["two.json", "--window", "9" * 20], 2),
    ):
        assert main(["replay", *argv]) == code
        captured = capsys.readouterr()
        assert "\x1b" not in captured.out + captured.err
        assert "\x07" not in captured.out + captured.err


def test_it_reads_standard_input(
    long_run: str, shown: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a pipe."""
    with Path(long_run).open() as recording:
        monkeypatch.setattr(sys, "stdin", recording)
        assert shown("replay", "-").startswith("standard input: 61 turns for gpt-4o")
