"""Find a place for a label beside its point where it covers nothing, if there is one.

Promise: the same points and labels get the same places; a place is among some near the point, and of these the one that
covers the least; of two that cover as much, the earlier one of the list.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

SIDES = (
    (-1, 0),
    (-1, -1),
    (0, -1),
    (1, 0),
    (-1, 1),
    (1, 1),
    (1, -1),
    (0, 1),
)  # x to the right, y down
DISTANCES = (9.0, 14.0, 20.0)  # from the point to the edge of the label
FAR = 6.0  # what a step further away counts, in covered squares of a unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle; y grows downwards."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    def moved(self, x: float) -> "Box":
        """The same rectangle further right."""
        return replace(self, left=self.left + x)

    def covered(self, other: "Box") -> float:
        """The area that two rectangles share."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, high)


def square(at: tuple[float, float], side: float) -> Box:
    """A square around a point."""
    return Box(left=at[0] - side / 2, top=at[1] - side / 2, width=side, height=side)


def place(
    at: tuple[float, float], size: tuple[float, float], *, within: Box, taken: Sequence[Box]
) -> Box:
    """Where a label of a size goes that names a point.

    Args:
        at: the point.
        size: width and height of the label.
        within: what it may not leave.
        taken: what it should not cover.

    Returns:
        A rectangle of that size.
    """

    def cost(rank: int, box: Box) -> tuple[float, int]:
        outside = box.width * box.height - box.covered(within)
        steps = FAR * (rank // len(SIDES))
        return 10 * outside + sum(map(box.covered, taken)) + steps, rank

    return min(enumerate(places(at, size)), key=lambda each: cost(*each))[1]


def places(at: tuple[float, float], size: tuple[float, float]) -> Iterator[Box]:
    """Where a label can go: around its point, the nearest first."""
    width, height = size
    for distance, (x, y) in product(DISTANCES, SIDES):
        away = distance * (0.7 if x and y else 1)  # a corner is as far as an edge
        left = at[0] - width / 2 + x * (width / 2 + away)
        top = at[1] - height / 2 + y * (height / 2 + away)
        yield Box(left=left, top=top, width=width, height=height)
