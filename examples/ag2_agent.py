"""An agent of AG2 1.x that reads 60 log files in a window of 4,000 tokens: no key, no network, a scripted model."""

import asyncio
from itertools import chain

from ag2 import Agent
from ag2.config import OpenAIConfig
from httpx2 import AsyncClient

from autogen_context import register
from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel

FILES = 60
WINDOW_TOKENS = 4_000


async def read_log(number: int) -> str:
    """Read one of the log files."""
    text = "The worker took a job from the queue, and wrote what it found to the disk.\n" * 20
    return f"{text}Error: the disk of worker {number} is full."


async def main() -> None:
    """Let the agent work, and say what its context did."""
    calls = [Call("read_log", {"number": number}) for number in range(FILES)]
    model = ScriptedModel(chain(calls, [Say("Every worker ran out of disk.")]))
    async with (
        LoopbackServer(model, window_tokens=WINDOW_TOKENS) as server,
        AsyncClient() as http,
    ):
        config = OpenAIConfig("gpt-4o", api_key="none", base_url=server.base_url, http_client=http)
        agent = Agent("reader", "You read logs.", config=config, tools=[read_log])
        # With a real model this line is all that changes in a program.
        context = register(agent, window_tokens=WINDOW_TOKENS)
        answer = (await agent.ask("Why did the workers stop?")).body

    assert not server.rejected
    assert context.last_prepared is not None
    print(answer)
    print(f"{len(server.requests)} requests,", end=" ")
    print(f"{max(request.prompt_tokens for request in server.requests)} tokens in the largest one.")
    dropped = next(d for d in context.last_prepared.decisions if d.action == "drop")
    print(f"Messages {dropped.start} to {dropped.stop - 1} were dropped: {dropped.reason}.")
    print(context.recall(dropped.handle)[-1].results[0].text.splitlines()[-1])


if __name__ == "__main__":
    asyncio.run(main())
