"""Where Claude's cache is marked, judged by the loopback server's rules and by what a conversation is billed."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.models.cache_marks import MARK, CacheMarks, hashed, own_marks
from autogen_context.testing.anthropic_rules import MOST_MARKS, check_request, marks_of
from support.claude import (
    HOUR,
    LONG,
    TOOL,
    Billing,
    claude,
    request,
    result,
    text,
    use,
    user,
    without_marks,
)
from support.claude import MARK as FIVE_MINUTES

SYSTEM = "You read logs, and say what they say. " * 100
Body = dict[str, Any]


def step(number: int, calls: int = 1, size: int = 60) -> list[Body]:
    """An answer with calls, and their results."""
    ids = [f"call_{number}_{n}" for n in range(calls)]
    return [claude(*map(use, ids)), user(*(result(each, f"{each} " * size) for each in ids))]


def growing(steps: int, calls: int = 1) -> Iterator[list[Body]]:
    """The messages of each request of an agent that calls tools."""
    messages = [user("Read all logs.")]
    for number in range(steps):
        yield [*messages]
        messages += step(number, calls)


def billed(
    requests: Sequence[Body], marks: CacheMarks | None, billing: Billing | None = None
) -> float:
    """The part of a conversation's input that was read from the cache."""
    billing = billing or Billing()
    read, whole = 0, 0
    for body in requests:
        usage = billing.bill(**(marks.marked(body) if marks else body))
        read, whole = read + usage.cache_read_input_tokens, whole + usage.prompt_tokens
    return read / whole


marks_of_a_user = st.sampled_from([None, None, None, FIVE_MINUTES, HOUR])
said = st.one_of(
    st.builds(text, st.sampled_from(["a", "b", "a longer text", "  "]), marks_of_a_user),
    st.just({"type": "thinking", "thinking": "hm", "signature": "s"}),
)


@st.composite
def requests(draw: st.DrawFn) -> Body:
    """Requests with and without tools, a system prompt and marks of the caller's own, in an order that the API takes."""
    messages: list[Body] = [user("Go.")]
    for number in range(draw(st.integers(0, 12))):
        if draw(st.booleans()):
            messages += step(number, draw(st.integers(1, 12)), 2)
        else:
            messages += [claude(*draw(st.lists(said, min_size=1, max_size=3)), "so"), user("On.")]
    messages[-1] = draw(st.sampled_from([messages[-1], {"role": "user", "content": "On."}]))
    body: Body = request(*messages, tools=[TOOL, {**TOOL, "name": "other"}])
    system = draw(
        st.sampled_from([None, "Be exact.", [text("Be exact.", FIVE_MINUTES), text("Now.")]])
    )
    return body | ({"system": system} if system else {})


def is_taken(body: Body) -> bool:
    """Whether the API takes a request."""
    try:
        check_request(body)
    except Exception:  # noqa: BLE001 - whatever it says
        return False
    return True


@given(st.lists(requests().filter(is_taken), min_size=1, max_size=3), st.sampled_from(["5m", "1h"]))
def test_only_marks_are_added_and_the_api_takes_them(several: list[Body], lifetime: Any) -> None:
    """At most four, those of the caller among them and as they were; the caller's objects are not changed."""
    marks = CacheMarks(lifetime)
    for body in several:
        before = copy.deepcopy(body)
        marked = marks.marked(body)
        check_request(marked)
        assert body == before
        assert without_marks(marked) == without_marks(body)
        assert len([*marks_of(marked)]) <= MOST_MARKS
        assert own_marks(body).items() <= own_marks(marked).items()


@given(requests().filter(is_taken))
def test_a_request_is_marked_the_same_whatever_marks_moved(body: Body) -> None:
    """Marks are no words: a host that moves its own changes nothing of what two requests share."""
    assert hashed(body["messages"]) == hashed(CacheMarks().marked(body)["messages"]) or any(
        isinstance(message["content"], str) for message in body["messages"]
    )


def test_tools_system_prompt_head_and_newest_block_are_marked() -> None:
    """Each where it ends, four in all."""
    *_, messages = growing(6)
    body = request(*messages, system=SYSTEM, tools=[TOOL, {**TOOL, "name": "other"}])
    marks = CacheMarks()
    marks.marked(request(*messages[:-2], system=SYSTEM, tools=body["tools"]))
    places = [place for place, _, _ in marks_of(marks.marked(body))]
    assert places == [
        "tools.1",
        "system.0",
        "messages.0.content.0",
        f"messages.{len(messages) - 1}.content.0",
    ]


@pytest.mark.parametrize("calls", [1, 8, 30])
def test_a_conversation_that_grows_is_read_from_the_cache(calls: int) -> None:
    """Also where one step adds more blocks than a mark looks back on; without marks nothing is."""
    bodies = [request(*each, system=SYSTEM, tools=[TOOL]) for each in growing(16, calls)]
    assert billed(bodies, None) == 0
    assert billed(bodies, CacheMarks()) > 0.8


def test_each_request_reads_all_that_the_last_one_had() -> None:
    """But for the tokens of the format, which no block has."""
    billing, marks, before = Billing(), CacheMarks(), 0
    for messages in growing(20):
        usage = billing.bill(**marks.marked(request(*messages, system=SYSTEM, tools=[TOOL])))
        assert usage.cache_read_input_tokens >= before - 10
        before = usage.prompt_tokens


def test_what_changes_at_the_end_costs_only_itself() -> None:
    """A reminder behind the newest block that differs in each request: once that is known, all that stood before it is read."""
    billing, marks, before = Billing(), CacheMarks(), 0
    for number, messages in enumerate(growing(20)):
        newest = user(*messages[-1]["content"], text(f"It is {number} o'clock. " * 30))
        usage = billing.bill(
            **marks.marked(request(*messages[:-1], newest, system=SYSTEM, tools=[TOOL]))
        )
        if number > 4:
            assert usage.cache_read_input_tokens > before - 250
        before = usage.prompt_tokens


def test_a_compaction_leaves_the_head_cached() -> None:
    """System prompt, tools and the task are read; so is all of the next request."""
    billing, marks = Billing(), CacheMarks()
    task = user(LONG)
    for number in range(30):
        kept = [m for n in range(max(0, number - number % 10), number) for m in step(n)]
        notice = [user(f"[{number - number % 10} steps are left out]")] if number >= 10 else []
        body = request(task, *notice, *kept, system=SYSTEM, tools=[TOOL])
        usage = billing.bill(**marks.marked(body))
        if number:
            assert usage.cache_read_input_tokens > 1_900


def test_a_request_that_nothing_follows_writes_only_what_others_share() -> None:
    """Tools and system prompt, and what is known of the conversation stays."""
    marks = CacheMarks()
    *_, messages = growing(4)
    body = request(*messages, system=SYSTEM, tools=[TOOL])
    marks.marked(body)
    once = marks.marked(request(user("Summarise."), system=SYSTEM, tools=[TOOL]), grows=False)
    assert [place for place, _, _ in marks_of(once)] == ["tools.0", "system.0"]
    assert marks.marked(body) == marks.marked(body)


def test_the_callers_marks_win() -> None:
    """Where there are four, none is added; a mark for an hour behind ours makes ours last an hour as well."""
    four = [m for n in range(4) for m in (user(text(f"{n}", FIVE_MINUTES)), claude("Yes."))]
    body = request(*four, user("On."), system=SYSTEM)
    assert CacheMarks("1h").marked(body) == body
    lasting = request(user("Go."), claude("Yes."), user(text("On.", HOUR)), system=SYSTEM)
    marked = CacheMarks("5m").marked(lasting)
    assert {str(mark.get("ttl")) for _, _, mark in marks_of(marked)} == {"1h"}
    whole = request(user("Go."), claude("Yes."), user("On."), **{MARK: FIVE_MINUTES})
    assert (
        len([*marks_of(CacheMarks().marked(whole))]) == 1
    )  # the head; the API marks the newest block


@pytest.mark.parametrize("messages", [None, (), "Go.", [object()], iter([user("Go.")])])
def test_what_is_of_no_known_form_is_sent_as_it_is(messages: Any) -> None:
    """A request never fails because of marks."""
    body = request(system=SYSTEM, tools=[TOOL]) | {"messages": messages}
    assert CacheMarks().marked(body) == body


def test_objects_of_a_client_are_read_and_left_as_they_are() -> None:
    """AutoGen's client puts objects of Anthropic's among the blocks."""
    from anthropic.types import ToolUseBlock  # noqa: PLC0415 - as its user

    block: Any = ToolUseBlock(id="a", name="read", input={}, type="tool_use")
    body = request(
        user("Go."), {"role": "assistant", "content": [block]}, user(result("a")), tools=[TOOL]
    )
    marks = CacheMarks()
    first, second = marks.marked(body), marks.marked(body)
    assert first["messages"][1]["content"] == [block]
    assert [place for place, _, _ in marks_of({**second, "messages": second["messages"][::2]})]


def test_the_head_is_what_outlived_every_rewrite() -> None:
    """The task, and not what is told of each rewrite; one that leaves more does not let the task expire, which the next one needs."""
    billing, marks = Billing(), CacheMarks()
    rewritten = [
        (0, [0]),
        (1, [10]),
        (2, [20, 21]),
        (2, [20, 30]),
        (3, [40]),
    ]  # what is told, and steps
    for number, (notice, steps) in enumerate(rewritten):
        for more in range(3):
            kept = [
                m for n in (*steps, *range(steps[-1] + 1, steps[-1] + 1 + more)) for m in step(n)
            ]
            told = user(f"[{notice} parts are left out]")
            usage = billing.bill(
                **marks.marked(request(user(LONG), told, *kept, system=SYSTEM, tools=[TOOL]))
            )
            assert usage.cache_read_input_tokens > 1_900 or number < 2
            billing.now_s += 200


UNMARKABLE: Sequence[Body] = (
    {"type": "thinking", "thinking": "hm", "signature": "s"},
    {"type": "redacted_thinking", "data": "x"},
    text(" \n"),
    {"type": "something_new"},
)


@pytest.mark.parametrize("block", UNMARKABLE, ids=[each["type"] for each in UNMARKABLE])
def test_where_no_mark_is_taken_the_block_before_is_marked(block: Body) -> None:
    """Of the same message, or of the one before it."""
    body = request(user("Go."), {"role": "assistant", "content": [text("a"), block]})
    body["messages"] += [{"role": "user", "content": [block]}] if block["type"] == "text" else []
    places = [place for place, _, _ in marks_of(CacheMarks().marked(body))]
    assert "messages.1.content.0" in places
    assert not {"messages.1.content.1", "messages.2.content.0"} & {*places}
