"""``autogen-context explain``, and what it says: a message through time."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.cli.main import main
from autogen_context.manager.event_log import EventLog
from autogen_context.report.events import Run, read_events, runs_of
from autogen_context.report.explained import explained
from autogen_context.tokens.prices import price_of
from autogen_context.view.decision import Decision
from support.runs import LONG, lived
from support.saying import says

TURNS = 24
SAID = LONG[: 2 * TURNS]
Decided = Sequence[Sequence[Decision]]
Command = Callable[..., str]


def written(path: Path, *agents: str) -> Decided:
    """A log of one run for each agent; the decisions of each turn of the last."""
    log, decided = EventLog(path), list[Sequence[Decision]]()
    for agent in agents:
        config = ContextConfig(model="gpt-4o", agent=agent, window_tokens=3_000)
        manager = IncrementalContextManager(config=config, events=log)
        decided = [prepared.decisions for prepared in lived(manager, SAID)]
    assert log.flush()
    return decided


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run, Decided]:
    """A log, its run, and the decisions of each turn."""
    path = tmp_path_factory.mktemp("log") / "run.jsonl"
    decided = written(path, "")
    [run] = runs_of(read_events(path))
    return path, run, decided


def test_every_message_at_every_turn(logged: tuple[Path, Run, Decided]) -> None:
    """It is what was decided in that turn, since the turn in which that began, with the price of keeping it."""
    _, run, decided = logged
    rates = price_of("gpt-4o")
    for turn, decisions in enumerate(decided, 1):
        for decision in decisions:
            message = decision.stop - 1
            actions = [
                next((d.action for d in each if d.start <= message < d.stop), None)
                for each in decided[:turn]
            ]
            since = turn
            while since > 1 and actions[since - 2] == decision.action:
                since -= 1
            found = explained(run, message=message, turn=turn)
            assert (found.since, found.is_there) == (since, decision.action != "drop")
            last, rank = found.life[-1], decision.rank
            assert (last["unit"], last["stop"]) == (decision.start, decision.stop)
            assert (last["action"], last["reason"]) == (decision.action, decision.reason)
            assert last["score"] == (rank.score if rank else None)
            if found.keeping is None:
                assert decision.tokens_after >= decision.tokens_before
                continue
            keeping, tokens = found.keeping, decision.tokens_before - decision.tokens_after
            assert keeping.tokens == max(0, tokens)
            assert keeping.requests == turn - since + 1
            assert keeping.cached == keeping.tokens * rates.cached_fraction
            assert keeping.total == keeping.uncached + (turn - since) * keeping.cached
            assert keeping.dollars == pytest.approx(keeping.total * 2.5 / 1e6)


def test_who_was_left_out_by_score_had_less_than_the_last_that_stayed(
    logged: tuple[Path, Run, Decided],
) -> None:
    """F36: the explanation does not contradict its own numbers."""
    _, run, decided = logged
    seen = 0
    for decision in decided[-1]:
        last = explained(run, message=decision.start).life[-1]
        if last["action"] == "drop" and "what is kept has" in last["reason"]:
            assert last["score"] is not None
            assert last["cut"] is not None
            assert last["score"] <= last["cut"]
            seen += 1
    assert seen > 3


def test_the_command(logged: tuple[Path, Run, Decided], shown: Command) -> None:
    """What it was, why, its score, the price of keeping it, how to have it back, and its life; as JSON the same."""
    path, run, decided = logged
    gone = next(d for d in decided[-1] if d.action == "drop" and d.rank)
    asked = ("explain", path, "--turn", TURNS, "--message", gone.start)
    lines = shown(*asked).splitlines()
    assert lines[0].startswith(f"Run {run.id}, turn {TURNS}, message {gone.start} (assistant, call")
    assert lines[1].startswith("left out since turn ")
    assert gone.reason.removeprefix("left out: ") in lines[1]
    assert lines[2].startswith("score ")
    assert lines[3].startswith(f"whole, it would add {gone.tokens_before - gone.tokens_after} ")
    assert gone.handle in lines[5]
    assert lines[6] == "history:"
    assert lines[-1].endswith(f": drop, {gone.tokens_after} tokens; {gone.reason}")
    found = json.loads(shown(*asked, "--json"))
    assert (found["is_there"], found["life"][-1]["reason"]) == (False, gone.reason)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--turn 57", "turn=57: the run has 1 to 24"),
        ("--turn 0", "turn=0: the run has 1 to 24"),
        ("--message 48", "message=48: at turn 24 the history has 0 to 47"),
        ("--turn 1 --message 2", "message=2: at turn 1 the history has 0 to 1"),
        ("--message -1", "message=-1: at turn 24"),
        ("--run mine", "--run mine: "),
    ],
)
def test_what_is_not_there_is_named_with_what_is(
    logged: tuple[Path, Run, Decided], refused: Command, line: str, says: str
) -> None:
    """The error names the input and the way out."""
    assert f"error: {says}" in refused("explain", logged[0], "--message", "1", *line.split())


def test_one_of_several_runs(tmp_path: Path, shown: Command, refused: Command) -> None:
    """By its number, its id or its agent; without a choice they are named."""
    path = tmp_path / "run.jsonl"
    written(path, "coder", "tester")
    first, second = runs_of(read_events(path))
    asked = ("explain", path, "--message", "1")
    assert f"{first.id} (coder), {second.id} (tester)" in refused(*asked)
    for wanted in ("2", second.id, "tester"):
        assert f"Run {second.id} of tester" in shown(*asked, "--run", wanted)


def test_a_log_without_a_turn_and_none_are_errors(tmp_path: Path, refused: Command) -> None:
    """In one line, with what is to be given."""
    path = tmp_path / "run.jsonl"
    assert "there is no such file; check" in refused("explain", path, "--message", "1")
    path.write_text('{"v": 1, "event": "lost", "count": 1}\n')
    assert "it has no turns" in refused("explain", path, "--message", "1")


def test_nothing_in_a_log_moves_the_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """F21: escapes and direction marks in names of tools and agents are neutralised; a damaged line is told."""
    path = tmp_path / "run.jsonl"
    written(path, "a\x1b[2Jb\u202ec")
    lines = path.read_text().replace("read_file", "\\u001b]0;owned\\u0007").splitlines()
    path.write_text("\n".join([*lines[:3], "\x1b[31m not JSON", *lines[3:]]))
    for message in range(0, 40, 6):
        assert main(["explain", str(path), "--message", str(message)]) == 0
        shown = capsys.readouterr()
        assert "warning: damaged lines that were skipped in " in shown.err
        assert all(char.isprintable() or char == "\n" for char in shown.out + shown.err)


@pytest.mark.parametrize("record_text", [True, False])
def test_what_became_of_a_rule_is_explained(
    tmp_path: Path, shown: Command, *, record_text: bool
) -> None:
    """Of the message that stated it: whether it is in force, and else by which message a person ended it; at each turn."""
    said = [
        "The limit is 30 people. The budget is 40 EUR.",
        "The limit is 45 people now.",
        "Go on.",
    ]
    history = [m for text in said for m in (says(text, "user"), says("Fine."))]
    log = EventLog(tmp_path / "run.jsonl", record_text=record_text)
    manager = IncrementalContextManager(model="gpt-4o", window_tokens=3_000, events=log)
    for stop in (1, 3, 5):
        manager.prepare_nowait(history[:stop])
    assert log.flush()

    def told(message: int, turn: int) -> list[str]:
        out = shown("explain", log.path, "--message", message, "--turn", turn)
        return [line for line in out.splitlines() if line.startswith("it stated")]

    first, second, newer = (
        f" {text!r}" if record_text else ""
        for text in ("The limit is 30 people", "The budget is 40 EUR", "The limit is 45 people now")
    )
    holds = "which is in force"
    assert told(0, 1) == [f"it stated a constraint{text}, {holds}" for text in (first, second)]
    ended = [
        f"it stated a constraint{second}, {holds}",
        f"it stated a constraint{first}, which message 2 ended",
    ]
    assert told(0, 2) == told(0, 3) == ended
    assert told(2, 3) == [f"it stated a constraint{newer}, {holds}"]
    assert told(4, 3) == []
