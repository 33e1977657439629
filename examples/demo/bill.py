"""What the conversation cost and kept, beside two other ways of sending it.

Promise: each number is of the messages that the agent and its tools produced in this run, counted as the server does; what
was not sent is counted as if it had been, at the same price. What happened in a turn is what its event log says.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from autogen_core import FunctionCall
from autogen_core.models import AssistantMessage, FunctionExecutionResult, LLMMessage

from autogen_context import Prepared
from autogen_context.adapters.agentchat import AgentChatFormat
from autogen_context.messages.identifiers import is_distinctive, values_of
from autogen_context.report.bill import BilledRequest, bill_of, billed, price_in
from autogen_context.report.events import Run as LoggedRun
from autogen_context.tokens.message_counter import MessageCounter

NAMES = ("everything", "sliding window", "autogen_context")


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
    requests: Sequence[BilledRequest]
    rejected: int
    dollars: float
    kept: float


class Bill:
    """The requests of one conversation.

    Args:
        run: the run in the event log.
        history: all messages of the conversation, the system prompt first.
        sent: what was prepared for each request, in order.
        billed_tokens: what the server counted in each of them.
        window_tokens: what the server takes in a request.
    """

    def __init__(
        self,
        run: LoggedRun,
        *,
        history: Sequence[LLMMessage],
        sent: Sequence[Prepared[LLMMessage]],
        billed_tokens: Sequence[int],
        window_tokens: int,
    ) -> None:
        self._history, self._billed = history, billed_tokens
        self._counter, self._host = counter_of(run.turns[0]["model"]), AgentChatFormat()
        self._counted, self._named = dict[int, int](), dict[int, frozenset[str]]()
        self._window, self._price = window_tokens, price_in(run)
        self._fixed = billed_tokens[0] - sum(map(self._count, sent[0].messages))
        self._stops = [i for i, m in enumerate(history) if isinstance(m, AssistantMessage)]
        self._lists: Sequence[Sequence[Sequence[LLMMessage]]] = (
            [history[:stop] for stop in self._stops],
            [self._newest(stop) for stop in self._stops],
            [prepared.messages for prepared in sent],
        )
        numbers = {event["turn"] for event in run.others if event["event"] == "usage"}
        turns = [record for record in bill_of(run) if record.turn in numbers]
        ways = map(self._requests, self._lists)
        self.records = [
            replace(turn, room_tokens=window_tokens, whole=whole, sliding=sliding, sent=ours)
            for turn, whole, sliding, ours in zip(turns, *ways, strict=True)
        ]
        self.ways = list(self._ways())

    @property
    def conversation_tokens(self) -> int:
        """The whole conversation with its last answer."""
        return self._fixed + sum(map(self._count, self._history))

    @property
    def is_exact(self) -> bool:
        """Whether each request was counted as the server billed it."""
        counted = [record.sent.tokens for record in self.records if record.sent]
        return counted == list(self._billed)

    def _ways(self) -> Iterator[Way]:
        """Everything; a sliding window of system prompt, task and the newest steps that fit; and what was sent."""
        whole = [record.whole for record in self.records]
        sliding = [record.sliding for record in self.records if record.sliding]
        sent = [record.sent for record in self.records if record.sent]
        needed = [self._values_needed(stop) for stop in self._stops]
        for name, requests, lists in zip(NAMES, (whole, sliding, sent), self._lists, strict=True):
            pairs = zip(needed, lists, strict=True)
            there = sum(len(named & self._values(messages)) for named, messages in pairs)
            yield Way(
                name=name,
                requests=requests,
                rejected=sum(request.tokens > self._window for request in requests),
                dollars=sum(map(dollars_of, requests)),
                kept=there / sum(map(len, needed)),
            )

    def _values_needed(self, stop: int) -> frozenset[str]:
        """Names, paths and numbers in the calls of a message that stand further back than the newest results."""
        last = max((before for before in self._stops if before < stop), default=stop)
        back = self._values(self._history[:last])
        newest = self._values(self._history[last:stop])
        used = self._values(self._history[stop : stop + 1])
        return frozenset(filter(is_distinctive, (used & back) - newest))

    def _newest(self, stop: int) -> Sequence[LLMMessage]:
        """System prompt, task, and from the first step on with which the rest fits; the newest step at least."""
        head = self._history[: self._stops[0]]
        room = self._window - self._fixed - sum(map(self._count, head))
        starts = [start for start in self._stops if start < stop]
        fitting = [n for n in starts if sum(map(self._count, self._history[n:stop])) <= room]
        start = next(iter(fitting or starts[-1:]), stop)
        return [*head, *self._history[start:stop]]

    def _requests(self, lists: Sequence[Sequence[LLMMessage]]) -> Iterator[BilledRequest]:
        """Bill requests, each with what it has in common with the start of the one before as cached."""
        before: Sequence[LLMMessage] = ()
        for messages in lists:
            pairs = takewhile(lambda pair: pair[0] == pair[1], zip(before, messages, strict=False))
            same = sum(self._count(message) for message, _ in pairs)
            tokens = self._fixed + sum(map(self._count, messages))
            yield billed(self._price, len(messages), tokens, self._fixed + same if before else 0)
            before = messages

    def _values(self, messages: Iterable[LLMMessage]) -> frozenset[str]:
        """The names, paths and numbers in messages."""
        return frozenset[str]().union(*map(self._values_in, messages))

    def _values_in(self, message: LLMMessage) -> frozenset[str]:
        if id(message) not in self._named:  # all of them live as long as this
            self._named[id(message)] = frozenset[str]().union(*map(values_of, texts(message)))
        return self._named[id(message)]

    def _count(self, message: LLMMessage) -> int:
        if id(message) not in self._counted:  # likewise
            read = self._host.read(message)
            # AutoGen's client does not send the name of the tool with its result.
            results = tuple(replace(result, name="") for result in read.results)
            self._counted[id(message)] = self._counter.message(replace(read, results=results))
        return self._counted[id(message)]


def dollars_of(request: BilledRequest) -> float:
    """The price of a request; what is not known is not 0."""
    if request.dollars is None:
        raise ValueError("the demo's model has no price in dollars; take one from prices.json")
    return request.dollars


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
