"""Keeps AutoGen agents inside their context window, at the lowest price, without losing what they need next.

Promise: importing this imports no host, no client library and no tokenizer; a name is loaded when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autogen_context.adapters.agentchat import ManagedChatCompletionContext
    from autogen_context.adapters.classic import ContextTransform
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

_HOMES = {
    "ManagedChatCompletionContext": "adapters.agentchat",
    "ContextTransform": "adapters.classic",
    "ContextConfig": "config",
    "BrokenTranscript": "errors",
    "BudgetImpossible": "errors",
    "ContextError": "errors",
    "MissingExtra": "errors",
    "NotInHistory": "errors",
    "NotStashed": "errors",
    "StateError": "errors",
    "IncrementalContextManager": "manager",
    "ModelLimit": "model.limits",
    "ModelLimits": "model.limits",
    "Certificate": "pipeline.assemble",
    "Decision": "pipeline.decision",
    "Count": "pipeline.measure",
    "TokenCounter": "pipeline.measure",
    "Prepared": "session.prepared",
}


def __getattr__(name: str) -> object:
    """A public name, from the module that it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return [*globals(), *__all__]
