"""Fill a room: of many things those that fit it, the best first; of one text as much as fits, with a mark for what is left out.

Promise: what is kept costs no more than the room, by exact costs. The same things give the same choice. The pieces of a text
joined are the text; no mark is longer than what it stands for, and it ends as that did.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

CountText = Callable[[str], int]
"""Tokens of a text, exact or an upper bound."""

FITTING_STEPS = 6  # of a search for the longest text that fits
FILLED_FRACTION = 0.9  # of the room; an extract that uses as much is good enough
STEP_FRACTION = 0.97  # of the extrapolated size: the next extract has other parts

Item = TypeVar("Item", bound=Hashable)


class Fitted(NamedTuple, Generic[Item]):
    """What fits, in the order in which it was taken, and the room that is left."""

    kept: list[Item]
    left: int


def fit(
    items: Iterable[Item],
    room: int,
    *,
    cost: Callable[[Item], int],
    score: Callable[[Item], Any] | None = None,
    needs: Callable[[Item], Iterable[Item]] | None = None,
    ends: Callable[[Item], bool] | None = None,
    taken: Iterable[Item] = (),
    most_misses: int | None = None,
) -> Fitted[Item]:
    """Take what fits a room, the best first.

    Args:
        items: what to choose from, n of them.
        room: what they may cost together, in the unit of ``cost``.
        cost: of one item; asked when it is considered.
        score: highest first, of equal ones the earlier; by default in the order given.
        needs: what an item is only taken with, such as the heading above it; paid once.
        ends: whether nothing behind an item is taken if that has no room.
        taken: items that are there already, and paid for.
        most_misses: items without room in a row behind which no more are looked at; without it all are.
    """
    order = items if score is None else sorted(items, key=score, reverse=True)
    there, kept, misses = set(taken), list[Item](), 0
    for item in order:
        new, due = list[Item](), [item]
        while due:
            each = due.pop()
            if each not in there and each not in new:
                new.append(each)
                due += needs(each) if needs else ()
        tokens = sum(map(cost, new))
        if tokens <= room:
            room, misses = room - tokens, 0
            there.update(new)
            kept += new
            continue
        misses += 1
        if (ends and ends(item)) or misses == most_misses:
            break
    return Fitted(kept, room)


def longest(drawn: Callable[[int], str], text: str, *, room_tokens: int, count: CountText) -> str:
    """Return a text, or of what ``drawn`` makes of it in so many characters about the longest that fits; empty if nothing does.

    The first guess assumes evenly spread tokens.
    """
    tokens = count(text)
    if tokens <= room_tokens or not text:
        return text
    best, fitting, exceeds = "", 0, len(text)
    chars = int(len(text) * max(0, room_tokens) / tokens)
    for _ in range(FITTING_STEPS):
        extract = drawn(chars)
        found = count(extract)
        if found > room_tokens or len(extract) > len(text):
            exceeds = chars
        else:
            best, fitting = extract, chars
            if found >= FILLED_FRACTION * room_tokens:
                break
        guess = int(chars * STEP_FRACTION * room_tokens / max(1, found))
        chars = guess if fitting < guess < exceeds else (fitting + exceeds) // 2
    if best or room_tokens <= 0:
        return best
    least = drawn(0)  # marks may cost more than what they hide, so that no step has fitted
    return least if count(least) <= room_tokens and len(least) <= len(text) else ""


def gap_mark(hidden: int, noun: str = "lines") -> str:
    """Return the mark for so many hidden lines, rows or others; of one, or of a part of one, it says no number."""
    return f"[… {hidden} {noun} …]" if hidden > 1 else "[…]"


def marked(gap: str, noun: str = "lines", *, is_last: bool = False) -> str:
    """Return the mark for a part of a text that is left out, or the part itself if it is not longer; the last line has no end."""
    ends = gap.endswith("\n")
    mark = gap_mark(gap.count("\n") + (is_last and not ends), noun) + "\n" * ends
    return mark if len(mark) < len(gap) else gap


def with_gaps(pieces: Sequence[str], kept: Mapping[int, str], noun: str = "lines") -> str:
    """Return the kept pieces in order, as they are given by position, with a mark for each gap."""
    parts: list[str] = []
    at = 0
    for i in (*sorted(kept), len(pieces)):
        if i > at:
            parts.append(marked("".join(pieces[at:i]), noun, is_last=i == len(pieces)))
        if i < len(pieces):
            parts.append(kept[i])
        at = i + 1
    return "".join(parts)
