"""The arguments that every entry takes, for whatever host: those of the manager.

Promise: one list; an entry hands on what it was given, so that what a manager can do is there on every host.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:  # loaded for those who ask for it
    from autogen_context.cache.originals import OriginalTier
    from autogen_context.cache.values import Cache
    from autogen_context.compressor.compressor import Compressor
    from autogen_context.config.config import ContextConfig
    from autogen_context.models.completion import ModelClient
    from autogen_context.models.embedder import WarmVectors
    from autogen_context.prioritizer.score import Prioritizer
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext
    from autogen_context.tokens.measure import TokenCounter
    from autogen_context.triggers.decision import Trigger


class ManagerOptions(TypedDict, total=False):
    """What ``IncrementalContextManager`` takes beside ``model`` and the host's format; see there.

    ``model_client="host"`` is the agent's own client, where an entry is given the agent.
    """

    window_tokens: int | None
    reserve_tokens: int | None
    config: "ContextConfig | None"
    counter: "TokenCounter | None"
    vectors: "WarmVectors | None"
    compressor: "Compressor | None"
    model_client: "ModelClient | Literal['host'] | None"
    prioritizer: "Prioritizer | None"
    triggers: "Trigger | None"
    clock: Callable[[], float] | None
    original_store: "OriginalTier | None"
    files: "FileChangeTracker | None"
    project: "ProjectContext | None"
    cache: "Cache | None"
