"""What a manager is handed, and what every entry of a host hands on to it.

Promise: a part that cannot do what it is for is refused at once, by its name, with what to give.
"""

import copy
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from autogen_context.argument import wrong_argument
from autogen_context.config.config import ContextConfig
from autogen_context.messages.message import HostFormat
from autogen_context.models.completion import ModelClient, complete_of
from autogen_context.models.embedder import WarmVectors
from autogen_context.tokens.measure import TokenCounter
from autogen_context.view.provider import ContextProvider

if TYPE_CHECKING:  # loaded for those who ask for it
    from autogen_context.budget.policy import BudgetPolicy
    from autogen_context.cache.originals import OriginalTier
    from autogen_context.cache.values import Cache
    from autogen_context.compressor.compressor import Compressor
    from autogen_context.prioritizer.prioritizer import Prioritizer
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext
    from autogen_context.triggers.turn import Trigger

PARTS: Mapping[str, tuple[str, str]] = {
    "budget": (
        "for_compaction",
        "TokenBudgetManager(...), or an object with its methods for_turn and for_compaction",
    ),
    "host": ("compose", "how the host writes messages, such as OpenAIChat()"),
    "counter": ("count", "an object with a method count(text)"),
    "vectors": ("warm", "a VectorStore"),
    "prioritizer": (
        "scores",
        "a ContextPrioritizer, or your own with a method scores(conversation, need)",
    ),
    "compressor": ("shorten", "a SemanticCompressor, or an object with the methods of Compressor"),
    "triggers": ("observe", "a SemanticHybridTrigger, or an object with a method observe(turn)"),
    "clock": ("__call__", "a function that tells the seconds since 1970, such as time.time"),
    "original_store": ("forget", "a RedisOriginals"),
    "files": ("root", "FileChangeTracker(folder), or a folder that is there"),
    "cache": ("remembered", "a ContextCache"),
    "project": ("for_conversation", "ProjectContext(folder), or a folder that is there"),
}
"""What each part that a manager is handed must have at least, and what to give."""


class ManagerOptions(TypedDict, total=False):
    """What ``IncrementalContextManager`` takes beside ``model`` and the host's format, for every host's entry.

    ``model_client="host"`` is the agent's own client, where an entry is given the agent.
    """

    window_tokens: int | None
    reserve_tokens: int | None
    config: ContextConfig | None
    counter: TokenCounter | None
    budget: "BudgetPolicy | None"
    vectors: WarmVectors | None
    prioritizer: "Prioritizer | None"
    compressor: "Compressor | None"
    model_client: ModelClient | Literal["host"] | None
    triggers: "Trigger | None"
    clock: Callable[[], float] | None
    original_store: "OriginalTier | None"
    files: "FileChangeTracker | str | Path | None"
    project: "ProjectContext | str | Path | None"
    providers: Sequence[ContextProvider]
    cache: "Cache | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a manager was given; the arguments of ``IncrementalContextManager`` say what each is for."""

    config: ContextConfig
    host: HostFormat
    counter: TokenCounter | None
    vectors: WarmVectors | None
    compressor: "Compressor | None"
    model_client: ModelClient | Literal["host"] | None
    clock: Callable[[], float] | None
    budget: "BudgetPolicy | None" = None
    files: "FileChangeTracker | None" = None
    original_store: "OriginalTier | None" = None
    project: "ProjectContext | None" = None
    prioritizer: "Prioritizer | None" = None
    triggers: "Trigger | None" = None
    cache: "Cache | None" = None
    providers: tuple[ContextProvider, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot do what it is for."""
        for name, (needed, give) in PARTS.items():
            part: object = getattr(self, name)
            is_plain = isinstance(part, str | list | tuple)  # has methods of the same names
            if part is not None and (is_plain or not hasattr(part, needed)):
                raise wrong_argument(name, getattr(self, name), give)
        if self.model_client is not None:
            complete_of(self.model_client)
        try:
            copy.deepcopy(self.triggers)
        except Exception as error:
            raise ValueError(
                f"triggers={reprlib.repr(self.triggers)}: it is copied for each conversation, which failed ({error}); keep "
                "what cannot be copied out of it, or give it a method __deepcopy__"
            ) from error
        names = {"files", "project"}
        for at, provider in enumerate(self.providers):
            if not all(hasattr(provider, each) for each in ("name", "before_turn", "turn")):
                give = "an object with name, before_turn(turn) and turn(turn)"
                raise wrong_argument(f"providers[{at}]", provider, give)
            if provider.name in names:
                name = f"providers[{at}].name={provider.name!r}"
                raise ValueError(f"{name}: it is taken; give one that no other provider has")
            names.add(provider.name)


def project_of(
    project: "ProjectContext | str | Path | None", cache: "Cache | None" = None
) -> "ProjectContext | None":
    """A project, or that of a folder, whose files are read once for all who share a cache."""
    if not isinstance(project, str | Path):
        return project
    from autogen_context.project.project import ProjectContext  # noqa: PLC0415 - for who has one

    require_folder("project", project)
    from autogen_context.cache.cache import ContextCache  # noqa: PLC0415 - as above

    return ProjectContext(project, cache=cache if isinstance(cache, ContextCache) else None)


def tracker_of(files: "FileChangeTracker | str | Path | None") -> "FileChangeTracker | None":
    """Files that are followed, or those of a folder."""
    if not isinstance(files, str | Path):
        return files
    from autogen_context.project.file_changes import FileChangeTracker  # noqa: PLC0415 - likewise

    require_folder("files", files)
    return FileChangeTracker(files)


def require_folder(name: str, folder: str | Path) -> None:
    """Refuse what is no folder."""
    if not Path(folder).is_dir():
        raise wrong_argument(name, folder, PARTS[name][1])
