"""A model asks back what left its window: OpenAI's API, the tool ``recall_context``, no framework.

Runs without a model: a server on loopback answers by a script and refuses what OpenAI refuses.
"""

import asyncio
import json
from typing import Any

from openai import AsyncOpenAI

from autogen_context import IncrementalContextManager
from autogen_context.messages.tool_schema import answer_recall, recall_tool_schema
from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel

WINDOW = 4_000
DAYS = 30
READ_LOG = {"type": "function", "function": {"name": "read_log", "parameters": {"type": "object"}}}


def read_log(day: int) -> str:
    """The log of a day; every tenth disk fails."""
    lines = [f"day {day} 10:{minute:02d} queue length {minute * day}" for minute in range(60)]
    return "\n".join([*lines, f"disk sdb{day} failed" if day % 10 == 2 else "all is well"])  # noqa: PLR2004


async def main() -> None:
    """Let the model read many logs, and look for something in the first ones."""
    reads = [Call("read_log", {"day": day}) for day in range(DAYS)]
    script = ScriptedModel(
        [*reads, Call("recall_context", {"query": "disk sdb2 failed"}), Say("sdb2")]
    )
    manager = IncrementalContextManager(model="gpt-4o", window_tokens=WINDOW)
    messages: list[Any] = [{"role": "user", "content": "Which disk failed?"}]
    tools: Any = [READ_LOG, recall_tool_schema()]
    async with (
        LoopbackServer(script, window_tokens=WINDOW) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="none") as client,
    ):
        while messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls"):
            prepared = await manager.prepare(messages, tools)
            answer = await client.chat.completions.create(
                model="gpt-4o", messages=prepared.messages, tools=tools
            )
            messages.append(answer.choices[0].message.model_dump(exclude_none=True))
            for call in messages[-1].get("tool_calls", []):
                name, arguments = call["function"]["name"], call["function"]["arguments"]
                if name == "recall_context":
                    text = answer_recall(manager, arguments)
                else:
                    text = read_log(**json.loads(arguments))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    found = [line for line in messages[-2]["content"].splitlines() if "failed" in line]
    print(*found[:2], f"{len(server.rejected)} of {len(server.requests)} refused", sep="\n")


if __name__ == "__main__":
    asyncio.run(main())
