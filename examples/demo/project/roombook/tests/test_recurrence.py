"""Series of days."""

import unittest
from datetime import date, datetime

from roombook.period import Period
from roombook.recurrence import Rule, add_months, last_day, occurrences


def morning(year: int, month: int, day: int) -> Period:
    """From nine to ten."""
    return Period(datetime(year, month, day, 9), datetime(year, month, day, 10))


def days(first: Period, rule: Rule) -> list[str]:
    """The days of a series, month and day."""
    return [f"{period.start:%m-%d}" for period in occurrences(first, rule)]


class RuleTest(unittest.TestCase):
    """What a rule may say."""

    def test_needs_an_end(self) -> None:
        with self.assertRaisesRegex(ValueError, "needs an end"):
            Rule("day")

    def test_refuses_steps_below_one(self) -> None:
        with self.assertRaisesRegex(ValueError, "1 is the least"):
            Rule("day", 0, times=3)

    def test_refuses_series_of_decades(self) -> None:
        with self.assertRaisesRegex(ValueError, "520 the most"):
            Rule("week", times=521)

    def test_takes_weekdays_with_weeks_only(self) -> None:
        with self.assertRaisesRegex(ValueError, "go with weeks"):
            Rule("month", weekdays=frozenset({1}), times=3)

    def test_reads_as_people_write_it(self) -> None:
        rule = Rule("week", 2, weekdays=frozenset({2, 0}), until=date(2026, 6, 30))
        self.assertEqual(str(rule), "every 2 weeks on mon,wed until 2026-06-30")
        self.assertEqual(str(Rule("month", times=6)), "every month 6 times")


class DaysAndWeeksTest(unittest.TestCase):
    """Series by day and by week."""

    def test_every_day(self) -> None:
        found = days(morning(2026, 2, 27), Rule("day", times=4))
        self.assertEqual(found, ["02-27", "02-28", "03-01", "03-02"])

    def test_every_third_day(self) -> None:
        self.assertEqual(
            days(morning(2026, 3, 2), Rule("day", 3, times=3)), ["03-02", "03-05", "03-08"]
        )

    def test_every_week_on_the_day_of_the_first(self) -> None:
        self.assertEqual(
            days(morning(2026, 3, 4), Rule("week", times=3)), ["03-04", "03-11", "03-18"]
        )

    def test_every_second_week_on_two_days(self) -> None:
        rule = Rule("week", 2, weekdays=frozenset({0, 2}), times=4)
        self.assertEqual(days(morning(2026, 3, 2), rule), ["03-02", "03-04", "03-16", "03-18"])

    def test_weekdays_before_the_first_are_not_in_its_week(self) -> None:
        rule = Rule("week", weekdays=frozenset({0, 2}), times=3)
        self.assertEqual(days(morning(2026, 3, 4), rule), ["03-04", "03-09", "03-11"])

    def test_ends_with_its_last_day(self) -> None:
        rule = Rule("week", until=date(2026, 3, 18))
        self.assertEqual(days(morning(2026, 3, 4), rule), ["03-04", "03-11", "03-18"])

    def test_skipped_days_count(self) -> None:
        rule = Rule("day", times=3, skipped=frozenset({date(2026, 3, 3)}))
        self.assertEqual(days(morning(2026, 3, 2), rule), ["03-02", "03-04"])

    def test_keeps_the_hours(self) -> None:
        second = occurrences(morning(2026, 3, 2), Rule("day", times=2))[1]
        self.assertEqual(second, morning(2026, 3, 3))


class MonthsTest(unittest.TestCase):
    """Series by month and by year."""

    def test_every_month(self) -> None:
        found = days(morning(2026, 1, 15), Rule("month", times=4))
        self.assertEqual(found, ["01-15", "02-15", "03-15", "04-15"])

    def test_the_31st_is_the_last_day_of_shorter_months(self) -> None:
        found = days(morning(2026, 1, 31), Rule("month", times=5))
        self.assertEqual(found, ["01-31", "02-28", "03-31", "04-30", "05-31"])

    def test_the_30th_stays_the_30th(self) -> None:
        found = days(morning(2026, 4, 30), Rule("month", times=3))
        self.assertEqual(found, ["04-30", "05-30", "06-30"])

    def test_the_30th_comes_back_after_february(self) -> None:
        found = days(morning(2026, 1, 30), Rule("month", times=4))
        self.assertEqual(found, ["01-30", "02-28", "03-30", "04-30"])

    def test_every_quarter_over_the_new_year(self) -> None:
        found = days(morning(2025, 8, 31), Rule("month", 3, times=4))
        self.assertEqual(found, ["08-31", "11-30", "02-28", "05-31"])

    def test_a_leap_day_comes_back_after_four_years(self) -> None:
        found = [
            period.start.date()
            for period in occurrences(morning(2024, 2, 29), Rule("year", times=5))
        ]
        self.assertEqual(found[0], date(2024, 2, 29))
        self.assertEqual(found[1], date(2025, 2, 28))
        self.assertEqual(found[4], date(2028, 2, 29))

    def test_last_day_is_within_the_rule(self) -> None:
        rule = Rule("month", until=date(2026, 4, 30))
        self.assertEqual(last_day(morning(2026, 1, 31), rule), date(2026, 4, 30))

    def test_added_months_stay_within_the_month(self) -> None:
        self.assertEqual(add_months(date(2026, 1, 31), 1), date(2026, 2, 28))
        self.assertEqual(add_months(date(2026, 11, 15), 3), date(2027, 2, 15))
        self.assertEqual(add_months(date(2026, 2, 28), 1), date(2026, 3, 28))
