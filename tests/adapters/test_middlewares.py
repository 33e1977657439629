"""Hosts whose model calls go through a middleware, AG2 1.x and Agent Framework, with conversations of their own beside each other."""

import asyncio
import copy
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from ag2 import Agent as Ag2Agent
from ag2.config import OpenAIConfig
from ag2.context import ConversationContext
from ag2.events import ModelMessage, ModelRequest, ModelResponse, TextInput, Usage
from ag2.knowledge import KnowledgeStore, MemoryKnowledgeStore
from ag2.stream import MemoryStream
from agent_framework import AgentSession, Content, Message
from host_agents import Ag2OneAgent, FrameworkAgent, HostAgent
from pydantic import BaseModel

from autogen_context import register
from autogen_context.adapters.ag2 import Ag2Context
from autogen_context.adapters.agent_framework import AgentFrameworkContext
from autogen_context.testing import Say, Step
from support.hosts import working
from support.logs import MODEL, fourteen_logs, read_log

OK = Say("ok TERMINATE")


async def ask_a_stream(agent: HostAgent, text: str, stream: object) -> None:
    """Ask AG2's agent in a conversation."""
    await agent.agent.ask(text, stream=stream)


async def ask_a_session(agent: HostAgent, text: str, session: object) -> None:
    """Ask Agent Framework's agent in a conversation."""
    await agent.agent.run(text, session=session)


Asks = Callable[[HostAgent, str, object], Awaitable[None]]
ASKS: dict[str, tuple[Asks, Callable[[HostAgent], object]]] = {
    "ag2": (ask_a_stream, lambda _: MemoryStream()),
    "agent-framework": (ask_a_session, lambda agent: agent.agent.create_session()),
}
on_each = pytest.mark.parametrize("host", ASKS)


@on_each
async def test_conversations_at_once_do_not_see_each_other(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a manager of its own, and goes on with what was said in it; a store may take its time."""
    read = MemoryKnowledgeStore.read

    async def slow(store: MemoryKnowledgeStore, path: str) -> str | None:
        await asyncio.sleep(0.01)
        return await read(store, path)

    monkeypatch.setattr(MemoryKnowledgeStore, "read", slow)
    ask, begin = ASKS[host]
    async with working(host, *[OK] * 3) as (server, agent):
        one, other = begin(agent), begin(agent)
        await asyncio.gather(ask(agent, "One.", one), ask(agent, "Two.", other))
        first, second = ([str(m["content"]) for m in each.messages[1:]] for each in server.requests)
        await ask(agent, "Three.", one)
    assert sorted([first, second]) == [["One."], ["Two."]]
    context: Any = agent.context
    managers = [context.manager_of(getattr(each, "id", each)) for each in (one, other)]
    assert managers[0] is not managers[1]
    said = [str(message["content"]) for message in server.requests[-1].messages[1:]]
    assert said == ["One.", OK.text, "Three."]


@on_each
async def test_a_damaged_state_is_begun_anew_with_a_warning(host: str) -> None:
    """Nothing is lost: the host has the conversation."""
    async with working(host, OK) as (_, agent):
        if isinstance(agent, Ag2OneAgent):
            path = f"/autogen_context/reader/{agent.stream.id}.json"
            await vars(agent)["_store"].write(path, '{"schema": "?"')
        elif isinstance(agent, FrameworkAgent):
            agent.session.state["autogen_context:reader"] = {"schema": "?"}
        with pytest.warns(UserWarning, match="the context starts empty"):
            assert await agent.ask("Hi.") == OK.text


# AG2


@pytest.mark.parametrize(("provider", "billed"), [("anthropic", 1_050), ("openai", 100)])
async def test_cached_input_that_is_billed_apart_belongs_to_the_bill(
    provider: str, billed: int
) -> None:
    """Anthropic's prompt tokens leave it out; OpenAI's have it."""
    context = register(Ag2Agent("a", config=OpenAIConfig(MODEL, api_key="none")))
    assert isinstance(context, Ag2Context)

    async def ask(*_: object) -> ModelResponse:
        usage = Usage(
            prompt_tokens=100, cache_read_input_tokens=900, cache_creation_input_tokens=50
        )
        return ModelResponse(ModelMessage("ok"), usage=usage, provider=provider)

    said = [ModelRequest([TextInput("Hi.")])]
    await context.on_llm_call(ask, said, ConversationContext(MemoryStream()))
    assert context.manager.usage.prompt_tokens == billed


async def test_a_turn_that_fails_says_why_whatever_its_store_does(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The error of the model is raised; that of the store is told, and raised where it is the only one."""
    context = register(Ag2Agent("a", config=OpenAIConfig(MODEL, api_key="none")))
    assert isinstance(context, Ag2Context)
    answer = ModelResponse(ModelMessage("ok"))

    async def write(*_: object) -> None:
        raise OSError("the disk is full")

    async def ask(*_: object) -> ModelResponse:
        return answer

    async def fail(*_: object) -> ModelResponse:
        raise ConnectionError("no model")

    store = MemoryKnowledgeStore()
    turn = ConversationContext(MemoryStream(), dependencies={KnowledgeStore: store})
    said = ModelRequest([TextInput("Hi.")])
    await context.on_llm_call(ask, [said], turn)
    assert await context.on_turn(ask, said, turn) is answer
    monkeypatch.setattr(MemoryKnowledgeStore, "write", write)
    with pytest.raises(ConnectionError, match="no model"):
        await context.on_turn(fail, said, turn)
    assert "the disk is full" in caplog.text
    with pytest.raises(OSError, match="the disk is full"):
        await context.on_turn(ask, said, turn)


# Microsoft Agent Framework


async def test_a_copied_session_goes_on_by_itself() -> None:
    """What is known of a conversation is in its session: a copy and what was JSON send the same bytes."""
    async with working("agent-framework", *fourteen_logs(), *[OK] * 3, tools=(read_log,)) as (
        server,
        agent,
    ):
        assert isinstance(agent, FrameworkAgent)
        await agent.ask("Read all logs.")
        saved = AgentSession.from_dict(json.loads(json.dumps(agent.session.to_dict())))
        copied = copy.deepcopy(agent.session)
        for session in (agent.session, saved, copied):
            await ask_a_session(agent, "And now?", session)
        assert isinstance(agent.context, AgentFrameworkContext)
        assert (
            len({id(agent.context.manager_of(each)) for each in (agent.session, saved, copied)})
            == 3
        )
    first, second, third = (list(request.messages) for request in server.requests[-3:])
    assert first == second == third
    assert len(first) < 20


async def test_what_the_provider_keeps_itself_goes_through() -> None:
    """With a conversation of the provider's only what is new is sent, so there is nothing to manage."""
    async with working("agent-framework", OK) as (server, agent):
        with pytest.warns(UserWarning, match="conversation_id"):
            await agent.agent.client.get_response(
                [Message("user", ["Hi."])],
                options={"conversation_id": "c"},
                client_kwargs={"middleware": agent.agent.middleware},
            )
    assert agent.context is not None
    assert agent.context.last_prepared is None
    assert len(server.requests) == 1


class Found(BaseModel):
    """The form of an answer."""

    place: str


async def test_reasoning_goes_with_the_answer_behind_it_and_the_form_of_an_answer_is_counted() -> (
    None
):
    """A provider takes no reasoning alone, and bills the schema of an answer as it bills a tool's."""
    steps: list[Step] = [Say('{"place": "x"}'), OK]
    thought = Message("assistant", [Content.from_text_reasoning(text="Hm.")])
    said = [Message("user", ["Go."]), thought, Message("assistant", ["Yes."])]
    tokens: list[int] = []
    async with working("agent-framework", *steps) as (_, agent):
        assert agent.context is not None
        options: dict[str, Any]
        for options in ({"response_format": Found}, {}):
            await agent.agent.run(said, options=options)
            prepared = agent.context.last_prepared
            assert prepared is not None
            tokens.append(prepared.certificate.counted_tokens)
            kinds = [content.type for content in prepared.messages[-1].contents]
            assert kinds == ["text_reasoning", "text"]
    assert tokens[0] > tokens[1]
