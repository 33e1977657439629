"""A project, followed files and shared originals reach the managers of hosts."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from autogen import ConversableAgent
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient

from autogen_context import ContextConfig, FollowedFiles, ProjectContext
from autogen_context.adapters.agentchat import ManagedChatCompletionContext, managed
from autogen_context.adapters.classic import ContextTransform
from autogen_context.pipeline.measure import Count
from autogen_context.store.scope import Scope
from autogen_context.store.stash.file import StashFile
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.hearing import wait_until
from support.tree import SHOP, grown

HEAD = "[The project shop, from its files."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project."""
    return grown(tmp_path / "shop", SHOP)


def content_of(message: LLMMessage) -> str:
    """What a message says."""
    return str(message.content)


def alone(root: Path) -> ManagedChatCompletionContext:
    """A context for an agent."""
    config = ContextConfig(window_tokens=8_000)
    files, project = FollowedFiles(root), ProjectContext(root)
    return ManagedChatCompletionContext(config=config, files=files, project=project)


def in_a_pair(root: Path) -> ManagedChatCompletionContext:
    """A context with a client that measures."""
    info = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "family": "unknown",
        "structured_output": False,
        "multiple_system_messages": True,
    }
    client = ReplayChatCompletionClient([], model_info=info)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # a typed dict
    _, context = managed(
        client,
        window_tokens=8_000,
        files=FollowedFiles(root),
        project=ProjectContext(root),
    )
    return context


@pytest.mark.parametrize("made", [alone, in_a_pair])
async def test_a_context_of_agentchat_has_the_head(
    root: Path, made: Callable[[Path], ManagedChatCompletionContext]
) -> None:
    """In front of the messages; another one that loads its state goes on to the byte."""
    context = made(root)
    await context.add_message(UserMessage(content="Go.", source="user"))
    first, *rest = await context.get_messages()
    assert content_of(first).startswith(HEAD)
    assert [content_of(message) for message in rest] == ["Go."]
    other = made(root)
    await other.load_state(json.loads(json.dumps(await context.save_state())))
    for each in (context, other):
        await each.add_message(AssistantMessage(content="Done.", source="coder"))
    assert await other.get_messages() == await context.get_messages()


async def test_a_component_names_its_folders(root: Path) -> None:
    """What is loaded has them again; a folder that is not there is an error that says so."""
    context = alone(root)
    dumped = context.dump_component()
    assert (dumped.config["files"], dumped.config["project"]) == (str(root), str(root))
    loaded = ManagedChatCompletionContext.load_component(json.loads(dumped.model_dump_json()))
    assert loaded.dump_component() == dumped
    await loaded.add_message(UserMessage(content="Go.", source="user"))
    assert content_of((await loaded.get_messages())[0]).startswith(HEAD)
    dumped.config["project"] = f"{root}-elsewhere"
    with pytest.raises(ValueError, match="give a folder"):
        ManagedChatCompletionContext.load_component(dumped)


def test_a_classic_agent_has_the_head_once_it_is_read(root: Path) -> None:
    """A hook cannot wait; the turns meanwhile go without it."""
    agent = ConversableAgent("coder", llm_config=False)
    transform = ContextTransform(
        window_tokens=8_000, counter=Characters(), project=ProjectContext(root)
    )
    transform.add_to_agent(agent)
    history: list[ChatMessage] = []

    def has_come() -> bool:
        role = "assistant" if len(history) % 2 else "user"
        history.append({"role": role, "content": str(len(history))})
        sent = agent.process_all_messages_before_reply(history)
        theirs = [message for message in sent if message in history]
        assert theirs == history
        return len(sent) > len(history)

    wait_until(has_come, "a head", pause_s=0.05)


def test_a_classic_agent_is_told_of_changed_files(root: Path) -> None:
    """Those that its conversation shows."""
    transform = ContextTransform(
        window_tokens=8_000, counter=Characters(), files=FollowedFiles(root)
    )
    function = {"name": "read_file", "arguments": '{"path": "README.md"}'}
    call = {"id": "1", "type": "function", "function": function}
    history: list[ChatMessage] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": (root / "README.md").read_text()},
    ]
    transform.apply_transform(history)
    (root / "README.md").write_text("# Other\n")
    history.append({"role": "user", "content": "Go on."})

    def is_told() -> bool:
        history.append({"role": "user", "content": "Go on."})
        sent = transform.apply_transform(history)
        return any("README.md changed on disk" in str(m["content"]) for m in sent)

    wait_until(is_told, "told", pause_s=0.05)


class Words:
    """A word a token."""

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        return Count(tokens=len(text.split()), source="tokenizer")


def test_a_classic_agent_shares_its_originals(tmp_path: Path) -> None:
    """What left its window is where others can have it."""
    tier = StashFile(tmp_path, scope=Scope(), limit_bytes=10**6)
    transform = ContextTransform(window_tokens=200, counter=Words(), originals=tier)
    history = [{"role": "user", "content": f"{n} " + "and so on " * 20} for n in range(20)]
    transform.apply_transform(history)
    manager = transform.conversations.manager
    assert manager is not None
    decisions = manager.prepare_nowait(history).decisions
    handles = {decision.handle for decision in decisions if decision.handle}
    assert tier.held(handles, now=0.0) == handles != set()
