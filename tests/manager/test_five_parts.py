"""What is exported is what runs: four of the five parts are called with nothing but a window given, and decide (F1).

The fifth, the cache, keeps what a model or a project costs: tests/cache/test_remembered.py.
"""

from dataclasses import replace

import pytest
from typing_extensions import override

from autogen_context import IncrementalContextManager, TokenBudgetManager
from autogen_context.budget.policy import BudgetRequest, CompactionBudget
from autogen_context.budget.task import Complexity
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.keeping import manager
from support.tracing import traced
from support.working import run


def turns(keeper: IncrementalContextManager, most: int = 40) -> tuple[list[ChatMessage], ...]:
    """What is sent in each turn of a run of steps."""
    return tuple(keeper.prepare_nowait(run(n)).messages for n in range(1, most))


def test_the_parts_are_called() -> None:
    """In a run with compactions, with nothing but a window given."""
    with traced() as calls:
        turns(manager())
    names = {name.split(".")[0] for _, name in calls}
    parts = {
        "IncrementalContextManager",
        "TokenBudgetManager",
        "ContextPrioritizer",
        "SemanticCompressor",
    }
    assert parts <= names


TOOLS: list[dict[str, object]] = [
    {"type": "function", "function": {"name": "recall_context", "parameters": {}}}
]


def test_what_is_observed_early_is_decided_when_the_tools_are_known() -> None:
    """A large result is cut on arrival where the agent can ask back, however early it was heard of (F14)."""
    large = "\n".join(f"line {n} of a result that nobody asked for" for n in range(900))
    history = [*run(4)[:-1], {**run(4)[-1], "content": large}]
    early, late = manager(60_000), manager(60_000)
    early.observe(history[:-1])
    early.observe(history)
    expected = late.prepare_nowait(history, TOOLS)
    assert early.prepare_nowait(history, TOOLS) == expected
    assert expected.messages[-1] is not history[-1]
    assert early.save_state() == late.save_state()


class OfComplexity(TokenBudgetManager):
    """The default, but for how complex the task is."""

    def __init__(self, complexity: Complexity) -> None:
        super().__init__()
        self.complexity: Complexity = complexity

    @override
    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        task = replace(request.task, complexity=self.complexity)
        return super().for_compaction(replace(request, task=task))


SIMPLE = "Fix the typo in the readme."
COMPLEX = (
    "Refactor the whole service: first the parser, then the router, then the worker; all tests must stay green, never drop "
    "the API, and migrate the database, since auth.py, db.py, router.py and worker.py depend on it."
)


@pytest.mark.parametrize(
    ("task", "complexity", "other"), [(SIMPLE, "low", "high"), (COMPLEX, "high", "low")]
)
def test_complexity_decides_by_default(
    task: str, complexity: Complexity, other: Complexity
) -> None:
    """A compaction keeps what the task's own complexity says, and another one would keep something else (F3)."""

    def compacted(budget: TokenBudgetManager | None) -> list[ChatMessage]:
        keeper = IncrementalContextManager(window_tokens=6_000, counter=Characters(), budget=budget)
        messages = run(0)[:1]
        messages.append({"role": "user", "content": task})
        sent = (keeper.prepare_nowait([*messages, *run(n)[2:]]) for n in range(1, 40))
        return next(turn.messages for turn in sent if turn.compacted)

    assert compacted(None) == compacted(OfComplexity(complexity))
    assert compacted(None) != compacted(OfComplexity(other))
