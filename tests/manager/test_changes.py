"""What a host tells beside its messages is told to the model once, and again after each compaction, in its newest form."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.errors import ChangeRefused
from autogen_context.manager.change import ChangeType, ContextChange
from autogen_context.messages.message import Message
from autogen_context.testing import ChatMessage
from autogen_context.view.notice import Notice, Notices
from support.keeping import TOLD, manager, told_in
from support.saying import says
from support.working import run, text_of

BUDGET = ContextChange.requirement_added("The budget is 500 EUR", key="budget")


def until_compacted(keeper: IncrementalContextManager, steps: int) -> Prepared[ChatMessage]:
    """The first turn that compacts, after so many steps."""
    for n in range(steps, 60):
        turn = keeper.prepare_nowait(run(n))
        if turn.compacted:
            return turn
    raise AssertionError


def lived(
    keeper: IncrementalContextManager, stop: int, said: dict[int, str], *, start: int = 1
) -> Prepared[ChatMessage]:
    """The last of the turns from one step to another."""
    turns = [keeper.prepare_nowait(run(n, said)) for n in range(start, stop)]
    return turns[-1]


async def test_a_requirement_is_told_once_and_again_after_a_compaction() -> None:
    """In front of the newest unit; turns in between add nothing; a changed one is told in its newest form alone."""
    keeper = manager()
    keeper.prepare_nowait(run(3))
    await keeper.apply_changes([BUDGET])
    turn = keeper.prepare_nowait(run(4))
    assert told_in(turn) == [f'{TOLD}\nNew requirement: "The budget is 500 EUR"\n]']
    assert str(turn.messages[-3]["content"]) in told_in(turn)
    assert told_in(keeper.prepare_nowait(run(5))) == told_in(turn)
    changed = ContextChange.requirement_changed("The budget is 700 EUR", key="budget")
    await keeper.apply_changes([changed])
    news = 'Requirement changed: "The budget is 700 EUR" (before: "The budget is 500 EUR")'
    assert told_in(keeper.prepare_nowait(run(6)))[1:] == [f"{TOLD}\n{news}\n]"]
    assert told_in(until_compacted(keeper, 7)) == [
        f'{TOLD}\nRequirement: "The budget is 700 EUR"\n]'
    ]


@pytest.mark.parametrize("steps", range(16, 20))
async def test_room_is_made_for_what_is_told(steps: int) -> None:
    """A long requirement is told in the next turn, however full the window is."""
    keeper = manager(compact_at_fraction=0.97)
    for n in range(1, steps):
        keeper.prepare_nowait(run(n))
    await keeper.apply_changes([ContextChange.requirement_added("y" * 2_000)])
    assert told_in(keeper.prepare_nowait(run(steps)))


async def test_a_removed_requirement_is_taken_back() -> None:
    """Told as no longer holding where it was told, never where it was not; after a compaction nothing is said of it."""
    keeper = manager()
    keeper.prepare_nowait(run(3))
    await keeper.apply_changes([BUDGET])
    keeper.prepare_nowait(run(4))
    await keeper.apply_changes([ContextChange.requirement_removed("budget")])
    taken_back = told_in(keeper.prepare_nowait(run(5)))[1:]
    assert taken_back == [f'{TOLD}\nThis requirement no longer holds: "The budget is 500 EUR"\n]']
    assert told_in(until_compacted(keeper, 6)) == []
    quiet = manager()
    await quiet.apply_changes([BUDGET, ContextChange.requirement_removed("budget")])
    assert told_in(quiet.prepare_nowait(run(4))) == []


@pytest.mark.parametrize(
    ("said", "before", "is_told"),
    [
        pytest.param("The budget is now 900 EUR.", False, False, id="another, later"),
        pytest.param("The launch is on May 3.", False, True, id="something else, later"),
        pytest.param("The budget is 900 EUR.", True, True, id="another, before"),
        pytest.param("The budget is 500 EUR.", True, True, id="the same, before"),
    ],
)
async def test_of_two_statements_about_the_same_the_later_one_holds(
    said: str, *, before: bool, is_told: bool
) -> None:
    """After a compaction a requirement that a person overruled is told no more, nor is what it overruled."""
    keeper = manager()
    if before:
        lived(keeper, 4, {1: said})
    await keeper.apply_changes([BUDGET])
    turn = lived(keeper, 40, {1: said}, start=4 if before else 1)
    assert any("The budget is 500 EUR" in text for text in told_in(turn)) is is_told
    notices = text_of([m for m in turn.messages if str(m["content"]).startswith("[")])
    assert "900 EUR" not in notices
    assert notices.count("500 EUR") == is_told


async def test_a_task_stays_until_it_ends() -> None:
    """Told after every compaction while it is open; then its outcome is."""
    keeper = manager()
    await keeper.apply_changes([ContextChange.task_started("Port the router", key="T1")])
    for _ in range(2):
        assert 'Task: "Port the router"' in told_in(until_compacted(keeper, 4))[0]
    ended = ContextChange.task_completed("T1", text="it takes 3 ms")
    await keeper.apply_changes([ended])
    turn = until_compacted(keeper, 50)
    outcome = 'Task completed: "Port the router". Outcome: "it takes 3 ms"'
    assert told_in(turn) == [f"{TOLD}\n{outcome}\n]"]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param(
            ContextChange.file_modified("src/part_1.py"),
            "src/part_1.py changed on disk since it was read above",
            id="modified",
        ),
        pytest.param(
            ContextChange.file_modified("/home/me/repo/src/part_1.py", text="-a\n+b]"),
            "/home/me/repo/src/part_1.py changed on disk since it was read above\n> -a\n> +b]",
            id="from the root, with a diff",
        ),
        pytest.param(
            ContextChange.file_deleted("./src/../src/part_1.py"),
            "./src/../src/part_1.py was deleted from disk since it was read above",
            id="deleted",
        ),
        pytest.param(
            ContextChange.file_created("src/part_1.py"),
            "src/part_1.py was created on disk since it was looked for above",
            id="created",
        ),
        pytest.param(
            ContextChange.file_moved("src/part_1.py", "src/part_2.py"),
            "src/part_1.py was moved to src/part_2.py since it was read above\n"
            "src/part_2.py changed on disk since it was read above",
            id="moved over another",
        ),
        pytest.param(ContextChange.file_modified("part_1.py"), "", id="another folder's"),
        pytest.param(ContextChange.file_modified("lib/src/part_1.py"), "", id="another root's"),
        pytest.param(ContextChange.file_modified("src/part_9.py"), "", id="never read"),
    ],
)
async def test_a_file_that_the_context_shows_is_said_to_have_changed(
    change: ContextChange, line: str
) -> None:
    """What it does not show is not spoken of."""
    keeper = manager()
    keeper.prepare_nowait(run(3))
    await keeper.apply_changes([change])
    assert told_in(keeper.prepare_nowait(run(4))) == ([f"{TOLD}\n{line}\n]"] if line else [])


async def test_a_compaction_takes_old_text_of_a_file_out_first() -> None:
    """Of two files alike the one that changed on disk keeps less; what was said of it goes where it is gone."""
    stays: dict[int, dict[int, int]] = {}
    for changed in (5, 6):
        keeper = manager()
        keeper.prepare_nowait(run(9))
        await keeper.apply_changes([ContextChange.file_modified(f"src/part_{changed}.py")])
        turn = until_compacted(keeper, 10)
        units = {d.start: d for d in turn.decisions}
        unit = units[2 * changed + 2]
        assert bool(told_in(turn)) is (unit.action != "drop")
        stays[changed] = {
            n: 0 if units[2 * n + 2].action == "drop" else units[2 * n + 2].tokens_after
            for n in (5, 6)
        }
    assert stays[5][5] < stays[6][5]
    assert stays[6][6] < stays[5][6]


@pytest.mark.parametrize("role", ["user", "system"])
@pytest.mark.parametrize("size", [10, 20_000])
async def test_what_is_told_never_makes_a_request_impossible(size: int, role: str) -> None:
    """In a window that is full of what must stay, and for what is larger than any window.

    Nor does it add many compactions: such a window is cut every other turn with nothing told.
    """
    keeper = manager(400)
    task = says("the task " + "x" * (1_250 if role == "user" else 1_280), role)
    await keeper.apply_changes([ContextChange.requirement_added("y" * size)])
    messages: list[ChatMessage] = [task]
    compacted = 0
    for n in range(30):
        messages.append(says(f"{n} " + "z" * 20, "assistant"))
        turn = keeper.prepare_nowait(messages)
        assert turn.certificate.fits
        compacted += turn.compacted
    assert compacted <= 20


REFUSED: list[tuple[list[ContextChange], str]] = [
    ([ContextChange.requirement_changed("x", key="budget")], r"no requirement 'budget' is known \(known: none\); add it first"),
    ([ContextChange.requirement_removed("budget")], "no requirement 'budget' is known"),
    ([BUDGET, BUDGET], "change 2 .requirement added: The budget is 500 EUR.: the requirement 'budget' is known already"),
    ([ContextChange.task_completed("T1")], "no task 'T1' is known .known: none.; start it first"),
    ([ContextChange.task_failed("T1")], "no task 'T1' is known"),
    ([ContextChange.task_started("x"), ContextChange.task_started("x")], "the task 'x' is open already"),
    ([ContextChange.message_added(says("ok")), ContextChange.task_failed("T1")], "change 2 .task failed: T1.: no task 'T1' is known"),
    ([BUDGET, ContextChange.message_added({"content": 3})], "change 2 .message added."),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "reason"), REFUSED)
async def test_a_change_that_makes_no_sense_is_refused_with_all_others(
    changes: list[ContextChange], reason: str
) -> None:
    """The error names it and the way out; everything is as before."""
    keeper = manager()
    keeper.prepare_nowait(run(3))
    before = keeper.save_state()
    with pytest.raises(ChangeRefused, match=reason) as refused:
        await keeper.apply_changes([ContextChange.file_modified("src/part_1.py"), *changes])
    assert refused.value.index == len(changes)
    assert "nothing was applied" in str(refused.value)
    assert keeper.save_state() == before
    assert told_in(keeper.prepare_nowait(run(4))) == []


async def test_an_orphan_is_refused_where_the_hosts_would_be() -> None:
    """And with it what came before it."""
    keeper, fresh = manager(orphans="refuse"), manager(orphans="refuse")
    for each in (keeper, fresh):
        each.prepare_nowait(run(3))
    stray = {"role": "tool", "tool_call_id": "nobody", "content": "x"}
    before = keeper.save_state()
    changes = [
        BUDGET,
        ContextChange.message_added(says("ok", "user")),
        ContextChange.message_added(stray),
    ]
    with pytest.raises(ChangeRefused, match="a tool result without its call") as refused:
        await keeper.apply_changes(changes)
    assert refused.value.index == 2
    assert keeper.save_state() == before
    assert keeper.prepare_nowait(run(4)) == fresh.prepare_nowait(run(4))


async def test_a_message_needs_those_before_it() -> None:
    """A loaded state does not have the host's messages: they are handed in first."""
    keeper, other = manager(), manager()
    keeper.prepare_nowait(run(3))
    other.load_state(keeper.save_state())
    with pytest.raises(ChangeRefused, match="were not handed in yet; prepare or observe them"):
        await other.apply_changes([ContextChange.message_added(says("ok", "user"))])
    other.observe(run(3))
    await other.apply_changes([ContextChange.message_added(says("ok", "user"))])


async def test_the_result_says_what_the_context_is() -> None:
    """Its version, its messages with what is due behind them, the changes, and the time of the clock handed in."""
    keeper = manager()
    keeper.prepare_nowait(run(2))
    updated = await keeper.apply_changes([BUDGET])
    assert updated.version == keeper.versions[-1].number == 1
    assert [message.text[:20] for message in updated.context[:2]] == [
        "You code.",
        "Make the service fas",
    ]
    assert updated.context[-1] == Message(
        role="user", text=f'{TOLD}\nNew requirement: "The budget is 500 EUR"\n]', own=True
    )
    assert (updated.changes_applied, updated.timestamp) == ((BUDGET,), 1_000.0)
    assert updated.context_id == keeper.save_state()["context_id"]
    assert manager(tenant="other").save_state()["context_id"] != updated.context_id


WRONG: list[tuple[Callable[[], ContextChange], str]] = [
    (lambda: ContextChange.file_modified(""), "key='' of a change 'file modified': give the path"),
    (lambda: ContextChange.file_moved("a", " "), "moved_to=' ' of a change 'file moved': give the path that the file has now"),
    (lambda: ContextChange.requirement_added(" \n"), r"text=' \\n' of a change 'requirement added': give what is to be known"),
    (lambda: ContextChange.requirement_changed("x", key=""), "key='' of a change 'requirement changed'"),
    (lambda: ContextChange.task_started(""), "text=''"),
    (lambda: ContextChange.message_added(None), "message of a change 'message added': give the host's message"),
    (lambda: ContextChange(type=ChangeType.TASK_FAILED, key="x", message={}), "'task failed': leave it out"),
    (lambda: ContextChange(type=cast("ChangeType", "file changed")), "type='file changed' of a change: give one of 'file modified',"),
    (lambda: ContextChange.file_modified(cast("str", 3)), "key=3 of a change 'file modified': give a text"),
    (lambda: ContextChange(type=ChangeType.TASK_FAILED, key="x", moved_to="y"), "moved_to='y' of a change 'task failed': leave it out"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "reason"), WRONG)
def test_a_wrong_change_cannot_be_made(make: Callable[[], ContextChange], reason: str) -> None:
    """The error names the field, and what to give."""
    with pytest.raises(ValueError, match=reason):
        make()


@pytest.mark.parametrize("named", list(ChangeType), ids=str)
def test_a_type_may_be_written_as_a_name(named: ChangeType) -> None:
    """In letters of any case, and with what stands between the words in names."""
    assert {ChangeType(name) for name in (named, named.name, named.name.lower())} == {named}


NEWEST = Notice(topic="task", key="newest", text="newest")


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["put", "gone", "told", "anew"])))
)
def test_what_holds_is_in_sight_or_due(steps: Sequence[tuple[str, str]]) -> None:
    """Whatever happens: nothing that holds is neither told nor to be told, and nothing is taken back that was not told."""
    notices = Notices()
    for n, (key, what) in enumerate(steps):
        if what == "put":
            notices = notices.put(Notice(topic="requirement", key=key, text=f"{key} {n}"))
        if what == "gone":
            notices = notices.withdraw(("requirement", key), f"{key} is gone")
        if what == "told":
            notices = notices.after_sending(frozenset({("requirement", key)}))
        if what == "anew":
            notices = notices.anew()
        due = {notice.name for notice in notices.due}
        assert {notice.name for notice in notices.in_force} <= due | notices.in_sight
        assert not replace(notices, waits=True).put(NEWEST).waits
        for notice in notices.due:
            assert notice in notices.in_force or notice.name in notices.in_sight
    assert len({notice.name for notice in notices.due}) == len(notices.due)


WITHOUT_TOKENIZER = """
import asyncio, sys
sys.modules["bpe_openai"] = None
from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.manager.change import ContextChange
config = ContextConfig(model="gpt-4o", window_tokens=5_000, tokenizer_timeout_s=0)
manager, said = IncrementalContextManager(config=config), {"role": "user", "content": "a"}
print(manager.prepare_nowait([said]).certificate.bound.source)
updated = asyncio.run(manager.apply_changes([ContextChange.message_added({**said, "content": "b"})]))
print(*(message.text for message in updated.context))
"""


def test_a_tokenizer_that_is_awaited_takes_no_message_away(tmp_path: Path) -> None:
    """Where the first turn did not wait for it, the first change does; the messages of that turn are still known."""
    env = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", WITHOUT_TOKENIZER]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert done.stdout.split() == ["estimate", "a", "b"]


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "changes.md"


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program and prints what stands below it, but for what depends on the tokenizer at hand."""
    text = GUIDE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    [shown] = re.findall(r"```\n(\[Added.*?)```", text, re.DOTALL)
    tokens = re.compile(r"\d+ tokens")
    assert tokens.sub("", capsys.readouterr().out) == tokens.sub("", shown)
