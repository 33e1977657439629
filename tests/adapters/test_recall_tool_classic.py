"""Real classic agents ask back what left their windows: each gets its own, also through an executor that they share."""

import re
from collections.abc import Iterator

import pytest
from autogen import ConversableAgent

from autogen_context import register
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME, recall_tool_schema
from autogen_context.testing import (
    Call,
    LoopbackServer,
    Request,
    Say,
    ScriptedModel,
    Step,
    approximate_tokens,
)
from autogen_context.tokens.measure import Count

FILES = 10
GO = {"role": "user", "content": "Go."}
RUNNING = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ],
}
WINDOW_TOKENS = 4_000


class Approximate:
    """Counts as the server does."""

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        return Count(tokens=approximate_tokens(text), source="tokenizer")


class Curious:
    """The models of all agents: each reads its own files, and asks then for what it read first."""

    def __init__(self) -> None:
        self._steps = {name: self._script(name) for name in ("left", "right")}
        self.answers: dict[str, list[str]] = {name: [] for name in self._steps}

    def __call__(self, request: Request) -> Step:
        """The next step of the agent that asks."""
        name = str(request.messages[0]["content"]).split()[-1]
        self.answers[name].append(str(request.messages[-1]["content"]))
        return next(self._steps[name])

    def _script(self, name: str) -> Iterator[Step]:
        for number in range(FILES):
            yield Call("read", {"path": f"{name}/{number}.py"})
        yield Call(RECALL_TOOL_NAME, {"query": "secret line_7"})
        place = re.search(r"\[Original (\w+), ", self.answers[name][-1])
        assert place is not None
        yield Call(RECALL_TOOL_NAME, {"handle": place[1]})
        yield Call(RECALL_TOOL_NAME, {"handle": place[1], "lines": [1, 2], "more": 1})
        yield Say("TERMINATE")


def read(path: str) -> str:
    """Read a file."""
    return "".join(f"{path} secret line_{n} = {n * 7919}\n" for n in range(60))


def agent(name: str, server: LoopbackServer | None) -> ConversableAgent:
    """An agent that asks the server, or, without one, only runs tools."""
    entry = {"model": "gpt-4o", "api_key": "none", "price": [0, 0]}
    return ConversableAgent(
        name,
        system_message=f"You are {name}",
        llm_config={"config_list": [{**entry, "base_url": server.base_url}], "cache_seed": None}
        if server
        else False,
        human_input_mode="NEVER",
        is_termination_msg=lambda message: "TERMINATE" in str(message.get("content")),
    )


def reader(name: str, server: LoopbackServer, user: ConversableAgent) -> ConversableAgent:
    """An agent that reads files and can ask back, run by the user."""
    coder = agent(name, server)
    coder.register_for_llm(name="read", description="Read a file.")(read)
    if "read" not in user.function_map:
        user.register_for_execution(name="read")(read)
    register(coder, window_tokens=WINDOW_TOKENS, counter=Approximate())
    return coder


def test_agents_get_their_bytes_back() -> None:
    """Two with one executor, in turns: what one read is never told to the other."""
    model = Curious()
    with LoopbackServer(ScriptedModel(model), window_tokens=WINDOW_TOKENS) as server:
        user = agent("user", None)
        for name in ("left", "right"):
            user.initiate_chat(reader(name, server, user), message="Read all.", silent=True)
    assert [request.error for request in server.rejected] == []
    for name, other in (("left", "right"), ("right", "left")):
        found, whole, unknown = model.answers[name][-3:]
        path = re.search(rf"{name}/\d+\.py", found)
        assert path is not None
        assert read(path[0]) in whole
        assert f"{other}/" not in found + whole
        assert unknown.startswith("There is no argument 'more'. Call recall_context with")


def test_the_turns_of_a_shared_executor_are_told_apart() -> None:
    """Each answer is for the agent whose model was asked last, also where that runs a tool in between."""
    with LoopbackServer(ScriptedModel([Say("ok")] * 2)) as server:
        user = agent("user", None)
        one, two = reader("left", server, user), reader("right", server, user)
        for coder in (one, two):
            user.initiate_chat(coder, message="Go.", silent=True, max_turns=1)
        recall = user.function_map[RECALL_TOOL_NAME]
        assert recall(query="secret").startswith("Nothing that is kept")
        for name, speaker, other in (("left", one, two), ("right", two, one)):
            said = [{"role": "user", "content": f"{name} secret " * 20_000}, GO]
            speaker.process_all_messages_before_reply(said)
            other.process_all_messages_before_reply([GO, RUNNING])
            assert f"\t{name} secret" in recall(query="secret")


def test_a_function_of_that_name_is_not_replaced() -> None:
    """It is somebody else's; the warning says what follows."""
    with LoopbackServer(ScriptedModel([Say("ok")])) as server:
        user = agent("user", None)
        user.register_function({RECALL_TOOL_NAME: read})
        with pytest.warns(UserWarning, match="has a function 'recall_context' of its own"):
            user.initiate_chat(
                reader("left", server, user), message="Go.", silent=True, max_turns=1
            )
    assert user.function_map[RECALL_TOOL_NAME] is read


@pytest.mark.parametrize("has_tools", [True, False])
def test_an_agent_with_tools_is_told_of_it(*, has_tools: bool) -> None:
    """By the same schema as everywhere; an agent without tools gets none, since its server may take none."""
    with LoopbackServer(ScriptedModel([Say("ok")])) as server:
        user, coder = agent("user", None), agent("left", server)
        register(coder, window_tokens=WINDOW_TOKENS, counter=Approximate())
        if has_tools:
            coder.register_for_llm(name="read", description="Read a file.")(read)
        user.initiate_chat(coder, message="Go.", silent=True, max_turns=1)
    told = [tool["function"] for tool in server.requests[0].tools]
    assert (recall_tool_schema()["function"] in told) == has_tools
