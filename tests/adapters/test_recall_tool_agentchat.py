"""A real agent of autogen-agentchat asks back what left its window, and gets it."""

import re
from collections.abc import Iterator

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ToolCallExecutionEvent
from autogen_core import CancellationToken
from autogen_ext.models.openai import OpenAIChatCompletionClient

from autogen_context import register
from autogen_context.adapters.agentchat import ManagedChatCompletionContext, recall_tool
from autogen_context.messages.tool_schema import (
    RECALL_ARGUMENTS,
    RECALL_DESCRIPTION,
    RECALL_TOOL_NAME,
)
from autogen_context.testing import Call, LoopbackServer, Request, Say, ScriptedModel, Step
from autogen_context.tokens.message_counter import MessageCounter

FILES = 14
WINDOW_TOKENS = 4_000
MODEL = "gpt-4-0613"
COUNTER = MessageCounter.for_model(MODEL)


async def read_log(number: int) -> str:
    """Read one of the log files."""
    return "".join(f"worker {number} wrote block {n * 7919 + number}\n" for n in range(60))


class Curious:
    """A model that reads all files, asks by words for one that left, and then by the handle that it was told."""

    def __init__(self) -> None:
        self._steps = self._script()
        self.answers: list[str] = []

    def __call__(self, request: Request) -> Step:
        """The next step."""
        self.answers.append(str(request.messages[-1]["content"]))
        return next(self._steps)

    def _script(self) -> Iterator[Step]:
        for number in range(FILES):
            yield Call("read_log", {"number": number})
        yield Call(RECALL_TOOL_NAME, {"query": f"block {41 * 7919 + 2}"})
        place = re.search(r"\[Original (\w+), lines (\d+)-(\d+) of", self.answers[-1])
        assert place is not None
        yield Call(RECALL_TOOL_NAME, {"handle": place[1]})
        yield Call(RECALL_TOOL_NAME, {"handle": place[1], "lines": int(place[2])})
        yield Call(RECALL_TOOL_NAME, {"handle": "nowhere"})
        yield Say("Done.")


async def read_and_ask_back() -> tuple[Curious, list[str]]:
    """What the model was sent at each step, and what the tool returned."""
    model = Curious()
    script = ScriptedModel(model, count=lambda text: COUNTER.count(text).tokens)
    async with LoopbackServer(script, window_tokens=WINDOW_TOKENS) as server:
        inner = OpenAIChatCompletionClient(model=MODEL, base_url=server.base_url, api_key="none")
        agent = AssistantAgent("reader", inner, tools=[read_log], max_tool_iterations=FILES + 5)
        register(agent, window_tokens=WINDOW_TOKENS)
        result = await agent.run(task="Read all logs.")
        await inner.close()
    assert [request.error for request in server.rejected] == []
    assert result.messages[-1].to_text() == "Done."
    events = [event for event in result.messages if isinstance(event, ToolCallExecutionEvent)]
    results = [executed for event in events for executed in event.content]
    return model, [executed.content for executed in results if executed.name == RECALL_TOOL_NAME]


async def test_an_agent_gets_its_bytes_back() -> None:
    """By words, by handle and by line, through the host's own loop; what comes back is not reduced again."""
    model, answers = await read_and_ask_back()
    assert model.answers[-len(answers) :] == answers
    found, whole, line, unknown = answers
    assert f"worker 2 wrote block {41 * 7919 + 2}" in found
    assert await read_log(2) in whole
    assert re.match(r"\[Original \w+, line \d+ of \d+\]\n\d+\t\S", line)
    assert unknown.startswith("No original is kept under the handle 'nowhere'.")


async def test_the_tool_belongs_to_its_context() -> None:
    """It has the words of everywhere, answers to arguments that the host would refuse, and is not dumped alone."""
    tool = recall_tool(ManagedChatCompletionContext("gpt-4o"))
    schema = tool.schema
    assert (schema["name"], schema.get("description")) == (RECALL_TOOL_NAME, RECALL_DESCRIPTION)
    properties = schema.get("parameters", {})["properties"]
    assert {name: value["description"] for name, value in properties.items()} == RECALL_ARGUMENTS
    for arguments in ({}, {"handle": None}, {"lines": [1, 2]}, {"other": 3}):
        answer = await tool.run_json(arguments, CancellationToken())
        assert tool.return_value_as_string(answer).startswith("Give a handle")
    with pytest.raises(NotImplementedError, match=r"give recall_tool\(context\) to the agent"):
        tool.dump_component()
