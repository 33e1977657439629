"""Who speaks next is asked of a model as well: the requests of groups and teams fit, like those of their members."""

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
from autogen import GroupChat, GroupChatManager
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import MagenticOneGroupChat, RoundRobinGroupChat, SelectorGroupChat

from autogen_context import register
from autogen_context.testing import Request, Say, Step
from support.agentchat import serving
from support.classic import agent as agent_of
from support.logs import MODEL, strict_server

NAMES = ("writer", "reader")
ROUNDS, WINDOW = 30, 3_000
LONG = "The log says that block 7 was written, and more. " * 40


def answers() -> Any:
    """A model that speaks at length, and where it is asked for the next speaker names one."""
    speakers: Iterator[str] = cycle(NAMES)

    def step(request: Request) -> Step:
        asks = "role" in str(request.messages[0]) and "select" in str(request.messages).lower()
        return Say(next(speakers) if asks else LONG)

    return [step] * 200


# classic AutoGen


def test_the_speaker_of_a_pattern_is_selected_within_the_window() -> None:
    """An ``AutoPattern`` makes its group when a chat begins: ``register`` takes the pattern."""
    patterns = pytest.importorskip("autogen.agentchat.group.patterns", reason="from autogen 0.9 on")
    chats = pytest.importorskip("autogen.agentchat", reason="from autogen 0.9 on")
    with strict_server(*answers(), window_tokens=WINDOW) as server:
        members = [agent_of(name, server.base_url, model=MODEL) for name in NAMES]
        for member in members:
            register(member, window_tokens=WINDOW)
        pattern = patterns.AutoPattern(
            initial_agent=members[0],
            agents=members,
            group_manager_args={"llm_config": members[0].llm_config},
        )
        register(pattern, window_tokens=WINDOW)
        with pytest.raises(ValueError, match="registered already"):
            register(pattern, window_tokens=WINDOW)
        chats.initiate_group_chat(pattern, "Write about the logs.", max_rounds=ROUNDS)
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) > ROUNDS


def test_a_group_that_asks_no_model_is_refused_with_the_way() -> None:
    """Its members are what can be registered."""
    group = GroupChat(agents=[agent_of("a", None), agent_of("b", None)], messages=[])
    with pytest.raises(ValueError, match="register the members of the group"):
        register(GroupChatManager(group, llm_config=False))
    group.speaker_selection_method = "round_robin"
    with pytest.raises(ValueError, match="register the members of the group"):
        register(GroupChatManager(group, llm_config=agent_of("c").llm_config))


# AgentChat


def members_of(client: Any) -> list[Any]:
    """Two agents, both registered."""
    members = [AssistantAgent(name, client, description=f"A {name}.") for name in NAMES]
    for member in members:
        register(member, window_tokens=WINDOW)
    return members


async def test_the_speaker_of_a_selector_group_chat_is_selected_within_the_window() -> None:
    """``register`` takes the team, whose selector has an unbounded context of its own."""
    async with serving(*answers(), window_tokens=WINDOW) as (server, client):
        team = SelectorGroupChat(
            members_of(client), client, termination_condition=MaxMessageTermination(ROUNDS)
        )
        context = register(team, window_tokens=WINDOW)
        with pytest.raises(ValueError, match="registered already"):
            register(team, window_tokens=WINDOW)
        result = await team.run(task="Write about the logs.")
        await team.reset()
        assert context.last_prepared is None
    assert [request.error for request in server.rejected] == []
    assert len(result.messages) == ROUNDS
    with pytest.raises(ValueError, match="before its first run"):
        register(team_that_ran(team))


def team_that_ran(team: SelectorGroupChat) -> SelectorGroupChat:
    """A team with another context, which its manager would not take any more."""
    vars(team)["_model_context"] = None
    return team


async def test_the_orchestrator_of_a_magentic_team_fits() -> None:
    """Its client is the one place; its prompts say who is next."""
    ledger = (
        '{"is_request_satisfied": {"reason": "", "answer": false}, "is_in_loop": {"reason": "", "answer": false}, '
        '"is_progress_being_made": {"reason": "", "answer": true}, "next_speaker": {"reason": "", "answer": "writer"}, '
        '"instruction_or_question": {"reason": "", "answer": "Go on."}}'
    )

    def step(request: Request) -> Step:
        return Say(ledger if "is_request_satisfied" in str(request.messages[-1]) else LONG)

    async with serving(*[step] * 200, window_tokens=WINDOW) as (server, client):
        team = MagenticOneGroupChat(members_of(client), client, max_turns=ROUNDS)
        context = register(team, window_tokens=WINDOW)
        assert context.manager.config.agent == getattr(team, "name", "")  # 0.5 has none
        await team.run(task="Write about the logs.")
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) > ROUNDS


async def test_a_team_that_asks_no_model_is_refused_with_the_way() -> None:
    """Its members are what can be registered."""
    async with serving() as (_, client):
        with pytest.raises(
            ValueError, match=r"RoundRobinGroupChat asks no model .* register its members"
        ):
            register(RoundRobinGroupChat(members_of(client)))
