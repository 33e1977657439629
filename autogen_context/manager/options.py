"""The arguments that every entry takes, for whatever host: those of the manager.

Promise: one list; an entry hands on what it was given, so that what a manager can do is there on every host.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:  # loaded for those who ask for it
    from autogen_context.budget.policy import BudgetPolicy
    from autogen_context.cache.originals import OriginalTier
    from autogen_context.cache.values import Cache
    from autogen_context.compressor.summarizer import Summarize
    from autogen_context.config.config import ContextConfig
    from autogen_context.models.embedder import WarmVectors
    from autogen_context.prioritizer.advising import Advise
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext
    from autogen_context.tokens.measure import TokenCounter
    from autogen_context.triggers.decision import Trigger
    from autogen_context.view.provider import ContextProvider


class ManagerOptions(TypedDict, total=False):
    """What ``IncrementalContextManager`` takes beside ``model`` and the host's format; see there."""

    window_tokens: int | None
    reserve_tokens: int | None
    config: "ContextConfig | None"
    counter: "TokenCounter | None"
    budget: "BudgetPolicy | None"
    vectors: "WarmVectors | None"
    summarizer: "Summarize | None"
    advisor: "Advise | None"
    triggers: "Trigger | None"
    clock: Callable[[], float] | None
    original_store: "OriginalTier | None"
    files: "FileChangeTracker | str | Path | None"
    project: "ProjectContext | str | Path | None"
    providers: Sequence["ContextProvider"]
    cache: "Cache | None"
