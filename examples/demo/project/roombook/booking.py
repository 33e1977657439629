"""A booking and what may become of it."""

# mypy: disable-error-code="explicit-override"
# (there is no typing.override before Python 3.12)

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from roombook.errors import NotAllowed
from roombook.period import Period

Status = Literal["asked", "confirmed", "cancelled"]

FREE_OF_CHARGE_UNTIL = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Booking:
    """Somebody has a room for a while.

    Attributes:
        number: by which it is found; 0 until a schedule took it in.
        room: the name of the room.
        who: the tenant who pays.
        period: when.
        title: what for.
        status: asked, confirmed or cancelled.
        series: the number of the first booking of its series; 0 where it stands alone.
        late: it was cancelled too late to be free of charge.
    """

    number: int
    room: str
    who: str
    period: Period
    title: str = ""
    status: Status = "confirmed"
    series: int = 0
    late: bool = False

    @property
    def blocks(self) -> bool:
        """Whether nobody else can have the room; who asked has it until somebody says no."""
        return self.status != "cancelled"

    @property
    def is_charged(self) -> bool:
        """Whether it is on the invoice."""
        return self.status == "confirmed" or self.late

    def confirmed(self) -> "Booking":
        """The booking after the house said yes.

        Raises:
            NotAllowed: it was cancelled.
        """
        if self.status == "cancelled":
            raise NotAllowed(f"booking {self.number} was cancelled; book anew")
        return replace(self, status="confirmed")

    def cancelled(self, now: datetime) -> "Booking":
        """The booking after the tenant said no.

        Raises:
            NotAllowed: it was cancelled before, or is over.
        """
        if self.status == "cancelled":
            raise NotAllowed(f"booking {self.number} was cancelled before")
        if self.period.end <= now:
            raise NotAllowed(f"booking {self.number} is over")
        is_late = self.status == "confirmed" and self.period.start - now < FREE_OF_CHARGE_UNTIL
        return replace(self, status="cancelled", late=is_late)

    def moved(self, period: Period, now: datetime) -> "Booking":
        """The booking at another time.

        Raises:
            NotAllowed: it was cancelled, or has begun.
        """
        if self.status == "cancelled":
            raise NotAllowed(f"booking {self.number} was cancelled; book anew")
        if self.period.start <= now:
            raise NotAllowed(f"booking {self.number} has begun")
        return replace(self, period=period)

    def __str__(self) -> str:
        """Number, room, time and tenant."""
        return f"#{self.number} {self.room} {self.period} {self.who}"
