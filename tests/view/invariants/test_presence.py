"""Promises 2 and 4: the newest message, the latest instruction and pins are there."""

from collections.abc import Set as AbstractSet

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.messages.piece import Piece, Verbatim, Written
from autogen_context.view.invariants import INSTRUCTION, NEWEST, PINS, Checked, Sent

MESSAGES = 6
WHOLE, SHORT = st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5))


def sent_of(whole: AbstractSet[int], short: AbstractSet[int]) -> list[Piece]:
    """Pieces of the messages at these positions, unchanged or shortened."""
    said = Message(role="user", text="s")
    return [
        Verbatim(start=at, stop=at + 1) if at in whole else Written(message=said, index=at)
        for at in sorted(whole | short)
    ]


@given(WHOLE, SHORT, st.integers(0, 6))
def test_the_newest_message_is_there(
    whole: AbstractSet[int], short: AbstractSet[int], messages: int
) -> None:
    """Whole or shortened; of no message none is missing."""
    sent = Sent(0, 0, Checked(), sent_of(whole, short), messages)
    assert NEWEST.holds(sent) is (messages == 0 or messages - 1 in whole | short)


@given(WHOLE, SHORT, st.integers(0, 5), st.integers(0, 2))
def test_the_latest_instruction_is_there(
    whole: AbstractSet[int], short: AbstractSet[int], start: int, length: int
) -> None:
    """One of its messages, whole or shortened."""
    positions = range(start, start + length)
    sent = Sent(0, 0, Checked(), sent_of(whole, short), MESSAGES, instruction=positions)
    assert INSTRUCTION.holds(sent) is (not length or not (whole | short).isdisjoint(positions))


@given(WHOLE, SHORT, st.frozensets(st.integers(0, 5)))
def test_pins_are_there(
    whole: AbstractSet[int], short: AbstractSet[int], pinned: frozenset[int]
) -> None:
    """All of them, unchanged."""
    sent = Sent(0, 0, Checked(), sent_of(whole, short), MESSAGES, pinned)
    assert PINS.holds(sent) is (pinned <= whole)
