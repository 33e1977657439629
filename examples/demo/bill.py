"""What the conversation cost and kept, beside two other ways of sending it.

Promise: each number is of the messages that the agent and its tools produced in this run. What was sent, and what sending
everything would have cost, comes from the run's event log; the sliding window is counted in the same way.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autogen_core import FunctionCall
from autogen_core.models import AssistantMessage, FunctionExecutionResult, LLMMessage

from autogen_context import Prepared
from autogen_context.adapters.agentchat import AgentChatFormat
from autogen_context.messages.identifiers import is_telling, values_of
from autogen_context.report.bill import Request, bill_of, billed, price_in
from autogen_context.report.events import Run as LoggedRun
from autogen_context.tokens.message_counter import MessageCounter


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
        self._history, self._sent, self._billed = history, sent, billed_tokens
        self._window, self._price = window_tokens, price_in(run)
        numbers = {event["turn"] for event in run.others if event["event"] == "usage"}
        self.records = [record for record in bill_of(run) if record.turn in numbers]
        host, counter = AgentChatFormat(), MessageCounter.for_model(run.turns[0]["model"])
        self._tokens = [counter.message(host.read(message)) for message in history]
        self._fixed = run.turns[-1]["fixed"]
        self._stops = [i for i, m in enumerate(history) if isinstance(m, AssistantMessage)]
        self._needed = [self._values_needed(stop) for stop in self._stops]

    @property
    def conversation_tokens(self) -> int:
        """The whole conversation with its last answer."""
        return self._fixed + sum(self._tokens)

    @property
    def is_bound(self) -> bool:
        """Whether no request was counted below what the server billed."""
        counted = [record.sent.tokens for record in self.records if record.sent]
        return all(ours >= billed for ours, billed in zip(counted, self._billed, strict=True))

    def ways(self) -> list[Way]:
        """Everything; a sliding window of system prompt, task and the newest steps that fit; and what was sent."""
        starts = [self._start(stop) for stop in self._stops]
        head = self._history[: self._stops[0]]
        whole = [self._history[:stop] for stop in self._stops]
        newest = [[*head, *self._history[a:b]] for a, b in zip(starts, self._stops, strict=True)]
        sent = [prepared.messages for prepared in self._sent]
        return [
            self._way("everything", [record.whole for record in self.records], whole),
            self._way("sliding window", list(self._sliding(starts)), newest),
            self._way("autogen_context", [r.sent for r in self.records if r.sent], sent),
        ]

    def _way(
        self, name: str, requests: Sequence[Request], lists: Sequence[Sequence[LLMMessage]]
    ) -> Way:
        pairs = zip(self._needed, lists, strict=True)
        there = sum(len(needed & values(messages)) for needed, messages in pairs)
        return Way(
            name=name,
            requests=requests,
            rejected=sum(request.tokens > self._window for request in requests),
            dollars=sum(request.dollars or 0.0 for request in requests),
            kept=there / sum(map(len, self._needed)),
        )

    def _values_needed(self, stop: int) -> frozenset[str]:
        """Names, paths and numbers in the calls of a message that stand further back than the newest results."""
        last = max((before for before in self._stops if before < stop), default=stop)
        back, newest = values(self._history[:last]), values(self._history[last:stop])
        used = values(self._history[stop : stop + 1])
        return frozenset(filter(is_telling, (used & back) - newest))

    def _start(self, stop: int) -> int:
        """The first step of a sliding window: with it the rest fits; the newest one at least."""
        room = self._window - self._fixed - sum(self._tokens[: self._stops[0]])
        starts = [start for start in self._stops if start < stop]
        fitting = [start for start in starts if sum(self._tokens[start:stop]) <= room]
        return next(iter(fitting or starts[-1:]), stop)

    def _sliding(self, starts: Sequence[int]) -> Iterator[Request]:
        """What each request of a sliding window has; while it begins with the same step, it only grows."""
        front = self._fixed + sum(self._tokens[: self._stops[0]])
        began, tokens = -1, 0
        for start, stop in zip(starts, self._stops, strict=True):
            shared = 0 if not tokens else tokens if start == began else front
            began, tokens = start, front + sum(self._tokens[start:stop])
            yield billed(self._price, self._stops[0] + stop - start, tokens, shared)


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
