"""Reads JSON, and tables of like objects as they are tightened, with each scalar as it is spelled."""

import re
from dataclasses import dataclass
from typing import TypeAlias

Spelled: TypeAlias = "str | list[Spelled] | Fields"
"""A scalar as it is written, a list, or an object."""

STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
OTHER = re.compile(r"[^\s,\]}:]+")
BLANKS = re.compile(r"[ \t\r\n]*")
LINES = re.compile(r"(\d+) lines of (?=columns )")


@dataclass(frozen=True, slots=True)
class Fields:
    """The members of an object in their order."""

    members: tuple[tuple[str, Spelled], ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A key, and the columns of the objects in it."""

    key: str
    inner: "tuple[Column, ...]"


class Reader:
    """Reads from the start of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def at_end(self) -> bool:
        """Whether only blanks are left."""
        return not self.peek()

    def peek(self) -> str:
        """The next character that is no blank."""
        self.at = self._end(BLANKS)
        return self.text[self.at : self.at + 1]

    def take(self, what: str) -> bool:
        """Go on behind a text, if it comes next."""
        self.peek()
        comes = self.text.startswith(what, self.at)
        self.at += len(what) * comes
        return comes

    def expect(self, what: str) -> None:
        """Go on behind a text that must come next."""
        assert self.take(what), f"{what} at {self.at}: {self.text[self.at : self.at + 40]}"

    def document(self) -> list[Spelled]:
        """All values up to the end; rows of a table that stands for lines are one each."""
        self.peek()
        title = LINES.match(self.text, self.at)
        if title:
            self.at = title.end()
            columns = self.columns()
            values: list[Spelled] = [self.row(columns) for _ in range(int(title[1]))]
            assert self.at_end()
            return values
        values = []
        while not self.at_end():
            values.append(self.value())
        return values

    def value(self) -> Spelled:
        """One value."""
        if self.take("["):
            return self.items()
        if self.take("{"):
            return self.fields()
        return self.scalar()

    def scalar(self) -> str:
        """A string with its quotes, or a number or name."""
        start = self.at
        self.at = self._end(STRING if self.peek() == '"' else OTHER)
        assert self.at > start
        return self.text[start : self.at].lstrip()

    def items(self) -> list[Spelled]:
        """What is in a list that was opened."""
        columns = self.columns()
        found: list[Spelled] = []
        while not self.take("]"):
            found.append(self.row(columns) if columns else self.value())
            self.take(",")
        return found

    def fields(self) -> Fields:
        """What is in an object that was opened."""
        columns = self.columns()
        found: list[tuple[str, Spelled]] = []
        while not self.take("}"):
            key = self.scalar()
            self.expect(":")
            found.append((key, self.row(columns) if columns else self.value()))
            self.take(",")
        return Fields(tuple(found))

    def columns(self) -> tuple[Column, ...]:
        """The columns of a table, none where there is none."""
        if not self.take("columns "):
            return ()
        found = self.names()
        self.expect(":")
        return found

    def names(self) -> tuple[Column, ...]:
        """Keys with commas between them, those of objects in brackets behind."""
        found: list[Column] = []
        while not found or self.take(","):
            self.peek()
            key = self.scalar()
            inner = self.names() if self.take("(") else ()
            if inner:
                self.expect(")")
            found.append(Column(key, inner))
        return tuple(found)

    def row(self, columns: tuple[Column, ...]) -> Fields:
        """An object that was written without its keys."""
        self.expect("[")
        found: list[tuple[str, Spelled]] = []
        for i, column in enumerate(columns):
            if i:
                self.expect(",")
            if self.peek() in {",", "]"}:
                continue
            nested = column.inner and self.peek() == "["
            found.append((column.key, self.row(column.inner) if nested else self.value()))
        self.expect("]")
        return Fields(tuple(found))

    def _end(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        return match.end() if match else self.at
