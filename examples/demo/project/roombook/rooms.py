"""The rooms of the house and what is in them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from roombook.errors import BadText, UnknownRoom

EQUIPMENT = frozenset({"screen", "camera", "board", "phone", "kitchen", "piano"})
LINE_FORM = "name | seats | rate per hour | equipment, separated by commas"


@dataclass(frozen=True, slots=True)
class Room:
    """A room.

    Attributes:
        name: by which it is booked.
        seats: how many people may be in it.
        rate: its price per hour, before peak factors and discounts.
        equipment: what is in it.
    """

    name: str
    seats: int
    rate: Decimal
    equipment: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Refuse rooms that nobody could book."""
        if self.seats < 1:
            raise ValueError(f"room {self.name!r} has {self.seats} seats; 1 is the least")
        if self.rate < 0:
            raise ValueError(f"room {self.name!r} costs {self.rate}; 0 is the least")
        unknown = self.equipment - EQUIPMENT
        if unknown:
            raise ValueError(f"room {self.name!r}: nobody knows what {sorted(unknown)} is")

    def suits(self, seats: int, equipment: frozenset[str]) -> bool:
        """Whether so many people find what they need in it."""
        return self.seats >= seats and equipment <= self.equipment


class House:
    """All rooms, by name."""

    def __init__(self, rooms: Iterable[Room]) -> None:
        self._rooms: dict[str, Room] = {}
        for room in rooms:
            if room.name in self._rooms:
                raise ValueError(f"there are two rooms of the name {room.name!r}")
            self._rooms[room.name] = room

    def __iter__(self) -> Iterator[Room]:
        """The rooms in the order in which they were given."""
        return iter(self._rooms.values())

    def __len__(self) -> int:
        """How many rooms there are."""
        return len(self._rooms)

    def room(self, name: str) -> Room:
        """The room of that name.

        Raises:
            UnknownRoom: there is none.
        """
        try:
            return self._rooms[name]
        except KeyError:
            raise UnknownRoom(name, list(self._rooms)) from None

    def suitable(self, seats: int = 1, equipment: Iterable[str] = ()) -> list[Room]:
        """The rooms that suit, the cheapest first, of equal ones the smallest."""
        needed = frozenset(equipment)
        found = (room for room in self if room.suits(seats, needed))
        return sorted(found, key=lambda room: (room.rate, room.seats, room.name))


def read_house(text: str) -> House:
    """Read rooms, one in a line; empty lines and lines that start with # count nothing.

    Raises:
        BadText: a line is no room.
    """
    lines = (line.strip() for line in text.splitlines())
    return House(_read_room(line) for line in lines if line and not line.startswith("#"))


def _read_room(line: str) -> Room:
    fields = [field.strip() for field in line.split("|")]
    if len(fields) != 4:
        raise BadText(line, LINE_FORM)
    name, seats, rate, equipment = fields
    try:
        return Room(name, int(seats), Decimal(rate), frozenset(_words(equipment)))
    except (ValueError, InvalidOperation) as error:
        raise BadText(line, f"{LINE_FORM} ({error})") from None


def _words(text: str) -> Iterator[str]:
    return (word for part in text.split(",") if (word := part.strip().lower()))
