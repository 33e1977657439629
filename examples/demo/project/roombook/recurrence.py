"""Series of days: every so many days, weeks, months or years.

A rule says which days; the hours are those of the first period.
"""

# mypy: disable-error-code="explicit-override"
# (there is no typing.override before Python 3.12)

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count, islice
from typing import Literal

from roombook.period import Period

Unit = Literal["day", "week", "month", "year"]

LONGEST_SERIES = 520  # ten years of weeks; longer ones are slips of the keyboard
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Rule:
    """Which days a series has.

    Attributes:
        unit: day, week, month or year.
        every: each so many-th of them.
        weekdays: for weeks: the days, 0 for Monday; none for the day of the first period.
        times: how many days at most.
        until: the last day that may be in it.
        skipped: days that are left out; they count as one of ``times``.
    """

    unit: Unit
    every: int = 1
    weekdays: frozenset[int] = frozenset()
    times: int | None = None
    until: date | None = None
    skipped: frozenset[date] = frozenset()

    def __post_init__(self) -> None:
        """Refuse rules without an end, and what has no meaning."""
        if self.every < 1:
            raise ValueError(f"every {self.every} {self.unit}s: 1 is the least")
        if self.times is None and self.until is None:
            raise ValueError("a series needs an end: say how many times, or until when")
        if self.times is not None and not 1 <= self.times <= LONGEST_SERIES:
            raise ValueError(f"{self.times} times: 1 is the least, {LONGEST_SERIES} the most")
        if self.weekdays and self.unit != "week":
            raise ValueError(f"weekdays go with weeks, not with {self.unit}s")
        if not self.weekdays <= frozenset(range(len(WEEKDAYS))):
            raise ValueError(f"weekdays are 0 to 6, not {sorted(self.weekdays)}")

    def __str__(self) -> str:
        """As people write it: ``every 2 weeks on mon,wed until 2026-06-30``."""
        unit = self.unit if self.every == 1 else f"{self.every} {self.unit}s"
        named = ",".join(WEEKDAYS[day] for day in sorted(self.weekdays))
        parts = [f"every {unit}"]
        if named:
            parts.append(f"on {named}")
        if self.times is not None:
            parts.append(f"{self.times} times")
        if self.until is not None:
            parts.append(f"until {self.until}")
        return " ".join(parts)


def occurrences(first: Period, rule: Rule) -> list[Period]:
    """The periods of a series, in order; the first one is among them unless its day is skipped."""
    days = _within(_days(first.start.date(), rule), rule)
    return [first.moved_to(day) for day in days if day not in rule.skipped]


def last_day(first: Period, rule: Rule) -> date:
    """The day on which a series ends."""
    return max(_within(_days(first.start.date(), rule), rule), default=first.start.date())


def add_months(day: date, months: int) -> date:
    """The same day of another month, or its last day where the month is shorter."""
    years, month0 = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month0 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def _within(days: Iterator[date], rule: Rule) -> Iterator[date]:
    """The days up to the end of the rule."""
    for day in islice(days, rule.times or LONGEST_SERIES):
        if rule.until is not None and day > rule.until:
            return
        yield day


def _days(start: date, rule: Rule) -> Iterator[date]:
    """All days of a rule, without an end."""
    if rule.unit == "day":
        return _daily(start, rule.every)
    if rule.unit == "week":
        return _weekly(start, rule.every, rule.weekdays or frozenset({start.weekday()}))
    if rule.unit == "month":
        return _monthly(start, rule.every)
    return _monthly(start, rule.every * 12)


def _daily(start: date, every: int) -> Iterator[date]:
    return (start + timedelta(days=every * n) for n in count())


def _weekly(start: date, every: int, weekdays: frozenset[int]) -> Iterator[date]:
    monday = start - timedelta(days=start.weekday())
    for week in count(0, every):
        for weekday in sorted(weekdays):
            day = monday + timedelta(weeks=week, days=weekday)
            if day >= start:
                yield day


def _monthly(start: date, every: int) -> Iterator[date]:
    day = start
    while True:
        yield day
        day = add_months(day, every)
