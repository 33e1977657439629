"""A project beside a conversation: what is told and where, saved, branched and shared; one that is late, fails or is gone."""

import asyncio
import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event, active_count
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context import IncrementalContextManager, Prepared, ProjectContext
from autogen_context.cache.cache import ContextCache
from autogen_context.errors import StateError
from autogen_context.project.project import ProjectView, notice_of
from autogen_context.project.provider import ALL_ELSE, MOST_SEARCHED, offer_of
from autogen_context.testing import ChatMessage
from support.counting import Characters
from support.keeping import TOLD
from support.saying import says
from support.shop import OTHERS, SIGNATURE, SYSTEM, Shop, Transcript, heads_in, is_own, priced, talk
from support.tree import PRICE, Counting, grown
from support.waiting import LONGEST_S, wait_until

GO: Transcript = [SYSTEM, says("Go.", "user")]


def plain(window_tokens: int) -> IncrementalContextManager:
    """A manager without a project."""
    return IncrementalContextManager(window_tokens=window_tokens, counter=Characters())


async def test_the_head_stands_behind_the_system_prompt_and_changes_before_the_newest(
    shop: Shop,
) -> None:
    """What files define now is told once; what is as it was again, too."""
    keeper, messages = shop.manager(), [*GO]
    first = await keeper.prepare(messages)
    assert [is_own(message) for message in first.messages] == [False, True, False]
    assert SIGNATURE in str(first.messages[1]["content"])
    shop.write("shop/price.py", priced(OTHERS[0]))
    messages += talk(1)
    told = (await keeper.prepare(messages)).messages[-2]["content"]
    assert told == (f"{TOLD}\nshop/price.py now defines:\n> - {SIGNATURE}\n> + {OTHERS[0]}\n]")
    messages += talk(1)
    assert sum(map(is_own, (await keeper.prepare(messages)).messages)) == 2
    shop.write("shop/price.py", PRICE)
    messages += talk(1)
    back = (await keeper.prepare(messages)).messages[-2]["content"]
    assert back == f"{TOLD}\nshop/price.py is again as the project's context says\n]"


@pytest.mark.parametrize("window", [300, 1_000, 2_000, 8_000])
async def test_it_stays_within_its_fraction(shop: Shop, window: int) -> None:
    """Of the window, whatever that is, and of what is free beside what must stay."""
    turn, without = await shop.manager(window).prepare(GO), plain(window).prepare_nowait(GO)
    added = turn.certificate.counted_tokens - without.certificate.counted_tokens
    assert added <= 0.15 * window
    assert (added > 0) == (window > 300)


def same(keeper: IncrementalContextManager, _: Shop) -> IncrementalContextManager:
    """Nothing happens."""
    return keeper


def loaded(keeper: IncrementalContextManager, shop: Shop) -> IncrementalContextManager:
    """Another process goes on."""
    other = shop.manager(keeper.config.window_tokens or 0)
    other.load_state(json.loads(json.dumps(keeper.save_state())))
    return other


@pytest.mark.parametrize("gone_on", [same, loaded])
async def test_a_head_is_written_once_for_a_compaction(
    shop: Shop, gone_on: Callable[[IncrementalContextManager, Shop], IncrementalContextManager]
) -> None:
    """However long it waits for it, whatever changes meanwhile, and whoever goes on."""
    keeper, messages = shop.manager(3_000), [*GO]
    offered: list[set[str]] = [set()]
    for n, more in enumerate(talk(36, words=30)):
        messages.append(more)
        shop.write("README.md", f"# Shop\n\nThis is number {n}.\n")
        keeper = gone_on(keeper, shop)
        turn = await keeper.prepare(messages)
        front = cast("dict[str, dict[str, object]]", keeper.save_state()["view"])["preamble"]
        offered += [set()] if turn.compacted else []
        offer = cast("dict[str, object]", front["offer"])
        offered[-1].add(json.dumps(offer["parts"]))
    assert len(offered) > 2
    assert {len(each) for each in offered[:-1]} == {2}  # the one in force, and the next


async def test_a_head_is_written_for_the_newest_instruction(tmp_path: Path) -> None:
    """What that names comes first where there is no room for all, however long the conversation was before."""
    many = {f"part/module_{n}.py": f"def function_{n}(x: int) -> int: ...\n" for n in range(200)}
    root = grown(tmp_path / "shop", many)
    asked: Transcript = [says("Now change function_177.", "user")]
    for before in ([], list(talk(MOST_SEARCHED, words=1))):
        for messages, shown in (([*before, *asked], True), ([*asked, *talk(1)], False)):
            keeper = IncrementalContextManager(
                window_tokens=4_000 + 40 * len(messages),
                counter=Characters(),
                project=ProjectContext(root, budget_tokens=600),
            )
            [head] = heads_in((await keeper.prepare(messages)).messages)
            assert ("function_177" in head) is shown


NAMES = st.sets(st.sampled_from([f"part_{n}.py" for n in range(9)]))


@given(NAMES, NAMES, NAMES)
def test_every_file_that_changed_is_told_or_counted(
    edited: set[str], missing: set[str], known: set[str]
) -> None:
    """With what it has to say; without room by its name where something was told of it before, and counted where not."""
    missing -= edited
    changes = tuple(notice_of(name, "now defines:", ("- x", "+ y")) for name in sorted(edited))
    view = ProjectView(parts=("It is so.",), changes=changes, missing=frozenset(missing))
    said = {each.key: (each.text, each.detail) for each in offer_of(view, 90, known).newer}
    expected = {name: (f"{name} now defines:", "- x\n+ y") for name in edited}
    expected |= {name: (f"{name} may have changed further", "") for name in missing & known}
    unnamed = len(missing - known)
    more = "1 more file has changed." if unnamed == 1 else f"{unnamed} more files have changed."
    assert said == expected | ({ALL_ELSE: (more, "")} if unnamed else {})


async def test_the_head_is_no_part_of_the_conversation(shop: Shop) -> None:
    """Decisions are on the host's messages; a branch and an earlier version have the head in its place, once."""
    keeper, messages = shop.manager(), [*GO]
    turn = await keeper.prepare(messages)
    assert [(d.start, d.stop) for d in turn.decisions] == [(0, 1), (1, 2)]
    assert keeper.explain(messages[1]).action == "keep"
    messages += talk(2)
    branch = keeper.branch()
    ours, theirs = await keeper.prepare(messages), await branch.prepare(messages)
    assert ours.messages == theirs.messages
    keeper.roll_back(0)
    assert (await keeper.prepare(messages)).messages == ours.messages


async def test_agents_share_what_is_read(shop: Shop) -> None:
    """The second conversation reads no file of symbols again, and each has a head of its own."""
    cache = Counting()
    shop.project = ProjectContext(shop.root, cache=cache)
    first = await shop.manager().prepare(GO)
    built = len(cache.built)
    assert (await shop.manager().prepare(GO)).messages == first.messages
    pages = 3  # kinds of them: what was written just now is not believed, and read again
    assert 0 < built <= len(cache.built) <= built + pages


@pytest.mark.parametrize("damage", [{"head": {"rooms": "none"}}, {"renewed": None}], ids=str)
async def test_a_damaged_head_is_refused(shop: Shop, damage: dict[str, object]) -> None:
    """With what the manager had left as it was."""
    keeper = shop.manager()
    await keeper.prepare(GO)
    before = keeper.save_state()
    state = json.loads(json.dumps(before))
    state["providers"]["project"] |= damage
    with pytest.raises(StateError):
        keeper.load_state(state)
    assert keeper.save_state() == before


class Slow(ContextCache):
    """Answers, in a thread, when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = Event()
        self.given_up = False

    @override
    def remembered(self, kind: str, key: str, /) -> object:
        """What is kept, late."""
        self.given_up |= not self.go.wait(LONGEST_S)  # a test that failed lets nobody go
        return super().remembered(kind, key)


def test_a_head_that_comes_late_waits_at_the_tail(shop: Shop) -> None:
    """Without a loop nothing waits for it; it stands before what was the newest, until a compaction puts it in front."""
    cache = Slow()
    shop.project = ProjectContext(shop.root, cache=cache)
    keeper = shop.manager(3_000)
    messages = [*GO]
    assert not any(map(is_own, keeper.prepare_nowait(messages).messages))
    cache.go.set()
    turns: list[Prepared[ChatMessage]] = []
    rest = talk(400, words=0)

    def has_come() -> bool:
        messages.append(next(rest))
        turns.append(keeper.prepare_nowait(messages))
        return bool(heads_in(turns[-1].messages))

    wait_until(has_come, pause_s=0.05)
    came = turns[-1].messages
    assert [is_own(m) for m in came[-2:]] == [True, False]
    for more in talk(40):
        messages.append(more)
        after = keeper.prepare_nowait(messages)
        assert len(heads_in(after.messages)) == 1
        if after.compacted:
            assert is_own(after.messages[1])
            return
        assert after.messages[: len(came)] == came
    raise AssertionError


@pytest.mark.parametrize("asks", [0, 3])
async def test_it_can_be_saved_and_closed_while_it_is_asked(shop: Shop, asks: int) -> None:
    """It is asked one question at a time, which neither waits for; and nothing is left under way in the loop."""
    cache = Slow()
    shop.project = ProjectContext(shop.root, cache=cache)
    keeper = shop.manager(3_000)
    threads = active_count()
    for _ in range(asks):
        keeper.prepare_nowait(GO)
    assert active_count() <= threads + 1
    keeper.save_state()
    await keeper.aclose()
    assert not cache.given_up
    cache.go.set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_project_that_fails_costs_its_context_alone(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """And one warning."""

    def fails(text: str) -> int:
        raise OSError(text[:9])

    project = ProjectContext(shop.root, count=fails)
    keeper = IncrementalContextManager(window_tokens=900, counter=Characters(), project=project)
    without, messages = plain(900), [*GO]
    for more in talk(8):
        messages.append(more)
        turn = await keeper.prepare(messages)
        assert turn.messages == without.prepare_nowait(messages).messages
    warnings = [r.message for r in caplog.records if r.levelno >= logging.WARNING]
    assert warnings.count("a context provider failed; its notices are skipped") == 1


@pytest.mark.parametrize("waits", [True, False])
async def test_a_folder_that_went_before_it_was_read_costs_its_context_alone(
    shop: Shop, *, waits: bool
) -> None:
    """So does one that went before a branch of the conversation asked for it."""
    keeper, before = shop.manager(), shop.manager()
    await before.prepare(GO)
    branch = before.branch()
    shutil.rmtree(shop.root)
    turn = await keeper.prepare(GO) if waits else keeper.prepare_nowait(GO)
    assert turn.messages == GO
    assert heads_in((await branch.prepare(GO)).messages)
