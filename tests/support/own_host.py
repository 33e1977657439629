"""A host that this package does not know, and its adapter."""

from collections.abc import Callable, Sequence

from autogen_context.adapters.register import AgentContext, completed
from autogen_context.manager.options import ManagerOptions
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.testing import ChatMessage


class Bot:
    """An agent of a framework that nobody knows; it asks a function for what it sends."""

    name = "bot"

    def __init__(self) -> None:
        self.fitted: Callable[[list[ChatMessage]], Sequence[ChatMessage]] = list


def register_bot(bot: Bot, model: str | None, options: ManagerOptions) -> AgentContext[ChatMessage]:
    """Its adapter."""
    context = AgentContext[ChatMessage](
        OpenAIChat(), completed(options, model, said={"agent": bot.name})
    )

    def fitted(messages: list[ChatMessage]) -> Sequence[ChatMessage]:
        context.last_prepared = context.manager.prepare_nowait(messages)
        return context.last_prepared.messages

    bot.fitted = fitted
    return context
