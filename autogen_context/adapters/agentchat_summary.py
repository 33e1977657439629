"""Summaries by the model client of an agent of autogen-agentchat.

Promise: one message of the user's, no tools; what is no whole text is ``CompletionFailed``, whatever else the client raises
passes through, and so does cancellation.
"""

from autogen_core.models import ChatCompletionClient, CreateResult, UserMessage

from autogen_context.errors import CompletionFailed
from autogen_context.models.completion import Complete

BROKEN_OFF = {"length": "it is broken off", "content_filter": "it is filtered"}


def complete_with(client: ChatCompletionClient) -> Complete:
    """A client as what a ``Summarizer`` asks.

    Args:
        client: the agent's own, or a cheaper one; it is not closed here.

    Returns:
        A function that answers a prompt with a text.
    """

    async def complete(prompt: str, /) -> str:
        result = await client.create([UserMessage(content=prompt, source="user")])
        return text_of(result)

    return complete


def text_of(result: CreateResult) -> str:
    """The text of an answer.

    Raises:
        CompletionFailed: it is none, or not all of it.
    """
    if not isinstance(result.content, str):
        raise CompletionFailed("it calls a tool")
    if result.finish_reason in BROKEN_OFF:
        raise CompletionFailed(BROKEN_OFF[result.finish_reason])
    return result.content
