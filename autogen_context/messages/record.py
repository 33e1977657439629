"""Read JSON data of unknown make, field by field.

Promise: a field comes out in the type that was asked for, or an error says which field is not of it.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar, cast

Value = TypeVar("Value")


class Record:
    """A JSON object.

    Args:
        data: what should be one.

    Raises:
        TypeError: it is none.
    """

    def __init__(self, data: object) -> None:
        if not isinstance(data, Mapping):
            raise TypeError(f"expected an object, got {type(data).__name__}")
        self._data = cast("Mapping[str, object]", data)  # JSON has no other keys

    @property
    def fields(self) -> Mapping[str, object]:
        """All of it."""
        return self._data

    def __contains__(self, key: str) -> bool:
        """Whether there is such a field."""
        return key in self._data

    def is_null(self, key: str) -> bool:
        """Whether a field that must be there is null."""
        return self._data[key] is None

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        return self._typed(key, str, default)

    def whole(self, key: str) -> int:
        """A whole number."""
        if isinstance(self._data[key], bool):
            raise TypeError(f"{key!r} must be a number, got a bool")
        return self._typed(key, int)

    def flag(self, key: str) -> bool:
        """A truth value."""
        return self._typed(key, bool)

    def number(self, key: str) -> float:
        """A number."""
        return (
            float(self.whole(key)) if isinstance(self._data[key], int) else self._typed(key, float)
        )

    def record(self, key: str) -> "Record":
        """An object."""
        return Record(self._data[key])

    def records(self, key: str) -> Iterator["Record"]:
        """The objects of a list; none where the field is missing."""
        return map(Record, self._list(key))

    def texts(self, key: str) -> Iterator[str]:
        """The strings of a list; none where the field is missing."""
        return (Record({key: item}).text(key) for item in self._list(key))

    def items(self) -> Iterator[tuple[str, str]]:
        """All fields, where each is a string."""
        return ((key, self.text(key)) for key in self._data)

    def _list(self, key: str) -> list[object]:
        items = self._data.get(key, [])
        if not isinstance(items, list | tuple):
            raise TypeError(f"{key!r} must be a list, got {type(items).__name__}")
        return list(cast("list[object]", items))

    def _typed(self, key: str, kind: type[Value], default: Value | None = None) -> Value:
        value = self._data[key] if default is None else self._data.get(key, default)
        if not isinstance(value, kind):
            raise TypeError(f"{key!r} must be {kind.__name__}, got {type(value).__name__}")
        return value
