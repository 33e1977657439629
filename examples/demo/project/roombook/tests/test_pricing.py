"""What a booking costs, and what a tenant owes."""

import unittest
from datetime import datetime, timedelta
from decimal import Decimal

from roombook.booking import Booking
from roombook.period import Period
from roombook.pricing import Tariff, Tier, invoice, rounded
from roombook.rooms import House, Room

ALDER = Room("alder", 4, Decimal("12.50"))
HALL = Room("hall", 60, Decimal("87.50"))
HOUSE = House([ALDER, HALL])
MARCH = Period.of_month(2026, 3)
MONDAY, SATURDAY = 2, 7


def at(start: float, end: float, day: int = MONDAY) -> Period:
    """Hours of a day in March."""
    midnight = datetime(2026, 3, day)
    return Period(midnight + timedelta(hours=start), midnight + timedelta(hours=end))


def price(start: float, end: float, day: int = MONDAY, room: Room = ALDER) -> str:
    """The price, as text."""
    return str(Tariff().price(room, at(start, end, day)))


class PriceTest(unittest.TestCase):
    """One booking."""

    def test_an_hour_costs_the_rate(self) -> None:
        self.assertEqual(price(13, 14), "12.50")

    def test_half_an_hour_costs_half(self) -> None:
        self.assertEqual(price(13, 13.5), "6.25")

    def test_the_morning_is_dearer(self) -> None:
        self.assertEqual(price(9, 11), "31.25")

    def test_the_evening_is_cheaper(self) -> None:
        self.assertEqual(price(18, 20), "20.00")

    def test_the_weekend_is_cheaper(self) -> None:
        self.assertEqual(price(10, 12, SATURDAY), "18.75")

    def test_pieces_have_their_own_price(self) -> None:
        self.assertEqual(price(11, 13), "28.13")
        self.assertEqual(price(17, 19), "22.50")

    def test_a_night_is_split_at_midnight(self) -> None:
        pieces = [(piece.minutes, factor) for piece, factor in Tariff().pieces(at(21, 25))]
        self.assertEqual(pieces, [(60, Decimal("0.80")), (120, Decimal(1)), (60, Decimal(1))])

    def test_a_quarter_of_an_hour_costs_a_half(self) -> None:
        self.assertEqual(price(13, 13.25), "6.25")

    def test_half_a_cent_is_rounded_up(self) -> None:
        self.assertEqual(price(10, 11), "15.63")
        self.assertEqual(str(rounded(Decimal("0.125"))), "0.13")
        self.assertEqual(str(rounded(Decimal("0.135"))), "0.14")

    def test_less_than_half_a_cent_is_rounded_down(self) -> None:
        self.assertEqual(str(rounded(Decimal("0.1249"))), "0.12")


class DiscountTest(unittest.TestCase):
    """Much in a month."""

    def test_below_the_first_tier_there_is_none(self) -> None:
        self.assertEqual(Tariff().discount_fraction(20 * 60 - 1), Decimal())

    def test_a_tier_is_reached_with_its_last_hour(self) -> None:
        self.assertEqual(Tariff().discount_fraction(20 * 60), Decimal("0.05"))
        self.assertEqual(Tariff().discount_fraction(40 * 60), Decimal("0.10"))

    def test_the_best_tier_counts(self) -> None:
        tariff = Tariff(tiers=(Tier(10, Decimal("0.20")), Tier(20, Decimal("0.10"))))
        self.assertEqual(tariff.discount_fraction(30 * 60), Decimal("0.20"))


class InvoiceTest(unittest.TestCase):
    """A month of one tenant."""

    def test_has_the_tenants_own_bookings_of_the_month(self) -> None:
        bookings = [
            Booking(1, "alder", "Choir", at(13, 14)),
            Booking(2, "alder", "Foundry", at(14, 15)),
            Booking(3, "alder", "Choir", Period(datetime(2026, 4, 1, 9), datetime(2026, 4, 1, 10))),
        ]
        bill = invoice("Choir", MARCH, bookings, HOUSE, Tariff())
        self.assertEqual([line.booking.number for line in bill.lines], [1])
        self.assertEqual(bill.total, Decimal("12.50"))

    def test_lines_are_in_the_order_of_time(self) -> None:
        bookings = [
            Booking(1, "alder", "Choir", at(15, 16)),
            Booking(2, "alder", "Choir", at(13, 14)),
        ]
        bill = invoice("Choir", MARCH, bookings, HOUSE, Tariff())
        self.assertEqual([line.booking.number for line in bill.lines], [2, 1])

    def test_cancelled_late_costs_half_and_earns_no_discount(self) -> None:
        late = Booking(1, "alder", "Choir", at(13, 14), status="cancelled", late=True)
        free = Booking(2, "alder", "Choir", at(15, 16), status="cancelled")
        bill = invoice("Choir", MARCH, [late, free], HOUSE, Tariff())
        self.assertEqual(bill.total, Decimal("6.25"))

    def test_what_is_only_asked_for_is_not_charged(self) -> None:
        bill = invoice(
            "Choir",
            MARCH,
            [Booking(1, "alder", "Choir", at(13, 14), status="asked")],
            HOUSE,
            Tariff(),
        )
        self.assertEqual(bill.total, Decimal())

    def test_the_discount_is_taken_off_the_sum(self) -> None:
        bookings = [Booking(n, "hall", "Choir", at(7, 12, SATURDAY + 7 * n)) for n in range(4)]
        bill = invoice("Choir", MARCH, bookings, HOUSE, Tariff())
        self.assertEqual(bill.sum, Decimal("1312.52"))
        self.assertEqual(bill.discount, Decimal("65.63"))
        self.assertEqual(bill.total, Decimal("1246.89"))
