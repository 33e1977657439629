"""Real agents with their real client against a server that refuses what OpenAI refuses."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import chain, cycle, islice
from pathlib import Path

import pytest
from autogen_agentchat.agents import AssistantAgent, CodeExecutorAgent
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat, SelectorGroupChat
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.models import ModelInfo
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor
from autogen_ext.models.openai import OpenAIChatCompletionClient

from autogen_context.config import ContextConfig
from autogen_context.errors import BudgetImpossible
from autogen_context.adapters.agentchat import (
    ManagedChatCompletionContext,
    MeteredChatCompletionClient,
    managed,
)
from autogen_context.model.gauge import gauge_for
from autogen_context.testing import Call, LoopbackServer, Request, Say, ScriptedModel, Step

MODEL = "gpt-4-0613"
WINDOW = 8_000
COUNTER = gauge_for(MODEL).counter
PROMPT = "You are a careful engineer. Use the tools, one step at a time, and say when you are done."
TOOL_STEPS = 200


def exact_tokens(text: str) -> int:
    """Tokens by the tokenizer of the model, where it is on this machine."""
    return COUNTER.count(text).tokens


async def read_file(path: str) -> str:
    """Read a file of the project."""
    return "\n".join(f"{path}:{n}: value_{n} = compute({n * 7})" for n in range(12))


async def read_log(lines: int) -> str:
    """Read a log of so many lines."""
    return "\n".join(
        f"2026-11-21 10:{n % 60:02d} ERROR task {n} failed: {n * 31}" for n in range(lines)
    )


async def fail(reason: str) -> str:
    """Fail with a reason."""
    raise RuntimeError(reason)


TOOLS = [read_file, read_log, fail]


def tool_steps(steps: int) -> Iterator[Step]:
    """Calls of all kinds: single, parallel with a thought, failing, unknown, and one above the window."""
    kinds: list[Step] = [
        Call("read_file", {"path": "a.py"}),
        [Say("Both."), Call("read_file", {"path": "b.py"}), Call("read_log", {"lines": 20})],
        Call("fail", {"reason": "the disk is full"}),
        Call("no_such_tool", {"x": 1}),
        [Call("read_log", {"lines": 30}), Call("fail", {"reason": "no"}), Call("read_log", '{"lines"')],
    ]
    large: list[Step] = [Call("read_log", {"lines": 1_500})]
    return islice(cycle([*kinds * 4, *large]), steps)


@asynccontextmanager
async def serving(
    steps: ScriptedModel, *, window_tokens: int = WINDOW, strict_roles: bool = False
) -> AsyncIterator[LoopbackServer]:
    """A server with the window of the test."""
    async with LoopbackServer(
        steps, window_tokens=window_tokens, strict_roles=strict_roles
    ) as server:
        yield server


def client_of(server: LoopbackServer, model_info: ModelInfo | None = None) -> OpenAIChatCompletionClient:
    """AutoGen's client for the server."""
    if model_info is None:
        return OpenAIChatCompletionClient(model=MODEL, base_url=server.base_url, api_key="none")
    return OpenAIChatCompletionClient(
        model="local-model", base_url=server.base_url, api_key="none", model_info=model_info
    )


def scripted(*steps: Step) -> ScriptedModel:
    """A model of the test's tokenizer."""
    return ScriptedModel(steps, count=exact_tokens)


@pytest.mark.parametrize("metered", [False, True], ids=["described", "metered"])
async def test_two_hundred_tool_steps_stay_inside_the_window(metered: bool) -> None:  # noqa: FBT001
    """No request has an orphan or is above the window, over parallel calls, failures and results above the window."""
    model = ScriptedModel(chain(tool_steps(TOOL_STEPS), [Say("Done.")]), count=exact_tokens)
    async with serving(model) as server:
        client = client_of(server)
        if metered:
            metering, context = managed(client, window_tokens=WINDOW)
        else:
            metering, context = client, described_context()
        agent = AssistantAgent(
            "coder",
            metering,
            model_context=context,
            tools=TOOLS,
            system_message=PROMPT,
            max_tool_iterations=TOOL_STEPS + 1,
        )
        result = await agent.run(task="Find out why the build fails.")
        await client.close()
    assert server.rejected == []
    assert len(server.requests) == TOOL_STEPS + 1
    assert compactions(server) >= 5
    assert result.messages[-1].to_text() == "Done."
    assert max(request.prompt_tokens for request in server.requests) > 0.8 * WINDOW


def described_context() -> ManagedChatCompletionContext:
    return ManagedChatCompletionContext(MODEL, window_tokens=WINDOW, system_message=PROMPT, tools=TOOLS)


def compactions(server: LoopbackServer) -> int:
    """How often a request was shorter than the one before it."""
    sizes = [request.prompt_tokens for request in server.requests]
    return sum(after < before for before, after in zip(sizes, sizes[1:], strict=False))
