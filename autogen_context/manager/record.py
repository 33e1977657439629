"""What still holds of messages that a host cut from the front of its list, as a text that is sent in their place."""

from collections.abc import Sequence
from typing import cast

from autogen_context.ledger import Entry, StatementKind
from autogen_context.ledger.rendering import entry_of, render
from autogen_context.text.fit import CountText
from autogen_context.text.passage import Author
from autogen_context.view.view import Record, Stated

BEFORE = -1  # position of what was stated before the first message
CUT = "[The program that keeps this conversation has shortened it. Stated in what is no longer here, and still valid:\n{}]"


def recorded_in(record: Record) -> list[Entry]:
    """Return the statements of a record as ledger entries."""
    return [
        entry_of(cast("StatementKind", each.kind), each.text, cast("Author", each.author), BEFORE)
        for each in record.stated
    ]


def record_of(entries: Sequence[Entry], room_tokens: int, count: CountText) -> Record:
    """Return a record of these statements, with a text of those that fit a room; it is empty if there are none."""
    stated = [Stated(kind=each.kind, text=each.text, author=each.author) for each in entries]
    room = room_tokens - count(CUT.format(""))
    text = render(entries, room_tokens=max(0, room), count=count).text if entries else ""
    return Record(stated=tuple(stated), text=CUT.format(text) if text else "")
