"""A plain list of OpenAI messages, the client's own objects among them, without a framework."""

import ast
import re
from collections.abc import Awaitable, Iterator
from itertools import count
from pathlib import Path
from typing import cast

from openai import AsyncOpenAI
from openai.types.chat import (
    ChatCompletionFunctionToolParam,
    ChatCompletionMessage,
    ChatCompletionMessageParam,
)

from autogen_context import IncrementalContextManager
from autogen_context.testing import (
    Call,
    LoopbackServer,
    Say,
    ScriptedModel,
    Step,
    approximate_tokens,
)
from autogen_context.tokens.measure import Count

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "openai.md").read_text(encoding="utf-8")
WINDOW = 2_500
TURNS = 60
TOOL: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "read",
        "description": "Read a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


class Approximate:
    """Counts as the server does."""

    def count(self, text: str, /) -> Count:
        return Count(tokens=approximate_tokens(text), source="tokenizer")


def working() -> Iterator[Step]:
    """Two calls, one call, a text, and so on without an end."""
    for number in count():
        calls = [Call("read", {"path": f"{side}{number}.py"}) for side in "ab"]
        yield [Say(f"Step {number}."), *calls]
        yield calls[0]
        yield Say("And now?")


def follow_up(answer: ChatCompletionMessage) -> list[ChatCompletionMessageParam]:
    """What the program adds behind an answer: the results of its calls, or the next request of a person."""
    results: list[ChatCompletionMessageParam] = [
        {
            "role": "tool",
            "tool_call_id": call.id,
            "content": f"{call.id}\n" + "line of a file\n" * 60,
        }
        for call in answer.tool_calls or ()
    ]
    return results or [{"role": "user", "content": "Go on with the next file, please. " * 4}]


async def converse(
    server: LoopbackServer, manager: IncrementalContextManager
) -> list[ChatCompletionMessageParam]:
    """The loop that people write, with two lines of ours in it; answers go back as dicts or as the client's own objects."""
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": "You read files."},
        {"role": "user", "content": "Read all files."},
    ]
    async with AsyncOpenAI(base_url=server.base_url, api_key="none", max_retries=0) as client:
        for n in range(TURNS):
            prepared = await manager.prepare(messages, tools=[{**TOOL}])
            response = await client.chat.completions.create(
                model="gpt-4o", messages=prepared.messages, tools=[TOOL]
            )
            assert response.usage is not None
            manager.record_usage(prepared, prompt_tokens=response.usage.prompt_tokens)
            answer = response.choices[0].message
            kept = answer.to_dict() if n % 2 else answer  # the client takes both
            messages += [cast("ChatCompletionMessageParam", kept), *follow_up(answer)]
    return messages


async def test_a_long_conversation_stays_within_its_window() -> None:
    """The server, which checks pairs and sizes, refuses nothing; its bills are believed."""
    manager = IncrementalContextManager(model="gpt-4o", window_tokens=WINDOW, counter=Approximate())
    async with LoopbackServer(ScriptedModel(working()), window_tokens=WINDOW) as server:
        messages = await converse(server, manager)
    assert [request.error for request in server.rejected] == []
    assert (
        manager.usage.requests >= TURNS - 1
    )  # the first is mostly a tool schema, far below its upper bound
    assert len(messages) > 2 * TURNS
    assert len(server.requests[-1].messages) < len(messages) / 2
    assert server.requests[-1].messages[0] == {"role": "system", "content": "You read files."}


async def test_the_guide_works() -> None:
    """Every block of the guide runs, one after the other, as in a notebook."""
    async with LoopbackServer(ScriptedModel([Say("a"), Say("b")]), window_tokens=WINDOW) as server:
        names: dict[str, object] = {"base_url": server.base_url, "tools": [TOOL]}
        for block in re.findall(r"(?s)```python\n(.*?)```", GUIDE):
            code = compile(block, "openai.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            ran = cast("Awaitable[None] | None", eval(code, names))  # noqa: S307  the guide under test
            if ran is not None:
                await ran
        await cast("AsyncOpenAI", names["client"]).close()
    assert [request.status for request in server.requests] == [200, 200]
    assert [message["role"] for message in server.requests[-1].messages] == [
        "system",
        "user",
        "assistant",
    ]
