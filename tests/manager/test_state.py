"""A saved state is read back equal, or refused before anything is changed."""

import asyncio
import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded, StateError
from autogen_context.manager.change import ContextChange
from autogen_context.manager.state import SCHEMA, State, dump, load
from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.piece import Verbatim, Written
from autogen_context.testing import ChatMessage
from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.view.decision import Decision
from autogen_context.view.decisions import Decisions
from autogen_context.view.notice import LABELS, Notice, Notices, PreambleOffer
from autogen_context.view.versions import Version
from autogen_context.view.view import ContextView, Preamble, Usage
from support.counting import Characters

TEXTS = st.text(max_size=5) | st.just("\ud800")
MESSAGES = st.builds(
    Message,
    role=TEXTS.filter(bool),
    text=TEXTS,
    calls=st.lists(st.builds(ToolCall, id=TEXTS, name=TEXTS, arguments=TEXTS), max_size=2).map(
        tuple
    ),
    results=st.lists(st.builds(ToolResult, call_id=TEXTS, text=TEXTS, name=TEXTS), max_size=2).map(
        tuple
    ),
    name=TEXTS,
    images=st.lists(
        st.builds(Image, width=st.integers(0, 9), height=st.integers(0, 9), detail=TEXTS),
        max_size=2,
    ).map(tuple),
    extra=TEXTS,
    own=st.booleans(),
)
BILLS = st.builds(
    Bill,
    counted=st.integers(0, 999),
    billed=st.integers(1_000, 9_999),
    assumed=st.integers(0, 9),
    rewrites=st.integers(0, 9),
)
CALIBRATIONS = st.builds(
    Calibration,
    ratio=st.floats(1, 2),
    lowest_ratio=st.floats(0.5, 1),
    first=st.none() | BILLS,
    last=st.none() | BILLS,
    steepest=st.floats(0, 4),
)
DOUBTED = st.builds(replace, CALIBRATIONS, before=st.none() | CALIBRATIONS)
USAGES = st.builds(
    Usage,
    requests=st.integers(0, 9),
    prompt_tokens=st.integers(0, 99_999),
    cached_tokens=st.integers(0, 9_999),
)


@st.composite
def decisions(draw: st.DrawFn) -> tuple[Decision, ...]:
    """Decisions on one unit after the other, with pieces of all kinds."""
    made: list[Decision] = []
    start = 0
    for length in draw(st.lists(st.integers(1, 3), max_size=4)):
        stop = start + length
        pieces = draw(
            st.lists(
                st.just(Verbatim(start=start, stop=stop))
                | st.builds(
                    Written, message=MESSAGES, index=st.none() | st.integers(start, stop - 1)
                ),
                max_size=1,
            )
        )
        made.append(
            Decision(
                start=start,
                stop=stop,
                action=draw(st.sampled_from(["keep", "repair", "shorten", "drop"])),
                reason=draw(TEXTS),
                tokens_before=draw(st.integers(0, 9)),
                tokens_after=draw(st.integers(0, 9)),
                pieces=tuple(pieces),
                handle=draw(TEXTS),
            )
        )
        start = stop
    return tuple(made)


NOTICES = st.builds(
    Notice,
    topic=st.sampled_from(list(LABELS)),
    key=TEXTS,
    text=TEXTS,
    position=st.integers(0, 9),
    detail=TEXTS,
    news=TEXTS,
)
APART = st.lists(NOTICES, max_size=3, unique_by=lambda notice: notice.name).map(tuple)
TOLD = st.builds(
    Notices,
    standing=APART,
    due=APART,
    in_sight=st.frozensets(st.tuples(st.sampled_from(list(LABELS)), TEXTS), max_size=2),
    waits=st.booleans(),
)
PINS = st.frozensets(st.binary(max_size=3), max_size=2)
PAST = st.builds(
    ContextView,
    decisions=decisions().map(Decisions),
    pins=PINS,
    notices=TOLD,
    must_replan=st.booleans(),
)
VERSIONS = st.builds(
    Version,
    number=st.integers(0, 99),
    kind=TEXTS,
    summary=TEXTS,
    tokens=st.integers(0, 9),
    timestamp=st.floats(0, 9),
)
KEPT = st.lists(st.tuples(VERSIONS, PAST), max_size=3, unique_by=lambda kept: kept[0].number)
NEWER = st.lists(
    st.builds(Notice, topic=st.just("project"), key=TEXTS, text=TEXTS, detail=TEXTS), max_size=2
)
PREAMBLES = st.builds(
    Preamble,
    text=TEXTS,
    offer=st.builds(
        PreambleOffer,
        parts=st.lists(TEXTS, max_size=3).map(tuple),
        most_tokens=st.integers(0, 99),
        newer=NEWER.map(tuple),
    ),
    is_placed=st.booleans(),
    is_told=st.booleans(),
)
VIEWS = st.builds(
    ContextView,
    decisions=decisions().map(Decisions),
    pins=PINS,
    calibration=DOUBTED,
    usage=USAGES,
    must_replan=st.booleans(),
    rewrites=st.integers(0, 9),
    notices=TOLD,
    sent=st.integers(0, 9),
    preamble=PREAMBLES,
)
STATES = st.builds(
    State,
    view=VIEWS,
    digests=st.lists(st.binary(max_size=3), min_size=12, max_size=13).map(tuple),
    originals=st.lists(st.tuples(TEXTS, st.lists(MESSAGES, max_size=2).map(tuple)), max_size=2).map(
        tuple
    ),
    summaries=st.dictionaries(st.text(max_size=5), TEXTS, max_size=2),
    versions=KEPT.map(lambda kept: tuple(sorted(kept, key=lambda each: each[0].number))),
    context_id=TEXTS,
    branches=st.integers(0, 9),
    providers=st.dictionaries(TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=2), max_size=2),
)


@settings(max_examples=60)
@given(STATES)
def test_what_was_saved_is_loaded(state: State) -> None:
    """Through JSON text, any text included."""
    loaded = load(json.loads(json.dumps(dump(state))))
    assert loaded == state
    assert dump(loaded) == dump(state)


def manager() -> IncrementalContextManager:
    """An empty one, all alike."""
    return IncrementalContextManager(config=ContextConfig(window_tokens=900), counter=Characters())


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
HISTORY: list[ChatMessage] = [
    {"role": "user", "content": "the task"},
    *({"role": "assistant", "content": f"{i} " + "x" * 200} for i in range(6)),
    {"role": "tool", "tool_call_id": "nobody", "content": "stray"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "y" * 4_000},
]


def saved() -> dict[str, object]:
    """A state in which there is something of everything."""
    keeper = manager()
    turn = keeper.prepare_nowait(HISTORY)
    keeper.record_usage(turn, prompt_tokens=turn.certificate.counted_tokens + 20)
    keeper.pin(HISTORY[5])
    changes = [ContextChange.task_started("x"), ContextChange.requirement_added("y")]
    asyncio.run(keeper.apply_changes(changes))
    newer = Notice(topic="project", key="a.py", text="a.py is gone.")
    preamble = Preamble(
        text="[A project]\n\nWhat it is.",
        offer=PreambleOffer(
            parts=("[A project]", "What it is.", "Where."), most_tokens=99, newer=(newer,)
        ),
        is_placed=True,
    )
    whole = load(keeper.save_state())
    return dump(
        replace(
            whole,
            view=replace(whole.view, preamble=preamble),
            providers={"somebody": {"knows": "something"}},
        )
    )


SAVED = saved()

ONE_NOTICE = {"topic": "task", "key": "x", "text": "x"}


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


def test_a_manager_goes_on_from_what_another_saved() -> None:
    """What it holds is what was saved."""
    keeper = manager()
    keeper.load_state(SAVED)
    assert keeper.save_state() == SAVED
    assert keeper.usage.requests == 1


WRONG = st.sampled_from([..., None, "", "xyz", -1, 0, 7, 10**9, 0.5, float("nan"), float("inf"), True, [], {}, [1], {"a": 1}])  # fmt: skip


@settings(max_examples=400)
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


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        pytest.param("state", "damaged: expected an object, got str", id="no object"),
        pytest.param(None, "expected an object, got NoneType", id="null"),
        pytest.param({}, "damaged: 'schema' is missing.*; give what save_state", id="empty"),
        pytest.param(
            {**SAVED, "schema": "x"}, "'schema': Input should be a valid int", id="no number"
        ),
        pytest.param(
            {**SAVED, "schema": SCHEMA + 1},
            f"schema {SCHEMA + 1} and this release reads {SCHEMA}; load with the release that saved",
            id="newer",
        ),
        pytest.param({**SAVED, "schema": 0}, "schema 0 and this release reads", id="older"),
        pytest.param(
            damaged(("digests",), "ab"),
            "'digests': Input should be a valid tuple",
            id="text",
        ),
        pytest.param(
            damaged(("digests", 0), "zz"),
            "'digests.0': .*non-hexadecimal",
            id="digest",
        ),
        pytest.param(damaged(("digests", 0), 5), "'digests.0': .*hexadecimal", id="a number"),
        pytest.param(
            damaged(("digests",), []), "10 messages are decided, and there are 0", id="gone"
        ),
        pytest.param(
            damaged(("view", "decisions", 1, "start"), 2),
            "the unit at 2 to 2 stands behind 1",
            id="a gap",
        ),
        pytest.param(
            damaged(("view", "decisions", 0, "stop"), 0),
            "at 0 to 0 stands behind 0",
            id="empty unit",
        ),
        pytest.param(
            damaged(("view", "decisions", 0, "action"), "burn"),
            "action': Input should be 'keep'",
            id="action",
        ),
        pytest.param(
            damaged(("view", "decisions", 0, "pieces", 0, "stop"), 5),
            "sends a message of others",
            id="too far",
        ),
        pytest.param(
            damaged(("view", "decisions", 0, "pieces", 0, "start"), 1),
            "sends a message of others",
            id="backwards",
        ),
        pytest.param(
            damaged(("view", "calibration", "lowest_ratio"), 0),
            "impossible bills or ratios",
            id="ratio",
        ),
        pytest.param(
            damaged(("view", "rewrites"), "7"), "a value is not as it was written", id="a string"
        ),
        pytest.param(damaged(("stranger",), 1), "a value is not as it was written", id="unknown"),
        pytest.param(
            damaged(("view", "calibration", "steepest"), float("nan")),
            "a value is not|impossible",
            id="nan",
        ),
        pytest.param(
            damaged(("view", "notices", "due", 0, "topic"), "weather"),
            "topic': Input should be 'task'",
            id="topic",
        ),
        pytest.param(
            damaged(("view", "notices", "due"), [ONE_NOTICE, ONE_NOTICE]),
            "two notices are about the same",
            id="two of one name",
        ),
        pytest.param(
            damaged(("saved_versions", 1, "version", "number"), 0),
            "version 0 after 0",
            id="versions",
        ),
        pytest.param(
            damaged(("saved_versions", 1, "decided", 0, 1), 99),
            "decisions 0 to 99 of",
            id="no such decisions",
        ),
        pytest.param(
            damaged(("saved_versions", 1, "decided", 0, 0), 1),
            "the unit at 1 to 2 stands behind 0",
            id="a version with a gap",
        ),
        pytest.param(
            damaged(("view", "preamble", "offer", "newer"), [ONE_NOTICE]),
            "a notice that is none of a project",
            id="a front of something else",
        ),
        pytest.param(
            damaged(("advice",), {"t": {"multipliers": {"memory": 9.0}, "complexity": "low"}}),
            "a value is not as it was written|less than or equal to 4",
            id="advice",
        ),
    ],
)
def test_the_error_says_what_is_wrong(state: dict[str, object], reason: str) -> None:
    """With the way out where there is one."""
    with pytest.raises(StateError, match=reason):
        manager().load_state(state)
