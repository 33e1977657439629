"""Real classic agents, with their real client, against a server that refuses what OpenAI refuses."""

import re
from collections.abc import Callable, Iterator
from itertools import chain, cycle
from pathlib import Path
from typing import Any

import pytest
from autogen import ConversableAgent, GroupChat, GroupChatManager
from autogen.agentchat.contrib.capabilities.transform_messages import TransformMessages
from host_agents import ends_the_chat

from autogen_context import register
from autogen_context.adapters.classic import ContextTransform
from autogen_context.adapters.register import AgentContext
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.testing import Call, LoopbackServer, Request, Say, ScriptedModel, Step
from support.classic import agent
from support.counting import Approximate

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "classic.md").read_text(encoding="utf-8")
WINDOW = 3_000
STEPS = 40
FEW = 15
ROUNDS = 30
DONE = "All files are read. TERMINATE"
FIRST = "Read all files and tell me when you are done."


def transform(*, reserve_tokens: int | None = None) -> ContextTransform:
    """What is under test, with the window of the server."""
    return ContextTransform(
        "gpt-4o", window_tokens=WINDOW, reserve_tokens=reserve_tokens, counter=Approximate()
    )


def read(path: str) -> str:
    """Read a file; every tenth one is larger than the window."""
    lines = 1_500 if path.endswith("0.py") else 40
    return f"{path}:\n" + "    return self.total_cents + line.price_cents\n" * lines


async def a_read(path: str) -> str:
    """Read a file, as a coroutine."""
    return read(path)


def reading(steps: int) -> Iterator[Step]:
    """Two files at a time, and the word that ends the chat behind a long report."""
    for number in range(steps):
        calls = [Call("read", {"path": f"{side}{number}.py"}) for side in "ab"]
        yield [Say(f"Step {number}."), *calls]
    yield Say(DONE)


def pair_of_agents(
    server: LoopbackServer, *, tool: Callable[[str], object] = read
) -> tuple[ConversableAgent, ConversableAgent]:
    """The one that asks for files, and the one that reads them."""
    coder = agent("coder", server.base_url, system="You read files. " * 30)
    user = agent("user", None)
    coder.register_for_llm(name="read", description="Read a file. " * 20)(tool)
    user.register_for_execution(name="read")(tool)
    return coder, user


def assert_nothing_was_refused(server: LoopbackServer, *, requests: int) -> None:
    """The law of this file; the server checked pairs and sizes."""
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) == requests


def assert_was_compacted(context: AgentContext[Any]) -> None:
    """Otherwise the test would show nothing."""
    prepared = context.last_prepared
    assert prepared is not None
    assert "drop" in {decision.action for decision in prepared.decisions}


async def test_many_steps_async() -> None:
    """No request is refused through the host's coroutines, which call the hook without awaiting it, and every bill is taken."""
    async with LoopbackServer(ScriptedModel(reading(FEW)), window_tokens=WINDOW) as server:
        coder, user = pair_of_agents(server, tool=a_read)
        conversations = transform().add_to_agent(coder)
        result = await user.a_initiate_chat(coder, message=FIRST, silent=True)
    assert_nothing_was_refused(server, requests=FEW + 1)
    assert_was_compacted(conversations)
    assert result.chat_history[-1]["content"] == DONE
    assert conversations.manager.usage.requests == FEW + 1


def test_within_transform_messages() -> None:
    """The host's own capability, with what it hides reserved for by hand; without it the same chat is refused."""
    with LoopbackServer(ScriptedModel(reading(FEW)), window_tokens=WINDOW) as server:
        coder, user = pair_of_agents(server)
        ours = transform(reserve_tokens=500)
        TransformMessages(transforms=[ours], verbose=False).add_to_agent(coder)
        user.initiate_chat(coder, message=FIRST, silent=True)
    assert_nothing_was_refused(server, requests=FEW + 1)
    assert_was_compacted(ours.conversations)
    with LoopbackServer(ScriptedModel(reading(FEW)), window_tokens=WINDOW) as server:
        coder, user = pair_of_agents(server)
        with pytest.raises(Exception, match="maximum context length is 3000 tokens"):
            user.initiate_chat(coder, message=FIRST, silent=True)


def test_calls_beside_the_conversation_are_no_bills() -> None:
    """A summary by the model is asked with other messages: its bill is not taken for that of the last turn."""
    steps = chain(reading(2), [Say("A summary.")])
    with LoopbackServer(ScriptedModel(steps), window_tokens=WINDOW * 100) as server:
        coder, user = pair_of_agents(server)
        conversations = transform().add_to_agent(coder)
        user.initiate_chat(coder, message=FIRST, silent=True, summary_method="reflection_with_llm")
    assert_nothing_was_refused(server, requests=4)
    billed = sum(request.prompt_tokens for request in server.requests[:3])
    assert 0 < conversations.manager.usage.prompt_tokens <= billed


def test_nested_chats_and_the_hosts_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat within a reply has a manager of its own; run again, the host's cache answers, and no bill is recorded."""
    monkeypatch.chdir(tmp_path)
    contexts: list[AgentContext[Any]] = []
    with LoopbackServer(ScriptedModel(cycle([Say("word " * 300)])), window_tokens=WINDOW) as server:
        for _ in range(2):
            author, critic = (
                agent(name, server.base_url, cache_seed=7) for name in ("author", "critic")
            )
            user = agent("user", None)
            contexts = [register(each, window_tokens=WINDOW) for each in (author, critic)]
            nested = {"recipient": critic, "message": "Judge it.", "max_turns": 1}
            chats = [{**nested, "summary_method": "last_msg"}]
            user.register_nested_chats(chats, trigger=author)  # pyright: ignore[reportUnknownMemberType]  # the host's
            user.initiate_chat(author, message=FIRST, max_turns=FEW, silent=True)
    assert [request.error for request in server.rejected] == []
    assert len(server.requests) == FEW + 1  # the critic is asked the same each time
    assert [context.manager.usage.requests for context in contexts] == [0, 0]
    assert all(context.last_prepared for context in contexts)


# The recall tool, which is run by whoever runs the agent's tools

GO = {"role": "user", "content": "Go."}
RUNNING = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}  # fmt: skip


def test_the_turns_of_a_shared_executor_are_told_apart() -> None:
    """Each answer is for the agent whose model was asked last, also where that runs a tool in between."""
    with LoopbackServer(ScriptedModel([Say("ok")] * 2)) as server:
        one, user = pair_of_agents(server)
        two, _ = pair_of_agents(server)
        for coder in (one, two):
            register(coder, window_tokens=WINDOW, counter=Approximate())
            user.initiate_chat(coder, message="Go.", silent=True, max_turns=1)
        recall = user.function_map[RECALL_TOOL_NAME]
        assert recall(query="secret").startswith("Nothing that is kept")
        assert recall(more=1).startswith("There is no argument 'more'. Call recall_context with")
        for name, speaker, other in (("left", one, two), ("right", two, one)):
            said = [{"role": "user", "content": f"{name} secret " * 20_000}, GO]
            speaker.process_all_messages_before_reply(said)
            other.process_all_messages_before_reply([GO, RUNNING])
            assert f"\t{name} secret" in recall(query="secret")


def test_a_function_of_that_name_is_not_replaced() -> None:
    """It is somebody else's; the warning says what follows."""
    with LoopbackServer(ScriptedModel([Say("ok")])) as server:
        coder, user = pair_of_agents(server)
        register(coder, window_tokens=WINDOW)
        user.register_function({RECALL_TOOL_NAME: read})
        with pytest.warns(UserWarning, match="has a function 'recall_context' of its own"):
            user.initiate_chat(coder, message="Go.", silent=True, max_turns=1)
    assert user.function_map[RECALL_TOOL_NAME] is read


# Groups


def talk(request: Request) -> Step:
    """Members of a group: the planner talks, the coder calls, and who comes next is asked between them."""
    system = str(request.messages[0]["content"])
    if "select the next role" in str(request.messages[-1]["content"]):
        return Say(next(NEXT))
    if "planner" in system:
        done = request.number > ROUNDS
        return Say(DONE if done else "Now read the next file, please. " * 20)
    return [Say("Reading."), Call("read", {"path": f"{request.number}.py"})]


NEXT = cycle(["coder", "planner"])


def test_a_group_chat() -> None:
    """Members, tools, and a model that selects the speaker: each has its own context, and holds its cut; none is refused."""
    with LoopbackServer(ScriptedModel(talk), window_tokens=WINDOW) as server:
        planner = agent("planner", server.base_url, system="You are the planner.")
        coder, runner = pair_of_agents(server)
        group = GroupChat([planner, coder, runner], [], max_round=ROUNDS, func_call_filter=True)
        host = GroupChatManager(
            group, llm_config=planner.llm_config, is_termination_msg=ends_the_chat
        )
        contexts = [
            register(each, window_tokens=WINDOW, counter=Approximate())
            for each in (planner, coder, host)
        ]
        result = runner.initiate_chat(host, message=FIRST, silent=True)
    assert [request.error for request in server.rejected] == []
    assert result.chat_history[-1]["content"] == DONE
    for context in contexts:
        assert_was_compacted(context)
    selections = [r for r in server.requests if "select the next role" in str(r.messages[-1])]
    assert len(selections) > ROUNDS / 2
    assert len(contexts[-1].manager.versions) < len(selections) / 2  # compactions


def test_the_guide_works() -> None:
    """Every block of the guide runs, one after the other."""
    with LoopbackServer(ScriptedModel([Say("On Monday we rest.")])) as server:
        names: dict[str, object] = {
            name: agent(name, server.base_url) for name in ("reviewer", "planner", "helper")
        }
        names |= {
            "user": agent("user", None),
            "llm_config": agent("any", server.base_url).llm_config,
        }
        for block in re.findall(r"(?s)```python\n(.*?)```", GUIDE):
            exec(block, names)  # noqa: S102  the guide under test
    assert [request.status for request in server.requests] == [200]
