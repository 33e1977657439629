"""A bot that knows its user the next day: after a restart, in another process. No key, no network, a scripted model."""

import asyncio
import subprocess
import sys
import tempfile

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

from autogen_context import register
from autogen_context.memory import UserMemory
from autogen_context.testing import LoopbackServer, Request, Say, ScriptedModel

DAYS = {
    "Monday": ["I'm allergic to peanuts.", "The Harbour project gets 40 piles.", "Thanks!"],
    "Tuesday": ["What did I tell you about the Harbour project?", "What can I eat?"],
}


def model(request: Request) -> Say:
    """A model that knows what stands in its request, and nothing else."""
    asked = str(request.messages[-1]["content"])
    known = str(request.messages[:-1])
    if "Harbour" in asked and "40 piles" in known:
        return Say("It gets 40 piles.")
    if "eat" in asked and "peanuts" in known:
        return Say("Anything without peanuts.")
    return Say("I don't know." if asked.endswith("?") else "Noted.")


async def day(name: str, folder: str) -> None:
    """A conversation from its first word to its last one."""
    memory = UserMemory("u-17", folder)
    async with LoopbackServer(ScriptedModel(model)) as server:
        client = OpenAIChatCompletionClient(
            model="gpt-4o-2024-08-06", base_url=server.base_url, api_key="none"
        )
        agent = AssistantAgent("bot", client)
        context = register(agent, memory=memory)  # all that a program needs
        for text in DAYS[name]:
            result = await agent.run(task=text)
            print(f"{name}: {text} - {result.messages[-1].to_text()}")
        await context.aclose()
        await client.close()
    print(f"{name}: known is {[fact.text for fact in memory.facts]}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(day(*sys.argv[1:]))
    else:
        with tempfile.TemporaryDirectory() as place:
            for each in DAYS:
                subprocess.run([sys.executable, __file__, each, place], check=True)  # noqa: S603
