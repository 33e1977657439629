"""Which lines of a text stay when not all of them can.

Promise: the result fits its room by an exact count, keeps the order of the text, has no more characters than the text,
and marks say exactly how much is hidden. Lines that tell of an error are the last to go: while one of them is left out
for want of room, nothing of a lower rank is there. What is wanted stays inside a line that is shortened.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from autogen_context.compressor.arrival.alarms import ERROR, alarms_in, starts_of
from autogen_context.compressor.arrival.reducer import Room

ERROR_RANK = 6.0
WANTED_RANK = (
    5.0  # and up to half more for the best; what a kind of content ranks itself is below 5
)
BLANK_RANK = -1.0

FITTING_STEPS = 6
FILLED_FRACTION = 0.9  # of the room; with so much in use no further step is worth its count
STEP_FRACTION = 0.97  # of what the last count says would fit: the next extract has other lines
MOST_PER_LINE = 4  # a line may have so great a part of the room; all of it where it stands alone
GLANCE_CHARS = 16  # for each token of the room; if these are too many, no more need be counted
LEAST_PIECE = 60  # characters; less of a line says nothing
HEAD_FRACTION = 0.6  # of a line that is shortened in its middle
MARK_CHARS = 30  # that a mark inside a line has at most
AROUND_CHARS = 30  # on both sides of a wanted word

EVERYWHERE_FRACTION = 1 / 3  # of the lines; a word, or an error, in more of them tells nothing
EVERYWHERE_LINES = 10  # but so few lines are never everywhere

GAP = "[… "  # what every mark begins with
TIED = re.compile(r"(?<!lines as above …\])\n(?!\[the line above |\[… [^\n]{0,12}lines as above)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The lines to choose from.

    Attributes:
        lines: n lines, without their ends.
        ranks: n numbers; a higher one stays before a lower one.
        order: their positions as they are chosen.
        gap_chars: what the longest mark costs, in characters of the text that have as many tokens.
        noun: what a mark calls many of them.
        wanted: what stays inside a line that is shortened.
        whole: whether lines are shortened only if they are too long for any room.
        templates: n texts, the same for lines that differ in numbers alone; or none, and nobody counts them.
        alike: how many lines each of these has.
    """

    lines: Sequence[str]
    ranks: Sequence[float]
    order: Sequence[int]
    gap_chars: int
    noun: str
    wanted: Collection[str]
    whole: bool
    templates: Sequence[str]
    alike: Mapping[str, int]


def cutting(
    ranks_of: Callable[[Sequence[str]], Iterable[float]], *, noun: str = "lines"
) -> Callable[[str, Room], str]:
    """Cuts a text of which each line has a rank, a number below ``WANTED_RANK``; ``noun`` is what a mark calls many."""

    def cut(text: str, room: Room) -> str:
        lines = lines_of(text)
        return choose(lines, ranked(ranks_of(lines), lines, room), room, noun=noun)

    return cut


def choose(
    lines: Sequence[str],
    ranks: Sequence[float],
    room: Room,
    *,
    noun: str = "lines",
    whole: bool = False,
    templates: Sequence[str] = (),
) -> str:
    """The lines of the highest rank that fit, in the order of the text.

    Args:
        lines: n lines, without their ends.
        ranks: n numbers. Among equals the ends of the text stay before its middle. A line that finds no place ends the
            lines of its rank; one of ``ERROR_RANK`` ends all.
        room: what the result may have.
        noun: what a mark calls many of them.
        whole: whether lines stay whole or go, as sentences do.
        templates: for each line what it has in common with others; the first line shown of a template says how many
            more like it are hidden.

    Returns:
        The lines joined, where all fit; else those chosen, with marks, long ones shortened; an empty text where not
        even a mark fits.
    """
    text = "\n".join(lines)
    if not text or fits(text, room):
        return text
    beginning = glance(text, room)
    tokens_a_char = max(1, room.count(beginning)) / len(beginning)
    last = len(lines) - 1
    from_ends = [i for pair in zip(range(last, -1, -1), range(last + 1), strict=True) for i in pair]
    pool = Pool(
        lines=lines,
        ranks=ranks,
        order=sorted(from_ends[: last + 1], key=ranks.__getitem__, reverse=True),
        gap_chars=ceil(room.count(f"{gap_of(len(lines), noun)}\n") / tokens_a_char),
        noun=noun,
        wanted=room.wanted,
        whole=whole,
        templates=templates,
        alike=Counter(templates),
    )
    chars = min(len(text), int(max(0, room.tokens) / tokens_a_char))
    found = fitted(pool, room, chars, len(text))
    if templates and len(found) > len(text):
        found = fitted(replace(pool, templates=()), room, chars, len(text))
    return found


def fits(text: str, room: Room) -> bool:
    """Whether a text has no more tokens than a room; of one that is much too long, only its beginning is counted."""
    beginning = glance(text, room)
    if room.count(beginning) > room.tokens:
        return False
    return len(beginning) == len(text) or room.count(text) <= room.tokens


def glance(text: str, room: Room) -> str:
    """As much of a text as tells whether it is much too long for a room."""
    return text[: GLANCE_CHARS * max(1, room.tokens)]


def lines_of(text: str) -> list[str]:
    """The lines of a text; marks that tell of the lines beside them are one with these."""
    marked = "[the line above " in text or "lines as above …]" in text
    return TIED.split(text) if marked else text.split("\n")


def gap_of(lines: int, noun: str = "lines") -> str:
    """What stands where so many lines were."""
    return f"{GAP}{lines} {noun if lines > 1 else noun.removesuffix('s')} …]"


def fitted(pool: Pool, room: Room, chars: int, exceeds: int) -> str:
    """Try extracts of other sizes until one fits and fills; the first guess assumes that tokens are spread evenly."""
    best, fitting = "", 0
    for _ in range(FITTING_STEPS):
        extract = extract_of(pool, chars)
        found = room.count(extract)
        if found > room.tokens:
            exceeds = chars
        else:
            best, fitting = extract, chars
            if found >= FILLED_FRACTION * room.tokens:
                break
        guess = int(chars * STEP_FRACTION * room.tokens / max(1, found))
        chars = guess if fitting < guess < exceeds else (fitting + exceeds) // 2
    return best


def extract_of(pool: Pool, chars: int) -> str:
    """The lines that some number of characters has place for, with marks for all that is hidden."""
    parts = dict(chosen(pool, chars))
    marks: dict[int, str] = {}
    start = 0
    for i in (*sorted(parts), len(pool.lines)):
        if i > start:
            hidden = "\n".join(pool.lines[start:i])
            mark = gap_of(hidden.count("\n") + 1, pool.noun)
            if len(hidden) <= len(mark):
                parts.update(enumerate(pool.lines[start:i], start))
            else:
                marks[start] = mark
        start = i + 1
    if pool.templates:
        counted(pool, parts)
    parts.update(marks)
    return "\n".join([parts[i] for i in sorted(parts)])


def chosen(pool: Pool, chars: int) -> Iterator[tuple[int, str]]:
    """The lines that have place, with their positions; long ones shortened."""
    lines, last = pool.lines, len(pool.lines) - 1
    longest = max(LEAST_PIECE, chars // min(last + 1, MOST_PER_LINE))
    left = chars - pool.gap_chars
    kept = bytearray(last + 3)  # one further at both ends, which are never gaps
    kept[0] = kept[-1] = 1
    ended: float | None = None
    for i in pool.order:
        if pool.ranks[i] == ended:
            continue
        space = left - 1 - (1 - kept[i] - kept[i + 2]) * pool.gap_chars
        size = longest if pool.whole else min(longest, max(space, LEAST_PIECE))
        line = lines[i] if len(lines[i]) <= size else shortened(lines[i], size, pool.wanted)
        if len(line) <= space:
            kept[i + 1] = 1
            left = space - len(line)
            yield i, line
        elif pool.ranks[i] >= ERROR_RANK:
            break
        else:
            ended = pool.ranks[i]
        if left <= 0:
            break


def counted(pool: Pool, parts: dict[int, str]) -> None:
    """Put behind the first line shown of each template how many more like it are hidden."""
    shown = Counter(pool.templates[i] for i in parts)
    told: set[str] = set()
    for i in sorted(parts):
        template = pool.templates[i]
        hidden = pool.alike[template] - shown[template]
        if hidden and template not in told and not template.isspace() and template:
            told.add(template)
            parts[i] += f" {GAP}{hidden} more like this …]"


def shortened(line: str, chars: int, wanted: Iterable[str] = ()) -> str:
    """A line of so many characters at most: its ends, what is around a wanted word, and marks that count the rest."""
    if len(line) <= chars:
        return line
    if chars <= MARK_CHARS:
        return line[: max(0, chars - 1)] + "…"
    spot, end = place_of(line, wanted)
    around = min(end - spot + 2 * AROUND_CHARS, chars - 2 * MARK_CHARS) if end else 0
    rest = chars - MARK_CHARS * (1 + (around > 0)) - max(0, around)
    head = max(0, int(rest * HEAD_FRACTION))
    spans = [(0, head), (len(line) - max(0, rest - head), len(line))]
    if around > 0:
        start = max(0, (spot + end - around) // 2)
        spans.insert(1, (start, start + around))
    parts, at = [line[:head]], head
    for start, stop in spans[1:]:
        if start > at:
            parts.append(f" {GAP}{start - at} characters …] ")
        parts.append(line[max(start, at) : stop])
        at = max(at, stop)
    return "".join(parts)


def place_of(line: str, wanted: Iterable[str]) -> tuple[int, int]:
    """Where the first wanted word of a line begins and ends; zeros where there is none."""
    low = line.lower()
    if len(low) != len(line):
        return 0, 0
    found = ((spot, spot + len(word)) for word in wanted if word and (spot := low.find(word)) >= 0)
    return min(found, default=(0, 0))


def ranked(
    ranks: Iterable[float], lines: Sequence[str], room: Room, *, errors: bool = False
) -> list[float]:
    """The ranks that a kind of content has for its lines, with what is wanted above them, and errors above that.

    Args:
        ranks: n numbers below ``WANTED_RANK``.
        lines: n lines.
        room: has what is wanted.
        errors: whether lines of this kind tell of errors; where more than a third do, that tells nothing.
    """
    found = [
        max(rank, WANTED_RANK + share / 2) if share else rank
        for rank, share in zip(ranks, wanted_in(lines, room.wanted), strict=True)
    ]
    if errors:
        failed = [i for i, level in enumerate(alarms_in(lines)) if level == ERROR]
        if len(failed) <= most_of(lines):
            for i in failed:
                found[i] = ERROR_RANK
    return found


def most_of(lines: Sequence[str]) -> int:
    """In how many lines something may be that tells them apart."""
    return max(EVERYWHERE_LINES, int(EVERYWHERE_FRACTION * len(lines)))


def wanted_in(lines: Sequence[str], wanted: Iterable[str]) -> list[float]:
    """How much of what is wanted each line has; a word in few lines says more than one in many.

    Args:
        lines: n lines, without their ends.
        wanted: lower-case words, identifiers and paths; they count where they stand alone, not inside other words.

    Returns:
        n numbers from 0 to 1, 1 for the line that has most, where any has something.
    """
    scores = [0.0] * len(lines)
    words = sorted(word for word in wanted if len(word) > 1)
    if not words:
        return scores
    lower = lines if all(map(str.isascii, lines)) else [line.lower() for line in lines]
    text, starts, most = "\n".join(lower).lower(), starts_of(lower), most_of(lines)
    for word in words:
        found = lines_with(word, text, starts, most=most)
        for i in found:
            scores[i] += 1 / len(found)
    best = max(scores, default=0)
    return [score / best for score in scores] if best else scores


def lines_with(word: str, text: str, starts: Sequence[int], *, most: int) -> list[int]:
    """The positions of the lines in which a word stands alone; none where more than ``most`` have it."""
    found: list[int] = []
    at, size = text.find(word), len(text)
    opens, closes = word[0].isalnum(), word[-1].isalnum()
    while at >= 0:
        end = at + len(word)
        inside = (opens and at and text[at - 1].isalnum()) or (
            closes and end < size and text[end].isalnum()
        )
        if not inside:
            found.append(bisect_right(starts, at) - 1)
            if len(found) > most:
                return []
            end = starts[found[-1] + 1] - 1
        at = text.find(word, max(end, at + 1) if not inside else at + 1)
    return found
