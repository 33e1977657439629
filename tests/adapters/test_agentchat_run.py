"""Real agents with their real client against a server that refuses what OpenAI refuses."""

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, FunctionCall
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient

from autogen_context import ManagedChatCompletionContext, register
from autogen_context.adapters.agentchat import (
    AgentTool,
    RecallTool,
    RegisteredClient,
    complete_with,
)
from autogen_context.config import ContextConfig
from autogen_context.errors import CompletionFailed
from autogen_context.manager.event_log import EventLog
from autogen_context.messages.tool_schema import RECALL_ARGUMENTS
from autogen_context.report.bill import bill_of
from autogen_context.testing import Call, Say, Step
from autogen_context.testing.usage import CACHE_STEP, PromptCache, prompt_parts
from autogen_context.tokens.prices import price_of
from support.agentchat import client_of, model_info, said, serving
from support.logs import MODEL, exact_tokens
from support.runs import run_of

WINDOW = 3_000
PROMPT = "You are a careful engineer. Use the tools, one step at a time, and say when you are done."


async def read_log(lines: int) -> str:
    """Read a log of so many lines."""
    return "\n".join(
        f"2026-11-21 10:{n % 60:02d} ERROR task {n} failed: {n * 31}" for n in range(lines)
    )


async def fail(reason: str) -> str:
    """Fail with a reason."""
    raise RuntimeError(reason)


TOOLS: list[AgentTool] = [read_log, fail]


def tool_steps(steps: int) -> Iterator[Step]:
    """Calls of all kinds: single, parallel with a thought, failing, unknown, and one above the window."""
    small, failing = Call("read_log", {"lines": 20}), Call("fail", {"reason": "the disk is full"})
    kinds: list[Step] = [
        small,
        [Say("Both."), small, Call("read_log", {"lines": 30})],
        failing,
        Call("no_such_tool", {"x": 1}),
        [small, failing, Call("read_log", '{"lines"')],
        Call("read_log", {"lines": 600}),
    ]
    return islice(cycle(kinds), steps)


def coder(client: ChatCompletionClient, **options: Any) -> AssistantAgent:
    """An agent with the tools and the prompt of these tests."""
    given: dict[str, Any] = {"tools": TOOLS, "system_message": PROMPT, **options}
    return AssistantAgent("coder", client, **given)


def registered(agent: AssistantAgent, **options: Any) -> ManagedChatCompletionContext:
    """The context that ``register`` gives back."""
    given: dict[str, Any] = {"window_tokens": WINDOW, **options}
    context = register(agent, **given)
    assert isinstance(context, ManagedChatCompletionContext)
    return context


@pytest.mark.parametrize("stream", [False, True], ids=["answers", "streams"])
async def test_a_registered_agent_needs_no_description(*, stream: bool) -> None:
    """Tools, prompt and history that nobody told are measured before the first request; no bill is above the bound."""
    usage: dict[str, Any] = {"stream_options": {"include_usage": True}} if stream else {}
    run: list[Step] = [*tool_steps(10), Say("Done.")]
    async with serving(*run, *run, window_tokens=WINDOW, **usage) as (server, client):
        more: dict[str, Any] = {"max_tool_iterations": 11, "model_client_stream": stream}
        agent = coder(client, system_message=PROMPT * 40, **more)
        for number in range(14):
            await agent.model_context.add_message(said(f"{number} " * 97))
        context = registered(agent)
        assert len(await context.get_messages()) == 14
        for _ in range(2):
            await agent.run(task="Find out why the build fails.")
            assert context.last_prepared is not None
            bound = context.last_prepared.certificate.bound
            assert bound.source == "provider"
            assert server.requests[-1].prompt_tokens <= bound.tokens
    assert server.rejected == []
    assert len(server.requests[0].messages) < 14
    assert context.manager.usage.requests == len(server.requests)
    assert context.manager.usage.prompt_tokens == sum(r.prompt_tokens for r in server.requests)


async def test_reflections_are_measured_without_the_tools() -> None:
    """The request that looks at results has no tools; it is billed as that, and the next one with tools still fits."""
    turn: list[Step] = [Call("read_log", {"lines": 25}), Say("It failed.")]
    async with serving(*turn * 4, window_tokens=WINDOW) as (server, client):
        agent = coder(client, system_message=PROMPT * 20, reflect_on_tool_use=True)
        context = registered(agent)
        for _ in range(4):
            await agent.run(task="What happened?")
    assert server.rejected == []
    assert [bool(request.tools) for request in server.requests] == [True, False] * 4
    assert context.manager.usage.requests == len(server.requests)


async def test_a_bill_of_reflections_has_cached_what_the_server_has_cached(tmp_path: Path) -> None:
    """Every second request has no tools and so a prefix of its own; what the provider's client says of it is read there."""
    turn: list[Step] = [Call("read_log", {"lines": 25}), Say("It failed.")]
    log = EventLog(tmp_path / "run.jsonl")
    # A model whose cached input is cheaper; the server's cache has OpenAI's rule.
    async with serving(*turn * 8, window_tokens=None, model="gpt-4o-2024-08-06") as (
        server,
        client,
    ):
        agent = coder(client, system_message=PROMPT * 60, reflect_on_tool_use=True)
        context = registered(agent, window_tokens=60_000, events=log)
        for _ in range(8):
            await agent.run(task="What happened?")
    cache, cached = PromptCache(), list[int]()
    for request in server.requests:
        parts = prompt_parts(request.messages, request.tools, count=exact_tokens)
        cached.append(cache.cached_tokens(parts))
    bill = [record.sent for record in bill_of(run_of(log)) if record.sent]
    assert len(bill) == len(cached) == 16
    assert sum(cached) > 0.8 * sum(request.prompt_tokens for request in server.requests)
    for ours, theirs in zip(bill, cached, strict=True):
        assert abs(ours.cached_tokens - theirs) <= CACHE_STEP
    usage = context.manager.usage
    assert usage.cached_tokens == sum(cached)
    cost = price_of("gpt-4o").cost_tokens(usage.prompt_tokens, usage.cached_tokens)
    assert cost is not None
    assert cost < 0.6 * usage.prompt_tokens


@pytest.mark.parametrize(
    ("several", "strict", "roles"),
    [
        (True, False, ["system", "user", "system", "assistant", "user", "system"]),
        (False, False, ["system", "user", "user", "assistant", "user", "user"]),
        (False, True, ["system", "user", "assistant", "user"]),
    ],
    ids=["several", "one", "in strict turns"],
)
async def test_a_memory_goes_where_the_model_takes_it(
    *, several: bool, strict: bool, roles: list[str]
) -> None:
    """AutoGen's list memory adds a system message with each run: the user's for a model that takes one alone (D2)."""
    memory = ListMemory(None, [MemoryContent(content="Tea, no milk.", mime_type="text/plain")])
    info = model_info(multiple_system_messages=several)
    steps: list[Step] = [Say("Hello."), Say("Yes."), *tool_steps(8), Say("Done.")]
    async with serving(*steps, window_tokens=WINDOW, strict_roles=strict, **info) as (
        server,
        client,
    ):
        agent = coder(client, memory=[memory], max_tool_iterations=9)
        registered(agent, config=ContextConfig(alternate_roles=strict))
        for task in ("Hi!", "Tea?", "Work."):
            await agent.run(task=task)
    assert [message["role"] for message in server.requests[1].messages] == roles
    assert server.rejected == []


async def test_others_requests_are_neither_changed_nor_billed() -> None:
    """A question with something added, another conversation, and an answer from a cache teach nothing."""
    async with serving(Say("a"), Say("b"), Say("c")) as (server, inner):
        agent = coder(inner)
        context = registered(agent)
        client: ChatCompletionClient = vars(agent)["_model_client"]
        await context.add_message(said("word " * 99))
        own = await context.get_messages()
        for request in ([*own, said("And?")], [said("And?")], [said("And?"), *own]):
            await client.create(request)
    assert context.manager.usage.requests == 0
    assert context.last_prepared is None
    assert [len(request.messages) for request in server.requests] == [2, 1, 2]
    for is_cached in (True, False):
        replayed = ReplayChatCompletionClient(["a"])
        replayed.set_cached_bool_value(is_cached)
        await RegisteredClient(replayed, context).create(await context.get_messages())
        assert context.manager.usage.requests == (0 if is_cached else 1)


async def test_the_client_is_the_client_within() -> None:
    """All that it is asked beside requests is answered by that one."""
    inner = ReplayChatCompletionClient(["a"])
    client = RegisteredClient(inner, ManagedChatCompletionContext())
    hello = [said("Hi!")]
    await client.create(hello)
    assert client.model_info == inner.model_info
    assert client.total_usage() == inner.total_usage()
    assert client.actual_usage() == inner.actual_usage()
    assert client.count_tokens(hello) == inner.count_tokens(hello)
    assert client.remaining_tokens(hello) == inner.remaining_tokens(hello)
    assert client.dump_component() == inner.dump_component()


def test_a_context_takes_what_the_client_says_of_its_model() -> None:
    """Name and system messages come from the client, unless they are set."""
    config = registered(coder(client_of())).manager.config
    assert (config.model, config.single_system) == (MODEL, False)
    chosen = ContextConfig(model="gpt-4o", single_system=True)
    config = registered(coder(client_of()), config=chosen).manager.config
    assert (config.model, config.single_system) == ("gpt-4o", True)


# The agent's own client makes summaries


async def test_it_is_asked_with_one_message_and_no_tools() -> None:
    """The prompt as it is, and the text of the answer."""
    client = ReplayChatCompletionClient(["All is done."])
    assert await complete_with(client)("Summarise this.") == "All is done."
    (call,) = client.create_calls
    assert call["messages"] == [UserMessage(content="Summarise this.", source="user")]
    assert not call["tools"]


async def test_what_is_no_whole_text_is_no_answer() -> None:
    """A call, or a text that was broken off, is not passed on as one."""
    usage = RequestUsage(prompt_tokens=1, completion_tokens=1)
    given = {"usage": usage, "cached": False}
    for content, finish_reason, error in (
        ([FunctionCall("1", "{}", "f")], "stop", "it calls a tool"),
        ("All is", "length", "it was broken off"),
    ):
        result = CreateResult.model_validate(
            {"content": content, "finish_reason": finish_reason, **given}
        )
        with pytest.raises(CompletionFailed, match=error):
            await complete_with(ReplayChatCompletionClient([result]))("Summarise this.")


async def test_the_recall_tool_belongs_to_its_context() -> None:
    """It answers to arguments that the host would refuse, is strict where the client wants it, and is not dumped."""
    context = ManagedChatCompletionContext(MODEL)
    for arguments in ({}, {"handle": None}, {"lines": [1, 2]}, {"other": 3}):
        answer = await RecallTool(context).run_json(arguments, CancellationToken())
        assert str(answer).startswith(("Give a handle", "There is no argument 'other'"))
    for strict, required in ((False, []), (True, [*RECALL_ARGUMENTS])):
        tool = RecallTool(context, strict=strict)
        schema = tool.schema
        assert schema.get("parameters", {}).get("required") == required
        assert schema.get("strict", False) is strict
        with pytest.raises(NotImplementedError, match=r"give RecallTool\(context\) to the agent"):
            tool.dump_component()
