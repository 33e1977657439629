"""A long run of an agent to summarise, and models that do it well and badly."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.testing import ChatMessage
from support import keeping
from support.prompts import client
from support.saying import asks, call_of, says, tells
from support.waiting import until

PLAIN = (
    "the parser reads a line and hands it to the router which looks for a place that is free then the worker takes what is "
    "there and writes down how long that took after all the other things in another part of the same old service"
)
WORDS = PLAIN.split()
FINDING = re.compile(r"Finding: .*")


def prose(seed: int, sentences: int = 14) -> str:
    """Sentences that state nothing, none like another."""
    picked: list[str] = []
    for n in range(sentences):
        at = seed * 7 + n * 5
        words = [WORDS[(at + k * (1 + (seed + n) % 6)) % len(WORDS)] for k in range(9)]
        picked.append(f"{' '.join(words).capitalize()}.")
    return "\n".join(picked)


def step(n: int, planted: str = "") -> list[ChatMessage]:
    """A file is read; what was found in it is said in one line."""
    read = call_of(f"c{n}", "read_file", path=f"src/part_{n}.py")
    finding = f"Finding: part_{n} waits for lock_{n % 7} of the router."
    return [asks(read, text=finding), tells(f"c{n}", f"{prose(n)}\n{planted}\n{prose(n + 1)}")]


def text_of(messages: list[ChatMessage]) -> str:
    """All that is sent."""
    return "\n".join(str(message["content"]) for message in messages)


class Summarising:
    """A model that says what was found, in the words of the text.

    Attributes:
        asked: the texts.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, text: str, target_tokens: int, /) -> str:
        """What was found, after giving way once."""
        self.asked.append(text)
        await asyncio.sleep(0)
        return self.summary(text)[: 4 * target_tokens]

    def summary(self, text: str) -> str:
        """The findings of a text."""
        return "Summed up. " + " ".join(FINDING.findall(text))


class Hanging:
    """A model that never answers.

    Attributes:
        asked: how often it was asked.
        under_way: how many of these calls were not ended from outside.
    """

    def __init__(self) -> None:
        self.asked = self.under_way = 0

    async def __call__(self, text: str, target_tokens: int, /) -> str:
        """No answer."""
        self.asked += 1
        self.under_way += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.under_way -= 1
        return text[:target_tokens]


LEFT_OUT = "left out here"


def manager(
    model: Callable[[str, int], Awaitable[str]] | None = None,
    window_tokens: int = 12_000,
    **more: Any,
) -> IncrementalContextManager:
    """One with a small window, and a model for summaries."""
    compressor = model and SemanticCompressor(client(model))
    return keeping.manager(window_tokens, compressor=compressor, **more)


TASK = [says("You code.", "system"), says("Make the service fast.", "user")]


def run(steps: int, said: dict[int, str] | None = None, planted: str = "") -> list[ChatMessage]:
    """A task, and the steps of an agent with what a person says in front of some."""
    messages = [*TASK]
    for n in range(steps):
        messages += [says(text, "user") for text in [(said or {}).get(n)] if text]
        messages += step(n, planted)
    return messages


def turns_of(messages: list[ChatMessage]) -> list[int]:
    """Where a model is asked: behind a person's words and behind results."""
    return [n + 1 for n, m in enumerate(messages) if m["role"] in ("user", "tool")]


def notice_in(turn: Prepared[ChatMessage]) -> str:
    """What stands where units were left out."""
    return next((str(m["content"]) for m in turn.messages if LEFT_OUT in str(m["content"])), "")


async def summarised() -> None:
    """Wait until no summary is under way, as a host does whose own model takes its time."""
    await until(lambda: all(task.get_name() != "summary" for task in asyncio.all_tasks()))


async def lived_through(
    keeper: IncrementalContextManager,
    messages: list[ChatMessage],
    see: Callable[[Prepared[ChatMessage]], None] = lambda _: None,
) -> Prepared[ChatMessage]:
    """The last turn of a conversation, prepared after all others."""
    for stop in turns_of(messages):
        turn = await keeper.prepare(messages[:stop])
        assert turn.certificate.fits
        see(turn)
    return await keeper.prepare(messages)
