"""Filling a room: what is kept fits, the best comes first, and marks stand for the rest."""

from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.text.fit import fit, longest, with_gaps
from support.texts import TEXTS

COSTS = st.lists(st.integers(1, 9), max_size=12)
ROOMS = st.integers(-2, 40)


@given(COSTS, ROOMS, st.data())
def test_the_best_that_fit_are_kept_with_what_they_need(
    costs: list[int], room: int, data: st.DataObject
) -> None:
    """By exact costs, each once; nothing that is left out would still fit, and nothing better was passed over for less."""
    items, none = range(len(costs)), list[int]()
    scores = data.draw(st.lists(st.integers(0, 3), min_size=len(costs), max_size=len(costs)))
    needs = [data.draw(st.integers(-1, at - 1)) for at in items]
    kept, left = fit(
        items,
        room,
        cost=costs.__getitem__,
        score=scores.__getitem__,
        needs=lambda at: [needs[at]] if needs[at] >= 0 else none,
    )
    assert sum(map(costs.__getitem__, kept)) == room - left <= max(0, room)
    assert len(set(kept)) == len(kept)
    assert all(needs[at] in kept for at in kept if needs[at] >= 0)
    for at in set(items).difference(kept):
        due = {at}
        while (above := needs[min(due)]) >= 0:
            due.add(above)
        assert sum(costs[each] for each in due.difference(kept)) > left


def test_what_ends_it() -> None:
    """Of five things that cost 2, 9, 3, 6 and 4, in a room for 10: an item that has none, or so many; what is there is paid for."""
    cost = [2, 9, 3, 6, 4].__getitem__
    assert fit(range(5), 10, cost=cost).kept == [0, 2, 4]
    assert fit(range(5), 10, cost=cost, score=lambda at: at) == ([4, 3], 0)
    assert fit(range(5), 10, cost=cost, ends=lambda at: at == 1).kept == [0]
    assert fit(range(5), 10, cost=cost, most_misses=1).kept == [0]
    assert fit(range(5), 10, cost=cost, taken=[1, 3]) == ([0, 2, 4], 1)


@given(st.lists(TEXTS), st.data())
def test_what_stays_is_marked_and_no_longer(pieces: list[str], data: st.DataObject) -> None:
    """All pieces give the text, none a mark alone; what stays is there to the character."""
    text = "".join(pieces)
    assert with_gaps(pieces, dict(enumerate(pieces))) == text
    at = data.draw(st.sets(st.integers(0, max(0, len(pieces) - 1)))) if pieces else set[int]()
    short = with_gaps(pieces, {i: pieces[i] for i in at})
    assert len(short) <= len(text)
    assert all(pieces[i] in short for i in at)


@given(TEXTS, st.integers(-1, 99))
@example("x" * 500, 20)
def test_as_much_of_a_text_as_fits(text: str, room: int) -> None:
    """Whole, or most of what the room has; by whatever it is counted."""
    short = longest(lambda chars: text[:chars], text, room_tokens=room, count=len)
    assert text.startswith(short)
    assert len(short) <= max(0, room) or short == text == ""
    assert len(short) >= min(len(text), int(0.8 * room))
