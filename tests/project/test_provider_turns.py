"""A project beside a conversation: what is told, where, and that it is so."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from autogen_context import IncrementalContextManager, ProjectContext
from autogen_context.project.provider import MOST_SEARCHED
from support.counting import Characters
from support.shop import (
    OTHERS,
    SIGNATURE,
    SYSTEM,
    TOLD,
    Deaf,
    Shop,
    Transcript,
    heads_in,
    is_own,
    priced,
    talk,
)
from support.tree import PRICE, grown


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
    assert told == (f"{TOLD}\nshop/price.py defines now:\n> - {SIGNATURE}\n> + {OTHERS[0]}\n]")
    messages += talk(1)
    assert sum(map(is_own, (await keeper.prepare(messages)).messages)) == 2
    shop.write("shop/price.py", PRICE)
    messages += talk(1)
    back = (await keeper.prepare(messages)).messages[-2]["content"]
    assert back == f"{TOLD}\nshop/price.py is again as the project's context says\n]"


async def test_a_head_never_stands_last(shop: Shop) -> None:
    """Where a host has taken back all but the system prompt there is none, until something stands behind it again."""
    keeper = shop.manager()
    asked: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    for messages, heads in ((asked, 1), (asked[:1], 0), (asked, 1), (asked[:1], 0)):
        turn = await keeper.prepare(messages)
        assert len(heads_in(turn.messages)) == heads
        assert turn.messages[-1] == messages[-1]


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


async def test_where_there_is_no_head_nothing_is_told_of_it(shop: Shop) -> None:
    """In a window that has no room for one."""
    keeper = shop.manager(200)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    for n, more in enumerate(talk(3, words=1)):
        shop.write("shop/price.py", priced(OTHERS[n % 4]))
        assert not any(map(is_own, (await keeper.prepare(messages)).messages))
        messages.append(more)


def same(keeper: IncrementalContextManager, _: Shop) -> IncrementalContextManager:
    """Nothing happens."""
    return keeper


def loaded(keeper: IncrementalContextManager, shop: Shop) -> IncrementalContextManager:
    """Another process goes on."""
    other = shop.manager(keeper.config.window_tokens or 0)
    other.load_state(json.loads(json.dumps(keeper.save_state())))
    return other


def branched(keeper: IncrementalContextManager, _: Shop) -> IncrementalContextManager:
    """A branch goes on."""
    return keeper.branch()


@pytest.mark.parametrize("gone_on", [same, loaded, branched])
async def test_a_head_is_written_once_for_a_compaction(
    shop: Shop, gone_on: Callable[[IncrementalContextManager, Shop], IncrementalContextManager]
) -> None:
    """However long it waits for it, whatever changes meanwhile, and whoever goes on."""
    keeper = shop.manager(3_000)
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    offered: list[set[str]] = [set()]
    for n, more in enumerate(talk(80, words=12)):
        messages.append(more)
        shop.write("README.md", f"# Shop\n\nThis is number {n}.\n")
        keeper = gone_on(keeper, shop)
        turn = await keeper.prepare(messages)
        front = cast("dict[str, dict[str, object]]", keeper.save_state()["view"])["preamble"]
        offered += [set()] if turn.compacted else []
        offered[-1].add(json.dumps(front["head"]))
    assert len(offered) > 2
    assert {len(each) for each in offered[:-1]} == {2}  # the one in force, and the next


async def test_what_the_agent_works_on_is_in_its_head(tmp_path: Path) -> None:
    """The files that it read come first where there is no room for all."""
    many = {f"part/module_{n}.py": f"def function_{n}(x: int) -> int: ...\n" for n in range(200)}
    root = grown(tmp_path / "many", many)
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path": "part/module_177.py"}'},
    }
    messages: Transcript = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": many["part/module_177.py"]},
    ]
    for read, shown in ((3, True), (1, False)):
        keeper = IncrementalContextManager(
            window_tokens=4_000,
            counter=Characters(),
            project=ProjectContext(root, watch=Deaf()),
        )
        head = str((await keeper.prepare(messages[:read])).messages[0]["content"])
        assert ("function_177" in head) is shown


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
                project=ProjectContext(root, watch=Deaf(), budget_tokens=600),
            )
            [head] = heads_in((await keeper.prepare(messages)).messages)
            assert ("function_177" in head) is shown


async def test_nothing_of_a_head_stands_without_its_opening(tmp_path: Path) -> None:
    """Not even where other parts are smaller than that, and have room."""
    root = grown(tmp_path / "shop", {"README.md": "# A\n", "AGENTS.md": "# B\n"})
    found: set[int] = set()
    for size in range(3_000, 4_000, 12):
        keeper = IncrementalContextManager(
            window_tokens=1_000, counter=Characters(), project=ProjectContext(root, watch=Deaf())
        )
        messages: Transcript = [SYSTEM, {"role": "user", "content": "x " * (size // 2)}]
        sent = (await keeper.prepare(messages)).messages
        added = [message for message in sent[1:] if "x x" not in str(message["content"])]
        assert len(heads_in(added)) == len(added)
        found.add(len(added))
    assert found == {0, 1}


@pytest.mark.parametrize("compacts", [False, True])
async def test_the_head_has_half_of_what_must_stay_leaves(shop: Shop, *, compacts: bool) -> None:
    """At the start, and where a compaction places it anew; what must stay is whole."""
    heads: set[int] = set()
    for size in range(200, 4_800, 200):
        keeper = shop.manager(1_500, project_fraction=0.5)
        plain = IncrementalContextManager(config=keeper.config, counter=Characters())
        floors: Transcript = [SYSTEM, {"role": "user", "content": "x " * (size // 2)}]
        between = list(talk(12)) if compacts else []
        if between:
            await keeper.prepare([SYSTEM, *between])
        turn = await keeper.prepare([*floors[:1], *between, *floors[1:]])
        assert turn.compacted or not between or size < 1_000
        assert turn.messages[-1] == floors[-1]
        head = sum(Characters().count(text).tokens for text in heads_in(turn.messages))
        alone = plain.prepare_nowait(floors).certificate.counted_tokens
        assert head <= (1_500 - alone) / 2
        heads.add(head)
    assert len(heads) > 2


async def test_what_has_no_room_any_more_is_not_taken_back(tmp_path: Path) -> None:
    """A file that was told of may have changed further; others are counted, and told once there is room for them."""
    names = [f"part/module_{n:02}.py" for n in range(30)]
    root = grown(tmp_path / "shop", dict.fromkeys(names, "def old(): ...\n"))
    keeper = IncrementalContextManager(
        window_tokens=2_000, counter=Characters(), project=ProjectContext(root, watch=Deaf())
    )
    messages: Transcript = [SYSTEM, {"role": "user", "content": "Go."}]
    await keeper.prepare(messages)
    said: list[str] = []
    for changed in (names[-1:], names, names[-1:], []):
        now = {name: f"def {'new' if name in changed else 'old'}(): ...\n" for name in names}
        grown(root, now)
        messages += talk(1)
        said.append(str((await keeper.prepare(messages)).messages[-2]["content"]))
    last = names[-1]
    assert f"{last} defines now:" in said[0]
    assert f"{last} may have changed further" in said[1]
    assert re.search(r"\d+ more files have changed\.", said[1])
    assert f"{last} defines now:" in said[2]
    assert f"{last} is again as" in said[3]
    assert not any(f"{last} is again as" in each for each in said[:3])
