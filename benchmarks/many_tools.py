"""120 tools of 30,000 tokens in a window of 16,000: work that needs 25 of them, beside all of them sent in 64,000.

A real agent of AutoGen's with a real client; the loopback server refuses what is above the window and bills with a prompt cache, in
which tools stand before everything else. The scripted model calls only tools that its request has; for others it asks ``find_tools``
with the words in which people asked. Tools and wordings were written for this: the figures say what it costs and that nothing is
refused, not how well the tools of others are found.

    python benchmarks/many_tools.py [--seeds 3]
"""

import argparse
import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tasks.client import uncopied
from tasks.extra_tools import ACTS, THINGS, office_tools
from tasks.managers import MODEL
from tasks.run import Billed, schema_tokens

from autogen_context import register
from autogen_context.messages.find_tools import FIND_TOOLS_NAME
from autogen_context.testing import Call, LoopbackServer, Request, Say, Step
from autogen_context.tokens.prices import Rates

TOOLS, NEEDED = 120, 25
PRICES = (0.1, 0.5, 1.0)  # of a cached token, beside one that is not
WAYS: dict[str, dict[str, Any]] = {
    "deferred, 16,000": {"window_tokens": 16_000},
    "deferred, 64,000": {"window_tokens": 64_000},
    "all sent, 64,000": {"window_tokens": 64_000, "tools_fraction": 1.0},
}
PROMPT = "You are the clerk of a large office. Do what is asked, one thing after the other, with the tool that fits."


@dataclass(frozen=True, kw_only=True)
class Job:
    """What people ask, and the tool and the record that it needs."""

    said: str
    tool: str
    record: str


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What came of one run; tokens by the exact count."""

    done: int
    refused: int
    requests: int
    searches: int
    most_tools: int
    largest_tokens: int
    prompt_tokens: int
    cached_tokens: int

    def billed(self, cached_price: float) -> int:
        """Tokens billed where a cached one has this price."""
        rates = Rates(cached_fraction=cached_price)
        return round(rates.cost_tokens(self.prompt_tokens, self.cached_tokens))


def jobs_of(seed: int) -> list[Job]:
    """25 things to do, each with another tool."""
    random = Random(seed)  # noqa: S311 - it makes up work
    pairs = random.sample([(thing, act) for thing in THINGS for act in ACTS], NEEDED)
    jobs: list[Job] = []
    for thing, act in pairs:
        record = f"R-{random.randrange(10_000, 99_999)}"
        said = ACTS[act][1].format(thing=thing, what=record)
        jobs.append(Job(said=said, tool=f"{thing}_{act}", record=record))
    return jobs


class Clerk:
    """The scripted model: it does the job that was said last, with a tool of its request, and searches for those it has not."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._jobs = {job.said: job for job in jobs}
        self.searches = self.most_tools = 0

    def __call__(self, request: Request) -> Step:
        """The next step."""
        names = names_in(request)
        self.most_tools = max(self.most_tools, len(names))
        said = [m["content"] for m in request.messages if m["role"] == "user"]
        job = next(self._jobs[text] for text in reversed(said) if text in self._jobs)
        newest = request.messages[-1]
        if newest["role"] == "tool" and "is done." in str(newest["content"]):
            return Say(f"Done for {job.record}.")
        if job.tool in names:
            return Call(job.tool, {"record": job.record})
        if newest["role"] == "tool":  # the search did not find it: by name
            return Call(FIND_TOOLS_NAME, {"query": job.tool})
        self.searches += 1
        return Call(FIND_TOOLS_NAME, {"query": job.said})


def names_in(request: Request) -> set[str]:
    """The names of the tools of a request."""
    functions: list[Any] = [tool["function"] for tool in request.tools]
    return {function["name"] for function in functions}


async def run(seed: int, **settings: Any) -> Figures:
    """Work all jobs."""
    done: list[str] = []
    jobs = jobs_of(seed)
    clerk = Clerk(jobs)
    model = Billed(clerk)
    tools: list[Any] = office_tools(TOOLS, done=done)
    async with LoopbackServer(model, window_tokens=settings["window_tokens"]) as server:
        client = OpenAIChatCompletionClient(model=MODEL, api_key="none", base_url=server.base_url)
        kept: list[Any] = [FunctionTool(tool, description=tool.__doc__ or "") for tool in tools]
        agent = AssistantAgent(
            "clerk", client, tools=kept, system_message=PROMPT, max_tool_iterations=10
        )
        context = register(agent, **settings)
        for job in jobs:
            await agent.run(task=job.said)
        await context.aclose()
        await client.close()
        refused = len(server.rejected)
    return Figures(
        done=len({f"{job.tool} {job.record}" for job in jobs} & set(done)),
        refused=refused,
        requests=len(model.bills),
        searches=clerk.searches,
        most_tools=clerk.most_tools,
        largest_tokens=max(bill.prompt_tokens for bill in model.bills),
        prompt_tokens=sum(bill.prompt_tokens for bill in model.bills),
        cached_tokens=sum(bill.cached_tokens for bill in model.bills),
    )


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    logging.disable()
    tokens = schema_tokens(office_tools(TOOLS), Billed(lambda _: Say("")))
    print(f"{TOOLS} tools have {tokens:,} tokens; {NEEDED} are needed")
    prices = " | ".join(f"billed, cached at {price}" for price in PRICES)
    print(f"| | done | refused | requests | searches | most tools | largest request | {prices} |")
    print("|---|" + "---|" * (6 + len(PRICES)))
    with uncopied():
        for way, settings in WAYS.items():
            for seed in range(asked.seeds):
                f = asyncio.run(run(seed, **settings))
                billed = " | ".join(f"{f.billed(price):,}" for price in PRICES)
                print(
                    f"| {way}, seed {seed} | {f.done} | {f.refused} | {f.requests} | {f.searches} | {f.most_tools} | "
                    f"{f.largest_tokens:,} | {billed} |"
                )


if __name__ == "__main__":
    main()
