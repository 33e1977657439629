"""Bookings as JSON lines."""

import tempfile
import unittest
from datetime import datetime
from pathlib import Path

from roombook.booking import Booking
from roombook.errors import BadText
from roombook.period import Period
from roombook.storage import load, read_booking, read_bookings, save, write_booking, write_bookings

PERIOD = Period(datetime(2026, 3, 2, 9), datetime(2026, 3, 2, 10, 30))
PLAIN = Booking(1, "alder", "Brandt & Co", PERIOD)
UNUSUAL = Booking(2, "alder", "Café Öl", PERIOD, "tea", "cancelled", 1, late=True)
LINE = '{"number": 1, "room": "alder", "who": "Brandt & Co", "start": "2026-03-02T09:00", "end": "2026-03-02T10:30"}'


class LineTest(unittest.TestCase):
    """One booking."""

    def test_what_is_as_usual_is_left_out(self) -> None:
        self.assertEqual(write_booking(PLAIN), LINE)

    def test_what_is_written_is_read_again(self) -> None:
        for booking in (PLAIN, UNUSUAL):
            with self.subTest(booking.number):
                self.assertEqual(read_booking(write_booking(booking)), booking)

    def test_refuses_other_lines(self) -> None:
        lines = ("", "[]", "{}", LINE.replace("1", '"1"', 1), LINE.replace("alder", "\\u00"))
        for line in (*lines, LINE.replace("}", ', "status": "lost"}')):
            with self.subTest(line), self.assertRaisesRegex(BadText, "a JSON object with number"):
                read_booking(line)


class FileTest(unittest.TestCase):
    """Many bookings."""

    def test_empty_lines_count_nothing(self) -> None:
        self.assertEqual(list(read_bookings(f"\n{LINE}\n\n")), [PLAIN])

    def test_says_which_line_is_wrong(self) -> None:
        with self.assertRaisesRegex(BadText, "in line 3"):
            list(read_bookings(f"{LINE}\n\n{LINE[:-9]}\n"))

    def test_what_is_saved_is_loaded_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            rooms, bookings = Path(folder, "rooms.txt"), Path(folder, "bookings.jsonl")
            rooms.write_text("alder | 4 | 12.50 | board\n", encoding="utf-8")
            self.assertEqual(len(load(rooms, bookings)), 0)
            bookings.write_text(write_bookings([PLAIN, UNUSUAL]), encoding="utf-8")
            schedule = load(rooms, bookings)
            save(schedule, bookings)
            self.assertEqual(list(load(rooms, bookings)), [PLAIN, UNUSUAL])
