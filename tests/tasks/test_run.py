"""A run with real agents: what is sent, billed and refused, and what stands in its outcome."""

import json
from collections.abc import Sequence
from typing import ClassVar, Self

import pytest
from tasks.client import uncopied
from tasks.managers import MANAGERS, ON_HOSTS, Manager
from tasks.sight import Sight
from tasks.task import Said, Task, Tool, Verdict
from typing_extensions import override

from autogen_context.testing import Call, LoopbackServer, Request, Say, Step
from tasks import run as runs

ITEMS = 12
EVERY = {**MANAGERS, **{f"ours on {name}": each for name, each in ON_HOSTS.items()}}


class Count(Task):
    """Count to twelve with a tool that says much; what was counted is read from the request."""

    family: ClassVar[str] = "count"
    prompt: ClassVar[str] = "Count."

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.said = [Said(text="Count to twelve, each number once.")]
        self.counted: list[int] = []

    @override
    def tools(self, agent: str) -> Sequence[Tool]:
        def count(number: int) -> str:
            """Count one."""
            self.counted.append(number)
            return f"Counted {number}. " + " ".join(f"word{number}x{n}" for n in range(150))

        return [count]

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        counted = [int(call.arguments["number"]) for call in sight.calls_of("count")]
        following = max(counted, default=0) + 1
        return Say("Done.") if following > ITEMS else Call("count", {"number": following})

    @override
    def verdict(self) -> Verdict:
        return Verdict(solved=self.counted == [*range(1, ITEMS + 1)])


async def sent(monkeypatch: pytest.MonkeyPatch, manager: Manager) -> str:
    """The requests of a run, as they arrived."""
    servers: list[LoopbackServer] = []

    class Noted(LoopbackServer):
        """Keeps itself for the test."""

        @override
        async def __aenter__(self) -> Self:
            servers.append(self)
            return await super().__aenter__()

    monkeypatch.setattr(runs, "LoopbackServer", Noted)
    outcome = await runs.run(Count(0), manager, 4_000)
    assert outcome.requests == ITEMS + 1
    return json.dumps([[r.messages, r.tools] for server in servers for r in server.requests])


@pytest.mark.parametrize(
    "name", ["sliding", "ours on ag2", "ours on classic", "ours on agent-framework"]
)
async def test_the_client_sends_the_same_without_its_copy(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A request is what the host made it, whether the client copies it by type or not."""
    copied = await sent(monkeypatch, EVERY[name])
    with uncopied():
        assert await sent(monkeypatch, EVERY[name]) == copied


@pytest.mark.parametrize("name", EVERY)
async def test_every_manager_works_a_task_to_its_end(name: str) -> None:
    """Real agents of each host, a window that does not hold all, a bill for each request."""
    window = 0 if name == "everything" else 4_000
    with uncopied():
        outcome = await runs.run(Count(0), EVERY[name], window)
    assert outcome.requests > ITEMS
    assert outcome.cost_tokens > ITEMS * 500
    assert (outcome.solved, outcome.refused) == (True, 0)
    assert outcome.largest_tokens <= 4_000 or not window


async def test_a_request_above_the_window_is_refused_and_ends_the_run() -> None:
    """As the provider does; the outcome says so."""
    with uncopied():
        outcome = await runs.run(Count(0), MANAGERS["everything"], 3_000)
    assert (outcome.refused, outcome.solved) == (1, False)
    assert "maximum context length" in outcome.why


class Turns(Count):
    """Count one in each turn; the first turn says something that holds."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.said = [
            Said(text="Never count on Fridays. Count 1."),
            *(Said(text=f"Count {n}.") for n in range(2, ITEMS + 1)),
        ]

    @staticmethod
    @override
    def decide(sight: Sight) -> Step:
        if sight.newest.role == "tool":
            return Say("Done.")
        return Call("count", {"number": int(sight.newest.text.split()[-1].strip("."))})


async def test_summaries_of_agent_framework_last_over_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the first turn said is in the last request; the history is not summarised anew in each turn."""
    shown: list[str] = []

    class Noted(LoopbackServer):
        """Keeps what it answered."""

        @override
        async def __aexit__(self, *error: object) -> None:
            shown.append(json.dumps([request.messages for request in self.requests]))
            await super().__aexit__(*error)

    monkeypatch.setattr(runs, "LoopbackServer", Noted)
    outcome = await runs.run(Turns(0), MANAGERS["AF summaries"], 4_000)
    assert outcome.solved
    last = json.loads(max(shown, key=len))[-1]
    assert any(
        "Never count on Fridays" in str(m["content"]) for m in last if m["role"] == "assistant"
    )
    assert 2 <= outcome.summaries < ITEMS


async def test_tools_that_a_task_does_not_need_change_nothing_but_the_price() -> None:
    """They are deferred; what the task needs is searched for once and found."""
    with uncopied():
        bare = await runs.run(Count(0), MANAGERS["ours"], 8_000)
        many = await runs.run(Count(0), MANAGERS["ours"], 8_000, extra_tools=60)
    assert (many.solved, many.refused, many.extra_tools) == (True, 0, 60)
    assert bare.requests <= many.requests <= bare.requests + 2


@pytest.mark.parametrize(
    ("there", "says", "query"),
    [
        (["count"], "Count.", None),
        (["find_tools"], "Count.", "count"),
        (["find_tools"], "[Found]", None),
        (["other"], "Count.", None),
    ],
)
def test_what_is_not_there_is_searched_for_once(
    there: list[str], says: str, query: str | None
) -> None:
    """As a model does: it calls what its request has, where it can search."""
    request = Request(
        number=1,
        model="m",
        messages=[{"role": "tool", "content": says}],
        tools=[{"type": "function", "function": {"name": name}} for name in there],
    )
    step = runs.searched(Call("count", {"number": 1}), request)
    assert isinstance(step, Call)
    assert step.name == ("count" if query is None else "find_tools")
    assert query is None or step.arguments == {"query": query}
