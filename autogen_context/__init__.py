"""Keep AutoGen agents within their context window at the lowest cost, without losing what they need next.

Promise: importing this package imports no host, client library or tokenizer; public names are loaded on first access.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autogen_context.adapters.agentchat import ManagedChatCompletionContext
    from autogen_context.adapters.classic import ContextTransform
    from autogen_context.adapters.register import register
    from autogen_context.budget.manager import TokenBudget, TokenBudgetManager
    from autogen_context.budget.task import TaskDefinition
    from autogen_context.cache.cache import ContextCache
    from autogen_context.cache.tier import CacheStats
    from autogen_context.compressor.compressor import SemanticCompressor
    from autogen_context.compressor.concepts import CompressionResult
    from autogen_context.config import ContextConfig
    from autogen_context.errors import (
        ChangeRefused,
        ContextError,
        ContextWindowExceeded,
        InvalidTranscript,
        MissingExtra,
        NotInHistory,
        OriginalNotFound,
        StateError,
    )
    from autogen_context.manager import IncrementalContextManager
    from autogen_context.manager.change import ChangeType, ContextChange, UpdatedContext
    from autogen_context.manager.prepared import Prepared
    from autogen_context.models.completion import CompletionClient
    from autogen_context.prioritizer.attention import AttentionFilter, AttentionScorer, ContextPart
    from autogen_context.prioritizer.prioritizer import ContextPrioritizer, PrioritizedContext
    from autogen_context.project.project import ProjectContext
    from autogen_context.recall.gate import RecallGate
    from autogen_context.tokens.limits import ModelLimits
    from autogen_context.tokens.measure import Count
    from autogen_context.triggers.boundary import SemanticBoundaryDetector
    from autogen_context.triggers.hybrid import SemanticHybridTrigger, StalenessTracker
    from autogen_context.triggers.intent import IntentBasedTrigger
    from autogen_context.view.decision import Decision
    from autogen_context.view.invariants import Certificate

__version__ = "0.1.0"

__all__ = [
    "AttentionFilter",
    "AttentionScorer",
    "CacheStats",
    "Certificate",
    "ChangeRefused",
    "ChangeType",
    "CompletionClient",
    "CompressionResult",
    "ContextCache",
    "ContextChange",
    "ContextConfig",
    "ContextError",
    "ContextPart",
    "ContextPrioritizer",
    "ContextTransform",
    "ContextWindowExceeded",
    "Count",
    "Decision",
    "IncrementalContextManager",
    "IntentBasedTrigger",
    "InvalidTranscript",
    "ManagedChatCompletionContext",
    "MissingExtra",
    "ModelLimits",
    "NotInHistory",
    "OriginalNotFound",
    "Prepared",
    "PrioritizedContext",
    "ProjectContext",
    "RecallGate",
    "SemanticBoundaryDetector",
    "SemanticCompressor",
    "SemanticHybridTrigger",
    "StalenessTracker",
    "StateError",
    "TaskDefinition",
    "TokenBudget",
    "TokenBudgetManager",
    "UpdatedContext",
    "register",
]

_HOMES = {
    "AttentionFilter": "prioritizer.attention",
    "AttentionScorer": "prioritizer.attention",
    "CacheStats": "cache.tier",
    "Certificate": "view.invariants",
    "ChangeRefused": "errors",
    "ChangeType": "manager.change",
    "CompletionClient": "models.completion",
    "CompressionResult": "compressor.concepts",
    "ContextCache": "cache.cache",
    "ContextChange": "manager.change",
    "ContextConfig": "config",
    "ContextError": "errors",
    "ContextPart": "prioritizer.attention",
    "ContextPrioritizer": "prioritizer.prioritizer",
    "ContextTransform": "adapters.classic",
    "ContextWindowExceeded": "errors",
    "Count": "tokens.measure",
    "Decision": "view.decision",
    "IncrementalContextManager": "manager",
    "IntentBasedTrigger": "triggers.intent",
    "InvalidTranscript": "errors",
    "ManagedChatCompletionContext": "adapters.agentchat",
    "MissingExtra": "errors",
    "ModelLimits": "tokens.limits",
    "NotInHistory": "errors",
    "OriginalNotFound": "errors",
    "Prepared": "manager.prepared",
    "PrioritizedContext": "prioritizer.prioritizer",
    "ProjectContext": "project.project",
    "RecallGate": "recall.gate",
    "SemanticBoundaryDetector": "triggers.boundary",
    "SemanticCompressor": "compressor.compressor",
    "SemanticHybridTrigger": "triggers.hybrid",
    "StalenessTracker": "triggers.hybrid",
    "StateError": "errors",
    "TaskDefinition": "budget.task",
    "TokenBudget": "budget.manager",
    "TokenBudgetManager": "budget.manager",
    "UpdatedContext": "manager.change",
    "register": "adapters.register",
}


def __getattr__(name: str) -> object:
    """Import and return a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"{__name__}.{_HOMES[name]}"
    try:
        return getattr(import_module(home), name)
    except AttributeError as error:  # from here it would say no more than: cannot import name
        raise ImportError(f"{home} cannot be imported: {error}", name=home) from error


def __dir__() -> list[str]:
    """Return the module's names, including lazily loaded ones, for autocompletion."""
    return [*globals(), *__all__]
