"""What the conversation cost, and what it would have cost otherwise.

Promise: each number is counted on the messages that the agent and its tools produced in this run; what was not sent is
counted as if it had been, at the same price.
"""

from collections.abc import Sequence
from dataclasses import replace

from autogen_core.models import AssistantMessage, LLMMessage

from autogen_context import Prepared
from autogen_context.adapters.agentchat import AgentChatFormat
from autogen_context.report.recorder import Recorder, Series
from autogen_context.report.turns import TurnRecord
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import price_of


class Bill:
    """Counts the requests of one conversation.

    Args:
        model: whose tokenizer and prices count.
        history: all messages of the conversation, the system prompt first.
        sent: what was prepared for each request, in order.
        billed_tokens: what the server counted in each of them; the first one says what the tools cost.
    """

    def __init__(
        self,
        model: str,
        *,
        history: Sequence[LLMMessage],
        sent: Sequence[Prepared[LLMMessage]],
        billed_tokens: Sequence[int],
    ) -> None:
        self._history, self._sent, self._billed = history, sent, billed_tokens
        self._counter, self._host = counter_of(model), AgentChatFormat()
        self._price = price_of(model)
        self._tokens = [self._count(message) for message in history]
        self._fixed = billed_tokens[0] - sum(map(self._count, sent[0].messages))
        self._stops = [i for i, m in enumerate(history) if isinstance(m, AssistantMessage)]

    @property
    def input_per_million(self) -> float | None:
        """Dollars for a million input tokens, where known."""
        return self._price.input_per_million

    @property
    def conversation_tokens(self) -> int:
        """The whole conversation with its last answer."""
        return self._fixed + sum(self._tokens)

    @property
    def is_bound(self) -> bool:
        """Whether no request was counted below what the server billed: the names of tools' results are not sent by this host."""
        counted = [record.sent.tokens for record in self.records() if record.sent]
        return all(ours >= billed for ours, billed in zip(counted, self._billed, strict=True))

    def records(self) -> list[TurnRecord]:
        """A record of each request."""
        recorder = Recorder(count=self._count, tariff=self._price, fixed_tokens=self._fixed)
        for stop, prepared in zip(self._stops, self._sent, strict=True):
            recorder.record(self._history[:stop], prepared)
        return recorder.records

    def sliding_cost_tokens(self, window_tokens: int) -> float:
        """The price of sending system prompt, task and the newest steps that fit, anew with each request.

        Returns:
            In uncached input tokens.
        """
        series = Series(self._count, self._price, self._fixed)
        requests = (self._newest(stop, window_tokens) for stop in self._stops)
        return sum(series.bill(messages).cost_tokens for messages in requests)

    def _newest(self, stop: int, window_tokens: int) -> Sequence[LLMMessage]:
        """System prompt, task, and from the first step on with which the rest fits; the newest step at least."""
        head = self._stops[0]
        room = window_tokens - self._fixed - sum(self._tokens[:head])
        starts = [start for start in self._stops if start < stop]
        fitting = [start for start in starts if sum(self._tokens[start:stop]) <= room]
        start = next(iter(fitting or starts[-1:]), stop)
        return [*self._history[:head], *self._history[start:stop]]

    def _count(self, message: object) -> int:
        return self._counter.message(self._host.read(message))


def counter_of(model: str) -> MessageCounter:
    """Counts as OpenAI documents it, and as the server does.

    The model's own counter is above that: what a call adds beside its texts is documented nowhere.
    """
    counter = MessageCounter.for_model(model)
    return MessageCounter(counter, replace(counter.overheads, per_call=0, per_result=0))
