"""Agent Framework in its own set-ups: without a session, with its default client, with histories saved at each call."""

import asyncio
import gc
import logging
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agent_framework import Agent, InMemoryHistoryProvider
from agent_framework_openai import OpenAIChatClient, OpenAIChatCompletionClient
from openai import AsyncOpenAI

from autogen_context import register
from autogen_context.adapters.agent_framework import AgentFrameworkContext
from autogen_context.testing import Call, LoopbackServer, Say, Step
from support.accounts import ASKS, a_task, iban_of, read_account, reading, recalled
from support.logs import MODEL, WINDOW, Reply, read_log, strict_server

CLIENTS: dict[str, Callable[..., Any]] = {
    "responses": OpenAIChatClient,  # the one of the framework's quickstart
    "chat completions": OpenAIChatCompletionClient,
}


@asynccontextmanager
async def asked(
    *steps: Reply, client: str = "chat completions", **given: Any
) -> AsyncGenerator[tuple[LoopbackServer, Agent[Any], AgentFrameworkContext]]:
    """A registered agent whose client asks a server that refuses what the provider would refuse."""
    async with (
        strict_server(*steps) as server,
        AsyncOpenAI(api_key="none", base_url=server.base_url, max_retries=0) as http,
    ):
        agent = Agent(
            CLIENTS[client](MODEL, async_client=http),
            "You read logs.",
            name="reader",
            tools=[read_log, read_account],
            **given,
        )
        context = register(agent, window_tokens=WINDOW)
        assert isinstance(context, AgentFrameworkContext)
        yield server, agent, context


# Runs without a session


async def test_without_a_session_a_run_finds_nothing_of_another_callers_run() -> None:
    """Each run is its own conversation, as the framework means it."""
    async with asked(*a_task(), ASKS, Say("I know nothing.")) as (server, agent, _):
        await agent.run("Check the accounts.")
        await agent.run("What is my account?")
    assert [request.error for request in server.rejected] == []
    answers = recalled(server)
    assert len(answers) == 1
    assert iban_of("smith") not in answers[0]
    assert iban_of("smith") not in str(server.requests[-1].messages)


@pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])
async def test_a_run_without_a_session_finds_what_left_its_own_window(*, is_streamed: bool) -> None:
    """The tool answers for the run that calls it."""
    async with asked(*reading("smith"), ASKS, Say("Done.")) as (server, agent, context):
        if is_streamed:
            stream = agent.run("Check the accounts.", stream=True)
            assert "".join([update.text async for update in stream]) == "Done."
        else:
            await agent.run("Check the accounts.")
    assert [request.error for request in server.rejected] == []
    assert iban_of("smith") in recalled(server)[0]
    assert context.manager.usage.requests == len(server.requests)


async def test_runs_at_once_without_a_session_are_apart() -> None:
    """None's requests or answers have anything of another's."""
    customers = ("smith", "jones", "brown", "green", "white")
    steps = {each: iter([*reading(each), ASKS, Say("Done.")]) for each in customers}

    def step(request: Any) -> Step:
        return next(steps[next(each for each in customers if each in str(request.messages))])

    async with asked(*[step] * 55) as (server, agent, _):
        await asyncio.gather(*(agent.run(f"Check {each}.") for each in customers))
    assert [request.error for request in server.rejected] == []
    for request in server.requests:
        text = str(request.messages)
        assert sum(iban_of(each) in text or each in text for each in customers) == 1
    assert len(recalled(server)) == len(customers)


async def test_a_run_without_a_session_leaves_nothing_behind() -> None:
    """Of its manager only the last one stays, for who explains it; it prepares nothing any more."""
    managers: list[weakref.ref[object]] = []
    async with asked(*[Say("Hi.")] * 6) as (_, agent, context):
        for _ in range(6):
            await agent.run("Hi.")
            managers.append(weakref.ref(context.manager))
        gc.collect()
        assert [ref() is not None for ref in managers] == [False] * 5 + [True]


# The default client


@pytest.mark.filterwarnings("default")
async def test_the_default_client_is_managed_and_says_so(recwarn: pytest.WarningsRecorder) -> None:
    """Its service keeps the history; ``register`` has it sent, so that none of 48 requests is refused."""
    reads = [Call("read_log", {"number": n}) for n in range(36)]
    steps: list[Step] = [Say("Read.") if n % 4 == 3 else reads[n - n // 4] for n in range(48)]
    async with asked(*steps, client="responses") as (server, agent, context):
        session = agent.create_session()
        for n in range(12):
            await agent.run(f"Read three more, {n}.", session=session)
    (told,) = (str(each.message) for each in recwarn if "store" in str(each.message))
    assert 'register set default_options["store"] = False' in told
    assert "or to True to leave the history with the service, unmanaged" in told
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) == 48
    assert context.manager.usage.requests == 48
    assert "Read three more, 11." in str(server.requests[-1].messages)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("where", ["agent", "run"])
async def test_a_history_that_the_service_keeps_is_said_not_to_be_managed(
    where: str, recwarn: pytest.WarningsRecorder
) -> None:
    """Who says ``store=True`` has it so, and reads what that means."""
    options: Any = {"store": True}
    given: dict[str, Any] = {"default_options": options} if where == "agent" else {}
    asks: dict[str, Any] = {"options": options} if where == "run" else {}
    async with asked(Say("Hi."), Say("Hi."), client="responses", **given) as (_, agent, context):
        session = agent.create_session()
        await agent.run("Hi.", session=session, **asks)
        first = context.last_prepared
        await agent.run("Hi again.", session=session, **asks)
    assert context.last_prepared is first
    assert any("not managed" in str(each.message) for each in recwarn)


async def test_a_client_that_keeps_nothing_is_not_spoken_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Neither a setting nor a word where there is nothing to change."""
    async with asked(Say("Hi.")) as (_, agent, _context):
        assert "store" not in agent.default_options
        await agent.run("Hi.")
    assert [r.message for r in caplog.records if r.levelno >= logging.WARNING] == []


# Histories saved at each call


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.filterwarnings("ignore:the service of")
async def test_a_history_saved_at_each_call_is_managed_whole(client: str) -> None:
    """The framework loads it in a middleware of its own, inside those of the agent."""
    reads = [[Call("read_log", {"number": n}) for n in (i, i + 1)] for i in range(0, 24, 2)]
    steps: list[Step] = [step for read in reads for step in (read, Say("Read."))]
    async with asked(
        *steps,
        client=client,
        context_providers=[InMemoryHistoryProvider()],
        require_per_service_call_history_persistence=True,
    ) as (server, agent, context):
        session = agent.create_session()
        for n in range(12):
            assert (await agent.run(f"Read two more, {n}.", session=session)).text == "Read."
            assert context.last_prepared is not None
            assert context.last_prepared.certificate.pairs_closed
    assert [request.error for request in server.rejected] == []
    assert [message["role"] for message in server.requests[1].messages] == [
        *("system", "user", "assistant", "tool", "tool")
    ]
    kept = session.state[InMemoryHistoryProvider().source_id]["messages"]
    results = [each for message in kept for each in message.contents if "result" in each.type]
    assert [each.result for each in results] == [read_log(n) for n in range(24)]  # as they were


async def test_a_handoff_is_managed() -> None:
    """Agents that hand over to each other ask for histories saved at each call."""
    orchestrations = pytest.importorskip(
        "agent_framework_orchestrations", reason="agent-framework-orchestrations is not installed"
    )

    numbers = iter(range(20))

    def is_done(messages: list[Any]) -> bool:
        return bool(messages[-1].text == "Done.")

    def step(request: Any) -> Step:
        if "Triage" in str(request.messages[0]):
            return Call("handoff_to_reader", {})
        number = next(numbers, None)
        return Say("Done.") if number is None else Call("read_log", {"number": number})

    async with (
        strict_server(*[step] * 60) as server,
        AsyncOpenAI(api_key="none", base_url=server.base_url, max_retries=0) as http,
    ):
        agents = [
            Agent(
                OpenAIChatCompletionClient(MODEL, async_client=http),
                prompt,
                name=name,
                tools=tools,
                require_per_service_call_history_persistence=True,
            )
            for name, prompt, tools in (
                ("triage", "Triage.", []),
                ("reader", "Reader.", [read_log]),
            )
        ]
        for agent in agents:
            register(agent, window_tokens=WINDOW)
        workflow = (
            orchestrations.HandoffBuilder(participants=agents)
            .with_start_agent(agents[0])
            .with_termination_condition(is_done)
            .build()
        )
        await workflow.run("Read the logs.")
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) == 22
