"""Keeps AutoGen agents inside their context window, at the lowest price, without losing what they need next.

Promise: importing this imports no host, no client library and no tokenizer. The two adapters are loaded when they are
asked for.
"""

from typing import TYPE_CHECKING

from autogen_context.config import ContextConfig
from autogen_context.errors import (
    BrokenTranscript,
    BudgetImpossible,
    ContextError,
    MissingExtra,
    NotInHistory,
    NotStashed,
    StateError,
)
from autogen_context.manager import IncrementalContextManager
from autogen_context.model.limits import ModelLimit, ModelLimits
from autogen_context.pipeline.assemble import Certificate
from autogen_context.pipeline.decision import Decision
from autogen_context.pipeline.measure import Count, TokenCounter
from autogen_context.session.prepared import Prepared

if TYPE_CHECKING:
    from autogen_context.adapters.agentchat import ManagedChatCompletionContext
    from autogen_context.adapters.classic import ContextTransform

__all__ = [
    "BrokenTranscript",
    "BudgetImpossible",
    "Certificate",
    "ContextConfig",
    "ContextError",
    "ContextTransform",
    "Count",
    "Decision",
    "IncrementalContextManager",
    "ManagedChatCompletionContext",
    "MissingExtra",
    "ModelLimit",
    "ModelLimits",
    "NotInHistory",
    "NotStashed",
    "Prepared",
    "StateError",
    "TokenCounter",
]

_ADAPTERS = {"ManagedChatCompletionContext": "agentchat", "ContextTransform": "classic"}


def __getattr__(name: str) -> object:
    """An adapter's name, from its module."""
    if name not in _ADAPTERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only who asks for an adapter needs it

    return getattr(import_module(f"{__name__}.adapters.{_ADAPTERS[name]}"), name)
