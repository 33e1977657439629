"""What each host has of its own where tools are deferred."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agent_framework import Agent
from agent_framework_openai import OpenAIChatCompletionClient as FrameworkClient
from autogen import ConversableAgent
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import UserMessage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI
from tasks.extra_tools import office_tools

from autogen_context import register
from autogen_context.adapters.agentchat import ManagedChatCompletionClient
from autogen_context.messages.find_tools import FIND_TOOLS_NAME, find_tools_schema
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.testing import LoopbackServer, Say, ServedRequest
from support.logs import MODEL, strict_server

# The windows are drawn without regard to the model that counts.
pytestmark = pytest.mark.filterwarnings("ignore:window_tokens=")

DONE = Say("Done. TERMINATE")
OURS = [RECALL_TOOL_NAME, FIND_TOOLS_NAME]
WINDOW = 4_000


def names_in(request: ServedRequest) -> list[str]:
    """The names of the tools of a request."""
    functions: list[Any] = [tool["function"] for tool in request.tools]
    return [function["name"] for function in functions]


def office() -> list[FunctionTool]:
    """Thirty tools of AutoGen's."""
    return [FunctionTool(each, description=each.__doc__ or "") for each in office_tools(30)]


@asynccontextmanager
async def asking() -> AsyncGenerator[tuple[LoopbackServer, OpenAIChatCompletionClient]]:
    """A server that says that it is done, and a client of AutoGen's."""
    async with strict_server(DONE, DONE, window_tokens=60_000) as server:
        client = OpenAIChatCompletionClient(model=MODEL, api_key="none", base_url=server.base_url)
        yield server, client
        await client.close()


async def test_handoffs_of_agentchat_are_always_sent() -> None:
    """Without them a team stands still."""
    async with asking() as (server, client):
        tools: list[Any] = office()
        agent = AssistantAgent("clerk", client, tools=tools, handoffs=["chief", "aide"])
        register(agent, window_tokens=WINDOW)
        await agent.run(task="Well?")
        assert names_in(server.requests[0]) == [*OURS, "transfer_to_chief", "transfer_to_aide"]


async def test_a_tool_of_the_agents_own_that_is_called_as_ours_stays_what_it_is() -> None:
    """Ours is not added, and nothing is deferred."""

    def find_tools(hammer: str) -> str:
        """Find a hammer."""
        return hammer

    async with asking() as (server, client):
        tools: list[Any] = [*office(), find_tools]
        agent = AssistantAgent("clerk", client, tools=tools)
        register(agent, window_tokens=20_000, tools_fraction=0.01)
        await agent.run(task="Well?")
        names = names_in(server.requests[0])
        assert len(names) == 32
        assert names.count(FIND_TOOLS_NAME) == 1


async def test_a_client_of_ones_own_defers_tools_if_it_can_be_told_of_them() -> None:
    """By the schema of ``find_tools``; the tool of a tool choice is sent."""
    tools = office()
    find: Any = find_tools_schema()["function"]
    async with asking() as (server, inner):
        client = ManagedChatCompletionClient(inner, window_tokens=WINDOW)
        asked = [UserMessage(content="Well?", source="user")]
        await client.create(asked, tools=[*tools, find], tool_choice=tools[7])
        wide = ManagedChatCompletionClient(inner, window_tokens=60_000)
        await wide.create(asked, tools=[*tools, find])
        few, many = map(names_in, server.requests)
    assert few == [FIND_TOOLS_NAME, tools[7].name]
    assert many == [tool.name for tool in tools]


def classic_agent(server: LoopbackServer) -> ConversableAgent:
    """One with thirty tools."""
    entry = {"model": MODEL, "api_key": "none", "price": [0, 0], "base_url": server.base_url}
    llm_config: Any = {"config_list": [entry], "cache_seed": None}
    agent = ConversableAgent("clerk", llm_config=llm_config, human_input_mode="NEVER")
    for tool in office_tools(30):
        agent.register_for_llm(description=tool.__doc__)(tool)
    return agent


def tools_of(agent: ConversableAgent) -> Sequence[Mapping[str, Any]]:
    """The tools in an agent's own settings."""
    settings: Any = agent.llm_config
    return list(settings["tools"])


def asked(agent: ConversableAgent) -> None:
    """Have an agent answer once."""
    user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
    user.initiate_chat(agent, message="Well?", max_turns=1, silent=True)


def test_the_settings_of_a_classic_agent_stay_as_they_are() -> None:
    """Its client sends fewer; tools that are added or taken away later are heard of; a wider window sends all again."""
    with strict_server(DONE, DONE, DONE, window_tokens=60_000) as server:
        agent = classic_agent(server)
        given = tools_of(agent)
        context = register(agent, window_tokens=WINDOW)
        asked(agent)
        assert tools_of(agent)[:30] == given
        agent.update_tool_signature("invoice_create", is_remove=True)
        asked(agent)
        assert names_in(server.requests[0]) == names_in(server.requests[1]) == OURS
        assert "invoice_create" in str(server.requests[0].tools)
        assert "invoice_create" not in str(server.requests[1].tools)
        assert context.last_prepared is not None
        assert len(context.last_prepared.deferred_tools) == 29


def test_functions_of_a_classic_agent_are_no_tools() -> None:
    """They are the older form, which the host sends by itself and nobody could find."""
    with strict_server(DONE, window_tokens=60_000) as server:
        agent = classic_agent(server)
        agent.update_function_signature(
            {"name": "older", "description": "An older one"}, is_remove=False
        )
        context = register(agent, window_tokens=WINDOW)
        asked(agent)
        assert names_in(server.requests[0]) == OURS
        assert context.last_prepared is not None
        assert "older" not in context.last_prepared.deferred_tools


@pytest.mark.parametrize("mode", [{"required_function_name": "ticket_search"}, {}])
async def test_a_tool_choice_of_agent_framework_is_sent(mode: dict[str, Any]) -> None:
    """And stays for the session."""
    async with strict_server(DONE, DONE, window_tokens=60_000) as server:
        inner = AsyncOpenAI(api_key="none", base_url=server.base_url)
        agent = Agent(
            FrameworkClient(MODEL, async_client=inner), name="clerk", tools=office_tools(30)
        )
        register(agent, window_tokens=WINDOW)
        session = agent.create_session()
        choice: Any = {"mode": "required", **mode}
        await agent.run("Well?", session=session, options={"tool_choice": choice})
        await agent.run("And?", session=session)
        chosen = [*OURS, *mode.values()]
        assert [*map(names_in, server.requests)] == [chosen, chosen]
        await inner.close()
