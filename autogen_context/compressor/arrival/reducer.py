"""What every kind of content can do to become smaller.

Promise: a seam. A reducer knows one kind of content and nothing of messages, stashes or models; it is deterministic,
takes time in proportion to the text, raises on no input, and what it returns is never larger than what it was given.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

CountText = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a text may have, and what of it is asked for.

    Attributes:
        tokens: what the result may have.
        count: tokens of a text.
        wanted: lower-case words, identifiers and paths that the call's arguments and the task name; what has them
            stays before what has not.
    """

    tokens: int
    count: CountText
    wanted: frozenset[str] = frozenset()


class Reducer(Protocol):
    """One kind of content."""

    @property
    def kind(self) -> str:
        """Its name, for reports, such as ``json`` or ``log``."""
        ...

    def recognises(self, text: str, /) -> bool:
        """Whether a text is of this kind, told by the text alone."""
        ...

    def tighten(self, text: str, /) -> str:
        """The same information in fewer characters; the text itself where nothing can be gained.

        What a program or a person would look up in it is still there word for word.
        """
        ...

    def cut(self, text: str, room: Room, /) -> str:
        """What matters of a text within a room, in its order; a line in square brackets wherever something went."""
        ...
