"""The model context of autogen-agentchat: any conversation fits, nothing is shared, every state continues."""

import json
import subprocess
import sys
from collections.abc import Sequence
from copy import deepcopy
from typing import cast

import pytest
from autogen_core import FunctionCall
from autogen_core.model_context import BufferedChatCompletionContext, ChatCompletionContext
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai._openai_client import to_oai_type
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.adapters.agentchat import ManagedChatCompletionContext
from autogen_context.config import ContextConfig
from autogen_context.errors import BrokenTranscript, BudgetImpossible, StateError
from autogen_context.model.gauge import gauge_for
from autogen_context.testing import ChatMessage, ScriptedModel, approximate_tokens
from autogen_context.testing.chat_rules import check_chat

MODEL = "gpt-4-0613"
COUNTER = gauge_for(MODEL).counter
PROMPT = "You are a careful engineer."
WINDOW = 400


def search(query: str, limit: int = 3) -> str:
    """Search the project for a text."""
    return query * limit


def exact_tokens(text: str) -> int:
    """Tokens by the tokenizer of the model, where it is on this machine."""
    return COUNTER.count(text).tokens


def said(text: str) -> UserMessage:
    """A message of a person."""
    return UserMessage(content=text, source="user")


def step(*call_ids: str, text: str = "result", thought: str | None = None) -> list[LLMMessage]:
    """Calls and their results."""
    calls = [FunctionCall(id=i, name="search", arguments='{"query": "x"}') for i in call_ids]
    results = [FunctionExecutionResult(content=text, name="search", call_id=i) for i in call_ids]
    return [
        AssistantMessage(content=calls, thought=thought, source="coder"),
        FunctionExecutionResultMessage(content=results),
    ]


def long_conversation(steps: int) -> list[LLMMessage]:
    """A task and steps of some forty tokens each."""
    messages: list[LLMMessage] = [said("Find out why the build fails.")]
    for n in range(steps):
        messages += step(f"c{n}", text=f"line {n}: " + "word " * 30)
    return messages


def as_sent(messages: Sequence[LLMMessage]) -> list[ChatMessage]:
    """What AutoGen's client makes of messages."""
    sent = [part for m in messages for part in to_oai_type(m, model=MODEL, model_family="gpt-4")]
    return cast("list[ChatMessage]", sent)


async def filled(
    context: ManagedChatCompletionContext, messages: Sequence[LLMMessage]
) -> ManagedChatCompletionContext:
    """The context with these messages in it."""
    for message in messages:
        await context.add_message(message)
    return context


TEXTS = st.text("ab \n{}", max_size=6) | st.integers(1, 90).map("word ".__mul__)
IDS = st.sampled_from(["1", "2", ""])
SYSTEMS = st.builds(SystemMessage, content=TEXTS)
USERS = st.builds(UserMessage, content=TEXTS, source=st.sampled_from(["user", "other"]))
ANSWERS = st.builds(AssistantMessage, content=TEXTS, source=st.just("coder"))
CALLS = st.builds(FunctionCall, id=IDS, name=st.just("f"), arguments=st.just("{}"))
STEPS = st.builds(
    AssistantMessage,
    content=st.lists(CALLS, min_size=1, max_size=2),
    thought=st.none() | TEXTS.filter(bool),
    source=st.just("coder"),
)
RESULTS = st.builds(FunctionExecutionResult, content=TEXTS, name=st.just("f"), call_id=IDS)
RESULT_MESSAGES = st.builds(
    FunctionExecutionResultMessage, content=st.lists(RESULTS, min_size=1, max_size=2)
)
CONVERSATIONS: st.SearchStrategy[list[LLMMessage]] = st.lists(
    SYSTEMS | USERS | ANSWERS | STEPS | RESULT_MESSAGES, max_size=12
)


@given(CONVERSATIONS, st.booleans(), st.booleans())
async def test_what_is_sent_fits_by_openais_rules(
    messages: list[LLMMessage], single_system: bool, alternate: bool  # noqa: FBT001  # drawn
) -> None:
    """With the system prompt and the tools that the agent adds, at every turn of any conversation, broken ones too."""
    config = ContextConfig(single_system=single_system, alternate_roles=alternate)
    context = ManagedChatCompletionContext(
        MODEL, window_tokens=WINDOW, system_message=PROMPT, tools=[search], config=config
    )
    model = ScriptedModel([], count=exact_tokens)
    for message in messages:
        await context.add_message(message)
        try:
            sent = await context.get_messages()
        except BudgetImpossible:
            continue
        request = as_sent([SystemMessage(content=PROMPT), *sent])
        tools = cast("list[ChatMessage]", context.envelope.tools_as_sent)
        assert model.prompt_tokens(request, tools=tools) <= WINDOW
