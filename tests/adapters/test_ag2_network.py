"""AG2's network, which opens a stream for each turn: a conversation is an agent's part in a channel."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import pytest
from ag2 import Agent
from ag2.annotations import Context
from ag2.config import OpenAIConfig
from ag2.events import BaseEvent, ModelMessage, ModelRequest, ModelResponse, TextInput, Usage
from ag2.knowledge import MemoryKnowledgeStore
from ag2.middleware import BaseMiddleware
from ag2.network import CONVERSATION_TYPE, Hub, HubClient, LocalLink, Passport
from httpx2 import AsyncClient
from typing_extensions import override

from autogen_context import register
from autogen_context.adapters.ag2 import Ag2Context, asked_by
from autogen_context.messages.message import Origin
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.testing import Call, LoopbackServer, Request, Say, Step
from support.logs import ASKED_BACK, MODEL, WINDOW, read_log, strict_server
from support.waiting import until

TURNS = 12
Tell = Callable[[str, str], Any]


def step(request: Request) -> Step:
    """Read three logs, or ask for what the person says, and answer."""
    last = request.messages[-1]
    asked = next(m for m in reversed(request.messages) if m["role"] == "user")["content"]
    if "iban" in str(asked) and last["role"] == "user":
        return Call(RECALL_TOOL_NAME, {"query": "iban"})
    if last["role"] == "user":
        return [Call("read_log", {"number": n}) for n in range(3)]
    return Say("Done.")


class Around(BaseMiddleware):
    """Does something before each turn, and counts those that are over."""

    def __init__(self, before: Callable[[Context], Awaitable[object]] | None = None) -> None:
        self.turns, self._before = 0, before

    def __call__(self, event: BaseEvent, context: Context) -> Self:
        """Return the middleware of a turn: the same for all."""
        return self

    @override
    async def on_turn(self, call_next: Any, event: BaseEvent, context: Context) -> ModelResponse:
        try:
            if self._before:
                await self._before(context)
            response: ModelResponse = await call_next(event, context)
        finally:
            self.turns += 1
        return response


@asynccontextmanager
async def network(
    *channels: str, person: bool = True
) -> AsyncGenerator[tuple[LoopbackServer, Ag2Context, Tell]]:
    """A registered agent, and a person with these channels to it; ``tell`` ends when the agent's turn has."""
    async with strict_server(*[step] * 200) as server, AsyncClient() as http:
        config = OpenAIConfig(MODEL, api_key="none", base_url=server.base_url, http_client=http)
        agent = Agent("reader", "You read logs.", config=config, tools=[read_log])
        context = register(agent, window_tokens=WINDOW)
        assert isinstance(context, Ag2Context)
        agent.add_middleware(ended := Around())
        hub = await Hub.open(MemoryKnowledgeStore())
        client = HubClient(LocalLink(hub), hub=hub)
        await client.register(agent)
        passport = Passport(name="ann")
        sender = await (
            client.register_human(passport)
            if person
            else client.register(Agent("ann", config=config), passport)
        )
        opened = {
            name: await sender.open(type=CONVERSATION_TYPE, target="reader") for name in channels
        }

        async def tell(name: str, text: str) -> None:
            before = ended.turns
            await opened[name].send(text)
            await until(lambda: ended.turns == before + 1)

        try:
            yield server, context, tell
        finally:
            await context.aclose()
            await client.close()
            await hub.close()


async def test_a_channel_is_one_conversation() -> None:
    """All its turns have one manager, whose requests fit, and which can be asked for."""
    async with network("work") as (server, context, tell):
        managers: set[int] = set()
        for number in range(TURNS):
            await tell("work", f"Read three, {number}.")
            managers.add(id(context.manager))
        (key,) = context.conversations
        assert context.manager_of(key) is context.manager
    assert len(managers) == 1
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) == 2 * TURNS


async def test_channels_are_apart() -> None:
    """What was said in one is not found in the other."""
    async with network("work", "home") as (server, context, tell):
        await tell("work", "Remember that the number is DE00044412. " + "word " * 2_000)
        await tell("home", "What is my iban?")
        assert len(context.conversations) == 2
    assert "DE00044412" not in str(server.requests[-1].messages)


async def test_what_a_turn_does_not_show_is_kept() -> None:
    """Each turn shows the newest messages of a channel and no calls of earlier turns; nothing of that was deleted."""
    async with network("work") as (server, context, tell):
        await tell("work", "Never touch the key file. My iban is DE00044412.")
        for number in range(TURNS):
            await tell("work", f"Read three, {number}.")
        read = context.manager.recall_context(query=ASKED_BACK)
        await tell("work", "What is my iban?")
    last = server.requests[-1].messages
    assert "Never touch the key file" in str(last)
    assert "DE00044412" in str(last[-1]["content"])
    assert f"worker 2 wrote {ASKED_BACK}" in read


async def test_tasks_of_a_new_channel_have_one_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although it takes a while until the hub says who takes part."""

    async def slow(context: Context) -> Origin:
        await asyncio.sleep(0.01)
        return await asked_by(context)

    async def answer(*_: object) -> ModelResponse:
        return ModelResponse(ModelMessage("ok"), usage=Usage(prompt_tokens=300))

    async def ask_twice(turn: Context) -> None:
        said = ModelRequest([TextInput("Hi.")])
        await asyncio.gather(*(context.on_llm_call(answer, [said], turn) for _ in range(2)))

    monkeypatch.setattr("autogen_context.adapters.ag2.asked_by", slow)
    async with network("work") as (_, context, tell):
        context.agent.add_middleware(Around(ask_twice))
        await tell("work", "Read three.")
        (key,) = context.conversations
        manager = context.manager_of(key)
        assert manager is not None
        assert manager.usage.requests == 4


@pytest.mark.parametrize(("person", "whose"), [(True, "person"), (False, "unknown")])
async def test_whose_a_request_is(person: bool, whose: str) -> None:  # noqa: FBT001 - a table
    """Requests do not name their sender, so beside another agent nobody knows whose they are."""
    found: list[Origin] = []

    async def note(turn: Context) -> None:
        found.append(await asked_by(turn))

    async with network("work", person=person) as (_, context, tell):
        context.agent.add_middleware(Around(note))
        await tell("work", "Read three.")
    assert found == [whose]
