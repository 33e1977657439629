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
        ChangeRefused,
        CompletionFailed,
        ContextError,
        EmbeddingFailed,
        MissingExtra,
        NoSuchVersion,
        NotInHistory,
        NotStashed,
        StateError,
        StoreRefused,
        StoreUnavailable,
        WriteConflict,
    )
    from autogen_context.manager import IncrementalContextManager
    from autogen_context.model.advice import Advisor
    from autogen_context.model.chat import CompletionClient
    from autogen_context.model.embedding_endpoint import OpenAIEmbedder
    from autogen_context.model.embeddings import SentenceTransformerEmbedder
    from autogen_context.model.intent import IntentModel
    from autogen_context.model.limits import ModelLimit, ModelLimits
    from autogen_context.model.summary import Summarizer
    from autogen_context.model.summary_breaker import Breaker
    from autogen_context.pipeline.assemble import Certificate
    from autogen_context.pipeline.attention.filter import AttentionFilter
    from autogen_context.pipeline.attention.part import ContextPart
    from autogen_context.pipeline.attention.score import AttentionScore, AttentionScorer
    from autogen_context.pipeline.budget.allocate import TokenBudget, TokenBudgetManager
    from autogen_context.pipeline.compress.compressor import SemanticCompressor
    from autogen_context.pipeline.compress.result import CompressionResult
    from autogen_context.pipeline.decision import Decision
    from autogen_context.pipeline.ledger.entry import Entry
    from autogen_context.pipeline.ledger.ledger import Ledger
    from autogen_context.pipeline.measure import Count, TokenCounter
    from autogen_context.pipeline.price.verdict import Verdict
    from autogen_context.pipeline.priority.prioritize import (
        ContextPrioritizer,
        PrioritizedContext,
        Signals,
    )
    from autogen_context.pipeline.task.definition import TaskDefinition
    from autogen_context.pipeline.tools.kinds import ToolKinds
    from autogen_context.pipeline.tools.recall_tool import answer_recall, recall_tool_schema
    from autogen_context.pipeline.trigger.boundary import SemanticBoundaryDetector
    from autogen_context.pipeline.trigger.decision import TriggerDecision
    from autogen_context.pipeline.trigger.hybrid import SemanticHybridTrigger, Trigger
    from autogen_context.pipeline.trigger.intent_trigger import IntentBasedTrigger
    from autogen_context.pipeline.trigger.settings import TriggerSettings
    from autogen_context.pipeline.trigger.staleness import StalenessTracker, staleness
    from autogen_context.pipeline.trigger.subtask import SubtaskTrigger
    from autogen_context.pipeline.trigger.turn import Step, Turn, turn_of
    from autogen_context.project.project import ProjectContext
    from autogen_context.project.view import ProjectView
    from autogen_context.recall.facts import Facts
    from autogen_context.recall.gate import RecallDecision, RecallGate
    from autogen_context.session.change import ChangeType, ContextChange, UpdatedContext
    from autogen_context.session.diff import VersionDiff
    from autogen_context.session.finished_verdict import FinishedSpan, FinishedVerdict
    from autogen_context.session.prepared import Prepared
    from autogen_context.session.versions import Version
    from autogen_context.store.cache.cache import CacheLimits, ContextCache
    from autogen_context.store.cache.stats import CacheStats
    from autogen_context.store.files.followed_files import FollowedFiles
    from autogen_context.store.files.seen_file import SeenFiles
    from autogen_context.store.redis.client import RedisLimits
    from autogen_context.store.redis.documents import RedisDocuments
    from autogen_context.store.redis.server import RedisServer
    from autogen_context.store.redis.stash import RedisStash
    from autogen_context.store.redis.tier import RedisTier
    from autogen_context.store.scope import Scope
    from autogen_context.store.stash.file import StashFile
    from autogen_context.store.stash.stash import Stash
    from autogen_context.store.stash.tiers import StashTiers
    from autogen_context.store.vectors.vectors import VectorStore
    from autogen_context.store.watch.watch import FileWatch

__all__ = [
    "Advisor",
    "AttentionFilter",
    "AttentionScore",
    "AttentionScorer",
    "Breaker",
    "BrokenTranscript",
    "BudgetImpossible",
    "CacheLimits",
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
    "ContextTransform",
    "Count",
    "Decision",
    "EmbeddingFailed",
    "Entry",
    "Facts",
    "FileWatch",
    "FinishedSpan",
    "FinishedVerdict",
    "FollowedFiles",
    "IncrementalContextManager",
    "IntentBasedTrigger",
    "IntentModel",
    "Ledger",
    "ManagedChatCompletionContext",
    "MissingExtra",
    "ModelLimit",
    "ModelLimits",
    "NoSuchVersion",
    "NotInHistory",
    "NotStashed",
    "OpenAIEmbedder",
    "Prepared",
    "PrioritizedContext",
    "ProjectContext",
    "ProjectView",
    "RecallDecision",
    "RecallGate",
    "RedisDocuments",
    "RedisLimits",
    "RedisServer",
    "RedisStash",
    "RedisTier",
    "Scope",
    "SeenFiles",
    "SemanticBoundaryDetector",
    "SemanticCompressor",
    "SemanticHybridTrigger",
    "SentenceTransformerEmbedder",
    "Signals",
    "StalenessTracker",
    "Stash",
    "StashFile",
    "StashTiers",
    "StateError",
    "Step",
    "StoreRefused",
    "StoreUnavailable",
    "SubtaskTrigger",
    "Summarizer",
    "TaskDefinition",
    "TokenBudget",
    "TokenBudgetManager",
    "TokenCounter",
    "ToolKinds",
    "Trigger",
    "TriggerDecision",
    "TriggerSettings",
    "Turn",
    "UpdatedContext",
    "VectorStore",
    "Verdict",
    "Version",
    "VersionDiff",
    "WriteConflict",
    "answer_recall",
    "recall_tool_schema",
    "staleness",
    "turn_of",
]

_HOMES = {
    "ManagedChatCompletionContext": "adapters.agentchat",
    "ContextTransform": "adapters.classic",
    "ContextConfig": "config",
    "BrokenTranscript": "errors",
    "BudgetImpossible": "errors",
    "ChangeRefused": "errors",
    "CompletionFailed": "errors",
    "ContextError": "errors",
    "EmbeddingFailed": "errors",
    "MissingExtra": "errors",
    "NoSuchVersion": "errors",
    "NotInHistory": "errors",
    "NotStashed": "errors",
    "StateError": "errors",
    "StoreRefused": "errors",
    "StoreUnavailable": "errors",
    "WriteConflict": "errors",
    "IncrementalContextManager": "manager",
    "Advisor": "model.advice",
    "CompletionClient": "model.chat",
    "OpenAIEmbedder": "model.embedding_endpoint",
    "SentenceTransformerEmbedder": "model.embeddings",
    "IntentModel": "model.intent",
    "ModelLimit": "model.limits",
    "ModelLimits": "model.limits",
    "Summarizer": "model.summary",
    "Breaker": "model.summary_breaker",
    "Certificate": "pipeline.assemble",
    "AttentionFilter": "pipeline.attention.filter",
    "ContextPart": "pipeline.attention.part",
    "AttentionScore": "pipeline.attention.score",
    "AttentionScorer": "pipeline.attention.score",
    "TokenBudget": "pipeline.budget.allocate",
    "TokenBudgetManager": "pipeline.budget.allocate",
    "SemanticCompressor": "pipeline.compress.compressor",
    "CompressionResult": "pipeline.compress.result",
    "Decision": "pipeline.decision",
    "Entry": "pipeline.ledger.entry",
    "Ledger": "pipeline.ledger.ledger",
    "Count": "pipeline.measure",
    "TokenCounter": "pipeline.measure",
    "Verdict": "pipeline.price.verdict",
    "ContextPrioritizer": "pipeline.priority.prioritize",
    "PrioritizedContext": "pipeline.priority.prioritize",
    "Signals": "pipeline.priority.prioritize",
    "TaskDefinition": "pipeline.task.definition",
    "ToolKinds": "pipeline.tools.kinds",
    "answer_recall": "pipeline.tools.recall_tool",
    "recall_tool_schema": "pipeline.tools.recall_tool",
    "SemanticBoundaryDetector": "pipeline.trigger.boundary",
    "TriggerDecision": "pipeline.trigger.decision",
    "SemanticHybridTrigger": "pipeline.trigger.hybrid",
    "Trigger": "pipeline.trigger.hybrid",
    "IntentBasedTrigger": "pipeline.trigger.intent_trigger",
    "TriggerSettings": "pipeline.trigger.settings",
    "StalenessTracker": "pipeline.trigger.staleness",
    "staleness": "pipeline.trigger.staleness",
    "SubtaskTrigger": "pipeline.trigger.subtask",
    "Step": "pipeline.trigger.turn",
    "Turn": "pipeline.trigger.turn",
    "turn_of": "pipeline.trigger.turn",
    "ProjectContext": "project.project",
    "ProjectView": "project.view",
    "Facts": "recall.facts",
    "RecallDecision": "recall.gate",
    "RecallGate": "recall.gate",
    "ChangeType": "session.change",
    "ContextChange": "session.change",
    "UpdatedContext": "session.change",
    "VersionDiff": "session.diff",
    "FinishedSpan": "session.finished_verdict",
    "FinishedVerdict": "session.finished_verdict",
    "Prepared": "session.prepared",
    "Version": "session.versions",
    "CacheLimits": "store.cache.cache",
    "ContextCache": "store.cache.cache",
    "CacheStats": "store.cache.stats",
    "FollowedFiles": "store.files.followed_files",
    "RedisLimits": "store.redis.client",
    "RedisDocuments": "store.redis.documents",
    "RedisServer": "store.redis.server",
    "RedisStash": "store.redis.stash",
    "RedisTier": "store.redis.tier",
    "Scope": "store.scope",
    "SeenFiles": "store.files.seen_file",
    "Stash": "store.stash.stash",
    "StashFile": "store.stash.file",
    "StashTiers": "store.stash.tiers",
    "VectorStore": "store.vectors.vectors",
    "FileWatch": "store.watch.watch",
}


def __getattr__(name: str) -> object:
    """A public name, from the module that it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return [*globals(), *__all__]
