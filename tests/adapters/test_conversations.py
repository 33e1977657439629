"""What a conversation is on each host, and that nothing of one is found by another; docs/hosts.md has the table."""

from itertools import repeat
from typing import Any

from autogen import ConversableAgent
from autogen_agentchat.agents import AssistantAgent

from autogen_context import ContextTransform, register
from autogen_context.adapters.agentchat import ManagedChatCompletionClient
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.testing import LoopbackServer, Say
from support.accounts import ASKS, a_task, iban_of, read_account, recalled
from support.agentchat import serving
from support.classic import agent as agent_of
from support.classic import session
from support.hosts import agent_of as host_agent_of
from support.hosts import on_every_host
from support.logs import MODEL, WINDOW, read_log, strict_server

DONE = Say("Done. TERMINATE")
TASK = "Check the accounts."
IBAN = iban_of("smith")
TOOLS = (read_account, read_log)


async def begin_anew(host: str, agent: Any) -> None:
    """Begin another conversation with the same agent, as the host's own documentation has it."""
    if host == "classic":
        agent.agent.clear_history()
        agent.user.clear_history()
    elif host == "agentchat":
        await agent.agent.on_reset(None)
    elif host == "ag2":
        agent.stream = type(agent.stream)()
    else:
        agent.session = agent.agent.create_session()


@on_every_host
async def test_a_conversation_begun_anew_finds_nothing_of_the_earlier_one(host: str) -> None:
    """Although it begins with the same words, by the same agent, with its tool."""
    async with strict_server(*a_task(), ASKS, DONE) as server:
        agent = host_agent_of(host, server, *TOOLS)
        await agent.ask(TASK)
        assert IBAN in str([request.messages for request in server.requests])
        first = len(server.requests)
        await begin_anew(host, agent)
        await agent.ask(TASK)
        assert agent.context is not None
        await agent.context.aclose()
        await agent.aclose()
    assert [request.error for request in server.rejected] == []
    assert len(recalled(server)) == 1
    assert IBAN not in str([request.messages for request in server.requests[first:]])


# classic AutoGen


def reader_of(server: LoopbackServer) -> ConversableAgent:
    """An agent that has tools."""
    reader = agent_of("reader", server.base_url, model=MODEL)
    for tool in TOOLS:
        reader.register_for_llm(description=tool.__doc__)(tool)
    register(reader, window_tokens=WINDOW)
    return reader


def user_of() -> ConversableAgent:
    """An agent that runs them."""
    user = agent_of("user", None)
    for tool in TOOLS:
        user.register_for_execution(name=tool.__name__)(tool)
    return user


def test_a_chat_with_cleared_history_is_another_conversation() -> None:
    """``initiate_chat`` clears by default; without clearing it goes on."""
    with strict_server(*a_task(), ASKS, DONE, ASKS, DONE) as server:
        reader, user = reader_of(server), user_of()
        for _ in range(2):
            user.initiate_chat(reader, message=TASK, silent=True)
        assert IBAN not in recalled(server)[-1]
        user.initiate_chat(reader, message="And now?", clear_history=False, silent=True)
    assert len(recalled(server)) == 4  # the last two requests have that of the second chat again
    assert not any(IBAN in answer for answer in recalled(server))
    assert [request.error for request in server.rejected] == []


def test_each_peer_is_answered_from_its_own_chat() -> None:
    """One agent serves two: who runs the tool finds what this chat lost, whoever was served last."""
    with strict_server(*a_task(), DONE, *a_task()[1:]) as server:
        reader, smith, jones = reader_of(server), user_of(), user_of()
        for user in (smith, jones, smith, jones):
            user.initiate_chat(reader, message=TASK, clear_history=False, silent=True, max_turns=9)
    answers = [user.function_map[RECALL_TOOL_NAME](query="iban") for user in (smith, jones)]
    assert [IBAN in answer for answer in answers] == [True, False]


def test_a_capability_that_adds_to_the_newest_message_leaves_the_conversation_one() -> None:
    """What it added is not in the history, and the cut is held all the same."""
    transform = ContextTransform("gpt-4o", window_tokens=2_000)
    history = [*session(40), {"role": "user", "content": "Go on."}]
    with_memo = {"role": "user", "content": "Go on.\n# Memories\nA."}
    transform.apply_transform([*history[:-1], with_memo])
    manager = transform.conversations.manager
    transform.apply_transform([*history, *session(1)[1:]])
    assert transform.conversations.manager is manager
    prepared = transform.conversations.last_prepared
    assert prepared is not None
    assert not prepared.compacted


def test_a_transform_of_two_agents_keeps_their_chats_apart() -> None:
    """One object, the same words, two agents: each has managers of its own."""
    transform = ContextTransform("gpt-4o", window_tokens=2_000)
    agents = [agent_of("a"), agent_of("b")]
    both = [transform.add_to_agent(agent) for agent in agents]
    for agent in agents:
        agent.process_all_messages_before_reply(session(3))
    assert both[0].manager is not both[1].manager


# AgentChat


async def test_agents_that_share_a_managed_client_are_sent_nothing_of_each_other() -> None:
    """Their requests alternate in one client, which keeps each agent's conversation by itself."""
    replies = repeat(Say("Noted."))
    async with serving(*[next(replies)] * 60) as (server, client):
        shared = ManagedChatCompletionClient(client, window_tokens=WINDOW)
        agents = {
            name: AssistantAgent(name, shared, system_message=f"You are {name}.")
            for name in ("smith", "jones")
        }
        for number in range(12):
            for name, agent in agents.items():
                await agent.run(
                    task=f"The code {number} of {name} is {name}-{number}. " + "word " * 300
                )
    assert [request.error for request in server.rejected] == []
    for request in server.requests:
        assert ("smith" in str(request.messages)) != ("jones" in str(request.messages))
