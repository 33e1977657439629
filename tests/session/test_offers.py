"""What a cut of each finished span would save, kept up proposal by proposal."""

from collections.abc import Sequence
from typing import SupportsIndex, overload

from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.session.finished import LEFT_SHARE, TOLD_SHARE, Finished
from autogen_context.session.offers import LEAST_TOKENS, Offers
from autogen_context.triggers.price.cut import Cut
from autogen_context.view.decision import Decision


def decided(position: int, tokens: int, *, hides: bool = False) -> Decision:
    """A unit of one message that is held, or out of sight in part."""
    return Decision(
        start=position,
        stop=position + 1,
        action="shorten" if hides else "keep",
        reason="",
        tokens_before=tokens,
        tokens_after=tokens,
        pieces=(),
    )


def anew(
    spans: Sequence[Finished], decisions: Sequence[Decision], stays: frozenset[int]
) -> list[tuple[Cut, Finished]]:
    """The same over all spans and all decisions at once: each unit is given by the first span that has it."""
    found: list[tuple[Cut, Finished]] = []
    taken: set[int] = set()
    for span in spans:
        inside = set(range(span.start, span.stop)) - span.outcomes - stays - taken
        inner = sorted(i for i in inside if not decisions[i].hides)
        taken.update(inner)
        saved = int(sum(decisions[i].tokens_after for i in inner) * (1 - LEFT_SHARE - TOLD_SHARE))
        if saved >= LEAST_TOKENS:
            start = sum(each.tokens_after for each in decisions[: inner[0]])
            tokens = sum(each.tokens_after for each in decisions[inner[0] : inner[-1] + 1])
            found.append((Cut(start_tokens=start, tokens=tokens, saved_tokens=saved), span))
    return found


UNITS = st.tuples(st.integers(0, 300), st.booleans())
TURNS = st.lists(
    st.tuples(
        st.lists(UNITS, min_size=1, max_size=4),  # what comes in
        st.lists(st.tuples(st.integers(0, 8), st.integers(1, 9), st.sets(st.integers(0, 9), max_size=2)), max_size=2),
        st.integers(0, 2),  # of the oldest spans go
        st.sampled_from(["same", "same", "same", "stays", "rewritten"]),
        st.sets(st.integers(0, 20), max_size=3),
    ),
    min_size=1,
    max_size=12,
)  # fmt: skip  # a row a part


@given(TURNS)
def test_they_are_those_of_all_spans_at_once(
    turns: list[tuple[list[tuple[int, bool]], list[tuple[int, int, set[int]]], int, str, set[int]]],
) -> None:
    """Whatever came, whichever spans went, whatever was rewritten, and whatever must stay from now on."""
    offers, spans, decisions = Offers(), list[Finished](), list[Decision]()
    stays: frozenset[int] = frozenset()
    for units, proposed, gone, change, staying in turns:
        for tokens, hides in units:
            decisions.append(decided(len(decisions), tokens, hides=hides))
        if change == "rewritten":
            decisions = [decided(i, each.tokens_after // 2) for i, each in enumerate(decisions)]
        if change == "stays":
            stays = frozenset(staying)
        settled = len(decisions) - 1
        spans = spans[gone:]
        for back, length, outcomes in proposed:
            stop = settled - back
            start = max(0, stop - length)
            if start < stop:
                within = frozenset(start + n for n in outcomes if start + n < stop)
                spans.append(Finished(start=start, stop=stop, outcomes=within))
        newest = stays | {settled}
        assert offers.of(spans, decisions, newest) == anew(spans, decisions, newest)


def test_equal_spans_are_two() -> None:
    """Where the first of them goes, the second gives what the first gave."""
    decisions = [decided(i, 300) for i in range(6)]
    one, other = (Finished(start=1, stop=4) for _ in range(2))
    offers, stays = Offers(), frozenset({5})
    assert len(offers.of([one, other], decisions, stays)) == 1
    third = Finished(start=4, stop=5)
    found = offers.of([other, third], decisions, stays)
    assert found == anew([other, third], decisions, stays)
    assert len(found) == 2


class Watched(list[Decision]):
    """A list that counts how often something is looked at."""

    looks = 0

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Decision: ...
    @overload
    def __getitem__(self, at: slice, /) -> list[Decision]: ...
    @override
    def __getitem__(self, at: SupportsIndex | slice, /) -> Decision | list[Decision]:
        self.looks += 1
        return super().__getitem__(at)


def test_a_turn_looks_at_what_is_new() -> None:
    """The looks of a turn are those of its new units and its new span, however many there were before."""
    decisions, offers, spans = Watched(), Offers(), list[Finished]()
    looks: list[int] = []
    for n in range(0, 2_000, 5):
        decisions += [decided(i, 300) for i in range(n, n + 5)]
        spans = [*spans[-99:], Finished(start=max(0, n - 3), stop=n + 2)]
        before = decisions.looks
        offers.of(spans, decisions, frozenset({0, n + 4}))
        looks.append(decisions.looks - before)
    assert max(looks) < 60
    assert max(looks[200:]) <= max(looks[100:200])
