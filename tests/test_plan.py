"""What each unit becomes: what must stay, then the newest; one cut in one place."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.errors import BudgetImpossible
from autogen_context.pipeline.decision import Candidate, Decision, handle_of
from autogen_context.pipeline.floors import floors_of, satisfied
from autogen_context.pipeline.message import Message
from autogen_context.pipeline.piece import Written, messages_of
from autogen_context.pipeline.plan import PART_SHARE, SPARE_SHARE, notice_of, plan
from autogen_context.pipeline.segment import Unit
from autogen_context.testing.transcripts import transcripts
from support.counting import METER
from support.units import candidates_of, fit, read_all


def planned_or_not(
    candidates: Sequence[Candidate], limit: int, target: int
) -> tuple[Decision, ...] | BudgetImpossible:
    """What is under test."""
    try:
        return plan(
            candidates,
            floors=floors_of(candidates, frozenset()),
            limit_tokens=limit,
            target_tokens=target,
            fit=fit,
            count=METER.message,
        )
    except BudgetImpossible as error:
        return error


CANDIDATES = transcripts().map(read_all).map(candidates_of)
LIMITS = st.integers(0, 1_500)


@settings(max_examples=150)
@given(CANDIDATES, LIMITS, st.floats(0, 1))
def test_a_plan_fits_or_is_impossible(
    candidates: list[Candidate], limit: int, share: float
) -> None:
    """One decision a unit, in order, within the limit, with what must stay; or the floors exceed it."""
    floors = floors_of(candidates, frozenset())
    decisions = planned_or_not(candidates, limit, int(limit * share))
    if isinstance(decisions, BudgetImpossible):
        assert decisions.floor_tokens == sum(candidates[i].tokens for i in floors) > limit
        assert decisions.limit_tokens == limit
        assert set(decisions.parts) == set(floors.values())
        return
    units = [c.unit for c in candidates]
    assert [(d.start, d.stop) for d in decisions] == [(u.start, u.stop) for u in units]
    assert [d.tokens_before for d in decisions] == [c.tokens for c in candidates]
    assert sum(d.tokens_after for d in decisions) <= limit
    tasks = {i for i, floor in floors.items() if floor == "task"}
    assert satisfied(decisions, {i: f for i, f in floors.items() if i not in tasks})
    assert decisions == planned_or_not(candidates, limit, int(limit * share))
    for decision, c in zip(decisions, candidates, strict=True):
        said = messages_of(decision.pieces, [m for u in units for m in u.messages])
        assert decision.tokens_after == sum(map(METER.message, said))
        assert (decision.pieces == c.pieces) == (decision.action in ("keep", "repair"))
        assert bool(decision.handle) == (decision.action in ("shorten", "drop"))


@settings(max_examples=100)
@given(CANDIDATES, LIMITS, st.floats(0, 1))
def test_there_is_one_cut(candidates: list[Candidate], limit: int, share: float) -> None:
    """Beside the floors, what stays is newer than all that goes; at most one unit between is shortened."""
    floors = floors_of(candidates, frozenset())
    decisions = planned_or_not(candidates, limit, int(limit * share))
    if isinstance(decisions, BudgetImpossible):
        return
    rest = [decision.action for i, decision in enumerate(decisions) if i not in floors]
    order = ["drop", "shorten", "keep"]
    assert rest == sorted(rest, key=order.index)
    assert rest.count("shorten") <= 1


@settings(max_examples=100)
@given(CANDIDATES, st.integers(100, 1_500), st.floats(0, 1))
def test_it_cuts_to_the_low_mark(candidates: list[Candidate], limit: int, share: float) -> None:
    """Nothing is left above it but the floors, a small share of what they leave, or the notice."""
    floors, target = floors_of(candidates, frozenset()), int(limit * share)
    decisions = planned_or_not(candidates, limit, target)
    if isinstance(decisions, BudgetImpossible):
        return
    least = sum(decisions[i].tokens_after for i in floors)
    spare = int((limit - least) * SPARE_SHARE)
    notice = sum(d.tokens_after for d in decisions if d.action == "drop")
    assert sum(d.tokens_after for d in decisions) <= max(target, least + max(spare, notice))


@settings(max_examples=100)
@given(CANDIDATES, LIMITS, st.floats(0, 1))
def test_nothing_goes_that_had_room(candidates: list[Candidate], limit: int, share: float) -> None:
    """The newest unit that is not whole would not have fitted beside the newer ones."""
    floors, target = floors_of(candidates, frozenset()), int(limit * share)
    decisions = planned_or_not(candidates, limit, target)
    if isinstance(decisions, BudgetImpossible):
        return
    least = sum(decisions[i].tokens_after for i in floors)
    room = max(target - least, int((limit - least) * SPARE_SHARE))
    room -= METER.message(notice_of(candidates))
    for i in range(len(candidates) - 1, -1, -1):
        if i not in floors:
            room -= candidates[i].tokens
            if decisions[i].action != "keep":
                assert room < 0
                break


def test_floors_are_not_paid_twice() -> None:
    """What must stay takes nothing from the room of what is recent."""
    texts = ["t" * 400, *["x" * 64] * 9, "n" * 400]
    messages = [Message(role="assistant" if i else "user", text=t) for i, t in enumerate(texts)]
    decisions = planned_or_not(candidates_of(messages), 400, 332)
    assert not isinstance(decisions, BudgetImpossible)
    assert [decision.action for decision in decisions].count("keep") == 2 + 5


@pytest.mark.parametrize(
    ("recent", "action"),
    [
        pytest.param(50, "shorten", id="most of the room is left"),
        pytest.param(300, "drop", id="half of it is left"),
    ],
)
def test_a_part_of_a_large_unit(recent: int, action: str) -> None:
    """Where little else is recent, the next unit is worth a part of the room, and some stays free."""
    texts = ["task", "y" * 8_000, "x" * 4 * (recent - 4), "newest"]
    roles = ["user", "assistant", "assistant", "assistant"]
    messages = [Message(role=r, text=t) for r, t in zip(roles, texts, strict=True)]
    decisions = planned_or_not(candidates_of(messages), 1_000, 600)
    assert not isinstance(decisions, BudgetImpossible)
    assert [decision.action for decision in decisions] == ["keep", action, "keep", "keep"]
    room = 600 - recent - 30
    assert decisions[1].tokens_after <= PART_SHARE * room
    assert action == "drop" or decisions[1].tokens_after > PART_SHARE * room * 0.8


@settings(max_examples=100)
@given(CANDIDATES, LIMITS)
def test_one_notice_tells_what_is_missing(candidates: list[Candidate], limit: int) -> None:
    """It stands where the first dropped unit was and costs no more than all of them."""
    decisions = planned_or_not(candidates, limit, limit // 2)
    if isinstance(decisions, BudgetImpossible):
        return
    dropped = [d for d in decisions if d.action == "drop"]
    notices = [d for d in dropped if d.pieces]
    assert notices in ([], dropped[:1])
    gone = [c for c, d in zip(candidates, decisions, strict=True) if d.action == "drop"]
    if notices:
        assert notices[0].pieces == (Written(message=notice_of(gone)),)
        assert notices[0].tokens_after <= sum(d.tokens_before for d in dropped)
    elif dropped:
        room = limit - sum(d.tokens_after for d in decisions)
        assert METER.message(notice_of(gone)) > min(room, sum(d.tokens_before for d in dropped))


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.integers(0, 9))
def test_a_handle_stands_for_the_content(texts: list[str], start: int) -> None:
    """The same messages have the same handle wherever they stand; others have another."""
    said = tuple(Message(role="user", text=text) for text in texts)
    unit, other = Unit(start=0, messages=said), Unit(start=0, messages=(*said, said[0]))
    assert handle_of(unit) == handle_of(Unit(start=start, messages=unit.messages))
    assert handle_of(unit) != handle_of(other)
