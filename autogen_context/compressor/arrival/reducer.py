"""What every kind of content can do to become smaller, and how a text is told to be of a kind.

Promise: a seam. A reducer knows one kind of content and nothing of messages, stores or models; it is deterministic, takes
time in proportion to the text, raises on no input, and what it returns has no more characters than what it was given.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import filterfalse, islice
from math import ceil

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reducer:
    """One kind of content.

    Attributes:
        kind: its name, for reports, such as ``json`` or ``log``.
        recognises: whether a text is of this kind, told by the text and a sample of its lines.
        cut: what matters of a text within a room, in its order, with a mark in square brackets wherever something went.
        tighten: the same information in fewer characters; the text itself where nothing can be gained.
    """

    kind: str
    recognises: Callable[[str, Sequence[str]], bool]
    cut: Callable[[str, Room], str]
    tighten: Callable[[str], str] = str


def are_enough(
    lines: Sequence[str], test: Callable[[str], object], *, share: float = 0.0, least: int = 1
) -> bool:
    """Whether ``least`` lines, and a ``share`` (0..1) of them, pass a test; stops at the one that makes it too few."""
    spare = len(lines) - max(least, ceil(share * len(lines)))
    others = filterfalse(test, lines)
    return spare >= 0 and next(islice(others, spare, None), None) is None
