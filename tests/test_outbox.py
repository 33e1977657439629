"""What is handed out says what the pieces say, turn after turn, whatever the caller does to it."""

from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.pipeline.message import Message
from autogen_context.pipeline.openai_chat import OpenAIChat
from autogen_context.pipeline.piece import Piece, Verbatim, Written, coalesce, messages_of
from autogen_context.session.outbox import Outbox

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
def test_payloads_say_what_the_messages_say(pieces: list[Piece]) -> None:
    """Read again, what is sent has the texts of the pieces' messages; untouched ones are the very objects."""
    sent = Outbox(OpenAIChat()).payloads(pieces, PAYLOADS)
    said = messages_of(pieces, MESSAGES)
    assert [OpenAIChat().read(payload).text for payload in sent] == [m.text for m in said]
    own = {id(payload) for payload in PAYLOADS}
    untouched = sum(p.stop - p.start for p in pieces if isinstance(p, Verbatim))
    assert sum(id(payload) in own for payload in sent) == untouched
    assert Outbox(OpenAIChat()).payloads(coalesce(pieces), PAYLOADS) == sent


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
    assert Outbox(OpenAIChat()).payloads([piece], PAYLOADS) == [expected]


NOTHING: dict[str, object] = {}
FORGED: dict[str, object] = {"content": "forged"}
BROKEN: dict[str, object] = {"role": 7, "content": [7]}
CHANGES = st.sampled_from([NOTHING, FORGED, BROKEN])


@given(st.lists(st.lists(WRITTEN, max_size=4), min_size=1, max_size=4), st.data())
def test_what_a_caller_does_to_it_changes_nothing_later(
    turns: list[list[Piece]], data: st.DataObject
) -> None:
    """Each turn is what a fresh outbox would give, though what was handed out before was tampered with."""
    outbox, pieces = Outbox(OpenAIChat()), list[Piece]()
    for new in turns:
        pieces += new
        sent = outbox.payloads(pieces, PAYLOADS)
        assert sent == Outbox(OpenAIChat()).payloads(pieces, PAYLOADS)
        for payload in sent:
            fields = cast("dict[str, object]", payload)
            fields.update(data.draw(CHANGES))
            fields["itself"] = payload


def test_what_was_written_is_not_written_again() -> None:
    """The same piece in the next turn is the same object, so that a turn costs what is new in it."""
    outbox, piece = Outbox(OpenAIChat()), Written(message=replace(MESSAGES[0], text="short"))
    assert outbox.payloads([piece], PAYLOADS)[0] is outbox.payloads([piece], PAYLOADS)[0]
