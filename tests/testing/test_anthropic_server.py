"""The loopback server of Anthropic's API through Anthropic's own client: its rules, its prompt cache, its streams and faults."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from anthropic import Anthropic, APIStatusError, AsyncAnthropic, BadRequestError, RateLimitError
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.testing import (
    AnthropicServer,
    Call,
    Fault,
    Request,
    Say,
    ScriptedModel,
    Step,
)
from autogen_context.testing.anthropic_cache import LOOKBACK_BLOCKS
from autogen_context.testing.anthropic_rules import MOST_MARKS, check_request
from autogen_context.testing.wire import ApiError
from support.claude import (
    HOUR,
    LONG,
    MARK,
    MODEL,
    TOOL,
    Billing,
    claude,
    echo,
    request,
    result,
    text,
    use,
    user,
)


def test_an_answer_has_text_calls_and_usage() -> None:
    """As the client reads them; the script sees the request as a chat request that means the same."""
    seen: list[Request] = []

    def step(asked: Request) -> Step:
        seen.append(asked)
        return [Say("I read."), Call("read", {"path": "a.py"})]

    with AnthropicServer(ScriptedModel(step)) as server:
        client = Anthropic(api_key="none", base_url=server.base_url, max_retries=0)
        tools: Any = [TOOL]
        answer = client.messages.create(
            model=MODEL,
            max_tokens=10,
            system="Be exact.",
            tools=tools,
            messages=[{"role": "user", "content": "Go."}],
        )
        client.close()
    assert [block.type for block in answer.content] == ["text", "tool_use"]
    assert answer.stop_reason == "tool_use"
    assert answer.usage.input_tokens == server.requests[0].prompt_tokens
    assert [m["role"] for m in seen[0].messages] == ["system", "user"]
    assert seen[0].tools[0]["function"]["name"] == "read"


async def test_a_stream_adds_up_to_the_answer() -> None:
    """Text, arguments and usage, with the client's own stream and with raw events."""
    steps: list[Step] = [[Say("I read. " * 30), Call("read", {"path": "a.py"})]] * 2
    body: Any = request(user("Go."), tools=[TOOL])
    async with AnthropicServer(ScriptedModel(steps)) as server:
        client = AsyncAnthropic(api_key="none", base_url=server.base_url, max_retries=0)
        whole = await client.messages.create(stream=False, **body)
        async with client.messages.stream(**body) as stream:
            streamed = await stream.get_final_message()
        await client.close()
    assert [b.model_dump(exclude={"id"}) for b in streamed.content] == [
        b.model_dump(exclude={"id"}) for b in whole.content
    ]
    assert streamed.usage == whole.usage
    assert [r.streamed for r in server.requests] == [False, True]


REFUSED: Sequence[tuple[str, dict[str, Any], str]] = (
    ("no messages", request(), "at least one message is required"),
    ("system role", request({"role": "system", "content": "x"}), 'Unexpected role "system"'),
    ("empty content", request({"role": "user", "content": ""}), "must have non-empty content"),
    ("empty text", request(user("")), "text content blocks must be non-empty"),
    (
        "trailing whitespace",
        request(user("Go."), claude("I go ")),
        "cannot end with trailing whitespace",
    ),
    (
        "a call without result",
        request(user("Go."), claude(use("a")), user("Well?"), tools=[TOOL]),
        "without `tool_result` blocks immediately after: a",
    ),
    (
        "a call at the end",
        request(user("Go."), claude(use("a")), tools=[TOOL]),
        "without `tool_result` blocks immediately after: a",
    ),
    (
        "a result without call",
        request(user(result("a")), tools=[TOOL]),
        "unexpected `tool_use_id` found in `tool_result` blocks: a",
    ),
    (
        "a result behind a text",
        request(user("Go."), claude(use("a")), user("Here:", result("a")), tools=[TOOL]),
        "without `tool_result` blocks immediately after: a",
    ),
    (
        "two results",
        request(user("Go."), claude(use("a")), user(result("a"), result("a")), tools=[TOOL]),
        "each tool_use must have a single result",
    ),
    (
        "the same id twice",
        request(
            user("Go."),
            claude(use("a")),
            user(result("a")),
            claude(use("a")),
            user(result("a")),
            tools=[TOOL],
        ),
        "`tool_use` ids must be unique",
    ),
    (
        "calls without tools",
        request(user("Go."), claude(use("a")), user(result("a"))),
        "must define tools",
    ),
    ("a choice without tools", request(user("Go."), tool_choice={"type": "any"}), "tool_choice"),
    (
        "five marks",
        request(*(m for n in range(5) for m in (user(text(f"{n}", MARK)), claude("Yes.")))),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    (
        "four marks and one for the whole",
        request(
            *(m for n in range(4) for m in (user(text(f"{n}", MARK)), claude("Yes."))),
            cache_control=MARK,
        ),
        "Found 5.",
    ),
    (
        "an hour after five minutes",
        request(user(text("a", HOUR)), system=[text("b", MARK)]),
        "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after",
    ),
    (
        "a mark on thinking",
        request(
            user("Go."),
            claude(
                {"type": "thinking", "thinking": "x", "signature": "y", "cache_control": MARK}, "z"
            ),
        ),
        "Extra inputs are not permitted",
    ),
    ("a mark on nothing", request(user(text("", MARK))), "cannot be set for empty text blocks"),
    (
        "a mark on a message",
        request({**user("a"), "cache_control": MARK}),
        "Extra inputs are not permitted",
    ),
    (
        "another lifetime",
        request(user(text("a", {**MARK, "ttl": "2h"}))),
        "Input should be '5m' or '1h'",
    ),
)


@pytest.mark.parametrize(
    ("body", "said"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_the_api_refuses_is_refused(body: dict[str, Any], said: str) -> None:
    """In its words, with status 400, recorded, and without a step of the script."""
    with AnthropicServer(ScriptedModel([Say("never")])) as server:
        client = Anthropic(api_key="none", base_url=server.base_url, max_retries=0)
        with pytest.raises(BadRequestError) as caught:
            client.messages.create(**body)
        client.messages.create(**request(user("Go.")))
        client.close()
    assert said in str(caught.value)
    assert caught.value.body == {
        "type": "error",
        "request_id": "req_000001",
        "error": {"type": "invalid_request_error", "message": server.rejected[0].error},
    }
    assert len(server.rejected) == 1


def test_messages_of_one_role_are_joined_or_refused_as_asked() -> None:
    """Today's API joins them, results with what a person adds; the first one refused them."""
    body = request(user("Go."), claude(use("a")), user(result("a")), user("Well?"), tools=[TOOL])
    check_request(body)
    with pytest.raises(ApiError, match="roles must alternate"):
        check_request(body, strict_roles=True)


def test_what_is_larger_than_the_window_is_refused_with_its_numbers() -> None:
    """And what fits is not."""
    with AnthropicServer(ScriptedModel(echo), window_tokens=500) as server:
        client = Anthropic(api_key="none", base_url=server.base_url, max_retries=0)
        with pytest.raises(BadRequestError, match=r"prompt is too long: \d+ tokens > 500 maximum"):
            client.messages.create(**request(user(LONG)))
        counted = client.messages.count_tokens(
            model=MODEL, messages=[{"role": "user", "content": "Go."}]
        )
        client.close()
    assert counted.input_tokens == server.requests[1].prompt_tokens


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.rate_limit(0.1), RateLimitError),
        (Fault.error(529), APIStatusError),
        (Fault.error(500), APIStatusError),
    ],
    ids=["rate limit", "overloaded", "error"],
)
def test_a_fault_is_what_the_client_knows(fault: Fault, kind: type[APIStatusError]) -> None:
    """With Anthropic's names of errors."""
    with AnthropicServer(ScriptedModel(echo), faults={1: fault}) as server:
        client = Anthropic(api_key="none", base_url=server.base_url, max_retries=0)
        with pytest.raises(kind) as caught:
            client.messages.create(**request(user("Go.")))
        answer = client.messages.create(stream=False, **request(user("Go.")))
        assert answer.content
        client.close()
    assert "type" in str(caught.value.body)
    assert server.requests[0].fault == fault


# The cache


def test_without_marks_nothing_is_cached() -> None:
    """However often the same is sent."""
    billing = Billing()
    for _ in range(3):
        usage = billing.bill(user(LONG))
        assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (0, 0)


def test_a_marked_prefix_is_written_once_and_read_by_what_begins_with_it() -> None:
    """Tools, system prompt and messages in this order; what differs before a mark is another prefix."""
    billing = Billing()
    first = billing.bill(user(text(LONG, MARK)), system="Be exact.", tools=[TOOL])
    again = billing.bill(
        user(text(LONG, MARK)), claude("Yes."), user("On."), system="Be exact.", tools=[TOOL]
    )
    assert first.cache_creation_input_tokens == again.cache_read_input_tokens > 1_024
    assert again.input_tokens < 20
    for other in (
        {"system": "Be quick."},
        {"tools": [TOOL, {**TOOL, "name": "b"}], "system": "Be exact."},
    ):
        assert billing.bill(user(text(LONG, MARK)), **other).cache_read_input_tokens == 0


@pytest.mark.parametrize(
    ("more", "is_read"),
    [
        ({"tool_choice": {"type": "any"}}, False),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, False),
        ({"model": "claude-opus-4-8"}, False),
        ({"temperature": 0.5, "max_tokens": 7}, True),
    ],
    ids=["tool choice", "thinking", "model", "others"],
)
def test_what_else_belongs_to_the_prefix(more: Mapping[str, Any], is_read: bool) -> None:  # noqa: FBT001
    """Of messages: the choice of tools and thinking; of everything: the model."""
    billing = Billing()
    billing.bill(user(text(LONG, MARK)), tools=[TOOL])
    usage = billing.bill(user(text(LONG, MARK)), tools=[TOOL], **more)
    assert (usage.cache_read_input_tokens > 0) == is_read


@pytest.mark.parametrize(
    ("blocks", "is_read"), [(LOOKBACK_BLOCKS - 1, True), (LOOKBACK_BLOCKS, False)]
)
def test_a_mark_looks_back_on_twenty_blocks(blocks: int, is_read: bool) -> None:  # noqa: FBT001
    """Itself included."""
    billing = Billing()
    billing.bill(user(text(LONG, MARK)))
    more = [text(f"{n}") for n in range(blocks - 1)]
    usage = billing.bill(user(text(LONG), *more, text("end", MARK)))
    assert (usage.cache_read_input_tokens > 0) == is_read


def test_a_short_prefix_is_not_cached() -> None:
    """By the model: 1,024 tokens, or 2,048."""
    billing = Billing()
    assert billing.bill(user(text("word " * 500, MARK))).cache_creation_input_tokens == 0
    assert billing.bill(user(text("word " * 1_800, MARK))).cache_creation_input_tokens > 1_024
    usage = billing.bill(user(text("word " * 1_800, MARK)), model="claude-opus-4-7")
    assert usage.cache_creation_input_tokens == 0


@pytest.mark.parametrize(("mark", "lifetime_s"), [(MARK, 300.0), (HOUR, 3_600.0)], ids=["5m", "1h"])
def test_what_is_cached_lasts_as_long_as_its_mark_says(
    mark: Mapping[str, object], lifetime_s: float
) -> None:
    """From its last use on; what is written for an hour is billed apart."""
    billing = Billing()
    first = billing.bill(user(text(LONG, mark)))
    assert (first.hour_tokens > 0) == (lifetime_s > 300.0)
    for _ in range(3):
        billing.now_s += lifetime_s - 1
        assert billing.bill(user(text(LONG, mark))).cache_read_input_tokens > 0
    billing.now_s += lifetime_s + 1
    assert billing.bill(user(text(LONG, mark))).cache_read_input_tokens == 0


@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=12),
    marks=st.lists(st.integers(0, 11), max_size=MOST_MARKS),
    split=st.integers(1, 11),
)
def test_what_is_billed_adds_up(sizes: list[int], marks: list[int], split: int) -> None:
    """Read, written and new tokens are the whole request, and nothing is read that was not written."""
    billing, written = Billing(), 0
    marked = set(marks)
    for size in (split, len(sizes)):
        blocks = [
            text(f"{n} " * many, MARK if n in marked else None)
            for n, many in enumerate(sizes[:size])
        ]
        usage = billing.bill(user(*blocks))
        plain = Billing().bill(user(*(text(block["text"]) for block in blocks)))
        assert usage.prompt_tokens == plain.input_tokens
        assert usage.cache_read_input_tokens <= written
        written += usage.cache_creation_input_tokens
