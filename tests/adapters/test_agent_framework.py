"""Agents of Microsoft Agent Framework, with its own client against a server that is as strict as OpenAI's."""

import asyncio
import copy
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, Content, Message
from agent_framework_openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI
from pydantic import BaseModel

from autogen_context import register
from autogen_context.adapters.agent_framework import AgentFrameworkContext
from autogen_context.testing import Call, LoopbackServer, Say, ServedRequest, Step
from support.logs import MODEL, PROMPT, WINDOW, fourteen_logs, read_log, strict_server


@asynccontextmanager
async def serving(
    *steps: Step,
) -> AsyncGenerator[tuple[LoopbackServer, OpenAIChatCompletionClient]]:
    """A server that counts as OpenAI does and refuses what is larger than the window, and who asks it."""
    async with (
        strict_server(*steps) as server,
        AsyncOpenAI(api_key="none", base_url=server.base_url) as client,
    ):
        yield server, OpenAIChatCompletionClient(MODEL, async_client=client)


def agent_of(client: OpenAIChatCompletionClient, **options: Any) -> Agent[Any]:
    """An agent that asks the server."""
    return Agent(client, PROMPT, name="reader", **options)


def sent(requests: list[ServedRequest]) -> list[list[Any]]:
    """The messages of each request."""
    return [list(request.messages) for request in requests]


async def test_a_streamed_agent_stays_inside_its_window() -> None:
    """As one that is not streamed, and its bills are fed back."""
    async with serving(*fourteen_logs()) as (server, client):
        agent = agent_of(client, tools=[read_log])
        context = register(agent, window_tokens=WINDOW)
        stream = agent.run("Read all logs.", session=agent.create_session(), stream=True)
        assert "".join([update.text async for update in stream]) == "Done. TERMINATE"
    assert [request.error for request in server.rejected] == []
    assert context.manager.usage.requests == len(server.requests)


async def test_a_run_that_follows_sends_what_the_provider_has_cached() -> None:
    """The framework names the answers of a run when it ends, which changed the whole prefix of the next."""
    steps: list[Step] = [
        Call("read_log", {"number": 1}),
        Say("One."),
        Call("read_log", {"number": 2}),
        Say("Two."),
    ]
    async with serving(*steps) as (server, client):
        agent = agent_of(client, tools=[read_log])
        register(agent, window_tokens=WINDOW)
        session = agent.create_session()
        await agent.run("Read one.", session=session)
        await agent.run("And the next.", session=session)
    assert all(b[: len(a)] == a for a, b in pairwise(sent(server.requests)))


async def test_a_session_through_json_continues_to_the_byte() -> None:
    """What is known of a conversation is in its session, and goes where the session goes; a copy goes on by itself."""
    steps = [*fourteen_logs(), Say("a"), Say("b"), Say("c")]
    async with serving(*steps) as (server, client):
        agent = agent_of(client, tools=[read_log])
        context = register(agent, window_tokens=WINDOW)
        assert isinstance(context, AgentFrameworkContext)
        session = agent.create_session()
        await agent.run("Read all logs.", session=session)
        saved = json.loads(json.dumps(session.to_dict()))
        copied = copy.deepcopy(session)
        for each in (session, AgentSession.from_dict(saved), copied):
            again = agent_of(client, tools=[read_log])
            register(again, window_tokens=WINDOW)
            await again.run("And now?", session=each)
        assert context.manager_of(copied) is not context.manager_of(session)
    first, second, third = sent(server.requests)[-3:]
    assert first == second == third
    assert len(first) < 20


async def test_a_damaged_state_is_begun_anew_with_a_warning() -> None:
    """Nothing is lost: the session has the conversation."""
    async with serving(Say("ok")) as (_, client):
        agent = agent_of(client)
        register(agent, window_tokens=WINDOW)
        session = agent.create_session()
        session.state["autogen_context:reader"] = {"schema": "?"}
        with pytest.warns(UserWarning, match="the context starts empty"):
            assert (await agent.run("Hi.", session=session)).text == "ok"


async def test_what_the_provider_keeps_itself_goes_through() -> None:
    """With a conversation of the provider's only what is new is sent, so there is nothing to manage."""
    async with serving(Say("ok")) as (server, client):
        agent = agent_of(client)
        context = register(agent, window_tokens=WINDOW)
        with pytest.warns(UserWarning, match="conversation_id"):
            await client.get_response(
                [Message("user", ["Hi."])],
                options={"conversation_id": "c"},
                client_kwargs={"middleware": agent.middleware},
            )
    assert context.last_prepared is None
    assert len(server.requests) == 1


async def test_two_runs_at_once_are_two_conversations() -> None:
    """Sessions do not see each other."""
    async with serving(Say("ok"), Say("ok")) as (server, client):
        agent = agent_of(client)
        register(agent, window_tokens=WINDOW)
        one, other = agent.create_session(), agent.create_session()
        await asyncio.gather(agent.run("One.", session=one), agent.run("Two.", session=other))
    said = [[message["content"] for message in request] for request in sent(server.requests)]
    assert sorted(texts[-1] for texts in said) == ["One.", "Two."]
    assert {len(texts) for texts in said} == {2}


async def test_reasoning_is_sent_with_the_answer_behind_it() -> None:
    """A provider takes none alone."""
    async with serving(Say("ok")) as (_, client):
        agent = agent_of(client)
        context = register(agent, window_tokens=WINDOW)
        thought = Message("assistant", [Content.from_text_reasoning(text="Hm.")])
        await agent.run([Message("user", ["Go."]), thought, Message("assistant", ["Yes."])])
    assert context.last_prepared is not None
    *_, answer = context.last_prepared.messages
    assert [content.type for content in answer.contents] == ["text_reasoning", "text"]


class Found(BaseModel):
    """The form of an answer."""

    place: str


async def test_the_form_of_an_answer_is_counted() -> None:
    """A provider bills the schema as it bills a tool's."""
    async with serving(Say('{"place": "x"}'), Say("ok")) as (_, client):
        agent = agent_of(client)
        context = register(agent, window_tokens=WINDOW)
        tokens: list[int] = []
        for options in ({"response_format": Found}, {}):
            await agent.run("Where?", options=options)
            assert context.last_prepared is not None
            tokens.append(context.last_prepared.certificate.counted_tokens)
    assert tokens[0] > tokens[1]
