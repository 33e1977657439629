"""Periods, durations and series as people type them."""

import unittest
from datetime import date, datetime, timedelta

from roombook.errors import BadText
from roombook.period import Period
from roombook.recurrence import Rule
from roombook.textform import read_day, read_duration, read_period, read_rule


class DurationTest(unittest.TestCase):
    """How long."""

    def test_reads_minutes_hours_and_both(self) -> None:
        for text, minutes in (("90m", 90), ("90", 90), ("2h", 120), ("1h30", 90), ("1h30m", 90)):
            with self.subTest(text):
                self.assertEqual(read_duration(text), timedelta(minutes=minutes))

    def test_refuses_other_texts(self) -> None:
        for text in ("", "0", "h", "1.5h", "-30m", "soon"):
            with self.subTest(text), self.assertRaisesRegex(BadText, "90m, 2h or 1h30"):
                read_duration(text)


class PeriodTest(unittest.TestCase):
    """When."""

    def test_reads_hours(self) -> None:
        wanted = Period(datetime(2026, 3, 2, 9), datetime(2026, 3, 2, 10, 30))
        for text in ("2026-03-02 09:00-10:30", "2026-03-02 9-10:30", "2026-03-02 9 1h30"):
            with self.subTest(text):
                self.assertEqual(read_period(text), wanted)

    def test_what_is_written_is_read_again(self) -> None:
        period = Period(datetime(2026, 3, 2, 9), datetime(2026, 3, 2, 10, 30))
        self.assertEqual(read_period(str(period)), period)

    def test_hours_that_end_before_they_start_end_on_the_next_day(self) -> None:
        self.assertEqual(read_period("2026-03-02 22-02").end, datetime(2026, 3, 3, 2))
        self.assertEqual(read_period("2026-03-02 22-24").end, datetime(2026, 3, 3))

    def test_refuses_other_texts(self) -> None:
        for text in ("", "tomorrow", "2026-03-02", "2026-03-02 25-26", "2026-03-02 9:75-10"):
            with self.subTest(text), self.assertRaisesRegex(BadText, "2026-03-02 09:00-10:30"):
                read_period(text)

    def test_refuses_days_that_do_not_exist(self) -> None:
        with self.assertRaisesRegex(BadText, "a day such as"):
            read_period("2026-02-30 9-10")
        self.assertEqual(read_day(" 2026-02-28 "), date(2026, 2, 28))


class RuleTest(unittest.TestCase):
    """How often."""

    def test_reads_series(self) -> None:
        june = date(2026, 6, 30)
        wanted = {
            "every day 5 times": Rule("day", times=5),
            "every 2 weeks on mon,wed until 2026-06-30": Rule(
                "week", 2, frozenset({0, 2}), until=june
            ),
            "every week on Monday, Friday 8 times": Rule("week", 1, frozenset({0, 4}), times=8),
            "every 3 months 4 times until 2026-06-30": Rule("month", 3, times=4, until=june),
        }
        for text, rule in wanted.items():
            with self.subTest(text):
                self.assertEqual(read_rule(text), rule)

    def test_what_is_written_is_read_again(self) -> None:
        for text in ("every 2 weeks on mon,wed until 2026-06-30", "every month 6 times"):
            with self.subTest(text):
                self.assertEqual(str(read_rule(text)), text)

    def test_refuses_other_texts(self) -> None:
        for text in (
            "",
            "every",
            "every 2",
            "weekly",
            "every moon 3 times",
            "every day",
            "every day until",
        ):
            with self.subTest(text), self.assertRaisesRegex(BadText, "a series such as"):
                read_rule(text)
