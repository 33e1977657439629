"""A project beside a conversation: what is told and where, what is saved, branched and shared."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager, ProjectContext
from autogen_context.errors import StateError
from autogen_context.project.project import ProjectView, notice_of
from autogen_context.project.provider import ALL_ELSE, MOST_SEARCHED, offer_of
from support.counting import Characters
from support.keeping import TOLD
from support.shop import (
    OTHERS,
    SIGNATURE,
    SYSTEM,
    Shop,
    Transcript,
    heads_in,
    is_own,
    priced,
    talk,
)
from support.tree import PRICE, Counting, grown


async def test_the_head_stands_behind_the_system_prompt_and_changes_before_the_newest(
    shop: Shop,
) -> None:
    """What files define now is told once; what is as it was again, too."""
    keeper = shop.manager()
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Prices depend on the day."}]
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


async def test_it_stays_within_its_fraction(shop: Shop) -> None:
    """Of the window, whatever that is, and of what is free beside what must stay."""
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    for window in (300, 1_000, 2_000, 8_000):
        turn = await shop.manager(window).prepare(messages)
        plain = IncrementalContextManager(window_tokens=window, counter=Characters())
        without = plain.prepare_nowait(messages)
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
    keeper = shop.manager(3_000)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
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
    asked: Transcript = [{"role": "user", "content": "Now change function_177."}]
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


@given(st.lists(st.text(), max_size=3), NAMES, NAMES, NAMES)
def test_every_file_that_changed_is_told_or_counted(
    parts: list[str], edited: set[str], missing: set[str], known: set[str]
) -> None:
    """With what it has to say; without room by its name where something was told of it before, and counted where not.

    The opening stands first: by it a head is found that had more to tell; alone it is never placed.
    """
    missing -= edited
    changes = tuple(notice_of(name, "now defines:", ("- x", "+ y")) for name in sorted(edited))
    view = ProjectView(parts=("It is so.", *parts), changes=changes, missing=frozenset(missing))
    offer = offer_of(view, 90, known)
    assert offer.parts == view.parts
    unnamed = len(missing - known)
    said = {notice.key: (notice.text, notice.detail) for notice in offer.newer}
    expected = {name: (f"{name} now defines:", "- x\n+ y") for name in edited}
    expected |= {name: (f"{name} may have changed further", "") for name in missing & known}
    more = "1 more file has changed." if unnamed == 1 else f"{unnamed} more files have changed."
    assert said == expected | ({ALL_ELSE: (more, "")} if unnamed else {})


async def test_the_head_is_no_part_of_the_conversation(shop: Shop) -> None:
    """Decisions are on the host's messages; a branch and an earlier version have the head in its place, once."""
    keeper = shop.manager()
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
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
    messages: Transcript = [{"role": "user", "content": "Go."}]
    cache = Counting()
    shop.project = ProjectContext(shop.root, cache=cache)
    first = await shop.manager().prepare(messages)
    built = len(cache.built)
    second = await shop.manager().prepare(messages)
    assert first.messages == second.messages
    pages = 3  # kinds of them: what was written just now is not believed, and read again
    assert 0 < built <= len(cache.built) <= built + pages


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"head": {"rooms": "none"}}, id="of a wrong make"),
        pytest.param({"renewed": None}, id="without what belongs in it"),
    ],
)
async def test_a_damaged_head_is_refused(shop: Shop, damage: dict[str, object]) -> None:
    """With what the manager had left as it was."""
    keeper = shop.manager()
    await keeper.prepare([SYSTEM, {"role": "user", "content": "Go."}])
    state = json.loads(json.dumps(keeper.save_state()))
    before = keeper.save_state()
    state["providers"]["project"] |= damage
    with pytest.raises(StateError):
        keeper.load_state(state)
    assert keeper.save_state() == before
