"""Stretches of time: half-open, from a start up to but without an end.

A period that ends at ten and one that starts at ten share no moment. They touch.
"""

# mypy: disable-error-code="explicit-override"
# (there is no typing.override before Python 3.12)

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Self

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """From ``start`` up to but without ``end``; periods sort by their start."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        """Refuse what lasts no time."""
        if self.end <= self.start:
            raise ValueError(f"a period must end after its start: {self.start} to {self.end}")

    @classmethod
    def of_day(cls, day: date) -> Self:
        """A whole day."""
        start = datetime.combine(day, time())
        return cls(start, start + DAY)

    @classmethod
    def of_month(cls, year: int, month: int) -> Self:
        """A whole month."""
        following = (year + 1, 1) if month == 12 else (year, month + 1)
        return cls(datetime(year, month, 1), datetime(*following, 1))

    @property
    def duration(self) -> timedelta:
        """How long it lasts."""
        return self.end - self.start

    @property
    def minutes(self) -> int:
        """How many whole minutes it lasts."""
        return self.duration // MINUTE

    def holds(self, moment: datetime) -> bool:
        """Whether a moment is within."""
        return self.start <= moment < self.end

    def covers(self, other: "Period") -> bool:
        """Whether all of another period is within."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: "Period") -> bool:
        """Whether they share a moment."""
        return self.start <= other.end and other.start <= self.end

    def touches(self, other: "Period") -> bool:
        """Whether one ends where the other starts."""
        return self.end == other.start or other.end == self.start

    def shared_with(self, other: "Period") -> "Period | None":
        """The time that both have, if any."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Period(start, end) if start < end else None

    def without(self, other: "Period") -> list["Period"]:
        """What is left when another period is taken out: nothing, one piece or two."""
        shared = self.shared_with(other)
        if shared is None:
            return [self]
        left: list[Period] = []
        if self.start < shared.start:
            left.append(Period(self.start, shared.start))
        if shared.end < self.end:
            left.append(Period(shared.end, self.end))
        return left

    def shifted(self, by: timedelta) -> "Period":
        """The same length at another time."""
        return Period(self.start + by, self.end + by)

    def moved_to(self, day: date) -> "Period":
        """The same hours on another day."""
        return self.shifted(datetime.combine(day, self.start.time()) - self.start)

    def cut_at(self, moments: Iterable[datetime]) -> Iterator["Period"]:
        """The pieces between the moments that are within, in order."""
        start = self.start
        for moment in sorted(set(moments)):
            if start < moment < self.end:
                yield Period(start, moment)
                start = moment
        yield Period(start, self.end)

    def by_day(self) -> Iterator["Period"]:
        """The pieces of each day, in order."""
        days = (self.end.date() - self.start.date()).days
        midnights = (datetime.combine(self.start.date(), time()) + n * DAY for n in range(days + 1))
        return self.cut_at(midnights)

    def __str__(self) -> str:
        """As people write it: ``2026-03-02 09:00-10:30``."""
        if self.start.date() == self.end.date():
            return f"{self.start:%Y-%m-%d %H:%M}-{self.end:%H:%M}"
        return f"{self.start:%Y-%m-%d %H:%M} to {self.end:%Y-%m-%d %H:%M}"


def merged(periods: Iterable[Period]) -> list[Period]:
    """The same moments in as few periods as possible, in order."""
    result: list[Period] = []
    for period in sorted(periods):
        last = result[-1] if result else None
        if last is not None and (last.overlaps(period) or last.touches(period)):
            result[-1] = Period(last.start, max(last.end, period.end))
        else:
            result.append(period)
    return result


def gaps(periods: Iterable[Period], within: Period) -> list[Period]:
    """What of ``within`` none of the periods has, in order."""
    left = [within]
    for period in periods:
        left = [piece for whole in left for piece in whole.without(period)]
    return left


def total_minutes(periods: Iterable[Period]) -> int:
    """How many minutes they last together; what several have counts once."""
    return sum(period.minutes for period in merged(periods))
