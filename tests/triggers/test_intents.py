"""A model is asked what an agent is at in the background of turns; nothing ever waits for it."""

import asyncio

import pytest

from autogen_context.messages.tool_call import BY_NAME
from autogen_context.models.background import Background
from autogen_context.testing import ChatMessage
from autogen_context.triggers.decision import TriggerSettings
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.intent import Intent
from autogen_context.triggers.intent_model import Intents
from autogen_context.triggers.turn import Turn, turn_of
from support.units import candidates_of, read_all


class Model:
    """Says the same of every turn, or nothing ever.

    Attributes:
        asked: what the turns that it was asked about were about.
        known: its answers.
        cancelled: how many questions were broken off.
    """

    def __init__(self, intent: Intent, *, is_ready: bool = True) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.known: dict[tuple[str, ...], Intent] = {}
        self.cancelled = 0
        self._intent: Intent = intent
        self._is_ready = is_ready

    def __call__(self, turn: Turn, /) -> Intent | None:
        """What it said."""
        return self.known.get(subjects(turn))

    async def ask(self, turn: Turn, /) -> Intent | None:
        """What it says."""
        self.asked.append(subjects(turn))
        try:
            if not self._is_ready:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.known[subjects(turn)] = self._intent
        return self._intent


def subjects(turn: Turn) -> tuple[str, ...]:
    """What the first step of a turn is about."""
    return turn.steps[0].action.subjects


def call(path: str, tool: str = "read_file") -> ChatMessage:
    """A message that calls a tool."""
    function = {"name": tool, "arguments": f'{{"path": "{path}"}}'}
    calls = [{"id": path, "type": "function", "function": function}]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(path: str) -> ChatMessage:
    """What it returned."""
    return {"role": "tool", "tool_call_id": path, "content": "x = 1"}


ASK: list[ChatMessage] = [{"role": "user", "content": "Go."}]


@pytest.mark.parametrize(
    ("messages", "asked"),
    [
        pytest.param([], [], id="nothing is there"),
        pytest.param(ASK, [], id="a person spoke"),
        pytest.param([*ASK, {"role": "assistant", "content": "Yes."}], [], id="it only spoke"),
        pytest.param([*ASK, call("a.py")], [], id="a call without its result"),
        pytest.param([*ASK, call("a.py"), result("a.py")], [("a.py",)], id="a turn"),
        pytest.param([*ASK, call("a.py"), result("a.py"), *ASK], [], id="a turn that is over"),
        pytest.param(
            [call("a.py"), result("a.py"), call("b.py"), result("b.py")],
            [("b.py",)],
            id="only the newest",
        ),
    ],
)
async def test_the_newest_turn_is_asked_about(
    messages: list[ChatMessage], asked: list[tuple[str, ...]]
) -> None:
    """When all its results are there."""
    model = Model("DEBUG")
    intents = Intents(model, BY_NAME, Background(model))
    intents.ask(candidates_of(read_all(messages)))
    await asyncio.sleep(0)
    assert model.asked == asked


async def test_a_turn_is_asked_about_once() -> None:
    """However often it is the newest."""
    model = Model("DEBUG")
    intents = Intents(model, BY_NAME, Background(model))
    candidates = candidates_of(read_all([*ASK, call("a.py"), result("a.py")]))
    for _ in range(3):
        intents.ask(candidates)
        await asyncio.sleep(0)
    assert model.asked == [("a.py",)]


async def test_what_is_under_way_ends_with_its_owner() -> None:
    """Nobody waited for it; it is cancelled, and what was begun in a loop that is over is left alone."""
    model = Model("DEBUG", is_ready=False)
    background = Background(model)
    intents = Intents(model, BY_NAME, background)
    candidates = candidates_of(read_all([*ASK, call("a.py"), result("a.py")]))
    intents.ask(candidates)
    await asyncio.sleep(0)
    await background.aclose()
    assert model.cancelled == 1
    assert model.known == {}


def test_each_turn_may_have_a_loop_of_its_own() -> None:
    """A question that was cut off with its loop keeps nobody from asking the next."""
    model = Model("DEBUG", is_ready=False)
    intents = Intents(model, BY_NAME, Background(model))

    async def turn(path: str) -> None:
        intents.ask(candidates_of(read_all([*ASK, call(path), result(path)])))
        await asyncio.sleep(0)

    for path in ("a.py", "b.py", "c.py"):
        asyncio.run(turn(path))
    assert model.asked == [("a.py",), ("b.py",), ("c.py",)]
    assert model.cancelled == 3


async def test_triggers_take_what_was_answered() -> None:
    """In the hybrid as well: the model's word goes before the rules'; where it said nothing, the rules decide."""
    model = Model("DEBUG")
    intents = Intents(model, BY_NAME, Background(model))
    messages = [*ASK]
    for tool in ["read_file"] * 5 + ["str_replace"]:
        messages += [call("a.py", tool), {**result("a.py"), "content": "Changed."}]
        intents.ask(candidates_of(read_all(messages)))
        await asyncio.sleep(0)
    messages += [call("b.py", "run_tests"), {**result("b.py"), "content": "9 passed in 0.4s"}]
    turns = [
        turn_of(candidate.unit, number)
        for number, candidate in enumerate(candidates_of(read_all(messages))[1:])
    ]
    settings = TriggerSettings(subtasks=False, boundaries=False, staleness=False, fallback_turns=0)
    told: list[list[tuple[object, object, object]]] = []
    for known in (None, model):
        hybrid = SemanticHybridTrigger(settings, known=known)
        fired = [d.details for d in map(hybrid.observe, turns) if d.fires]
        told.append([(each["from"], each["to"], each["by"]) for each in fired])
    assert told == [[("EXPLORE", "IMPLEMENT", "rules")], [("DEBUG", "VERIFY", "rules")]]
