"""A worker process: one agent of the team, on AutoGen's distributed runtime.

The agent's conversation and the state of its context are in Redis after each task, what left its window is there at once.
A worker that is started again goes on where the last task ended.

Called as: worker.py NAME HOST_ADDRESS MODEL_URL REDIS_URL
"""

import asyncio
import json
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_core import (
    MessageContext,
    RoutedAgent,
    message_handler,
    try_get_known_serializers_for_type,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime
from redis.asyncio import Redis
from task import WINDOW, Task

from autogen_context import register
from autogen_context.cache.originals import RedisOriginals
from autogen_context.cache.redis_server import RedisServer
from autogen_context.cache.tier import Scope

TEAM = Scope(tenant="acme", agent="team")  # one scope: the team shares what left anybody's window


def read_log(number: int) -> str:
    """Read one of the log files."""
    return "".join(f"worker {number} wrote block {n * 7919 + number}\n" for n in range(60))


class Member(RoutedAgent):
    """An agent of the team; it keeps what it knows in Redis."""

    def __init__(self, name: str, model_url: str, redis_url: str) -> None:
        super().__init__(name)
        client = OpenAIChatCompletionClient(
            model="gpt-4o-2024-08-06", api_key="none", base_url=model_url
        )
        self._agent = AssistantAgent(name, client, tools=[read_log], max_tool_iterations=20)
        originals = RedisOriginals(RedisServer(redis_url), scope=TEAM)
        register(self._agent, window_tokens=WINDOW, original_store=originals)
        self._redis: Redis = Redis.from_url(redis_url)  # pyright: ignore[reportUnknownMemberType]  # its options
        self._is_loaded = False

    @message_handler
    async def on_task(self, message: Task, ctx: MessageContext) -> Task:  # noqa: ARG002 - AutoGen names it
        """Do a task; the answer leaves when what was learned is safe."""
        key = f"team:{self._agent.name}"
        if not self._is_loaded and (state := await self._redis.get(key)):
            await self._agent.load_state(json.loads(state))
        self._is_loaded = True
        done = await self._agent.run(task=message.text)
        await self._redis.set(key, json.dumps(await self._agent.save_state()))
        return Task(done.messages[-1].to_text())


async def serve(name: str, host_address: str, model_url: str, redis_url: str) -> None:
    """Join the runtime, say so, and work until this process is ended."""
    runtime = GrpcWorkerAgentRuntime(host_address=host_address)
    runtime.add_message_serializer(try_get_known_serializers_for_type(Task))
    await runtime.start()
    await Member.register(runtime, name, lambda: Member(name, model_url, redis_url))
    print("ready", flush=True)
    await runtime.stop_when_signal()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
