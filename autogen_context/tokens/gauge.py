"""What a model's name says of counting: the tokenizer, what the chat format adds, and how far to trust both.

Promise: counting starts at once with what is on this machine; only ``load_tokenizer`` waits, and not beyond its limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from autogen_context.tokens.calibrate import Calibration
from autogen_context.tokens.families import Family, family_of, image_tokens, tool_schema_tokens
from autogen_context.tokens.measure import Meter, Overheads, TokenCounter
from autogen_context.tokens.tokenizers import counter_for, fetch_ranks

ESTIMATE_LOWEST_RATIO = 0.25  # an estimate is an upper bound; at worst some four times the truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """How requests to one model are counted.

    Attributes:
        family: the model's row in the table of families.
        counter: counts texts.
        meter: counts messages.
        calibration: what is known of the difference to bills before the first one.
    """

    family: Family
    counter: TokenCounter
    meter: Meter
    calibration: Calibration

    def tool_tokens(self, tools: Sequence[Mapping[str, object]]) -> int:
        """What the schemas of tools add to a request, an upper bound."""
        return tool_schema_tokens(tools, self.counter, self.family)


def gauge_for(model: str, counter: TokenCounter | None = None, *, own_name: str = "") -> Gauge:
    """How to count for a model.

    Args:
        model: its name.
        counter: another counter than its family's.
        own_name: the author's name under which the host sends messages of our own.
    """
    family = family_of(model)
    chosen = counter or counter_for(family.encoding)
    own = family.chat.per_name + chosen.count(own_name).tokens if own_name else 0
    meter = Meter(chosen, overheads_of(family, per_own=own))
    counts = meter.source == "tokenizer"
    calibration = Calibration(
        ratio=1.0 if counter else family.ratio,  # who brings a counter brings the model's own
        lowest_ratio=family.lowest_ratio if counts else ESTIMATE_LOWEST_RATIO,
    )
    return Gauge(family=family, counter=chosen, meter=meter, calibration=calibration)


async def load_tokenizer(model: str, *, timeout_s: float) -> None:
    """Have the model's tokenizer ready, if it can be within the limit; 0 does not try."""
    if timeout_s > 0:
        await fetch_ranks(family_of(model).encoding, timeout_s=timeout_s)


def overheads_of(family: Family, *, per_own: int) -> Overheads:
    """What the family's chat format adds; a role is one token in every known vocabulary."""
    chat = family.chat
    return Overheads(
        per_message=chat.per_message + 1,
        per_name=chat.per_name,
        per_request=chat.per_request,
        per_call=chat.per_call,
        per_result=chat.per_result,
        image_tokens=partial(image_tokens, rule=family.image),
        per_own=per_own,
    )
