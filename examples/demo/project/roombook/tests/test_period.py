"""Stretches of time."""

import unittest
from datetime import date, datetime, timedelta

from roombook.period import Period, gaps, merged, total_minutes


def hours(start: float, end: float) -> Period:
    """So many hours after midnight of a Monday."""
    midnight = datetime(2026, 3, 2)
    return Period(midnight + timedelta(hours=start), midnight + timedelta(hours=end))


class PeriodTest(unittest.TestCase):
    """One period, and two."""

    def test_refuses_what_lasts_no_time(self) -> None:
        with self.assertRaisesRegex(ValueError, "must end after its start"):
            hours(9, 9)

    def test_lasts_minutes(self) -> None:
        self.assertEqual(hours(9, 10.5).minutes, 90)
        self.assertEqual(hours(9, 10.5).duration, timedelta(hours=1, minutes=30))

    def test_holds_its_start_and_not_its_end(self) -> None:
        self.assertTrue(hours(9, 10).holds(datetime(2026, 3, 2, 9)))
        self.assertFalse(hours(9, 10).holds(datetime(2026, 3, 2, 10)))

    def test_covers_itself_and_what_is_within(self) -> None:
        self.assertTrue(hours(9, 12).covers(hours(9, 12)))
        self.assertTrue(hours(9, 12).covers(hours(10, 11)))
        self.assertFalse(hours(9, 12).covers(hours(11, 13)))

    def test_overlaps_what_shares_a_moment(self) -> None:
        self.assertTrue(hours(9, 11).overlaps(hours(10, 12)))
        self.assertTrue(hours(10, 12).overlaps(hours(9, 11)))
        self.assertTrue(hours(9, 12).overlaps(hours(10, 11)))
        self.assertFalse(hours(9, 10).overlaps(hours(11, 12)))

    def test_does_not_overlap_what_it_touches(self) -> None:
        self.assertFalse(hours(9, 10).overlaps(hours(10, 11)))
        self.assertFalse(hours(10, 11).overlaps(hours(9, 10)))

    def test_touches_what_starts_at_its_end(self) -> None:
        self.assertTrue(hours(9, 10).touches(hours(10, 11)))
        self.assertTrue(hours(10, 11).touches(hours(9, 10)))
        self.assertFalse(hours(9, 10).touches(hours(10.5, 11)))

    def test_shares_the_time_that_both_have(self) -> None:
        self.assertEqual(hours(9, 11).shared_with(hours(10, 12)), hours(10, 11))
        self.assertIsNone(hours(9, 10).shared_with(hours(10, 11)))

    def test_without_leaves_nothing_one_piece_or_two(self) -> None:
        self.assertEqual(hours(9, 10).without(hours(8, 11)), [])
        self.assertEqual(hours(9, 11).without(hours(10, 12)), [hours(9, 10)])
        self.assertEqual(hours(9, 12).without(hours(10, 11)), [hours(9, 10), hours(11, 12)])
        self.assertEqual(hours(9, 10).without(hours(10, 11)), [hours(9, 10)])

    def test_moves_to_another_day_at_the_same_hours(self) -> None:
        moved = hours(9, 10).moved_to(date(2026, 4, 1))
        self.assertEqual(moved, Period(datetime(2026, 4, 1, 9), datetime(2026, 4, 1, 10)))

    def test_is_cut_at_moments_within(self) -> None:
        moments = [datetime(2026, 3, 2, h) for h in (8, 10, 11, 12)]
        self.assertEqual(
            list(hours(9, 12).cut_at(moments)), [hours(9, 10), hours(10, 11), hours(11, 12)]
        )

    def test_is_cut_by_days(self) -> None:
        self.assertEqual(list(hours(22, 26).by_day()), [hours(22, 24), hours(24, 26)])
        self.assertEqual(list(hours(9, 10).by_day()), [hours(9, 10)])

    def test_of_a_month_ends_with_it(self) -> None:
        self.assertEqual(Period.of_month(2026, 2).duration, timedelta(days=28))
        self.assertEqual(Period.of_month(2026, 12).end, datetime(2027, 1, 1))

    def test_reads_as_people_write_it(self) -> None:
        self.assertEqual(str(hours(9, 10.5)), "2026-03-02 09:00-10:30")
        self.assertEqual(str(hours(22, 26)), "2026-03-02 22:00 to 2026-03-03 02:00")


class ManyPeriodsTest(unittest.TestCase):
    """Several periods."""

    def test_merged_joins_what_overlaps_or_touches(self) -> None:
        found = merged([hours(13, 14), hours(9, 10), hours(10, 11), hours(10.5, 12)])
        self.assertEqual(found, [hours(9, 12), hours(13, 14)])

    def test_merged_keeps_the_later_end(self) -> None:
        self.assertEqual(merged([hours(9, 12), hours(10, 11)]), [hours(9, 12)])

    def test_gaps_are_what_nobody_has(self) -> None:
        found = gaps([hours(9, 10), hours(12, 13)], hours(8, 14))
        self.assertEqual(found, [hours(8, 9), hours(10, 12), hours(13, 14)])

    def test_gaps_between_periods_that_touch_are_none(self) -> None:
        self.assertEqual(gaps([hours(8, 10), hours(10, 14)], hours(8, 14)), [])

    def test_minutes_that_several_have_count_once(self) -> None:
        self.assertEqual(total_minutes([hours(9, 11), hours(10, 12)]), 180)
