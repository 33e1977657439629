"""Pieces: what is sent, as data."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.pipeline.message import Message
from autogen_context.pipeline.openai_chat import OpenAIChat
from autogen_context.pipeline.piece import (
    Piece,
    Verbatim,
    Written,
    coalesce,
    messages_of,
    payloads_of,
)

LENGTH = 8
PAYLOADS: list[object] = [{"role": "user", "content": str(i), "kept": i} for i in range(LENGTH)]
MESSAGES = [OpenAIChat().read(payload) for payload in PAYLOADS]
STRETCHES = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(
    lambda ends: Verbatim(start=min(ends), stop=max(ends))
)
WRITTEN = st.builds(
    Written,
    index=st.none() | st.integers(0, LENGTH - 1),
    message=st.builds(Message, role=st.just("user"), text=st.text(max_size=3)),
)
PIECES = st.lists(STRETCHES | WRITTEN, max_size=8)


@given(PIECES)
def test_joining_changes_nothing_that_is_sent(pieces: list[Piece]) -> None:
    """The joined pieces say the same, no two of them can be joined further, and joining again does nothing."""
    joined = coalesce(pieces)
    assert messages_of(joined, MESSAGES) == messages_of(pieces, MESSAGES)
    assert payloads_of(joined, PAYLOADS, OpenAIChat()) == payloads_of(
        pieces, PAYLOADS, OpenAIChat()
    )
    assert coalesce(joined) == joined
    for one, other in pairwise(joined):
        if isinstance(one, Verbatim) and isinstance(other, Verbatim):
            assert one.stop != other.start


@given(PIECES)
def test_payloads_say_what_the_messages_say(pieces: list[Piece]) -> None:
    """Read again, what is sent has the texts of the pieces' messages; untouched ones are the very objects."""
    sent = payloads_of(pieces, PAYLOADS, OpenAIChat())
    said = messages_of(pieces, MESSAGES)
    assert [OpenAIChat().read(payload).text for payload in sent] == [m.text for m in said]
    own = {id(payload) for payload in PAYLOADS}
    untouched = sum(p.stop - p.start for p in pieces if isinstance(p, Verbatim))
    assert sum(id(payload) in own for payload in sent) == untouched


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        pytest.param(3, {"role": "user", "content": "short", "kept": 3}, id="for a payload"),
        pytest.param(None, {"role": "user", "content": "short"}, id="our own"),
    ],
)
def test_a_rewritten_payload_keeps_its_other_fields(index: int | None, expected: object) -> None:
    """A message written anew for a payload is that payload with other texts; one of our own is new."""
    piece = Written(message=replace(MESSAGES[3], text="short"), index=index)
    assert payloads_of([piece], PAYLOADS, OpenAIChat()) == [expected]
