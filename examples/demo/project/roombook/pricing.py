"""What a booking costs, and what a tenant owes for a month.

Money is ``Decimal``, never ``float``. Each line of an invoice is rounded to cents, half a cent upwards; sums are sums of
lines, so that whoever adds up an invoice by hand finds the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from decimal import Decimal

from roombook.booking import Booking
from roombook.period import Period
from roombook.rooms import House, Room

CENT = Decimal("0.01")
MINUTES_PER_HOUR = 60
WORKDAYS = frozenset(range(5))
WEEKEND = frozenset({5, 6})


@dataclass(frozen=True, slots=True)
class Band:
    """Hours with another price.

    Attributes:
        name: as it stands on the invoice.
        weekdays: on which days, 0 for Monday.
        start: from when.
        end: up to when.
        factor: by which the rate of the room is multiplied.
    """

    name: str
    weekdays: frozenset[int]
    start: time
    end: time
    factor: Decimal

    def holds(self, moment: datetime) -> bool:
        """Whether a moment is within."""
        return moment.weekday() in self.weekdays and self.start <= moment.time() < self.end


@dataclass(frozen=True, slots=True)
class Tier:
    """Who books much in a month pays less.

    Attributes:
        hours: from so many on.
        share: what is taken off, 0.05 for five per cent.
    """

    hours: int
    share: Decimal


BANDS = (
    Band("peak", WORKDAYS, time(9), time(12), Decimal("1.25")),
    Band("evening", WORKDAYS, time(18), time(22), Decimal("0.80")),
    Band("weekend", WEEKEND, time(7), time(22), Decimal("0.75")),
)
TIERS = (Tier(20, Decimal("0.05")), Tier(40, Decimal("0.10")))


@dataclass(frozen=True, slots=True)
class Tariff:
    """How the house charges.

    Attributes:
        bands: hours with another price; where several hold, the first one counts.
        tiers: discounts by the hours of a month.
        least_minutes: what is charged at least for a booking.
        late_fraction: what a booking costs that was cancelled too late.
    """

    bands: Sequence[Band] = BANDS
    tiers: Sequence[Tier] = TIERS
    least_minutes: int = 30
    late_fraction: Decimal = Decimal("0.5")

    def factor_at(self, moment: datetime) -> Decimal:
        """By what the rate is multiplied at a moment."""
        return next((band.factor for band in self.bands if band.holds(moment)), Decimal(1))

    def pieces(self, period: Period) -> Iterator[tuple[Period, Decimal]]:
        """The pieces of a period that have one price each, with their factors."""
        for day in period.by_day():
            edges = [edge for band in self.bands for edge in (band.start, band.end)]
            moments = (datetime.combine(day.start.date(), edge) for edge in edges)
            for piece in day.cut_at(moments):
                yield piece, self.factor_at(piece.start)

    def price(self, room: Room, period: Period) -> Decimal:
        """What a room costs for a period, in cents precisely."""
        weighted = sum(
            (piece.minutes * factor for piece, factor in self.pieces(period)), start=Decimal()
        )
        short = max(0, self.least_minutes - period.minutes)
        weighted += short * self.factor_at(period.start)
        return rounded(room.rate * weighted / MINUTES_PER_HOUR)

    def discount_fraction(self, minutes: int) -> Decimal:
        """What is taken off for so many minutes in a month: the best tier that is reached."""
        reached = (tier.share for tier in self.tiers if minutes >= tier.hours * MINUTES_PER_HOUR)
        return max(reached, default=Decimal())


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an invoice."""

    booking: Booking
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Invoice:
    """What a tenant owes.

    Attributes:
        who: the tenant.
        month: for which month.
        lines: one for each booking that is charged, by its start.
        discount_fraction: what is taken off the sum of the lines.
    """

    who: str
    month: Period
    lines: Sequence[Line] = field(default_factory=tuple)
    discount_fraction: Decimal = Decimal()

    @property
    def sum(self) -> Decimal:
        """Before the discount."""
        return sum((line.amount for line in self.lines), start=Decimal())

    @property
    def discount(self) -> Decimal:
        """What is taken off."""
        return rounded(self.sum * self.discount_fraction)

    @property
    def total(self) -> Decimal:
        """What is to be paid."""
        return self.sum - self.discount


def invoice(
    who: str, month: Period, bookings: Iterable[Booking], house: House, tariff: Tariff
) -> Invoice:
    """The invoice of a tenant for a month.

    Args:
        who: the tenant.
        month: bookings that start in it are charged.
        bookings: of anybody, at any time, in any order.
        house: the rooms with their rates.
        tariff: how they are charged.
    """
    own = (b for b in bookings if b.who == who and month.holds(b.period.start) and b.is_charged)
    charged = sorted(own, key=lambda b: (b.period, b.number))
    minutes = sum(b.period.minutes for b in charged if not b.late)
    return Invoice(
        who=who,
        month=month,
        lines=tuple(Line(b, amount(b, house, tariff)) for b in charged),
        discount_fraction=tariff.discount_fraction(minutes),
    )


def amount(booking: Booking, house: House, tariff: Tariff) -> Decimal:
    """What one booking costs; less where it was cancelled late."""
    price = tariff.price(house.room(booking.room), booking.period)
    return rounded(price * tariff.late_fraction) if booking.late else price


def rounded(money: Decimal) -> Decimal:
    """Money in cents."""
    return money.quantize(CENT)
