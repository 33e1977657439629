"""A clock in the system prompt: compactions, and what a provider has cached, on plain lists and on a real agent of each host.

Promise: the same conversation three times, with a prompt that stays the same, with a clock in it, and with a clock and
``volatile="behind"``; each host gets the clock in the way that it has for it. What is cached is what the loopback server
says, which counts whole messages, in blocks of 128 from 1,024 tokens on.

    python benchmarks/volatile.py [--turns 80] [--window 8000] [--answer 200] [--tools] [--host ag2]
"""

import argparse
import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import count
from random import Random
from statistics import median
from time import process_time
from typing import Any, cast

from agent_framework import AgentSession, ContextProvider, SessionContext
from autogen import ConversableAgent, UpdateSystemMessage
from autogen_core.models import SystemMessage
from host_agents import (
    Ag2OneAgent,
    AgentchatAgent,
    ClassicAgent,
    FrameworkAgent,
    HostAgent,
    Job,
)
from openai import AsyncOpenAI, omit
from side_by_side import table
from typing_extensions import override

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.testing import (
    Call,
    LoopbackServer,
    Request,
    Say,
    ScriptedModel,
    ServedRequest,
    Step,
)
from autogen_context.tokens.message_counter import MessageCounter

Clock = Callable[[], str]
PROMPT = """You are a careful clerk of a shop. {clock}
You speak for the shop's owner.

<customer>
name: Ada Grün
plan: pro
</customer>

## Rules
- Never delete an order.
- Name the file in which you found something.
"""
MODEL = "gpt-4o-2024-08-06"
COUNTER = MessageCounter.for_model(MODEL)
PROMPTS = ("constant", "clock", "behind")  # the last one is a clock with the setting
CALLS = 3  # before each answer, where there are tools
WORDS = (
    "order",
    "invoice",
    "refund",
    "carton",
    "label",
    "courier",
    "parcel",
    "customs",
    "entry",
    "amount",
    "late",
    "paid",
)


def text_of(random: Random, tokens: int) -> str:
    """Some words of the shop."""
    return " ".join(f"{random.choice(WORDS)} {random.randrange(9_999)}" for _ in range(tokens // 3))


def prompts(*, ticks: bool) -> Clock:
    """A prompt whose clock goes on each time it is asked for, or stands still."""
    numbers = count()

    def prompt() -> str:
        second = next(numbers) if ticks else 0
        return PROMPT.format(clock=f"Current time: 10:{second // 60:02d}:{second % 60:02d}.")

    return prompt


READ: Any = [{"type": "function", "function": {"name": "read"}}]


class PlainAgent(HostAgent):
    """A loop of one's own around OpenAI's client."""

    def __init__(self, job: Job, prompt: Clock) -> None:
        super().__init__(job)
        self._client = AsyncOpenAI(api_key="none", base_url=job.url)
        self.prompt = prompt
        self.manager = IncrementalContextManager(model=job.model, **job.ours)
        self.said: list[Any] = []
        self.prepared: Prepared[Any] | None = None
        self.taken_s: list[float] = []

    @override
    async def ask(self, text: str) -> str:
        self.said.append({"role": "user", "content": text})
        while True:
            system = {"role": "system", "content": self.prompt()}
            before = process_time()
            prepared = await self.manager.prepare([system, *self.said])
            self.taken_s.append(process_time() - before)
            self.prepared, sent = prepared, cast("Any", prepared.messages)
            answer = await self._client.chat.completions.create(
                model=MODEL, messages=sent, tools=READ if self.job.tools else omit
            )
            message = answer.choices[0].message
            self.said.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content or ""
            for call in message.tool_calls:
                assert call.type == "function"
                result = self.job.tools[0](**json.loads(call.function.arguments))
                self.said.append({"role": "tool", "tool_call_id": call.id, "content": result})

    @override
    async def restart(self) -> None:
        raise NotImplementedError

    @override
    async def aclose(self) -> None:
        await self.manager.aclose()
        await self._client.close()


class ClockedAgentchat(AgentchatAgent):
    """AgentChat has no prompt that changes: whoever wants one sets the agent's system messages before a run."""

    def __init__(self, job: Job, prompt: Clock) -> None:
        self.prompt = prompt
        super().__init__(job)

    @override
    async def ask(self, text: str) -> str:
        vars(self.agent)["_system_messages"] = [SystemMessage(content=self.prompt())]
        return await super().ask(text)


class ClockedClassic(ClassicAgent):
    """``UpdateSystemMessage`` before each reply."""

    def __init__(self, job: Job, prompt: Clock) -> None:
        self.prompt = prompt
        super().__init__(job)

    @override
    def managed(self, agent: Any) -> None:

        def now(_agent: ConversableAgent, _messages: list[dict[str, Any]]) -> str:
            return self.prompt()

        update = UpdateSystemMessage(now)
        agent._register_update_agent_state_before_reply([update])  # noqa: SLF001 - as the argument of its name does
        super().managed(agent)


class ClockedAg2(Ag2OneAgent):
    """A dynamic prompt, which AG2 asks for at the beginning of each turn."""

    def __init__(self, job: Job, prompt: Clock) -> None:
        self.prompt = prompt
        super().__init__(job)

    @override
    def managed(self, agent: Any) -> None:
        agent.prompt(self.prompt)
        super().managed(agent)


class ClockedFramework(FrameworkAgent):
    """A context provider that gives instructions before each run."""

    def __init__(self, job: Job, prompt: Clock) -> None:
        self.prompt = prompt
        super().__init__(job)

    @override
    def managed(self, agent: Any) -> None:
        agent.context_providers = [*agent.context_providers, Instructions(self.prompt)]
        super().managed(agent)


class Instructions(ContextProvider):
    """Gives the instructions of each run."""

    def __init__(self, prompt: Clock) -> None:
        super().__init__("clock")
        self._prompt = prompt

    @override
    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        context.extend_instructions(self.source_id, self._prompt())


HOSTS: Mapping[str, Callable[[Job, Clock], HostAgent]] = {
    "plain": PlainAgent,
    "agentchat": ClockedAgentchat,
    "classic": ClockedClassic,
    "ag2": ClockedAg2,
    "agent-framework": ClockedFramework,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation.

    Attributes:
        turns: questions of the person.
        window_tokens: of the model.
        answer_tokens: of an answer or a tool's result.
        has_tools: whether the model calls a tool a few times before each answer.
    """

    turns: int = 80
    window_tokens: int = 8_000
    answer_tokens: int = 200
    has_tools: bool = False

    def steps(self) -> Iterator[Step]:
        """What the model does."""
        random, pages = Random(7), count()  # noqa: S311 - it makes up text
        for _ in range(self.turns):
            for _ in range(CALLS if self.has_tools else 0):
                yield Call("read", {"page": next(pages)})
            yield Say(text_of(random, self.answer_tokens) + " TERMINATE")

    def questions(self) -> Iterator[str]:
        """What the person asks."""
        random = Random(3)  # noqa: S311
        return (f"What of {text_of(random, 30)}?" for _ in range(self.turns))

    def tool(self) -> Callable[[int], str]:
        """What the model calls."""
        random = Random(11)  # noqa: S311

        def read(page: int) -> str:
            """Read a page."""
            return f"page {page}: {text_of(random, self.answer_tokens)}"

        return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One run; ``cached`` is a fraction of the tokens of all prompts."""

    host: str
    prompt: str
    compactions: int
    cached: float
    ms: float  # CPU time of a turn, median; of plain lists alone
    requests: Sequence[ServedRequest]


async def run(host: str, name: str, talk: Talk) -> Figures:
    """One conversation with one of the ``PROMPTS``."""
    steps, compacted = talk.steps(), list[bool]()

    def step(_request: Request) -> Step:
        prepared = agent.prepared if isinstance(agent, PlainAgent) else last_prepared_of(agent)
        compacted.append(prepared is not None and prepared.compacted)
        return next(steps)

    model = ScriptedModel(step, count=lambda text: COUNTER.count(text).tokens)
    async with LoopbackServer(model, window_tokens=talk.window_tokens) as server:
        ours = {
            "window_tokens": talk.window_tokens,
            "volatile": "behind" if name == "behind" else "report",
        }
        tools: Any = [talk.tool()] if talk.has_tools else ()
        job = Job(url=server.base_url, prompt="", model=MODEL, ours=ours, tools=tools)
        agent = HOSTS[host](job, prompts(ticks=name != "constant"))
        for question in talk.questions():
            await agent.ask(question)
        await agent.aclose()
        assert not server.rejected, server.rejected[0].error
        requests = server.requests
    return Figures(
        host=host,
        prompt=name,
        compactions=sum(compacted),
        cached=sum(bill.cached_tokens for bill in model.bills)
        / sum(bill.prompt_tokens for bill in model.bills),
        ms=1e3 * median(agent.taken_s) if isinstance(agent, PlainAgent) else 0.0,
        requests=requests,
    )


def last_prepared_of(agent: HostAgent) -> Prepared[Any] | None:
    """The request that the agent's context prepared last."""
    return agent.context.last_prepared if agent.context else None


async def main() -> None:
    """Measure what is asked for, and print it."""
    parser = argparse.ArgumentParser(description="A clock in the system prompt.")
    parser.add_argument("--turns", type=int, default=80, help="questions of the person")
    parser.add_argument("--window", type=int, default=8_000)
    parser.add_argument("--answer", type=int, default=200, help="tokens of an answer or a result")
    parser.add_argument("--tools", action="store_true", help="three calls before each answer")
    parser.add_argument("--host", choices=HOSTS, action="append", help="all, where none is named")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    rows: list[Sequence[str]] = [("", "requests", "compactions", "cached", "ms a turn")]
    talk = Talk(
        turns=asked.turns,
        window_tokens=asked.window,
        answer_tokens=asked.answer,
        has_tools=asked.tools,
    )
    with redirect_stdout(StringIO()):  # classic agents print the results of their tools
        for host in asked.host or HOSTS:
            for name in PROMPTS:
                each = await run(host, name, talk)
                told = f"{len(each.requests)}", f"{each.compactions}", f"{each.cached:.1%}"
                rows.append((f"{host}: {name}", *told, f"{each.ms:.2f}" if each.ms else ""))
    print(table(*rows))


if __name__ == "__main__":
    asyncio.run(main())
