"""The arguments of a manager, which every adapter takes as well: its parts, and each setting by its name.

Promise: a signature, and so ``help`` and an editor, shows them all; one that does not exist is a ``TypeError`` with the way out.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, ForwardRef, Literal, TypedDict, TypeVar, cast

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.cache.originals import OriginalTier
from autogen_context.compressor.protocol import Compressor
from autogen_context.compressor.reducers import ResultReducer
from autogen_context.config.config import RENAMED, WITHOUT_EFFECT, ContextConfig
from autogen_context.config.settings import SettingArguments
from autogen_context.models.completion import ModelClient
from autogen_context.models.embedder import Vectors
from autogen_context.prioritizer.prioritizer import Prioritizer
from autogen_context.tokens.limits import ModelLimits
from autogen_context.tokens.measure import CountsText
from autogen_context.triggers.turn import Trigger
from autogen_context.view.notice import ContextProvider

if TYPE_CHECKING:  # imported only when used
    from autogen_context.cache.values import Cache
    from autogen_context.manager.event_log import EventLog
    from autogen_context.manager.metrics import Metrics
    from autogen_context.memory.user_memory import UserMemory
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])


class Parts(TypedDict, total=False):
    """Arguments that are no settings: parts of the user's own, and what the manager is connected with.

    ``model_client="host"`` uses the agent's own client, for adapters that receive the agent.
    """

    config: ContextConfig | None
    counter: CountsText | None
    budget: BudgetPolicy | None
    prioritizer: Prioritizer | None
    compressor: Compressor | None
    reducers: Sequence[ResultReducer]
    triggers: Trigger | None
    cache: "Cache | None"
    model_client: ModelClient | Literal["host"] | None
    vectors: Vectors | None
    project: "ProjectContext | str | Path | None"
    files: "FileChangeTracker | str | Path | None"
    providers: Sequence[ContextProvider]
    original_store: OriginalTier | None
    memory: "UserMemory | None"
    events: "EventLog | str | Path | None"
    metrics: "Metrics | bool | None"
    limits: ModelLimits | None
    clock: Callable[[], float] | None


class ManagerOptions(SettingArguments, Parts, total=False):
    """All of them; a setting that is given here wins over ``config``."""


def divided(options: ManagerOptions) -> tuple[Mapping[str, object], ManagerOptions]:
    """Return the settings among some arguments, and the rest; raise ``TypeError`` for one that does not exist."""
    settings: dict[str, object] = {}
    parts: dict[str, object] = {}
    for name, value in options.items():
        if name in Parts.__annotations__:
            parts[name] = value
        elif name in SettingArguments.__annotations__ or name in {**RENAMED, **WITHOUT_EFFECT}:
            settings[name] = value
        else:
            raise TypeError(f"{name!r} is no argument; {way_out(name)}")
    return settings, cast("ManagerOptions", parts)  # their names are checked


def way_out(name: str) -> str:
    """Return what to give in place of an argument that does not exist."""
    if name in ContextConfig.model_fields:
        return f"it is a setting: give config=ContextConfig({name}=...)"
    known = ["model", *ManagerOptions.__annotations__]
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"


def takes_options(function: FunctionT) -> FunctionT:
    """Show in the signature of a function each of the arguments that it takes as ``**options``."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    named: list[Parameter] = []
    for name, kind in cast("Mapping[str, object]", ManagerOptions.__annotations__).items():
        shown = kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind
        named.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=shown))
    vars(function)["__signature__"] = signature.replace(parameters=[*own, *named])
    return function
