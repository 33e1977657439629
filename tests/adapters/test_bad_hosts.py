"""What a user does wrong with an agent of a host: an error that names the input and the way out, or one warning."""

import copy
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

import pytest
from ag2 import Agent as Ag2Agent
from ag2.events import Input
from agent_framework import Agent, Message
from autogen import ConversableAgent
from autogen_agentchat.agents import AssistantAgent, UserProxyAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.models.replay import ReplayChatCompletionClient
from host_agents import HOSTS as KINDS
from host_agents import SEVERAL_CALLS, Job
from typing_extensions import override

from autogen_context import ManagedChatCompletionContext, register
from autogen_context.adapters.classic import BEFORE_REPLY
from autogen_context.testing import LoopbackServer, Say, ScriptedModel, ServedRequest
from autogen_context.testing.wire import JsonObject, Reply, json_reply
from support.hosts import HOSTS, built, on_every_host, working
from support.logs import NOWHERE

OK = Say("ok TERMINATE")


class Row(NamedTuple):
    """An agent that ``register`` is given, and the error that follows; a warning where ``warns``."""

    agent: Callable[[pytest.MonkeyPatch], object]
    said: str
    warns: bool = False


def of(agent: Callable[[], object], said: str, *, warns: bool = False) -> Row:
    """A row whose agent needs no patch."""

    def made(_: pytest.MonkeyPatch) -> object:
        return agent()

    return Row(made, said, warns)


def too_old(
    host: str, module: str, name: str, older: type | None = None
) -> Callable[[pytest.MonkeyPatch], object]:
    """An agent whose host lacks something that is imported of it, or has an older form of it."""

    def agent(monkeypatch: pytest.MonkeyPatch) -> object:
        made = built(host).agent
        monkeypatch.delattr(sys.modules[module], "__getattr__", raising=False)  # one that is lazy
        if older:
            monkeypatch.setattr(sys.modules[module], name, older)
        else:
            monkeypatch.delattr(sys.modules[module], name)
        for each in [each for each in sys.modules if each.startswith("autogen_context.adapters.a")]:
            monkeypatch.delitem(sys.modules, each)
        return made

    return agent


class OlderChatContext:
    """That of Agent Framework before 1.11."""

    def __init__(self, messages: object) -> None:
        """Without a session."""


def classic_agent(entry: Mapping[str, str] | None, *, has_hook: bool = True) -> object:
    """An agent with one model, or none."""
    config: Any = {"config_list": [{"api_key": "none", **entry}]} if entry is not None else False
    agent = ConversableAgent("a", llm_config=config)
    if not has_hook:
        del agent.hook_lists[BEFORE_REPLY]
    return agent


def framework_agent() -> object:
    """An agent whose client does not say which model it asks."""
    agent: Any = KINDS["agent-framework"][0](Job(url=NOWHERE, own=dict)).agent
    agent.client.model = None
    agent.default_options.pop("model", None)
    return agent


UNNAMED = "a window of 8192 tokens is assumed; give model="
ONCE = "register each once"
TABLE: Mapping[str, Mapping[str, Row]] = {
    "an agent without a model": {
        "agentchat": of(lambda: UserProxyAgent("a"), "_model_client and _model_context"),
        "classic": of(lambda: classic_agent(None), "no llm_config"),
        "ag2": of(lambda: Ag2Agent("a"), UNNAMED, warns=True),  # it may get its config with a call
        "agent-framework": of(lambda: Agent(None), "it has no client"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # bad input
    },
    "a model without a name": {
        "agentchat": of(lambda: AssistantAgent("a", ReplayChatCompletionClient([])), UNNAMED, warns=True),
        "classic": of(lambda: classic_agent({}), "model"),  # the host refuses it
        "ag2": of(lambda: Ag2Agent("a"), UNNAMED, warns=True),
        "agent-framework": of(framework_agent, UNNAMED, warns=True),
    },
    "registered twice": {host: of(lambda host=host: built(host).agent, ONCE) for host in HOSTS},  # type: ignore[misc]
    "a copy of one that is registered": {  # it has the first one's context
        host: of(lambda host=host: copy.copy(built(host).agent), ONCE) for host in HOSTS  # type: ignore[misc]
    },
    "a host that is too old": {
        "agentchat": Row(too_old("agentchat", "autogen_core.tools", "StaticWorkbench"), 'StaticWorkbench.*pip install "autogen-agentchat>=0.5.7"'),
        "classic": of(lambda: classic_agent({"model": "gpt-4o"}, has_hook=False), r"pyautogen has it from 0\.2\.15 on"),
        "ag2": Row(too_old("ag2", "ag2.compact", "CompactionSummary"), 'CompactionSummary.*pip install "ag2>=1.2"'),
        "agent-framework": Row(too_old("agent-framework", "agent_framework", "ChatContext", OlderChatContext), 'has no session.*pip install "agent-framework-core>=1.11'),
    },
    "no agent": {host: of(lambda: "coder", r"builtins\.str is no agent of a known host; known are") for host in HOSTS},
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
@on_every_host
def test_bad_input_is_told_of(host: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an error that names the agent, what is wrong and what to do; by one warning where it may be right."""
    row = TABLE[case][host]
    if row.warns:
        with pytest.warns(UserWarning, match=row.said) as told:
            register(row.agent(monkeypatch))
        assert len(told) == 1
    else:
        with pytest.raises(ValueError, match=row.said):
            register(row.agent(monkeypatch))


# A client that reports no usage


class Unbilled(LoopbackServer):
    """Leaves the usage out of its answers."""

    @override
    def _chat(self, record: ServedRequest, body: JsonObject) -> Reply:
        answer = json.loads(super()._chat(record, body).body)
        del answer["usage"]
        return json_reply(answer)


@on_every_host
async def test_without_usage_all_works_but_the_correction(host: str) -> None:
    """Nothing is recorded, and nothing is said. An agent without tools gets none, unless its run goes on after results."""
    async with Unbilled(ScriptedModel([OK] * 12), window_tokens=4_000) as server:
        agent = KINDS[host][0](Job(url=server.base_url, ours={"window_tokens": 4_000}))
        for number in range(12):
            assert await agent.ask(f"{number} " + "word " * 500) == "ok TERMINATE"
        await agent.aclose()
    assert server.rejected == []
    assert agent.context is not None
    assert agent.context.manager.usage.requests == 0
    assert "11 word" in str(server.requests[-1].messages[-1])
    assert any(each.tools for each in server.requests) is (host == "agentchat" and SEVERAL_CALLS)


# One context in two agents


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
