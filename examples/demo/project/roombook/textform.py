"""Periods, durations and series as people type them.

``2026-03-02 09:00-10:30``, ``2026-03-02 09:00 1h30``, ``every 2 weeks on mon,wed until 2026-06-30``.
"""

import re
from datetime import date, datetime, timedelta

from roombook.errors import BadText
from roombook.period import DAY, Period
from roombook.recurrence import WEEKDAYS, Rule, Unit

PERIOD_FORM = "a day and hours such as 2026-03-02 09:00-10:30 or 2026-03-02 09:00 1h30"
DURATION_FORM = "a duration such as 90m, 2h or 1h30"
RULE_FORM = "a series such as 'every 2 weeks on mon,wed until 2026-06-30' or 'every month 6 times'"
DAY_FORM = "a day such as 2026-03-02"

_DURATION = re.compile(r"(?:(?P<hours>\d{1,3})h)?(?:(?P<minutes>\d{1,4})m?)?")
_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?")
_UNITS: dict[str, Unit] = {
    "day": "day",
    "days": "day",
    "week": "week",
    "weeks": "week",
    "month": "month",
    "months": "month",
    "year": "year",
    "years": "year",
}


def read_day(text: str) -> date:
    """Read a day.

    Raises:
        BadText: it is none.
    """
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise BadText(text, DAY_FORM) from None


def read_duration(text: str) -> timedelta:
    """Read a duration: ``90m``, ``90``, ``2h``, ``1h30``, ``1h30m``.

    Raises:
        BadText: it is none, or it lasts no time.
    """
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise BadText(text, DURATION_FORM)
    hours, minutes = (int(part or 0) for part in found.group("hours", "minutes"))
    duration = timedelta(hours=hours, minutes=minutes)
    if not duration:
        raise BadText(text, DURATION_FORM)
    return duration


def read_period(text: str) -> Period:
    """Read a period: a day, then hours or an hour and a duration.

    Hours that end before they start end on the next day.

    Raises:
        BadText: it is none.
    """
    words = text.split()
    if len(words) == 2 and "-" in words[1]:
        start, end = words[1].split("-", 1)
        return _between(_at(words[0], start, text), _at(words[0], end, text))
    if len(words) == 3:
        begin = _at(words[0], words[1], text)
        return Period(begin, begin + read_duration(words[2]))
    raise BadText(text, PERIOD_FORM)


def read_rule(text: str) -> Rule:
    """Read a series.

    Raises:
        BadText: it is none, or has no end.
    """
    words = text.lower().replace(", ", ",").split()
    if words[:1] != ["every"] or len(words) < 3:
        raise BadText(text, RULE_FORM)
    every, words = _every(words[1:])
    unit = _UNITS.get(words[0]) if words else None
    if unit is None:
        raise BadText(text, RULE_FORM)
    try:
        return _with_options(unit, every, words[1:])
    except (ValueError, IndexError) as error:
        raise BadText(text, f"{RULE_FORM} ({error})") from None


def _every(words: list[str]) -> tuple[int, list[str]]:
    """The number before a unit, 1 where there is none, and the words after it."""
    if words[0].isdecimal():
        return int(words[0]), words[1:]
    return 1, words


def _with_options(unit: Unit, every: int, words: list[str]) -> Rule:
    weekdays: frozenset[int] = frozenset()
    times: int | None = None
    until: date | None = None
    while words:
        if words[0] == "on":
            weekdays = frozenset(WEEKDAYS.index(name[:3]) for name in words[1].split(","))
        elif words[0] == "until":
            until = read_day(words[1])
        elif words[1] == "times":
            times = int(words[0])
        else:
            raise ValueError(f"nobody knows what {words[0]!r} is")
        words = words[2:]
    return Rule(unit, every, weekdays=weekdays, times=times, until=until)


def _between(start: datetime, end: datetime) -> Period:
    return Period(start, end if end > start else end + DAY)


def _at(day: str, clock: str, text: str) -> datetime:
    found = _CLOCK.fullmatch(clock)
    if found is None:
        raise BadText(text, PERIOD_FORM)
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if hour > 24 or minute > 59 or (hour == 24 and minute):
        raise BadText(text, PERIOD_FORM)
    midnight = datetime.combine(read_day(day), datetime.min.time())
    return midnight + timedelta(hours=hour, minutes=minute)
