"""Passages that are chosen by rank, each with what it stands under."""

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.text.passage import ONLY_ABOVE, Passage, chosen

ROOMS = st.integers(0, 60)
RANKS = st.sampled_from([ONLY_ABOVE, -1.0, 0.0, 2.5])


@st.composite
def outlines(draw: st.DrawFn) -> list[Passage]:
    """Passages that stand under earlier ones, or under none."""
    texts = draw(st.lists(st.text("ab\n", min_size=1, max_size=9), max_size=12))
    return [
        Passage(text, draw(RANKS), draw(st.integers(-1, at - 1))) for at, text in enumerate(texts)
    ]


@given(outlines(), ROOMS)
def test_what_is_chosen_fits_and_hangs_together(passages: list[Passage], room: int) -> None:
    """By the tokens of its lines, each once and in order; what stands above is there, and nothing that is only above stands alone."""
    taken, tokens = chosen(passages, room_tokens=room, count=len)
    lines = [line for at in taken for line in passages[at].text.split("\n")]
    assert sum(len(line) + 1 for line in lines) == tokens <= room
    assert taken == sorted(set(taken))
    above = {passages[at].under for at in taken} - {-1}
    assert above <= set(taken)
    assert all(at in above for at in taken if passages[at].rank == ONLY_ABOVE)


def test_a_better_passage_comes_first() -> None:
    """Of three that cost 4 each, in a room for two: the two of the highest rank, in the order of the text."""
    passages = [Passage("low", 1.0), Passage("top", 3.0), Passage("mid", 2.0)]
    assert chosen(passages, room_tokens=8, count=len) == ([1, 2], 8)
