"""Conversations that are kept by other libraries, and by this one through its adapters.

Promise: each gets the history in its own types before the time is taken, and a window that is never full, so that what
is timed is the look at an unchanged history with one more message.

A peer that is not installed, or lacks its tokenizer's ranks, raises ``ImportError`` or ``FileNotFoundError`` when its
conversation is started.
"""

import json
from asyncio import AbstractEventLoop
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Protocol

from material import ENCODING, ROOMY_TOKENS
from side_by_side import Run

from autogen_context.testing import ChatMessage
from autogen_context.tokens.measure import TiktokenCounter, TokenCounter

if TYPE_CHECKING:
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import LLMMessage
    from langchain_core.messages import BaseMessage

LONGEST_MESSAGE = 4_096  # tokens: the most that MessageTokenLimiter takes for its default model


class Conversation(Protocol):
    """A history in the hands of one library."""

    def turn(self, message: ChatMessage) -> Run:
        """Make ready: take one more message in and give the list to send."""
        ...


class Transform(Protocol):
    """A message transform of classic AutoGen."""

    def apply_transform(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        """The list to send."""
        ...


class AgentchatConversation:
    """A history in a model context of autogen-agentchat."""

    def __init__(
        self,
        context: "ChatCompletionContext",
        history: Sequence[ChatMessage],
        loop: AbstractEventLoop,
    ) -> None:
        self._context = context
        self._loop = loop
        for message in history:
            loop.run_until_complete(context.add_message(as_llm_message(message)))
        loop.run_until_complete(context.get_messages())

    def turn(self, message: ChatMessage) -> Run:
        """What an agent does with a new message before it calls the model."""
        return partial(self._loop.run_until_complete, self._turn(as_llm_message(message)))

    async def _turn(self, message: "LLMMessage") -> None:
        await self._context.add_message(message)
        await self._context.get_messages()


class ClassicConversation:
    """A history that a classic agent hands to a transform, which it does with a deep copy."""

    def __init__(self, transform: Transform, history: Sequence[ChatMessage]) -> None:
        self._transform = transform
        self._history = list(history)
        transform.apply_transform(deepcopy(self._history))

    def turn(self, message: ChatMessage) -> Run:
        """The transform of the history with one more message."""
        self._history.append(message)
        return partial(self._transform.apply_transform, deepcopy(self._history))


class LangchainConversation:
    """A history that langchain-core trims."""

    def __init__(self, counter: TokenCounter | None, history: Sequence[ChatMessage]) -> None:
        """With a tokenizer, or with langchain's own approximation in its place."""
        from langchain_core.messages import convert_to_messages  # noqa: PLC0415 - may be missing

        self._convert = convert_to_messages
        self._counter = counter
        self._history = convert_to_messages(history)

    def turn(self, message: ChatMessage) -> Run:
        """The trimmed history with one more message."""
        self._history += self._convert([message])
        return self._trimmed

    def _trimmed(self) -> object:
        from langchain_core.messages import trim_messages  # noqa: PLC0415  # pyright: ignore[reportUnknownVariableType] - langchain's annotation names a class of another package

        if self._counter is None:
            return trim_messages(
                self._history,
                max_tokens=ROOMY_TOKENS,
                token_counter="approximate",  # noqa: S106 - no password
            )
        return trim_messages(self._history, max_tokens=ROOMY_TOKENS, token_counter=self._tokens)

    def _tokens(self, messages: "list[BaseMessage]") -> int:
        assert self._counter
        texts = (text for message in messages for text in texts_in(message))
        return sum(self._counter.count(text).tokens for text in texts)


def token_limited(history: Sequence[ChatMessage], *, loop: AbstractEventLoop) -> Conversation:
    """AutoGen's own token-limited context; it counts with tiktoken."""
    from autogen_core.model_context import TokenLimitedChatCompletionContext  # noqa: PLC0415
    from autogen_ext.models.openai import OpenAIChatCompletionClient  # noqa: PLC0415

    TiktokenCounter(ENCODING)  # raises where the ranks are missing, before AutoGen downloads them
    client = OpenAIChatCompletionClient(
        model="gpt-4", api_key="none"
    )  # it counts, it is not called
    context = TokenLimitedChatCompletionContext(client, token_limit=ROOMY_TOKENS)
    return AgentchatConversation(context, history, loop)


def managed_context(history: Sequence[ChatMessage], *, loop: AbstractEventLoop) -> Conversation:
    """This library in autogen-agentchat."""
    from autogen_context.adapters.agentchat import ManagedChatCompletionContext  # noqa: PLC0415

    context = ManagedChatCompletionContext(window_tokens=ROOMY_TOKENS)
    return AgentchatConversation(context, history, loop)


def token_limiter(history: Sequence[ChatMessage]) -> Conversation:
    """Classic AutoGen's limiter; it counts with tiktoken."""
    from autogen.agentchat.contrib.capabilities.transforms import (  # noqa: PLC0415
        MessageTokenLimiter,
    )

    TiktokenCounter(ENCODING)
    return ClassicConversation(MessageTokenLimiter(LONGEST_MESSAGE), history)


def context_transform(history: Sequence[ChatMessage], *, counter: TokenCounter) -> Conversation:
    """This library in classic AutoGen."""
    from autogen_context.adapters.classic import ContextTransform  # noqa: PLC0415

    return ClassicConversation(
        ContextTransform(window_tokens=ROOMY_TOKENS, counter=counter), history
    )


def as_llm_message(message: ChatMessage) -> "LLMMessage":
    """A message as autogen-agentchat has it."""
    from autogen_core import FunctionCall  # noqa: PLC0415
    from autogen_core import models as host  # noqa: PLC0415

    content = message["content"]
    if message["role"] == "system":
        return host.SystemMessage(content=content)
    if message["role"] == "user":
        return host.UserMessage(content=content, source="user")
    if message["role"] == "tool":
        call_id = message["tool_call_id"]
        result = host.FunctionExecutionResult(content=content, name="tool", call_id=call_id)
        return host.FunctionExecutionResultMessage(content=[result])
    calls = [FunctionCall(id=c["id"], **c["function"]) for c in message["tool_calls"]]
    return host.AssistantMessage(content=calls, thought=content, source="coder")


def texts_in(message: "BaseMessage") -> Iterator[str]:
    """The texts of a message of langchain-core: its content, and names and arguments of its calls."""
    from langchain_core.messages import AIMessage  # noqa: PLC0415

    yield message.text
    for call in message.tool_calls if isinstance(message, AIMessage) else ():
        yield call["name"]
        yield json.dumps(call["args"])
