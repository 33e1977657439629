"""Every kind of agent and team of autogen-agentchat, with its real client, against a server that refuses what OpenAI refuses."""

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import (
    ApprovalResponse,
    AssistantAgent,
    BaseChatAgent,
    CodeExecutorAgent,
    SocietyOfMindAgent,
)
from autogen_agentchat.base import TaskResult
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import StructuredMessage
from autogen_agentchat.teams import (
    BaseGroupChat,
    DiGraphBuilder,
    GraphFlow,
    MagenticOneGroupChat,
    RoundRobinGroupChat,
    SelectorGroupChat,
    Swarm,
)
from autogen_agentchat.tools import AgentTool, TeamTool
from autogen_core import CancellationToken
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.models import ChatCompletionClient
from autogen_ext.code_executors.local import LocalCommandLineCodeExecutor
from pydantic import BaseModel

from autogen_context import ManagedChatCompletionContext, register
from autogen_context.adapters.agentchat import ManagedChatCompletionClient
from autogen_context.testing import Call, Fault, LoopbackServer, Request, Say, ScriptedModel, Step
from support.agentchat import client_of
from support.logs import exact_tokens

MODEL = "gpt-4o-2024-08-06"
WINDOW = 2_000
SERVED: dict[str, Any] = {"model": MODEL, "parallel_tool_calls": False}
PROMPT = "You are a careful engineer."
TURNS = 8
TASK = "Task-{}: find out why the build fails, and never touch the lock file."
NO_TASK = (
    "Earlier you were asked"  # a SocietyOfMindAgent asks for its answer with its team's talk alone
)
CODE = "```sh\nseq 1 300; exit 3\n```"

# What keeps its requests inside the window: a context, or the client of an orchestrator.
Keeper = ManagedChatCompletionContext | ManagedChatCompletionClient


class Report(BaseModel):
    """What was found."""

    finding: str


Built = tuple[BaseChatAgent | BaseGroupChat, Sequence[Keeper]]
"""What is run, and what its requests go through."""


def read_log(number: int) -> str:
    """Read one of the logs."""
    return "".join(f"10:{n:02d} worker {number} failed on block {n * 31}\n" for n in range(40))


def answers() -> Callable[[Request], Step]:
    """Play all parts: an engineer, one who hands over, a selector, an orchestrator, an author of code."""
    speakers = cycle(["ann", "bob"])

    def step(request: Request) -> Step:  # noqa: PLR0911  # one for each part
        asked = " ".join(str(message.get("content")) for message in request.messages)
        last = str(request.messages[-1].get("content"))
        after_a_result = request.messages[-1]["role"] == "tool"
        task = TASK.format(max(re.findall(r"Task-(\d)", asked), default="0"))
        tools = {tool["function"]["name"] for tool in request.tools} - {"recall_context"}
        if "select the next role" in asked:
            return Say(next(speakers))
        if '"is_request_satisfied"' in last:
            return Say(ledger(next(speakers)))
        if "Should we attempt to resolve it" in last:
            return Say('{"retry": true, "reason": "Once more."}')
        if "code block" in asked:
            return Say(f"{'word ' * 60}{CODE}")
        if "report" in asked:
            return Say(Report(finding="word " * 200).model_dump_json())
        if handing := [name for name in tools if name.startswith("transfer")]:
            done = request.number % 3 == 0
            return (
                [Say("word " * 100), Call(handing[0])] if done else Call("read_log", {"number": 1})
            )
        if running := sorted(tools & {"helper", "team"}):
            return Say("word " * 60) if after_a_result else Call(running[0], {"task": task})
        if "read_log" in tools and not (after_a_result and request.number % 3 == 0):
            return [Call("read_log", {"number": request.number + n}) for n in (0, 1)]
        return Say("word " * 120)

    return step


def ledger(speaker: str) -> str:
    """What the orchestrator of MagenticOne is told of the progress."""
    said: dict[str, object] = {
        "is_request_satisfied": False,
        "is_progress_being_made": True,
        "is_in_loop": False,
        "instruction_or_question": "Go on. " * 20,
        "next_speaker": speaker,
    }
    return json.dumps(
        {name: {"reason": "It is so.", "answer": each} for name, each in said.items()}
    )


def engineer(client: ChatCompletionClient, name: str, **options: Any) -> AssistantAgent:
    """An agent; without tools where none are given."""
    return AssistantAgent(name, client, system_message=PROMPT, **options)


def pair(client: ChatCompletionClient, **options: Any) -> list[AssistantAgent]:
    """Two members of a team, of which the first reads logs."""
    tools: list[Any] = [read_log]
    return [engineer(client, "ann", tools=tools, **options), engineer(client, "bob", **options)]


def kept(*agents: object) -> list[Keeper]:
    """The agents, registered."""
    contexts = [register(agent, window_tokens=WINDOW) for agent in agents]
    return [each for each in contexts if isinstance(each, Keeper)]


def end() -> MaxMessageTermination:
    """Where a team's run ends."""
    return MaxMessageTermination(TURNS)


def a_stream(client: ChatCompletionClient) -> Built:
    """Answers in a stream, tools, and a memory that speaks at each run."""
    memory = ListMemory(None, [MemoryContent(content="Tea, no milk.", mime_type="text/plain")])
    more: dict[str, Any] = {"tools": [read_log], "max_tool_iterations": 9, "memory": [memory]}
    agent = engineer(client, "ann", model_client_stream=True, **more)
    return agent, kept(agent)


def structured_output(client: ChatCompletionClient) -> Built:
    """Answers by a schema, in a team that goes on by itself."""
    prompt = "You write a report."
    agent = AssistantAgent("ann", client, system_message=prompt, output_content_type=Report)
    team = RoundRobinGroupChat(
        [agent], termination_condition=end(), custom_message_types=[StructuredMessage[Report]]
    )
    return team, kept(agent)


def code_executor(client: ChatCompletionClient) -> Built:
    """Code that fails, is looked at behind the context, and tried again."""
    folder = Path.cwd() / "code"
    folder.mkdir(exist_ok=True)
    with pytest.warns(UserWarning, match="unsafe"):
        executor = LocalCommandLineCodeExecutor(work_dir=folder)
    approved = ApprovalResponse(approved=True, reason="a test")
    agent = CodeExecutorAgent(
        "ann",
        executor,
        model_client=client,
        max_retries_on_error=4,
        system_message="You write a code block.",
        approval_func=lambda _: approved,
    )
    return agent, kept(agent)


def round_robin(client: ChatCompletionClient) -> Built:
    """In turns."""
    agents = pair(client)
    return RoundRobinGroupChat([*agents], termination_condition=end()), kept(*agents)


def selector(client: ChatCompletionClient) -> Built:
    """Whose choice of the speaker is a request of the team's own."""
    agents = pair(client)
    prompt = "Choose one of {participants}.\n{roles}\n{history}\nOnly select the next role."
    team = SelectorGroupChat(
        [*agents],
        client,
        selector_prompt=prompt,
        allow_repeated_speaker=True,
        termination_condition=end(),
    )
    return team, kept(*agents, team)


def swarm(client: ChatCompletionClient) -> Built:
    """By handoffs."""
    tools: list[Any] = [read_log]
    ann = engineer(client, "ann", tools=tools, handoffs=["bob"])
    bob = engineer(client, "bob", tools=tools, handoffs=["ann"])
    return Swarm([ann, bob], termination_condition=end()), kept(ann, bob)


def magentic_one(client: ChatCompletionClient) -> Built:
    """The orchestrator keeps its messages itself: its client does it."""
    agents = pair(client)
    team = MagenticOneGroupChat([*agents], client, termination_condition=end())
    return team, kept(*agents, team)


def graph_flow(client: ChatCompletionClient) -> Built:
    """By a graph: one, two at once, and one who hears both."""
    a, b, c, d = agents = [engineer(client, name, tools=[read_log]) for name in "abcd"]
    graph = DiGraphBuilder().add_node(a).add_node(b).add_node(c).add_node(d)
    graph.add_edge(a, b).add_edge(a, c).add_edge(b, d).add_edge(c, d)
    return GraphFlow(graph.get_participants(), graph.build()), kept(*agents)


def agent_tool(client: ChatCompletionClient) -> Built:
    """An agent that asks another one."""
    helper = engineer(client, "helper", tools=[read_log], max_tool_iterations=3)
    agent = engineer(client, "ann", tools=[AgentTool(helper)], max_tool_iterations=9)
    return agent, kept(agent, helper)


def team_tool(client: ChatCompletionClient) -> Built:
    """An agent that asks a team."""
    members = pair(client)
    team = RoundRobinGroupChat([*members], termination_condition=end())
    tool = TeamTool(team, "team", "Asks a team.", return_value_as_last_message=True)
    agent = engineer(client, "ann", tools=[tool], max_tool_iterations=9)
    return agent, kept(agent, *members)


def society_of_mind(client: ChatCompletionClient) -> Built:
    """A team within an agent, whose answer is asked for beside its context."""
    members = pair(client)
    inner = RoundRobinGroupChat([*members], termination_condition=end())
    agent = SocietyOfMindAgent("society", inner, client)
    kept(agent, *members)  # which clears its members when they are done
    return agent, [vars(agent)["_model_client"]]


KINDS = [
    a_stream,
    structured_output,
    code_executor,
    round_robin,
    selector,
    swarm,
    magentic_one,
    graph_flow,
    agent_tool,
    team_tool,
    society_of_mind,
]


# The host dumps a parsed answer as what its type does not say.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_a_kind_stays_inside_its_window(
    kind: Callable[[ChatCompletionClient], Built], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run, saved, loaded by another process and run again: none refused, and each request has the task of its run."""
    monkeypatch.chdir(tmp_path)
    script = ScriptedModel(answers(), count=exact_tokens)
    async with LoopbackServer(script, window_tokens=WINDOW) as server:
        client, state = client_of(server, **SERVED), None
        runs, keepers = list[int](), list[Keeper]()
        for number in (1, 2):
            runner, its_keepers = kind(client)
            if state is not None:
                await runner.load_state(state)
            await runner.run(task=TASK.format(number))
            state = json.loads(json.dumps(await runner.save_state()))
            runs.append(len(server.requests))
            keepers += its_keepers
        await client.close()
    assert [request.error for request in server.rejected] == []
    for at, request in enumerate(server.requests):
        number = 1 + sum(at >= end for end in runs)
        text = str(request.messages)
        assert f"Task-{number}" in text or NO_TASK in text
    prepared = [each.last_prepared for each in keepers if each.last_prepared is not None]
    assert len(prepared) >= len(keepers) // 3  # a team that is loaded may be at its end soon
    assert any(decision.action != "keep" for each in prepared for decision in each.decisions)
    for certificate in (each.certificate for each in prepared):
        assert certificate.fits
        assert certificate.pairs_closed
        assert certificate.newest_present


@pytest.mark.parametrize("within", ["model", "tool"])
async def test_a_run_goes_on_after_it_was_cancelled(within: str) -> None:
    """A call whose result never came is no orphan in the next request."""
    script = ScriptedModel(answers(), count=exact_tokens)
    async with LoopbackServer(script, window_tokens=WINDOW) as server:
        client, token, started = client_of(server, **SERVED), CancellationToken(), asyncio.Event()

        async def read_log(number: int) -> str:
            """Read a log, and never come to an end."""
            started.set()
            await asyncio.sleep(60 if not token.is_cancelled() else 0)
            return f"log {number} " * 200

        agent = engineer(client, "ann", tools=[read_log], max_tool_iterations=9)
        context = register(agent, window_tokens=WINDOW)
        if within == "model":
            server.inject(Fault.slow(60))
            started.set()
        run = asyncio.create_task(agent.run(task=TASK.format(1), cancellation_token=token))
        await started.wait()
        await asyncio.sleep(0.1)
        token.cancel()
        run.cancel()  # AutoGen waits for a tool that does not look at the token
        with pytest.raises(asyncio.CancelledError):
            await run
        result = await agent.run(task=TASK.format(2))
        await client.close()
    assert isinstance(result, TaskResult)
    assert [request.error for request in server.rejected] == []
    assert "Task-2" in str(server.requests[-1].messages)
    assert context.last_prepared is not None
    assert context.last_prepared.certificate.pairs_closed
