"""What was decided is held; holding only appends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.arrival import Arrival
from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, Verbatim, Written, coalesce
from autogen_context.messages.repair import as_it_came
from autogen_context.messages.segment import Unit
from autogen_context.messages.tool_call import BY_NAME
from autogen_context.session.held import Held
from autogen_context.view.decision import Candidate, Decision, kept, replaced
from support.counting import COUNTER

DECIDE = Arrival(COUNTER, kinds=BY_NAME, keep=lambda _handle, _text: None).decide
SAYS = Message(role="user", text="hi")
NOTE = Written(message=SAYS)


def candidate(start: int, length: int, tokens: int, *, repaired: bool = False) -> Candidate:
    """A unit of some messages; a repaired one has a piece of our own behind them."""
    unit = Unit(start=start, messages=(SAYS,) * length)
    pieces = as_it_came(unit) + ((NOTE,) if repaired else ())
    return Candidate(unit=unit, pieces=pieces, tokens=tokens, repaired=repaired)


@st.composite
def candidate_lists(draw: st.DrawFn) -> list[Candidate]:
    """Units of one to three messages, one after the other."""
    start, found = 0, list[Candidate]()
    for length in draw(st.lists(st.integers(1, 3), max_size=6)):
        found.append(
            candidate(start, length, draw(st.integers(1, 99)), repaired=draw(st.booleans()))
        )
        start += length
    return found


def decided(c: Candidate, action: str) -> Decision:
    """A decision as a plan makes it."""
    if action == "keep":
        return kept(c, "recent")
    if action == "drop":
        return replaced(c, "drop", "old", (NOTE,), 1)
    pieces = [Written(message=SAYS, index=i) for i in range(c.unit.start, c.unit.stop)]
    supplied = c.pieces[len(pieces) :]
    return replaced(c, "shorten", "large", (*pieces, *supplied), c.tokens // 2)


ACTIONS = st.lists(st.sampled_from(["keep", "drop", "shorten"]), min_size=6, max_size=6)


@given(candidate_lists(), ACTIONS, st.data())
def test_holding_only_appends(
    candidates: list[Candidate], actions: list[str], data: st.DataObject
) -> None:
    """What was sent is at the front of what is sent next, and the new units stand behind it whole."""
    held = Held()
    cut = data.draw(st.integers(0, len(candidates)))
    held.replace([decided(c, a) for c, a in zip(candidates[:cut], actions, strict=False)])
    before = apart(held.pieces)
    new = [piece for c in candidates[cut:] for piece in c.pieces]
    shown = list(candidates)
    held.extend(shown, DECIDE)
    assert apart(held.pieces) == before + apart(new)
    assert len(held.decisions) == len(candidates)
    assert held.stop == (candidates[-1].unit.stop if candidates else 0)


def apart(pieces: list[Piece] | tuple[Piece, ...]) -> list[Piece]:
    """The same pieces, a message each."""
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Verbatim):
            found += [Verbatim(start=i, stop=i + 1) for i in range(piece.start, piece.stop)]
        else:
            found.append(piece)
    return found


@given(candidate_lists(), ACTIONS, st.integers(0, 20))
def test_the_sums_are_right(candidates: list[Candidate], actions: list[str], keep: int) -> None:
    """Tokens and pieces are those of the decisions, however they came to be held."""
    held = Held([decided(c, a) for c, a in zip(candidates, actions, strict=False)])
    for _ in range(2):
        assert held.tokens == sum(decision.tokens_after for decision in held.decisions)
        every = [piece for decision in held.decisions for piece in decision.pieces]
        assert held.pieces == coalesce(every)
        held.keep_first(keep)
        assert held.stop <= keep
        assert len(held.decisions) == sum(c.unit.stop <= keep for c in candidates)


FIRST = decided(candidate(0, 2, 7), "drop")
SHORT = Written(message=SAYS, index=2)


@pytest.mark.parametrize(
    ("action", "after", "pieces", "tokens"),
    [
        pytest.param("keep", candidate(2, 3, 30), [Verbatim(start=2, stop=5)], 30, id="kept"),
        pytest.param(
            "keep",
            candidate(2, 1, 15, repaired=True),
            [Verbatim(start=2, stop=3), NOTE],
            15,
            id="repaired",
        ),
        pytest.param(
            "shorten", candidate(2, 3, 30), [SHORT, Verbatim(start=3, stop=5)], 25, id="shortened"
        ),
        pytest.param("shorten", candidate(2, 1, 15, repaired=True), [SHORT, NOTE], 10, id="both"),
        pytest.param("drop", candidate(2, 1, 10), [NOTE], 1, id="dropped"),
    ],
)
def test_the_last_unit_may_grow(
    action: str, after: Candidate, pieces: list[Piece], tokens: int
) -> None:
    """More results stand behind what was decided of it, which stays."""
    held = Held([FIRST, decided(candidate(2, 1, 10), action)])
    held.extend([candidate(0, 2, 7), after], DECIDE)
    first, decision = held.decisions
    assert first == FIRST
    assert held.pieces == (NOTE, *pieces)
    assert decision.tokens_after == held.tokens - FIRST.tokens_after == tokens
    assert decision.stop == after.unit.stop
    assert decision.action == ("repair" if action == "keep" and after.repaired else action)
    assert action == "drop" or decision.tokens_before == after.tokens
