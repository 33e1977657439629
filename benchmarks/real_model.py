"""A real agent at long work with a real model on this machine, its context kept by this library and by others.

Promise: every manager has the same script, tools and window, and a model of its own with nothing in it. Requests are read one at a
time, the first of each manager, then the second of each, so that a busy moment is one of all. The model reads every request and gives
up to 16 tokens; what the agent goes on with is the script's next step, so that all see the same turns. Seconds are those from a tool's
result, or what the person says, to the model's first token, the work of the manager among them. Peers that count tokens are given
the model's own tokenizer and what the prompt and the tools take; this library has neither.

    python benchmarks/real_model.py [--turns 32] [--only ours] [--threads 2] [--lines FILE] [--picture docs/real-model.svg]
    python benchmarks/real_model.py --calibration        # bound and bill of 200 requests, which nobody answers
"""

import argparse
import asyncio
import json
import logging
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from threading import Condition
from time import perf_counter
from typing import Any, cast

from agent_framework import (
    ContextWindowCompactionStrategy,
    SlidingWindowStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
)
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResultMessage,
    LLMMessage,
    ModelInfo,
)
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from host_agents import AgentchatAgent, FrameworkAgent, HostAgent, Job, Options, Tools
from hosts import orphans
from langchain_core.messages import BaseMessage, convert_to_messages, trim_messages  # pyright: ignore[reportUnknownVariableType] - langchain's annotation names a class of another package
from long_work import PROMPT, Work
from real_picture import drawn
from side_by_side import table
from small_model import NAME, AnsweringModel, SmallModel
from typing_extensions import override

from autogen_context.adapters.register import AgentContext
from autogen_context.testing import ChatMessage, LoopbackServer, ServedRequest
from autogen_context.testing.answers import completion
from autogen_context.testing.wire import Json, JsonObject, Reply, json_reply

WINDOW = 2_000
SIZES = (80, 320)  # tokens of a tool's result, about; the model's tokenizer takes 1.4 times as many
MESSAGES = 8  # four calls and their results, for managers that count messages
INFO = ModelInfo(
    vision=False,
    function_calling=True,
    json_output=False,
    family="unknown",
    structured_output=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One request; what is only known where the model read it is none where it was refused."""

    prompt_tokens: int
    evaluated_tokens: int | None
    seconds: float | None  # to the first token
    holds: (
        bool | None
    )  # whether the value that the answer takes stands in it; none where it takes none
    bound_tokens: int | None = None  # of ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One manager at the work."""

    manager: str
    turns: Sequence[Turn]
    orphans: int


class Rounds:
    """Gives the machine to one request of each after the other, so that a busy moment is one of all."""

    def __init__(self, names: Sequence[str]) -> None:
        self._left, self._at, self._moved = list(names), 0, Condition()

    @contextmanager
    def turn(self, name: str) -> Generator[None]:
        """Wait for the turn of a manager, and have it."""
        with self._moved:
            self._moved.wait_for(lambda: self._left[self._at] == name)
        yield
        with self._moved:
            self._at = (self._at + 1) % len(self._left)
            self._moved.notify_all()

    def leave(self, name: str) -> None:
        """Go on without a manager that is through."""
        with self._moved:
            gone = self._left.index(name)
            del self._left[gone]
            self._at -= gone < self._at
            self._at %= max(1, len(self._left))
            self._moved.notify_all()


class Server(LoopbackServer):
    """Refuses what does not fit into the model, and nothing else: its template takes every order of messages."""

    def __init__(self, model: AnsweringModel, work: Work, rounds: Rounds, name: str) -> None:
        super().__init__(model, window_tokens=WINDOW, model_names=[NAME])
        self.seconds: list[float | None] = []
        self._of, self._work, self._rounds, self._manager = model, work, rounds, name

    @override
    def _chat(self, record: ServedRequest, body: JsonObject) -> Reply:
        managed_s = perf_counter() - self._work.ended
        with self._rounds.turn(self._manager):
            if record.prompt_tokens > WINDOW:
                answer = self._of.refused(record.messages)
                self.seconds.append(None)
            else:
                began = perf_counter()
                answer = self._of.answer(record.messages, tools=record.tools)
                reading = self._of.readings[-1]
                read_s = reading.first_token_at - began if reading else 0.0
                self.seconds.append(managed_s + read_s)
        return json_reply(completion(answer, model=str(body["model"])))


class ChatAgent(AgentchatAgent):
    """``AssistantAgent`` of AgentChat with the client of a server that somebody runs."""

    def __init__(self, job: Job, model: SmallModel) -> None:
        HostAgent.__init__(self, job)
        self._client = CountingClient(model, job.url)
        self._begin()


class CountingClient(OpenAIChatCompletionClient):
    """AutoGen's client of a server that somebody runs, which counts messages exactly."""

    def __init__(self, model: SmallModel, url: str = "http://127.0.0.1:1") -> None:
        super().__init__(model=NAME, api_key="none", base_url=url, model_info=INFO)
        self._small = model

    @override
    def count_tokens(self, messages: Sequence[LLMMessage], **_: Any) -> int:
        return len(self._small.prompt([each for m in messages for each in as_openai(m)]))


class TrimmedContext(UnboundedChatCompletionContext):
    """LangChain's ``trim_messages`` as it is used for agents: the newest messages that fit, from a person or an answer on."""

    def __init__(self, model: SmallModel, room_tokens: int) -> None:
        super().__init__()
        self._small, self._room_tokens = model, room_tokens

    @override
    async def get_messages(self) -> list[LLMMessage]:
        said = await super().get_messages()
        numbered = [(i, each) for i, message in enumerate(said) for each in as_openai(message)]
        theirs = convert_to_messages([each for _, each in numbered])
        for (i, each), message in zip(numbered, theirs, strict=True):
            message.id = str(i)
            message.additional_kwargs["tokens"] = len(self._small.prompt([each]))
        left = trim_messages(
            theirs, max_tokens=self._room_tokens, token_counter=tokens_of, start_on=["human", "ai"]
        )
        return [said[i] for i in sorted({int(message.id or 0) for message in left})]


def tokens_of(messages: Iterable[BaseMessage]) -> int:
    """Tokens of LangChain's messages, counted before."""
    return sum(message.additional_kwargs["tokens"] for message in messages)


def as_openai(message: LLMMessage) -> list[ChatMessage]:
    """A message of AutoGen as the API has it."""
    if isinstance(message, FunctionExecutionResultMessage):
        results = message.content
        return [{"role": "tool", "tool_call_id": r.call_id, "content": r.content} for r in results]
    if not isinstance(message, AssistantMessage) or isinstance(message.content, str):
        role = {"SystemMessage": "system", "UserMessage": "user"}.get(message.type, "assistant")
        return [{"role": role, "content": str(message.content)}]
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in message.content
    ]
    return [{"role": "assistant", "content": message.thought or "", "tool_calls": calls}]


class Tokenizer:
    """The model's own, for those of Agent Framework's strategies that take one."""

    def __init__(self, model: SmallModel) -> None:
        self._small = model

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return self._small.count(text)


def contexts(model: SmallModel, room: int) -> Mapping[str, Options | None]:
    """What manages AgentChat's agent."""
    counting = CountingClient(model)
    made: Mapping[str, Callable[[], ChatCompletionContext]] = {
        "Unbounded": UnboundedChatCompletionContext,
        f"Buffered({MESSAGES})": partial(BufferedChatCompletionContext, MESSAGES),
        f"HeadAndTail(1, {MESSAGES - 1})": partial(
            HeadAndTailChatCompletionContext, 1, MESSAGES - 1
        ),
        "TokenLimited": partial(TokenLimitedChatCompletionContext, counting, token_limit=room),
        "LangChain trim_messages": partial(TrimmedContext, model, room),
    }
    return {"autogen-context": None} | {
        name: partial(given, "model_context", make) for name, make in made.items()
    }


def given(name: str, make: Callable[[], object], **more: object) -> dict[str, Any]:
    """The argument of an agent that says who manages its context, made anew."""
    return {name: make(), **more}


def strategies(model: SmallModel, room: int) -> Mapping[str, Options]:
    """What manages Agent Framework's agent."""
    exact = Tokenizer(model)
    made: Mapping[str, Callable[[], object]] = {
        f"AF SlidingWindow({MESSAGES // 2})": partial(
            SlidingWindowStrategy, keep_last_groups=MESSAGES // 2
        ),
        "AF Truncation(to half)": partial(
            TruncationStrategy, max_n=room, compact_to=room // 2, tokenizer=exact
        ),
        "AF TokenBudget(ToolResult(2))": lambda: TokenBudgetComposedStrategy(
            token_budget=room,
            tokenizer=exact,
            strategies=[ToolResultCompactionStrategy(keep_last_tool_call_groups=2)],
        ),
        "AF ContextWindow": partial(
            ContextWindowCompactionStrategy,
            max_context_window_tokens=room,
            max_output_tokens=0,
            tokenizer=exact,
        ),
    }
    return {
        name: partial(given, "compaction_strategy", make, tokenizer=exact)
        for name, make in made.items()
    }


def managers(model: SmallModel) -> Mapping[str, Callable[[str, Tools], HostAgent]]:
    """Each manager with an agent of its own."""
    tools = [FunctionTool(tool, description=str(tool.__doc__)).schema for tool in Work(1).tools()]
    wire: list[Json] = [{"type": "function", "function": cast("Json", each)} for each in tools]
    room = WINDOW - len(model.prompt([{"role": "system", "content": PROMPT}], wire))
    ours = {"model": f"llama.cpp/{NAME}", "window_tokens": WINDOW}

    def chat(own: Options | None, url: str, tools: Tools) -> HostAgent:
        return ChatAgent(Job(url=url, tools=tools, model=NAME, ours=ours, own=own), model)

    def framework(own: Options, url: str, tools: Tools) -> HostAgent:
        return FrameworkAgent(Job(url=url, tools=tools, model=NAME, own=own))

    return {name: partial(chat, own) for name, own in contexts(model, room).items()} | {
        name: partial(framework, own) for name, own in strategies(model, room).items()
    }


class Working:
    """One manager at the work, from the first task to the last."""

    def __init__(self, name: str, model: SmallModel, turns: int, rounds: Rounds) -> None:
        self.name, self._model, self._rounds = name, model, rounds
        self._work = Work(turns, sizes=SIZES, clock=perf_counter)
        steps = [step for task in self._work.tasks for step in task.steps]
        self._answering = AnsweringModel(steps, model)
        self._server = Server(self._answering, self._work, rounds, name)
        self._bounds: list[int | None] = []

    async def go(self) -> None:
        """Do all of it."""
        async with self._server as server:
            agent = managers(self._model)[self.name](server.base_url, self._work.tools())
            if agent.context:
                self._answering.on_answer = lambda: self._bounds.append(bound_in(agent.context))
            for task in self._work.tasks:
                self._work.ended = perf_counter()
                await agent.ask(task.instruction)
            await agent.aclose()
        self._rounds.leave(self.name)

    @property
    def run(self) -> Run:
        """What is known so far."""
        made: list[Turn] = []
        orphaned = 0
        for i, (request, seconds) in enumerate(
            zip(self._server.requests, self._server.seconds, strict=False)
        ):
            reading, turn = self._answering.readings[i], self._work.answers[i][1]
            takes = turn is not None and turn.told_in >= 0
            orphaned += orphans(request.messages)
            made.append(
                Turn(
                    prompt_tokens=request.prompt_tokens,
                    evaluated_tokens=reading.evaluated_tokens if reading else None,
                    seconds=seconds,
                    holds=turn.about in json.dumps(request.messages) if turn and takes else None,
                    bound_tokens=self._bounds[i] if self._bounds else None,
                )
            )
        return Run(manager=self.name, turns=made, orphans=orphaned)


def bound_in(context: AgentContext[Any] | None) -> int | None:
    """How many tokens the newest request has at most, by its certificate."""
    prepared = context.last_prepared if context else None
    return prepared.certificate.bound.tokens if prepared else None


def rows(runs: Iterable[Run]) -> Iterable[Sequence[str]]:
    """The table; times are of the requests that were answered."""
    yield (
        "", "refused", "read", "of sent", "first token, median", "longest", "waited",
        "still there", "orphans",
    )  # fmt: skip
    for each in runs:
        answered = [turn for turn in each.turns if turn.evaluated_tokens is not None]
        read = sum(turn.evaluated_tokens or 0 for turn in answered)
        waits = [turn.seconds or 0.0 for turn in answered]
        held = [turn.holds for turn in each.turns if turn.holds is not None]
        yield (
            each.manager,
            f"{len(each.turns) - len(answered)}",
            f"{read:,}",
            f"{read / max(1, sum(turn.prompt_tokens for turn in answered)):.0%}",
            f"{median(waits):.1f} s",
            f"{max(waits):.1f} s",
            f"{sum(waits):.0f} s",
            f"{fmean(held):.0%}",
            f"{each.orphans}",
        )


def calibrated(ours: Run) -> Iterable[Sequence[str]]:
    """How the bound of a request compares with what the model's own tokenizer counts."""
    yield ("requests", "above the bound", "bound by bill: median", "least", "most")
    for first, last in ((0, 1), (1, 10), (10, 50), (50, len(ours.turns))):
        ratios = [(t.bound_tokens or 0) / t.prompt_tokens for t in ours.turns[first:last]]
        if ratios:
            yield (
                f"{first + 1} to {last}",
                f"{sum(ratio < 1 for ratio in ratios)}",
                f"{median(ratios):.3f}",
                f"{min(ratios):.3f}",
                f"{max(ratios):.3f}",
            )


async def main() -> None:
    """Measure what is asked for, print it, and draw it."""
    parser = argparse.ArgumentParser(description="A real agent with a real model on this machine.")
    parser.add_argument("--turns", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2, help="as many as there are quiet cores")
    parser.add_argument("--only", action="append", help="managers whose name begins so")
    parser.add_argument("--dry", action="store_true", help="tokens alone: nothing is evaluated")
    parser.add_argument("--calibration", action="store_true", help="bound and bill of ours, dry")
    parser.add_argument("--lines", type=Path, help="write what was measured, as JSON")
    parser.add_argument("--picture", type=Path, help="write the picture")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    dry = asked.dry or asked.calibration
    new = partial(SmallModel, window_tokens=WINDOW, threads=asked.threads, evaluates=not dry)
    begins = ("autogen",) if asked.calibration else tuple(asked.only or [""])
    names = [name for name in managers(new(evaluates=False)) if name.startswith(begins)]
    rounds = Rounds(names)
    working = [Working(name, new(), asked.turns, rounds) for name in names]
    doing = asyncio.gather(*(each.go() for each in working))
    while not doing.done():
        await asyncio.wait([doing], timeout=20)
        runs = [each.run for each in working]
        if asked.lines:
            asked.lines.write_text(json.dumps([asdict(each) for each in runs]))
    await doing
    runs = [each.run for each in working]
    print(table(*(calibrated(runs[0]) if asked.calibration else rows(runs))))
    if asked.picture:
        asked.picture.write_text(drawn({r.manager: [t.seconds for t in r.turns] for r in runs}))


if __name__ == "__main__":
    asyncio.run(main())
