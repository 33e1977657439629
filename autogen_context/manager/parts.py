"""What the turns of one conversation work with: the settings, the window, and the parts that act on them."""

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.cache.originals import Entry, OriginalStore, OriginalTier
from autogen_context.cache.tier import Scope
from autogen_context.compressor.compressor import Compressor
from autogen_context.config.config import ContextConfig
from autogen_context.messages.message import HostFormat
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.recall.recaller import Recaller
from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.tokens.limits import ModelLimits, standard_files, variable_for
from autogen_context.tokens.measure import Count, Source
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import Rates, price_of
from autogen_context.triggers.price import EARLY_FROM
from autogen_context.triggers.turn import Trigger
from autogen_context.view.certificate import Certificate

if TYPE_CHECKING:  # what reads tasks is loaded for those who plan by them
    from autogen_context.prioritizer.advice import Advice
    from autogen_context.prioritizer.prioritizer import Prioritizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the turns of one conversation work with."""

    config: ContextConfig
    host: HostFormat
    counter: MessageCounter
    kinds: ToolKinds
    rates: Rates
    budget: BudgetPolicy
    original_store: OriginalStore
    memory: Recaller
    compressor: Compressor
    summaries: Mapping[str, str]  # what a model makes of spans, by their key; it may grow
    advice: Mapping[str, "Advice"]  # what a model says of tasks, by their key; it may grow
    prioritizer: "Prioritizer | None" = None
    triggers: Trigger | None = None  # to be copied; by the settings where there is none
    cache_clock: Callable[[], float] | None = None  # by which the provider's cache runs out


def rates_in(config: ContextConfig) -> Rates:
    """What input tokens cost: by the settings, else by the model's provider."""
    rates, cached = price_of(config.model), config.cached_input_fraction
    return rates if cached is None else replace(rates, cached_fraction=cached)


def cuts_finished(config: ContextConfig, triggers: Trigger | None) -> bool:
    """Whether what is finished is cut where that pays: asked for, or by the price that is said."""
    if config.compaction == "when_cache_cold":
        return triggers is not None or (config.cached_input_fraction or 0) >= EARLY_FROM
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


class Fixed(NamedTuple):
    """What a request has beside messages, an upper bound, and of that what no provider documents, in tokens."""

    tokens: int
    assumed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A limit in the provider's tokens, of which the host adds the reserve unseen."""

    window_tokens: int
    reserve_tokens: int
    source: Source  # of counts before the first bill

    @property
    def limit_tokens(self) -> int:
        """What is left of the window for what is counted."""
        return self.window_tokens - self.reserve_tokens

    def room(self, calibration: Calibration, rewrites: int) -> int:
        """What a request may have, as we count, after so many rewrites; it fits the limit by the bound, bills included."""
        return calibration.room(self.limit_tokens, rewrites=rewrites)

    def bound(self, calibration: Calibration, counted: int, rewrites: int) -> Count:
        """What a request of so many counted tokens has at most, the reserve apart."""
        source = "provider" if calibration.last else self.source
        return Count(tokens=calibration.bound(counted, rewrites=rewrites), source=source)

    def billed(
        self, calibration: Calibration, certificate: Certificate, prompt_tokens: int
    ) -> Calibration | None:
        """The calibration with what the provider billed for a list that was prepared; ``None`` where that cannot be true.

        The reserve is paid from the bill first: what the host adds beyond it shows as an offset, and what it does not
        use stays reserved.
        """
        bill = Bill(
            counted=certificate.counted_tokens,
            billed=prompt_tokens,
            assumed=certificate.assumed_tokens,
            rewrites=certificate.rewrites,
        )
        if not calibration.believes(bill):
            return None
        billed = max(bill.billed - self.reserve_tokens, calibration.least(bill), 1)
        return calibration.after(replace(bill, billed=billed))


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
