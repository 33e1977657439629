"""The arguments of a manager, checked, and what is chosen where none is given.

Promise: a part without the methods it needs is rejected at once; the error names the argument and what to pass.
"""

import copy
import inspect
import math
import os
import reprlib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from autogen_context.argument import listed, wrong_argument
from autogen_context.budget.manager import TokenBudgetManager
from autogen_context.budget.policy import BudgetPolicy, GuardedBudget
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.originals import DiskOriginals, Entry, OriginalStore, OriginalTier
from autogen_context.cache.tier import CacheLimits, Scope
from autogen_context.cache.values import Guarded, TakesCache
from autogen_context.compressor.compressor import SemanticCompressor, guarded
from autogen_context.compressor.protocol import Extracting
from autogen_context.compressor.reducers import GuardedReducer
from autogen_context.config.config import ContextConfig
from autogen_context.manager.options import ManagerOptions
from autogen_context.messages.message import HostFormat
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.models.background import Background
from autogen_context.models.completion import complete_of
from autogen_context.prioritizer.guarded import GuardedPrioritizer
from autogen_context.prioritizer.prioritizer import ContextPrioritizer, Prioritizer
from autogen_context.tokens.limits import ModelLimits, standard_files, variable_for
from autogen_context.tokens.prices import Price, priced_at
from autogen_context.triggers.proposals import EARLY_FROM
from autogen_context.triggers.turn import Trigger

if TYPE_CHECKING:  # imported only when used
    from autogen_context.cache.values import Cache
    from autogen_context.manager.event_log import EventLog
    from autogen_context.manager.events import TurnLog
    from autogen_context.manager.metrics import Metrics

OWN_LIMITS = CacheLimits(kind_bytes=4 * 1024 * 1024)  # of a conversation that is given no cache
# For each argument what it must have at least, and what to pass; the second for each element of a list.
PARTS: Mapping[str, tuple[str, str]] = {
    "budget": (
        "for_turn for_compaction",
        "TokenBudgetManager(...), or an object with its methods for_turn and for_compaction",
    ),
    "host": ("compose", "how the host writes messages, such as OpenAIChat()"),
    "counter": ("count", "an object with a method count(text)"),
    "vectors": ("ready", "a VectorStore"),
    "prioritizer": (
        "scores",
        "a ContextPrioritizer, or your own with a method scores(conversation, need)",
    ),
    "compressor": ("shorten", "a SemanticCompressor, or an object with the methods of Compressor"),
    "triggers": ("observe", "a SemanticHybridTrigger, or an object with a method observe(turn)"),
    "clock": ("__call__", "a function that tells the seconds since 1970, such as time.time"),
    "original_store": ("write", "a RedisOriginals, a DiskOriginals, or your own OriginalTier"),
    "memory": (
        "user_id remember",
        'UserMemory("u-17", folder), of the person whom the agent serves',
    ),
    "files": ("root", "FileChangeTracker(folder), or a folder that is there"),
    "cache": ("remembered", "a ContextCache"),
    "events": ("put", "a file such as run.jsonl, or an EventLog"),
    "metrics": ("fed", "True, or Metrics()"),
    "project": ("for_conversation", "ProjectContext(folder), or a folder that is there"),
    "limits": ("alookup", "ModelLimits(...)"),
}
PLAIN: tuple[type, ...] = (str, list, tuple, type)  # have methods of the same names
LISTS: Mapping[str, tuple[str, str]] = {
    "providers": ("name before_turn turn", "an object with name, before_turn(turn) and turn(turn)"),
    "reducers": (
        "recognises reduce",
        "an object with recognises(call, text) and reduce(call, text, ...)",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a manager is made of, checked: settings, the host's format, the other arguments, and what was opened or chosen for them."""

    config: ContextConfig
    host: HostFormat
    options: ManagerOptions
    background: Background
    kinds: ToolKinds  # what the tools do, by their names
    rates: Price
    limits: ModelLimits
    budget: BudgetPolicy
    prioritizer: ContextPrioritizer | GuardedPrioritizer
    compressor: Extracting
    reducers: tuple[GuardedReducer, ...]
    cache: "Cache"
    own_cache: ContextCache  # used if none was given
    log: "TurnLog | None"
    cuts_finished: bool  # when that pays
    judges_finished: bool  # finished work is looked for, to cut it or to report it


def setup_of(
    config: ContextConfig, host: HostFormat, options: ManagerOptions, background: Background
) -> Setup:
    """Check the arguments of a manager; an error names the argument and what to pass."""
    scope = Scope(tenant=config.tenant, agent=config.agent)
    options = checked(options, host, scope)
    folder = config.originals_directory
    is_folder = folder is None or os.path.isdir(folder)  # noqa: PTH112 - it raises nothing
    if not is_folder and os.path.lexists(folder or ""):
        raise wrong_argument("originals_directory", folder, "a folder; this is not one")
    compressor = options.get("compressor")
    rates = priced_at(
        config.model,
        cached_fraction=config.cached_input_fraction,
        tokens_per_s=config.prefill_tokens_per_s,
        is_hour=config.cache_marks == "1h",
    )
    log = turn_log(config, rates, options)
    cuts = cuts_finished(config, options.get("triggers"))
    given, own_cache = options.get("cache"), ContextCache(limits=OWN_LIMITS)
    cache = own_cache if given is None else given
    if log is not None and (given is not None or compressor or options.get("model_client")):
        log.follow(cache)
    return Setup(
        config=config,
        host=host,
        options=options,
        background=background,
        kinds=ToolKinds(named=config.tools),
        rates=rates,
        limits=options.get("limits") or limits_of(config),
        budget=budget_of(config, options.get("budget")),
        prioritizer=prioritizer_of(options.get("prioritizer")),
        compressor=guarded(compressor or SemanticCompressor()),
        reducers=tuple(map(GuardedReducer, options.get("reducers", ()))),
        cache=Guarded(cache, scope=scope),
        own_cache=own_cache,
        log=log,
        cuts_finished=cuts,
        judges_finished=cuts or config.dry_run,
    )


def budget_of(config: ContextConfig, own: BudgetPolicy | None) -> BudgetPolicy:
    """Return the budget by the settings, or the user's own, for which that one stands in."""
    usual = config.budget_manager()
    if own is None or type(own) is TokenBudgetManager:
        return own or usual
    return GuardedBudget(own, usual)


def prioritizer_of(own: Prioritizer | None) -> ContextPrioritizer | GuardedPrioritizer:
    """Return the usual prioritizer, or the user's own, for which that one stands in."""
    if own is None or type(own) is ContextPrioritizer:
        return own or ContextPrioritizer()
    return GuardedPrioritizer(own)


def checked(options: ManagerOptions, host: HostFormat, scope: Scope) -> ManagerOptions:
    """Return the arguments with folders and files opened, each able to do what it is for; a cache is used by ``scope``."""
    cache, client = options.get("cache"), options.get("model_client")
    own_cache = None if cache is None else Guarded(cache, scope=scope)
    parts = {name: opened(name, part, own_cache) for name, part in options.items()}
    for name, part in {**parts, "host": host}.items():
        if name in PARTS and part is not None:
            require_part(name, part, PARTS[name])
    for name in parts.keys() & LISTS.keys():
        parts[name] = tuple(listed(name, parts[name], give=f"a list; each {LISTS[name][1]}"))
        for at, part in enumerate(cast("tuple[object, ...]", parts[name])):
            require_part(f"{name}[{at}]", part, LISTS[name])
    checked = cast("ManagerOptions", parts)  # each as it was, or what it was opened as
    if client is not None:
        complete_of(client)
    if own_cache is not None and isinstance(vectors := options.get("vectors"), TakesCache):
        vectors.keep_in(own_cache)
    try:
        copy.deepcopy(options.get("triggers"))
    except Exception as error:
        raise ValueError(
            f"triggers={reprlib.repr(options.get('triggers'))}: it is copied for each conversation, which failed ({error}); keep "
            "what cannot be copied out of it, or give it a method __deepcopy__"
        ) from error
    taken = {
        "files",
        "project",
        "memory",
        "facts",
    }  # our own providers, and what a person corrected
    for at, provider in enumerate(checked.get("providers", ())):
        if provider.name in taken:
            raise ValueError(
                f"providers[{at}].name={provider.name!r}: it is taken; give one that no other provider has"
            )
        taken.add(provider.name)
    return checked


def require_part(name: str, part: object, needed: tuple[str, str]) -> None:
    """Require an object that has what it needs, and is nothing plain."""
    names, give = needed
    if isinstance(part, PLAIN) or not all(hasattr(part, each) for each in names.split()):
        raise wrong_argument(name, part, give)


def opened(name: str, part: object, cache: "Cache | None" = None) -> object:
    """Return a part; for a path, or for ``metrics=True``, what that stands for, which is imported only then.

    Projects that share a cache read each file once.
    """
    if name == "metrics" and isinstance(part, bool):
        from autogen_context.manager.metrics import of_process  # noqa: PLC0415 - as said

        return of_process() if part else None
    if name not in ("events", "files", "project") or not isinstance(part, str | Path):
        return part
    if name == "events":
        from autogen_context.manager.event_log import EventLog  # noqa: PLC0415 - as said

        return EventLog(part)
    if not Path(part).is_dir():
        raise wrong_argument(name, part, PARTS[name][1])
    if name == "files":
        from autogen_context.project.file_changes import FileChangeTracker  # noqa: PLC0415 - as said

        return FileChangeTracker(part)
    from autogen_context.project.project import ProjectContext  # noqa: PLC0415 - as said

    return ProjectContext(part, cache=cache)


def turn_log(config: ContextConfig, rates: Price, options: ManagerOptions) -> "TurnLog | None":
    """Return the recorder for event log and metrics, if there are any."""
    log = cast("EventLog | None", options.get("events"))  # as checked
    measured = cast("Metrics | None", options.get("metrics"))
    if log is None and measured is None:
        return None
    from autogen_context.manager.events import TurnLog  # noqa: PLC0415 - imported only when used

    return TurnLog(log, config, rates, measured)


def cuts_finished(config: ContextConfig, triggers: Trigger | None) -> bool:
    """Return True if finished spans are cut when that pays, by the ``compaction`` setting or the configured price."""
    if config.compaction == "when_cache_cold":
        return triggers is not None or (config.cached_input_fraction or 0) >= EARLY_FROM
    return config.compaction == "cost_based"


def originals_of(
    config: ContextConfig,
    entries: Iterable[Entry],
    given: OriginalTier | None,
    conversations: Sequence[str],
) -> OriginalStore:
    """Return the store of originals, filled from a saved state.

    Args:
        config: the settings.
        entries: of the saved state.
        given: a further tier; shared if its scope names an agent or a team.
        conversations: the conversation, and those that it branched from, newest first.
    """
    key = config.store_key or None
    places: list[OriginalTier] = []
    if config.originals_directory:
        room = config.originals_disk_bytes
        places.append(DiskOriginals(config.originals_directory, limit_bytes=room, key=key))
    shared = given
    if isinstance(given, OriginalTier):
        if given.scope.agent or given.scope.conversation:
            shared = given.of(given.scope, key=key)
        else:
            places.append(given)
            shared = None

    def of(place: OriginalTier, conversation: str) -> OriginalTier:
        tenant = place.scope.tenant or config.tenant
        scope = Scope(tenant=tenant, agent=config.agent, conversation=conversation)
        return place.of(scope, key=key)

    return OriginalStore(
        config.originals_bytes,
        entries,
        tiers=[of(place, conversations[0]) for place in places],
        shared=shared,
        earlier=[of(place, before) for before in conversations[1:] for place in places],
        ttl_s=config.originals_ttl_s or math.inf,
    )


def keeps_outside(setup: Setup) -> bool:
    """Return whether originals are kept outside this process."""
    return bool(setup.config.originals_directory or setup.options.get("original_store"))


def limits_of(config: ContextConfig) -> ModelLimits:
    """Return the lookup of model limits, with a discovery endpoint if the configuration names one."""
    own_files = [config.limits_file] if config.limits_file else []
    discovery = None
    if config.discovery_url:
        from autogen_context.tokens.discovery import Discovery  # noqa: PLC0415 - optional

        discovery = Discovery(config.discovery_url, timeout_s=config.discovery_timeout_s)
    return ModelLimits(
        files=(*own_files, *standard_files()),
        discovery=discovery,
        default_tokens=config.default_window_tokens,
        ttl_s=config.limits_ttl_s,
    )


def warn_caller(text: str) -> None:
    """Warn at the first line outside this package that led here."""
    frame, level = inspect.currentframe(), 1
    while frame and str(frame.f_globals.get("__name__")).startswith("autogen_context."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def window_tokens_of(config: ContextConfig, limits: ModelLimits) -> int:
    """Return the configured window, or else the model's; warn if it exceeds the model's or the model is unknown."""
    if not config.model:
        return config.window_tokens or config.default_window_tokens
    known = limits.lookup(config.model)
    if config.window_tokens and config.window_tokens > known.input_tokens:
        warn_caller(
            f"window_tokens={config.window_tokens} is above the {known.input_tokens} input tokens of "
            f"{config.model} ({known.source}): requests may be rejected"
        )
    if not config.window_tokens and known.source == "default" and not config.discovery_url:
        warn_caller(
            f"nothing is known of the model {config.model!r}: a window of {known.input_tokens} tokens is assumed; give "
            f"window_tokens=, set {variable_for(config.model)}, or add a row to ./model_limits.json"
        )
    return config.window_tokens or known.prompt_tokens
