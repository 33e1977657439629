"""A system prompt that changes, and a host that edits one message, cost what they change and nothing else."""

import copy
import json
import logging
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import pytest

from autogen_context.messages.message import SYSTEM_ROLES, Message
from support.keeping import manager
from support.states import HOSTS, conversation, decided
from support.tracing import traced
from support.words import Words

TURNS = 80
of_each_host = pytest.mark.parametrize("words", [*HOSTS.values()], ids=[*HOSTS])

CLOCKS: dict[str, Callable[[int], list[str]]] = {
    "same length": lambda n: [f"You are careful. Current time: 10:{n:02d}"],
    "another length": lambda n: ["You are careful. Current time:" + " tick" * (n % 7)],
    "a rule that changes": lambda n: [f"You are careful. Never use more than {n + 10} threads."],
    "two, the second changes": lambda n: ["You are careful.", f"Current time: 10:{n:02d}"],
}


def prompted(words: Words, steps: int, prompts: Sequence[str]) -> list[Any]:
    """The conversation with these system messages in front."""
    return [*map(words.system, prompts), *conversation(words, steps)[1:]]


def lived(words: Words, prompts: Callable[[int], list[str]]) -> tuple[int, int]:
    """A run of so many turns: how often it compacted, and how often what is behind the prompt only grew."""
    keeper, before = manager(3_000, host=words.host), list[Message]()
    compactions, held = 0, 0
    for n in range(TURNS):
        heads = prompts(n)
        turn = keeper.prepare_nowait(prompted(words, n, heads))
        assert turn.certificate.fits
        assert turn.certificate.pairs_closed
        read = [words.host.read(payload) for payload in turn.messages]
        assert [m.text for m in read if m.role in SYSTEM_ROLES] == heads
        behind = read[len(heads) :]
        held += not turn.compacted and behind[: len(before)] == before
        compactions, before = compactions + turn.compacted, behind
    return compactions, held


@of_each_host
@pytest.mark.parametrize("clock", CLOCKS)
def test_a_prompt_that_changes_each_turn_costs_no_compaction(words: Words, clock: str) -> None:
    """As many compactions as with one prompt, and between them all behind the prompt only grows."""
    prompts = CLOCKS[clock]
    expected, _ = lived(words, lambda _: prompts(6))
    compactions, held = lived(words, prompts)
    assert compactions <= expected
    assert held == TURNS - compactions


def test_a_changed_prompt_costs_the_same_in_a_long_conversation() -> None:
    """By calls of functions, in turns that hold: four times the history costs a fifth more at most."""
    words, calls = HOSTS["openai"], dict[bool, list[int]]()
    keeper = manager(3_000, host=words.host)
    for n in range(240):
        messages = prompted(words, n, CLOCKS["another length"](n))
        with traced() as passed:
            turn = keeper.prepare_nowait(messages)
        if not turn.compacted and (50 <= n < 60 or n >= 230):
            calls.setdefault(n < 60, []).append(passed.total())
    assert median(calls[False]) <= 1.2 * median(calls[True])


@of_each_host
def test_a_prompt_that_changed_between_processes_costs_no_compaction(words: Words) -> None:
    """A state goes on with another prompt as it would with the same."""
    keeper, prompts = manager(3_000, host=words.host), CLOCKS["same length"]
    for n in range(40):
        keeper.prepare_nowait(prompted(words, n, prompts(n)))
    other = manager(3_000, host=words.host)
    other.load_state(json.loads(json.dumps(keeper.save_state())))
    turn = other.prepare_nowait(prompted(words, 40, prompts(40)))
    expected = keeper.prepare_nowait(prompted(words, 40, prompts(40)))
    assert decided(turn.decisions) == decided(expected.decisions)
    assert turn.compacted == expected.compacted


@pytest.mark.parametrize("copied", [False, True], ids=["same objects", "copies"])
@pytest.mark.parametrize("at", [1, 20, 35])
@of_each_host
def test_one_edited_message_leaves_the_others_as_they_are(
    words: Words, at: int, *, copied: bool
) -> None:
    """It is sent as it is now, where it was sent, and every other decision stays."""
    keeper, messages = manager(100_000, host=words.host, reduce="off"), conversation(words, 20)
    before = keeper.prepare_nowait(messages)
    edited = list(messages)
    edited[at] = words.user("Another text.") if at == 1 else words.said("Another text.")
    turn = keeper.prepare_nowait(copy.deepcopy(edited) if copied else edited)
    pairs = zip(before.decisions, turn.decisions, strict=False)
    assert sum(one is not other for one, other in pairs) <= 1 + (at != 1)  # a call and its result
    assert "Another text." in [words.host.read(payload).text for payload in turn.messages]


@of_each_host
def test_a_message_put_in_front_moves_the_others(words: Words) -> None:
    """A second system message, and later none at all: what is behind is sent as before."""
    keeper, messages = manager(3_000, host=words.host), conversation(words, 40)
    first = keeper.prepare_nowait(messages)
    for prompts in ([words.system("A"), words.system("B")], [], [words.system("C")]):
        turn = keeper.prepare_nowait([*prompts, *messages[1:]])
        own = len(prompts)
        assert not turn.compacted
        assert [d.action for d in turn.decisions[own:]] == [d.action for d in first.decisions[1:]]
        assert [words.host.read(m) for m in turn.messages[own:]] == [
            words.host.read(m) for m in first.messages[1:]
        ]


def test_it_is_said_once_that_the_prompt_changes_each_turn(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In the log, and by what explains the prompt; a prompt that changed once is nothing to tell."""
    words, keeper = HOSTS["openai"], manager(3_000)
    for n in range(3):
        keeper.prepare_nowait(prompted(words, n, ["Be careful." if n else "Be quick."]))
    assert not caplog.records
    messages = list[Any]()
    for n in range(3, 20):
        messages = prompted(words, n, CLOCKS["same length"](n))
        keeper.prepare_nowait(messages)
    [told] = [r for r in caplog.records if "system prompt" in r.getMessage()]
    assert told.levelno == logging.WARNING
    assert "cache" in str(keeper.explain(messages[0]))
