"""Models that are asked for summaries, as clients that answer prompts."""

import re
from collections.abc import Awaitable, Callable

from autogen_context.models.completion import Complete

PROMPT = re.compile(r"at most (\d+) words in all.*?\n(=== \w+ ===)\n(.*)\n\2\n", re.DOTALL)


def text_in(prompt: str) -> str:
    """What a prompt asks to summarise; empty where it asks for something else."""
    found = PROMPT.search(prompt)
    return found[3] if found else ""


def client(summarize: Callable[[str, int], Awaitable[str]]) -> Complete:
    """Who answers a prompt by a function of its text and the tokens of the summary; others get no answer."""

    async def complete(prompt: str, /) -> str:
        found = PROMPT.search(prompt)
        return await summarize(found[3], int(found[1]) * 4 // 3) if found else ""

    return complete
