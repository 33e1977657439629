"""Who has which room when.

A schedule never holds two bookings that block the same room at the same time. What cannot be done leaves it as it was.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta

from roombook.booking import Booking
from roombook.errors import Conflict, UnknownBooking
from roombook.period import Period, gaps, total_minutes
from roombook.recurrence import Rule, occurrences
from roombook.rooms import House, Room

OPENS = time(7)
CLOSES = time(22)


class Schedule:
    """All bookings of a house.

    Args:
        house: its rooms.
        bookings: what is booked already; numbers are kept.

    Raises:
        Conflict: two of the bookings block the same room at the same time.
        UnknownRoom: a booking names a room that the house does not have.
    """

    def __init__(self, house: House, bookings: Iterable[Booking] = ()) -> None:
        self._house = house
        self._bookings: dict[int, Booking] = {}
        for booking in bookings:
            self._require_free(booking.room, booking.period, taken_by=booking)
            self._bookings[booking.number] = booking

    def __iter__(self) -> Iterator[Booking]:
        """The bookings by their start."""
        return iter(sorted(self._bookings.values(), key=lambda b: (b.period, b.number)))

    def __len__(self) -> int:
        """How many bookings there are, cancelled ones included."""
        return len(self._bookings)

    @property
    def house(self) -> House:
        """The rooms."""
        return self._house

    def booking(self, number: int) -> Booking:
        """The booking of that number.

        Raises:
            UnknownBooking: there is none.
        """
        try:
            return self._bookings[number]
        except KeyError:
            raise UnknownBooking(number) from None

    def in_room(self, room: str, within: Period) -> list[Booking]:
        """What blocks a room in a period, in order."""
        self._house.room(room)
        blocking = (b for b in self if b.room == room and b.blocks)
        return [b for b in blocking if b.period.overlaps(within)]

    def of_tenant(self, who: str, within: Period) -> list[Booking]:
        """What a tenant has booked in a period, cancelled bookings included, in order."""
        return [b for b in self if b.who == who and within.holds(b.period.start)]

    def tenants(self) -> list[str]:
        """Everybody who ever booked, in order."""
        return sorted({b.who for b in self._bookings.values()})

    def book(self, room: str, who: str, period: Period, title: str = "") -> Booking:
        """Book a room.

        Raises:
            Conflict: the room is taken.
            UnknownRoom: there is no such room.
        """
        self._require_free(room, period)
        return self._take_in(Booking(self._next_number(), room, who, period, title))

    def book_series(
        self, room: str, who: str, first: Period, rule: Rule, title: str = ""
    ) -> list[Booking]:
        """Book a room for a whole series, or not at all.

        Raises:
            Conflict: the room is taken on one of the days; nothing is booked.
            UnknownRoom: there is no such room.
        """
        periods = occurrences(first, rule)
        for period in periods:
            self._require_free(room, period)
        series = self._next_number()
        return [
            self._take_in(Booking(series + n, room, who, period, title, series=series))
            for n, period in enumerate(periods)
        ]

    def cancel(self, number: int, now: datetime) -> Booking:
        """Cancel a booking; the room is free again at once.

        Raises:
            NotAllowed: it was cancelled before, or is over.
            UnknownBooking: there is none of that number.
        """
        return self._take_in(self.booking(number).cancelled(now))

    def cancel_series(self, series: int, now: datetime) -> list[Booking]:
        """Cancel what is still to come of a series."""
        coming = [b for b in self if b.series == series and b.blocks and b.period.start > now]
        return [self.cancel(booking.number, now) for booking in coming]

    def move(self, number: int, period: Period, now: datetime) -> Booking:
        """Move a booking to another time in the same room.

        Raises:
            Conflict: the room is taken then; the booking stays where it was.
            NotAllowed: it was cancelled, or has begun.
        """
        before = self.booking(number)
        after = before.moved(period, now)
        self._require_free(before.room, period, taken_by=before)
        return self._take_in(after)

    def free_slots(self, room: str, day: date, least: timedelta) -> list[Period]:
        """When a room is free on a day for so long at least, within the hours of the house."""
        open_hours = Period(datetime.combine(day, OPENS), datetime.combine(day, CLOSES))
        taken = [b.period for b in self.in_room(room, open_hours)]
        return [slot for slot in gaps(taken, open_hours) if slot.duration >= least]

    def free_rooms(
        self, period: Period, seats: int = 1, equipment: Sequence[str] = ()
    ) -> list[Room]:
        """The rooms that suit and are free for a period, the cheapest first."""
        suitable = self._house.suitable(seats, equipment)
        return [room for room in suitable if not self.in_room(room.name, period)]

    def used_fraction(self, room: str, within: Period) -> float:
        """How much of the hours of the house a room is booked for, from 0 to 1."""
        taken = [b.period for b in self.in_room(room, within)]
        open_hours = list(_open_hours(within))
        used = sum(total_minutes(_shared(taken, hours)) for hours in open_hours)
        return used / total_minutes(open_hours) if open_hours else 0.0

    def _require_free(self, room: str, period: Period, taken_by: Booking | None = None) -> None:
        if taken_by is not None and not taken_by.blocks:
            return
        number = taken_by.number if taken_by else 0
        others = [b for b in self.in_room(room, period) if b.number != number]
        if others:
            raise Conflict(f"{room} {period}", [str(booking) for booking in others])

    def _take_in(self, booking: Booking) -> Booking:
        self._bookings[booking.number] = booking
        return booking

    def _next_number(self) -> int:
        return max(self._bookings, default=0) + 1


def renumbered(bookings: Iterable[Booking], start: int = 1) -> list[Booking]:
    """The same bookings with numbers in a row, series kept together."""
    listed = list(bookings)
    numbers = {booking.number: n for n, booking in enumerate(listed, start)}
    return [replace(b, number=numbers[b.number], series=numbers.get(b.series, 0)) for b in listed]


def _open_hours(within: Period) -> Iterator[Period]:
    """The hours of the house on each day of a period."""
    for day in within.by_day():
        start = datetime.combine(day.start.date(), OPENS)
        end = datetime.combine(day.start.date(), CLOSES)
        shared = day.shared_with(Period(start, end))
        if shared is not None:
            yield shared


def _shared(periods: Iterable[Period], within: Period) -> Iterator[Period]:
    return (shared for period in periods if (shared := period.shared_with(within)))
