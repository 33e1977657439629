"""A saved state is read back equal, or refused before anything is changed; in a file it is whole at any time."""

import asyncio
import copy
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded, StateError
from autogen_context.manager.change import ContextChange
from autogen_context.manager.state import (
    SCHEMA,
    State,
    as_bytes,
    dump,
    load,
    read_state,
    write_state,
)
from autogen_context.prioritizer.advice import Advice
from autogen_context.prioritizer.category import BASE_WEIGHTS
from autogen_context.testing import ChatMessage
from autogen_context.view.notice import Notice, PreambleOffer
from autogen_context.view.view import Preamble
from support.forks import ended, forked
from support.keeping import manager
from support.working import run, text_of

CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
HISTORY: list[ChatMessage] = [
    {"role": "user", "content": "the task"},
    *({"role": "assistant", "content": f"{i} " + "x" * 200} for i in range(6)),
    {"role": "tool", "tool_call_id": "nobody", "content": "stray"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "y" * 4_000},
]


ONE_NOTICE = {"topic": "task", "key": "x", "text": "x"}


def state_with(text: str = "y") -> State:
    """A state in which there is something of everything, and this text wherever one may stand."""
    keeper = manager(900)
    history = [*HISTORY[:2], {"role": "user", "content": f"{text} " * 60}, *HISTORY[2:]]
    turn = keeper.prepare_nowait(history)
    keeper.record_usage(turn, prompt_tokens=turn.certificate.counted_tokens + 20)
    keeper.pin(history[5])
    changes = [ContextChange.task_started("x"), ContextChange.requirement_added(f"{text}.")]
    asyncio.run(keeper.apply_changes(changes))
    newer = Notice(topic="project", key=text, text=f"{text} is gone.", detail=text, news=text)
    offer = PreambleOffer(parts=("[A project]", text, "Where."), most_tokens=99, newer=(newer,))
    whole = load(keeper.save_state())
    return replace(
        whole,
        view=replace(whole.view, preamble=Preamble(text=text, offer=offer, is_placed=True)),
        summaries={"key": text},
        advice={"key": Advice(multipliers=dict.fromkeys(BASE_WEIGHTS, 1.0), complexity="low")},
        providers={text: {"knows": text}},
    )


@pytest.mark.parametrize("text", ["y", "", "\ud800", "\udfff\0 \u2028", "[x]\n> y\r", "é" * 300])
def test_what_was_saved_is_loaded(text: str) -> None:
    """Through JSON text, any text included."""
    state = state_with(text)
    loaded = load(json.loads(json.dumps(dump(state))))
    assert loaded == state
    assert dump(loaded) == dump(state)


SAVED = dump(state_with())


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to each value in JSON data."""
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(cast("dict[str | int, object]", value).items())  # JSON
    if isinstance(value, list):
        items = list(enumerate(cast("list[object]", value)))  # JSON
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def damaged(path: tuple[str | int, ...], value: object) -> dict[str, object]:
    """The state with another value at one place; without it, where the value is ``...``."""
    state = copy.deepcopy(SAVED)
    at = cast("dict[str | int, object]", state)  # JSON; where it is a list, an index goes as well
    for key in path[:-1]:
        at = cast("dict[str | int, object]", at[key])
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return state


WRONG = st.sampled_from([..., None, "", "xyz", -1, 0, 7, 10**9, 0.5, float("nan"), float("inf"), True, [], {}, [1], {"a": 1}])  # fmt: skip


@settings(max_examples=250)
@given(st.sampled_from(list(places(SAVED))), WRONG)
def test_damage_is_refused_or_harmless(path: tuple[str | int, ...], value: object) -> None:
    """Whatever one value became: the error changes nothing, or the next turn keeps its promises."""
    keeper = manager(900)
    before = keeper.save_state()
    try:
        keeper.load_state(damaged(path, value))
    except StateError:
        assert keeper.save_state() == before
        return
    try:
        turn = keeper.prepare_nowait(HISTORY)
    except ContextWindowExceeded:
        return
    assert turn.certificate.fits
    assert turn.certificate.newest_present


NO_STATES: list[tuple[object, str]] = [
    ("state", "damaged: expected an object, got str"),
    ({}, "damaged: 'schema' is missing.*; give what save_state"),
    ({**SAVED, "schema": "x"}, "'schema': Input should be a valid int"),
    (
        {**SAVED, "schema": SCHEMA + 1},
        f"schema {SCHEMA + 1} and this release reads 8 to {SCHEMA}; load",
    ),
    ({**SAVED, "schema": 0}, "schema 0 and this release reads"),
]
DECIDED, NOTICES, VERSION = ("view", "decisions"), ("view", "notices"), ("saved_versions", 1)
DAMAGE: list[tuple[tuple[str | int, ...], object, str]] = [
    (("digests",), "ab", "'digests': Input should be a valid tuple"),
    (("digests", 0), "zz", "'digests.0': .*non-hexadecimal"),
    (("digests", 0), 5, "'digests.0': .*hexadecimal"),
    (("digests",), [], "messages are decided, and there are 0"),
    ((*DECIDED, 1, "start"), 2, "the unit at 2 to 2 stands behind 1"),
    ((*DECIDED, 0, "stop"), 0, "at 0 to 0 stands behind 0"),
    ((*DECIDED, 0, "action"), "burn", "action': Input should be 'keep'"),
    ((*DECIDED, 0, "pieces", 0, "stop"), 5, "sends a message of others"),
    ((*DECIDED, 0, "pieces", 0, "start"), 1, "sends a message of others"),
    (("view", "calibration", "lowest_ratio"), 0, "impossible bills or ratios"),
    (("view", "calibration", "steepest"), float("nan"), "a value is not|impossible"),
    (("view", "rewrites"), "7", "a value is not as it was written"),
    (("stranger",), 1, "a value is not as it was written"),
    ((*NOTICES, "due", 0, "topic"), "weather", "topic': Input should be 'task'"),
    ((*NOTICES, "due"), [ONE_NOTICE, ONE_NOTICE], "two notices have the same name"),
    ((*VERSION, "version", "number"), 0, "version 0 after 0"),
    ((*VERSION, "decided", 0, 1), 99, "decisions 0 to 99 of"),
    ((*VERSION, "decided", 0, 0), 1, "the unit at 1 to 2 stands behind 0"),
    (("view", "preamble", "offer", "newer"), [ONE_NOTICE], "a notice that is none of a project"),
    (
        ("advice",),
        {"t": {"multipliers": {"memory": 9.0}, "complexity": "low"}},
        "a value is not as it was written|less than or equal to 4",
    ),
]


@pytest.mark.parametrize(
    ("state", "reason"),
    [*NO_STATES, *((damaged(path, value), reason) for path, value, reason in DAMAGE)],
    ids=[*(row[1] for row in NO_STATES), *(row[2] for row in DAMAGE)],
)
def test_the_error_says_what_is_wrong(state: dict[str, object], reason: str) -> None:
    """With the way out where there is one."""
    with pytest.raises(StateError, match=reason):
        manager(900).load_state(state)


# In a file

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


async def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
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


async def test_no_file_made_beforehand_is_written_to(tmp_path: Path) -> None:
    """What stands under the name of the temporary file, with whatever rights, is put away."""
    keeper, path = manager(), tmp_path / "agent.json"
    await lived(keeper, 4)
    left = tmp_path / f".agent.json.{os.getpid()}-{threading.get_ident()}"
    left.write_text("mine")
    left.chmod(0o666)
    other = tmp_path / "other"
    other.hardlink_to(left)
    write_state(path, keeper.save_state())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert other.read_text() == "mine"


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


def test_what_a_killed_process_left_is_deleted(tmp_path: Path) -> None:
    """With the next state, once nobody can be writing it any more; nothing else is touched, and no link followed."""
    path = tmp_path / "run.json"
    left, written, other = (
        tmp_path / name for name in (".run.json.77-88", ".run.json.78-99", ".run.jsonl.77-88")
    )
    for file in (left, written, other):
        file.write_text("all of a conversation")
    for file in (left, other):
        os.utime(file, (0, 0))
    write_state(path, {"n": 1})
    found = {file.name for file in tmp_path.iterdir()}
    assert found == {path.name, written.name, other.name}


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
    reads = f"schema {SCHEMA + 1} and this release reads 8 to {SCHEMA}"
    with pytest.raises(StateError, match=reads):
        await keeper.load(path)
    assert keeper.save_state() == before
