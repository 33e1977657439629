"""What Claude's users have cached: per host, by where the marks stand, and what marking takes.

Promise: real agents with their hosts' own clients, against a server with the rules of Anthropic's prompt cache
(``autogen_context.testing``); the work is that of ``hosts.py``. The script is made up: shares and ratios of one run are comparable,
dollars are not.

    python benchmarks/cache_marks.py [--turns 60] [--part hosts|places|time]
"""

import argparse
import asyncio
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from statistics import median
from time import thread_time
from typing import Any, cast

from autogen_core import FunctionCall
from autogen_core.models import AssistantMessage, FunctionExecutionResult, LLMMessage, UserMessage
from autogen_core.models import FunctionExecutionResultMessage as Results
from host_agents import HOSTS, AgentchatAgent, Job
from long_work import PROMPT, Work
from side_by_side import table

from autogen_context.adapters.agentchat import ManagedChatCompletionClient
from autogen_context.models.cache_marks import MARK, CacheMarks, with_marks
from autogen_context.testing import AnthropicServer, ClaudeUsage, Say, ScriptedModel
from autogen_context.testing.anthropic_cache import ClaudeCache
from autogen_context.testing.anthropic_rules import blocks_of
from autogen_context.testing.usage import approximate_tokens
from autogen_context.tokens.prices import price_of

MODEL = "claude-sonnet-5"
RATES = price_of(MODEL)
WINDOWS_TOKENS = (8_000, 32_000, 200_000)
LONG_PROMPT = " ".join([PROMPT] * 30)  # 700 tokens
HISTORY_MESSAGES, ROUNDS = 300, 40
PARTS = 12

Body = dict[str, Any]
Mark = Callable[[Body], Body]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What a conversation was billed."""

    requests: int
    refused: int
    marks: int
    cached: float  # the part of all input that was read from the cache
    cost: float  # of all input, beside the same without a cache

    @staticmethod
    def of(usages: Sequence[ClaudeUsage], *, refused: int = 0, marks: int = 0) -> "Bill":
        """Add up what the requests were billed."""
        whole = sum(usage.prompt_tokens for usage in usages)
        read = sum(usage.cache_read_input_tokens for usage in usages)
        cost = sum(map(cost_tokens, usages))
        return Bill(
            requests=len(usages),
            refused=refused,
            marks=marks,
            cached=read / whole,
            cost=cost / whole,
        )


def cost_tokens(usage: ClaudeUsage) -> float:
    """What a request costs, in uncached input tokens."""
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    return RATES.cost_tokens(read + written, read) + usage.input_tokens


async def work(host: str, turns: int, window_tokens: int, **ours: Any) -> tuple[Bill, list[Body]]:
    """An agent's bill and its requests."""
    job = Work(turns)
    steps = [step for task in job.tasks for step in task.steps]
    async with AnthropicServer(ScriptedModel(steps), window_tokens=window_tokens) as server:
        agent = HOSTS[host][0](
            Job(
                url=server.base_url,
                tools=job.tools(),
                prompt=LONG_PROMPT,
                model=MODEL,
                is_claude=True,
                ours={"window_tokens": window_tokens, **ours},
            )
        )
        for task in job.tasks:
            with redirect_stdout(StringIO()):
                await agent.ask(task.instruction)
        await agent.aclose()
    usages = [request.usage for request in server.requests if request.usage]
    marks = max(len(request.marks) for request in server.requests)
    bodies = [dict(request.body) for request in server.requests if request.body]
    return Bill.of(usages, refused=len(server.rejected), marks=marks), bodies


# Where the marks stand


def ends(body: Body, *sections: str) -> list[tuple[str | int, ...]]:
    """The last blocks of tools, system prompt and messages."""
    found: list[tuple[str | int, ...]] = []
    for section in sections:
        if section == "newest":
            last = body["messages"][-1]["content"]
            count = 1 if isinstance(last, str) else len(last)
            found.append(("messages", len(body["messages"]) - 1, count - 1))
        elif body.get(section):
            count = 1 if isinstance(body[section], str) else len(body[section])
            found.append((section, count - 1))
    return found


def at(*sections: str) -> Callable[[], Mark]:
    """Marks at the same ends in each request."""
    return lambda: lambda body: with_marks(body, ends(body, *sections), "5m")


POLICIES: dict[str, Callable[[], Mark]] = {
    "none": lambda: lambda body: body,
    "newest (automatic caching)": at("newest"),
    "system, newest (AG2)": at("newest", "system"),
    "tools, system, newest": at("newest", "system", "tools"),
    "ours": lambda: CacheMarks().marked,
}


def replayed(bodies: Iterable[Body], mark: Mark) -> Bill:
    """What the same requests are billed with other marks."""
    cache = ClaudeCache(approximate_tokens, lambda: 0.0)
    return Bill.of([cache.billed(mark(without_marks(body))) for body in bodies])


def without_marks(value: Any) -> Any:
    """A request without its marks."""
    if isinstance(value, dict):
        pairs = cast("Body", value).items()
        return {name: without_marks(each) for name, each in pairs if name != MARK}
    if isinstance(value, list):
        return [*map(without_marks, cast("Sequence[Any]", value))]
    return value


def many_calls(bodies: Sequence[Body]) -> list[Body]:
    """The same conversation where each answer has twelve calls for each of its own, so that a step has 24 blocks."""
    return [
        {
            **body,
            "messages": [
                {**message, "content": [*several(blocks_of(message["content"]))]}
                for message in body["messages"]
            ],
        }
        for body in bodies
    ]


def several(blocks: Iterable[Body]) -> Iterator[Body]:
    """Each call and each result in twelve parts."""
    for block in blocks:
        name = {"tool_use": "id", "tool_result": "tool_use_id"}.get(block["type"])
        if name is None:
            yield block
            continue
        for part in range(PARTS):
            yield {**block, name: f"{block[name]}_{part}", **part_of(block, part)}


def part_of(block: Body, part: int) -> Body:
    """A part of a result; calls are short."""
    content = block.get("content")
    if not isinstance(content, str):
        return {}
    size = -(-len(content) // PARTS)
    return {"content": content[part * size : (part + 1) * size]}


def with_reminder(bodies: Sequence[Body]) -> list[Body]:
    """The same conversation with a text at the end of each request that is another one in the next."""
    said = [
        {"role": "user", "content": [{"type": "text", "text": f"It is {number} o'clock. " * 40}]}
        for number in range(len(bodies))
    ]
    return [
        {**body, "messages": [*body["messages"], more]}
        for body, more in zip(bodies, said, strict=True)
    ]


# What marking takes


async def hold_ms() -> tuple[float, float]:
    """CPU time of a request that only appends, without and with marks: manager, AutoGen's and Anthropic's client."""
    taken: dict[str, list[float]] = {"off": [], "auto": []}
    async with AnthropicServer(ScriptedModel(lambda _: Say("Yes."))) as server:
        client = AgentchatAgent(Job(url=server.base_url, model=MODEL, is_claude=True)).client
        histories: dict[str, list[LLMMessage]] = {}
        managed: dict[str, ManagedChatCompletionClient] = {}
        for marks in taken:
            histories[marks] = [UserMessage(content="Go.", source="user")]
            managed[marks] = ManagedChatCompletionClient(
                client,
                MODEL,
                window_tokens=1_000_000,
                cache_marks=marks,  # type: ignore[arg-type]
            )
        for number in range(HISTORY_MESSAGES // 2 + ROUNDS):
            for marks, history in histories.items():
                call = FunctionCall(id=f"c{number}", name="read", arguments='{"page": 1}')
                result = FunctionExecutionResult(
                    content=f"{number}: " + "a line of a log. " * 100, name="read", call_id=call.id
                )
                history += [AssistantMessage(content=[call], source="a"), Results(content=[result])]
                if number < HISTORY_MESSAGES // 2 - 1:
                    continue
                begun = thread_time()
                await managed[marks].create(
                    history,
                    tools=[{"name": "read", "parameters": {"type": "object", "properties": {}}}],
                )
                taken[marks].append((thread_time() - begun) * 1e3)
        await client.close()
    return median(taken["off"][2:]), median(taken["auto"][2:])


def percent(part: float) -> str:
    """A part in percent."""
    return f"{part:.1%}"


async def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--part", choices=("hosts", "places", "time"))
    asked = parser.parse_args()
    logging.getLogger("autogen_context").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    if asked.part in {None, "hosts"}:
        rows: list[Sequence[str]] = []
        for host in HOSTS:
            for window in WINDOWS_TOKENS:
                for marks in ("off", "auto"):
                    bill, _ = await work(host, asked.turns, window, cache_marks=marks)
                    figures = (
                        percent(bill.cached),
                        f"{bill.cost:.3f}",
                        str(bill.marks),
                        str(bill.refused),
                    )
                    rows.append((host, f"{window:,}", marks, str(bill.requests), *figures))
        print(
            table(
                ("host", "window", "marks", "requests", "cached", "cost", "most", "refused"), *rows
            )
        )
    if asked.part in {None, "places"}:
        rows = []
        for window in WINDOWS_TOKENS:
            _, bodies = await work("agentchat", asked.turns, window)
            for name, start in POLICIES.items():
                shapes = bodies, many_calls(bodies), with_reminder(bodies)
                bills = [replayed(shape, start()) for shape in shapes]
                pairs = [
                    each for bill in bills for each in (percent(bill.cached), f"{bill.cost:.3f}")
                ]
                rows.append((f"{window:,}", name, *pairs))
        names = (
            "window",
            "marks at",
            "one call",
            "cost",
            "twelve calls",
            "cost",
            "reminder",
            "cost",
        )
        print(table(names, *rows))
    if asked.part in {None, "time"}:
        without, marked = await hold_ms()
        print(
            f"a request of {HISTORY_MESSAGES} messages: {without:.1f} ms, {marked:.1f} ms with marks: {marked / without:.2f}"
        )


if __name__ == "__main__":
    asyncio.run(main())
