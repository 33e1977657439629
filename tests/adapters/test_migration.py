"""docs/migration.md: what it tells people to write works, and the faults that it names are there."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
from autogen import ConversableAgent
from autogen.agentchat.contrib.capabilities.transform_messages import TransformMessages
from autogen.agentchat.contrib.capabilities.transforms import (
    MessageHistoryLimiter,
    TextMessageContentName,
)
from autogen_core.models import AssistantMessage, UserMessage

from autogen_context.adapters.agentchat import ManagedChatCompletionContext
from autogen_context.adapters.classic import ContextTransform
from autogen_context.manager.prepared import Prepared
from autogen_context.testing import ChatMessage

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text(encoding="utf-8")
SECTIONS = [section.partition("\n") for section in re.split(r"(?m)^##+ ", PAGE)]
AFTER = {
    title: block.group(1)
    for title, _, text in SECTIONS
    if (block := re.search(r"(?s)```python\n# after\n(.*?)```", text))
}
CONTEXTS = [title for title in AFTER if title.endswith("Context")]
TRANSFORMS = [title for title in AFTER if not title.endswith("Context")]
TURNS = 60
TEXT = "The invoice was charged twice because the retry has no key. " * 40


def test_the_page_has_a_line_for_each() -> None:
    """Three contexts, three transforms, and the transform beside others."""
    assert len(CONTEXTS) == 3
    assert len(TRANSFORMS) == 4
    assert PAGE.count("# before") == 6


@pytest.mark.parametrize("title", CONTEXTS)
async def test_a_context_of_agentchat(title: str) -> None:
    """The line after makes a context that cuts a conversation larger than the window, and keeps its ends."""
    names: dict[str, object] = {"ManagedChatCompletionContext": ManagedChatCompletionContext}
    exec(AFTER[title], names)  # noqa: S102  the page that is under test
    context = cast("ManagedChatCompletionContext", names["context"])
    for number in range(TURNS):
        await context.add_message(UserMessage(content=f"{number} {TEXT}", source="user"))
        await context.add_message(AssistantMessage(content=TEXT, source="coder"))
    sent = await context.get_messages()
    assert_within_the_window(title, context.last_prepared)
    kept = (await context.save_state())["messages"]
    assert len(sent) < len(kept) == 2 * TURNS
    assert str(sent[0].content).startswith("0 ")
    assert sent[-1].content == TEXT


@pytest.mark.parametrize("title", TRANSFORMS)
def test_a_transform_of_classic(title: str) -> None:
    """The line after makes an agent that cuts a conversation larger than the window, and keeps its ends."""
    agent = ConversableAgent("coder", llm_config=False)
    names = {"agent": agent, "ContextTransform": ContextTransform}
    others = {
        "TransformMessages": TransformMessages,
        "TextMessageContentName": TextMessageContentName,
    }
    exec(AFTER[title], names | others)  # noqa: S102  the page that is under test
    history: list[ChatMessage] = []
    for number in range(TURNS):
        history.append({"role": "user", "content": f"{number} {TEXT}"})
        history.append({"role": "assistant", "content": TEXT})
    sent = agent.process_all_messages_before_reply(history)
    assert len(sent) < len(history) == 2 * TURNS
    assert sent[0]["content"].startswith("0 ")
    assert sent[-1] == history[-1]


def assert_within_the_window(title: str, prepared: Prepared[Any] | None) -> None:
    """F37: each line names its window, and what is sent has no more; the page says how to choose it."""
    named = re.search(r"window_tokens=([\d_]+)", AFTER[title])
    assert named is not None
    assert prepared is not None
    assert prepared.certificate.bound.tokens <= prepared.certificate.limit_tokens <= int(named[1])
    assert "give\nwhat your largest request had" in PAGE


def test_the_history_limiter_changes_the_order() -> None:
    """The fault that the page names: the oldest two of what is kept change places."""
    history = [{"role": "user", "content": str(number)} for number in range(6)]
    kept = MessageHistoryLimiter(max_messages=3).apply_transform(history)
    assert [message["content"] for message in kept] == ["4", "3", "5"]
