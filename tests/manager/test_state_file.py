"""A state in a file: whole at any time, and the same conversation in another process."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.errors import StateError
from autogen_context.manager.change import ContextChange
from autogen_context.manager.state import SCHEMA, as_bytes, read_state, write_state
from support.forks import ended, forked
from support.keeping import manager
from support.working import run, text_of

HERE = Path(__file__).parent
KILLS = 6


async def lived(keeper: IncrementalContextManager, steps: int) -> None:
    """A conversation with a change in it."""
    for n in range(1, steps):
        keeper.prepare_nowait(run(n))
        if n == 3:
            await keeper.apply_changes([ContextChange.requirement_added("Tests take a minute")])


def names_in(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in folder.iterdir())


async def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    """In a folder that is made for it, for its owner alone, in the place of what was there, and nothing else is left."""
    path, keeper, other = tmp_path / "new" / "agent.json", manager(), manager()
    await lived(keeper, 22)
    path.parent.mkdir()
    path.write_text("something else")
    await keeper.save(path)
    await other.load(str(path))
    assert other.save_state() == keeper.save_state()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert names_in(path.parent) == ["agent.json"]
    await keeper.save(tmp_path / "made" / "agent.json")
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o700


IN_ANOTHER = """
import asyncio, json, sys
sys.path.insert(0, sys.argv[1])
from support.keeping import manager
from support.working import run
async def go_on():
    keeper = manager()
    await keeper.load(sys.argv[2])
    print(json.dumps([keeper.prepare_nowait(run(n)).messages for n in range(20, 26)]))
    await keeper.save(sys.argv[3])
asyncio.run(go_on())
"""


async def test_another_process_goes_on_to_the_byte(tmp_path: Path) -> None:
    """In mid-conversation: what it sends, and what it saves, is what this one would."""
    keeper, path, other = manager(), tmp_path / "a.json", tmp_path / "b.json"
    await lived(keeper, 20)
    await keeper.save(path)
    command = [sys.executable, "-c", IN_ANOTHER, str(HERE.parent), str(path), str(other)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    out, _ = await process.communicate()
    sent = [keeper.prepare_nowait(run(n)).messages for n in range(20, 26)]
    assert json.loads(out) == sent
    assert "Tests take a minute" in text_of(sent[-1])
    assert read_state(other) == json.loads(json.dumps(keeper.save_state()))


def writes_on(path: Path, told: int) -> None:
    """Write one state after the other, and tell of each."""
    for n in count(1):
        write_state(path, {"n": n, "padding": "x" * 300_000})
        os.write(told, b"%d\n" % n)


def test_a_process_that_dies_while_it_writes_leaves_a_whole_file(tmp_path: Path) -> None:
    """The last state that was written, or the one behind it, whenever it is killed."""
    path = tmp_path / "state.json"
    for n in range(KILLS):
        reader, writer = os.pipe()
        pid, _ = forked(partial(writes_on, path, writer))
        os.close(writer)
        with os.fdopen(reader) as told:
            last = told.readline()
            time.sleep(0.001 * n)  # somewhere in the next write, or the one behind it
            os.kill(pid, signal.SIGKILL)
            written = [*map(int, (last + told.read()).split())][-1]
        assert ended(pid) == -signal.SIGKILL
        state = read_state(path)
        assert state["n"] in (written, written + 1)
        assert state["padding"] == "x" * 300_000


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """And nothing beside it."""
    path = tmp_path / "state.json"
    write_state(path, {"n": 1})
    with pytest.raises(TypeError):
        write_state(path, {"n": {1}})
    assert read_state(path) == {"n": 1}
    assert names_in(tmp_path) == ["state.json"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="is a folder; give the path of a file"):
        write_state(tmp_path / "folder", {"n": 2})
    assert names_in(tmp_path) == ["folder", "state.json"]


WHOLE = as_bytes({"schema": 2, "digests": ["00ff"], "text": "é"})


@given(st.integers(0, len(WHOLE) - 2), st.integers(1, 255))
def test_a_damaged_file_is_refused(at: int, flipped: int) -> None:
    """Whatever one byte became: the error says so, or the state is what it was."""
    content = bytearray(WHOLE)
    content[at] ^= flipped
    refuse_or_equal(bytes(content))


def refuse_or_equal(content: bytes) -> None:
    """Read a file with this content."""
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"autogen_context_state_{os.getpid()}.json"  # noqa: S108 - ours alone
    path.write_bytes(content)
    try:
        assert read_state(path) == json.loads(WHOLE)["state"]
    except StateError as error:
        assert str(path) in str(error)  # noqa: PT017 - one of the two
    finally:
        path.unlink()


async def test_what_is_no_state_changes_nothing(tmp_path: Path) -> None:
    """A file that is missing is the system's error; any other content is ours, which names the file."""
    keeper, path = manager(), tmp_path / "state.json"
    await lived(keeper, 3)
    before = keeper.save_state()
    with pytest.raises(FileNotFoundError, match="give the path of a file with a saved state"):
        await keeper.load(path)
    for content in (b"", b"[]", b"\xff\xfe", b"{}", b'{"state": 1, "crc32": 1}', b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(StateError, match=r"state\.json: no state was saved in it"):
            await keeper.load(path)
    write_state(path, {**before, "schema": SCHEMA + 1})
    reads = f"schema {SCHEMA + 1} and this release reads {SCHEMA}"
    with pytest.raises(StateError, match=reads):
        await keeper.load(path)
    assert keeper.save_state() == before
