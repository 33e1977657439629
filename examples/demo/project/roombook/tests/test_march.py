"""A month of the house: what was billed for it on paper, and what comes out here."""

import unittest
from datetime import date
from functools import cache
from pathlib import Path

from roombook.period import Period
from roombook.pricing import Tariff, invoice
from roombook.report import invoice_text, month_totals, week_view
from roombook.schedule import Schedule
from roombook.storage import load

DATA = Path(__file__).parents[2] / "data"
MARCH = Period.of_month(2026, 3)


@cache
def schedule() -> Schedule:
    """The bookings of March."""
    return load(DATA / "rooms.txt", DATA / "bookings.jsonl")


class MarchTest(unittest.TestCase):
    """The month as a whole."""

    maxDiff = None

    def test_all_bookings_are_taken_in(self) -> None:
        self.assertEqual(len(schedule()), 220)

    def test_the_invoice_of_the_choir_is_as_on_paper(self) -> None:
        bill = invoice("Choir", MARCH, schedule(), schedule().house, Tariff())
        self.assertEqual(invoice_text(bill), (DATA / "march-choir.txt").read_text(encoding="utf-8"))

    def test_the_totals_are_as_on_paper(self) -> None:
        found = month_totals(schedule(), MARCH, Tariff())
        self.assertEqual(found, (DATA / "march-totals.txt").read_text(encoding="utf-8"))

    def test_the_week_of_a_room_is_shown_day_by_day(self) -> None:
        days = week_view(schedule(), "alder", date(2026, 3, 2)).splitlines()
        self.assertEqual(
            [day[:3] for day in days], ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        )
