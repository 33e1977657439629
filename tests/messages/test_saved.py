"""Messages that are written down are read as they were, and nothing else is read as messages."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.messages.saved import messages_as_bytes, messages_from_bytes, saved
from support.entries import ENTRIES


@given(ENTRIES)
def test_what_is_read_is_what_was_written(messages: tuple[Message, ...]) -> None:
    """Every field, every character: also two surrogates that together would be one character in escaped JSON."""
    assert messages_from_bytes(messages_as_bytes(messages)) == messages
    for message in messages:
        assert all(value for key, value in saved(message).items() if key != "role")


@given(st.binary(max_size=60))
def test_other_bytes_are_refused(data: bytes) -> None:
    """Any bytes are messages or a ``ValueError``."""
    try:
        messages = messages_from_bytes(data)
    except ValueError:
        return
    assert messages_from_bytes(messages_as_bytes(messages)) == messages


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b'[{"role": "user", "calls": 3}]',
        b'[{"role": "user", "calls": [{"id": "1"}]}]',
        b'[{"role": "user", "own": "yes"}]',
        b"[" * 100_000,
        b'[{"role": "tool", "images": [{"width": "1", "height": 1, "detail": ""}]}]',
    ],
)
def test_broken_json_is_refused(data: bytes) -> None:
    """With one kind of error; what is written is plain UTF-8 for anybody."""
    with pytest.raises(ValueError, match=r"."):
        messages_from_bytes(data)
    (read,) = json.loads(messages_as_bytes((Message(role="user", text="Grüße"),)).decode("utf-8"))
    assert read == {"role": "user", "text": "Grüße"}
