"""Which tools are sent where their schemas would take too much of the window."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.find_tools import (
    FIND_TOOLS_NAME,
    answer_find,
    find_tools_schema,
    is_find_tool,
)
from autogen_context.messages.tool_schema import recall_tool_schema
from autogen_context.testing import ChatMessage
from autogen_context.tokens.message_counter import MessageCounter
from support.counting import Characters
from support.keeping import manager
from support.saying import asks, call_of, says, tells
from support.tools import OURS, Schema, name_in, tool, toolsets

WINDOW = 4_000
WORDS = "opens the record of the customer and writes down what was said "
MANY = [tool(f"{kind}_{n}", WORDS * 4, key="x" * 40) for kind in "abcd" for n in range(10)]
PROMPT = says("You are a clerk. Begin with c_3, then look further.", "system")
TASK = says("Do it.", "user")


def sent_by(turn: Prepared[ChatMessage]) -> list[str]:
    """The names of the tools that are sent, but for ours."""
    ours = [name_in(schema) for schema in OURS]
    return [name for name in map(name_in, turn.tools) if name not in ours]


def tokens_of(tools: Sequence[Schema]) -> int:
    """What tools have, with what is assumed for each."""
    counter = MessageCounter.for_model("", Characters())
    return sum(counter.tool(json.dumps(each, separators=(",", ":"))) for each in tools)


def used(name: str, n: int = 0) -> list[ChatMessage]:
    """A call of a tool, and its result."""
    return [asks(call_of(f"{name}{n}", name)), tells(f"{name}{n}", "done " * 60)]


def searched(keeper: IncrementalContextManager, query: str, n: int = 0) -> list[ChatMessage]:
    """A search, and what the manager answers."""
    call = call_of(f"find{n}", FIND_TOOLS_NAME, query=query)
    return [asks(call), tells(f"find{n}", answer_find(keeper, {"query": query}))]


Act = tuple[str, str]


@st.composite
def work(draw: st.DrawFn) -> tuple[list[Schema], list[Act]]:
    """Tools, and what an agent does with them: calls, searches, words."""
    tools = draw(toolsets(least=12, most=30))
    name = st.sampled_from([*map(name_in, tools), "unknown_tool"])
    act = st.sampled_from(["use", "find", "say"])
    return tools, draw(st.lists(st.tuples(act, name), max_size=25))


def played(
    keeper: IncrementalContextManager, tools: Sequence[Schema], acts: Sequence[Act]
) -> list[tuple[list[ChatMessage], Prepared[ChatMessage]]]:
    """The list and the turn behind each act."""
    messages, turns = [PROMPT, TASK], list[tuple[list[ChatMessage], Prepared[ChatMessage]]]()
    turns.append((list(messages), keeper.prepare_nowait(messages, tools)))
    for n, (act, name) in enumerate(acts):
        if act == "use":
            messages += used(name, n)
        elif act == "find":
            messages += searched(keeper, name, n)
        else:
            messages.append(says(f"about {name} " * 20, "user"))
        turns.append((list(messages), keeper.prepare_nowait(messages, tools)))
    return turns


@given(work(), st.sampled_from([0.05, 0.2, 0.6]), st.integers(1_200, 6_000))
def test_what_is_sent_and_what_is_deferred_are_what_came_in(
    given: tuple[list[Schema], list[Act]], fraction: float, window: int
) -> None:
    """The host's own objects, each once; ours alone is written anew, and left out where nothing is deferred."""
    tools = [*given[0], *OURS]
    for _, turn in played(manager(window, tools_fraction=fraction), tools, given[1]):
        sent, deferred = list(turn.tools), turn.deferred_tools
        own = [schema for schema in sent if not is_find_tool(schema)]
        assert all(any(schema is each for each in tools) for schema in own)
        assert sorted([*map(name_in, own), *deferred]) == sorted(
            name_in(schema) for schema in tools if not is_find_tool(schema)
        )
        assert any(map(is_find_tool, sent)) == bool(deferred or len(own) < len(tools) - 1)
        assert turn.certificate.fits


@given(work(), st.sampled_from([0.05, 0.2]))
def test_tools_are_appended_until_they_exceed_the_fraction(
    given: tuple[list[Schema], list[Act]], fraction: float
) -> None:
    """What is sent begins with what was sent, or half of the fraction was exceeded; and it is within it, but for the newest."""
    tools = [*given[0], *OURS]
    by_name = {name_in(schema): schema for schema in tools}
    room, before = int(fraction * WINDOW), list[str]()
    turns = played(manager(WINDOW, tools_fraction=fraction), tools, given[1])
    for (_, turn), (act, name) in zip(turns, [("say", ""), *given[1]], strict=True):
        if not turn.deferred_tools:
            continue
        sent = sent_by(turn)
        new = [each for each in sent if each not in before]
        if sent[: len(before)] != before:
            assert tokens_of([by_name[each] for each in {*before, *new}]) > room or turn.compacted
        assert not new or act in ("use", "find") or not before
        assert [each for each in (*before, *new) if each in sent] == sent
        newest = {name, *new}
        rest = [by_name[each] for each in sent if each not in newest]
        assert tokens_of(rest) <= room
        before = sent


@given(work(), st.data())
def test_a_saved_state_goes_on_with_the_same_tools(
    given: tuple[list[Schema], list[Act]], data: st.DataObject
) -> None:
    """At any turn, through JSON, to the byte of the next state."""
    tools, acts = [*given[0], *OURS], given[1]
    stop = data.draw(st.integers(0, len(acts)))
    keeper = manager(WINDOW, tools_fraction=0.05)
    messages = played(keeper, tools, acts[:stop])[-1][0]
    other = manager(WINDOW, tools_fraction=0.05)
    other.load_state(json.loads(json.dumps(keeper.save_state())))
    more = [*messages, *used(name_in(tools[0]), 99)]
    one, two = keeper.prepare_nowait(more, tools), other.prepare_nowait(more, tools)
    assert json.dumps(one.tools) == json.dumps(two.tools)
    assert one.messages == two.messages
    assert json.dumps(keeper.save_state()) == json.dumps(other.save_state())


@given(work())
def test_every_tool_is_found_by_its_name_and_sent_then(
    given: tuple[list[Schema], list[Act]],
) -> None:
    """In the next request."""
    tools = [*given[0], *OURS]
    keeper = manager(WINDOW, tools_fraction=0.05)
    first = keeper.prepare_nowait([PROMPT, TASK], tools)
    for name in first.deferred_tools[:6]:
        messages = [PROMPT, TASK, *searched(keeper, name)]
        assert name in sent_by(keeper.prepare_nowait(messages, tools))


def test_what_fits_easily_is_sent_whole() -> None:
    """The objects that came in, in their order; without the tool that finds, nothing else happens either."""
    few = [*MANY[:5], recall_tool_schema()]
    assert manager(60_000).prepare_nowait([TASK], [*MANY, *OURS]).tools == [*MANY, OURS[0]]
    assert manager(4_000).prepare_nowait([TASK], [*few, OURS[1]]).tools == few
    assert manager(60_000).prepare_nowait([TASK], MANY).tools == MANY
    with_own = [*MANY, tool("find_tools", "Find a hammer")]
    assert manager(60_000, tools_fraction=0.01).prepare_nowait([TASK], with_own).tools == with_own
    disabled = manager(4_000, enabled=False).prepare_nowait([TASK], [*MANY, *OURS])
    assert disabled.tools == [*MANY, OURS[0]]


def test_tools_that_the_prompt_names_are_sent_first() -> None:
    """Then those that are called or found, in this order; the description of ours names all, and does not change."""
    keeper, tools = manager(WINDOW), [*MANY, *OURS]
    messages = [PROMPT, TASK]
    first = keeper.prepare_nowait(messages, tools)
    assert sent_by(first) == ["c_3"]
    assert [*map(name_in, first.tools)][:2] == ["recall_context", "find_tools"]
    messages += [*searched(keeper, "b_7, d_1"), *used("a_1")]
    then = keeper.prepare_nowait(messages, tools)
    assert sent_by(then) == ["c_3", "b_7", "d_1", "a_1"]
    assert then.tools[:3] == first.tools[:3]
    assert "a… (10)" in json.dumps(first.tools[1]) or "a_1" in json.dumps(first.tools[1])


def test_a_prompt_that_names_all_tools_has_half_of_the_fraction() -> None:
    """In its order, until there is no room."""
    prompt = says(" ".join(map(name_in, MANY)), "system")
    sent = sent_by(manager(8_000).prepare_nowait([prompt, TASK], [*MANY, *OURS]))
    assert sent == [*map(name_in, MANY)][: len(sent)]
    assert tokens_of(MANY[: len(sent)]) <= 800 < tokens_of(MANY[: len(sent) + 1])


def test_what_was_used_last_stays() -> None:
    """What was called before what was only found; then the latest."""
    keeper, tools = manager(WINDOW), [*MANY, *OURS]
    keeper.prepare_nowait([TASK], tools)
    messages = [TASK, *used("d_0"), *used("d_1"), *searched(keeper, "b_0, b_1")]
    known = sent_by(keeper.prepare_nowait(messages, tools))
    assert known == ["d_0", "d_1", "b_0", "b_1"]
    sent, n = known, 9
    while sent == known:
        n -= 1
        messages += used(f"c_{n}")
        sent = sent_by(keeper.prepare_nowait(messages, tools))
        known = sent if sent == [*known, f"c_{n}"] else known
    most = tokens_of([tool for tool in MANY if name_in(tool) in sent])
    assert most <= 0.1 * WINDOW
    called = [name for name in known if not name.startswith("b")]
    assert sent == [*called, f"c_{n}"][-len(sent) :]


def test_bills_of_more_tools_bound_a_request_with_fewer() -> None:
    """Where a provider writes schemas in fewer tokens than are counted."""
    keeper, tools = manager(WINDOW, tools_fraction=0.9), [*MANY, *OURS]
    messages = [PROMPT, TASK]
    for n in range(10):
        messages += [*used(f"a_{n}"), *used(f"b_{n}")]
    for text in ("Go on.", "Now this. " * 1_100):
        messages += [says(text, "user")]
        turn = keeper.prepare_nowait(messages, tools)
        counted = turn.certificate.counted_tokens
        billed = counted - int(0.6 * tokens_of(turn.tools))
        assert turn.certificate.bound.tokens >= billed
        keeper.record_usage(turn, prompt_tokens=billed)


def test_a_demanded_tool_is_sent() -> None:
    """And stays, as a called one does."""
    keeper, tools = manager(WINDOW), [*MANY, *OURS]
    turn = keeper.prepare_nowait([TASK], tools, required_tools=["d_9"])
    assert sent_by(turn) == ["d_9"]
    assert sent_by(keeper.prepare_nowait([TASK, says("Well.")], tools)) == ["d_9"]
    with pytest.raises(ValueError, match="required_tools"):
        keeper.prepare_nowait([TASK], tools, required_tools=[1])  # type: ignore[list-item]  # what is refused


def test_a_provider_s_own_tools_and_schemas_of_answers_are_always_sent() -> None:
    """They cannot be called by a name that we would find."""
    others: list[Mapping[str, Any]] = [
        {"type": "web_search"},
        {"json_schema": {"title": "Answer"}},
    ]
    turn = manager(WINDOW).prepare_nowait([TASK], [*others, *MANY, *OURS])
    assert turn.tools[:2] == others
    assert turn.deferred_tools


def test_tools_that_are_the_reason_are_named() -> None:
    """Their number, their tokens and the way out; deferred they are never the reason."""
    with pytest.raises(ContextWindowExceeded, match="40 tools") as found:
        manager(2_000).prepare_nowait([PROMPT, TASK], MANY)
    error = found.value
    assert (error.tools, error.tools_tokens > 2_000) == (40, True)
    assert error.least_tokens == sum(error.parts.values())
    assert "find_tools" in str(error)
    assert manager(2_000).prepare_nowait([PROMPT, TASK], [*MANY, *OURS]).certificate.fits
    with pytest.raises(ContextWindowExceeded, match="shorten the system prompt") as other:
        manager(2_000).prepare_nowait([says("word " * 5_000, "system"), TASK], [*MANY, *OURS])
    assert other.value.tools_tokens < 800 < tokens_of(MANY)


def test_loaded_tools_make_room_for_what_must_stay() -> None:
    """Where prompt and newest result would not fit beside them, they are deferred again."""
    keeper, tools = manager(WINDOW, tools_fraction=0.6), [*MANY, *OURS]
    messages = [PROMPT, TASK]
    for n in range(10):
        messages += used(f"a_{n}")
    many = keeper.prepare_nowait(messages, tools)
    assert len(sent_by(many)) >= 9
    messages += [says("Now this. " * 1_100, "user")]
    turn = keeper.prepare_nowait(messages, tools)
    assert turn.certificate.fits
    assert len(sent_by(turn)) < len(sent_by(many))


def test_a_list_without_a_state_loads_what_was_used_and_found_in_it() -> None:
    """As far as the fraction allows, what was used last before anything else."""
    keeper, tools = manager(WINDOW), [*MANY, *OURS]
    messages = [TASK, *searched(keeper, "nothing"), *used("a_1")]
    keeper.prepare_nowait(messages, tools)
    messages += searched(keeper, "b_2")
    assert sent_by(manager(WINDOW).prepare_nowait(messages, tools)) == ["a_1", "b_2"]
    for n in range(10):
        messages += used(f"c_{n}")
    restarted = sent_by(manager(WINDOW).prepare_nowait(messages, tools))
    assert restarted[-1] == "c_9"
    assert len(restarted) < 10


def test_found_tools_count() -> None:
    """What is sent is what the certificate has counted."""
    keeper, tools = manager(WINDOW), [*MANY, *OURS]
    messages = [PROMPT, TASK]
    for n in range(4):
        turn = keeper.prepare_nowait(messages, tools)
        bare = manager(WINDOW).prepare_nowait(turn.messages, [])
        sent = turn.certificate.counted_tokens - bare.certificate.counted_tokens
        per_list = MessageCounter.for_model("", Characters()).overheads.per_tool_list
        assert sent == tokens_of(turn.tools) + per_list
        messages += searched(keeper, f"a_{n}, b_{n}", n)


def test_nothing_is_deferred_for_an_agent_that_asks_before_its_first_turn() -> None:
    """The tool answers all the same."""
    assert manager(WINDOW).find_tools("a_1")
    assert find_tools_schema() is not find_tools_schema()


@given(toolsets(least=2, most=14), st.data())
def test_tools_in_another_order_are_sent_in_the_first_one(
    tools: list[Schema], data: st.DataObject
) -> None:
    """A provider caches them in front of all else: one that comes later stands behind, one that comes back where it was."""
    keeper, order = manager(100_000), list[Schema]()
    answer: Schema = {"json_schema": {"type": "object"}}  # of the answer: it has no name
    for n in range(4):
        given_tools = data.draw(st.lists(st.sampled_from(tools), unique_by=name_in))
        order += [each for each in given_tools if each not in order]
        turn = keeper.prepare_nowait([TASK], [*given_tools, answer])
        assert list(turn.tools) == [*(each for each in order if each in given_tools), answer]
        if n == 1:
            state, keeper = keeper.save_state(), manager(100_000)
            keeper.load_state(json.loads(json.dumps(state)))
