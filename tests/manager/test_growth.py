"""What a turn costs does not depend on how long the conversation is (F15), and a long one leaves the event loop alone."""

import asyncio
import sys
import threading
from collections import defaultdict
from statistics import median
from types import FrameType

from typing_extensions import override

from autogen_context import IncrementalContextManager
from autogen_context.prioritizer.prioritizer import ContextPrioritizer, Need, Scores
from autogen_context.prioritizer.references import References
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.working import run, says, step

WINDOW_TOKENS = 1_500
EARLY, LATE, STRETCH = (
    60,
    360,
    40,
)  # turns; what a compaction compares is there long before the early ones


def test_neither_a_holding_turn_nor_a_compaction_grows_with_the_history() -> None:
    """By the number of calls of functions, which no machine changes: four times the history costs a fifth more at most."""
    manager = IncrementalContextManager(window_tokens=WINDOW_TOKENS, counter=Characters())
    history: list[ChatMessage] = [says("You code.", "system"), says("Make the service fast.")]
    calls: dict[tuple[bool, bool], list[int]] = defaultdict(list)
    for turn in range(LATE + STRETCH):
        history += step(turn)
        made = 0

        def count(_frame: FrameType, event: str, _argument: object) -> None:
            nonlocal made
            made += event in {"call", "c_call"}

        is_late = turn >= LATE
        if is_late or EARLY <= turn < EARLY + STRETCH:
            sys.setprofile(count)
        try:
            prepared = manager.prepare_nowait(history)
        finally:
            sys.setprofile(None)
        if made:
            calls[prepared.compacted, is_late].append(made)
    for compacted in (False, True):
        early, late = median(calls[compacted, False]), median(calls[compacted, True])
        assert late <= 1.2 * early, (compacted, early, late)


class Watched(ContextPrioritizer):
    """Notes in which thread it is asked."""

    threads: set[int]

    @override
    def scores(self, conversation: References, need: Need) -> Scores:
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
