"""Keeps AutoGen agents inside their context window, at the lowest price, without losing what they need next.

Promise: importing this imports no host, no client library and no tokenizer; a name is loaded when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autogen_context.adapters.agentchat import ManagedChatCompletionContext
    from autogen_context.adapters.classic import ContextTransform
    from autogen_context.adapters.register import register
    from autogen_context.budget.allocation import TokenBudget
    from autogen_context.budget.manager import TokenBudgetManager
    from autogen_context.budget.task import TaskDefinition
    from autogen_context.cache.cache import ContextCache
    from autogen_context.cache.stats import CacheStats
    from autogen_context.cache.watch import FileWatch
    from autogen_context.compressor.compressor import SemanticCompressor
    from autogen_context.compressor.result import CompressionResult
    from autogen_context.config import ContextConfig
    from autogen_context.errors import (
        ChangeRefused,
        CompletionFailed,
        ContextError,
        ContextWindowExceeded,
        EmbeddingFailed,
        InvalidTranscript,
        MissingExtra,
        NoSuchVersion,
        NotInHistory,
        OriginalNotFound,
        StateError,
        StoreRefused,
        StoreUnavailable,
    )
    from autogen_context.ledger.entry import Entry
    from autogen_context.ledger.ledger import Ledger
    from autogen_context.manager import IncrementalContextManager
    from autogen_context.manager.change import ChangeType, ContextChange, UpdatedContext
    from autogen_context.manager.prepared import Prepared
    from autogen_context.messages.tool_call import ToolKinds
    from autogen_context.messages.tool_schema import answer_recall, recall_tool_schema
    from autogen_context.models.chat import CompletionClient
    from autogen_context.models.embedding_endpoint import OpenAIEmbedder
    from autogen_context.models.embeddings import SentenceTransformerEmbedder
    from autogen_context.prioritizer.advice import Advisor
    from autogen_context.prioritizer.attention import (
        AttentionFilter,
        AttentionScore,
        AttentionScorer,
        ContextPart,
    )
    from autogen_context.prioritizer.prioritizer import (
        ContextPrioritizer,
        PrioritizedContext,
    )
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext, ProjectView
    from autogen_context.recall.facts import Facts
    from autogen_context.recall.gate import RecallDecision, RecallGate
    from autogen_context.tokens.limits import ModelLimit, ModelLimits
    from autogen_context.tokens.measure import Count, TokenCounter
    from autogen_context.triggers.boundary import SemanticBoundaryDetector
    from autogen_context.triggers.decision import Trigger, TriggerDecision, TriggerSettings
    from autogen_context.triggers.finished import FinishedEstimate, FinishedSpan
    from autogen_context.triggers.hybrid import SemanticHybridTrigger
    from autogen_context.triggers.intent import IntentBasedTrigger
    from autogen_context.triggers.intent_model import IntentModel
    from autogen_context.triggers.price import CostEstimate
    from autogen_context.triggers.staleness import StalenessTracker, staleness
    from autogen_context.triggers.subtask import SubtaskTrigger
    from autogen_context.triggers.turn import Step, Turn, turn_of
    from autogen_context.view.certificate import Certificate
    from autogen_context.view.decision import Decision
    from autogen_context.view.diff import VersionDiff
    from autogen_context.view.notice import Notice
    from autogen_context.view.provider import ContextProvider, ProviderTurn, Told
    from autogen_context.view.versions import Version

__all__ = [
    "Advisor",
    "AttentionFilter",
    "AttentionScore",
    "AttentionScorer",
    "CacheStats",
    "Certificate",
    "ChangeRefused",
    "ChangeType",
    "CompletionClient",
    "CompletionFailed",
    "CompressionResult",
    "ContextCache",
    "ContextChange",
    "ContextConfig",
    "ContextError",
    "ContextPart",
    "ContextPrioritizer",
    "ContextProvider",
    "ContextTransform",
    "ContextWindowExceeded",
    "CostEstimate",
    "Count",
    "Decision",
    "EmbeddingFailed",
    "Entry",
    "Facts",
    "FileChangeTracker",
    "FileWatch",
    "FinishedEstimate",
    "FinishedSpan",
    "IncrementalContextManager",
    "IntentBasedTrigger",
    "IntentModel",
    "InvalidTranscript",
    "Ledger",
    "ManagedChatCompletionContext",
    "MissingExtra",
    "ModelLimit",
    "ModelLimits",
    "NoSuchVersion",
    "NotInHistory",
    "Notice",
    "OpenAIEmbedder",
    "OriginalNotFound",
    "Prepared",
    "PrioritizedContext",
    "ProjectContext",
    "ProjectView",
    "ProviderTurn",
    "RecallDecision",
    "RecallGate",
    "SemanticBoundaryDetector",
    "SemanticCompressor",
    "SemanticHybridTrigger",
    "SentenceTransformerEmbedder",
    "StalenessTracker",
    "StateError",
    "Step",
    "StoreRefused",
    "StoreUnavailable",
    "SubtaskTrigger",
    "TaskDefinition",
    "TokenBudget",
    "TokenBudgetManager",
    "TokenCounter",
    "Told",
    "ToolKinds",
    "Trigger",
    "TriggerDecision",
    "TriggerSettings",
    "Turn",
    "UpdatedContext",
    "Version",
    "VersionDiff",
    "answer_recall",
    "recall_tool_schema",
    "register",
    "staleness",
    "turn_of",
]

_HOMES = {
    "ManagedChatCompletionContext": "adapters.agentchat",
    "ContextTransform": "adapters.classic",
    "register": "adapters.register",
    "ContextConfig": "config",
    "InvalidTranscript": "errors",
    "ContextWindowExceeded": "errors",
    "ChangeRefused": "errors",
    "CompletionFailed": "errors",
    "ContextError": "errors",
    "EmbeddingFailed": "errors",
    "MissingExtra": "errors",
    "NoSuchVersion": "errors",
    "NotInHistory": "errors",
    "OriginalNotFound": "errors",
    "StateError": "errors",
    "StoreRefused": "errors",
    "StoreUnavailable": "errors",
    "IncrementalContextManager": "manager",
    "Advisor": "prioritizer.advice",
    "CompletionClient": "models.chat",
    "OpenAIEmbedder": "models.embedding_endpoint",
    "SentenceTransformerEmbedder": "models.embeddings",
    "IntentModel": "triggers.intent_model",
    "ModelLimit": "tokens.limits",
    "ModelLimits": "tokens.limits",
    "Certificate": "view.certificate",
    "AttentionFilter": "prioritizer.attention",
    "ContextPart": "prioritizer.attention",
    "AttentionScore": "prioritizer.attention",
    "AttentionScorer": "prioritizer.attention",
    "TokenBudget": "budget.allocation",
    "TokenBudgetManager": "budget.manager",
    "SemanticCompressor": "compressor.compressor",
    "CompressionResult": "compressor.result",
    "Decision": "view.decision",
    "Notice": "view.notice",
    "ContextProvider": "view.provider",
    "ProviderTurn": "view.provider",
    "Told": "view.provider",
    "Entry": "ledger.entry",
    "Ledger": "ledger.ledger",
    "Count": "tokens.measure",
    "TokenCounter": "tokens.measure",
    "CostEstimate": "triggers.price",
    "ContextPrioritizer": "prioritizer.prioritizer",
    "PrioritizedContext": "prioritizer.prioritizer",
    "TaskDefinition": "budget.task",
    "ToolKinds": "messages.tool_call",
    "answer_recall": "messages.tool_schema",
    "recall_tool_schema": "messages.tool_schema",
    "SemanticBoundaryDetector": "triggers.boundary",
    "TriggerDecision": "triggers.decision",
    "SemanticHybridTrigger": "triggers.hybrid",
    "Trigger": "triggers.decision",
    "IntentBasedTrigger": "triggers.intent",
    "TriggerSettings": "triggers.decision",
    "StalenessTracker": "triggers.staleness",
    "staleness": "triggers.staleness",
    "SubtaskTrigger": "triggers.subtask",
    "Step": "triggers.turn",
    "Turn": "triggers.turn",
    "turn_of": "triggers.turn",
    "ProjectContext": "project.project",
    "ProjectView": "project.project",
    "Facts": "recall.facts",
    "RecallDecision": "recall.gate",
    "RecallGate": "recall.gate",
    "ChangeType": "manager.change",
    "ContextChange": "manager.change",
    "UpdatedContext": "manager.change",
    "VersionDiff": "view.diff",
    "FinishedSpan": "triggers.finished",
    "FinishedEstimate": "triggers.finished",
    "Prepared": "manager.prepared",
    "Version": "view.versions",
    "ContextCache": "cache.cache",
    "CacheStats": "cache.stats",
    "FileChangeTracker": "project.file_changes",
    "FileWatch": "cache.watch",
}


def __getattr__(name: str) -> object:
    """A public name, from the module that it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return [*globals(), *__all__]
