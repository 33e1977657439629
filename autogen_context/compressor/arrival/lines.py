"""Which lines of a text stay when not all of them can.

Promise: the result fits its room by an exact count, keeps the order of the text, has no more characters than the text,
and says wherever lines went how many they were. Time grows with the text, and with sorting its lines; what could not fit
by far is never counted.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

from autogen_context.compressor.arrival.reducer import Room

FITTING_STEPS = 6
FILLED_SHARE = 0.9  # of the room; with so much in use no further step is worth its count
STEP_SHARE = 0.97  # of what the last count says would fit: the next extract has other lines
MOST_PER_LINE = 4  # a line may have so great a part of the room; all of it where it stands alone
GLANCE_CHARS = 16  # for each token of the room; if these are too many, no more need be counted
LEAST_PIECE = 60  # characters; less of a line says nothing
HEAD_SHARE = 0.6  # of a line that is shortened in its middle

GAP = "[… "  # what every gap begins with

Gap = Callable[[int], str]


def gap_of(lines: int) -> str:
    """What stands where so many lines were."""
    return f"[… {lines} lines …]" if lines > 1 else "[… 1 line …]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The lines to choose from.

    Attributes:
        lines: n lines, without their ends.
        groups: their positions, those of the highest rank first.
        gap: what stands for so many lines.
        gap_chars: what the longest gap costs, in characters of the text that have as many tokens.
    """

    lines: Sequence[str]
    groups: Sequence[Sequence[int]]
    gap: Gap
    gap_chars: int


def choose(
    lines: Sequence[str],
    ranks: Sequence[float],
    room: Room,
    *,
    gap: Gap = gap_of,
) -> str:
    """The lines of the highest rank that fit, in the order of the text.

    Args:
        lines: n lines, without their ends.
        ranks: n numbers; a higher one stays before a lower one. Among equals the ends of the text stay before its
            middle, the tail a little before the head. A line that finds no place ends the lines of its rank.
        room: what the result may have.
        gap: what stands for so many lines that went.

    Returns:
        The lines joined, where all fit; else those chosen, with gaps, the longest shortened in their middle; an empty
        text where not even a gap fits.
    """
    text = "\n".join(lines)
    room = glancing(room)
    tokens = room.count(text)
    if tokens <= room.tokens:
        return text
    gap_tokens = room.count(gap(len(lines)) + "\n")
    pool = Pool(
        lines=lines,
        groups=groups_of(ranks),
        gap=gap,
        gap_chars=ceil(gap_tokens * len(text) / tokens),
    )
    return fitted(pool, room, chars=int(len(text) * max(0, room.tokens) / tokens))


def fits(text: str, room: Room) -> bool:
    """Whether a text has no more tokens than a room; of one that is much too long, only its beginning is counted."""
    return glancing(room).count(text) <= room.tokens


def glancing(room: Room) -> Room:
    """The same room, where a text that is much too long for it costs no whole count: its beginning tells enough."""
    glance = GLANCE_CHARS * max(1, room.tokens)

    def count(text: str) -> int:
        tokens = room.count(text[:glance])
        if len(text) <= glance:
            return tokens
        return room.count(text) if tokens <= room.tokens else tokens * len(text) // glance

    return replace(room, count=count)


def first_and_last(text: str, room: Room) -> str:
    """What fits of both ends of a text."""
    lines = text.split("\n")
    return choose(lines, [0.0] * len(lines), room)


def groups_of(ranks: Sequence[float]) -> list[list[int]]:
    """Positions in groups of one rank, the highest rank first."""
    groups: defaultdict[float, list[int]] = defaultdict(list)
    for i, rank in enumerate(ranks):
        groups[rank].append(i)
    return [groups[rank] for rank in sorted(groups, reverse=True)]


def from_ends(group: Sequence[int], last: int) -> Iterator[int]:
    """Positions from the ends of the text towards its middle, of two that are as far off the later one first."""
    low, high = 0, len(group) - 1
    while low <= high:
        if last - group[high] <= group[low]:
            yield group[high]
            high -= 1
        else:
            yield group[low]
            low += 1


def fitted(pool: Pool, room: Room, *, chars: int) -> str:
    """Try extracts of other sizes until one fits and fills; the first guess assumes that tokens are spread evenly."""
    best, fits, exceeds = "", 0, sum(map(len, pool.lines)) + len(pool.lines)
    for _ in range(FITTING_STEPS):
        extract = extract_of(pool, chars)
        found = room.count(extract)
        if found > room.tokens:
            exceeds = chars
        else:
            best, fits = extract, chars
            if found >= FILLED_SHARE * room.tokens:
                break
        guess = int(chars * STEP_SHARE * room.tokens / max(1, found))
        chars = guess if fits < guess < exceeds else (fits + exceeds) // 2
    return best


def extract_of(pool: Pool, chars: int) -> str:
    """The lines that some number of characters has place for, gaps among them."""
    return "\n".join(with_gaps(pool, chosen(pool, chars)))


def chosen(pool: Pool, chars: int) -> dict[int, str]:
    """The lines that have place, by position; long ones shortened."""
    lines, count = pool.lines, len(pool.lines)
    longest = max(LEAST_PIECE, chars // min(count, MOST_PER_LINE))
    left = chars - pool.gap_chars
    kept: dict[int, str] = {}
    for group in pool.groups:
        for i in from_ends(group, count - 1):
            gaps = (i > 0 and i - 1 not in kept) + (i < count - 1 and i + 1 not in kept) - 1
            space = left - 1 - gaps * pool.gap_chars
            line = shortened(lines[i], min(longest, max(space, LEAST_PIECE)))
            if len(line) > space:
                break
            kept[i] = line
            left = space - len(line)
        if left <= 0:
            break
    return kept


def shortened(line: str, chars: int) -> str:
    """A line of so many characters at most, whole or with a mark in its middle."""
    if len(line) <= chars:
        return line
    mark = f" [… {len(line) - chars} characters …] "
    rest = chars - len(mark) - 1  # the number in the mark may grow by a digit
    if rest < 1:
        return line[: max(0, chars - 1)] + "…"
    head = int(rest * HEAD_SHARE)
    tail = rest - head
    return f"{line[:head]} [… {len(line) - rest} characters …] {line[len(line) - tail :]}"


def with_gaps(pool: Pool, kept: dict[int, str]) -> Iterator[str]:
    """The lines kept in their order, and a gap for what is between them, or that itself where it is no longer."""
    start = 0
    for i in (*sorted(kept), len(pool.lines)):
        yield from between(pool, start, i)
        if i in kept:
            yield kept[i]
        start = i + 1


def between(pool: Pool, start: int, end: int) -> Iterator[str]:
    """A gap for the lines of a span, or the span where that is no longer."""
    if start == end:
        return
    mark = pool.gap(end - start)
    span = pool.lines[start:end]
    if end - start <= len(mark) and sum(map(len, span)) + len(span) - 1 <= len(mark):
        yield from span
    else:
        yield mark
