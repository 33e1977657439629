"""Take a recorded conversation through a manager, as its agent would have.

Promise: the manager sees before each recorded answer what the model saw, and nothing later; no model is called.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autogen_context.cli.recording.conversations import RecordedConversation
from autogen_context.config.config import ContextConfig
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.report.recorder import Recorder
from autogen_context.report.turns import Totals, TurnRecord, totals_of
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import Price, price_of

DEFAULT_MODEL = "gpt-4o"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A conversation after its replay.

    Attributes:
        id: its name in the file.
        model: for which it was replayed.
        source: where the counts are from.
        room_tokens: how many tokens a request may count so that it has no more than its limit for the provider.
        price: what the model costs.
        records: its turns.
        totals: their sums.
    """

    id: str
    model: str
    source: str
    room_tokens: int | None
    price: Price
    records: Sequence[TurnRecord]
    totals: Totals


def replayed(
    conversation: RecordedConversation, config: ContextConfig, *, on_turn: Callable[[], None]
) -> Replayed:
    """Replay a conversation.

    Args:
        conversation: what was recorded.
        config: how its context is kept; its model wins over the recorded one.
        on_turn: called after each turn.

    Raises:
        InvalidTranscript: there are orphans, and the configuration refuses them.
        ValueError: a setting makes no sense.
    """
    model = model_of(conversation, config)
    manager = IncrementalContextManager(model=model, config=config)
    counter, price, host = MessageCounter.for_model(model), price_of(model), OpenAIChat()
    recorder = Recorder(
        count=lambda message: counter.message(host.read(message)),
        tariff=price,
        fixed_tokens=counter.tools(conversation.tools) + counter.overheads.per_request,
    )
    for stop in turn_stops(conversation.messages):
        take_turn(manager, recorder, conversation, stop)
        on_turn()
    totals = totals_of(recorder.records, input_per_million=price.input_per_million)
    limit = totals.limit_tokens
    return Replayed(
        id=conversation.id,
        model=model,
        source=counter.source,
        room_tokens=None if limit is None else counter.calibration.room(limit),
        price=price,
        records=recorder.records,
        totals=totals,
    )


def model_of(conversation: RecordedConversation, config: ContextConfig) -> str:
    """The model for which a conversation is replayed."""
    return config.model or conversation.model or DEFAULT_MODEL


def take_turn(
    manager: IncrementalContextManager,
    recorder: Recorder,
    conversation: RecordedConversation,
    stop: int,
) -> None:
    """One turn, with what the host had then."""
    history = conversation.messages[:stop]
    try:
        prepared = manager.prepare_nowait(history, conversation.tools)
    except ContextWindowExceeded as error:
        recorder.record_impossible(history, error)
    else:
        recorder.record(history, prepared)


def turn_stops(messages: Sequence[Mapping[str, object]]) -> Iterator[int]:
    """How many messages there were each time the model was asked: before each answer, and at an end without one."""
    for i, message in enumerate(messages):
        if i and message["role"] == "assistant":
            yield i
    if messages and messages[-1]["role"] != "assistant":
        yield len(messages)
