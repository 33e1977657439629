"""Who has which room when."""

import unittest
from datetime import date, datetime, timedelta
from decimal import Decimal

from roombook.booking import Booking
from roombook.errors import Conflict, NotAllowed, UnknownBooking, UnknownRoom
from roombook.period import Period
from roombook.recurrence import Rule
from roombook.rooms import House, Room
from roombook.schedule import Schedule, renumbered

NOW = datetime(2026, 3, 1, 12)


def at(start: int, end: int, day: int = 2) -> Period:
    """Hours of a day in March."""
    return Period(datetime(2026, 3, day, start), datetime(2026, 3, day, end))


def schedule(*bookings: Booking) -> Schedule:
    """A schedule of two rooms."""
    small = Room("alder", 4, Decimal("12.50"), frozenset({"board"}))
    large = Room("birch", 8, Decimal("18.00"), frozenset({"board", "screen"}))
    return Schedule(House([small, large]), bookings)


class BookTest(unittest.TestCase):
    """Taking a room."""

    def test_a_booking_gets_a_number(self) -> None:
        booked = schedule()
        self.assertEqual(booked.book("alder", "Choir", at(9, 10)).number, 1)
        self.assertEqual(booked.book("alder", "Choir", at(14, 15)).number, 2)

    def test_a_taken_room_is_refused(self) -> None:
        booked = schedule()
        booked.book("alder", "Choir", at(9, 11))
        with self.assertRaisesRegex(Conflict, "alder .* is taken by #1"):
            booked.book("alder", "Foundry", at(10, 12))
        self.assertEqual(len(booked), 1)

    def test_another_room_is_free(self) -> None:
        booked = schedule()
        booked.book("alder", "Choir", at(9, 11))
        self.assertEqual(booked.book("birch", "Foundry", at(9, 11)).number, 2)

    def test_bookings_may_follow_each_other_without_a_gap(self) -> None:
        booked = schedule()
        booked.book("alder", "Choir", at(9, 10))
        booked.book("alder", "Foundry", at(10, 11))
        booked.book("alder", "Dietz Law", at(8, 9))
        self.assertEqual([b.who for b in booked], ["Dietz Law", "Choir", "Foundry"])

    def test_an_unknown_room_is_refused(self) -> None:
        with self.assertRaisesRegex(UnknownRoom, "there are alder, birch"):
            schedule().book("oak", "Choir", at(9, 10))

    def test_what_is_loaded_must_not_conflict(self) -> None:
        first = Booking(1, "alder", "Choir", at(9, 11))
        with self.assertRaises(Conflict):
            schedule(first, Booking(2, "alder", "Foundry", at(10, 12)))

    def test_who_asks_has_the_room(self) -> None:
        booked = schedule(Booking(1, "alder", "Choir", at(9, 11), status="asked"))
        with self.assertRaises(Conflict):
            booked.book("alder", "Foundry", at(10, 12))


class ChangeTest(unittest.TestCase):
    """Cancelling and moving."""

    def test_a_cancelled_room_is_free(self) -> None:
        booked = schedule()
        booked.book("alder", "Choir", at(9, 11, day=5))
        self.assertFalse(booked.cancel(1, NOW).late)
        self.assertEqual(booked.book("alder", "Foundry", at(9, 11, day=5)).number, 2)

    def test_within_a_day_it_is_late(self) -> None:
        booked = schedule(Booking(1, "alder", "Choir", at(9, 11)))
        self.assertTrue(booked.cancel(1, NOW).late)

    def test_nobody_cancels_twice_or_afterwards(self) -> None:
        booked = schedule(Booking(1, "alder", "Choir", at(9, 11)))
        with self.assertRaisesRegex(NotAllowed, "is over"):
            booked.cancel(1, datetime(2026, 3, 2, 11))
        booked.cancel(1, NOW)
        with self.assertRaisesRegex(NotAllowed, "cancelled before"):
            booked.cancel(1, NOW)

    def test_moves_over_its_own_time(self) -> None:
        booked = schedule(Booking(1, "alder", "Choir", at(9, 11)))
        self.assertEqual(booked.move(1, at(10, 12), NOW).period, at(10, 12))

    def test_moves_right_behind_another(self) -> None:
        booked = schedule(
            Booking(1, "alder", "Choir", at(9, 11)), Booking(2, "alder", "Foundry", at(14, 15))
        )
        self.assertEqual(booked.move(2, at(11, 12), NOW).period, at(11, 12))

    def test_stays_where_it_was_when_it_cannot_move(self) -> None:
        booked = schedule(
            Booking(1, "alder", "Choir", at(9, 11)), Booking(2, "alder", "Foundry", at(14, 16))
        )
        with self.assertRaises(Conflict):
            booked.move(2, at(10, 12), NOW)
        self.assertEqual(booked.booking(2).period, at(14, 16))

    def test_an_unknown_number_is_refused(self) -> None:
        with self.assertRaisesRegex(UnknownBooking, "no booking 7"):
            schedule().cancel(7, NOW)


class SeriesTest(unittest.TestCase):
    """Booking many days at once."""

    def test_books_each_day(self) -> None:
        booked = schedule()
        series = booked.book_series("alder", "Choir", at(9, 10), Rule("week", times=3))
        self.assertEqual([b.number for b in series], [1, 2, 3])
        self.assertEqual({b.series for b in series}, {1})

    def test_books_all_or_nothing(self) -> None:
        booked = schedule(Booking(1, "alder", "Foundry", at(9, 10, day=16)))
        with self.assertRaises(Conflict):
            booked.book_series("alder", "Choir", at(9, 10), Rule("week", times=3))
        self.assertEqual(len(booked), 1)

    def test_books_the_last_day_of_each_month(self) -> None:
        booked = schedule()
        first = Period(datetime(2026, 1, 31, 9), datetime(2026, 1, 31, 10))
        series = booked.book_series("alder", "Choir", first, Rule("month", times=4))
        found = [b.period.start.date() for b in series]
        self.assertEqual(found[1:], [date(2026, 2, 28), date(2026, 3, 31), date(2026, 4, 30)])

    def test_cancels_what_is_still_to_come(self) -> None:
        booked = schedule()
        booked.book_series("alder", "Choir", at(9, 10), Rule("week", times=3))
        self.assertEqual(len(booked.cancel_series(1, datetime(2026, 3, 8))), 2)


class LookTest(unittest.TestCase):
    """Finding free time."""

    def test_free_slots_are_within_the_hours_of_the_house(self) -> None:
        booked = schedule(
            Booking(1, "alder", "Choir", at(9, 11)), Booking(2, "alder", "Foundry", at(11, 12))
        )
        found = booked.free_slots("alder", date(2026, 3, 2), timedelta(hours=1))
        self.assertEqual(found, [at(7, 9), at(12, 22)])

    def test_short_slots_are_left_out(self) -> None:
        booked = schedule(Booking(1, "alder", "Choir", at(9, 11)))
        self.assertEqual(
            booked.free_slots("alder", date(2026, 3, 2), timedelta(hours=3)), [at(11, 22)]
        )

    def test_free_rooms_suit_and_are_free(self) -> None:
        booked = schedule(Booking(1, "alder", "Choir", at(9, 11)))
        self.assertEqual([r.name for r in booked.free_rooms(at(10, 12))], ["birch"])
        self.assertEqual([r.name for r in booked.free_rooms(at(11, 12))], ["alder", "birch"])
        self.assertEqual([r.name for r in booked.free_rooms(at(11, 12), 5)], ["birch"])

    def test_used_share_is_of_the_hours_of_the_house(self) -> None:
        booked = schedule(Booking(1, "alder", "Choir", at(7, 10)))
        self.assertAlmostEqual(booked.used_fraction("alder", Period.of_day(date(2026, 3, 2))), 0.2)

    def test_renumbered_keeps_series_together(self) -> None:
        found = renumbered(
            [
                Booking(7, "alder", "Choir", at(9, 10), series=7),
                Booking(9, "alder", "Choir", at(9, 10, 9), series=7),
            ]
        )
        self.assertEqual([(b.number, b.series) for b in found], [(1, 1), (2, 1)])
