"""Versions: what the context was after each change and each compaction, to look at, to compare and to go back to."""

import re
from dataclasses import replace
from typing import cast

import pytest

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.manager.change import ContextChange
from autogen_context.manager.state import dump, load
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.piece import Verbatim
from autogen_context.testing import ChatMessage
from autogen_context.view.conversation import Conversation
from autogen_context.view.decision import Decision, Decisions, Why
from autogen_context.view.versions import Versions
from autogen_context.view.view import ContextView, faults_of
from support.counting import COUNTER
from support.entries import Clock
from support.keeping import manager
from support.saying import asks, says, tells
from support.working import run, text_of


def budget(euros: int) -> ContextChange:
    """What it is."""
    return ContextChange.decision_recorded(f"The budget is {euros} EUR", key="budget")


async def lived(keeper: IncrementalContextManager, steps: int) -> Prepared[ChatMessage]:
    """A conversation in which the budget changes twice."""
    for n in range(1, steps):
        keeper.prepare_nowait(run(n))
        if n in (2, 4):
            await keeper.apply_changes([budget(100 * n)])
    return keeper.prepare_nowait(run(steps))


async def test_every_change_and_every_compaction_makes_one() -> None:
    """With its number, what made it, what is sent then, and when by the clock that was handed in."""
    clock = Clock()
    keeper = manager(clock=clock)
    assert [version.kind for version in keeper.versions] == ["start"]
    clock.now_s = 2_000.0
    turn = await lived(keeper, 21)
    await keeper.apply_changes([budget(1), ContextChange.task_started("x")])
    kinds = [version.kind for version in keeper.versions]
    assert kinds == ["start", "decision recorded", "decision recorded", "compaction", "changes"]
    assert [version.number for version in keeper.versions] == [0, 1, 2, 3, 4]
    assert keeper.versions[1].summary == "decision recorded: The budget is 200 EUR"
    assert keeper.versions[4].summary == "decision recorded: The budget is 1 EUR; task started: x"
    assert keeper.versions[4].tokens == sum(d.tokens_after for d in turn.decisions)
    assert [version.timestamp for version in keeper.versions[:2]] == [1_000.0, 2_000.0]


async def test_a_diff_says_what_is_different() -> None:
    """Units, notices and pins; nothing between a version and itself."""
    keeper = manager()
    await lived(keeper, 21)
    keeper.pin(run(21)[5])
    await keeper.apply_changes([ContextChange.task_started("x")])
    before, after = keeper.diff(1, 4), keeper.diff(4, 1)
    assert before.gone == after.new == ('Decided: "The budget is 200 EUR"',)
    *notices, pin = before.new
    assert notices == ['Decided: "The budget is 400 EUR"', 'Task: "x"']
    assert after.gone == before.new
    assert [(unit.before, unit.after) for unit in before.units] == [
        (unit.after, unit.before) for unit in after.units
    ]
    dropped = next(unit for unit in before.units if unit.start == 2)
    assert re.fullmatch(r"message 2: keep \(409 tokens\) -> drop \(\d+ tokens\)", str(dropped))
    text = str(before)
    assert text.startswith("version 1 -> version 4\n  message 2: keep")
    assert '\n- Decided: "The budget is 200 EUR"\n+ Decided: "The budget is 400 EUR"\n' in text
    assert "… and 1 more units" in text
    assert text.endswith(f"+ {pin}")
    assert pin.startswith("pinned ")
    assert not keeper.diff(3, 3)
    assert str(keeper.diff(3, 3)) == "version 3 -> version 3\n  no difference"


async def test_going_back_is_as_if_nothing_had_been_done_since() -> None:
    """The next turn is that of a manager that never heard of the later change; and one may go forward again."""
    keeper, other = manager(), manager()
    for each in (keeper, other):
        each.prepare_nowait(run(2))
        await each.apply_changes([budget(200)])
    keeper.prepare_nowait(run(4))
    keeper.pin(run(4)[3])
    await keeper.apply_changes([budget(400), ContextChange.task_started("x")])
    assert keeper.prepare_nowait(run(5)).compacted  # F23: the pin has the list written anew
    made = keeper.roll_back(1)
    assert (made.number, made.kind, made.summary) == (4, "roll back", "as in version 1")
    turn, expected = keeper.prepare_nowait(run(6)), other.prepare_nowait(run(6))
    assert turn.messages == expected.messages
    assert keeper.diff(1, 4).new == ()
    keeper.roll_back(2)
    assert "400 EUR" in text_of(keeper.prepare_nowait(run(7)).messages)
    assert keeper.diff(2, keeper.versions[-1].number).new == ()


async def test_what_the_host_took_back_stays_away() -> None:
    """A version from before it truncated or edited its list is gone back to as far as the list is the same."""
    keeper = manager()
    await lived(keeper, 6)
    edited = run(6)
    edited[3] = {**edited[3], "content": "edited"}
    keeper.prepare_nowait(edited)
    keeper.roll_back(2)
    turn = keeper.prepare_nowait(edited)
    assert "edited" in [message["content"] for message in turn.messages]
    assert turn.certificate.pairs_closed
    assert 'Decided: "The budget is 400 EUR"' in text_of(turn.messages)


async def test_as_many_as_are_set_are_kept() -> None:
    """The oldest go first; the error says which there are."""
    versions = Versions(most=3)
    for n in range(7):
        versions = versions.recorded("changes", str(n), ContextView(), at_s=1.0)
    assert [version.number for version in versions] == [4, 5, 6]
    with pytest.raises(ValueError, match="no version 3 is kept, only 4 to 6"):
        versions.view(3)
    assert versions.newest.number == 6
    keeper = manager()
    with pytest.raises(ValueError, match="no version 5 is kept"):
        keeper.roll_back(5)
    for n in range(60):
        await keeper.apply_changes([budget(n)])
    assert [keeper.versions[0].number, keeper.versions[-1].number] == [41, 60]


async def test_a_decision_that_versions_share_is_saved_once() -> None:
    """Beside those of the view, in a state that goes on as it was."""
    keeper = manager()
    await lived(keeper, 60)
    state = load(keeper.save_state())
    own = set(map(id, state.view.decisions))
    others = {id(each) for _, view in state.versions for each in view.decisions} - own
    assert len(others) < sum(len(view.decisions) for _, view in state.versions) / 2
    assert len(cast("list[object]", dump(state)["version_decisions"])) == len(others)
    assert dump(state) == keeper.save_state()


def decided(start: int, stop: int, tokens: int = 1) -> Decision:
    """A unit that stays."""
    pieces = tuple(Verbatim(start=i, stop=i + 1) for i in range(start, stop))
    return Decision(
        start=start,
        stop=stop,
        action="keep",
        why=Why.NEW,
        tokens_before=tokens,
        tokens_after=tokens,
        pieces=pieces,
    )


def test_damage_that_a_state_may_not_show_is_found() -> None:
    """A call without its result, which may be where that is asked for, and sums that do not add up; others: test_state."""
    conversation = Conversation(OpenAIChat(), COUNTER)
    conversation.update([says("task", "user"), asks("1"), tells("1"), says("next", "user")])
    units = [(each.unit, each.tokens) for each in conversation.candidates]
    decisions = [decided(unit.start, unit.stop, tokens) for unit, tokens in units]

    def faults(*, open_pairs: bool = False) -> list[str]:
        view = ContextView(decisions=Decisions(decisions))
        return list(faults_of(view, conversation.messages, open_pairs=open_pairs))

    assert faults() == []
    for alone in decisions[1].pieces:
        decisions[1] = replace(decisions[1], pieces=(alone,))
        assert faults() == ["1 calls or results are sent without their counterpart"]
        assert faults(open_pairs=True) == []
    decisions.pop()  # the last one was read ahead of its turn
    view = ContextView(decisions=Decisions(decisions[:1]))
    view.decisions.tokens += 1
    [counted] = faults_of(view, conversation.messages, open_pairs=False)
    assert counted.endswith(f"{view.tokens} are counted")
