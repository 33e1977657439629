"""Bookings as JSON lines: one booking in a line, so that a file can be read, compared and repaired by hand."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import cast, get_args

from roombook.booking import Booking, Status
from roombook.errors import BadText
from roombook.period import Period
from roombook.rooms import House, read_house
from roombook.schedule import Schedule

LINE_FORM = "a JSON object with number, room, who, start and end"
MOMENT = "%Y-%m-%dT%H:%M"


def write_booking(booking: Booking) -> str:
    """A booking as a line of JSON; what is as usual is left out."""
    fields: dict[str, object] = {
        "number": booking.number,
        "room": booking.room,
        "who": booking.who,
        "start": booking.period.start.strftime(MOMENT),
        "end": booking.period.end.strftime(MOMENT),
    }
    unusual: dict[str, object] = {
        "title": booking.title,
        "series": booking.series,
        "late": booking.late,
    }
    fields |= {name: value for name, value in unusual.items() if value}
    if booking.status != "confirmed":
        fields["status"] = booking.status
    return json.dumps(fields, ensure_ascii=False)


def read_booking(line: str) -> Booking:
    """A booking from a line of JSON.

    Raises:
        BadText: it is none.
    """
    try:
        return _booking(_fields(json.loads(line)))
    except (KeyError, TypeError, ValueError) as error:
        raise BadText(line, f"{LINE_FORM} ({type(error).__name__}: {error})") from None


def write_bookings(bookings: Iterable[Booking]) -> str:
    """Bookings as lines of JSON."""
    return "".join(f"{write_booking(booking)}\n" for booking in bookings)


def read_bookings(text: str) -> Iterator[Booking]:
    """Bookings from lines of JSON; empty lines count nothing.

    Raises:
        BadText: a line is none; it says which.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield read_booking(line)
        except BadText as error:
            raise BadText(line, f"in line {number} {error.wanted}") from None


def load(rooms: Path, bookings: Path) -> Schedule:
    """A schedule from a file of rooms and a file of bookings; a missing file of bookings is an empty one."""
    house: House = read_house(rooms.read_text(encoding="utf-8"))
    text = bookings.read_text(encoding="utf-8") if bookings.exists() else ""
    return Schedule(house, read_bookings(text))


def save(schedule: Schedule, bookings: Path) -> None:
    """Write all bookings; whoever reads at the same time finds the old file or the new one."""
    written = bookings.with_suffix(".new")
    written.write_text(write_bookings(schedule), encoding="utf-8")
    written.replace(bookings)


def _booking(fields: Mapping[str, object]) -> Booking:
    status = fields.get("status", "confirmed")
    if status not in get_args(Status):
        raise ValueError(f"status {status!r}")
    return Booking(
        number=_number(fields["number"]),
        room=_text(fields["room"]),
        who=_text(fields["who"]),
        period=Period(_moment(fields["start"]), _moment(fields["end"])),
        title=_text(fields.get("title", "")),
        status=cast("Status", status),
        series=_number(fields.get("series", 0)),
        late=bool(fields.get("late", False)),
    )


def _fields(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"an object is wanted, not {value!r}")
    return cast("dict[str, object]", value)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"a number is wanted, not {value!r}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is wanted, not {value!r}")
    return value


def _moment(value: object) -> datetime:
    return datetime.strptime(_text(value), MOMENT)
