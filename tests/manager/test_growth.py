"""What a turn costs does not depend on how long the conversation is (F15), and a long one leaves the event loop alone."""

import asyncio
import threading
from collections import defaultdict
from pathlib import Path
from statistics import median

from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
)
from typing_extensions import override

from autogen_context import IncrementalContextManager, ManagedChatCompletionContext
from autogen_context.prioritizer.prioritizer import ContextPrioritizer, Need, Scores
from autogen_context.prioritizer.record import ConversationRecord
from support.counting import Characters
from support.keeping import manager
from support.tracing import ROOT, traced, way_of
from support.working import TASK, run, step

WINDOW_TOKENS = 1_500
# Turns; what a compaction compares, and nearly all that its action log may list, is there before the early ones.
EARLY, LATE, STRETCH = 120, 480, 30
MODULES = sum(1 for _ in Path(ROOT).rglob("*.py"))


def test_neither_a_holding_turn_nor_a_compaction_grows_with_the_history() -> None:
    """By the number of calls of functions, which no machine changes: four times the history costs a fifth more at most."""
    keeper = IncrementalContextManager(window_tokens=WINDOW_TOKENS, counter=Characters())
    history = [*TASK]
    calls: dict[tuple[bool, bool], list[int]] = defaultdict(list)
    for turn in range(LATE + STRETCH):
        history.extend(step(turn))
        is_late = turn >= LATE
        if is_late or EARLY <= turn < EARLY + STRETCH:
            with traced() as passed:
                prepared = keeper.prepare_nowait(history)
            calls[prepared.compacted, is_late].append(passed.total())
        else:
            keeper.prepare_nowait(history)
    for compacted in (False, True):
        early, late = median(calls[compacted, False]), median(calls[compacted, True])
        assert late <= 1.2 * early, (compacted, early, late)


def test_a_turn_that_holds_passes_few_files_and_calls() -> None:
    """A call and its short result: of a manager, and of an agent's context, which is told of each message as it comes."""
    keeper = IncrementalContextManager(window_tokens=128_000)
    history = [*TASK]
    context = ManagedChatCompletionContext(window_tokens=128_000, system_message="Do.", tools=[])

    async def ask(turn: int) -> None:
        call = FunctionCall(id=f"c{turn}", name="read_file", arguments='{"path": "a.py"}')
        answer = FunctionExecutionResult(
            call_id=call.id, name=call.name, content="x = 1", is_error=False
        )
        await context.add_message(AssistantMessage(content=[call], source="agent"))
        await context.add_message(FunctionExecutionResultMessage(content=[answer]))
        await context.get_messages()

    for turn in range(12):
        history.extend(step(turn))
        keeper.prepare_nowait(history[:-2])
        asyncio.run(ask(turn))
    with traced() as own:
        assert not keeper.prepare_nowait(history).compacted
    with traced() as asked:
        asyncio.run(ask(12))
    for calls in (own, asked):
        files, made = way_of(calls)
        assert files <= MODULES / 8
        assert made <= 200 * 2, "of each new message"


def test_a_compacting_turn_passes_a_fourth_of_the_package_at_most() -> None:
    """What a newcomer would have to follow, reading text apart; a helper of its own costs nobody a bound."""
    keeper, passed = manager(), list[int]()
    for n in range(1, 60):
        with traced() as calls:
            prepared = keeper.prepare_nowait(run(n))
        if prepared.compacted:
            passed.append(way_of(calls)[0])
    assert max(passed) <= MODULES / 4, passed


class Watched(ContextPrioritizer):
    """Notes in which thread it is asked."""

    threads: set[int]

    @override
    def scores(self, conversation: ConversationRecord, need: Need, /) -> Scores:
        """As always."""
        self.threads.add(threading.get_ident())
        return super().scores(conversation, need)


async def test_an_awaited_turn_compacts_beside_the_event_loop() -> None:
    """And sends the same as one that is not awaited."""
    watched = Watched()
    watched.threads = set()
    awaited = IncrementalContextManager(
        window_tokens=6_000, counter=Characters(), prioritizer=watched
    )
    plain = IncrementalContextManager(window_tokens=6_000, counter=Characters())
    for steps in range(1, 40):
        history = run(steps)
        prepared = await awaited.prepare(history)
        assert prepared.messages == plain.prepare_nowait(history).messages
    assert watched.threads
    assert threading.get_ident() not in watched.threads
    await asyncio.gather(*(awaited.prepare(run(11)) for _ in range(3)))
