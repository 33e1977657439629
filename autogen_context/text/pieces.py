"""A text in pieces of which some stay: joined in order, with one kind of mark in each gap.

Promise: all pieces joined are the text. No mark is longer than what it stands for, and it ends as that did.
"""

from collections.abc import Mapping, Sequence


def gap_mark(hidden: int, noun: str = "lines") -> str:
    """Return the mark for so many hidden lines, rows or others; of one, or of a part of one, it says no number."""
    return f"[… {hidden} {noun} …]" if hidden > 1 else "[…]"


def marked(gap: str, noun: str = "lines", *, is_last: bool = False) -> str:
    """Return the mark for a part of a text that is left out, or the part itself if it is not longer; the last line has no end."""
    ends = gap.endswith("\n")
    mark = gap_mark(gap.count("\n") + (is_last and not ends), noun) + "\n" * ends
    return mark if len(mark) < len(gap) else gap


def joined(pieces: Sequence[str], kept: Mapping[int, str], noun: str = "lines") -> str:
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
