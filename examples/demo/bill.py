"""What the conversation cost and kept, beside two other ways of sending it.

Promise: each number is counted on the messages that the agent and its tools produced in this run; what was not sent is
counted as if it had been, at the same price.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from autogen_core import FunctionCall
from autogen_core.models import AssistantMessage, FunctionExecutionResult, LLMMessage

from autogen_context import Prepared
from autogen_context.adapters.agentchat import AgentChatFormat
from autogen_context.messages.identifiers import is_telling, values_of
from autogen_context.report.recorder import Recorder, Series
from autogen_context.report.turns import Request, TurnRecord
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.tokens.prices import price_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of sending the conversation.

    Attributes:
        name: what it is called.
        requests: what each request has.
        rejected: of these, how many the server refuses.
        dollars: what the input costs.
        kept: the share of the values that calls took from further back and that stood in the request, 0 to 1.
    """

    name: str
    requests: Sequence[Request]
    rejected: int
    dollars: float
    kept: float


class Bill:
    """Counts the requests of one conversation.

    Args:
        model: whose tokenizer and prices count.
        history: all messages of the conversation, the system prompt first.
        sent: what was prepared for each request, in order.
        billed_tokens: what the server counted in each of them; the first one says what the tools cost.
        window_tokens: what the server takes in a request.
    """

    def __init__(
        self,
        model: str,
        *,
        history: Sequence[LLMMessage],
        sent: Sequence[Prepared[LLMMessage]],
        billed_tokens: Sequence[int],
        window_tokens: int,
    ) -> None:
        self._history, self._sent, self._billed = history, sent, billed_tokens
        self._window = window_tokens
        self._counter, self._host = counter_of(model), AgentChatFormat()
        self._price = price_of(model)
        self._tokens = [self._count(message) for message in history]
        self._fixed = billed_tokens[0] - sum(map(self._count, sent[0].messages))
        self._stops = [i for i, m in enumerate(history) if isinstance(m, AssistantMessage)]
        self._needed = [self._values_needed(stop) for stop in self._stops]

    @property
    def input_per_million(self) -> float:
        """Dollars for a million input tokens."""
        return self._price.input_per_million or 0.0

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

    def ways(self) -> list[Way]:
        """Everything; a sliding window of system prompt, task and the newest steps that fit; and what was sent."""
        return [
            self._way("everything", [self._history[:stop] for stop in self._stops]),
            self._way("sliding window", [self._newest(stop) for stop in self._stops]),
            self._way("autogen_context", [prepared.messages for prepared in self._sent]),
        ]

    def _way(self, name: str, lists: Sequence[Sequence[LLMMessage]]) -> Way:
        series = Series(self._count, self._price, self._fixed)
        requests = [series.bill(messages) for messages in lists]
        there = [
            len(needed & values(messages))
            for needed, messages in zip(self._needed, lists, strict=True)
        ]
        return Way(
            name=name,
            requests=requests,
            rejected=sum(request.tokens > self._window for request in requests),
            dollars=sum(r.cost_tokens for r in requests) * self.input_per_million / 1e6,
            kept=sum(there) / sum(map(len, self._needed)),
        )

    def _values_needed(self, stop: int) -> frozenset[str]:
        """Names, paths and numbers in the calls of a message that stand further back than the newest results."""
        last = max((before for before in self._stops if before < stop), default=stop)
        back, newest = values(self._history[:last]), values(self._history[last:stop])
        used = values(self._history[stop : stop + 1])
        return frozenset(filter(is_telling, (used & back) - newest))

    def _newest(self, stop: int) -> Sequence[LLMMessage]:
        """System prompt, task, and from the first step on with which the rest fits; the newest step at least."""
        head = self._stops[0]
        room = self._window - self._fixed - sum(self._tokens[:head])
        starts = [start for start in self._stops if start < stop]
        fitting = [start for start in starts if sum(self._tokens[start:stop]) <= room]
        start = next(iter(fitting or starts[-1:]), stop)
        return [*self._history[:head], *self._history[start:stop]]

    def _count(self, message: object) -> int:
        return self._counter.message(self._host.read(message))


def values(messages: Iterable[LLMMessage]) -> frozenset[str]:
    """The names, paths and numbers in messages."""
    return frozenset[str]().union(*(values_of(text) for m in messages for text in texts(m)))


def texts(message: LLMMessage) -> Iterator[str]:
    """What a message says: its text, the arguments of its calls, or their results."""
    if isinstance(message.content, str):
        yield message.content
        return
    for part in message.content:
        if isinstance(part, FunctionCall):
            yield part.arguments
        elif isinstance(part, FunctionExecutionResult):
            yield part.content


def counter_of(model: str) -> MessageCounter:
    """Counts as OpenAI documents it, and as the server does.

    The model's own counter is above that: what a call adds beside its texts is documented nowhere.
    """
    counter = MessageCounter.for_model(model)
    return MessageCounter(counter, replace(counter.overheads, per_call=0, per_result=0))
