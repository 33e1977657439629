"""What works for the agents of one host works for those of all; docs/hosts.md has the table that these tests make."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from host_agents import HostAgent
from hosts import measure

from autogen_context import ProjectContext
from autogen_context.cache.originals import DiskOriginals
from autogen_context.cache.tier import Scope
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.report.events import Run, read_events, runs_of
from autogen_context.testing import Call, Say, ServedRequest, Step
from support.hosts import HOSTS, agent_of, on_every_host, working
from support.logs import ASKED_BACK, PROMPT, fourteen_logs, read_log, strict_server
from support.tree import SHOP, grown

PAGE = (Path(__file__).parents[2] / "docs" / "hosts.md").read_text(encoding="utf-8").splitlines()
TURNS, TASKS, LONG_WINDOW = 28, 2, 8_000
DONE = "Done. TERMINATE"
SCOPE = Scope(tenant="acme", agent="team")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """An agent that read more logs than its window holds, was thanked, and then another one that asks for one of them."""

    host: str
    agent: HostAgent
    requests: Sequence[ServedRequest]
    rejected: Sequence[ServedRequest]
    other: Sequence[ServedRequest]
    runs: Mapping[str, Run]


async def read_by(host: str, folder: Path) -> Read:
    """The runs of one host."""
    path = folder / "run.jsonl"
    steps = [*fourteen_logs(), Say(DONE), Call(RECALL_TOOL_NAME, {"query": ASKED_BACK}), Say(DONE)]
    first = 0
    async with strict_server(*steps) as server:
        agents: list[HostAgent] = []
        for name, tasks in (
            ("reader", ["Read all logs. Never delete one.", "Thanks."]),
            ("writer", ["Which?"]),
        ):
            first = len(server.requests)
            store = DiskOriginals(folder / "originals", scope=SCOPE)
            agent = agent_of(host, server, read_log, name=name, events=path, original_store=store)
            agents.append(agent)
            for task in tasks:
                await agent.ask(task)
            assert agent.context is not None
            await agent.context.aclose()
            await agent.aclose()
        requests = server.requests
        rejected = server.rejected
    runs = {run.agent: run for run in runs_of(read_events(path))}
    return Read(
        host=host,
        agent=agents[0],
        requests=requests[:first],
        rejected=rejected,
        other=requests[first:],
        runs=runs,
    )


@pytest.fixture(scope="module", params=HOSTS)
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Runs once for each host."""
    host: str = request.param
    return asyncio.run(read_by(host, tmp_path_factory.mktemp(host)))


feature = pytest.mark.feature


@feature("requests fit the window, system prompt and tools included")
def test_an_agent_stays_inside_its_window(read: Read) -> None:
    """The server counts as OpenAI does and refuses what is larger; the window is used."""
    assert [request.error for request in read.rejected] == []
    assert len(read.requests) == 17
    assert max(request.prompt_tokens for request in read.requests) > 3_000


@feature("the latest instruction stays in sight")
def test_what_a_person_asked_for_stays(read: Read) -> None:
    """As it was written, until the next one; what never was sent cannot be missing."""
    assert all("Never delete one." in str(request.messages) for request in read.requests)


@feature("`recall_context`: the agent asks back what left its window")
def test_the_agent_asks_back_what_left_its_window(read: Read) -> None:
    """With the agent's own tool call, answered by the host."""
    assert f"worker 2 wrote {ASKED_BACK}" in str(read.requests[15].messages[-1])


@feature("`original_store=`: another agent asks back what left the first one's window")
def test_another_agent_finds_what_left_the_window_of_the_first(read: Read) -> None:
    """Of one scope, in one folder; it never read that log."""
    assert f"worker 2 wrote {ASKED_BACK}" not in str(read.other[0].messages)
    assert f"worker 2 wrote {ASKED_BACK}" in str(read.other[1].messages[-1])


@feature("bills correct the count")
def test_bills_are_recorded(read: Read) -> None:
    """Each request's."""
    assert read.agent.context is not None
    assert read.agent.context.manager.usage.requests == len(read.requests)


@feature(
    "how much of a bill was cached is recorded",
    agentchat="`RequestUsage` has no such number",
    classic="the client's usage has no such number",
)
def test_what_was_cached_is_recorded(read: Read, request: pytest.FixtureRequest) -> None:
    """Where the host says it."""
    gap = read.host in request.node.get_closest_marker("feature").kwargs
    assert read.agent.context is not None
    assert bool(read.agent.context.manager.usage.cached_tokens) is not gap


@feature("`events=`: a log of all turns, under the agent's name")
def test_the_event_log_has_each_agent_under_its_name(read: Read) -> None:
    """Two agents in one file; each turn, each bill, and what was asked back."""
    assert set(read.runs) == {"reader", "writer"}
    for run, requests in ((read.runs["reader"], read.requests), (read.runs["writer"], read.other)):
        told = [event for event in run.others if event["event"] == "usage"]
        assert [event["prompt"] for event in told] == [each.prompt_tokens for each in requests]
        assert [event["found"] for event in run.others if event["event"] == "asked_back"] == [True]
        assert len(run.turns) >= len(requests)
    assert any(turn["units"] for turn in read.runs["reader"].turns)


@feature("`project=`: the project's head in front, the same bytes in each request")
@on_every_host
async def test_an_agent_has_the_head_of_its_project(host: str, tmp_path: Path) -> None:
    """Behind the system prompt."""
    steps: list[Step] = [Call("read_log", {"number": 1}), Say(DONE)]
    project = ProjectContext(grown(tmp_path / "shop", SHOP))
    async with working(host, *steps, tools=(read_log,), project=project) as (server, agent):
        await agent.ask("Go.")
    heads = [request.messages[1] for request in server.requests]
    assert str(heads[0]["content"]).startswith("[The project shop, from its files.")
    assert heads[0] == heads[1]
    assert server.requests[0].messages[0]["content"] == PROMPT


@feature(
    "`ProjectContext(shared_head=True)`: agents of a team send one prefix, which is cached once"
)
@on_every_host
async def test_agents_with_tasks_of_their_own_send_one_prefix(host: str, tmp_path: Path) -> None:
    """Tools, system prompt and head of both are the same bytes; without it each has a head for its task."""
    modules = {
        f"part_{n}.py": f"def part_{n}(name: str) -> str:\n    return name\n" for n in range(40)
    }
    root = grown(tmp_path / "shop", {**SHOP, **modules})
    for shared in (False, True):
        project = ProjectContext(root, shared_head=shared)
        async with strict_server(Say(DONE), Say(DONE)) as server:
            for name, task in (("a", "Why `part_7`?"), ("b", "And `part_31`?")):
                agent = agent_of(host, server, read_log, name=name, project=project)
                await agent.ask(task)
                await agent.aclose()
        one, other = ((each.tools, each.messages[:2]) for each in server.requests)
        assert "[The project shop" in str(one)
        assert (one == other) is shared


@feature("`files=`: the agent is told of files that changed behind its back")
@on_every_host
async def test_an_agent_is_told_of_changed_files(host: str, tmp_path: Path) -> None:
    """Those that it has read."""
    page = grown(tmp_path / "shop", SHOP) / "README.md"

    def read_file(path: str) -> str:
        """Read a file of the project."""
        return (page.parent / path).read_text()

    steps: list[Step] = [Call("read_file", {"path": "README.md"}), *[Say(DONE)] * 100]
    async with working(host, *steps, tools=(read_file,), files=page.parent) as (server, agent):
        await agent.ask("Read it.")
        page.write_text("# Other\n")
        for _ in range(98):
            await agent.ask("Go on.")
            if "README.md changed on disk" in str(server.requests[-1].messages):
                return
            await asyncio.sleep(0.05)
    raise AssertionError(server.requests[-1].messages)


@feature('`model_client="host"`: the agent\'s own model writes summaries')
@on_every_host
async def test_the_agents_own_model_writes_summaries(host: str) -> None:
    """Beside the conversation, without its tools."""
    steps = [*fourteen_logs()[:14], *[Say(DONE)] * 50]
    async with working(host, *steps, tools=(read_log,), model_client="host") as (server, agent):
        await agent.ask("Read all logs.")
    assert any(not request.tools for request in server.requests)


@feature("from a state through JSON it goes on to the byte; between compactions requests only grow")
@on_every_host
async def test_an_agent_works_on_for_as_long_as_it_likes(host: str) -> None:
    """Again with a new agent in the middle that has nothing but what was JSON."""
    found = await measure(host, "ours", TURNS)
    assert found.requests == TURNS + TASKS
    assert (found.refused, found.orphans) == (0, 0)
    assert (found.newest, found.instruction) == (1, 1)
    assert 0.9 * LONG_WINDOW < found.largest_tokens <= LONG_WINDOW
    assert found.appending_between == 1
    assert found.appending >= 0.8
    assert found.resumes


def test_the_page_has_a_row_for_each_of_these_tests(request: pytest.FixtureRequest) -> None:
    """The table of docs/hosts.md is what ran here; where a row is missing, the message has it."""
    ran: dict[str, dict[str, str]] = {}
    for item in request.session.items:
        marker = item.get_closest_marker("feature")
        if marker is not None and isinstance(item, pytest.Function):
            params = item.callspec.params
            host = str(params.get("host") or params["read"])
            ran.setdefault(marker.args[0], {})[host] = marker.kwargs.get(host, "")
    table = ["| | " + " | ".join(HOSTS) + " |", "|---|" + "---|" * len(HOSTS)]
    table += [f"| {name} | {' | '.join(map(cell, of.values()))} |" for name, of in ran.items()]
    assert [row for row in table if row not in PAGE] == [], "\n".join(table)
    marks = [mark for test in globals().values() for mark in getattr(test, "pytestmark", ())]
    known = [mark.args[0] for mark in marks if mark.name == "feature"]
    assert [row.split(" | ")[0][2:] for row in PAGE if " | yes" in row] == known


def cell(gap: str) -> str:
    """Whether a host has a feature; if not, why."""
    return f"no: {gap}" if gap else "yes"
