"""Plain windows as people write them for AutoGen, and AutoGen's own with a count that does not take the square of the turns.

Promise: a call and its results stay together; the newest message is there; what is sent fits by the exact count, where one message does.
"""

from collections.abc import Sequence
from typing import Any

from autogen_core.model_context import ChatCompletionContext
from autogen_core.models import AssistantMessage, LLMMessage, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from host_agents import COUNTER
from typing_extensions import override

MESSAGE_TOKENS = 8  # above its texts: role, ids and separators


class WindowContext(ChatCompletionContext):
    """The newest messages that fit, perhaps with the first one of a person."""

    def __init__(self, room_tokens: int, *, with_first: bool) -> None:
        super().__init__()
        self._room, self._with_first = room_tokens, with_first

    @override
    async def get_messages(self) -> list[LLMMessage]:
        first = [m for m in self._messages if isinstance(m, UserMessage)][: int(self._with_first)]
        left = self._room - sum(map(tokens_of, first))
        kept: list[LLMMessage] = []
        for group in reversed(groups_of(self._messages)):
            needed = sum(tokens_of(message) for message in group if message not in first)
            if kept and needed > left:
                break
            kept[:0] = group
            left -= needed
        return [*(message for message in first if message not in kept), *kept]


class RememberingClient(OpenAIChatCompletionClient):
    """Counts a message once. AutoGen counts all of them anew for each that it leaves out: half an hour for two hundred turns."""

    @override
    def count_tokens(self, messages: Sequence[LLMMessage], *, tools: Any = ()) -> int:
        return sum(map(tokens_of, messages))


_counted: dict[int, tuple[LLMMessage, int]] = {}


def tokens_of(message: LLMMessage) -> int:
    """Tokens of a message, by the exact count; remembered while it is the same object."""
    known = _counted.get(id(message))
    if known is None or known[0] is not message:
        if len(_counted) > 10_000:
            _counted.clear()
        known = _counted[id(message)] = (
            message,
            MESSAGE_TOKENS + COUNTER.count(written(message)).tokens,
        )
    return known[1]


def written(message: LLMMessage) -> str:
    """All texts of a message."""
    content: Any = message.content
    if isinstance(content, str):
        return content
    return "\n".join(
        f"{getattr(part, 'name', '')} {getattr(part, 'arguments', '')} {getattr(part, 'content', '')} {'-' * 24}"
        for part in content
    )


def groups_of(messages: Sequence[LLMMessage]) -> list[list[LLMMessage]]:
    """Messages as they must stay together: a call with its results."""
    groups: list[list[LLMMessage]] = []
    for message in messages:
        before = groups[-1][-1] if groups else None
        is_result = message.type == "FunctionExecutionResultMessage"
        if is_result and isinstance(before, AssistantMessage):
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups
