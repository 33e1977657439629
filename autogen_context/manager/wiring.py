"""From settings to parts: what a configuration asks for, made.

Promise: nothing is read, loaded or asked before it is needed, and a setting that is given wins over one that is found.
"""

import math
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from autogen_context.budget.manager import TokenBudgetManager
from autogen_context.cache.originals import Entry, OriginalStore, OriginalTier
from autogen_context.cache.tier import Scope
from autogen_context.config.config import ContextConfig
from autogen_context.manager.rules import Rules
from autogen_context.manager.window import Window
from autogen_context.messages.message import content_digest
from autogen_context.messages.roles import RoleRules
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.tokens.limits import ModelLimits, standard_files, variable_for
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import price_of, rates_of
from autogen_context.tokens.rates import Rates
from autogen_context.triggers.decision import TriggerSettings

if TYPE_CHECKING:
    from autogen_context.recall.asked_back import AskedBack
    from autogen_context.triggers.decision import Trigger

RECALLED_FRACTION = 0.25  # of the window, for one answer of the tool ``recall_context``


def rules_of(config: ContextConfig, triggers: "Trigger | None" = None) -> Rules:
    """What holds for every turn.

    Args:
        config: all settings.
        triggers: what was handed in to propose what is finished; whoever does so wants it asked.
    """
    return Rules(
        orphans=config.orphans,
        roles=RoleRules(alternate=config.alternate_roles, single_system=config.single_system),
        kinds=ToolKinds(named=config.tools),
        reduce=config.reduce,
        versions=config.versions,
        compaction=config.compaction,
        rates=rates_in(config),
        cuts_finished=cuts_finished(config, has_triggers=triggers is not None),
        triggers=triggers_of(config),
        dry_run=config.dry_run,
        people=config.people,
    )


def budget_of(config: ContextConfig) -> TokenBudgetManager:
    """How much of a window is for what, where no other budget is given."""
    return TokenBudgetManager(
        role=config.role,
        profile=config.profile,
        compact_at_fraction=config.compact_at_fraction,
        compact_to_fraction=config.compact_to_fraction,
    )


def rates_in(config: ContextConfig) -> Rates:
    """What input tokens cost: by the settings, else by the model's provider."""
    rates, cached = rates_of(price_of(config.model)), config.cached_input_fraction
    return rates if cached is None else replace(rates, cached_fraction=cached)


def cuts_finished(config: ContextConfig, *, has_triggers: bool) -> bool:
    """Whether what is finished is cut where that pays: asked for, or said that there is no cache that it could break."""
    if config.compaction == "when_cache_cold":
        return has_triggers or config.cached_input_fraction == 1
    return config.compaction == "cost_based"


def id_of(config: ContextConfig) -> str:
    """What stands for the conversation of an agent of a tenant: 12 hex digits."""
    return content_digest(Scope(tenant=config.tenant, agent=config.agent).key)[:6].hex()


def branch_id(parent: str, number: int) -> str:
    """What stands for a branch of a conversation: 12 hex digits."""
    return content_digest(parent, str(number))[:6].hex()


def triggers_of(config: ContextConfig) -> TriggerSettings:
    """What proposes that something is finished."""
    return TriggerSettings(
        subtasks=config.enable_subtask_detection,
        intents=config.enable_intent_detection,
        boundaries=config.enable_boundary_detection,
        staleness=config.enable_staleness_detection,
        staleness_threshold=config.staleness_threshold,
        fallback_turns=config.fallback_turns,
    )


def originals_of(
    config: ContextConfig, entries: Iterable[Entry], shared: OriginalTier | None
) -> OriginalStore:
    """Where originals are kept, with what a saved state holds of them, and what is shared with other agents."""
    tiers: list[OriginalTier] = [] if shared is None else [shared]
    if config.originals_directory:
        from autogen_context.cache.originals import DiskOriginals  # noqa: PLC0415 - for who asks

        scope = Scope(tenant=config.tenant, agent=config.agent)
        room = config.originals_disk_bytes
        tiers.insert(0, DiskOriginals(config.originals_directory, scope=scope, limit_bytes=room))
    ttl_s = config.originals_ttl_s or math.inf
    return OriginalStore(config.originals_bytes, entries, tiers=tiers, ttl_s=ttl_s)


def asked_back(originals: OriginalStore, counter: MessageCounter, window: Window) -> "AskedBack":
    """Who answers the tool ``recall_context``."""
    from autogen_context.recall.asked_back import AskedBack  # noqa: PLC0415 - for agents that ask

    return AskedBack(
        originals,
        count=lambda text: counter.count(text).tokens,  # the counter would remember every trial
        room_tokens=int(window.limit_tokens * RECALLED_FRACTION),
    )


def limits_of(config: ContextConfig) -> ModelLimits:
    """Where the model's limits are looked up, an endpoint among it if the configuration names one."""
    own_files = [config.limits_file] if config.limits_file else []
    discovery = None
    if config.discovery_url:
        from autogen_context.tokens.discovery import Discovery  # noqa: PLC0415 - for who asks

        discovery = Discovery(config.discovery_url, timeout_s=config.discovery_timeout_s)
    return ModelLimits(
        files=(*own_files, *standard_files()),
        discovery=discovery,
        default_tokens=config.default_window_tokens,
        ttl_s=config.limits_ttl_s,
    )


def window_of(config: ContextConfig, counter: MessageCounter) -> Window:
    """The window of a request."""
    return Window(
        window_tokens=window_tokens_of(config),
        reserve_tokens=config.reserve_tokens,
        source=counter.source,
    )


def window_tokens_of(config: ContextConfig) -> int:
    """The window as given, else the model's; warns where the one exceeds the other."""
    if not config.model:
        return config.window_tokens or config.default_window_tokens
    known = limits_of(config).lookup(config.model)
    if config.window_tokens and config.window_tokens > known.input_tokens:
        warnings.warn(
            f"window_tokens={config.window_tokens} is above the {known.input_tokens} input tokens of "
            f"{config.model} ({known.source}): requests may be rejected",
            stacklevel=2,
        )
    if not config.window_tokens and known.source == "default" and not config.discovery_url:
        warnings.warn(
            f"nothing is known of the model {config.model!r}: a window of {known.input_tokens} tokens is assumed; give "
            f"window_tokens=, set {variable_for(config.model)}, or add a row to ./model_limits.json",
            stacklevel=2,
        )
    return config.window_tokens or known.prompt_tokens
