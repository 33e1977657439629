"""The schema of the events of a run, as they stand in an event log."""

from dataclasses import replace
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from autogen_context.tokens.measure import Count
from autogen_context.tokens.prices import CostEstimate, Price, price_of


class UnitEvent(TypedDict):
    """The decision on a unit: messages ``unit`` up to but not including ``stop`` of the host's list, from 0."""

    unit: int
    stop: int
    role: str  # of its first message
    tool: str  # the first one called; empty if none
    section: str
    action: str
    reason: str
    before: int  # tokens as received
    after: int  # tokens as sent
    handle: str
    score: float | None  # None if the unit was not ranked
    place: int | None
    among: int | None
    text: NotRequired[str]


class Size(TypedDict):
    """The size of a list of messages."""

    messages: int
    tokens: int


class SentTokens(Size):
    """The size of a request: ``prefix`` tokens shared with the start of the last one with the same tools, then ``new`` tokens."""

    new: int
    prefix: int
    cached: NotRequired[int]  # of the prefix, by the provider's rule
    cost: NotRequired[float]  # in uncached input tokens


class PriceEvent(TypedDict):
    """What a ``Price`` says of input tokens, under its names."""

    cached_fraction: float
    write_fraction: float
    input_per_million: float | None
    tokens_per_s: float | None
    # Absent in logs of earlier releases:
    minimum_prefix_tokens: NotRequired[int]
    block_tokens: NotRequired[int]
    cache_ttl_s: NotRequired[float]


class LostEvent(TypedDict):
    """What a request lost of the provider's cache: sent before, and sent again behind a change."""

    cause: str  # as `autogen-context doctor` names it
    where: str  # the changed part; no text of it
    tokens: int  # no longer cached, by the provider's rule
    again: int  # sent again, whatever the provider caches of them
    cost: float  # that they cost more, in uncached input tokens


class RuleEvent(TypedDict):
    """A rule, limit or preference of a person, by the message that stated it: null if the host has cut that from its list."""

    message: int | None
    kind: str
    text: NotRequired[str]  # with record_text


class EndedRuleEvent(RuleEvent):
    """A rule that is no longer in force since message ``by``."""

    by: int


class RulesEvent(TypedDict):
    """What a turn changed of the rules in force."""

    anew: bool  # all rules are listed, since the log or the conversation begins or the host changed its list
    stated: list[RuleEvent]
    ended: list[EndedRuleEvent]
    absent: list[RuleEvent]  # in force, and not word for word in this turn's request


class GoalEvent(TypedDict):
    """What people want of the agent, or what a program set."""

    by: Literal["people", "program", "nobody"]
    messages: list[
        int
    ]  # that state it, in the host's list; none if a program set it, or if the host has cut them
    text: NotRequired[str]  # with record_text


class QualityEvent(TypedDict):
    """Quality measures of a compaction; ``None`` where there was nothing to measure."""

    used: float | None  # fraction of the model and tool text sent before that was used again
    relevance: float | None  # 0..10: share of the total score that was kept
    compression: float | None  # 0..10: share of values kept in shortened units


class Header(TypedDict):
    """What every event of a run has."""

    v: Literal[1]
    run: str
    agent: str
    model: str
    turn: int
    at: float


class TurnEvent(Header):
    """One turn. Its units from message ``since`` on replace those of earlier events."""

    event: Literal["turn"]
    ms: float
    limit: int
    bound: Count  # upper bound on the provider's count
    counted: int
    fixed: int
    # Which tools the request has; absent without, and in logs of earlier releases.
    tools: NotRequired[str]
    history: Size
    sent: SentTokens
    # Of all that is sent but the tools, up to the newest unit, and of a run's first request up to each unit: nobody who has not all of
    # that can tell a text from it. Absent in logs of earlier releases.
    digest: NotRequired[str]
    begins: NotRequired[list[str]]
    # What broke the prefix; null where nothing did, and absent in logs of earlier releases.
    lost: NotRequired[LostEvent | None]
    compacted: bool
    estimate: CostEstimate | None
    price: PriceEvent
    sections: dict[str, int]
    # Null where nothing changed and no rule is absent, and absent in logs of earlier releases.
    rules: NotRequired[RulesEvent | None]
    # Null where it is as in the event before, and absent in logs of earlier releases.
    goal: NotRequired[GoalEvent | None]
    since: int
    units: list[UnitEvent]
    cut: float | None
    compaction_ms: float  # 0 if it did not compact
    quality: QualityEvent | None  # None as well then


class ImpossibleEvent(Header):
    """A turn that could not be prepared: the tokens needed, by part."""

    event: Literal["impossible"]
    ms: float
    limit: int
    needed: int
    parts: dict[str, int]
    history: Size


def price_in(turn: TurnEvent) -> Price:
    """Return the price of the input of a turn: what the event says of it, and the table for the rest."""
    return replace(price_of(turn["model"]), **turn["price"])
