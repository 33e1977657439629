"""Agents of every host whose model is Claude, each with its own client, against a server with Anthropic's prompt cache."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ChatCompletionClient, CreateResult, UserMessage
from autogen_ext.models.cache import ChatCompletionCache
from autogen_ext.models.replay import ReplayChatCompletionClient
from host_agents import HOSTS, AgentchatAgent, HostAgent, Job

from autogen_context import register
from autogen_context.adapters.agentchat import ManagedChatCompletionClient
from autogen_context.testing import (
    AnthropicServer,
    Call,
    Say,
    ScriptedModel,
    ServedMessages,
    Step,
)
from autogen_context.testing.anthropic_rules import MOST_MARKS
from support.claude import without_marks
from support.hosts import on_every_host
from support.logs import strict_server

MODEL, WINDOW, LOGS = "claude-sonnet-5", 8_000, 20
PROMPT = "You read logs, and tell what they say. " * 90
DONE = "Done. TERMINATE"
LEAST_CACHED = 0.8  # of all input
OWN_MARKS = {"ag2": 2}  # of the host's own client
# Classic AutoGen knows prices of older models only.
pytestmark = pytest.mark.filterwarnings("ignore:Cost calculation not available")


def read_log(number: int) -> str:
    """Read one of the log files."""
    return "".join(f"worker {number} wrote block {n * 7919 + number}\n" for n in range(60))


def logs(count: int = LOGS) -> list[Step]:
    """A run that reads more than the window holds."""
    return [*(Call("read_log", {"number": n}) for n in range(count)), Say(DONE)]


def anthropic_server(*steps: Step, window_tokens: int = WINDOW) -> AnthropicServer:
    """A server that refuses what Anthropic's API refuses."""
    return AnthropicServer(ScriptedModel([*steps]), window_tokens=window_tokens)


def agent_of(
    host: str, server: AnthropicServer, *, is_streamed: bool = False, **ours: Any
) -> HostAgent:
    """An agent with this server's Claude, registered with these arguments."""
    kind, _ = HOSTS[host]
    return kind(
        Job(
            url=server.base_url,
            tools=(read_log,),
            prompt=PROMPT,
            model=MODEL,
            is_claude=True,
            is_streamed=is_streamed,
            ours={"window_tokens": WINDOW, **ours},
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run of an agent left."""

    agent: HostAgent
    requests: Sequence[ServedMessages]
    rejected: Sequence[ServedMessages]

    @property
    def cached(self) -> float:
        """The part of all input that was read from the cache."""
        usages = [request.usage for request in self.requests if request.usage]
        read = sum(usage.cache_read_input_tokens for usage in usages)
        return read / sum(usage.prompt_tokens for usage in usages)


async def run_of(host: str, *, count: int = LOGS, is_streamed: bool = False, **ours: Any) -> Run:
    """A run that reads all logs."""
    async with anthropic_server(*logs(count)) as server:
        agent = agent_of(host, server, is_streamed=is_streamed, **ours)
        assert (await agent.ask("Read all logs.")).startswith("Done")
        assert agent.context is not None
        await agent.context.aclose()
        await agent.aclose()
    return Run(agent=agent, requests=server.requests, rejected=server.rejected)


@pytest.fixture(scope="module", params=[*HOSTS])
def run(request: pytest.FixtureRequest) -> tuple[str, Run]:
    """Runs once for each host."""
    host: str = request.param
    return host, asyncio.run(run_of(host))


def test_claudes_users_have_their_conversation_cached(run: tuple[str, Run]) -> None:
    """At least 80 % of the input in a window that fills and is compacted; the API takes each request."""
    _, done = run
    assert [request.error for request in done.rejected] == []
    assert len(done.requests) == LOGS + 1
    assert done.cached > LEAST_CACHED
    assert {len(request.marks) for request in done.requests[1:]} <= {3, MOST_MARKS}
    largest = max(request.prompt_tokens for request in done.requests)
    assert 0.5 * WINDOW < largest <= WINDOW


async def test_without_marks_nothing_is_cached_and_the_words_are_the_same(
    run: tuple[str, Run],
) -> None:
    """But for the marks of AG2's own client, which stay."""
    host, marked = run
    plain = await run_of(host, cache_marks="off")
    own = OWN_MARKS.get(host, 0)
    assert {len(request.marks) for request in plain.requests} == {own}
    assert (plain.cached > 0) == (own > 0)
    assert marked.cached >= plain.cached
    assert [*map(words, marked.requests)] == [*map(words, plain.requests)]


def words(request: ServedMessages) -> object:
    """A request without its marks."""
    assert request.body is not None
    return without_marks(request.body)


@on_every_host
async def test_streamed_answers_are_cached_alike(host: str) -> None:
    """Where the host's agents stream."""
    done = await run_of(host, is_streamed=True)
    assert done.rejected == []
    assert done.cached > LEAST_CACHED
    if host != "classic":  # its older client does not stream
        assert all(request.streamed for request in done.requests)


def test_a_bill_is_of_the_whole_request(run: tuple[str, Run]) -> None:
    """Anthropic bills what is cached apart; it belongs to what a request has, or the count would be corrected to nothing."""
    _, done = run
    assert done.agent.context is not None
    told, usages = done.agent.context.manager.usage, [r.usage for r in done.requests if r.usage]
    assert told.requests == len(usages)
    assert told.prompt_tokens == sum(usage.prompt_tokens for usage in usages)
    assert told.cached_tokens == sum(usage.cache_read_input_tokens for usage in usages)
    prepared = done.agent.context.last_prepared
    assert prepared is not None
    bound, tokens = prepared.certificate.bound, done.requests[-1].prompt_tokens
    assert bound.source == "provider"
    assert tokens <= bound.tokens < 1.3 * tokens


@on_every_host
async def test_marks_last_an_hour_where_that_is_said(host: str) -> None:
    """All of them, but for those of AG2's own client and what stands behind them."""
    done = await run_of(host, count=4, cache_marks="1h")
    usages = [request.usage for request in done.requests if request.usage]
    lasting, written = (
        sum(usage.hour_tokens for usage in usages),
        sum(usage.cache_creation_input_tokens for usage in usages),
    )
    assert done.rejected == []
    assert lasting == written > 0 or host in OWN_MARKS


# AgentChat


def client_of(server: AnthropicServer) -> ChatCompletionClient:
    """AutoGen's client for Claude."""
    job = Job(url=server.base_url, model=MODEL, is_claude=True)
    return AgentchatAgent(job).client


async def test_what_autogen_counts_is_the_whole_request() -> None:
    """``TokenUsageTermination`` and the usage of messages count as before there were marks."""
    done = await run_of("agentchat")
    async with anthropic_server(*logs()) as server:
        agent = agent_of("agentchat", server)
        result = await agent.agent.run(task="Read all logs.")
        while not str(result.messages[-1].content).startswith("Done"):  # before 0.6.4
            more = await agent.agent.run()
            result.messages.extend(more.messages)
        await agent.aclose()
    usages = [each.models_usage.prompt_tokens for each in result.messages if each.models_usage]
    assert usages == [request.prompt_tokens for request in done.requests]


async def test_agents_that_share_a_client_are_kept_apart() -> None:
    """One that is not registered sends what it sent before."""
    async with anthropic_server(Say("One."), Say("Two."), Say("Three.")) as server:
        client = client_of(server)
        agents = [AssistantAgent(name, client, system_message=PROMPT) for name in ("a", "b")]
        register(agents[0], window_tokens=WINDOW)
        for agent in (*agents, agents[0]):
            await agent.run(task="Go.")
        await client.close()
    assert [bool(request.marks) for request in server.requests] == [True, False, True]


async def test_a_client_within_another_is_found() -> None:
    """As AutoGen's cache of answers, from which nothing is billed."""
    async with anthropic_server(Say("One.")) as server:
        client = client_of(server)
        caching, billed = ChatCompletionCache(client), list[int]()
        for _ in range(2):
            agent = AssistantAgent("a", caching, system_message=PROMPT)
            context = register(agent, model=MODEL, window_tokens=WINDOW)
            await agent.run(task="Go.")
            billed.append(context.manager.usage.requests)
        await client.close()
    assert billed == [1, 0]
    assert len(server.requests) == 1
    assert server.requests[0].marks


async def test_who_keeps_messages_itself_is_cached_as_well() -> None:
    """An orchestrator adds a question to each request that is not in the next one."""
    async with anthropic_server(*[Say("Yes.")] * 12) as server:
        client = client_of(server)
        managed = ManagedChatCompletionClient(client, MODEL, window_tokens=WINDOW)
        said = [UserMessage(content=PROMPT, source="user")]
        for number in range(12):
            said.append(UserMessage(content=read_log(number)[:1_000], source="worker"))
            asked = UserMessage(content=f"Is step {number} done? " * 20, source="user")
            answer = await managed.create([*said, asked])
            assert isinstance(answer, CreateResult)
        await client.close()
    usages = [request.usage for request in server.requests if request.usage]
    assert len(usages) == 12
    assert server.rejected == []
    read = [usage.cache_read_input_tokens / usage.prompt_tokens for usage in usages[2:]]
    assert sum(part < 0.6 for part in read) <= 1  # at the compaction


async def test_a_question_beside_the_conversation_is_not_written_to_the_cache() -> None:
    """The host's own model is asked for summaries without marks."""
    async with anthropic_server(*logs(30), Say("x")) as server:
        agent = agent_of("agentchat", server, model_client="host")
        await agent.ask("Read all logs.")
        await agent.aclose()
    beside = [request for request in server.requests if not request.tools]
    assert all(not request.marks for request in beside)


def test_a_client_that_is_not_understood_is_told() -> None:
    """With what it costs, and once."""

    class AnthropicLikeClient(ReplayChatCompletionClient):
        """A client for Claude of somebody else's."""

    agent = AssistantAgent("a", AnthropicLikeClient(["One.", "Two."]))
    register(agent, window_tokens=WINDOW, model=MODEL)

    async def twice() -> None:
        for _ in range(2):
            await agent.run(task="Go.")

    with pytest.warns(UserWarning, match="nothing is marked for the prompt cache") as caught:
        asyncio.run(twice())
    assert len(caught) == 1


# OpenAI's key


async def keys_of(host: str, name: str, **ours: Any) -> Sequence[object]:
    """The keys in an agent's requests."""
    kind, _ = HOSTS[host]
    async with strict_server(*logs(12), window_tokens=4_000) as server:
        job = Job(
            url=server.base_url,
            tools=(read_log,),
            name=name,
            prompt="You serve Ms Miller.",
            ours={"window_tokens": 4_000, **ours},
        )
        agent = kind(job)
        await agent.ask("Read all logs.")
        await agent.aclose()
    bodies: list[Mapping[str, Any]] = [request.body or {} for request in server.requests]
    return [body.get("prompt_cache_key") for body in bodies]


@on_every_host
async def test_a_conversation_has_one_key(host: str) -> None:
    """A digest: the same after compactions and a restart, another one for another agent; only OpenAI itself gets one unasked."""
    first = await keys_of(host, "reader", prompt_cache_key="on")
    again = await keys_of(host, "reader", prompt_cache_key="on")
    other = await keys_of(host, "writer", prompt_cache_key="on")
    assert len(first) == 13
    assert len({*first, *again}) == 1
    assert not {*first} & {*other}
    assert all(re.fullmatch("[0-9a-f]{32}", str(key)) for key in first)
    assert {*await keys_of(host, "reader")} == {None}
