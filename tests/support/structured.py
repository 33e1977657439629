"""The laws that reducers of structured content keep, whatever they are given."""

from autogen_context.compressor.arrival.reducer import Reducer
from support.reducing import exact, room_of

ROOMS = (40, 200)


def assert_tightens(reducer: Reducer, text: str) -> None:
    """What is tight is no longer, the same each time, and has nothing left to tighten."""
    tight = reducer.tighten(text)
    assert len(tight) <= len(text)
    assert tight == reducer.tighten(text)
    assert reducer.tighten(tight) == tight


def assert_cuts(reducer: Reducer, text: str, *wanted: str) -> None:
    """What is cut has its room, is no larger by characters and tokens, and is the same each time."""
    whole = exact(text)
    for tokens in ROOMS:
        short = reducer.cut(text, room_of(tokens, *wanted))
        assert exact(short) <= min(tokens, whole)
        assert len(short) <= len(text)
        assert short == reducer.cut(text, room_of(tokens, *wanted))
