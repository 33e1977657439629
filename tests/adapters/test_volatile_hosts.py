"""A clock in the system prompt of a real agent, in the way that its host has for it, as the server sees it."""

import json
import logging
from itertools import count
from typing import Any, cast

import host_agents
import pytest
from ag2 import Agent as Ag2Agent
from ag2.config import AnthropicConfig, OpenAIConfig
from ag2.stream import MemoryStream
from agent_framework import Agent, Message
from agent_framework_openai import OpenAIChatCompletionClient
from host_agents import Job
from httpx2 import AsyncClient
from volatile import HOSTS, PROMPTS, Talk, run

from autogen_context import register
from autogen_context.adapters.register import Prompt
from autogen_context.testing import AnthropicServer, LoopbackServer, Say, ScriptedModel
from autogen_context.view.prompt import OPENING

TALK = Talk(turns=14, window_tokens=3_000, answer_tokens=150)
of_each_host = pytest.mark.parametrize("host", HOSTS)


@of_each_host
async def test_a_clock_costs_no_compaction_and_little_of_the_cache(host: str) -> None:
    """Of what is cached with one prompt at least 0.8 is cached with a clock behind, and nothing without; the front stays to the byte."""
    still, ticking, behind = [await run(host, name, TALK) for name in PROMPTS]
    assert still.compactions
    assert behind.compactions <= 1.2 * still.compactions
    assert ticking.cached == 0
    assert behind.cached >= 0.8 * still.cached
    fronts = {str(request.messages[0]["content"]) for request in behind.requests[1:]}
    assert len(fronts) == 1


@of_each_host
async def test_the_server_gets_each_part_of_the_newest_prompt_once(host: str) -> None:
    """In system messages: rules in front, the time behind them, before what the person said last."""
    for number, request in enumerate((await run(host, "behind", TALK)).requests):
        systems = [str(m["content"]) for m in request.messages if m["role"] == "system"]
        text = "\n".join(systems)
        for part in (f"Current time: 10:00:{number:02d}.", "Never delete an order.", "name: Ada"):
            assert text.count(part) == 1
        assert text.count("Current time") == 1
        assert request.messages[-1]["role"] == "user"
        if number:
            assert OPENING in str(request.messages[-2]["content"])
            assert request.messages[-2]["role"] == "system"


class OtherClient(OpenAIChatCompletionClient):
    """A client of whose provider it is not known what becomes of a later system message."""

    OTEL_PROVIDER_NAME = "other"


@pytest.mark.parametrize("client", [OpenAIChatCompletionClient, OtherClient])
def test_a_client_that_may_not_keep_a_later_system_message_gets_none(
    client: type[OpenAIChatCompletionClient], caplog: pytest.LogCaptureFixture
) -> None:
    """What moves stands at the end of the prompt then; instructions in several parts, which users mark up, stay as they are."""
    agent = Agent(client("gpt-4o", api_key="none"), "Be brief.", name="clerk")
    context = register(agent, window_tokens=8_000, volatile="behind")
    for number in range(3):
        said = [Prompt(f"Be brief. It is {number}."), Message("user", ["Hello"])]
        front, *others = context.manager.prepare_nowait(said).messages
        assert isinstance(front, Prompt)
        assert len(others) == 1 + (number > 0 and client is OpenAIChatCompletionClient)
        assert ("It is" in front.text) == (number == 0 or client is OtherClient)
    for number in range(3):
        marked = Prompt(f"Be brief. It is {number}.", 2)
        turn = context.manager.prepare_nowait([marked, Message("user", ["Hello"])])
        assert turn.messages[0] is marked
    warned = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert any("end of the prompt" in r.getMessage() for r in warned) == (client is OtherClient)


async def test_ag2_may_ask_another_client_in_one_turn() -> None:
    """OpenAI's client sends what moves as a system message; another one has it at the end of the prompt."""
    said, claudes = Say("Yes."), [Say("No.")]
    async with (
        LoopbackServer(ScriptedModel([said] * 3)) as server,
        AnthropicServer(ScriptedModel(claudes)) as other,
        AsyncClient() as http,
    ):
        given: dict[str, Any] = {"api_key": "none", "http_client": http}
        config = OpenAIConfig("gpt-4o", base_url=server.base_url, **given)
        claude = AnthropicConfig("claude-sonnet-5", base_url=other.base_url, **given)
        agent, numbers = Ag2Agent("clerk", "You are a careful clerk.", config=config), count()
        agent.prompt(lambda: f"It is {next(numbers)}.")
        context = register(agent, window_tokens=8_000, volatile="behind")
        stream = MemoryStream()
        await agent.ask("Hello", stream=stream)
        for number in range(1, 4):
            asked = claude if number == 2 else config
            await agent.ask("And now?", stream=stream, config=asked)
            assert context.last_prepared is not None
            assert context.last_prepared.moved == (f"It is {number}.",)
        for number, request in zip((1, 3), server.requests[1:], strict=True):
            front, *_, moved, newest = request.messages
            assert str(front["content"]).strip() == "You are a careful clerk."
            assert newest["content"] == "And now?"
            assert moved["role"] == "system"
            assert f"It is {number}." in str(moved["content"])
        [request] = other.requests
        assert "It is 2." in str(request.messages[0]["content"])
        assert "It is" not in json.dumps(request.messages[1:])


def first(page: int) -> str:
    """Read a page of the first book."""
    return f"{page}"


def second(page: int) -> str:
    """Read a page of the second book."""
    return f"{page}"


@pytest.mark.parametrize("host", ["agentchat", "agent-framework"])
async def test_tools_that_come_in_another_order_are_sent_as_before(host: str) -> None:
    """Through the hosts that ask for their tools with each run; the server gets the same bytes in front."""
    async with LoopbackServer(ScriptedModel([Say("Yes. TERMINATE")] * 3)) as server:
        job = Job(url=server.base_url, model="gpt-4o-2024-08-06", tools=[first, second])
        agent = host_agents.HOSTS[host][0](job)
        for number in range(3):
            await agent.ask(f"And {number}?")
            if host == "agentchat":
                benches = cast("object", vars(agent.agent)["_workbench"])
                several: object = benches
                if not isinstance(benches, list):  # agentchat 0.5 has a single one
                    several = vars(benches)["_tools"]
                cast("list[object]", several).reverse()
            else:
                agent.agent.default_options["tools"].reverse()
        await agent.aclose()
    assert len({json.dumps(request.tools) for request in server.requests}) == 1
    assert len(server.requests[0].tools) == 3
