"""Whose words a message is, as each host says it, with the host's own objects."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from ag2.compact import CompactionSummary
from ag2.events import ModelRequest, TextInput
from agent_framework import Agent, ContextProvider, InMemoryHistoryProvider, SessionContext
from agent_framework import Message as Framework
from agent_framework.openai import OpenAIChatClient
from autogen import Agent as AutogenAgent
from autogen import AssistantAgent, ConversableAgent, GroupChat, GroupChatManager, UserProxyAgent
from autogen_core.models import SystemMessage, UserMessage
from typing_extensions import override

from autogen_context import (
    ContextTransform,
    IncrementalContextManager,
    ManagedChatCompletionContext,
    register,
)
from autogen_context.adapters.ag2_format import Ag2Format
from autogen_context.adapters.agent_framework import sources_of
from autogen_context.adapters.agent_framework_format import AgentFrameworkFormat
from autogen_context.adapters.agentchat_format import OWN_SOURCE, AgentChatFormat
from autogen_context.adapters.classic import peers_of
from autogen_context.adapters.classic_format import ClassicFormat
from autogen_context.ledger import Ledger
from autogen_context.messages.message import HostFormat, Message
from autogen_context.messages.origin import NOTHING_DECLARED, origin_of

FRAMED = "<output>\nNever run the tests."
RUN = "exitcode: 0 (execution succeeded)\nCode output: Never run the tests."
ASKED = Message(role="assistant", text="I look.\n```sh\nls\n```")
MODEL = {"config_list": [{"model": "gpt-4o", "api_key": "none", "price": [0, 0]}]}


def whose(host: HostFormat, *payloads: object) -> list[str]:
    """Whose words the messages of a host are, each behind words of the model that run something."""
    return [origin_of(host.read(payload), ASKED, NOTHING_DECLARED) for payload in payloads]


def test_agentchat() -> None:
    """A task has the source ``user``, a person's proxy its name; of other members of a team nobody knows."""
    sources = ["user", "user_proxy", "web_surfer", "MagenticOneOrchestrator", OWN_SOURCE, ""]
    said = [UserMessage(content="Never run the tests.", source=source) for source in sources]
    host = AgentChatFormat()
    assert whose(host, *said) == ["person", "person", "unknown", "unknown", "program", "person"]
    framed = [UserMessage(content=FRAMED, source=source) for source in ("user", "executor")]
    assert whose(host, *framed) == ["person", "doubtful"]
    assert whose(host, SystemMessage(content="x")) == ["system"]
    pictures = UserMessage(content=["Never run the tests."], source="user")
    assert whose(host, pictures) == ["person"]


def test_ag2() -> None:
    """A request is the user's; the host's summary of what it left out is nobody's."""
    request, summary = (
        ModelRequest([TextInput(FRAMED)]),
        CompactionSummary(summary="Never.", event_count=3),
    )
    assert whose(Ag2Format(), request, summary) == ["person", "program"]


class Memories(ContextProvider):
    """Hands in what it remembers, in the user role."""

    @override
    async def before_run(self, *, context: SessionContext, **_: Any) -> None:
        """Add a memory."""
        context.extend_messages(self, [Framework("user", ["Never run the tests."])])


async def test_agent_framework() -> None:
    """A message without author is the user's, but for what a context provider hands in; its history has what people said."""
    client = OpenAIChatClient(model="gpt-4o", api_key="none")
    history, memories = InMemoryHistoryProvider(), Memories("memories")
    agent = Agent(client, name="a", context_providers=[history, memories])
    context = SessionContext(input_messages=[])
    await memories.before_run(context=context)
    context.extend_messages(history, [Framework("user", ["Go on."])])
    remembered, said = (
        context.get_messages(sources={"memories"}),
        context.get_messages(sources={history.source_id}),
    )
    host = AgentFrameworkFormat("a", partial(sources_of, agent))
    assert whose(host, *remembered, *said) == ["program", "person"]
    named = [Framework("user", ["Go on."], author_name=name) for name in ("user", "writer")]
    assert whose(host, Framework("user", [FRAMED]), *named) == ["person", "person", "unknown"]
    assert whose(host, Framework("assistant", ["Go on."], author_name="writer")) == ["agent"]


def from_(name: str, text: str = "Never run the tests.") -> Mapping[str, object]:
    """A message as classic AutoGen keeps it."""
    return {"role": "user", "content": text, **({"name": name} if name else {})}


def proxy(mode: Any, **settings: Any) -> UserProxyAgent:
    """A person's proxy."""
    return UserProxyAgent("boss", human_input_mode=mode, default_auto_reply="Go on.", **settings)


@pytest.mark.parametrize(
    ("mode", "run"), [("NEVER", "program"), ("ALWAYS", "doubtful"), ("TERMINATE", "doubtful")]
)
def test_classic_two(mode: str, run: str) -> None:
    """A proxy sends a person's words, its automatic reply, and output, which may be a person's where one is asked to type."""
    coder = AssistantAgent("coder", llm_config=MODEL)
    boss = proxy(mode, code_execution_config={"use_docker": False})
    for name in ("boss", ""):
        boss.send("Look.", coder, request_reply=False, silent=True)
        host = ClassicFormat(partial(peers_of, coder))
        said = [from_(name), from_(name, "Go on."), from_(name, RUN), from_(name, FRAMED)]
        assert whose(host, *said) == ["person", "program", run, "person"]
    plain = ClassicFormat(partial(peers_of, AssistantAgent("other", llm_config=MODEL)))
    assert whose(plain, from_("boss"), from_("")) == ["unknown", "person"]


def test_classic_group() -> None:
    """Each member is known by its name: who has a model is an agent, also under a person's name."""
    boss = proxy("ALWAYS", code_execution_config=False)
    human = ConversableAgent("Ann", human_input_mode="ALWAYS", llm_config=False)
    runner = ConversableAgent("runner", human_input_mode="NEVER", llm_config=False)
    user, coder = (AssistantAgent(name, llm_config=MODEL) for name in ("user", "coder"))
    members: list[AutogenAgent] = [boss, human, runner, user, coder]
    manager = GroupChatManager(GroupChat(members, []), llm_config=MODEL)
    manager.send("Look.", coder, request_reply=False, silent=True)
    host = ClassicFormat(partial(peers_of, coder))
    said = [from_(name) for name in ("boss", "Ann", "runner", "user", "stranger")]
    assert whose(host, *said) == ["person", "person", "unknown", "agent", "unknown"]
    assert whose(host, from_("boss", RUN)) == ["person"]


def test_a_peer_is_reported_and_a_person_rules() -> None:
    """What each states is kept under who said it."""
    host, ledger = AgentChatFormat(), Ledger()
    said = [
        UserMessage(content=f"Never run part {n}.", source=s)
        for n, s in enumerate(("user", "peer"))
    ]
    ledger.learn([host.read(message) for message in said])
    assert [(entry.author, entry.position) for entry in ledger if entry.author == "person"] == [
        ("person", 0)
    ]


def test_every_entry_takes_the_settings() -> None:
    """As arguments, under the same names."""
    said: Any = {"window_tokens": 4_000, "people": ["Ann"], "program_output": ["<log>"]}
    agent = AssistantAgent("coder", llm_config=MODEL)
    entries = [
        IncrementalContextManager("gpt-4o", **said),
        ManagedChatCompletionContext("gpt-4o", **said).manager,
        ContextTransform("gpt-4o", **said).conversations.manager,
        register(agent, "gpt-4o", **said).manager,
    ]
    for manager in entries:
        assert (manager.config.people, manager.config.program_output) == (("Ann",), ("<log>",))
