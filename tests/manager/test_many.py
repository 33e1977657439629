"""Many callers at once: tasks, event loops, threads and forked processes on one manager."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import pytest
from typing_extensions import override

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.errors import ManagerClosed, TurnUnderWay
from autogen_context.manager.change import ContextChange
from autogen_context.testing import ChatMessage
from autogen_context.text.fit import CountText
from autogen_context.view.notice import NOTHING, ProviderTurn, ProviderUpdate
from support.forks import ended, forked
from support.holding import LONGEST_S, Holding
from support.keeping import manager
from support.prompts import client
from support.saying import says
from support.waiting import until
from support.working import Hanging, Summarising, run

WORD = "a-word-at-which-it-waits"
LONG = [says(WORD, "system"), *run(12)]
ResultT = TypeVar("ResultT")


class Opening:
    """A provider that a turn waits for until it is let through."""

    name = "opening"

    def __init__(self) -> None:
        self.came, self.through = asyncio.Event(), asyncio.Event()

    async def before_turn(self, _turn: ProviderTurn, /) -> None:
        """Wait."""
        self.came.set()
        await self.through.wait()

    def turn(self, _turn: ProviderTurn, /) -> ProviderUpdate:
        """Nothing to tell."""
        return NOTHING


def with_model(window_tokens: int = 6_000, **options: object) -> IncrementalContextManager:
    """A manager with a model, whose summaries a turn that compacts waits for."""
    return manager(
        window_tokens, model_client=client(Summarising()), summary_timeout_s=60.0, **options
    )


async def test_what_models_are_asked_is_read_in_a_turn() -> None:
    """While a call waits for a provider, another one's list is half read: the first call asks about its own."""
    opening, counter = Opening(), Holding()
    keeper = with_model(counter=counter, providers=[opening])
    for steps in range(1, 30):
        keeper.prepare_nowait(run(steps))
    await keeper.apply_changes([ContextChange.requirement_added("Be quick.")])
    call = asyncio.create_task(keeper.prepare(run(30)))
    await opening.came.wait()
    counter.word = WORD
    with counter.held(lambda: keeper.prepare_nowait([says(WORD, "system"), says("Hello.")])):
        opening.through.set()
        await asyncio.sleep(0)
    assert (await call).certificate.fits
    await keeper.aclose()


async def test_readers_wait_for_no_turn() -> None:
    """Nor pins, bills or an event loop: what they show and change is what the last turn left."""
    counter = Holding(WORD)
    keeper = manager(counter=counter)
    before = keeper.prepare_nowait(run(40))
    dropped = next(each for each in before.decisions if each.action == "drop" and each.handle)
    state = keeper.save_state()
    with counter.held(partial(keeper.prepare_nowait, [*LONG, *run(90)])):
        assert keeper.usage.requests == 0
        keeper.record_usage(before, prompt_tokens=before.certificate.counted_tokens)
        assert keeper.usage.requests == 1
        assert keeper.explain(run(40)[dropped.start]).action == "drop"
        assert keeper.recall(dropped.handle)
        assert "No original" in keeper.recall_context("none")
        assert [each.kind for each in keeper.versions] == ["start", "compaction"]
        assert keeper.diff(0, 0).units == ()
        assert keeper.save_state()["digests"] == state["digests"]
        keeper.observe(run(41))
        keeper.pin(run(40)[dropped.start])
        keeper.unpin(run(40)[dropped.start])
        waiting = asyncio.create_task(keeper.prepare(run(41)))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not waiting.done()
    assert counter.was_let_go
    assert (await waiting).certificate.fits
    assert keeper.usage.requests == 1


def test_a_pin_holds_from_the_next_turn_on() -> None:
    """Also one that was made during a turn."""
    counter, history = Holding(), run(60)
    keeper, pinned = manager(counter=counter), run(60)[5]
    keeper.prepare_nowait(run(40))
    counter.word = WORD
    with counter.held(partial(keeper.prepare_nowait, [*run(59), says(WORD)])):
        keeper.pin(pinned)
    assert counter.was_let_go
    prepared = keeper.prepare_nowait(history)
    assert pinned in prepared.messages
    assert prepared.certificate.pins_present


def test_a_state_saved_during_a_turn_is_that_before_it() -> None:
    """It continues to the byte."""
    counter = Holding()
    keeper, others = manager(counter=counter), [manager(), manager()]
    keeper.prepare_nowait(run(40))
    others[0].load_state(keeper.save_state())
    counter.word = WORD
    with counter.held(partial(keeper.prepare_nowait, [*run(41), says(WORD)])):
        others[1].load_state(keeper.save_state())
    turns = [other.prepare_nowait(run(42)) for other in others]
    assert turns[0] == turns[1]
    assert others[0].save_state() == others[1].save_state()


TASKS, THREADS = 12, 4


def at_once(action: Callable[[], ResultT], threads: int = THREADS) -> list[ResultT]:
    """What an action returns in each of several threads."""
    with ThreadPoolExecutor(threads) as pool:
        return [each.result() for each in [pool.submit(action) for _ in range(threads)]]


def turns_of(
    keeper: IncrementalContextManager, history: list[ChatMessage], tasks: int = 1
) -> Sequence[Prepared[ChatMessage]]:
    """Turns of as many tasks in an event loop of their own."""

    async def turns() -> Sequence[Prepared[ChatMessage]]:
        return await asyncio.gather(*(keeper.prepare(history) for _ in range(tasks)))

    return asyncio.run(turns())


def test_many_at_once_get_what_one_gets() -> None:
    """48 callers a turn, in four event loops: the list that a single caller is given, with summaries, and bills counted."""
    alone, shared = with_model(3_000), with_model(3_000)
    compacted = 0
    for steps in range(1, 12):
        history = run(3 * steps)

        (expected,) = turns_of(alone, history)
        found = at_once(partial(turns_of, shared, history, TASKS))
        for prepared in (each for several in found for each in several):
            assert prepared.messages == expected.messages
            assert prepared.certificate == expected.certificate
            shared.record_usage(prepared, prompt_tokens=prepared.certificate.counted_tokens)
            alone.record_usage(expected, prompt_tokens=expected.certificate.counted_tokens)
        compacted += expected.compacted
    assert compacted > 1
    assert shared.usage.requests == 11 * TASKS * THREADS


def test_lists_of_many_callers_do_not_mix() -> None:
    """Each caller hands in the list of its own turn, longer or shorter than the last: each gets its own back."""
    keeper, lists = with_model(100_000), [run(1 + n % 5)[: 1 + n % 7] for n in range(TASKS)]
    expected = [manager(100_000).prepare_nowait(each).messages for each in lists]

    async def turns() -> None:
        prepared = await asyncio.gather(*map(keeper.prepare, lists))
        assert [each.messages for each in prepared] == expected

    at_once(lambda: asyncio.run(turns()))


async def test_a_call_that_is_cancelled_leaves_the_manager_as_before() -> None:
    """While it waits for a model, and while it waits for its turn."""
    hanging, counter = Hanging(), Holding()
    keeper = manager(counter=counter, model_client=client(hanging), summary_timeout_s=60.0)
    plain = manager()
    for each in (keeper, plain):
        each.prepare_nowait(run(20))
        each.observe(run(60))
    before = plain.prepare_nowait(run(60))
    call = asyncio.create_task(keeper.prepare(run(60)))
    await until(lambda: hanging.asked > 0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    after = keeper.prepare_nowait(run(60))
    assert after.messages == before.messages
    counter.word = WORD
    with counter.held(partial(keeper.prepare_nowait, [*run(60), says(WORD)])):
        calls = [asyncio.create_task(keeper.prepare(run(n))) for n in range(1, 9)]
        await asyncio.sleep(0)
        for late in calls[1:]:
            late.cancel()
        results = await asyncio.gather(*calls[1:], return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in results)
    assert (await calls[0]).messages == run(1)
    await keeper.aclose()
    assert hanging.under_way == 0


async def test_closing_ends_calls_in_order() -> None:
    """The turn under way ends; those that wait for it, and those that wait for a model, are told that it is closed."""
    hanging, counter = Hanging(), Holding()
    keeper = manager(counter=counter, model_client=client(hanging), summary_timeout_s=60.0)
    keeper.prepare_nowait(run(20))
    asking = asyncio.create_task(keeper.prepare(run(60)))
    await until(lambda: hanging.asked > 0)
    counter.word = WORD
    ended_turns: list[Prepared[ChatMessage]] = []
    with counter.held(lambda: ended_turns.append(keeper.prepare_nowait([*run(60), says(WORD)]))):
        waiting = [asyncio.create_task(keeper.prepare(run(60))) for _ in range(3)]
        await asyncio.sleep(0)
        closing = asyncio.create_task(keeper.aclose())
        await asyncio.sleep(0)
    await closing
    results = await asyncio.gather(asking, *waiting, return_exceptions=True)
    assert [type(each) for each in results] == [ManagerClosed] * 4
    assert ended_turns[0].certificate.fits
    assert hanging.under_way == 0


class Asking(SemanticCompressor):
    """A part that asks the manager which calls it."""

    keeper: IncrementalContextManager
    told: list[str]

    @override
    def notice(self, left_out: object, /, *, room_tokens: int, count: CountText) -> str:
        """What the manager says."""
        keeper = self.keeper
        self.told.append(f"{keeper.usage.requests} bills, {len(keeper.versions)} versions")
        with pytest.raises(TurnUnderWay, match="only read"):
            keeper.prepare_nowait(run(1))
        return "left out"


def test_a_part_may_read_and_not_take_a_turn() -> None:
    """An error that says so, instead of waiting for itself."""
    asking = Asking()
    keeper = manager(compressor=asking)
    asking.keeper, asking.told = keeper, []
    prepared = keeper.prepare_nowait(run(40))
    assert prepared.compacted
    assert asking.told[0] == "0 bills, 1 versions"
    assert keeper.prepare_nowait(run(40)).messages == prepared.messages


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
def test_a_process_that_is_forked_during_a_turn_goes_on() -> None:
    """It knows what the last turn left; what the turn under way had half done is made anew."""
    counter = Holding()
    keeper, other = manager(counter=counter), manager()
    for each in (keeper, other):
        each.prepare_nowait(run(40))
        each.pin(run(40)[4])
    expected = other.prepare_nowait(run(41)).messages

    def goes_on() -> int:
        signal.alarm(int(LONGEST_S))  # ends it if it waits for a lock that nobody holds
        keeper.unpin(run(40)[5])
        shown = keeper.explain(run(40)[4]).start, keeper.usage.requests
        counter.let_go()
        asyncio.run(keeper.prepare(run(41)))
        return 0 if (keeper.prepare_nowait(run(41)).messages, shown) == (expected, (4, 0)) else 3

    counter.word = WORD
    with counter.held(partial(keeper.prepare_nowait, [*LONG, *run(50)])):
        child, _ = forked(goes_on)
        assert ended(child) == 0
    assert keeper.prepare_nowait(run(41)).certificate.fits
