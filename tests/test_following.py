"""Files that the conversation shows, changed by somebody else while it goes on."""

import gc
import json
import logging
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context import ContextConfig, FileWatch, IncrementalContextManager, Prepared
from autogen_context.errors import BudgetImpossible
from autogen_context.following import MOST_DIFFS, MOST_READ_NOWAIT, MOST_TOLD, NO_MORE
from autogen_context.session.change import ContextChange
from autogen_context.store.files.followed import MOST_LOOKED_AT, Followed
from autogen_context.store.files.followed_files import FollowedFiles
from autogen_context.store.files.seen_file import MOST_FILES
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import histories
from support.counting import Characters
from support.hearing import Hearing, wait_until

TOLD = "[Told beside the conversation:"
CONTENT = "one\ntwo\nthree\n"
CHANGED = "a.py changed on disk since it was read above"
DIFF = "> 1 of 3 lines went, 1 came, from line 2 on:\n> @@ -1,3 +1,3 @@\n>  one\n> -two\n> +TWO\n>  three"
NAMES = ("a.py", "b.py", "src/c.py")
EDIT = "sed -i s/two/TWO/ a.py"


def block(*lines: str) -> str:
    """What is told in one turn."""
    return "\n".join([TOLD, *lines, "]"])


def told_in(turn: Prepared[ChatMessage]) -> list[str]:
    """The blocks of notices in a request."""
    texts = [str(message["content"]) for message in turn.messages]
    return [text for text in texts if text.startswith(TOLD)]


class Coder:
    """An agent that works on files, and whoever else does.

    Attributes:
        messages: its conversation.
        manager: keeps it.
    """

    def __init__(self, root: Path, watch: FileWatch, *, window_tokens: int = 20_000) -> None:
        self.root = root
        self.watch = watch
        self.messages: list[ChatMessage] = [{"role": "user", "content": "Make it fast."}]
        self.manager = self.another(window_tokens)
        self.hearing = Hearing()  # is told after the manager is
        self._leave = watch.listen(self.hearing.hear)

    def another(self, window_tokens: int = 20_000) -> IncrementalContextManager:
        """A manager for the same files."""
        files = FollowedFiles(self.root, watch=self.watch)
        config = ContextConfig(window_tokens=window_tokens)
        return IncrementalContextManager(config=config, counter=Characters(), files=files)

    def calls(self, name: str, result: str | None, **arguments: object) -> None:
        """A call, and its result where there is one."""
        number = f"c{len(self.messages)}"
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": number, "type": "function", "function": function}
        self.messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
        if result is not None:
            self.answers(number, result)

    def answers(self, number: str, result: str) -> None:
        """The result of a call."""
        self.messages += [{"role": "tool", "tool_call_id": number, "content": result}]

    def reads(self, path: str) -> None:
        """It reads a file."""
        content = (self.root / path).read_bytes().decode("utf-8", "replace")
        self.calls("read_file", content, path=path)

    def goes_on(self) -> None:
        """Somebody says something."""
        self.messages += [{"role": "user", "content": "Go on."}]

    def shell(self, line: str, *changed: str) -> None:
        """Another process does something; when this returns, what it changed is known of."""
        self.hearing.clear()
        subprocess.run(["/bin/sh", "-c", line], cwd=self.root, check=True)  # noqa: S603 - our own lines
        if self.watch.is_alive:
            self.hearing.wait_for(*(self.root / path for path in changed))

    async def turn(self, *, waits: bool = True) -> list[str]:
        """What is told in the next request, that of earlier turns included."""
        if waits:
            return told_in(await self.manager.prepare(self.messages))
        return told_in(self.manager.prepare_nowait(self.messages))

    async def until_compacted(self) -> list[str]:
        """What is told in the request that a compaction makes."""
        for n in range(200):
            self.messages += [{"role": "user", "content": f"{n} " + "and so on " * 40}]
            turn = await self.manager.prepare(self.messages)
            if turn.compacted:
                return told_in(turn)
        raise AssertionError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project, beside a file that is none of it."""
    project = tmp_path.resolve() / "project"
    (project / "src").mkdir(parents=True)
    for path in ("a.py", "b.py", "src/c.py", "../outside.py"):
        (project / path).write_text(CONTENT)
    return project


@pytest.fixture
def watch(root: Path) -> Iterator[FileWatch]:
    """It follows the project already."""
    with FileWatch(debounce_s=0.02, poll_s=0.05) as watch:
        watch.follow(root)
        yield watch


@pytest.fixture
def coder(root: Path, watch: FileWatch) -> Coder:
    """Is told of changes."""
    return Coder(root, watch)


@pytest.fixture
def closed() -> FileWatch:
    """A watch that tells nothing."""
    watch = FileWatch()
    watch.close()
    return watch


@pytest.fixture(params=["told", "looked at"])
def either(request: pytest.FixtureRequest, root: Path) -> Iterator[Coder]:
    """Is told of changes, or looks."""
    with FileWatch(debounce_s=0.02, poll_s=0.05) as watch:
        if request.param == "told":
            watch.follow(root)
        else:
            watch.close()
        yield Coder(root, watch)


@pytest.mark.parametrize("waits", [True, False], ids=["prepare", "prepare_nowait"])
async def test_what_somebody_else_changed_is_told_once(either: Coder, *, waits: bool) -> None:
    """With a diff, in front of what is new; no later turn says it again."""
    either.reads("a.py")
    assert await either.turn(waits=waits) == []
    either.shell(EDIT, "a.py")
    either.goes_on()
    told = await either.turn(waits=waits)
    assert told == [block(CHANGED, DIFF)]
    versions = either.manager.versions
    either.shell("touch a.py", "a.py")
    either.goes_on()
    assert await either.turn(waits=waits) == told
    assert either.manager.versions == versions


async def test_turns_that_wait_and_turns_that_do_not_follow_each_other(either: Coder) -> None:
    """Each looks for itself."""
    either.reads("a.py")
    either.reads("b.py")
    for path in ("a.py", "b.py"):
        await either.turn()
        either.shell(f"sed -i s/two/TWO/ {path}", path)
        either.goes_on()
        assert f"{path} changed" in (await either.turn(waits=False))[-1]


async def test_what_was_read_again_is_no_longer_told(coder: Coder) -> None:
    """Not even after a compaction; what changes from then on is told against what was read last."""
    coder.manager = coder.another(3_000)
    coder.hearing = Hearing()
    coder.watch.listen(coder.hearing.hear)
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT, "a.py")
    coder.goes_on()
    assert await coder.turn()
    coder.reads("a.py")
    assert await coder.until_compacted() == []
    coder.reads("a.py")
    await coder.turn()
    coder.shell("sed -i s/three/THREE/ a.py", "a.py")
    coder.goes_on()
    [told] = await coder.turn()
    assert "-three\n> +THREE" in told
    assert "-two" not in told


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
async def test_what_the_agent_wrote_itself_is_not_told(either: Coder, own: Own) -> None:
    """What somebody else makes of that is."""
    either.reads("a.py")
    await either.turn()
    own(either)
    if either.watch.is_alive:
        either.hearing.wait_for(either.root / "a.py")
    assert await either.turn() == []
    either.goes_on()
    assert await either.turn() == []
    either.shell("echo more >> a.py", "a.py")
    either.goes_on()
    [told] = await either.turn()
    assert told.endswith("> +more\n]")
    assert "> -" not in told


async def test_an_edit_that_failed_hides_nothing(either: Coder) -> None:
    """It failed since somebody else had changed the file: that is told."""
    either.reads("a.py")
    await either.turn()
    either.shell(EDIT, "a.py")
    result = "No match found for old_str"
    either.calls("str_replace", result, path="a.py", old_str="two", new_str="2")
    assert await either.turn() == [block(CHANGED, DIFF)]


async def test_while_a_call_is_open_nothing_is_told(coder: Coder) -> None:
    """It may be the call that writes; when it has its result that is known."""
    coder.reads("a.py")
    await coder.turn()
    coder.calls("str_replace", None, path="a.py", old_str="two", new_str="TWO")
    coder.shell(EDIT, "a.py")
    coder.manager.observe(coder.messages)
    assert await coder.turn() == []
    coder.answers(f"c{len(coder.messages) - 1}", "edited")
    assert await coder.turn() == []


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
            f"{CHANGED}\n> a.py cannot be read any more: it leads out of the project",
            id="a link that leads out",
        ),
        pytest.param(
            "rm a.py; mkfifo a.py",
            f"{CHANGED}\n> a.py cannot be read any more: not a regular file",
            id="a pipe",
        ),
    ],
)  # fmt: skip
async def test_whatever_becomes_of_a_file_is_told_in_words(
    either: Coder, line: str, told: str
) -> None:
    """In as few as there are."""
    either.reads("a.py")
    await either.turn()
    either.shell(line, "a.py")
    either.goes_on()
    assert await either.turn() == ([block(told)] if told else [])


async def test_a_folder_that_went_took_its_files(coder: Coder) -> None:
    """The watch tells of the folder alone."""
    coder.reads("src/c.py")
    await coder.turn()
    coder.shell("mv src ../gone", "src")
    coder.goes_on()
    assert await coder.turn() == [block("src/c.py was deleted from disk since it was read above")]


async def test_a_binary_file_is_never_quoted(either: Coder) -> None:
    """That it changed is told."""
    (either.root / "image").write_bytes(b"\0one")
    either.reads("image")
    await either.turn()
    either.shell("printf 'plain' > image", "image")
    either.goes_on()
    [told] = await either.turn()
    assert told == block("image changed on disk since it was read above", "> (binary, 4 bytes)")


async def test_what_was_changed_back_is_not_told(either: Coder) -> None:
    """Where the change had been told, that it is as it was is told once."""
    either.reads("a.py")
    await either.turn()
    either.shell(f"cp a.py kept; {EDIT}; cat kept > a.py", "a.py", "kept")
    either.goes_on()
    assert await either.turn() == []
    either.shell(EDIT, "a.py")
    either.goes_on()
    before = await either.turn()
    either.shell("cat kept > a.py", "a.py")
    either.goes_on()
    after = [*before, block("a.py is on disk again as it was read above")]
    assert await either.turn() == after
    either.goes_on()
    assert await either.turn() == after


async def test_what_had_no_place_yet_is_withdrawn(coder: Coder) -> None:
    """A change that waits for a new message is not told when it is gone before one comes."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT, "a.py")
    assert await coder.turn() == []
    coder.shell("sed -i s/TWO/two/ a.py", "a.py")
    await coder.turn()
    coder.goes_on()
    assert await coder.turn() == []


async def test_what_others_said_of_a_file_is_not_taken_back(coder: Coder) -> None:
    """Only what was told for this reason is: a host may know more."""
    coder.reads("a.py")
    await coder.turn()
    await coder.manager.apply_changes([ContextChange.file_modified("a.py", text="by the host")])
    coder.shell("touch a.py", "a.py")
    coder.goes_on()
    assert await coder.turn() == [block(CHANGED, "> by the host")]


async def test_what_the_agent_wrote_since_takes_nothing_back(coder: Coder) -> None:
    """What somebody else had changed before is as little as it was read above."""
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT, "a.py")
    coder.goes_on()
    told = await coder.turn()
    edits(coder)
    coder.hearing.clear()
    await coder.turn()
    coder.shell("touch a.py", "a.py")
    coder.goes_on()
    assert await coder.turn() == told


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
async def test_nothing_outside_is_followed(either: Coder, path: str) -> None:
    """By whatever way it is named."""
    (either.root / "link.py").symlink_to("../outside.py")
    (either.root / "linked").symlink_to("..")
    outside = either.root.parent / "outside.py"
    either.calls("read_file", CONTENT, path=path.format(outside=outside))
    await either.turn()
    outside.write_text("a secret")
    either.shell("touch a.py", "a.py")
    either.goes_on()
    assert await either.turn() == []


@pytest.mark.parametrize("path", ["src/c.py", "./src/c.py", "src/../src/c.py", "{root}/src/c.py"])
async def test_a_path_is_told_as_the_agent_wrote_it(either: Coder, path: str) -> None:
    """But for dots inside."""
    written = path.format(root=either.root)
    either.calls("read_file", CONTENT, path=written)
    await either.turn()
    either.shell("rm src/c.py", "src/c.py")
    either.goes_on()
    shown = written.replace("./", "").replace("src/.", "")
    assert await either.turn() == [block(f"{shown} was deleted from disk since it was read above")]


async def test_a_root_behind_a_link_is_the_same_folder(root: Path, closed: FileWatch) -> None:
    """Whichever of its names the agent writes."""
    link = root.parent / "link"
    link.symlink_to(root)
    coder = Coder(link, closed)
    for top, path in ((link, "a.py"), (root, "b.py")):
        coder.calls("read_file", CONTENT, path=str(top / path))
    await coder.turn()
    coder.shell("rm a.py b.py")
    coder.goes_on()
    [told] = await coder.turn()
    assert told.count("was deleted") == 2


async def test_of_many_files_each_is_told(coder: Coder) -> None:
    """The first with their diffs; one block has room for all that is said."""
    names = [f"part_{n}.py" for n in range(3 * MOST_DIFFS)]
    for name in names:
        (coder.root / name).write_text(CONTENT)
        coder.reads(name)
    await coder.turn()
    coder.shell("sed -i s/two/TWO/ part_*.py", *names)
    coder.goes_on()
    [told] = await coder.turn()
    assert told.count("changed on disk") == len(names)
    assert told.count("+TWO") == MOST_DIFFS


async def test_a_file_that_keeps_changing_is_told_so_often(coder: Coder) -> None:
    """Then that it does, once, until it is read again."""
    coder.reads("a.py")
    await coder.turn()
    told: list[str] = []
    for n in range(MOST_TOLD + 3):
        coder.shell(f"echo {n} >> a.py", "a.py")
        coder.goes_on()
        told = await coder.turn()
    assert len(told) == MOST_TOLD == len(coder.manager.versions) - 1
    assert [NO_MORE in each for each in told] == [False] * (MOST_TOLD - 1) + [True]
    coder.reads("a.py")
    await coder.turn()
    coder.shell("echo more >> a.py", "a.py")
    coder.goes_on()
    told = await coder.turn()
    assert len(told) == MOST_TOLD + 1
    assert told[-1].endswith("> +more\n]")


async def test_of_a_thousand_files_the_newest_are_followed(closed: FileWatch, root: Path) -> None:
    """However many there are, as many are kept; a turn looks at so many of them, and in the end at all."""
    coder = Coder(root, closed, window_tokens=200_000)
    for n in range(1_000):
        (root / f"{n}.py").write_text(CONTENT)
        coder.reads(f"{n}.py")
    for _ in range(1_000 // MOST_FILES + 2):
        await coder.turn()
    coder.shell("sed -i s/two/TWO/ 0.py 999.py 600.py")
    told: list[str] = []
    for _ in range(MOST_FILES // MOST_LOOKED_AT + 2):
        coder.goes_on()
        told = await coder.turn()
    text = "\n".join(told)
    assert "999.py changed" in text
    assert "600.py changed" in text
    assert "\n0.py changed" not in text


async def test_a_turn_that_does_not_wait_reads_few_files(closed: FileWatch, root: Path) -> None:
    """The others are read in later ones."""
    coder = Coder(root, closed)
    names = [f"part_{n}.py" for n in range(3 * MOST_READ_NOWAIT)]
    for name in names:
        (root / name).write_text(CONTENT)
        coder.reads(name)
    await coder.turn(waits=False)
    for name in names:
        (root / name).write_text("else\n")
    told: list[str] = []
    for _ in range(7):
        coder.goes_on()
        told = await coder.turn(waits=False)
    assert "\n".join(told).count("changed on disk") == MOST_READ_NOWAIT


@pytest.mark.parametrize("change", ["saved", "told before", "loaded"])
async def test_another_process_goes_on(coder: Coder, change: str) -> None:
    """What was to be told is told there, once; what changes from then on as well."""
    coder.reads("a.py")
    await coder.turn()
    if change != "loaded":
        coder.shell(EDIT, "a.py")
        if change == "told before":
            coder.goes_on()
        await coder.turn()
    state = json.loads(json.dumps(coder.manager.save_state()))
    coder.manager = coder.another()
    coder.manager.load_state(state)
    if change == "loaded":
        await coder.turn()
        coder.shell(EDIT, "a.py")
        wait_until(lambda: coder.watch.covers(coder.root / "a.py"), "told")
    coder.goes_on()
    told = await coder.turn()
    assert told == [block(CHANGED, DIFF)]
    coder.shell("touch a.py", "a.py")
    coder.goes_on()
    assert await coder.turn() == told


async def test_what_changed_while_nobody_was_there_is_told(either: Coder) -> None:
    """Between save and load: that it did; what it was, nobody knows any more. It is told once."""
    for path in ("a.py", "b.py"):
        either.reads(path)
    await either.turn()
    state = json.loads(json.dumps(either.manager.save_state()))
    assert "three" not in json.dumps(state["companions"])  # digests, no content
    either.shell(EDIT, "a.py")
    either.manager = either.another()
    either.manager.load_state(state)
    assert either.manager.save_state() == state
    either.goes_on()
    told = [block(CHANGED, "> (what it was is not known any more)")]
    assert await either.turn() == told
    either.goes_on()
    assert await either.turn() == told
    again = either.another()
    again.load_state(json.loads(json.dumps(either.manager.save_state())))
    either.manager = again
    either.goes_on()
    assert await either.turn() == told
    either.shell("sed -i s/two/TWO/ b.py", "b.py")
    either.goes_on()
    assert (await either.turn())[-1] == block(CHANGED.replace("a.py", "b.py"), DIFF)


async def test_what_was_read_since_it_was_saved_is_seen_as_it_is(coder: Coder) -> None:
    """A unit behind the saved ones is read as any other."""
    coder.reads("a.py")
    await coder.turn()
    state = coder.manager.save_state()
    coder.shell(EDIT, "a.py")
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
    coder.shell(EDIT, "a.py")
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
    coder.hearing = Hearing()
    leave = coder.watch.listen(coder.hearing.hear)  # is told after the branch is
    coder.shell(EDIT, "a.py")
    coder.goes_on()
    for manager in (branch, coder.manager):
        assert told_in(await manager.prepare(coder.messages)) == [block(CHANGED, DIFF)]
    leave()


async def test_a_host_that_trims_its_list_hides_nothing(coder: Coder) -> None:
    """What it hands in again was seen when it came first."""
    coder.goes_on()
    coder.reads("a.py")
    await coder.turn()
    coder.shell(EDIT, "a.py")
    del coder.messages[1]
    coder.goes_on()
    assert await coder.turn() == [block(CHANGED, DIFF)]


async def test_a_closed_manager_hears_nothing(coder: Coder) -> None:
    """It still prepares turns."""
    coder.reads("a.py")
    await coder.turn()
    await coder.manager.aclose()
    coder.shell(EDIT, "a.py")
    coder.goes_on()
    assert await coder.turn() == []
    await coder.manager.aclose()


async def test_a_watch_that_does_not_work_is_said_once(
    closed: FileWatch, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """And costs nothing else."""
    coder = Coder(root, closed)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            coder.reads("a.py")
            await coder.turn()
        wait_until(lambda: caplog.records, "warned")
    assert [record.message for record in caplog.records] == [
        "changed files are not told of; they are looked at in turn"
    ]


def test_a_watch_that_ends_is_said_once(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """However many conversations there are; all their files are looked at from then on."""
    with FileWatch(debounce_s=0.02) as watch:
        watch.follow(root)
        files = FollowedFiles(root, watch=watch)
        both = [covered(files) for _ in range(2)]
    for name in NAMES:
        (root / name).write_text("else")
    with caplog.at_level(logging.WARNING):
        for followed in both:
            assert is_busy_after_a_look(followed)
            assert {news.name for news in followed.news()} == set(NAMES)
    assert len(caplog.records) == 1


class Broken(FileWatch):
    """Fails when it is asked."""

    @override
    def covers(self, path: Path) -> bool:
        raise OSError


async def test_a_failure_is_not_the_callers(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is one warning; turns go on."""
    with Broken() as watch, caplog.at_level(logging.WARNING):
        coder = Coder(root, watch)
        for waits in (True, False, True):
            coder.reads("a.py")
            assert await coder.turn(waits=waits) == []
    assert [record.message for record in caplog.records] == [
        "what became of files on disk is not told"
    ]


class Slow(FileWatch):
    """Answers when it is let go."""

    def __init__(self) -> None:
        super().__init__(debounce_s=0.02)
        self.answers = Event()

    @override
    def covers(self, path: Path) -> bool:
        return self.answers.wait() and super().covers(path)


async def test_a_disk_that_hangs_holds_up_no_turn(root: Path) -> None:
    """What is learned when it answers is told in a later one."""
    with Slow() as watch:
        coder = Coder(root, watch)
        coder.reads("a.py")
        assert await coder.turn() == []
        coder.shell(EDIT)
        coder.goes_on()
        assert await coder.turn(waits=False) == []
        watch.answers.set()
        wait_until(lambda: watch.covers(root / "a.py"), "followed")
        told: list[str] = []
        while not told:  # the look that hung comes to its end in its own time
            coder.goes_on()
            told = await coder.turn()
        assert told == [block(CHANGED, DIFF)]


class Counted(FileWatch):
    """Counts what it is asked."""

    asked = 0

    @override
    def covers(self, path: Path) -> bool:
        self.asked += 1
        return super().covers(path)


def covered(files: FollowedFiles) -> Followed:
    """Three files that were seen, and of which each change is told."""
    followed = Followed(files)
    for name in NAMES:
        followed.see(name)
    wait_until(lambda: not is_busy_after_a_look(followed), "covered")
    return followed


def is_busy_after_a_look(followed: Followed) -> bool:
    """Whether there is more to do."""
    followed.look()
    return followed.is_busy


def test_a_quiet_look_asks_of_one_file(root: Path) -> None:
    """However many there are; the others have their turn."""
    with Counted(debounce_s=0.02) as watch:
        watch.follow(root)
        followed = covered(FollowedFiles(root, watch=watch))
        watch.asked = 0
        followed.look()
        assert watch.asked == 1
        assert not followed.is_busy
        os.link(root / "b.py", root.parent / "second")  # by that name it is written to unheard
        wait_until(lambda: is_busy_after_a_look(followed), "no longer covered")


def test_what_is_told_needs_no_look(root: Path, watch: FileWatch) -> None:
    """A folder stands for all below it."""
    followed = covered(FollowedFiles(root, watch=watch))
    (root / "src").rename(root.parent / "gone")
    wait_until(lambda: followed.is_busy, "heard")
    followed.look()
    assert [news.name for news in followed.news()] == ["src/c.py"]
    assert followed.news() == []


def test_a_look_reads_so_many_files(root: Path, closed: FileWatch) -> None:
    """What was seen comes first; the rest has its turn."""
    followed = Followed(FollowedFiles(root, watch=closed))
    for name in NAMES:
        followed.see(name)
    followed.look()
    for name in NAMES:
        (root / name).write_text("else")
    followed.see("a.py")
    found: list[list[str]] = []
    for _ in range(4):
        followed.look(most_read=1)
        found.append([news.name for news in followed.news()])
    assert found == [[], ["b.py"], ["src/c.py"], []]


def test_what_is_seen_again_is_no_news(root: Path, closed: FileWatch) -> None:
    """What was found before does not count, read again or not yet."""
    followed = Followed(FollowedFiles(root, watch=closed))
    followed.see("a.py")
    followed.look()
    (root / "a.py").write_text("else")
    followed.look()
    followed.see("a.py")
    assert followed.news() == []


async def test_nobody_has_to_close_it(coder: Coder) -> None:
    """A manager that is gone is told nothing, and keeps nothing from going."""
    coder.reads("a.py")
    await coder.turn()
    gone = ref(coder.manager)
    coder.manager = coder.another()
    gc.collect()
    assert gone() is None
    coder.shell(EDIT, "a.py")


@pytest.mark.parametrize("path", ["nowhere", "a.py"])
def test_a_root_that_is_no_folder_is_refused(root: Path, path: str) -> None:
    """By name, with the way out."""
    with pytest.raises(ValueError, match=rf"root='.*{path}': give a folder"):
        FollowedFiles(root / path)


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
        files = FollowedFiles(name)
        plain = IncrementalContextManager(config=config, counter=Characters())
        following = IncrementalContextManager(config=config, counter=Characters(), files=files)
        for messages in history:
            assert sent(following, messages) == sent(plain, messages)


def sent(keeper: IncrementalContextManager, messages: list[ChatMessage]) -> object:
    """What a turn gives."""
    try:
        return keeper.prepare_nowait(messages).messages
    except BudgetImpossible as error:
        return str(error)
