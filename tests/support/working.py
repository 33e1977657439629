"""A long run of an agent to summarise, and models that do it well and badly."""

import asyncio
import json
import re

from autogen_context.testing import ChatMessage

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
    function = {"name": "read_file", "arguments": json.dumps({"path": f"src/part_{n}.py"})}
    call = {"id": f"c{n}", "type": "function", "function": function}
    result = f"{prose(n)}\n{planted}\n{prose(n + 1)}"
    return [
        {
            "role": "assistant",
            "content": f"Finding: part_{n} waits for lock_{n % 7} of the router.",
            "tool_calls": [call],
        },
        {"role": "tool", "tool_call_id": f"c{n}", "content": result},
    ]


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
