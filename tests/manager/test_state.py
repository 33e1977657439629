"""A saved state is read back equal, or refused before anything is changed."""

import asyncio
import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.errors import ContextWindowExceeded, StateError
from autogen_context.manager.change import ContextChange
from autogen_context.manager.state import SCHEMA, State, dump, load
from autogen_context.prioritizer.advice import Advice
from autogen_context.prioritizer.category import BASE_WEIGHTS
from autogen_context.testing import ChatMessage
from autogen_context.view.notice import Notice, PreambleOffer
from autogen_context.view.view import Preamble
from support import keeping

manager = partial(keeping.manager, 900)
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
HISTORY: list[ChatMessage] = [
    {"role": "user", "content": "the task"},
    *({"role": "assistant", "content": f"{i} " + "x" * 200} for i in range(6)),
    {"role": "tool", "tool_call_id": "nobody", "content": "stray"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "y" * 4_000},
]


ONE_NOTICE = {"topic": "task", "key": "x", "text": "x"}


def state_with(text: str = "y") -> State:
    """A state in which there is something of everything, and this text wherever one may stand."""
    keeper = manager()
    history = [*HISTORY[:2], {"role": "user", "content": f"{text} " * 60}, *HISTORY[2:]]
    turn = keeper.prepare_nowait(history)
    keeper.record_usage(turn, prompt_tokens=turn.certificate.counted_tokens + 20)
    keeper.pin(history[5])
    changes = [ContextChange.task_started("x"), ContextChange.requirement_added(f"{text}.")]
    asyncio.run(keeper.apply_changes(changes))
    newer = Notice(topic="project", key=text, text=f"{text} is gone.", detail=text, news=text)
    offer = PreambleOffer(parts=("[A project]", text, "Where."), most_tokens=99, newer=(newer,))
    whole = load(keeper.save_state())
    return replace(
        whole,
        view=replace(whole.view, preamble=Preamble(text=text, offer=offer, is_placed=True)),
        summaries={"key": text},
        advice={"key": Advice(multipliers=dict.fromkeys(BASE_WEIGHTS, 1.0), complexity="low")},
        providers={text: {"knows": text}},
    )


@pytest.mark.parametrize("text", ["y", "", "\ud800", "\udfff\0 \u2028", "[x]\n> y\r", "é" * 300])
def test_what_was_saved_is_loaded(text: str) -> None:
    """Through JSON text, any text included."""
    state = state_with(text)
    loaded = load(json.loads(json.dumps(dump(state))))
    assert loaded == state
    assert dump(loaded) == dump(state)


SAVED = dump(state_with())


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to each value in JSON data."""
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(cast("dict[str | int, object]", value).items())  # JSON
    if isinstance(value, list):
        items = list(enumerate(cast("list[object]", value)))  # JSON
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def damaged(path: tuple[str | int, ...], value: object) -> dict[str, object]:
    """The state with another value at one place; without it, where the value is ``...``."""
    state = copy.deepcopy(SAVED)
    at = cast("dict[str | int, object]", state)  # JSON; where it is a list, an index goes as well
    for key in path[:-1]:
        at = cast("dict[str | int, object]", at[key])
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return state


WRONG = st.sampled_from([..., None, "", "xyz", -1, 0, 7, 10**9, 0.5, float("nan"), float("inf"), True, [], {}, [1], {"a": 1}])  # fmt: skip


@settings(max_examples=250)
@given(st.sampled_from(list(places(SAVED))), WRONG)
def test_damage_is_refused_or_harmless(path: tuple[str | int, ...], value: object) -> None:
    """Whatever one value became: the error changes nothing, or the next turn keeps its promises."""
    keeper = manager()
    before = keeper.save_state()
    try:
        keeper.load_state(damaged(path, value))
    except StateError:
        assert keeper.save_state() == before
        return
    try:
        turn = keeper.prepare_nowait(HISTORY)
    except ContextWindowExceeded:
        return
    assert turn.certificate.fits
    assert turn.certificate.newest_present


NO_STATES: list[tuple[object, str]] = [
    ("state", "damaged: expected an object, got str"),
    ({}, "damaged: 'schema' is missing.*; give what save_state"),
    ({**SAVED, "schema": "x"}, "'schema': Input should be a valid int"),
    ({**SAVED, "schema": SCHEMA + 1}, f"schema {SCHEMA + 1} and this release reads {SCHEMA}; load"),
    ({**SAVED, "schema": 0}, "schema 0 and this release reads"),
]
DECIDED, NOTICES, VERSION = ("view", "decisions"), ("view", "notices"), ("saved_versions", 1)
DAMAGE: list[tuple[tuple[str | int, ...], object, str]] = [
    (("digests",), "ab", "'digests': Input should be a valid tuple"),
    (("digests", 0), "zz", "'digests.0': .*non-hexadecimal"),
    (("digests", 0), 5, "'digests.0': .*hexadecimal"),
    (("digests",), [], "messages are decided, and there are 0"),
    ((*DECIDED, 1, "start"), 2, "the unit at 2 to 2 stands behind 1"),
    ((*DECIDED, 0, "stop"), 0, "at 0 to 0 stands behind 0"),
    ((*DECIDED, 0, "action"), "burn", "action': Input should be 'keep'"),
    ((*DECIDED, 0, "pieces", 0, "stop"), 5, "sends a message of others"),
    ((*DECIDED, 0, "pieces", 0, "start"), 1, "sends a message of others"),
    (("view", "calibration", "lowest_ratio"), 0, "impossible bills or ratios"),
    (("view", "calibration", "steepest"), float("nan"), "a value is not|impossible"),
    (("view", "rewrites"), "7", "a value is not as it was written"),
    (("stranger",), 1, "a value is not as it was written"),
    ((*NOTICES, "due", 0, "topic"), "weather", "topic': Input should be 'task'"),
    ((*NOTICES, "due"), [ONE_NOTICE, ONE_NOTICE], "two notices have the same name"),
    ((*VERSION, "version", "number"), 0, "version 0 after 0"),
    ((*VERSION, "decided", 0, 1), 99, "decisions 0 to 99 of"),
    ((*VERSION, "decided", 0, 0), 1, "the unit at 1 to 2 stands behind 0"),
    (("view", "preamble", "offer", "newer"), [ONE_NOTICE], "a notice that is none of a project"),
    (
        ("advice",),
        {"t": {"multipliers": {"memory": 9.0}, "complexity": "low"}},
        "a value is not as it was written|less than or equal to 4",
    ),
]


@pytest.mark.parametrize(
    ("state", "reason"),
    [*NO_STATES, *((damaged(path, value), reason) for path, value, reason in DAMAGE)],
    ids=[*(row[1] for row in NO_STATES), *(row[2] for row in DAMAGE)],
)
def test_the_error_says_what_is_wrong(state: dict[str, object], reason: str) -> None:
    """With the way out where there is one."""
    with pytest.raises(StateError, match=reason):
        manager().load_state(state)
