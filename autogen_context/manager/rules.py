"""What a session is given: what holds for every turn, what a request has beside messages, and what it works with.

Promise: values only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from autogen_context.budget.policy import BudgetPolicy
from autogen_context.cache.originals import OriginalStore
from autogen_context.compressor.compressor import Compressor
from autogen_context.messages.message import HostFormat
from autogen_context.messages.roles import RoleRules
from autogen_context.messages.tool_call import ToolKinds
from autogen_context.recall.memory import Memory
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import Rates
from autogen_context.triggers.decision import Trigger, TriggerSettings
from autogen_context.view.conversation import Orphans

if TYPE_CHECKING:  # what reads tasks is loaded for those who plan by them
    from autogen_context.prioritizer.advice import Advice
    from autogen_context.prioritizer.score import Prioritizer

CompactionWhen = Literal["when_full", "when_cache_cold", "cost_based"]
"""By the window alone; also when the provider's cache has run out and it is worth it; also what is finished, when that pays."""

Reduce = Literal["auto", "off", "lossless", "lossy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What holds for every turn of a conversation.

    Attributes:
        orphans: what becomes of calls without result and results without call.
        roles: what the model insists on.
        kinds: what tools do.
        reduce: how a tool's result is made smaller before it is first sent.
        versions: how many versions of the context are kept.
        compaction: when the history is rewritten.
        rates: what the provider asks for tokens, cached ones among them.
        triggers: which triggers propose what is finished, where none were handed in.
        cuts_finished: whether what is finished is cut where that pays.
        dry_run: whether what is finished is judged also where that is not acted upon.
        people: names of people in a team, beside those that can be told.
    """

    orphans: Orphans
    roles: RoleRules
    kinds: ToolKinds
    reduce: Reduce
    versions: int
    compaction: CompactionWhen
    rates: Rates
    triggers: TriggerSettings
    cuts_finished: bool
    dry_run: bool
    people: tuple[str, ...]


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
class Room:
    """What a compaction may use.

    Attributes:
        limit_tokens: what all may have.
        fixed_tokens: of these, what the request has beside messages.
    """

    limit_tokens: int
    fixed_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What a session works with.

    Attributes:
        host: reads and writes messages.
        counter: counts messages.
        budget: how much of the window is for what.
        original_store: keeps the originals of what is not sent as it came in.
        memory: looks back in the conversation.
        compressor: makes every text that is sent shorter than it came.
        summaries: what a model makes of spans, by their key; it may grow.
        advice: what a model says of tasks, by their key; it may grow.
        prioritizer: says what matters; ``ContextPrioritizer`` where there is none.
        triggers: what proposes what is finished, to be copied; by the rules where it is ``None``.
        cache_clock: the time by which the provider's cache runs out, in seconds; ``None`` where time decides nothing.
    """

    host: HostFormat
    counter: MessageCounter
    budget: BudgetPolicy
    original_store: OriginalStore
    memory: Memory
    compressor: Compressor
    summaries: Mapping[str, str]
    advice: Mapping[str, "Advice"]
    cache_clock: Callable[[], float] | None = None
    prioritizer: "Prioritizer | None" = None
    triggers: Trigger | None = None
