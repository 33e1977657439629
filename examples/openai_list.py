"""A plain list of OpenAI messages that stays within its window: 60 turns, no framework.

Runs without a model: a server on loopback answers by a script and refuses what OpenAI refuses. For the real API leave
the server out and give ``AsyncOpenAI`` your key.
"""

import asyncio
from itertools import cycle
from typing import cast

from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from autogen_context import IncrementalContextManager
from autogen_context.testing import LoopbackServer, Say, ScriptedModel

WINDOW = 4_000
ANSWER = "The invoice was charged twice because the retry has no idempotency key. " * 8


async def main() -> None:
    """Ask 60 questions."""
    script = ScriptedModel(cycle([Say(ANSWER)]))
    async with (
        LoopbackServer(script, window_tokens=WINDOW) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="none") as client,
    ):
        manager = IncrementalContextManager(model="gpt-4o", window_tokens=WINDOW)
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": "You explain incidents of a web shop."}
        ]
        for number in range(60):
            messages.append({"role": "user", "content": f"What happened in incident {number}?"})
            prepared = await manager.prepare(messages)  # a new list; yours stays whole
            response = await client.chat.completions.create(
                model="gpt-4o", messages=prepared.messages
            )
            if response.usage is not None:  # what was billed makes the count exact
                manager.record_usage(prepared, prompt_tokens=response.usage.prompt_tokens)
            # The client's own object may stay in the list; its types do not say that it takes it back.
            messages.append(cast("ChatCompletionMessageParam", response.choices[0].message))

    largest = max(request.prompt_tokens for request in server.requests)
    print(
        f"{len(messages)} messages in the list, {len(server.requests[-1].messages)} in the last request"
    )
    print(f"{len(server.rejected)} of {len(server.requests)} requests refused")
    print(f"the largest had {largest:,} of {WINDOW:,} tokens")


if __name__ == "__main__":
    asyncio.run(main())
