"""Agents of AG2 1.x, with their own client against a server that is as strict as OpenAI's."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from ag2 import Agent, KnowledgeConfig
from ag2.config import OpenAIConfig
from ag2.context import ConversationContext
from ag2.events import BaseEvent, ModelMessage, ModelRequest, ModelResponse, TextInput, Usage
from ag2.knowledge import MemoryKnowledgeStore
from ag2.stream import MemoryStream
from httpx2 import AsyncClient

from autogen_context import register
from autogen_context.adapters.ag2 import Ag2Context
from autogen_context.testing import LoopbackServer, Say, Step
from support.logs import MODEL, PROMPT, WINDOW, strict_server


@asynccontextmanager
async def serving(*steps: Step) -> AsyncGenerator[tuple[LoopbackServer, OpenAIConfig]]:
    """A server that counts as OpenAI does and refuses what is larger than the window, and who asks it."""
    async with strict_server(*steps) as server, AsyncClient() as http:
        url = server.base_url
        yield server, OpenAIConfig(MODEL, api_key="none", base_url=url, http_client=http)


def agent_of(config: OpenAIConfig, **options: Any) -> Agent:
    """An agent that asks the server."""
    return Agent("reader", PROMPT, config=config, **options)


async def test_each_stream_has_a_manager_of_its_own() -> None:
    """Two conversations of one agent do not see each other; what was said first stands in each."""
    async with serving(Say("a"), Say("b"), Say("a2")) as (server, config):
        agent = agent_of(config)
        context = register(agent, window_tokens=WINDOW)
        one, other = MemoryStream(), MemoryStream()
        await agent.ask("First of one.", stream=one)
        await agent.ask("First of the other.", stream=other)
        await agent.ask("Second of one.", stream=one)
    assert isinstance(context, Ag2Context)
    assert context.manager_of(one.id) is not context.manager_of(other.id)
    said = [str(message["content"]) for message in server.requests[-1].messages[1:]]
    assert said == ["First of one.", "a", "Second of one."]
    assert not server.requests[-1].tools  # an agent without tools gets none


async def test_a_damaged_state_is_begun_anew_with_a_warning() -> None:
    """Nothing is lost: the stream has the conversation."""
    kept, stream = KnowledgeConfig(store=MemoryKnowledgeStore(), expose_tool=False), MemoryStream()
    await kept.store.write(f"/autogen_context/reader/{stream.id}.json", '{"schema": "?"')
    async with serving(Say("ok")) as (_, config):
        agent = agent_of(config, knowledge=kept)
        register(agent, window_tokens=WINDOW)
        with pytest.warns(UserWarning, match="the context starts empty"):
            reply = await agent.ask("Hi.", stream=stream)
    assert reply.body == "ok"


async def test_cached_input_that_is_billed_apart_belongs_to_the_bill() -> None:
    """Anthropic's prompt tokens leave it out; OpenAI's have it."""
    usage = Usage(prompt_tokens=100, cache_read_input_tokens=900, cache_creation_input_tokens=50)
    async with serving() as (_, config):
        for provider, billed in (("anthropic", 1_050), ("openai", 100)):
            context = register(agent_of(config), window_tokens=WINDOW)
            assert isinstance(context, Ag2Context)

            async def ask(*_: object, provider: str = provider) -> ModelResponse:
                return ModelResponse(ModelMessage("ok"), usage=usage, provider=provider)

            said: list[BaseEvent] = [ModelRequest([TextInput("Hi.")])]
            await context.on_llm_call(ask, said, ConversationContext(MemoryStream()))
            assert context.manager.usage.prompt_tokens == billed
