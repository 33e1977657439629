"""Files that the conversation shows: what the agent wrote itself is no news to it."""

from collections.abc import Callable

import pytest

from support.coder import CHANGED, DIFF, EDIT, Coder, block

Own = Callable[[Coder], None]


def writes_whole(coder: Coder) -> None:
    """The content stands in the call."""
    (coder.root / "a.py").write_text("all new\n")
    coder.calls("write_file", "ok", path="a.py", content="all new\n")


def edits(coder: Coder) -> None:
    """Only what is replaced stands in the call."""
    (coder.root / "a.py").write_text("one\n2\nthree\n")
    coder.calls("str_replace", "edited", path="a.py", old_str="two", new_str="2")


def redirects(coder: Coder) -> None:
    """A command line."""
    (coder.root / "a.py").write_text("new\n")
    coder.calls("bash", "", command="echo new > a.py")


def edits_by_another_name(coder: Coder) -> None:
    """The file that it read by its relative path."""
    (coder.root / "a.py").write_text("one\n2\nthree\n")
    path = str(coder.root / "src" / ".." / "a.py")
    coder.calls("str_replace", "edited", path=path, old_str="two", new_str="2")


@pytest.mark.parametrize("own", [writes_whole, edits, redirects, edits_by_another_name])
async def test_what_the_agent_wrote_itself_is_not_told(coder: Coder, own: Own) -> None:
    """What somebody else makes of that is."""
    coder.reads("a.py")
    await coder.turn()
    own(coder)
    assert await coder.turn() == []
    coder.goes_on()
    assert await coder.turn() == []
    coder.shell("echo more >> a.py")
    coder.goes_on()
    [told] = await coder.turn()
    assert told.endswith("> +more\n]")
    assert "> -" not in told


async def test_an_edit_that_failed_hides_nothing(coder: Coder) -> None:
    """It failed since somebody else had changed the file: that is told."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT)
    result = "No match found for old_str"
    coder.calls("str_replace", result, path="a.py", old_str="two", new_str="2")
    assert await coder.turn() == [block(CHANGED, DIFF)]


async def test_while_a_call_is_open_nothing_is_told(coder: Coder) -> None:
    """It may be the call that writes; when it has its result that is known."""
    coder.reads("a.py")
    await coder.turn()
    coder.calls("str_replace", None, path="a.py", old_str="two", new_str="TWO")
    coder.shell(EDIT)
    coder.manager.observe(coder.messages)
    assert await coder.turn() == []
    coder.answers(f"c{len(coder.messages) - 1}", "edited")
    assert await coder.turn() == []


async def test_what_the_agent_wrote_since_takes_nothing_back(coder: Coder) -> None:
    """What somebody else had changed before is as little as it was read above."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT)
    coder.goes_on()
    told = await coder.turn()
    edits(coder)
    await coder.turn()
    coder.shell("touch a.py")
    coder.goes_on()
    assert await coder.turn() == told
