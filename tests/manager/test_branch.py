"""A branch goes on from where its conversation is, and neither sees what becomes of the other."""

from pathlib import Path

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import OriginalNotFound
from autogen_context.manager.change import ContextChange
from support.counting import Characters
from support.keeping import manager
from support.prompts import client
from support.saying import says
from support.working import Summarising, run


async def test_neither_sees_what_becomes_of_the_other() -> None:
    """Pins, changes, versions, bills, the stash and the conversation itself."""
    keeper = manager()
    await keeper.apply_changes([ContextChange.task_started("Make it fast", key="T1")])
    for n in range(1, 22):
        keeper.prepare_nowait(run(n))
    keeper.pin(run(21)[3])
    other, before = keeper.branch(), keeper.save_state()
    await other.apply_changes([ContextChange.task_failed("T1")])
    other.unpin(run(21)[3])
    other.pin(run(21)[4])
    billed = other.prepare_nowait([*run(21), says("Now something else.", "user")])
    other.record_usage(billed, prompt_tokens=billed.certificate.counted_tokens + 300)
    for n in range(22, 40):
        other.prepare_nowait(run(n))
    assert keeper.save_state() == before
    there = other.save_state()
    keeper.prepare_nowait(run(23))
    await keeper.apply_changes([ContextChange.task_completed("T1")])
    assert other.save_state() == there


def test_each_branch_has_a_name_of_its_own() -> None:
    """The same names in every process."""
    keeper, again = manager(), manager()
    others = [keeper.branch(), keeper.branch()]
    others.append(others[0].branch())
    ids = [each.save_state()["context_id"] for each in (keeper, *others)]
    assert len(set(ids)) == 4
    assert again.branch().save_state()["context_id"] == ids[1]


async def test_a_branch_is_made_of_the_same_parts() -> None:
    """Its summariser, its tool to ask back, and what of the window a server said."""
    summarising = Summarising()
    config = ContextConfig(window_tokens=6_000, summary_timeout_s=30)
    keeper = IncrementalContextManager(
        config=config, counter=Characters(), model_client=client(summarising)
    )
    tools: list[dict[str, object]] = [
        {"type": "function", "function": {"name": "recall_context", "parameters": {}}}
    ]
    await keeper.prepare(run(3), tools)
    other = keeper.branch()
    large = "\n".join(f"line {n} of a result that nobody asked for" for n in range(900))
    read = [*run(3), run(4)[-2], {**run(4)[-1], "content": large}]
    for each in (keeper, other):
        each.observe(read)
    assert other.prepare_nowait(read, tools) == keeper.prepare_nowait(read, tools)
    assert other.save_state().get("originals") == keeper.save_state().get("originals")
    asked = len(summarising.asked)
    for n in range(4, 40):
        await other.prepare(run(n), tools)
    assert len(summarising.asked) > asked
    await other.aclose()
    await keeper.aclose()


def test_what_is_edited_in_a_branch_is_in_its_parent(tmp_path: Path) -> None:
    """The parent recalls each of its originals from the folder, also when the branch began a new list; ``forget`` is for both."""
    keeper = manager(3_000, originals_directory=str(tmp_path), originals_bytes=0)
    messages = run(30)
    handles = [d.handle for d in keeper.prepare_nowait(messages).decisions if d.handle]
    first = next(d for d in keeper.prepare_nowait(messages).decisions if d.handle)
    assert len(handles) > 5
    edited, anew = keeper.branch(), keeper.branch()
    edited.prepare_nowait([*messages[: first.start], *messages[first.stop :]])
    anew.prepare_nowait([messages[0], says("All anew.", "user")])
    assert all(map(keeper.recall, handles))
    for branch in (edited, anew):
        with pytest.raises(OriginalNotFound):
            branch.recall(first.handle)
    keeper.branch().forget(handle=handles[1])
    with pytest.raises(OriginalNotFound):
        keeper.recall(handles[1])
