"""The event log of agents of real hosts, from one argument of ``register``, read as a user reads it."""

import time
from itertools import chain
from pathlib import Path

from autogen import ConversableAgent
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

from autogen_context import register
from autogen_context.cli.main import main
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.report.events import read_events, runs_of
from autogen_context.report.explained import explained
from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel


def read_log(number: int) -> str:
    """Read one of the log files."""
    return "".join(f"worker {number} wrote block {n * 7919 + number}\n" for n in range(60))


async def test_an_agent_of_agentchat(tmp_path: Path) -> None:
    """Each request and its bill are told, what the agent asks back, and why the first file that it read is gone."""
    path = tmp_path / "run.jsonl"
    steps = [Call("read_log", {"number": number}) for number in range(14)]
    asks = Call(RECALL_TOOL_NAME, {"query": f"block {41 * 7919 + 2}"})
    script = ScriptedModel(chain(steps, [asks, Say("Done.")]))
    async with LoopbackServer(script, window_tokens=4_000) as server:
        client = OpenAIChatCompletionClient(
            model="gpt-4-0613", api_key="none", base_url=server.base_url
        )
        agent = AssistantAgent("reader", client, tools=[read_log], max_tool_iterations=20)
        context = register(agent, window_tokens=4_000, events=path)
        await agent.run(task="Read all logs.")
        await context.manager.aclose()
        await client.close()
    [run] = runs_of(read_events(path))
    assert len(server.requests) == 16
    assert run.agent == "reader"
    usage = [event for event in run.others if event["event"] == "usage"]
    assert [event["prompt"] for event in usage] == [each.prompt_tokens for each in server.requests]
    turns = [turn["turn"] for turn in run.turns]
    assert [event["turn"] for event in usage] == turns[-16:]  # the first is prepared without tools
    [asked] = [event for event in run.others if event["event"] == "asked_back"]
    assert (asked["turn"], asked["found"]) == (turns[-2], True)
    found = explained(run, message=2)  # behind the system prompt and the task
    assert (found.life[-1]["tool"], found.is_there) == ("read_log", False)
    assert "worker" not in path.read_text()


def test_an_agent_of_classic_autogen(tmp_path: Path) -> None:
    """The same argument; the command line explains its newest message."""
    path = tmp_path / "run.jsonl"
    with LoopbackServer(ScriptedModel([Say("ok")]), window_tokens=2_000) as server:
        entry = {"model": "gpt-4o", "api_key": "none", "price": [0, 0]} | {
            "base_url": server.base_url
        }
        agent = ConversableAgent(
            "coder",
            llm_config={"config_list": [entry], "cache_seed": None},
            human_input_mode="NEVER",
        )
        context = register(agent, window_tokens=2_000, events=str(path))
        user = ConversableAgent("user", llm_config=False)
        user.initiate_chat(agent, message="Now?", max_turns=1, silent=True)
    assert context is not None
    del agent, user, context
    [run] = runs_of(read_until_written(path))
    assert [turn["model"] for turn in run.turns] == ["gpt-4o"]
    assert run.agent == "coder"
    assert main(["explain", str(path), "--message", "0"]) == 0


def read_until_written(path: Path) -> list[dict[str, object]]:
    """What is in a log whose owner does not close it."""
    while not path.exists() or not path.read_bytes().endswith(b"\n"):
        time.sleep(0.05)
    return [dict(event) for event in read_events(path)]
