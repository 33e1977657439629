"""A real agent of each host at long work in a small window: with this library, and with the host's own managers.

Promise: every manager has the same script, tools, client and server. The server notes what OpenAI would refuse and
answers all the same, so that each goes through the whole script.

    python benchmarks/hosts.py [--turns 200] [--host ag2] [--ours] [--json]
"""

import argparse
import asyncio
import json
import logging
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from io import StringIO
from itertools import pairwise
from statistics import fmean
from time import process_time
from typing import Any

from host_agents import COUNTER, HOSTS, WINDOW, Job
from long_work import Task, Work
from side_by_side import table
from typing_extensions import override

from autogen_context.adapters.register import AgentContext
from autogen_context.testing import (
    ChatMessage,
    LoopbackServer,
    Request,
    ScriptedModel,
    ServedRequest,
    Step,
    Usage,
)
from autogen_context.testing.answers import completion
from autogen_context.testing.transport import ReceivedRequest
from autogen_context.testing.wire import ApiError, JsonObject, Reply, json_reply
from autogen_context.tokens.prices import Rates

RATES = Rates(cached_fraction=0.1)  # a cached token at a tenth of one that is not
# AutoGen counts the whole history anew for each message that it takes out: the square of the turns, half an hour for 200.
MOST_TURNS = {"TokenLimited(7,500)": 60}


class BilledModel(ScriptedModel):
    """Takes the steps of the work, and keeps whether the request was compacted."""

    def __init__(self, work: Work) -> None:
        self._steps = iter([step for task in work.tasks for step in task.steps])
        self.compacted: list[bool] = []
        self.context: AgentContext[Any] | None = None
        super().__init__(self._next, count=lambda text: COUNTER.count(text).tokens)

    def _next(self, _request: Request) -> Step:
        prepared = self.context.last_prepared if self.context else None
        self.compacted.append(prepared is not None and prepared.compacted)
        return next(self._steps)


class LenientServer(LoopbackServer):
    """Answers also what it refuses; ``waits`` are the CPU times since a tool had its result, in seconds."""

    def __init__(self, model: ScriptedModel, work: Work) -> None:
        super().__init__(model, window_tokens=WINDOW)
        self._of, self._work = model, work
        self.refusals: dict[int, str] = {}
        self.waits: list[float] = []

    @override
    def _serve(self, arrival: ReceivedRequest) -> Reply:
        if self._work.ended:
            self.waits.append(process_time() - self._work.ended)
            self._work.ended = 0.0
        return super()._serve(arrival)

    @override
    def _chat(self, record: ServedRequest, body: JsonObject) -> Reply:
        try:
            return super()._chat(record, body)
        except ApiError as refusal:
            self.refusals[record.number] = refusal.message
            answer = self._of.answer(record.messages, tools=record.tools)
            return json_reply(completion(answer, model=str(body["model"])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One manager at one piece of work; shares are from 0 to 1."""

    host: str
    manager: str
    turns: int
    requests: int
    refused: int  # as OpenAI would
    orphans: int  # calls without a result and results without a call, in all requests
    newest: float  # requests with all results of the newest call, or with the person's new message
    instruction: float  # requests with the latest instruction
    largest_tokens: int
    appending: float  # requests that only add to the one before
    appending_between: float | None  # the same of those for which ours compacted nothing
    cost_tokens: int  # all prompts, cached tokens at a tenth
    retention: float  # calls whose value stands in the request that they answer
    ms: float  # CPU time from a tool's result to the arrival of the next request, on the average
    resumes: bool | None = None  # whether the same is sent after a state through JSON in the middle


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What was sent, refused, billed and waited for."""

    work: Work
    sent: Sequence[Sequence[ChatMessage]]
    refused: int
    bills: Sequence[Usage]
    compacted: Sequence[bool]
    waits: Sequence[float]


async def run(host: str, manager: str, turns: int, *, restart: bool = False) -> Run:
    """One agent from the first task to the last; with a restart it goes on from its state in the middle."""
    kind, managers = HOSTS[host]
    work = Work(turns)
    model = BilledModel(work)
    async with LenientServer(model, work) as server:
        agent = kind(Job(url=server.base_url, tools=work.tools(), own=managers[manager]))
        for number, task in enumerate(work.tasks):
            if restart and number == len(work.tasks) // 2:
                await agent.restart()
            model.context = agent.context
            await agent.ask(task.instruction)
        await agent.aclose()
    return Run(
        work=work,
        sent=[request.messages for request in server.requests],
        refused=len(server.refusals),
        bills=model.bills,
        compacted=model.compacted,
        waits=server.waits,
    )


async def measure(host: str, manager: str, turns: int) -> Figures:
    """The figures of one manager; ours runs twice, once with a restart."""
    turns = min(turns, MOST_TURNS.get(manager, turns))
    done, resumes, between = await run(host, manager, turns), None, None
    waits = done.waits
    grown = [after[: len(before)] == before for before, after in pairwise(done.sent)]
    if manager == "ours":
        again = await run(host, manager, turns, restart=True)
        resumes, waits = again.sent == done.sent, again.waits  # by now everything is imported
        between = fmean(
            is_more for is_more, cut in zip(grown, done.compacted[1:], strict=True) if not cut
        )
    asked = list(zip(done.sent, done.work.answers, strict=True))
    held = [
        turn.about in json.dumps(messages)
        for messages, (_, turn) in asked
        if turn is not None and turn.told_in >= 0
    ]
    return Figures(
        host=host,
        manager=manager,
        turns=turns,
        requests=len(done.sent),
        refused=done.refused,
        orphans=sum(map(orphans, done.sent)),
        newest=fmean(newest_is_there(done.work, n, sent) for n, sent in enumerate(done.sent)),
        instruction=fmean(is_said(task, messages) for messages, (task, _) in asked),
        largest_tokens=max(bill.prompt_tokens for bill in done.bills),
        appending=fmean(grown),
        appending_between=between,
        cost_tokens=round(sum(map(cost, done.bills))),
        retention=fmean(held),
        ms=fmean(waits) * 1e3,
        resumes=resumes,
    )


def orphans(messages: Iterable[ChatMessage]) -> int:
    """Results without a call, and calls whose result does not follow."""
    found, pending = 0, set[str]()
    for message in messages:
        if message["role"] == "tool":
            found += message["tool_call_id"] not in pending
            pending.discard(message["tool_call_id"])
        else:
            found += len(pending)
            pending = {call["id"] for call in message.get("tool_calls") or ()}
    return found + len(pending)


def newest_is_there(work: Work, number: int, messages: Sequence[ChatMessage]) -> bool:
    """Whether a request has what its agent heard last."""
    task, _ = work.answers[number]
    turn = work.answers[number - 1][1] if number else None
    if turn is None:  # the person spoke
        return task.instruction in str(messages[-1].get("content"))
    calls = turn.step if isinstance(turn.step, list) else [turn.step]
    wanted = {f"call_{number:06d}_{at}" for at in range(len(calls))}
    return wanted <= {str(message.get("tool_call_id")) for message in messages[-len(calls) :]}


def is_said(task: Task, messages: Iterable[ChatMessage]) -> bool:
    """Whether a request has the instruction of its task, as the person gave it."""
    return any(
        message["role"] == "user" and task.instruction in str(message["content"])
        for message in messages
    )


def cost(bill: Usage) -> float:
    """A bill in tokens at the full price."""
    return RATES.cost_tokens(bill.prompt_tokens, bill.cached_tokens)


def rows(figures: Iterable[Figures]) -> Iterable[Sequence[str]]:
    """The table."""
    yield (
        "", "requests", "refused", "orphans", "newest", "instruction", "largest", "append", "between",
        "resumes", "cost", "retention", "ms a turn",
    )  # fmt: skip
    for each in figures:
        yield (
            f"{each.host}: {each.manager}", f"{each.requests}", f"{each.refused}", f"{each.orphans}",
            f"{each.newest:.0%}", f"{each.instruction:.0%}", f"{each.largest_tokens:,}",
            f"{each.appending:.0%}",
            "" if each.appending_between is None else f"{each.appending_between:.0%}",
            {None: "", True: "yes", False: "NO"}[each.resumes], f"{each.cost_tokens / 1e3:,.0f}k",
            f"{each.retention:.0%}", f"{each.ms:.1f}",
        )  # fmt: skip


async def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description="Real agents of each host at long work.")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--host", choices=HOSTS, action="append", help="all, where none is named")
    parser.add_argument("--ours", action="store_true", help="without the hosts' own managers")
    parser.add_argument("--json", action="store_true", help="a line for each manager")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    with redirect_stdout(StringIO()):  # classic agents print the results of their tools
        found = [
            await measure(host, manager, asked.turns)
            for host in asked.host or HOSTS
            for manager in HOSTS[host][1]
            if manager == "ours" or not asked.ours
        ]
    if asked.json:
        for each in found:
            print(json.dumps(asdict(each)))
    else:
        print(table(*rows(found)))


if __name__ == "__main__":
    asyncio.run(main())
