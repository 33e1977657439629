"""What each unit becomes: what must stay, then the newest, then what older ones have that is worth most."""

import json
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.budget.policy import CompactionBudget
from autogen_context.errors import ContextWindowExceeded
from autogen_context.manager.compaction import FRAME, Fill, Means, notice_of, plan
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.piece import Written, messages_of
from autogen_context.messages.segment import Unit
from autogen_context.prioritizer.prioritizer import Need, ValueScores
from autogen_context.prioritizer.references import References
from autogen_context.prioritizer.selection import BlockSelector
from autogen_context.testing.transcripts import transcripts
from autogen_context.view.decision import Candidate, Decision, handle_of, kept
from autogen_context.view.protected import protected_of, satisfied
from support.counting import COUNTER
from support.units import candidates_of, fit, read_all, voices_of

TOLD = "- read a.py\n" * 999


def planned_or_not(
    candidates: Sequence[Candidate], budget: CompactionBudget
) -> tuple[Decision, ...] | ContextWindowExceeded:
    """What is under test."""
    try:
        decided = plan(
            candidates,
            compared=range(len(candidates)),
            history_tokens=sum(candidate.tokens for candidate in candidates),
            protected=protected_of(candidates, frozenset(), voices_of(candidates)),
            limit_tokens=budget.total_tokens,
            budget=budget,
            means=Means(
                fit=fit,
                fill=filling(candidates, budget),
                tell=lambda _, room_tokens: TOLD[: 4 * room_tokens],
                count=COUNTER.message,
            ),
        )
        return tuple(decided[i] for i in range(len(candidates)))
    except ContextWindowExceeded as error:
        return error


def notice(gone: Sequence[Candidate], told: str = "") -> Message:
    """What stands where these were left out."""
    messages = sum(len(candidate.unit.messages) for candidate in gone)
    return notice_of(messages, sum(candidate.tokens for candidate in gone), told)


def filling(candidates: Sequence[Candidate], budget: CompactionBudget) -> Fill:
    """Fills as a session does."""
    references = References()
    references.follow(candidates)
    references.cut(range(len(candidates)))
    scores = ValueScores(references, Need(room_tokens=budget.total_tokens), {})
    return BlockSelector(references, COUNTER, scores).fill


CANDIDATES = transcripts(max_messages=20).map(read_all).map(candidates_of)
BUDGETS = st.builds(
    CompactionBudget,
    total_tokens=st.integers(0, 1_500),
    kept_fraction=st.floats(0, 1),
    newest_fraction=st.floats(0, 1),
    told_fraction=st.floats(0, 0.3),
)


@settings(max_examples=150)
@given(CANDIDATES, BUDGETS)
def test_a_plan_fits_or_is_impossible(
    candidates: list[Candidate], budget: CompactionBudget
) -> None:
    """One decision a unit, in order, within the limit, with what must stay; or what must stay exceeds it."""
    floors = protected_of(candidates, frozenset(), voices_of(candidates))
    decisions = planned_or_not(candidates, budget)
    if isinstance(decisions, ContextWindowExceeded):
        needed = sum(candidates[i].tokens for i in floors)
        assert decisions.floor_tokens == needed > budget.total_tokens == decisions.limit_tokens
        assert set(decisions.parts) == set(floors.values())
        return
    units = [c.unit for c in candidates]
    assert [(d.start, d.stop) for d in decisions] == [(u.start, u.stop) for u in units]
    assert [d.tokens_before for d in decisions] == [c.tokens for c in candidates]
    assert sum(d.tokens_after for d in decisions) <= budget.total_tokens
    tasks = {i for i, floor in floors.items() if floor in ("task", "memory")}
    assert satisfied(decisions, {i: f for i, f in floors.items() if i not in tasks})
    for decision, c in zip(decisions, candidates, strict=True):
        said = messages_of(decision.pieces, [m for u in units for m in u.messages])
        assert decision.tokens_after == sum(map(COUNTER.message, said))
        assert (decision.pieces == c.pieces) == (decision.action in ("keep", "repair"))
        assert bool(decision.handle) == (decision.action in ("shorten", "drop"))
        assert decision.action != "shorten" or decision.tokens_after < decision.tokens_before
    require_one_notice(candidates, decisions, budget)
    least = sum(decisions[i].tokens_after for i in floors)  # it fills to the low mark
    beside = int((budget.total_tokens - least) * budget.kept_fraction)
    frame = COUNTER.message(notice(candidates, FRAME))
    assert sum(d.tokens_after for d in decisions) - least <= max(beside, frame)
    require_newest(candidates, decisions, budget, list(floors), beside - frame)


def require_one_notice(
    candidates: Sequence[Candidate], decisions: Sequence[Decision], budget: CompactionBudget
) -> None:
    """It stands where the first dropped unit was and costs no more than all of them."""
    dropped = [d for d in decisions if d.action == "drop"]
    notices = [d for d in dropped if d.pieces]
    assert notices in ([], dropped[:1])
    gone = [c for c, d in zip(candidates, decisions, strict=True) if d.action == "drop"]
    cost = sum(d.tokens_before for d in dropped)
    if notices:
        (piece,) = notices[0].pieces
        assert isinstance(piece, Written)
        told = piece.message.text.partition(":\n")[2].removesuffix("]")
        assert TOLD.startswith(told)
        assert piece == Written(message=notice(gone, told))
        assert notices[0].tokens_after <= cost
    elif dropped:
        room = budget.total_tokens - sum(d.tokens_after for d in decisions)
        assert COUNTER.message(notice(gone)) > min(room, cost)


def require_newest(
    candidates: Sequence[Candidate],
    decisions: Sequence[Decision],
    budget: CompactionBudget,
    floors: Sequence[int],
    beside: int,
) -> None:
    """As many as fit their share stay whole, one at least if it takes no more than most of what is filled."""
    rest = [i for i in range(len(candidates)) if i not in floors]
    whole = [candidates[i].tokens for i in rest[-1:]]
    most = budget.newest_unit_fraction * beside
    room = max([int(beside * budget.newest_fraction), *(each for each in whole if each <= most)])
    recent = list[int]()
    for i in reversed(rest):
        room -= candidates[i].tokens
        if room < 0:
            break
        recent.append(i)
    assert [decisions[i] for i in recent] == [kept(candidates[i], "recent") for i in recent]
    assert {i for i in rest if decisions[i].reason == "recent"} == set(recent)


def test_floors_are_not_paid_twice() -> None:
    """What must stay takes nothing from the room of what is recent."""
    texts = ["t" * 400, *["x" * 64] * 9, "n" * 400]
    messages = [Message(role="assistant" if i else "user", text=t) for i, t in enumerate(texts)]
    budget = CompactionBudget(
        total_tokens=208 + 160, kept_fraction=1, newest_fraction=1, told_fraction=0
    )
    decisions = planned_or_not(candidates_of(messages), budget)
    assert not isinstance(decisions, ContextWindowExceeded)
    frame = COUNTER.message(notice(candidates_of(messages), FRAME))
    assert [d.action for d in decisions].count("keep") == 2 + (160 - frame) // 20


def test_what_is_named_again_stays() -> None:
    """Of older units that do not fit all, those blocks stay that name what later steps keep using."""
    listings = [
        "\n\n".join(
            f"{kind}_{i} costs {i * 37} pounds, as the shop's own list has it" for i in range(40)
        )
        for kind in ("item", "entry")
    ]
    later = [Message(role="assistant", text=text) for text in (["now item_17"] * 3 + ["well"] * 10)]
    messages = [Message(role="user", text="the task")]
    for text in listings:
        call = ToolCall(id="1", name="list", arguments=json.dumps({"of": text[:5]}))
        result = ToolResult(call_id="1", text=text)
        messages += [
            Message(role="assistant", calls=(call,)),
            Message(role="tool", results=(result,)),
        ]
    candidates = candidates_of([*messages, *later])
    decisions = planned_or_not(candidates, CompactionBudget(total_tokens=600, kept_fraction=0.6))
    assert not isinstance(decisions, ContextWindowExceeded)
    said = messages_of(decisions[1].pieces, [*messages, *later])
    assert "item_17 costs" in said[-1].results[0].text
    assert decisions[1].action == "shorten"


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.integers(0, 9))
def test_a_handle_stands_for_the_content(texts: list[str], start: int) -> None:
    """The same messages have the same handle wherever they stand; others have another."""
    said = tuple(Message(role="user", text=text) for text in texts)
    unit, other = Unit(start=0, messages=said), Unit(start=0, messages=(*said, said[0]))
    assert handle_of(unit) == handle_of(Unit(start=start, messages=unit.messages))
    assert handle_of(unit) != handle_of(other)
