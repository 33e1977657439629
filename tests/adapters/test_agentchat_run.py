"""Real agents with their real client against a server that refuses what OpenAI refuses."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from itertools import chain, cycle, islice
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, FunctionCall
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    ModelInfo,
    RequestUsage,
    UserMessage,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient
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
from autogen_context.messages.tool_schema import RECALL_ARGUMENTS
from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel, Step
from autogen_context.tokens.message_counter import MessageCounter

MODEL = "gpt-4-0613"
WINDOW = 4_000
COUNTER = MessageCounter.for_model(MODEL)
PROMPT = "You are a careful engineer. Use the tools, one step at a time, and say when you are done."


def exact_tokens(text: str) -> int:
    """Tokens by the tokenizer of the model, where it is on this machine."""
    return COUNTER.count(text).tokens


async def read_file(path: str) -> str:
    """Read a file of the project."""
    return "\n".join(f"{path}:{n}: value_{n} = compute({n * 7})" for n in range(40))


async def read_log(lines: int) -> str:
    """Read a log of so many lines."""
    return "\n".join(
        f"2026-11-21 10:{n % 60:02d} ERROR task {n} failed: {n * 31}" for n in range(lines)
    )


async def fail(reason: str) -> str:
    """Fail with a reason."""
    raise RuntimeError(reason)


TOOLS: list[AgentTool] = [read_file, read_log, fail]


def tool_steps(steps: int) -> Iterator[Step]:
    """Calls of all kinds: single, parallel with a thought, failing, unknown, and one above the window."""
    kinds: list[Step] = [
        Call("read_file", {"path": "a.py"}),
        [Say("Both."), Call("read_file", {"path": "b.py"}), Call("read_log", {"lines": 20})],
        Call("fail", {"reason": "the disk is full"}),
        Call("no_such_tool", {"x": 1}),
        [
            Call("read_log", {"lines": 30}),
            Call("fail", {"reason": "no"}),
            Call("read_log", '{"lines"'),
        ],
    ]
    large: list[Step] = [Call("read_log", {"lines": 600})]
    return islice(cycle([*kinds, *large]), steps)


@asynccontextmanager
async def serving(
    script: ScriptedModel, /, *, window_tokens: int | None = None, **options: Any
) -> AsyncGenerator[tuple[LoopbackServer, ChatCompletionClient]]:
    """A server with a window, and AutoGen's client for it; ``options`` are the client's."""
    strict = options.pop("strict_roles", False)
    given: dict[str, Any] = {"model": MODEL, "api_key": "none", **options}
    async with LoopbackServer(script, window_tokens=window_tokens, strict_roles=strict) as server:
        client = OpenAIChatCompletionClient(base_url=server.base_url, **given)
        try:
            yield server, client
        finally:
            await client.close()


def scripted(*steps: Step) -> ScriptedModel:
    """A model of the test's tokenizer."""
    return ScriptedModel(steps, count=exact_tokens)


def coder(client: ChatCompletionClient, **options: Any) -> AssistantAgent:
    """An agent with the tools and the prompt of these tests."""
    given: dict[str, Any] = {"tools": TOOLS, "system_message": PROMPT, **options}
    return AssistantAgent("coder", client, **given)


def registered(agent: AssistantAgent, **options: Any) -> ManagedChatCompletionContext:
    """The context that ``register`` gives back."""
    context = register(agent, **options)
    assert isinstance(context, ManagedChatCompletionContext)
    return context


@pytest.mark.parametrize("stream", [False, True], ids=["answers", "streams"])
async def test_a_metered_agent_needs_no_description(*, stream: bool) -> None:
    """Tools, prompt and history that nobody told are measured before the first request; no bill is above the bound."""
    usage = {"stream_options": {"include_usage": True}} if stream else {}
    runs = [chain(tool_steps(10), [Say("Done.")]) for _ in range(2)]
    model = ScriptedModel(chain(*runs), count=exact_tokens)
    async with serving(model, window_tokens=3_000, **usage) as (server, inner):
        agent = coder(
            inner, system_message=PROMPT * 40, max_tool_iterations=11, model_client_stream=stream
        )
        for number in range(14):
            said = UserMessage(content=f"{number} " * 97, source="user")
            await agent.model_context.add_message(said)
        context = registered(agent, window_tokens=3_000)
        assert len(await context.get_messages()) == 14
        for _ in range(2):
            await agent.run(task="Find out why the build fails.")
            assert context.last_prepared is not None
            bound = context.last_prepared.certificate.bound
            assert bound.source == "provider"
            assert server.requests[-1].prompt_tokens <= bound.tokens <= WINDOW
    assert server.rejected == []
    assert len(server.requests[0].messages) < 14
    assert context.manager.usage.requests == len(server.requests)
    assert context.manager.usage.prompt_tokens == sum(r.prompt_tokens for r in server.requests)


async def test_reflections_are_measured_without_the_tools() -> None:
    """The request that looks at results has no tools; it is billed as that, and the next one with tools still fits."""
    turn: list[Step] = [Call("read_log", {"lines": 25}), Say("It failed.")]
    model = scripted(*turn * 4)
    async with serving(model, window_tokens=3_000) as (server, inner):
        agent = coder(inner, system_message=PROMPT * 20, reflect_on_tool_use=True)
        context = registered(agent, window_tokens=3_000)
        for _ in range(4):
            await agent.run(task="What happened?")
    assert server.rejected == []
    assert [bool(request.tools) for request in server.requests] == [True, False] * 4
    assert context.manager.usage.requests == len(server.requests)


def one_system(*, multiple: bool = False) -> dict[str, Any]:
    """A client's options for a model that takes one system message, or several."""
    info = ModelInfo(
        vision=False,
        function_calling=True,
        json_output=False,
        family="unknown",
        structured_output=False,
        multiple_system_messages=multiple,
    )
    return {"model": "local-model", "model_info": info}


@pytest.mark.parametrize(
    ("multiple", "roles"),
    [
        pytest.param(
            True, ["system", "user", "system", "assistant", "user", "system"], id="several"
        ),
        pytest.param(False, ["system", "user", "user", "assistant", "user", "user"], id="one"),
    ],
)
async def test_a_memory_goes_where_the_model_takes_it(multiple: bool, roles: list[str]) -> None:  # noqa: FBT001  # a parameter
    """AutoGen's list memory adds a system message with each run: the user's for a model that takes one alone."""
    memory = ListMemory()
    await memory.add(MemoryContent(content="Tea, no milk.", mime_type="text/plain"))
    async with serving(scripted(Say("Hello."), Say("Yes.")), **one_system(multiple=multiple)) as (
        server,
        inner,
    ):
        agent = coder(inner, memory=[memory])
        register(agent, window_tokens=WINDOW)
        await agent.run(task="Hi!")
        await agent.run(task="Tea?")
    assert [message["role"] for message in server.requests[-1].messages] == roles
    assert server.rejected == []


async def test_strict_templates_get_alternating_roles() -> None:
    """With ``alternate_roles`` a model that refuses anything but user and assistant in turn refuses nothing."""
    config = ContextConfig(alternate_roles=True)
    memory = ListMemory()
    await memory.add(MemoryContent(content="Tea, no milk.", mime_type="text/plain"))
    model = ScriptedModel(chain(tool_steps(8), [Say("Done.")], [Say("Yes.")]), count=exact_tokens)
    async with serving(model, window_tokens=3_000, strict_roles=True, **one_system()) as (
        server,
        inner,
    ):
        agent = coder(inner, memory=[memory], max_tool_iterations=9)
        register(agent, window_tokens=3_000, config=config)
        await agent.run(task="Hi!")
        await agent.run(task="Tea?")
    assert server.rejected == []


async def test_others_requests_are_neither_changed_nor_billed() -> None:
    """A question with something added, another conversation, and an answer from a cache teach nothing."""
    async with serving(scripted(Say("a"), Say("b"), Say("c"))) as (server, inner):
        agent = coder(inner)
        context = registered(agent, window_tokens=WINDOW)
        client: ChatCompletionClient = vars(agent)["_model_client"]
        await context.add_message(UserMessage(content="word " * 99, source="user"))
        own = await context.get_messages()
        more = UserMessage(content="And?", source="user")
        for request in ([*own, more], [more], [more, *own]):
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
    hello = [UserMessage(content="Hi!", source="user")]
    await client.create(hello)
    assert client.model_info == inner.model_info
    assert client.total_usage() == inner.total_usage()
    assert client.actual_usage() == inner.actual_usage()
    assert client.count_tokens(hello) == inner.count_tokens(hello)
    assert client.remaining_tokens(hello) == inner.remaining_tokens(hello)
    assert client.dump_component() == inner.dump_component()


def test_a_context_takes_what_the_client_says_of_its_model() -> None:
    """Name and system messages come from the client, unless they are set."""
    inner = OpenAIChatCompletionClient(model=MODEL, api_key="none")
    config = registered(coder(inner)).manager.config
    assert config.model == MODEL
    assert not config.single_system
    said = ContextConfig(model="gpt-4o", single_system=True)
    config = registered(coder(inner), config=said).manager.config
    assert config.model == "gpt-4o"
    assert config.single_system


# The agent's own client makes summaries


def answered(content: str | list[FunctionCall], finish_reason: Any = "stop") -> CreateResult:
    """What a client gives."""
    usage = RequestUsage(prompt_tokens=1, completion_tokens=1)
    return CreateResult(content=content, finish_reason=finish_reason, usage=usage, cached=False)


async def test_it_is_asked_with_one_message_and_no_tools() -> None:
    """The prompt as it is, and the text of the answer."""
    client = ReplayChatCompletionClient(["All is done."])
    assert await complete_with(client)("Summarise this.") == "All is done."
    (call,) = client.create_calls
    assert call["messages"] == [UserMessage(content="Summarise this.", source="user")]
    assert not call["tools"]


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        pytest.param(answered([FunctionCall("1", "{}", "f")]), "it calls a tool", id="call"),
        pytest.param(answered("All is", "length"), "it was broken off", id="broken off"),
        pytest.param(answered("All is", "content_filter"), "it was broken off", id="filtered"),
        pytest.param(answered(""), "it is empty", id="empty"),
    ],
)
async def test_what_is_no_whole_text_is_no_answer(result: CreateResult, reason: str) -> None:
    """It is not passed on as one."""
    with pytest.raises(CompletionFailed, match=reason):
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
