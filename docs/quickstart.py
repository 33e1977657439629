"""The first program of quickstart.md, here to be checked."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

from autogen_context import register
from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel


async def read_log(day: int) -> str:
    """Read the log of a day."""
    return f"day {day}: worker {day} of {day * 7} is ready, with nothing to report\n" * 40


async def main() -> None:
    steps: list[Call | Say] = [*(Call("read_log", {"day": day}) for day in range(30)), Say("Nothing happened.")]
    async with LoopbackServer(ScriptedModel(steps), window_tokens=4_000) as server:
        client = OpenAIChatCompletionClient(model="gpt-4o-2024-08-06", base_url=server.base_url, api_key="none")
        agent = AssistantAgent("reader", client, tools=[read_log], max_tool_iterations=40)

        context = register(agent, window_tokens=4_000, events="run.jsonl")

        await agent.run(task="What happened? Never restart worker 7.")
        await client.close()

    print(len(server.requests), "requests,", len(server.rejected), "rejected,", end=" ")
    print("the largest of", max(request.prompt_tokens for request in server.requests), "tokens")
    assert context.last_prepared
    for decision in context.last_prepared.decisions[:4]:
        print(decision.action, "-", decision.reason)


asyncio.run(main())
