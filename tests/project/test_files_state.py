"""Files that the conversation shows: saved and loaded, branched, closed."""

import gc
import json
from weakref import ref

import pytest

from autogen_context.errors import ManagerClosed
from support.coder import (
    CHANGED,
    DIFF,
    EDIT,
    Coder,
    block,
    told_in,
)


@pytest.mark.parametrize("change", ["saved", "told before", "loaded"])
async def test_another_process_goes_on(coder: Coder, change: str) -> None:
    """What was to be told is told there, once; what changes from then on as well."""
    coder.reads("a.py")
    await coder.turn()
    if change != "loaded":
        coder.shell(EDIT)
        if change == "told before":
            coder.goes_on()
        await coder.turn()
    state = json.loads(json.dumps(coder.manager.save_state()))
    coder.manager = coder.another()
    coder.manager.load_state(state)
    if change == "loaded":
        await coder.turn()
        coder.shell(EDIT)
    coder.goes_on()
    told = await coder.turn()
    assert told == [block(CHANGED, DIFF)]
    coder.shell("touch a.py")
    coder.goes_on()
    assert await coder.turn() == told


async def test_what_changed_while_nobody_was_there_is_told(coder: Coder) -> None:
    """Between save and load: that it did; what it was, nobody knows any more. It is told once."""
    for path in ("a.py", "b.py"):
        coder.reads(path)
    await coder.turn()
    state = json.loads(json.dumps(coder.manager.save_state()))
    assert "three" not in json.dumps(state["providers"])  # digests, no content
    coder.shell(EDIT)
    coder.manager = coder.another()
    coder.manager.load_state(state)
    assert coder.manager.save_state() == state
    coder.goes_on()
    told = [block(CHANGED, "> (what it was is not known any more)")]
    assert await coder.turn() == told
    coder.goes_on()
    assert await coder.turn() == told
    again = coder.another()
    again.load_state(json.loads(json.dumps(coder.manager.save_state())))
    coder.manager = again
    coder.goes_on()
    assert await coder.turn() == told
    coder.shell("sed -i s/two/TWO/ b.py")
    coder.goes_on()
    assert (await coder.turn())[-1] == block(CHANGED.replace("a.py", "b.py"), DIFF)


async def test_what_was_read_since_it_was_saved_is_seen_as_it_is(coder: Coder) -> None:
    """A unit behind the saved ones is read as any other."""
    coder.reads("a.py")
    await coder.turn()
    state = coder.manager.save_state()
    coder.shell(EDIT)
    coder.reads("a.py")
    coder.manager = coder.another()
    coder.manager.load_state(state)
    assert await coder.turn() == []
    coder.goes_on()
    assert await coder.turn() == []


async def test_an_older_state_is_told_again(coder: Coder) -> None:
    """Loaded, or rolled back to: what was told since is not in it."""
    coder.reads("a.py")
    await coder.turn()
    state, version = coder.manager.save_state(), coder.manager.versions[-1].number
    coder.shell(EDIT)
    coder.goes_on()
    told = await coder.turn()
    coder.manager.load_state(state)
    assert await coder.turn() == told
    coder.manager.roll_back(version)
    assert await coder.turn() == told


@pytest.mark.parametrize("turn_before", [True, False], ids=["after its turn", "before it"])
async def test_a_branch_follows_its_files(coder: Coder, *, turn_before: bool) -> None:
    """What the conversation saw before it, too; both are told of what changes."""
    coder.reads("a.py")
    await coder.turn()
    branch = coder.manager.branch()
    if turn_before:
        await branch.prepare(coder.messages)
    coder.shell(EDIT)
    coder.goes_on()
    for manager in (branch, coder.manager):
        assert told_in(await manager.prepare(coder.messages)) == [block(CHANGED, DIFF)]


async def test_a_host_that_trims_its_list_hides_nothing(coder: Coder) -> None:
    """What it hands in again was seen when it came first."""
    coder.goes_on()
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT)
    del coder.messages[1]
    coder.goes_on()
    assert await coder.turn() == [block(CHANGED, DIFF)]


async def test_a_closed_manager_hears_nothing(coder: Coder) -> None:
    """It prepares no turn any more, and says what to do instead (F35)."""
    coder.reads("a.py")
    await coder.turn()
    await coder.manager.aclose()
    coder.shell(EDIT)
    coder.goes_on()
    with pytest.raises(ManagerClosed, match="make another one"):
        await coder.turn()
    await coder.manager.aclose()


async def test_nobody_has_to_close_it(coder: Coder) -> None:
    """A manager that is gone is told nothing, and keeps nothing from going."""
    coder.reads("a.py")
    await coder.turn()
    gone = ref(coder.manager)
    coder.manager = coder.another()
    gc.collect()
    assert gone() is None
    coder.shell(EDIT)
