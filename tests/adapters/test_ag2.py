"""Agents of AG2 1.x, with their own client against a server that is as strict as OpenAI's."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from ag2 import Agent, KnowledgeConfig
from ag2.compact import CompactionSummary
from ag2.config import OpenAIConfig
from ag2.events import (
    BaseEvent,
    BuiltinToolCallEvent,
    DataInput,
    ImageInput,
    ModelMessage,
    ModelReasoning,
    ModelRequest,
    ModelResponse,
    ProviderReplay,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResult,
    ToolResultEvent,
    ToolResultsEvent,
    UsageEvent,
)
from ag2.knowledge import MemoryKnowledgeStore
from ag2.stream import MemoryStream
from httpx2 import AsyncClient
from pydantic import BaseModel

from autogen_context import register
from autogen_context.adapters.ag2 import Ag2Context
from autogen_context.adapters.ag2_format import Ag2Format, Payloads, Prompt, Response, events_of
from autogen_context.testing import LoopbackServer, Say, Step
from support.logs import MODEL, PROMPT, WINDOW, strict_server

HOST = Ag2Format()


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


# What is read and written


class Thinking(ModelReasoning, ProviderReplay):
    """What a provider wants back for its response."""

    __transient__ = False
    __replay_role__ = "anchor"


class Order(BaseModel):
    """Data in a request."""

    item: str


CALL = ToolCallEvent("find", id="c1", arguments='{"q": "a long question"}')
RESPONSE = ModelResponse(ModelMessage("I look."), tool_calls=ToolCallsEvent([CALL]))
RESULTS = ToolResultsEvent(
    [ToolResultEvent(parent_id="c1", name="find", result=ToolResult("one", {"two": 2}))]
)


@pytest.mark.parametrize(
    ("payload", "role", "text"),
    [
        (Prompt("Be kind."), "system", "Be kind."),
        (ModelRequest([TextInput("a"), DataInput(Order(item="b"))]), "user", 'a\n{"item": "b"}'),
        (
            CompactionSummary(summary="s", event_count=3),
            "user",
            "[Summary of earlier conversation]\ns",
        ),
        (RESPONSE, "assistant", "I look."),
        (Response((Thinking("Hm."), RESPONSE)), "assistant", "I look."),
    ],
)
def test_what_is_read_comes_back(payload: object, role: str, text: str) -> None:
    """The text as it is sent; written back with the same texts, the same is sent."""
    message = HOST.read(payload)
    assert (message.role, message.text) == (role, text)
    assert HOST.read(HOST.rewrite(payload, message)) == message
    assert HOST.digest(HOST.snapshot(payload)) == HOST.digest(HOST.snapshot(payload))


def test_a_result_is_rewritten_and_its_image_leaves_a_mark() -> None:
    """F12: what is no text stays or leaves, and the caller's event is as it was."""
    image = ImageInput("https://example.com/a.png")
    event = ToolResultsEvent(
        [ToolResultEvent(parent_id="c1", name="f", result=ToolResult("a long text", image))]
    )
    message = HOST.read(event)
    assert len(message.images) == 1
    [result] = message.results
    short = type(result)(call_id="c1", name="f", text="short")
    written = HOST.rewrite(event, type(message)(role="tool", results=(short,)))
    assert HOST.read(written).results == (short,)
    assert HOST.read(written).images == ()
    assert HOST.read(event) == message


def test_arguments_are_rewritten_for_the_clients_that_parse_them() -> None:
    """AG2 sends the arguments as parsed, whatever their text."""
    message = HOST.read(RESPONSE)
    [call] = message.calls
    for arguments in ('{"q": "short"}', "no JSON"):
        short = type(call)(id="c1", name="find", arguments=arguments)
        written = HOST.rewrite(RESPONSE, type(message)(role="assistant", calls=(short,)))
        assert isinstance(written, ModelResponse)
        [event] = written.tool_calls.calls
        assert json.loads(event.arguments) == event.serialized_arguments
    assert RESPONSE.tool_calls.calls[0].arguments == CALL.arguments


def test_which_events_are_sent() -> None:
    """Telemetry is not, a response has its provider's items, and a final result that no step took is a step."""
    loose = ToolResultEvent(parent_id="c1", name="find", result=ToolResult("final"))
    builtin = BuiltinToolCallEvent("web_search", id="b1")
    request, thinking = ModelRequest([TextInput("Go.")]), Thinking("Hm.")
    answer = ModelResponse(ModelMessage("Found."))
    events: list[BaseEvent] = [
        request, UsageEvent(), thinking, builtin, RESPONSE, RESPONSE.tool_calls, loose, request, answer,
    ]  # fmt: skip
    made = Payloads()
    payloads = made.of(events)
    assert events_of(payloads)[:4] == [request, thinking, builtin, RESPONSE]
    assert isinstance(payloads[2], ToolResultsEvent)
    assert payloads[2].results == [loose]
    assert payloads[3:] == [request, answer]
    assert all(a is b for a, b in zip(made.of(events), payloads, strict=True))
    followed = made.of([*events[:7], RESULTS])
    assert followed[2] is RESULTS


@pytest.mark.parametrize("read", [HOST.read, HOST.snapshot])
def test_what_is_no_event_that_is_sent_is_refused(read: Callable[[object], object]) -> None:
    """By its type, with what is wanted."""
    with pytest.raises(ValueError, match=r"ModelRequest.*got UsageEvent"):
        read(UsageEvent())
