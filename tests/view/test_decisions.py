"""What became of units, as a value that shares what it has with those before it."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.view.decision import Action, Decision, Decisions, Why
from autogen_context.view.view import ContextView

MANY = 62
NOTE = Written(message=Message(role="user", text="told", own=True))


@st.composite
def decision_lists(draw: st.DrawFn) -> list[Decision]:
    """Decisions on units of one to three messages, one after the other."""
    start, found = 0, list[Decision]()
    for length in [1] * MANY + draw(st.lists(st.integers(1, 3), max_size=8)):
        action: Action = (
            draw(st.sampled_from(["keep", "drop", "shorten"])) if start >= MANY else "keep"
        )
        pieces: tuple[Piece, ...] = (Verbatim(start=start, stop=start + length),)
        found.append(
            Decision(
                start=start,
                stop=start + length,
                action=action,
                why=Why.NEW,
                tokens_before=9,
                tokens_after=draw(st.integers(0, 9)) if start >= MANY else 1,
                pieces=() if action == "drop" else pieces,
            )
        )
        start += length
    return found


def require_sums(decisions: Decisions, expected: list[Decision]) -> None:
    """It has these decisions, and the sums are theirs."""
    assert list(decisions) == expected == [decisions[i] for i in range(len(decisions))]
    assert decisions.tokens == sum(decision.tokens_after for decision in expected)
    assert decisions.hidden == sum(decision.hides for decision in expected)
    assert {i for i, decision in enumerate(expected) if decision.sent} <= {*decisions.live}
    assert decisions.stop == (expected[-1].stop if expected else 0)
    assert decisions.last == (expected[-1] if expected else None)


@given(decision_lists(), st.data())
def test_whatever_is_made_of_it_a_value_stays_as_it_was(
    given_ones: list[Decision], data: st.DataObject
) -> None:
    """Versions that go on from one another, forward, back and aside, each have their own decisions."""
    many = given_ones[:MANY]
    made: list[tuple[Decisions, list[Decision]]] = [(Decisions(), []), (Decisions(many), many)]
    for _ in range(data.draw(st.integers(0, 12))):
        decisions, known = data.draw(st.sampled_from(made))
        step = data.draw(st.sampled_from(["extend", "last", "until", "change"]))
        if step == "extend" and len(known) < len(given_ones):
            new = given_ones[len(known)]
            made.append((decisions.extended(new), [*known, new]))
        elif step == "last" and known:
            other = replace(known[-1], tokens_after=99)
            made.append((decisions.with_last(other), [*known[:-1], other]))
        elif step == "change" and known:
            at = data.draw(st.integers(0, len(known) - 1))
            other = replace(known[at], tokens_after=77, pieces=())
            made.append((decisions.changed({at: other}), [*known[:at], other, *known[at + 1 :]]))
        elif step == "until":
            messages = data.draw(st.integers(0, MANY + 20))
            left = [decision for decision in known if decision.stop <= messages]
            made.append((decisions.until(messages), left))
    for decisions, known in made:
        require_sums(decisions, known)
        assert decisions == Decisions(known)
        assert hash(decisions) == hash(Decisions(known))
        for earlier, before in made:
            since = decisions.final_since(earlier)
            assert since is None or before[:-1] + since == known[:-1]


@given(decision_lists())
def test_one_goes_on_from_another_that_it_extends(given_ones: list[Decision]) -> None:
    """Seen by what they share: those that have another past do not."""
    whole = Decisions()
    for decision in given_ones:
        longer = whole.extended(decision)
        assert longer.continues(whole)
        whole = longer
    assert whole.continues(whole)
    assert not given_ones or not Decisions(given_ones).continues(whole)


def kept_at(start: int, tokens: int) -> Decision:
    """A message that stays."""
    pieces = (Verbatim(start=start, stop=start + 1),)
    return Decision(
        start=start,
        stop=start + 1,
        action="keep",
        why=Why.NEW,
        tokens_before=tokens,
        tokens_after=tokens,
        pieces=pieces,
    )


@pytest.mark.parametrize("after", [2, 130])
def test_what_parted_does_not_go_on_from_one_another(after: int) -> None:
    """Whether both extend a third one, or a decision of it was replaced."""
    base = Decisions([kept_at(start, 1) for start in range(3)])
    one, other = base.extended(kept_at(3, 1)), base.extended(kept_at(3, 2))
    for start in range(4, 4 + after):
        next_one = kept_at(start, 1)
        one, other = one.extended(next_one), other.extended(next_one)
    changed = one.changed({1: kept_at(1, 2)})
    for a, b in permutations((one, other, changed), 2):
        assert a.final_since(b) is None
    assert one.final_since(base) == list(one)[2:-1]


def test_what_stands_in_front_of_the_newest_unit_costs_as_much_more() -> None:
    """And stands behind what stood there already; the view before is as it was."""
    unit = kept_at(0, 5)
    view = ContextView(decisions=Decisions([unit]))
    told = view.with_before_last(NOTE, 4).with_before_last(NOTE, 4)
    assert told.decisions[-1].sent == (NOTE, NOTE, *unit.pieces)
    assert (told.tokens, view.tokens) == (13, 5)
