"""A project beside a conversation: one that comes late."""

import asyncio
from typing import cast

from autogen_context import IncrementalContextManager, Prepared, ProjectContext
from autogen_context.errors import ContextWindowExceeded
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.hearing import wait_until
from support.late import Slow, slow
from support.shop import (
    OTHERS,
    SIGNATURE,
    SYSTEM,
    Deaf,
    Outcome,
    Shop,
    Transcript,
    heads_in,
    is_own,
    priced,
    talk,
)


def late(builds: Slow, keeper: IncrementalContextManager, messages: Transcript) -> None:
    """A head that comes after the first turn stands before the newest message, and in front after a compaction."""
    assert not any(map(is_own, keeper.prepare_nowait(messages).messages))
    builds.go.set()


def checked_late(keeper: IncrementalContextManager, messages: Transcript, turn: Outcome) -> None:
    """It stands before what was the newest, where it stays, until a compaction puts it in front."""
    assert not isinstance(turn, ContextWindowExceeded)
    assert [is_own(m) for m in turn.messages[-2:]] == [True, False]
    for more in talk(40):
        messages.append(more)
        after = keeper.prepare_nowait(messages)
        assert len(heads_in(after.messages)) == 1
        if after.compacted:
            assert is_own(after.messages[1])
            return
        assert after.messages[: len(turn.messages)] == turn.messages
    raise AssertionError


async def test_a_head_that_comes_late_waits_at_the_tail(shop: Shop) -> None:
    """In a loop: a turn that does not wait takes what is there."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    late(builds, keeper, messages)
    rest, turn = talk(400, words=0), keeper.prepare_nowait(messages)
    while not heads_in(turn.messages):
        await asyncio.sleep(0.05)
        messages.append(next(rest))
        turn = keeper.prepare_nowait(messages)
    checked_late(keeper, messages, turn)
    await keeper.aclose()


async def test_what_changed_while_a_head_waited_is_told_with_it(shop: Shop) -> None:
    """It came after the newest message was sent: with the next one it stands there, and behind it what is newer."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    late(builds, keeper, messages)
    await until(keeper, messages, "head")
    shop.write("shop/price.py", priced(OTHERS[0]))
    await until(keeper, messages, "since")
    messages += talk(1)
    head, told, _ = keeper.prepare_nowait(messages).messages[-3:]
    assert SIGNATURE in str(head["content"])
    assert OTHERS[0] in str(told["content"])
    await keeper.aclose()


async def until(keeper: IncrementalContextManager, messages: Transcript, field: str) -> None:
    """Turns that do not wait, of which none has a new message, until something is known of what is to stand in front."""
    for _ in range(1_000):
        view = cast("dict[str, dict[str, object]]", keeper.save_state().get("view", {}))
        front = view.get("preamble", {})
        if front.get(field):
            return
        keeper.prepare_nowait(messages)
        await asyncio.sleep(0.02)
    raise AssertionError


async def test_a_late_head_that_has_no_room_leaves_no_trace(shop: Shop) -> None:
    """Nothing is put in its place, and it goes on waiting."""
    keeper = shop.manager(2_000)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go. " * 1_930}]
    keeper.prepare_nowait(messages)
    messages += talk(1, words=1)
    assert (await keeper.prepare(messages)).messages == messages
    front = cast("dict[str, dict[str, object]]", keeper.save_state()["view"])["preamble"]
    assert cast("dict[str, object]", front["head"])["parts"]
    assert "is_told" not in front


def test_without_a_loop_it_is_read_in_a_thread(shop: Shop) -> None:
    """For hosts whose hooks are plain functions."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    late(builds, keeper, messages)
    turns: list[Prepared[ChatMessage]] = []
    rest = talk(400, words=0)

    def has_come() -> bool:
        messages.append(next(rest))
        turns.append(keeper.prepare_nowait(messages))
        return bool(heads_in(turns[-1].messages))

    wait_until(has_come, "a head", pause_s=0.05)
    checked_late(keeper, messages, turns[-1])


async def test_turns_that_pass_while_it_answers_miss_nothing(shop: Shop) -> None:
    """What the head has to tell before another is written is told, however many turns do not wait for it."""
    builds = Slow()
    builds.go.set()
    keeper = IncrementalContextManager(
        window_tokens=1_500,
        counter=Characters(),
        project=ProjectContext(shop.root, cache=builds, watch=Deaf()),
    )
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    rest, turn = talk(40, words=10), await keeper.prepare(messages)
    while turn.certificate.counted_tokens < 0.75 * 1_500:
        messages.append(next(rest))
        turn = await keeper.prepare(messages)
    shop.write("shop/price.py", priced(OTHERS[0]))
    builds.go.clear()
    messages.append({"role": "user", "content": "And so on. " * 50})
    for _ in range(2):
        keeper.prepare_nowait(messages)
        await asyncio.sleep(0.05)  # it is asked, and waits
        messages.append(next(rest))
    builds.go.set()
    turn = await keeper.prepare(messages)
    assert not turn.compacted
    assert OTHERS[0] in str([m["content"] for m in turn.messages if is_own(m)][-1])
