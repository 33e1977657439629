"""What each unit becomes: what must stay, then the newest, cut once in one place."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.errors import BudgetImpossible
from autogen_context.pipeline.decision import Action, Candidate, Decision, handle_of, replaced
from autogen_context.pipeline.fit import fit_pieces
from autogen_context.pipeline.floors import Floor, FloorPlan, floors_of, satisfied
from autogen_context.pipeline.measure import Count, Meter, Overheads
from autogen_context.pipeline.message import Message, ToolCall, ToolResult, content_digest
from autogen_context.pipeline.openai_chat import OpenAIChat
from autogen_context.pipeline.piece import Piece, Written, messages_of
from autogen_context.pipeline.plan import SPARE_SHARE, notice_of, plan
from autogen_context.pipeline.repair import repaired
from autogen_context.pipeline.segment import Unit, segment
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts


class Characters:
    """Four characters a token, rounded up."""

    def count(self, text: str, /) -> Count:
        return Count(tokens=-(-len(text) // 4), source="tokenizer")


METER = Meter(
    Characters(),
    Overheads(
        per_message=4,
        per_name=1,
        per_request=3,
        per_call=3,
        per_result=2,
        image_tokens=lambda _: 85,
    ),
)


def candidates_of(messages: Sequence[Message]) -> list[Candidate]:
    units = segment(messages)
    return [candidate(unit, messages, last=unit is units[-1]) for unit in units]


def candidate(unit: Unit, messages: Sequence[Message], *, last: bool) -> Candidate:
    pieces = repaired(unit, last=last)
    tokens = sum(map(METER.message, messages_of(pieces, messages)))
    return Candidate(unit=unit, pieces=pieces, tokens=tokens)


def fit(candidate: Candidate, room: int) -> tuple[tuple[Piece, ...], int] | None:
    unit = candidate.unit
    pending = bool(unit.unanswered)
    return fit_pieces(
        candidate.pieces, unit.messages, room_tokens=room, meter=METER, keep_calls=pending
    )


def planned(
    candidates: Sequence[Candidate],
    limit: int,
    target: int,
    pinned: frozenset[bytes] = frozenset(),
) -> tuple[Decision, ...]:
    return plan(
        candidates,
        floors=floors_of(candidates, pinned),
        limit_tokens=limit,
        target_tokens=target,
        fit=fit,
        count=METER.message,
    )


def read_all(payloads: list[ChatMessage]) -> list[Candidate]:
    return candidates_of([OpenAIChat().read(payload) for payload in payloads])


CANDIDATES = transcripts().map(read_all)
LIMITS = st.integers(0, 1_500)


def message(role: str, text: str, arguments: str = "") -> Message:
    calls = (ToolCall(id="1", name="f", arguments=arguments),) if arguments else ()
    return Message(role=role, text=text, calls=calls, digest=content_digest(role, text))


SYSTEM, PERSON, ANSWER = message("system", "s"), message("user", "p"), message("assistant", "a")
CALLS = message("assistant", "c", "{}")


@settings(max_examples=150)
@given(CANDIDATES, LIMITS, st.floats(0, 1))
def test_a_plan_fits_or_is_impossible(
    candidates: list[Candidate], limit: int, share: float
) -> None:
    """One decision a unit, in order, within the limit, with what must stay; or the floors exceed it."""
    floors = floors_of(candidates, frozenset())
    try:
        decisions = planned(candidates, limit, int(limit * share))
    except BudgetImpossible as error:
        assert error.floor_tokens == sum(candidates[i].tokens for i in floors) > limit
        assert error.limit_tokens == limit
        assert set(error.parts) == set(floors.values())
        return
    units = [c.unit for c in candidates]
    assert [(d.start, d.stop) for d in decisions] == [(u.start, u.stop) for u in units]
    assert [d.tokens_before for d in decisions] == [c.tokens for c in candidates]
    assert sum(d.tokens_after for d in decisions) <= limit
    tasks = {i for i, floor in floors.items() if floor == "task"}
    assert satisfied(decisions, {i: f for i, f in floors.items() if i not in tasks})
    assert decisions == planned(candidates, limit, int(limit * share))
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
    try:
        decisions = planned(candidates, limit, int(limit * share))
    except BudgetImpossible:
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
    try:
        decisions = planned(candidates, limit, target)
    except BudgetImpossible:
        return
    least = sum(decisions[i].tokens_after for i in floors)
    spare = int((limit - least) * SPARE_SHARE)
    notice = sum(d.tokens_after for d in decisions if d.action == "drop")
    assert sum(d.tokens_after for d in decisions) <= max(target, least + max(spare, notice))


@settings(max_examples=100)
@given(CANDIDATES, LIMITS)
def test_one_notice_tells_what_is_missing(candidates: list[Candidate], limit: int) -> None:
    """It stands where the first dropped unit was and costs no more than all of them."""
    try:
        decisions = planned(candidates, limit, limit // 2)
    except BudgetImpossible:
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


@pytest.mark.parametrize(
    ("messages", "floors"),
    [
        pytest.param([], {}, id="nothing"),
        pytest.param([SYSTEM], {0: "system"}, id="only a system prompt"),
        pytest.param(
            [SYSTEM, SYSTEM, PERSON, ANSWER],
            {0: "system", 1: "system", 2: "task", 3: "newest"},
            id="all that leads",
        ),
        pytest.param(
            [PERSON, SYSTEM, ANSWER], {0: "task", 2: "newest"}, id="not a later system message"
        ),
        pytest.param(
            [PERSON, ANSWER, PERSON, ANSWER, PERSON, ANSWER],
            {0: "task", 4: "task", 5: "newest"},
            id="first and latest task",
        ),
        pytest.param([PERSON], {0: "newest"}, id="the newest is the task"),
        pytest.param([PERSON, CALLS], {0: "task", 1: "pending"}, id="a call that waits"),
        pytest.param([ANSWER, ANSWER], {1: "newest"}, id="nobody asked"),
    ],
)
def test_what_must_stay(messages: list[Message], floors: dict[int, str]) -> None:
    """Leading system messages, the tasks, and the newest unit."""
    assert floors_of(candidates_of(messages), frozenset()) == floors


def test_a_pin_is_stronger_than_a_task_and_weaker_than_the_system_prompt() -> None:
    """Of two reasons to stay the stronger one is told; one pinned message pins its unit."""
    result = Message(
        role="tool", results=(ToolResult(call_id="1", text="r"),), digest=content_digest("r")
    )
    candidates = candidates_of([SYSTEM, PERSON, CALLS, result, ANSWER])
    pinned = frozenset({SYSTEM.digest, PERSON.digest, result.digest})
    assert floors_of(candidates, pinned) == {
        0: "system",
        1: "pinned",
        2: "pinned",
        3: "newest",
    }


@pytest.mark.parametrize(
    ("action", "floor", "holds"),
    [
        ("keep", "system", True),
        ("repair", "pinned", True),
        ("shorten", "newest", True),
        ("shorten", "pending", True),
        ("shorten", "task", True),
        ("shorten", "pinned", False),
        ("shorten", "system", False),
        ("drop", "task", False),
    ],
)
def test_what_satisfies_a_floor(*, action: Action, floor: Floor, holds: bool) -> None:
    """Verbatim ones are kept; the others may be shortened; none may be dropped."""
    [person] = candidates_of([PERSON])
    decision = replaced(person, action, "", (), 0)
    assert satisfied([decision], {0: floor}) is holds
    assert satisfied([decision], {})


TASK, STEP = message("user", "t" * 4_000), message("assistant", "n" * 4_000)


@pytest.mark.parametrize(
    ("limit", "actions"),
    [
        pytest.param(2_008, ["keep", "keep"], id="both whole"),
        pytest.param(2_007, ["shorten", "keep"], id="the task gives first"),
        pytest.param(1_500, ["shorten", "shorten"], id="then both"),
        pytest.param(300, ["shorten", "shorten"], id="a little of the task"),
        pytest.param(280, [None, "shorten"], id="no task at all"),
        pytest.param(24, [None, "shorten"], id="the least"),
    ],
)
def test_who_gives_first(limit: int, actions: list[str | None]) -> None:
    """The task before the newest unit, which has a least of its own."""
    candidates = candidates_of([TASK, STEP])
    chosen = FloorPlan(
        candidates=candidates,
        floors=floors_of(candidates, frozenset()),
        limit_tokens=limit,
        fit=fit,
    ).choose()
    found = [chosen[i].action if i in chosen else None for i in range(2)]
    assert found == actions
    assert sum(d.tokens_after for d in chosen.values()) <= limit


@pytest.mark.parametrize(
    ("messages", "limit", "pinned"),
    [
        pytest.param([], -1, frozenset[bytes](), id="nothing at all"),
        pytest.param([TASK, STEP], 23, frozenset[bytes](), id="no stub of the newest"),
        pytest.param([TASK, STEP], 1_000, frozenset({TASK.digest}), id="a pin"),
        pytest.param([TASK, STEP], 1_020, frozenset({TASK.digest}), id="a pin and no stub"),
        pytest.param([TASK, STEP], 1_000, frozenset({STEP.digest}), id="the newest is pinned"),
        pytest.param(
            [PERSON, message("assistant", "x", "y" * 900)],
            99,
            frozenset[bytes](),
            id="a call that waits",
        ),
    ],
)
def test_what_is_impossible(messages: list[Message], limit: int, pinned: frozenset[bytes]) -> None:
    """The error tells what each floor needs."""
    candidates = candidates_of(messages)
    floors = floors_of(candidates, pinned)
    with pytest.raises(BudgetImpossible) as caught:
        planned(candidates, limit, limit, pinned)
    for floor in set(floors.values()):
        whole = sum(c.tokens for i, c in enumerate(candidates) if floors.get(i) == floor)
        assert caught.value.parts[floor] == whole


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.integers(0, 9))
def test_a_handle_stands_for_the_content(texts: list[str], start: int) -> None:
    """The same messages have the same handle wherever they stand; others have another."""
    unit = Unit(start=0, messages=tuple(message("user", text) for text in texts))
    other = Unit(start=0, messages=(*unit.messages, message("user", texts[0])))
    assert handle_of(unit) == handle_of(Unit(start=start, messages=unit.messages))
    assert handle_of(unit) != handle_of(other)
