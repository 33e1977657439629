"""What the agents of a team have cached of each other's prompts, with and without a head that they share.

Promise: three agents of a host with one system prompt, the same tools and one project read files of it in turn, each for
tasks of its own; the server's cache serves all, as a provider's does. The project is this package.

    python benchmarks/shared_head.py [--host ag2]
"""

import argparse
import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from itertools import chain
from pathlib import Path

from host_agents import COUNTER, HOSTS, WINDOW, Job
from side_by_side import table

import autogen_context
from autogen_context import ProjectContext
from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel, ServedRequest, Step
from autogen_context.testing.usage import PromptCache, prompt_parts
from autogen_context.tokens.prices import Rates

ROOT = Path(autogen_context.__file__).parent
PROMPT = "You work on a Python package with others. " * 20
TASKS = {
    "turns": ("manager/engine.py", "manager/runner.py", "manager/plan.py", "view/view.py", "view/decision.py"),
    "hosts": ("adapters/register.py", "adapters/classic.py", "adapters/ag2.py", "adapters/agentchat.py", "errors.py"),
    "files": ("project/project.py", "project/map.py", "project/index.py", "cache/store.py", "cache/tier.py"),
}  # fmt: skip
ROUNDS = 3
RATES = Rates(cached_fraction=0.1)  # a cached token at a tenth of one that is not


def read_file(path: str) -> str:
    """Read a file of the package."""
    return (ROOT / path).read_text(encoding="utf-8")[:4_000]


def tokens(text: str) -> int:
    """As the model's tokenizer counts."""
    return COUNTER.count(text).tokens


async def work(host: str, *, shared_head: bool) -> Sequence[tuple[str, ServedRequest]]:
    """All requests with the agent that sent each."""
    steps: Iterable[Step] = chain.from_iterable(
        [*(Call("read_file", {"path": path}) for path in paths), Say("Done. TERMINATE")]
        for _ in range(ROUNDS)
        for paths in TASKS.values()
    )
    project = ProjectContext(ROOT, shared_head=shared_head)
    ours = {"window_tokens": WINDOW, "project": project}
    sent: list[tuple[str, ServedRequest]] = []
    async with LoopbackServer(ScriptedModel(steps, count=tokens), window_tokens=WINDOW) as server:
        jobs = (
            Job(url=server.base_url, tools=[read_file], name=name, prompt=PROMPT, ours=ours)
            for name in TASKS
        )
        team = [HOSTS[host][0](job) for job in jobs]
        for number in range(ROUNDS):
            for agent in team:
                paths = TASKS[agent.job.name]
                await agent.ask(
                    f"Task {number}: what does {paths[number]} do, beside {', '.join(paths)}?"
                )
                sent += [(agent.job.name, request) for request in server.requests[len(sent) :]]
        for agent in team:
            await agent.aclose()
    assert server.rejected == []
    return sent


def figures(sent: Sequence[tuple[str, ServedRequest]]) -> Sequence[str]:
    """Requests, input tokens, and the shares of it that are cached: of one's own prompts, of anybody's, at first."""
    everybody, own = PromptCache(), {name: PromptCache() for name in TASKS}
    all_tokens = cached = alone = first = first_cached = 0
    seen: set[str] = set()
    for name, request in sent:
        parts = prompt_parts(request.messages, request.tools, count=tokens)
        by_all, by_own = everybody.cached_tokens(parts), own[name].cached_tokens(parts)
        all_tokens, cached, alone = (
            all_tokens + request.prompt_tokens,
            cached + by_all,
            alone + by_own,
        )
        if name not in seen and seen:
            first, first_cached = first + request.prompt_tokens, first_cached + by_all
        seen.add(name)
    uncached = all_tokens - cached
    return (
        f"{len(sent)}", f"{all_tokens:,}", f"{alone / all_tokens:.1%}", f"{cached / all_tokens:.1%}",
        f"{first_cached / first:.0%}", f"{uncached:,}", f"{RATES.cost_tokens(uncached + cached, cached):,.0f}",
    )  # fmt: skip


async def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description="What a team has cached of each other's prompts.")
    parser.add_argument("--host", choices=HOSTS, action="append", help="all, where none is named")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    rows: list[Sequence[str]] = [
        (
            "",
            "requests",
            "input",
            "cached by its own",
            "by the team's",
            "of first requests",
            "uncached",
            "cost",
        )
    ]
    for host in asked.host or HOSTS:
        for shared in (False, True):
            with redirect_stdout(StringIO()):  # classic agents print the results of their tools
                sent = await work(host, shared_head=shared)
            rows.append((f"{host}: {'one head' if shared else 'a head each'}", *figures(sent)))
    print(table(*rows))


if __name__ == "__main__":
    asyncio.run(main())
