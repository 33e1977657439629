"""A project beside a conversation: who asks it, and what becomes of a question nobody waits for."""

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path
from typing import cast

import pytest
from typing_extensions import override

from autogen_context import ProjectContext
from support.late import slow
from support.shop import OTHERS, SYSTEM, Deaf, Shop, Transcript, heads_in, priced, talk


async def test_who_is_cancelled_loses_nothing(shop: Shop) -> None:
    """The next turn has the head."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    turn = asyncio.create_task(keeper.prepare(messages))
    await asyncio.sleep(0.05)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    builds.go.set()
    assert heads_in((await keeper.prepare(messages)).messages)


@pytest.mark.parametrize("is_closed", [True, False])
def test_each_turn_may_have_a_loop_of_its_own(shop: Shop, *, is_closed: bool) -> None:
    """A loop that stops takes its question along; the next one asks anew, and waits for nobody else's."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]

    async def asked() -> None:
        keeper.prepare_nowait(messages)
        await asyncio.sleep(0.05)

    loops = [asyncio.new_event_loop() for _ in range(2)]
    loops[0].set_exception_handler(
        lambda _loop, _context: None
    )  # what it left behind is what this is about
    loops[0].run_until_complete(asked())
    (asking,) = asyncio.all_tasks(loops[0])
    if is_closed:
        loops[0].close()
    builds.go.set()
    messages += talk(1)
    turn = loops[1].run_until_complete(keeper.prepare(messages))
    assert heads_in(turn.messages)
    if not is_closed:
        loops[0].run_until_complete(asking)
    messages += talk(1)
    after = loops[1].run_until_complete(keeper.prepare(messages))
    assert after.messages[: len(turn.messages)] == turn.messages
    for loop in loops:
        loop.close()


def test_what_a_thread_writes_is_in_a_state_that_is_saved_meanwhile(shop: Shop) -> None:
    """It is waited for, a while."""
    builds, keeper = slow(shop.root)
    keeper.prepare_nowait([SYSTEM, {"role": "user", "content": "Go."}])
    builds.go.set()
    saved = cast("dict[str, dict[str, object]]", keeper.save_state()["providers"])
    assert saved["project"]["head"]


class Heard(Deaf):
    """Knows who listens."""

    def __init__(self) -> None:
        self.listening: list[object] = []

    @override
    def listen(self, heard: Callable[[Collection[Path]], None]) -> Callable[[], None]:
        """One more, until it leaves."""
        self.listening.append(heard)
        return lambda: self.listening.remove(heard)


async def test_a_closed_manager_hears_nothing(shop: Shop) -> None:
    """Others that share its project go on."""
    watch = Heard()
    shop.project = ProjectContext(shop.root, watch=watch)
    keepers = [shop.manager(), shop.manager()]
    for keeper in keepers:
        await keeper.prepare([SYSTEM, {"role": "user", "content": "Go."}])
    listening = [len(watch.listening)]
    for keeper in keepers:
        await keeper.aclose()
        listening.append(len(watch.listening))
    assert listening == [2, 1, 0]


@pytest.mark.parametrize("asked", ["nobody", "a thread", "this loop"])
async def test_whoever_asked_it_can_be_closed(
    shop: Shop, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is left under way."""
    monkeypatch.setattr("autogen_context.project.provider.LONGEST_WAIT_S", 0.1)
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    if asked == "a thread":
        await asyncio.to_thread(keeper.prepare_nowait, messages)
    if asked == "this loop":
        keeper.prepare_nowait(messages)
        await asyncio.sleep(0.05)
    await keeper.aclose()
    builds.go.set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_a_question_that_a_loop_took_along_costs_no_head(shop: Shop) -> None:
    """It stays the one that was sent, and that a file of it has changed is told beside it."""
    builds, keeper = slow(shop.root)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]

    async def asked() -> None:
        keeper.prepare_nowait(messages)
        await asyncio.sleep(0.05)

    builds.go.set()
    before = asyncio.run(keeper.prepare(messages))
    builds.go.clear()
    shop.write("shop/price.py", priced(OTHERS[0]))
    loop = asyncio.new_event_loop()
    loop.run_until_complete(asked())
    (asking,) = asyncio.all_tasks(loop)
    builds.go.set()
    messages += talk(1)
    after = asyncio.run(keeper.prepare(messages))
    assert after.messages[: len(before.messages)] == before.messages
    assert "shop/price.py has changed." in str(after.messages[-2]["content"])
    loop.run_until_complete(asking)
    loop.close()
