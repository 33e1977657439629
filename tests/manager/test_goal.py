"""The goal: what people want, not what they said last; whoever uses it, and what a program sets."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager, TokenBudgetManager
from autogen_context.budget.policy import BudgetRequest, CompactionBudget, TurnBudget
from autogen_context.budget.task import TaskDefinition
from autogen_context.manager.event_log import EventLog
from autogen_context.manager.options import ManagerOptions
from autogen_context.report.events import read_events, runs_of
from autogen_context.testing import ChatMessage
from support.results import step

pytestmark = pytest.mark.filterwarnings("ignore:window_tokens=")

SYSTEM: ChatMessage = {"role": "system", "content": "You are an agent."}
REFACTOR = (
    "Please refactor the billing service: split billing.py into rates.py, taxes.py and refunds.py, then move the tests, "
    "update every import, and keep the public functions. You must not change any result."
)
JOBS = (
    REFACTOR,
    "I need you to write a migration that moves all customers into the new table.",
    "Build a small web page that lists all open invoices by customer.",
    "Ich brauche eine Übersicht aller Lieferanten, sortiert nach Umsatz.",
    "Necesito un resumen de tres páginas de estos informes para la junta.",
)
ADDED = (
    "Also write tests for the empty file.",
    "And then add a short changelog entry for it.",
    "Ergänze außerdem noch eine Anleitung.",
)
LEAVES = (
    "Yes, go on.",
    "Thanks! Continue please.",
    "ok, sounds good",
    "Why did it take so long?",
    "run the tests again",
    "It is on the second shelf.",
    "What a lovely morning it is here!",
    "Ja, weiter so.",
    "Merci, continue.",
    "No, the other one.",
)
BETWEEN = "\n\n"


def talk(text: str, role: str = "user", name: str = "") -> ChatMessage:
    """A message of a conversation."""
    return {"role": role, "content": text, **({"name": name} if name else {})}


def manager_of(window_tokens: int = 3_000, **parts: object) -> IncrementalContextManager:
    """A manager of a small window."""
    config = ContextConfig(model="gpt-4", window_tokens=window_tokens)
    options: ManagerOptions = {"config": config, **parts}  # type: ignore[typeddict-item]  # of the tests' own
    return IncrementalContextManager(**options)


def work(count: int, start: int = 0) -> list[ChatMessage]:
    """Calls with long results."""
    return [m for n in range(start, start + count) for m in step(n, log(n), command=f"make {n}")]


def log(number: int) -> str:
    """A long result."""
    return "\n".join(
        f"mod_{number}_{n}.c:{n * 7}: undefined reference to fn_{n}" for n in range(25)
    )


def wanted_after(said: Sequence[str]) -> str:
    """The goal after a person said so, one after the other."""
    parts: list[str] = []
    for text in said:
        if text in JOBS:
            parts = [text]
        elif text in ADDED and parts:
            parts = [*parts, text]
    return BETWEEN.join(parts)


SAID = st.tuples(
    st.sampled_from(JOBS), st.lists(st.sampled_from((*JOBS, *ADDED, *LEAVES)), max_size=6)
).map(lambda said: list(dict.fromkeys([said[0], *said[1]])))


@given(SAID)
def test_the_goal_is_what_people_want_and_not_what_they_said_last(said: list[str]) -> None:
    """It changes with a job, grows by what comes on top, and stays with all else; in each turn, all at once, and after a restart."""
    manager, history = manager_of(2_000), [SYSTEM]
    for n, text in enumerate(said):
        history += [talk(text), *work(2, 2 * n)]
        manager.prepare_nowait(history)
        assert manager.goal == wanted_after(said[: n + 1])
    at_once, resumed = manager_of(2_000), manager_of(2_000)
    at_once.prepare_nowait(history)
    resumed.load_state(json.loads(json.dumps(manager.save_state())))
    resumed.observe(history)
    assert at_once.goal == resumed.goal == manager.branch().goal == manager.goal


def test_nothing_is_wanted_until_somebody_says_so() -> None:
    """A greeting is no goal; what was said last is then all that there is."""
    manager = manager_of()
    assert manager.goal == ""
    for text in ("Good morning!", "I am Bo.", REFACTOR):
        manager.prepare_nowait([SYSTEM, talk(text)])
        assert manager.goal == (REFACTOR if text == REFACTOR else "")


@pytest.mark.parametrize(
    "others",
    [
        [talk("{}", "assistant")],
        [talk("{}", name="coder")],
        [*step(99, "{}")],
        [talk("{}", "system")],
    ],
    ids=["a model", "another agent", "a tool", "a system message"],
)
def test_nobody_but_a_person_changes_it(others: list[ChatMessage]) -> None:
    """Whatever anybody else writes; to an agent that hears no person, the one who leads it says what to do."""
    told = [{**each, "content": str(each.get("content")).replace("{}", JOBS[1])} for each in others]
    manager = manager_of()
    manager.prepare_nowait([SYSTEM, talk(REFACTOR), talk("ok", "assistant"), *told, talk("Go on.")])
    assert manager.goal == REFACTOR
    led = manager_of()
    led.prepare_nowait(
        [SYSTEM, talk(JOBS[1], name="lead"), talk("ok", "assistant"), talk("ok", name="lead")]
    )
    assert led.goal == JOBS[1]


# Who uses it


class Noting:
    """A budget that notes the task of each compaction."""

    def __init__(self) -> None:
        self._own = TokenBudgetManager()
        self.tasks: list[TaskDefinition] = []

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        return self._own.for_turn(room_tokens)

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        self.tasks.append(request.task)
        return self._own.for_compaction(request)


def compacted_for(said: Sequence[str], goal: str | None = None) -> TaskDefinition:
    """The task of the last compaction of a conversation in which a person said this."""
    budget = Noting()
    manager, history = manager_of(budget=budget), [SYSTEM]
    manager.goal = goal
    for n, text in enumerate(said):
        history += [talk(text), *work(8, 8 * n)]
        manager.prepare_nowait(history)
    return budget.tasks[-1]


@pytest.mark.parametrize("last", LEAVES)
def test_a_compaction_is_planned_for_the_goal(last: str) -> None:
    """The complexity is that of the goal, whatever is said last; without the goal it is little, and a new job has its own."""
    task, alone = compacted_for([REFACTOR, last]), compacted_for([last])
    assert (task.type, task.complexity) == ("refactor", "high")
    assert task.text == f"{REFACTOR}{BETWEEN}{last}"
    assert (alone.text, alone.complexity) == (last, "low")
    assert compacted_for([REFACTOR, last, JOBS[2]]).complexity != "high"
    assert compacted_for([last], goal=REFACTOR).complexity == "high"


def test_what_is_said_last_decides_the_kind_of_query() -> None:
    """A question about the past is one, whatever the goal is, and what is more than the goal counts."""
    task = TaskDefinition.of_goal(REFACTOR, "What did I tell you about my sister?")
    assert (task.type, task.complexity, task.query_kind) == ("refactor", "high", "recall")
    assert TaskDefinition.of_goal("Say hello.", REFACTOR).complexity == "high"
    assert TaskDefinition.of_goal("", REFACTOR) == TaskDefinition.from_text(REFACTOR)
    assert TaskDefinition.of_goal(REFACTOR, REFACTOR) == TaskDefinition.from_text(REFACTOR)


async def test_a_model_is_asked_about_the_goal() -> None:
    """Once, and its advice acts after "thanks" as well."""
    prompts: list[str] = []

    async def complete(prompt: str, /) -> str:
        prompts.append(prompt)
        return '{"complexity": "high"}' if "a multiplier for each category" in prompt else "{}"

    budget = Noting()
    async with manager_of(budget=budget, model_client=complete) as manager:
        history = [SYSTEM]
        for n, text in enumerate((JOBS[2], "Thanks! Continue please.", "Go on.")):
            history += [talk(text), *work(8, 8 * n)]
            for end in range(len(history) - 15, len(history) + 1, 2):
                await manager.prepare(history[:end])
        asked = [each for each in prompts if "a multiplier for each category" in each]
    assert len(asked) == 1
    assert JOBS[2] in asked[0]
    assert budget.tasks[-1].complexity == "high"
    assert budget.tasks[-1].reasons[-1] == "high: a model's advice"


# What a program sets


def test_a_program_may_set_it() -> None:
    """It stays over turns, compactions, a saved state and a branch; with ``None`` it follows from what people say."""
    manager, history = manager_of(), [SYSTEM, talk(REFACTOR), *work(6)]
    manager.goal = "  Answer the auditor. "
    for text in (*JOBS[1:], *LEAVES):
        history += [talk(text), *work(2, len(history))]
        manager.prepare_nowait(history)
        assert manager.goal == "Answer the auditor."
    resumed = manager_of()
    resumed.load_state(json.loads(json.dumps(manager.save_state())))
    assert resumed.goal == manager.branch().goal == "Answer the auditor."
    resumed.goal = manager.goal = None
    assert manager.goal == JOBS[-1]
    with pytest.raises(
        ValueError, match="goal: the messages of the loaded state were not handed in"
    ):
        assert resumed.goal
    resumed.observe(history)
    assert resumed.goal == JOBS[-1]


@pytest.mark.parametrize("wrong", ["", " \n", 3, b"go", ["go"]])
def test_a_wrong_goal_is_an_error_with_its_way_out(wrong: object) -> None:
    """And what was there is there."""
    manager = manager_of()
    manager.goal = REFACTOR
    with pytest.raises(
        ValueError, match=r"goal=.*: give what the agent is to do, as a text; or None"
    ):
        manager.goal = wrong  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]  # as said
    assert manager.goal == REFACTOR


# What leaves the list


@pytest.mark.parametrize("start", [1, 2])
@given(st.integers(1, 4), SAID)
def test_what_a_host_cuts_from_its_front_stays_the_goal(
    start: int, cut: int, said: list[str]
) -> None:
    """Over several cuts, whether it keeps the first task or not, and into a saved state."""
    manager, history = manager_of(), [SYSTEM]
    for n, text in enumerate(said):
        history += [talk(text), *work(2, 2 * n)]
        manager.prepare_nowait(history)
        wanted = manager.goal
        if n % 2:
            del history[start : min(start + 5 * cut, len(history) - 2)]
            history.append(talk("fine", "assistant"))
            manager.prepare_nowait(history)
            assert manager.goal == wanted
    resumed = manager_of()
    resumed.load_state(json.loads(json.dumps(manager.save_state())))
    resumed.observe(history)
    assert resumed.goal == manager.goal


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_forgotten_goal_is_gone(is_cut: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """From the state as well, and one that a program set with it."""
    marker = "zebra4711"
    said = f"Please write a report about {marker} for the board, with all figures."
    manager = manager_of()
    history = [SYSTEM, talk(JOBS[1]), *work(2), talk(said), *work(2, 2), talk("Go on.")]
    manager.prepare_nowait(history)
    assert said in manager.goal
    if is_cut:
        del history[1:-1]
        history.append(talk("fine", "assistant"))
        manager.prepare_nowait(history)
        assert said in manager.goal
    manager.forget(query=marker)
    manager.prepare_nowait([*history, talk("And?")])
    assert marker not in manager.goal
    manager.goal = said
    manager.forget(query=marker)
    assert marker not in json.dumps(manager.save_state())


def test_the_event_log_says_what_is_wanted(tmp_path: Path) -> None:
    """When it changes, by whose word, and with the text only where texts are recorded."""
    for record_text in (False, True):
        path = tmp_path / f"{record_text}.jsonl"
        written = EventLog(path, record_text=record_text)
        manager = manager_of(events=written)
        history = [SYSTEM]
        for text in (JOBS[1], "Go on.", ADDED[0], "Go on."):
            history += [talk(text), talk("ok", "assistant")]
            manager.prepare_nowait(history)
        manager.goal = "Answer the auditor."
        manager.prepare_nowait([*history, talk("Go on.")])
        assert written.flush()
        [run] = runs_of(read_events(path))
        told = [turn.get("goal") for turn in run.turns]
        assert [bool(each) for each in told] == [True, False, True, False, True]
        named = [(each["by"], each["messages"]) for each in told if each]
        assert named == [("people", [1]), ("people", [1, 5]), ("program", [])]
        texts = [each.get("text") for each in told if each]
        assert texts == (
            [JOBS[1], f"{JOBS[1]}{BETWEEN}{ADDED[0]}", "Answer the auditor."]
            if record_text
            else [None] * 3
        )
