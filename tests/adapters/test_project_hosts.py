"""What a context or a transform alone is given reaches its managers; agents that are registered are in test_hosts.py."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen import ConversableAgent
from autogen_core.models import (
    AssistantMessage,
    LLMMessage,
    UserMessage,
)

from autogen_context import ContextConfig, ProjectContext
from autogen_context.adapters.agentchat import ManagedChatCompletionContext
from autogen_context.adapters.classic import ContextTransform
from autogen_context.cache.originals import DiskOriginals
from autogen_context.cache.tier import Scope
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.errors import CompletionFailed
from autogen_context.project.file_changes import FileChangeTracker
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.tree import SHOP, grown
from support.waiting import until, wait_until

HEAD = "[The project shop, from its files."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project."""
    return grown(tmp_path / "shop", SHOP)


def content_of(message: LLMMessage) -> str:
    """What a message says."""
    return str(message.content)


def alone(**parts: Any) -> ManagedChatCompletionContext:
    """A context for an agent."""
    return ManagedChatCompletionContext(config=ContextConfig(window_tokens=8_000), **parts)


class Helper:
    """Stands for vectors and a client: it notes that it was asked."""

    def __init__(self) -> None:
        self.is_asked = False

    def ready(self, text: str) -> None:
        """No vector is at hand."""

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of each text."""
        self.is_asked = True
        return [[1.0] for _ in texts]

    async def complete(self, prompt: str, /) -> str:
        """No answer."""
        self.is_asked = True
        raise CompletionFailed("none")


async def test_a_context_of_agentchat_has_the_head(root: Path) -> None:
    """In front of the messages; another one that loads its state goes on to the byte."""
    context = alone(project=ProjectContext(root))
    await context.add_message(UserMessage(content="Go.", source="user"))
    first, *rest = await context.get_messages()
    assert content_of(first).startswith(HEAD)
    assert [content_of(message) for message in rest] == ["Go."]
    other = alone(project=ProjectContext(root))
    await other.load_state(json.loads(json.dumps(await context.save_state())))
    for each in (context, other):
        await each.add_message(AssistantMessage(content="Done.", source="coder"))
    assert await other.get_messages() == await context.get_messages()


async def test_whatever_a_manager_is_made_of_reaches_it(tmp_path: Path) -> None:
    """Vectors, a compressor with a client of its own, a client for advice, and where originals are shared."""
    vectors, own, client = Helper(), Helper(), Helper()
    tier = DiskOriginals(tmp_path, scope=Scope(), limit_bytes=10**7)
    context = alone(
        vectors=vectors,
        compressor=SemanticCompressor(own),
        model_client=client,
        original_store=tier,
    )
    for n in range(60):
        asks = UserMessage(content=f"{n} " + "and so on " * 100, source="user")
        await context.add_message(asks)
        await context.add_message(AssistantMessage(content=f"{n} is done.", source="coder"))
        await context.get_messages()
        await asyncio.sleep(0)
    await until(lambda: vectors.is_asked and own.is_asked and client.is_asked)
    assert context.last_prepared is not None
    handles = {each.handle for each in context.last_prepared.decisions if each.handle}
    assert all(tier.read(handle) for handle in handles)
    assert handles
    await context.manager.aclose()


async def test_a_component_names_its_folders(root: Path) -> None:
    """What is loaded has them again; a folder that is not there is an error that says so."""
    context = alone(files=FileChangeTracker(root), project=ProjectContext(root))
    dumped = context.dump_component()
    assert (dumped.config["files"], dumped.config["project"]) == (str(root), str(root))
    loaded = ManagedChatCompletionContext.load_component(json.loads(dumped.model_dump_json()))
    assert loaded.dump_component() == dumped
    await loaded.add_message(UserMessage(content="Go.", source="user"))
    assert content_of((await loaded.get_messages())[0]).startswith(HEAD)
    dumped.config["project"] = f"{root}-elsewhere"
    with pytest.raises(ValueError, match="a folder that is there"):
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

    wait_until(has_come, pause_s=0.05)
