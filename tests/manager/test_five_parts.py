"""What is exported is what runs: four of the five parts are called with nothing but a window given, and decide (F1).

The fifth, the cache, keeps what a model or a project costs: tests/cache/test_remembered.py.
"""

import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest
from typing_extensions import override

import autogen_context
from autogen_context import ContextConfig, IncrementalContextManager, TokenBudgetManager
from autogen_context.budget.policy import BudgetRequest, CompactionBudget
from autogen_context.budget.task import Complexity
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.working import run

ROOT = str(Path(autogen_context.__file__).parent)
# What is done for each line or token of a new text, and would hide the way of a turn.
BY_TEXT = (
    "compressor/arrival.py",
    "compressor/code.py",
    "compressor/json_text.py",
    "compressor/kinds.py",
    "compressor/lines.py",
    "ledger/",
    "messages/identifiers.py",
    "prioritizer/blocks.py",
    "prioritizer/references.py",
    "tokens/",
)
HOLDING_FILES, HOLDING_CALLS = 38, 430  # measured 29 to 37 files; 421 calls, the median; 2026-11
COMPACTING_FILES = 46  # measured 44


def manager(
    window_tokens: int = 6_000, budget: TokenBudgetManager | None = None
) -> IncrementalContextManager:
    """One with a window that a few steps fill."""
    config = ContextConfig(window_tokens=window_tokens)
    return IncrementalContextManager(
        config=config,
        counter=Characters(),
        clock=lambda: 1_000.0,
        budget=budget,
    )


@contextmanager
def traced() -> Generator[Counter[tuple[str, str]]]:
    """Calls of the package's own functions while it is open, by file and name."""
    calls: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, _arg: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(ROOT):
            calls[file[len(ROOT) + 1 :], frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


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


def test_a_turn_passes_few_files() -> None:
    """One that holds, and one that compacts: what a newcomer would have to follow (reading text apart)."""
    keeper = manager()
    held: list[Counter[tuple[str, str]]] = []
    compacted: list[Counter[tuple[str, str]]] = []
    for n in range(1, 60):
        messages = run(n)
        with traced() as calls:
            prepared = keeper.prepare_nowait(messages)
        if n > 5:  # what is loaded and made once is
            (compacted if prepared.compacted else held).append(calls)
    assert held and compacted  # noqa: PT018 - both
    way = [without_text(calls) for calls in held]
    assert max(len(files_of(calls)) for calls in way) <= HOLDING_FILES
    assert sorted(calls.total() for calls in way)[len(way) // 2] <= HOLDING_CALLS
    assert max(len(files_of(without_text(c))) for c in compacted) <= COMPACTING_FILES


def without_text(calls: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """The calls but for those that are made for each line or token of new text."""
    return Counter({key: n for key, n in calls.items() if not key[0].startswith(BY_TEXT)})


def files_of(calls: Counter[tuple[str, str]]) -> set[str]:
    """The files that are passed."""
    return {file for file, _ in calls}


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
        keeper, messages = manager(budget=budget), run(0)[:1]
        messages.append({"role": "user", "content": task})
        sent = (keeper.prepare_nowait([*messages, *run(n)[2:]]) for n in range(1, 40))
        return next(turn.messages for turn in sent if turn.compacted)

    assert compacted(None) == compacted(OfComplexity(complexity))
    assert compacted(None) != compacted(OfComplexity(other))
