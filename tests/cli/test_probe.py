"""``autogen-context probe``: what of people's rules and facts a recorded conversation would lose, and its exit codes."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.cli.main import main
from autogen_context.messages.message import Message
from autogen_context.report.probe import SlidingWindows
from autogen_context.testing import ChatMessage
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.statement import PersonStatement
from support.results import step
from support.saying import says

Run = Callable[..., str]
pytestmark = pytest.mark.usefixtures("alone")

COUNTER = MessageCounter.for_model("gpt-4o")
RULE, FACT = "The limit of the archive is 30 EUR", "My name is Bo"
NOISE = "\n".join(f"module_{n}.c:{n * 7}: undefined reference to fn_{n}" for n in range(25))


def worked(count: int, *said: str) -> list[ChatMessage]:
    """A person says something, and the agent works."""
    start = [says("You are an agent.", "system"), *(says(text, "user") for text in said)]
    return [*start, *(m for n in range(count) for m in step(n, NOISE, command=f"make {n}"))]


def saved(name: str, content: object) -> str:
    """The name of a file with a recording."""
    Path(name).write_text(json.dumps(content))
    return name


def data(shown: Run, *argv: str, code: int = 0) -> list[Any]:
    """The conversations, as data."""
    found: list[Any] = json.loads(shown("probe", *argv, "--json", code=code))["conversations"]
    return found


def test_what_sliding_windows_lose_is_there(shown: Run) -> None:
    """A rule that was said once: in 80 columns, with its words, its place and since when; exit code 0, since nothing of ours is gone."""
    file = saved("run.json", worked(20, f"{RULE}. {FACT}.", "Begin."))
    [one] = data(shown, file, "--window", "2000")
    assert [rule["text"] for rule in one["rules"]] == [RULE]
    assert [fact["text"] for fact in one["facts"]] == [FACT]
    assert (one["loses"], one["gone"]["ours"]) == (False, [])
    assert [each["text"] for each in one["gone"]["newest"]] == [RULE, FACT]
    assert one["gone"]["first"] == []  # it is in the first message
    gone_in = one["gone"]["newest"][0]["gone_in"]
    assert gone_in == list(range(gone_in[0], 22))
    for turn in one["turns"]:
        is_gone = turn["turn"] in gone_in
        assert turn["gone"]["newest"] == {"rules": is_gone, "facts": is_gone}
        assert turn["stated"] == {"rules": 1, "facts": 1}
    out = shown("probe", file, "--window", "2000")
    assert max(map(len, out.splitlines()[:-1])) <= 80
    assert "Every request of ours has all that people stated and that still holds." in out
    assert f'- in turns {gone_in[0]} to 21: "{RULE}" (constraint, message 1)' in out


def test_what_ours_loses_is_told_and_fails_a_check(shown: Run) -> None:
    """More rules than the window holds: exit code 1, each of them with its turns; a person's withdrawal is no loss."""
    limits = [
        f"The limit of department {n} is {n * 3 + 100} EUR in a month, whatever its head or the office says."
        for n in range(60)
    ]
    file = saved(
        "run.json", [*worked(6, *limits), says("Forget the limit of department 3.", "user")]
    )
    [one] = data(shown, file, "--window", "900", code=1)
    ours = one["gone"]["ours"]
    assert ours
    assert len(one["rules"]) == 59
    assert {e["text"] for e in ours if 7 in e["gone_in"]} == {
        rule["text"] for rule in one["rules"] if not rule["in_request"]
    }
    out = shown("probe", file, "--window", "900", code=1)
    assert all(f'"{each["text"]}"' in out for each in ours)
    assert "Every request" not in out


def test_the_rules_in_force_are_listed(shown: Run) -> None:
    """With their places, of one conversation or of many; a rule that a person replaced is none."""
    talks = [worked(1, f"{RULE}.", f"{RULE[:-6]}45 EUR."), worked(1, "Never delete logs.")]
    file = saved("two.json", [{"id": n, "messages": m} for n, m in zip("ab", talks, strict=True)])
    lines = shown("probe", file, "--rules").splitlines()
    assert lines[0] == "2 rules, limits and preferences of people are in force at the end"
    assert [line.split() for line in lines if re.match(r" *\d", line)][1:] == [
        ["1.", "a"],
        ["2", "2", "constraint", *f"{RULE[:-6]}45 EUR".split()],
        ["2.", "b"],
        ["1", "1", "safety", "rule", "Never", "delete", "logs"],
    ]
    assert "1 rules" in shown("probe", file, "--rules", "--conversation", "b")


def test_many_conversations_have_a_row_each(shown: Run) -> None:
    """And the totals are of all."""
    talks = [worked(20, f"{RULE}. {FACT}."), worked(20, "Begin.", f"{RULE}.")]
    file = saved("two.json", [{"id": n, "messages": m} for n, m in zip("ab", talks, strict=True)])
    lines = shown("probe", file, "--window", "2000").splitlines()
    assert lines[0] == "two.json: 2 conversations, 42 turns"
    rows = [line.split() for line in lines if line.split()[1:2] in (["a"], ["b"])]
    assert rows == [
        ["1", "a", "21", "1", "1", "-", *["1", "+", "1"], "-"],
        ["2", "b", "21", "1", "0", "-", *["1", "+", "0"], *["1", "+", "0"]],
    ]
    [totals] = [line.split() for line in lines if line.startswith("in any request")]
    assert totals[3:] == ["-", "2", "+", "1", "1", "+", "0"]


def test_a_request_that_cannot_be_made_fails_a_check(shown: Run) -> None:
    """Nothing is sent then, so nothing is there."""
    system = says("You are an agent. " * 300, "system")
    file = saved("run.json", [system, says(f"{RULE}.", "user"), says("ok")])
    out = shown("probe", file, "--window", "300", code=1)
    assert "turn 1: what must stay does not fit, so nothing was sent" in out


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["nowhere.json"], "it cannot be read"),
        (["empty.json"], "it is empty"),
        (["run.json", "--window", "0"], "window_tokens"),
        (["run.json", "--conversation", "9"], "there is none of that name"),
    ],
)
def test_bad_input_is_an_error_of_one_line(refused: Run, argv: list[str], why: str) -> None:
    """Exit code 2, as of every command."""
    saved("run.json", worked(1, RULE))
    Path("empty.json").write_text("")
    assert why in refused("probe", *argv)


def test_people_under_names_of_their_own_are_people_if_that_is_said(shown: Run) -> None:
    """In the settings; else there is nothing to lose, which says how."""
    said = [says(f"{RULE}.", "user", name="Ann"), says("Fine."), says("Go on.", "user", name="Ann")]
    file = saved("run.json", said)
    assert "people = [...]" in shown("probe", file)
    Path("settings.toml").write_text('people = ["Ann"]')
    assert "people = [...]" not in shown("probe", file, "--config", "settings.toml")
    [one] = data(shown, file, "--config", "settings.toml")
    assert [rule["text"] for rule in one["rules"]] == [RULE]


def test_it_is_listed_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """With what its exit code says."""
    assert main(["probe", "--help"]) == 0
    assert "Exits with 1" in capsys.readouterr().out


TEXTS = st.lists(st.sampled_from(["short", NOISE, "some words " * 40]), min_size=1, max_size=12)


@given(texts=TEXTS, room=st.integers(0, 3_000), keeps_first=st.booleans())
def test_a_sliding_window_has_all_that_fits(
    texts: list[str], room: int, *, keeps_first: bool
) -> None:
    """The system prompt, the first message if asked for, and as many of the newest as fit in addition; the newest in any case."""
    said = [f"{text} {n}." for n, text in enumerate(texts)]
    messages = [Message(role="system", text="p"), *(Message(role="user", text=t) for t in said)]
    stated: Sequence[PersonStatement] = [
        PersonStatement(text=text, kind="fact", position=n, turn=n, in_request=True)
        for n, text in enumerate(said, 1)
    ]
    windows = SlidingWindows(messages, COUNTER)
    gone = windows.gone(stated, len(messages), room, keeps_first=keeps_first)
    left = [m for m in messages[1:] if m.text not in {each.text for each in gone}]
    first = 1 + keeps_first
    assert messages[-1] in left
    assert not keeps_first or messages[1] in left
    kept = [m for m in messages if m.role == "system" or m in left]
    tokens = sum(map(COUNTER.message, kept))
    assert tokens <= room or len(kept) <= first + 1
    if gone:
        newest_gone = messages[max(each.position or 0 for each in gone)]
        assert tokens + COUNTER.message(newest_gone) > room
