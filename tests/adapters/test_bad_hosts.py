"""What a user does wrong with an agent of a host: an error that names the input and the way out, or one warning."""

import copy
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from ag2 import Agent as Ag2Agent
from ag2.events import Input
from agent_framework import Agent, Message
from autogen import ConversableAgent
from autogen_agentchat.agents import AssistantAgent, UserProxyAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.models.replay import ReplayChatCompletionClient
from host_agents import HOSTS as KINDS
from host_agents import Job
from typing_extensions import override

from autogen_context import ManagedChatCompletionContext, register
from autogen_context.testing import LoopbackServer, Say, ScriptedModel, ServedRequest
from autogen_context.testing.wire import JsonObject, Reply, json_reply
from support.hosts import on_every_host, working

NOWHERE = "http://127.0.0.1:9/v1"
OK = Say("ok TERMINATE")


def built(host: str) -> Any:
    """An agent that is never asked."""
    return KINDS[host][0](Job(url=NOWHERE, ours={"window_tokens": 4_000})).agent


# An agent without a model


def replaying() -> AssistantAgent:
    """Its client has no declarative form, and so does not say which model it asks."""
    return AssistantAgent("a", ReplayChatCompletionClient([]))


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        pytest.param(
            lambda: UserProxyAgent("a"), "_model_client and _model_context", id="agentchat"
        ),
        pytest.param(
            lambda: ConversableAgent("a", llm_config=False), "no llm_config", id="classic"
        ),
        pytest.param(lambda: Agent(None), "it has no client", id="agent-framework"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # bad input
        pytest.param(
            object, r"builtins\.object is no agent of a known host; known are", id="of no host"
        ),
        pytest.param(lambda: "coder", r"builtins\.str is no agent", id="a name"),
    ],
)
def test_an_agent_that_asks_no_model_is_refused(agent: Callable[[], object], message: str) -> None:
    """By what it lacks; what is of no host by what is known."""
    with pytest.raises(ValueError, match=f"agent: .*{message}"):
        register(agent())


@pytest.mark.parametrize("agent", [replaying, lambda: Ag2Agent("a")], ids=["agentchat", "ag2"])
def test_a_model_that_is_not_named_is_told_of(agent: Callable[[], object]) -> None:
    """Once, where no window is given either; an agent of AG2 may get its config with a call."""
    with pytest.warns(
        UserWarning, match=r"a window of 8192 tokens is assumed; give\s+model="
    ) as told:
        register(agent())
    assert len(told) == 1
    register(agent(), window_tokens=4_000)


# A client that reports no usage


class Unbilled(LoopbackServer):
    """Leaves the usage out of its answers."""

    @override
    def _chat(self, record: ServedRequest, body: JsonObject) -> Reply:
        answer = json.loads(super()._chat(record, body).parts[0])
        del answer["usage"]
        return json_reply(answer)


@on_every_host
async def test_without_usage_all_works_but_the_correction(host: str) -> None:
    """Nothing is recorded, and nothing is said: the count is that of the model's tokenizer."""
    async with Unbilled(ScriptedModel([OK] * 12), window_tokens=4_000) as server:
        agent = KINDS[host][0](Job(url=server.base_url, ours={"window_tokens": 4_000}))
        for number in range(12):
            assert await agent.ask(f"{number} " + "word " * 500) == "ok TERMINATE"
        await agent.aclose()
    assert server.rejected == []
    assert agent.context is not None
    assert agent.context.manager.usage.requests == 0
    assert "11 word" in str(server.requests[-1].messages[-1])


# Two registers on one agent, one context in two agents


@on_every_host
def test_an_agent_is_registered_once(host: str) -> None:
    """The second would prepare what was prepared; so it would with a copy, which has the first one's context."""
    agent = built(host)
    for each in (agent, copy.copy(agent)):
        with pytest.raises(ValueError, match=r"agent: .* register each"):
            register(each, window_tokens=4_000)


def test_a_context_is_that_of_one_registered_agent() -> None:
    """Each would be sent what the other was told; the second agent stays as it was."""
    context = ManagedChatCompletionContext("gpt-4o", window_tokens=4_000)
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key="none", base_url=NOWHERE)
    one, other = (AssistantAgent(name, client, model_context=context) for name in ("a", "b"))
    register(one)
    before = dict(vars(other))
    with pytest.raises(
        ValueError, match="give each agent a ManagedChatCompletionContext of its own"
    ):
        register(other)
    assert vars(other) == before


# A host that is too old


@pytest.mark.parametrize(
    ("host", "lacks", "needed"),
    [
        pytest.param("agentchat", ("autogen_core.tools", "StaticWorkbench"), "autogen-agentchat>=0.5.7", id="agentchat"),
        pytest.param("ag2", ("ag2.compact", "CompactionSummary"), "ag2>=1.2", id="ag2"),
        pytest.param("agent-framework", ("agent_framework", "ChatContext"), "agent-framework-core>=", id="agent-framework"),
    ],
)  # fmt: skip
def test_a_host_that_is_too_old_is_named_with_what_is_needed(
    host: str, lacks: tuple[str, str], needed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a release lacks what is imported of it, as autogen-agentchat 0.4 does."""
    agent = built(host)
    module, name = lacks
    monkeypatch.delattr(sys.modules[module], "__getattr__", raising=False)  # one that is lazy
    monkeypatch.delattr(sys.modules[module], name)
    for each in [each for each in sys.modules if each.startswith("autogen_context.adapters.a")]:
        monkeypatch.delitem(sys.modules, each)
    with pytest.raises(ValueError, match=f'{name}.*pip install "{needed}'):
        register(agent, window_tokens=4_000)


def test_a_classic_host_without_the_hook_is_named_with_what_is_needed() -> None:
    """As pyautogen before 0.2.15."""
    agent = ConversableAgent(
        "a", llm_config={"config_list": [{"model": "gpt-4o", "api_key": "none"}]}
    )
    del agent.hook_lists["process_all_messages_before_reply"]
    with pytest.raises(ValueError, match=r"pyautogen has it from 0\.2\.15 on"):
        register(agent, window_tokens=4_000)


# A message that nobody knows


async def tell_agentchat(agent: Any) -> None:
    """A text where a message is wanted."""
    await agent.agent.model_context.add_message("Hi.")


async def tell_classic(agent: Any) -> None:
    """A content of the wrong type."""
    history = agent.agent.chat_messages[agent.user]
    history.append({"role": "user", "content": 5})
    try:
        await agent.ask("Hi.")
    finally:
        history.pop(-2)


class Hologram(Input):
    """Nobody can send this."""


async def tell_ag2(agent: Any) -> None:
    """An input that its client does not know."""
    await agent.agent.ask(Hologram())


async def tell_agent_framework(agent: Any) -> None:
    """A role that no provider has."""
    await agent.agent.run(Message("critic", ["Hi."]))


UNKNOWN: Mapping[str, tuple[Callable[[Any], Awaitable[None]], str]] = {
    "agentchat": (tell_agentchat, "a message must be one of SystemMessage, UserMessage.*got str"),
    "classic": (tell_classic, "content=5: give a string, a list of parts or null"),
    "ag2": (tell_ag2, "Hologram"),
    "agent-framework": (tell_agent_framework, "critic"),
}


@on_every_host
async def test_a_message_that_nobody_knows_is_named(host: str) -> None:
    """By us or, where the host takes it, by host or provider; before and after it the agent works."""
    tell, message = UNKNOWN[host]
    async with working(host, *[OK] * 3) as (server, agent):
        await agent.ask("First.")
        with pytest.raises(Exception, match=message):
            await tell(agent)
        await agent.ask("Go on.")
    said = str(server.requests[-1].messages)
    assert "First." in said
    assert "Go on." in said
