"""Managers that count four characters a token, and whose clock stands still unless a test moves it."""

from typing import Any

from autogen_context import ContextConfig, IncrementalContextManager, Prepared
from autogen_context.errors import ContextWindowExceeded
from autogen_context.testing import ChatMessage
from support.counting import Characters

STARTED_S = 1_000.0
TOLD = "[Added to the conversation:"


def manager(window_tokens: int = 6_000, **given: Any) -> IncrementalContextManager:
    """One with these settings and parts; a few steps of ``working.run`` fill its window."""
    settings = {name: given.pop(name) for name in given.keys() & ContextConfig.model_fields.keys()}
    config = ContextConfig.model_validate({"window_tokens": window_tokens, **settings})
    parts: dict[str, Any] = {"counter": Characters(), "clock": lambda: STARTED_S, **given}
    return IncrementalContextManager(config=config, **parts)


def outcome_of(
    keeper: IncrementalContextManager, messages: list[ChatMessage]
) -> Prepared[ChatMessage] | ContextWindowExceeded:
    """A turn, or the error in its place."""
    try:
        return keeper.prepare_nowait(messages)
    except ContextWindowExceeded as error:
        return error


def told_in(turn: Prepared[ChatMessage]) -> list[str]:
    """The blocks of notices in a request."""
    texts = [str(message["content"]) for message in turn.messages]
    return [text for text in texts if text.startswith(TOLD)]
