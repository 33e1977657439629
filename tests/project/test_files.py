"""Files that the conversation shows, changed by somebody else while it goes on: what is told of them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.change import ContextChange
from autogen_context.project.file_changes import FileChangeTracker
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import histories
from support.coder import CHANGED, CONTENT, DIFF, EDIT, Coder, block
from support.counting import Characters


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


async def test_turns_that_wait_and_turns_that_do_not_follow_each_other(coder: Coder) -> None:
    """Each looks for itself."""
    coder.reads("a.py")
    coder.reads("b.py")
    for path in ("a.py", "b.py"):
        await coder.turn()
        coder.shell(f"sed -i s/two/TWO/ {path}")
        coder.goes_on()
        assert f"{path} changed" in (await coder.turn(waits=False))[-1]


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


def linked_out(root: Path) -> str:
    """Replaces a file by a link that leads out of the project."""
    return f"ln -sf {root.parent}/outside.py a.py"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        pytest.param("rm a.py", "a.py was deleted from disk since it was read above", id="deleted"),
        pytest.param("mv a.py d.py", "a.py was deleted from disk since it was read above", id="moved"),
        pytest.param("mv b.py a.py; rm -f b.py", "", id="replaced by the same"),
        pytest.param("touch a.py", "", id="touched"),
        pytest.param(
            "printf 'x\\0y' > a.py", f"{CHANGED}\n> (binary, 3 bytes)", id="binary"
        ),
        pytest.param(
            "head -c 600000 /dev/zero > a.py",
            f"{CHANGED}\n> (too large to show, 600,000 bytes)",
            id="large",
        ),
        pytest.param(
            "ln -sf ../outside.py a.py",
            f"{CHANGED}\n> it cannot be read any more: it leads out of the project",
            id="a link that leads out",
        ),
        pytest.param(
            "rm a.py; mkfifo a.py",
            f"{CHANGED}\n> it cannot be read any more: not a regular file",
            id="a pipe",
        ),
    ],
)  # fmt: skip
async def test_whatever_becomes_of_a_file_is_told_in_words(
    coder: Coder, line: str, told: str
) -> None:
    """In as few as there are."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(line)
    coder.goes_on()
    assert await coder.turn() == ([block(told)] if told else [])


async def test_a_folder_that_went_took_its_files(coder: Coder) -> None:
    """Each of them is told as deleted."""
    coder.reads("src/c.py")
    await coder.turn()
    coder.shell("mv src ../gone")
    coder.goes_on()
    assert await coder.turn() == [block("src/c.py was deleted from disk since it was read above")]


async def test_a_binary_file_is_never_quoted(coder: Coder) -> None:
    """That it changed is told."""
    (coder.root / "image").write_bytes(b"\0one")
    coder.reads("image")
    await coder.turn()
    coder.shell("printf 'plain' > image")
    coder.goes_on()
    [told] = await coder.turn()
    assert told == block("image changed on disk since it was read above", "> (binary, 4 bytes)")


async def test_what_was_changed_back_is_not_told(coder: Coder) -> None:
    """Where the change had been told, that it is as it was is told once."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(f"cp a.py kept; {EDIT}; cat kept > a.py")
    coder.goes_on()
    assert await coder.turn() == []
    coder.shell(EDIT)
    coder.goes_on()
    before = await coder.turn()
    coder.shell("cat kept > a.py")
    coder.goes_on()
    after = [*before, block("a.py is on disk again as it was read above")]
    assert await coder.turn() == after
    coder.goes_on()
    assert await coder.turn() == after


async def test_what_had_no_place_yet_is_withdrawn(coder: Coder) -> None:
    """A change that waits for a new message is not told when it is gone before one comes."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT)
    assert await coder.turn() == []
    coder.shell("sed -i s/TWO/two/ a.py")
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
        pytest.param("../outside.py", id="relative"),
        pytest.param("{outside}", id="absolute"),
        pytest.param("link.py", id="a link"),
        pytest.param("linked/outside.py", id="below a link"),
        pytest.param(".", id="the folder itself"),
    ],
)
async def test_nothing_outside_is_followed(coder: Coder, path: str) -> None:
    """By whatever way it is named."""
    (coder.root / "link.py").symlink_to("../outside.py")
    (coder.root / "linked").symlink_to("..")
    outside = coder.root.parent / "outside.py"
    coder.calls("read_file", CONTENT, path=path.format(outside=outside))
    await coder.turn()
    outside.write_text("a secret")
    coder.shell("touch a.py")
    coder.goes_on()
    assert await coder.turn() == []


@pytest.mark.parametrize("path", ["src/c.py", "./src/c.py", "src/../src/c.py", "{root}/src/c.py"])
async def test_a_path_is_told_as_the_agent_wrote_it(coder: Coder, path: str) -> None:
    """But for dots inside."""
    written = path.format(root=coder.root)
    coder.calls("read_file", CONTENT, path=written)
    await coder.turn()
    coder.shell("rm src/c.py")
    coder.goes_on()
    shown = written.replace("./", "").replace("src/.", "")
    assert await coder.turn() == [block(f"{shown} was deleted from disk since it was read above")]


async def test_a_root_behind_a_link_is_the_same_folder(root: Path) -> None:
    """Whichever of its names the agent writes."""
    link = root.parent / "link"
    link.symlink_to(root)
    coder = Coder(link)
    for top, path in ((link, "a.py"), (root, "b.py")):
        coder.calls("read_file", CONTENT, path=str(top / path))
    await coder.turn()
    coder.shell("rm a.py b.py")
    coder.goes_on()
    [told] = await coder.turn()
    assert told.count("was deleted") == 2


@pytest.mark.parametrize("path", ["nowhere", "a.py"])
def test_a_root_that_is_no_folder_is_refused(root: Path, path: str) -> None:
    """By name, with the way out."""
    with pytest.raises(ValueError, match=rf"root='.*{path}': give a folder"):
        FileChangeTracker(root / path)


@given(histories(), st.integers(200, 3_000))
def test_where_nothing_changes_nothing_is_different(
    history: list[list[ChatMessage]], window_tokens: int
) -> None:
    """Each turn, with or without its files followed, to the byte."""
    with TemporaryDirectory() as name:
        for path in ("a.py", "src/a.py", "main.py"):
            Path(name, path).parent.mkdir(exist_ok=True)
            Path(name, path).write_text(CONTENT)
        config = ContextConfig(window_tokens=window_tokens)
        files = FileChangeTracker(name)
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
