"""What a request may have, in the tokens that we count.

Promise: what fits the room fits the limit by the bound, bills included.
"""

import warnings
from dataclasses import dataclass, replace

from autogen_context.config.config import ContextConfig
from autogen_context.tokens.calibrate import Bill, Calibration
from autogen_context.tokens.limits import ModelLimits, standard_files, variable_for
from autogen_context.tokens.measure import Count, Source
from autogen_context.view.certificate import Certificate


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What a request has beside messages: tools, the start of the answer.

    Attributes:
        tokens: all of it, an upper bound.
        assumed: of these, what no provider documents.
    """

    tokens: int
    assumed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A limit, which the calibration of a view translates into what we count.

    Attributes:
        window_tokens: what a request may have as input, as the provider counts.
        reserve_tokens: of these, what the host adds unseen.
        source: where counts come from before the first bill.
    """

    window_tokens: int
    reserve_tokens: int
    source: Source

    @property
    def limit_tokens(self) -> int:
        """What is left of the window for what is counted."""
        return self.window_tokens - self.reserve_tokens

    def room(self, calibration: Calibration, rewrites: int) -> int:
        """What a request may have, as we count, after so many rewrites of the history."""
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
