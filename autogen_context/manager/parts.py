"""What the turns of one conversation work with: the settings, and the parts that act on them."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.cache.originals import Entry, OriginalStore, OriginalTier
from autogen_context.cache.tier import Scope
from autogen_context.compressor.compressor import Compressor
from autogen_context.config.config import ContextConfig
from autogen_context.messages.message import HostFormat
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.recall.recaller import Recaller
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import Rates, price_of
from autogen_context.triggers.turn import Trigger

if TYPE_CHECKING:  # what reads tasks is loaded for those who plan by them
    from autogen_context.prioritizer.advice import Advice
    from autogen_context.prioritizer.score import Prioritizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the turns of one conversation work with.

    Attributes:
        config: all settings.
        host: reads and writes messages.
        counter: counts messages.
        kinds: what tools do.
        rates: what the provider asks for tokens, cached ones among them.
        budget: how much of the window is for what.
        original_store: keeps the originals of what is not sent as it came in.
        memory: looks back in the conversation.
        compressor: makes every text that is sent shorter than it came.
        summaries: what a model makes of spans, by their key; it may grow.
        advice: what a model says of tasks, by their key; it may grow.
        prioritizer: says what matters; ``ContextPrioritizer`` where there is none.
        triggers: what proposes what is finished, to be copied; by the settings where it is ``None``.
        cache_clock: the time by which the provider's cache runs out, in seconds; ``None`` where time decides nothing.
    """

    config: ContextConfig
    host: HostFormat
    counter: MessageCounter
    kinds: ToolKinds
    rates: Rates
    budget: BudgetPolicy
    original_store: OriginalStore
    memory: Recaller
    compressor: Compressor
    summaries: Mapping[str, str]
    advice: Mapping[str, "Advice"]
    prioritizer: "Prioritizer | None" = None
    triggers: Trigger | None = None
    cache_clock: Callable[[], float] | None = None


def rates_in(config: ContextConfig) -> Rates:
    """What input tokens cost: by the settings, else by the model's provider."""
    rates, cached = price_of(config.model), config.cached_input_fraction
    return rates if cached is None else replace(rates, cached_fraction=cached)


def cuts_finished(config: ContextConfig, triggers: Trigger | None) -> bool:
    """Whether what is finished is cut where that pays: asked for, or said that there is no cache that it could break."""
    if config.compaction == "when_cache_cold":
        return triggers is not None or config.cached_input_fraction == 1
    return config.compaction == "cost_based"


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
