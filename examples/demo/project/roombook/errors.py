"""What can go wrong, as exceptions that say what was asked and what stands against it."""

from collections.abc import Sequence


class BookingError(Exception):
    """A booking cannot be made or changed as asked."""


class Conflict(BookingError):
    """The room is taken.

    Attributes:
        wanted: what was asked for, as text.
        taken: the bookings that stand against it, as text.
    """

    def __init__(self, wanted: str, taken: Sequence[str]) -> None:
        self.wanted = wanted
        self.taken = tuple(taken)
        super().__init__(f"{wanted} is taken by {', '.join(self.taken)}")


class UnknownRoom(BookingError):
    """There is no room of that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        super().__init__(f"there is no room {name!r}; there are {', '.join(sorted(known))}")


class UnknownBooking(BookingError):
    """There is no booking of that number."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"there is no booking {number}")


class NotAllowed(BookingError):
    """The state of a booking does not allow the change."""


class BadText(ValueError):
    """A text cannot be read.

    Attributes:
        text: what was given.
        wanted: what it should look like.
    """

    def __init__(self, text: str, wanted: str) -> None:
        self.text = text
        self.wanted = wanted
        super().__init__(f"{text!r} cannot be read; write {wanted}")
