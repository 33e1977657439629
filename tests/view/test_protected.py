"""What must stay, and who gives first where it does not fit."""

from collections.abc import Sequence
from typing import get_args

import pytest

from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.view.decision import Action, Candidate, Decision, Why, replaced, tokens_of
from autogen_context.view.invariants import protected_of, satisfied
from autogen_context.view.protected import (
    Protection,
    choose_protected,
)
from support.units import candidates_of, fit, overview_of


def message(role: str, text: str, arguments: str = "") -> Message:
    """A message, with one call where it has arguments."""
    calls = (ToolCall(id="1", name="f", arguments=arguments),) if arguments else ()
    return Message(role=role, text=text, calls=calls)


SYSTEM, PERSON, ANSWER = message("system", "s"), message("user", "p"), message("assistant", "a")
CALLS = message("assistant", "c", "{}")
OUTPUT = message("user", "<returncode>0</returncode>\n<output>\no\n</output>")


@pytest.mark.parametrize(
    ("messages", "floors"),
    [
        pytest.param([], {}, id="nothing"),
        pytest.param([SYSTEM], {0: "system"}, id="only a system prompt"),
        pytest.param(
            [SYSTEM, SYSTEM, PERSON, ANSWER],
            {0: "system", 1: "system", 2: "instruction", 3: "newest"},
            id="all that leads",
        ),
        pytest.param(
            [PERSON, SYSTEM, message("system", "t"), ANSWER],
            {0: "instruction", 2: "memory", 3: "newest"},
            id="the newest of later system messages",
        ),
        pytest.param(
            [SYSTEM, PERSON, SYSTEM, ANSWER],
            {0: "system", 1: "instruction", 3: "newest"},
            id="what the system prompt says is no memory",
        ),
        pytest.param(
            [PERSON, ANSWER, PERSON, ANSWER, PERSON, ANSWER],
            {0: "task", 4: "instruction", 5: "newest"},
            id="first and latest task",
        ),
        pytest.param([PERSON], {0: "newest"}, id="the newest is the task"),
        pytest.param([PERSON, CALLS], {0: "instruction", 1: "pending"}, id="a call that waits"),
        pytest.param([ANSWER, ANSWER], {1: "newest"}, id="nobody asked"),
        pytest.param(
            [PERSON, ANSWER, PERSON, ANSWER, OUTPUT, ANSWER],
            {0: "task", 2: "instruction", 5: "newest"},
            id="output is no task, in whosever role it comes",
        ),
    ],
)
def test_what_must_stay(messages: list[Message], floors: dict[int, str]) -> None:
    """Leading system messages, the tasks, and the newest unit."""
    candidates = candidates_of(messages)
    assert protected_of(candidates, frozenset(), overview_of(candidates)) == floors


def test_a_pin_is_stronger_than_a_task_and_weaker_than_the_system_prompt() -> None:
    """Of two reasons to stay the stronger one is told; one pinned message pins its unit."""
    result = Message(role="tool", results=(ToolResult(call_id="1", text="r"),))
    candidates = candidates_of([SYSTEM, PERSON, CALLS, result, ANSWER])
    assert protected_of(candidates, frozenset({0, 1, 3}), overview_of(candidates)) == {
        0: "system",
        1: "pinned",
        2: "pinned",
        3: "newest",
    }


@pytest.mark.parametrize("action", ["keep", "repair", "shorten", "drop"])
def test_what_satisfies_a_floor(action: Action) -> None:
    """System prompt and pins verbatim; the others may be shortened; none may be dropped."""
    [person] = candidates_of([PERSON])
    decision = replaced(person, action, Why.NEW)
    for floor in get_args(Protection):
        verbatim = floor in ("system", "pinned")
        holds = action != "drop" and not (verbatim and action == "shorten")
        assert satisfied([decision], {0: floor}) is holds


def planned(
    candidates: Sequence[Candidate], limit: int, pinned: frozenset[int] = frozenset()
) -> dict[int, Decision]:
    """What is under test."""
    floors = protected_of(candidates, pinned, overview_of(candidates))
    return choose_protected(candidates, floors, limit_tokens=limit, fit=fit)


TASK, STEP = message("user", "t" * 4_000), message("assistant", "n" * 4_000)


@pytest.mark.parametrize(
    ("limit", "actions"),
    [
        pytest.param(2_008, ["keep", "keep"], id="both whole"),
        pytest.param(2_007, ["shorten", "keep"], id="the instruction gives first"),
        pytest.param(1_036, ["shorten", "shorten"], id="then both"),
        pytest.param(300, ["shorten", "shorten"], id="half of the room"),
        pytest.param(56, ["shorten", "shorten"], id="the least of both"),
    ],
)
def test_who_gives_first(limit: int, actions: list[str | None]) -> None:
    """The instruction, down to half of the room, before the newest unit, which has a least of its own."""
    candidates = candidates_of([TASK, STEP])
    chosen = planned(candidates, limit)
    found = [chosen[i].action if i in chosen else None for i in range(2)]
    assert found == actions
    assert sum(d.tokens_after for d in chosen.values()) <= limit


@pytest.mark.parametrize(("limit", "most"), [(700, 256), (2_000, 400)])
def test_a_newest_unit_that_is_cut_leaves_room_to_turns(limit: int, most: int) -> None:
    """A fifth of the room, or as much as tells something."""
    long = message("assistant", "n" * 40_000)
    chosen = planned(candidates_of([PERSON, long]), limit)
    assert most - 32 < chosen[1].tokens_after <= most


WAITING = [PERSON, message("assistant", "x", "y" * 900)]


@pytest.mark.parametrize(
    ("messages", "limit", "pinned", "needs"),
    [
        pytest.param([], -1, set[int](), {}, id="nothing at all"),
        pytest.param(
            [TASK, STEP],
            54,
            set[int](),
            {"instruction": 32, "newest": 24},
            id="no stub of the newest",
        ),
        pytest.param([TASK, STEP], 1_000, {0}, {"pinned": 1004, "newest": 24}, id="a pin"),
        pytest.param(
            [TASK, STEP], 1_020, {0}, {"pinned": 1004, "newest": 24}, id="a pin and no stub"
        ),
        pytest.param(
            [TASK, STEP], 1_000, {1}, {"instruction": 32, "pinned": 1004}, id="the newest is pinned"
        ),
        pytest.param(
            WAITING, 99, set[int](), {"instruction": 5, "pending": 234}, id="a call that waits"
        ),
    ],
)
def test_what_is_impossible(
    messages: list[Message], limit: int, pinned: set[int], needs: dict[str, int]
) -> None:
    """F36: the error tells what each needs: all of it, a stub where it may be shortened, nothing of what may go."""
    with pytest.raises(ContextWindowExceeded) as caught:
        planned(candidates_of(messages), limit, frozenset(pinned))
    assert caught.value.parts == needs
    assert caught.value.least_tokens == sum(needs.values()) > limit


@pytest.mark.parametrize(("limit", "results"), [(4_000, 15), (2_000, 8), (8_000, 31)])
def test_the_latest_instruction_goes_before_the_newest_unit(limit: int, results: int) -> None:
    """Whole, however many large results the newest unit has; the first task comes after (F6)."""
    calls = tuple(ToolCall(id=str(n), name="f", arguments="{}") for n in range(results))
    given = [
        Message(role="tool", results=(ToolResult(call_id=str(n), text="a line\n" * 200),))
        for n in range(results)
    ]
    old, latest = message("user", "first " * 300), message("user", "now do this instead " * 5)
    step = Message(role="assistant", calls=calls)
    chosen = planned(candidates_of([old, ANSWER, latest, step, *given]), limit)
    assert chosen[2].action == "keep"
    assert tokens_of(chosen) <= limit


def test_a_memory_is_never_the_cause_of_an_error() -> None:
    """What a host says as the system behind others gives way to the newest unit and the instruction (F7)."""
    memory = message("system", "m" * 40_000)
    chosen = planned(candidates_of([SYSTEM, PERSON, memory, STEP]), 400)
    assert chosen[1].action == "keep"
    assert 3 in chosen
