"""Files that the conversation shows, changed by somebody else while it goes on: what is told of them."""

import gc
import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from weakref import ref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded, ManagerClosed
from autogen_context.manager.change import ContextChange
from autogen_context.project.file_changes import FileChangeTracker
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import histories
from support.coder import CHANGED, CONTENT, DIFF, EDIT, Coder, block
from support.counting import Characters
from support.keeping import told_in

BACK = "sed -i s/TWO/two/ a.py"
UNREADABLE = f"{CHANGED}\n> it cannot be read any more:"


@pytest.mark.parametrize("waits", [True, False], ids=["prepare", "prepare_nowait"])
async def test_what_somebody_else_changed_is_told_once(coder: Coder, *, waits: bool) -> None:
    """With a diff, in front of what is new; no later turn says it again."""
    coder.reads("a.py")
    assert await coder.turn(waits=waits) == []
    coder.shell(EDIT)
    coder.goes_on()
    told = await coder.turn(waits=waits)
    assert told == [block(CHANGED, DIFF)]
    versions = coder.manager.versions
    coder.shell("touch a.py")
    coder.goes_on()
    assert await coder.turn(waits=waits) == told
    assert coder.manager.versions == versions


async def test_what_was_read_again_is_no_longer_told(coder: Coder) -> None:
    """Not even after a compaction; what changes from then on is told against what was read last."""
    coder.manager = coder.another(3_000)
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT)
    coder.goes_on()
    assert await coder.turn()
    coder.reads("a.py")
    assert await coder.until_compacted() == []
    coder.reads("a.py")
    await coder.turn()
    coder.shell("sed -i s/three/THREE/ a.py")
    coder.goes_on()
    [told] = await coder.turn()
    assert "-three\n> +THREE" in told
    assert "-two" not in told


BECOMES = {
    "deleted": ("rm a.py", "a.py was deleted from disk since it was read above"),
    "replaced by the same": ("mv b.py a.py", ""),
    "other line ends": ("printf 'one\\r\\ntwo\\r\\nthree\\r\\n\\r\\n' > a.py", ""),
    "binary": ("printf 'x\\0y' > a.py", f"{CHANGED}\n> (binary, 3 bytes)"),
    "1 GB": ("truncate -s 1G a.py", f"{CHANGED}\n> (too large to show, 1,073,741,824 bytes)"),
    "a link out": ("ln -sf ../outside.py a.py", f"{UNREADABLE} it leads out of the project"),
    "a pipe": ("rm a.py; mkfifo a.py", f"{UNREADABLE} not a regular file"),
}


@pytest.mark.parametrize(("line", "told"), BECOMES.values(), ids=BECOMES)
async def test_whatever_becomes_of_a_file_is_told_in_words(
    coder: Coder, line: str, told: str
) -> None:
    """In as few as there are; and that it is again as it was, where it is."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(f"cp a.py ../kept; {line}")
    coder.goes_on()
    assert await coder.turn() == ([block(told)] if told else [])
    coder.shell("rm -rf a.py; cp ../kept a.py")
    coder.goes_on()
    again = [block(told), block("a.py is on disk again as it was read above")]
    assert await coder.turn() == (again if told else [])


async def test_what_was_changed_back_is_not_told(coder: Coder) -> None:
    """Nor a change that waits for a new message, when it is gone before one comes."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(f"{EDIT}; {BACK}")
    coder.goes_on()
    assert await coder.turn() == []
    coder.shell(EDIT)
    assert await coder.turn() == []
    coder.shell(BACK)
    await coder.turn()
    coder.goes_on()
    assert await coder.turn() == []


async def test_what_others_said_of_a_file_is_not_taken_back(coder: Coder) -> None:
    """Only what was told for this reason is: a host may know more."""
    coder.reads("a.py")
    await coder.turn()
    await coder.manager.apply_changes([ContextChange.file_modified("a.py", text="by the host")])
    coder.shell("touch a.py")
    coder.goes_on()
    assert await coder.turn() == [block(CHANGED, "> by the host")]


@pytest.mark.parametrize(
    "path",
    [
        *("../outside.py", "{outside}", "link.py", "linked/outside.py", ".", "..", "", "\0"),
        *("no/such/file", "a.py/b", "pipe", "closed/../../outside.py", "x" * 5_000, "circle"),
    ],
)
async def test_what_must_not_be_read_is_not_followed(coder: Coder, path: str) -> None:
    """By whatever way it is named."""
    (coder.root / "link.py").symlink_to("../outside.py")
    (coder.root / "linked").symlink_to("..")
    (coder.root / "circle").symlink_to("circle")
    os.mkfifo(coder.root / "pipe")
    outside = coder.root.parent / "outside.py"
    coder.calls("read_file", CONTENT, path=path.format(outside=outside))
    await coder.turn()
    outside.write_text("a secret")
    coder.goes_on()
    assert await coder.turn() == []


@pytest.mark.parametrize("path", ["nowhere", "a.py"])
def test_a_root_that_is_no_folder_is_refused(root: Path, path: str) -> None:
    """By name, with the way out."""
    with pytest.raises(ValueError, match=rf"root='.*{path}': give a folder"):
        FileChangeTracker(root / path)


@settings(max_examples=6)
@given(histories(max_messages=10), st.integers(200, 3_000))
def test_where_nothing_changes_nothing_is_different(
    history: list[list[ChatMessage]], window_tokens: int
) -> None:
    """Each turn, with or without its files followed, to the byte."""
    with TemporaryDirectory() as name:
        for path in ("a.py", "src/a.py", "main.py"):
            Path(name, path).parent.mkdir(exist_ok=True)
            Path(name, path).write_text(CONTENT)
        config, files = ContextConfig(window_tokens=window_tokens), FileChangeTracker(name)
        plain = IncrementalContextManager(config=config, counter=Characters())
        following = IncrementalContextManager(config=config, counter=Characters(), files=files)
        for messages in history:
            assert sent(following, messages) == sent(plain, messages)


def sent(keeper: IncrementalContextManager, messages: list[ChatMessage]) -> object:
    """What a turn gives."""
    try:
        return keeper.prepare_nowait(messages).messages
    except ContextWindowExceeded as error:
        return str(error)


OWN: dict[str, tuple[str, str, dict[str, str]]] = {
    "writes": ("all new\n", "write_file", {"path": "a.py", "content": "all new\n"}),
    "edits": (
        "one\n2\nthree\n",
        "str_replace",
        {"path": "a.py", "old_str": "two", "new_str": "2"},
    ),
}


@pytest.mark.parametrize(("text", "tool", "arguments"), OWN.values(), ids=OWN)
async def test_what_the_agent_wrote_itself_is_not_told(
    coder: Coder, text: str, tool: str, arguments: dict[str, str]
) -> None:
    """Not even while the call is open; what somebody else makes of it is."""
    coder.reads("a.py")
    await coder.turn()
    coder.calls(tool, None, **arguments)
    (coder.root / "a.py").write_text(text)
    coder.manager.observe(coder.messages)
    assert await coder.turn() == []
    coder.answers(f"c{len(coder.messages) - 1}", "ok")
    assert await coder.turn() == []
    coder.goes_on()
    assert await coder.turn() == []
    coder.shell("echo more >> a.py")
    coder.goes_on()
    [told] = await coder.turn()
    assert told.endswith("> +more\n]")
    assert "> -" not in told


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
    told = [block(CHANGED, "> (what it was is not known any more)")]
    for _ in range(2):
        coder.goes_on()
        assert await coder.turn() == told
        state = json.loads(json.dumps(coder.manager.save_state()))
        coder.manager = coder.another()
        coder.manager.load_state(state)
    coder.goes_on()
    await coder.turn()
    coder.shell("sed -i s/two/TWO/ b.py")
    coder.goes_on()
    assert (await coder.turn())[-1] == block(CHANGED.replace("a.py", "b.py"), DIFF)


@pytest.mark.parametrize("way", ["changed", "gone", "moved away"])
async def test_a_branch_follows_its_files(coder: Coder, way: str) -> None:
    """What the conversation saw before it, too; both are told of what changes, though the folder may be gone."""
    coder.reads("a.py")
    await coder.turn()
    branch = coder.manager.branch()
    if way == "gone":
        shutil.rmtree(coder.root)
    else:
        coder.shell(EDIT if way == "changed" else "mv a.py ..")
    coder.goes_on()
    gone = block("a.py was deleted from disk since it was read above")
    for manager in (branch, coder.manager):
        told = told_in(await manager.prepare(coder.messages))
        assert told == [block(CHANGED, DIFF) if way == "changed" else gone]


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
    """It prepares no turn any more, and says what to do instead (F35); nobody has to close it."""
    coder.reads("a.py")
    await coder.turn()
    await coder.manager.aclose()
    coder.goes_on()
    with pytest.raises(ManagerClosed, match="create a new one"):
        await coder.turn()
    gone = ref(coder.manager)
    coder.manager = coder.another()
    gc.collect()
    assert gone() is None
