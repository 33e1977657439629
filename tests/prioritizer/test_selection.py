"""The blocks that stay: what fits, how near it is to the best choice there is, and what becomes of their units."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from statistics import fmean, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.extract import Filled, fill
from autogen_context.messages.message import Message
from autogen_context.messages.piece import messages_of
from autogen_context.prioritizer.prioritizer import BlockAt, Need, ValueScores
from autogen_context.prioritizer.record import ConversationRecord
from autogen_context.prioritizer.selection import HORIZON, Selection, within_horizon
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.tokens.measure import Count
from autogen_context.tokens.message_counter import MessageCounter
from autogen_context.view.decision import Why, kept
from support.counting import COUNTER, OVERHEADS
from support.scoring import references_of
from support.selection import Case, Covering, best, cost, drawn
from support.units import candidates_of, read_all

CASES = st.builds(
    drawn, st.integers(0, 10**6).map(Random), blocks=st.integers(1, 40), overlapping=st.booleans()
)
MESSAGES = (transcripts(max_messages=20) | broken_transcripts()).map(read_all)
ROOMS = st.integers(0, 1_500)
FEW = settings(max_examples=30)


def chosen(case: Case, room: int | None = None) -> list[BlockAt]:
    """What is under test, from the start."""
    scores = Covering(named=case.scores.named, weights=case.scores.weights)
    room = case.room_tokens if room is None else room
    return Selection(case.costs, scores=scores, room_tokens=room).choose()


@FEW
@given(CASES, st.integers(-10, 3_000))
def test_what_is_chosen_fits(case: Case, room: int) -> None:
    """With the frame of each unit and a mark for each gap; no block twice, none that is not there; in any order the same."""
    found = chosen(case, room)
    assert cost(case.costs, found) <= max(0, room)
    assert len(set(found)) == len(found)
    assert set(found) <= case.scores.named.keys()
    costs = {unit: case.costs[unit] for unit in reversed(list(case.costs))}
    assert chosen(Case(costs=costs, scores=case.scores, room_tokens=0), room) == found


@pytest.mark.parametrize("overlapping", [False, True], ids=["each its own", "shared values"])
def test_it_is_near_the_best(*, overlapping: bool) -> None:
    """In 100 cases small enough to try each choice: docs/decisions/0011-plan.md."""
    ratios: list[float] = []
    for seed in range(100):
        random = Random(seed)  # noqa: S311  a law, no secret
        case = drawn(random, blocks=random.randint(6, 10), overlapping=overlapping)
        ratios.append(case.scores.of_all(chosen(case)) / (best(case) or 1))
    assert max(ratios) <= 1 + 1e-9
    assert median(ratios) >= 0.999
    assert fmean(ratios) >= 0.97
    assert min(ratios) >= 0.5
    assert sum(ratio > 1 - 1e-9 for ratio in ratios) >= 0.65 * len(ratios)


def filled(
    messages: Sequence[Message],
    room: int,
    taken: Sequence[int] = (),
    counter: MessageCounter = COUNTER,
) -> Filled:
    """What becomes of units."""
    candidates, references = candidates_of(messages), references_of(messages)
    decided = {i: kept(candidates[i], Why.NEW) for i in taken}
    scores = ValueScores(ConversationRecord(references), Need(room_tokens=room), {})
    every = references.considered
    return fill(
        references,
        every,
        taken=decided,
        scores=scores,
        counter=counter,
        compressor=SemanticCompressor(),
        room_tokens=room,
    )


@FEW
@given(MESSAGES, ROOMS, st.data())
def test_units_fit_and_none_grows(messages: list[Message], room: int, data: st.DataObject) -> None:
    """Counted as it is sent, of units that were open, and the same again; each as it came in, or shorter with a reason.

    F36: of two units that stood for choice the one left out has no higher score, or did not fit and says so.
    """
    candidates = candidates_of(messages)
    taken = [i for i in range(len(candidates)) if data.draw(st.booleans())]
    found = filled(messages, room, taken)
    decisions = found.stays
    assert sum(decision.tokens_after for decision in decisions.values()) <= room
    assert decisions.keys() | found.left.keys() == set(range(len(candidates))) - set(taken)
    assert filled(messages, room, taken) == found
    for i, decision in decisions.items():
        said = messages_of(decision.pieces, messages)
        assert decision.tokens_after == sum(map(COUNTER.message, said))
        if decision.action == "shorten":
            assert decision.tokens_after < decision.tokens_before == candidates[i].tokens
            assert decision.handle
            assert "blocks are worth their tokens" in decision.reason
        else:
            assert decision == replace(kept(candidates[i], Why.SCORE), rank=decision.rank)
    ranks = {i: decision.rank for i, decision in decisions.items() if decision.rank}
    ranks |= {i: unchosen.rank for i, unchosen in found.left.items()}
    assert len(ranks) == len(decisions) + len(found.left)
    assert sorted(rank.place for rank in ranks.values()) == list(range(1, len(ranks) + 1))
    for i, unchosen in found.left.items():
        for stays in decisions if "did not fit" not in unchosen.reason else ():
            assert ranks[i].score <= ranks[stays].score
            assert ranks[i].place > ranks[stays].place or ranks[i].score == ranks[stays].score


def test_what_answers_is_considered_however_long_ago() -> None:
    """F15: the most relevant units first, then the newest, up to a number of tokens."""
    references = references_of([Message(role="user", text=f"alpha {n}") for n in range(99)])
    tokens = references.units[0].candidate.tokens
    need = Need(room_tokens=tokens, relevance={3: 0.2, 5: 0.9, 98: 0.1})
    assert within_horizon(references, need) == [3, 5, *range(99 - HORIZON + 2, 99)]
    few = replace(need, relevance=dict.fromkeys(range(40), 0.5) | {2: 0.9})
    assert within_horizon(references, few) == [2, *range(40 - HORIZON + 1, 40)]


class Uneven:
    """A token for each digit, and for each twenty of the other characters: what is named costs more than the rest."""

    def count(self, text: str, /) -> Count:
        return Count(tokens=sum(map(str.isdigit, text)) + len(text) // 20, source="estimate")


def uneven_messages(rows: int) -> list[Message]:
    """Prose and numbers in turn, so that what is worth most costs more than it seems to."""
    prose = "the rest of it goes on. " * 25
    numbers = (" ".join(str(i * 7_919 + n) for n in range(80)) for i in range(rows))
    text = "".join(f"{prose}\n\n{row}\n\n" for row in numbers)
    return [
        Message(role="user", text="go"),
        Message(role="assistant", text=text),
        Message(role="assistant", text="7919"),
    ]


@settings(max_examples=15)
@given(st.integers(0, 5_000))
def test_where_the_estimate_is_too_low_the_last_blocks_go(room: int) -> None:
    """A text whose worth stands where its tokens are fits as well, and fills half of the room at least."""
    counter = MessageCounter(Uneven(), OVERHEADS)
    stays = filled(uneven_messages(10), room, taken=(0, 2), counter=counter).stays
    assert room / 2 - 400 <= sum(each.tokens_after for each in stays.values()) <= room
