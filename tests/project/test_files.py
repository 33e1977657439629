"""Files that the conversation shows, changed by somebody else while it goes on: what is told of them, and at what cost."""

import asyncio
import gc
import json
import logging
import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from weakref import ref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded, ManagerClosed
from autogen_context.manager.change import ContextChange
from autogen_context.project.file_changes import (
    MOST_LINES,
    MOST_REPORTS,
    NO_MORE,
    FileChangeTracker,
    difference_of,
)
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import histories
from support.coder import CHANGED, CONTENT, DIFF, EDIT, Coder, block
from support.counting import Characters
from support.keeping import told_in
from support.waiting import LONGEST_S

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
    "edits": ("one\n2\nthree\n", "str_replace", {"path": "a.py", "old_str": "two", "new_str": "2"}),
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


LINES = st.lists(st.sampled_from(["a", "b", "", "    return x", "ü" * 300]), max_size=30)
NUMBERS_CHARS = 100
BEFORE = "\n".join(f"line {n}" for n in range(1, 101))


@settings(max_examples=15)
@given(LINES, LINES)
def test_a_diff_turns_one_text_into_the_other(before: list[str], after: list[str]) -> None:
    """Where there is room for all of it and no line is cut: patch says so."""
    old, new = ("\n".join(line[:150] for line in lines) for lines in (before, after))
    if old == new:
        return
    _, _, diff = difference_of(old, new, most_chars=100_000).partition(":\n")
    with TemporaryDirectory() as name:
        file = Path(name, "file")
        file.write_text(old + "\n")
        patch = shutil.which("patch")
        assert patch is not None, "this law is held against patch itself: install it"
        told = f"--- file\n+++ file\n{diff}\n"
        subprocess.run([patch, "-s", str(file)], input=told, text=True, check=True)  # noqa: S603 - a file of ours
        assert file.read_text() == new + "\n"


@given(LINES, LINES, st.integers(NUMBERS_CHARS, 400))
def test_what_is_told_has_room(before: list[str], after: list[str], most_chars: int) -> None:
    """For any texts; whole places stand in it or none."""
    old, new = "\n".join(before), "\n".join(after)
    told = difference_of(old, new, most_chars=most_chars)
    assert len(told) <= most_chars
    whole = difference_of(old, new, most_chars=100_000)
    assert whole.startswith(told.partition("\n[… ")[0].removesuffix(":"))


def test_a_diff_reads_as_one() -> None:
    """With numbers of lines, context, and nothing else; of texts that are long, numbers alone."""
    after = BEFORE.replace("line 10\n", "line ten\nand more\n").replace("\nline 50\n", "\n")
    assert difference_of(BEFORE, after, most_chars=500) == (
        "2 of 100 lines removed, 2 added, from line 10 on:\n"
        "@@ -8,5 +8,6 @@\n line 8\n line 9\n-line 10\n+line ten\n+and more\n line 11\n line 12\n"
        "@@ -48,5 +49,4 @@\n line 48\n line 49\n-line 50\n line 51\n line 52"
    )
    assert difference_of(BEFORE, after, most_chars=180).endswith(" line 12\n[… 1 more places]")
    told = "10,000 of 40,001 lines removed, 0 added, from line 1 on"
    assert difference_of("x\ny\n" * 20_000, "y\nx\nx\n" * 10_000, most_chars=2_000) == told
    many = ["\n".join(f"{k} {n}\nsame" for n in range(MOST_LINES // 2)) for k in "ab"]
    assert difference_of(*many, most_chars=2_000).startswith(
        "1,000 of 2,000 lines removed, 1,000 added"
    )


async def test_a_file_that_keeps_changing_is_told_so_often(coder: Coder) -> None:
    """Then that it does, once, until it is read again."""
    coder.reads("a.py")
    await coder.turn()
    told: list[str] = []
    for n in range(MOST_REPORTS + 3):
        coder.shell(f"echo {n} >> a.py")
        coder.goes_on()
        told = await coder.turn()
    assert len(told) == MOST_REPORTS == len(coder.manager.versions) - 1
    assert [NO_MORE in each for each in told] == [False] * (MOST_REPORTS - 1) + [True]
    coder.reads("a.py")
    await coder.turn()
    coder.shell("echo more >> a.py")
    coder.goes_on()
    told = await coder.turn()
    assert len(told) == MOST_REPORTS + 1
    assert told[-1].endswith("> +more\n]")


class Broken(FileChangeTracker):
    """Fails when it is asked."""

    @override
    def real(self, path: str) -> Path:
        raise MemoryError


async def test_a_failure_is_not_the_callers(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is one warning; turns go on."""
    with caplog.at_level(logging.WARNING):
        coder = Coder(root, files=Broken(root))
        for waits in (True, False, True):
            coder.reads("a.py")
            assert await coder.turn(waits=waits) == []
    assert [record.message for record in caplog.records] == [
        "a context provider failed; its notices are skipped"
    ]


class Slow(FileChangeTracker):
    """Answers when it is let go."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.answers = Event()
        self.given_up = False

    @override
    def real(self, path: str) -> Path:
        self.given_up |= not self.answers.wait(LONGEST_S)
        return super().real(path)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn does not wait long for the disk."""
    monkeypatch.setattr("autogen_context.project.file_changes.LONGEST_WAIT_S", 0.1)


@pytest.mark.usefixtures("hasty")
async def test_a_disk_that_hangs_holds_up_no_turn(root: Path) -> None:
    """What is learned when it answers is told in a later one; meanwhile nobody is kept from saving and branching."""
    files = Slow(root)
    files.answers.set()
    coder = Coder(root, files=files)
    coder.reads("a.py")
    assert await coder.turn() == []
    coder.shell(EDIT)
    files.answers.clear()
    coder.goes_on()
    assert await coder.turn() == []
    assert await coder.turn(waits=False) == []
    state = await asyncio.wait_for(asyncio.to_thread(coder.manager.save_state), LONGEST_S)
    branch = await asyncio.wait_for(asyncio.to_thread(coder.manager.branch), LONGEST_S)
    loaded = coder.another()
    await asyncio.wait_for(asyncio.to_thread(loaded.load_state, state), LONGEST_S)
    files.answers.set()
    for manager in (branch, coder.manager):
        coder.manager = manager
        told: list[str] = []
        while not told:  # the look that hung comes to its end in its own time
            coder.goes_on()
            told = await coder.turn()
        assert told == [block(CHANGED, DIFF)]
    assert not files.given_up  # no turn waited for it


def test_the_guides_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Their Python prints what stands there."""
    for page, opening in (("files", "Added"), ("project", "The project")):
        guide = Path(__file__).parents[2] / "docs" / "guides" / f"{page}.md"
        text = guide.read_text("utf-8")
        code, shown = (
            "\n".join(part.partition("```")[0] for part in text.split(start)[1:])
            for start in ("```python\n", f"```\n[{opening}")
        )
        exec(compile(code, str(guide), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
        assert capsys.readouterr().out == f"[{opening}{shown}"
