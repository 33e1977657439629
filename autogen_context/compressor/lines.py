"""Selection of lines within a token limit: each kind of content ranks its lines, and ``choose`` selects among them.

Promise: the result fits the limit by an exact count, keeps the order of the text, is no longer than it, and has marks that
tell how much is hidden. If an error line does not fit, no line of a lower rank is kept.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil

from autogen_context.text.fit import CountText
from autogen_context.text.outcome import is_error_line

ERROR_RANK = 6.0
WANTED_RANK = 5.0  # plus up to 0.5; other ranks of a kind's lines should be lower
BLANK_RANK = -1.0

FITTING_STEPS = 6
FILLED_FRACTION = 0.9  # of the limit; an extract that uses as much is good enough
STEP_FRACTION = 0.97  # of the extrapolated size: the next extract has other lines
MOST_PER_LINE = 4  # a line gets at most 1/4 of the limit; a single line all of it
LEAST_PIECE = 60  # characters; shorter pieces of a line are useless
MARK_CHARS = 30  # at most, of a mark inside a line
EVERYWHERE_FRACTION = 1 / 3  # of the lines; a word or an error in more of them is ignored
EVERYWHERE_LINES = 10  # up to so many lines are never too many

ERROR_WORDS = (  # every error line has one of these in lower case
    *("error", "fail", "exception", "traceback", "fatal", "panic", "critical", "denied"),
    *("refused", "abort", "timed out", "not found", "no such", "unable to"),
)

# Line breaks, except those next to a note on the adjacent lines.
TIED = re.compile(r"(?<!lines as above …\])\n(?!\[the line above |\[… [^\n]{0,12}lines as above)")


@dataclass(frozen=True, slots=True)
class TextLimit:
    """The token limit of a text, and the lower-case words, identifiers and paths to prefer in it."""

    tokens: int
    count: CountText
    wanted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reducer:
    """The functions for one kind of content: deterministic, linear time, never raise, never make a text longer."""

    kind: str
    recognises: Callable[[str, Sequence[str]], bool]  # takes the text and a sample of its lines
    cut: Callable[[str, TextLimit], str]  # selects what fits, with marks for omissions
    tighten: Callable[[str], str] = str  # the same information in fewer characters


def by_ranks(
    ranks_of: Callable[[Sequence[str]], Iterable[float]],
    *,
    split: Callable[[str], list[str]] | None = None,
    noun: str = "lines",
    errors: bool = False,
) -> Callable[[str, TextLimit], str]:
    """Return a ``cut`` by the ranks of lines, where wanted lines and with ``errors`` error lines rank higher."""

    def cut(text: str, room: TextLimit) -> str:
        if room.count(text) <= room.tokens:
            return text
        lines = (split or lines_of)(text)
        ranks = ranked(ranks_of(lines), lines, room, errors=errors)
        return choose(lines, ranks, room, noun=noun, whole=noun == "sentences")

    return cut


def are_enough(
    lines: Sequence[str], test: Callable[[str], object], *, share: float = 0.0, least: int = 1
) -> bool:
    """Return True if at least ``least`` lines and a ``share`` (0..1) of them pass a test."""
    return sum(1 for line in lines if test(line)) >= max(least, share * len(lines))


def choose(
    lines: Sequence[str],
    ranks: Sequence[float],
    room: TextLimit,
    *,
    noun: str = "lines",
    whole: bool = False,
    templates: Sequence[str] = (),
) -> str:
    """Return the highest-ranked lines that fit, in text order; equal ranks are filled from both ends of the text.

    ``noun`` is the plural used in marks; with ``whole`` lines are never shortened (sentences). With ``templates``, one per
    line, the first line shown of a template tells how many similar ones are hidden.
    """
    text = "\n".join(lines)
    tokens = room.count(text)
    if tokens <= room.tokens or not text:
        return text
    tokens_a_char = tokens / len(text)
    last = len(lines) - 1
    from_ends = [i for pair in zip(range(last, -1, -1), range(last + 1), strict=True) for i in pair]
    order = sorted(from_ends[: last + 1], key=ranks.__getitem__, reverse=True)
    gap_chars = ceil(room.count(f"{gap_of(len(lines), noun)}\n") / tokens_a_char)
    best, fitting, exceeds = "", 0, len(text)
    chars = min(len(text), int(max(0, room.tokens) / tokens_a_char))
    for _ in range(FITTING_STEPS):  # the first guess assumes evenly spread tokens
        parts = dict(chosen(lines, ranks, order, room, chars, gap_chars, whole=whole))
        marks = gaps_in(lines, parts, noun)
        hidden = Counter(templates)
        hidden.subtract(templates[i] for i in parts if templates)
        for i in sorted(parts) if templates else ():
            if more := hidden.pop(templates[i], 0) if templates[i].strip() else 0:
                parts[i] += f" [… {more} more like this …]"
        extract = "\n".join(part for _, part in sorted((parts | marks).items()))
        found = room.count(extract)
        if found > room.tokens or len(extract) > len(text):
            exceeds = chars
        else:
            best, fitting = extract, chars
            if found >= FILLED_FRACTION * room.tokens:
                break
        guess = int(chars * STEP_FRACTION * room.tokens / max(1, found))
        chars = guess if fitting < guess < exceeds else (fitting + exceeds) // 2
    return best


def chosen(
    lines: Sequence[str],
    ranks: Sequence[float],
    order: Sequence[int],
    room: TextLimit,
    chars: int,
    gap_chars: int,
    *,
    whole: bool,
) -> Iterator[tuple[int, str]]:
    """Yield the lines that fit a number of characters, with their positions; long ones are shortened.

    If a line does not fit, the rest of its rank is skipped; if its rank is ``ERROR_RANK`` or more, everything else is.
    """
    longest = max(LEAST_PIECE, chars // min(len(lines), MOST_PER_LINE))
    left, ended = chars - gap_chars, float("nan")
    kept = {-1, len(lines)}
    for i in order:
        if ranks[i] == ended:
            continue
        space = left - 1 - (1 - (i - 1 in kept) - (i + 1 in kept)) * gap_chars
        size = longest if whole else min(longest, max(space, LEAST_PIECE))
        line = shortened(lines[i], size, room.wanted)
        if len(line) <= space:
            kept.add(i)
            left = space - len(line)
            yield i, line
        elif ranks[i] >= ERROR_RANK:
            return
        else:
            ended = ranks[i]
        if left <= 0:
            return


def gaps_in(lines: Sequence[str], parts: dict[int, str], noun: str) -> dict[int, str]:
    """Return the marks of gaps by position; gaps no longer than their mark are added to ``parts`` instead."""
    marks: dict[int, str] = {}
    start = 0
    for i in (*sorted(parts), len(lines)):
        if i > start:
            hidden = "\n".join(lines[start:i])
            mark = gap_of(hidden.count("\n") + 1, noun)
            if len(hidden) <= len(mark):
                parts.update(enumerate(lines[start:i], start))
            else:
                marks[start] = mark
        start = i + 1
    return marks


def lines_of(text: str) -> list[str]:
    """Split a text into lines, keeping notes about adjacent lines together with them."""
    noted = "[the line above " in text or "lines as above …]" in text
    return TIED.split(text) if noted else text.split("\n")


def gap_of(lines: int, noun: str) -> str:
    """Return the mark for that many omitted lines."""
    return f"[… {lines} {noun if lines > 1 else noun.removesuffix('s')} …]"


def shortened(line: str, chars: int, wanted: Iterable[str] = ()) -> str:
    """Shorten a line to its ends and the text around a wanted word, with marks that count the omitted characters."""
    if len(line) <= chars:
        return line
    if chars <= MARK_CHARS:
        return line[: max(0, chars - 1)] + "…"
    low = line.lower()
    at = min((at for word in wanted if (at := low.find(word)) >= 0), default=-1)
    if at < 0 or chars <= 3 * MARK_CHARS:
        half = (chars - MARK_CHARS) // 2
        spans = [(0, half), (len(line) - half, len(line))]
    else:
        third = (chars - 2 * MARK_CHARS) // 3
        start = max(0, at - third // 4)
        spans = [(0, third), (start, start + third), (len(line) - third, len(line))]
    parts: list[str] = []
    shown = 0
    for start, stop in spans:
        if start > shown:
            parts.append(f" [… {start - shown} characters …] ")
        parts.append(line[max(start, shown) : stop])
        shown = max(shown, stop)
    return "".join(parts)


def ranked(
    ranks: Iterable[float], lines: Sequence[str], room: TextLimit, *, errors: bool = False
) -> list[float]:
    """Raise the ranks of wanted lines above the given ones, and those of error lines above both unless they are negative.

    If more than a third of the lines (and more than 10) are errors, error lines are not raised.
    """
    lowered, found = Lowered(lines), list(ranks)
    for i, share in enumerate(wanted_in(lines, room.wanted, lowered)):
        if share:
            found[i] = max(found[i], WANTED_RANK + share / 2)
    failed = error_lines(lines, lowered) if errors else []
    if len(failed) <= most_of(lines):
        for i in failed:
            found[i] = max(found[i], ERROR_RANK) if found[i] >= 0 else found[i]
    return found


def most_of(lines: Sequence[str]) -> int:
    """Return the number of lines up to which a match is distinctive."""
    return max(EVERYWHERE_LINES, int(EVERYWHERE_FRACTION * len(lines)))


class Lowered:
    """Lines in lower case, to look words up in all of them at once."""

    def __init__(self, lines: Sequence[str]) -> None:
        text = "\n".join(lines)
        self._text = text.lower()
        if len(self._text) != len(text):  # a letter that is two in lower case
            lines = [line.lower() for line in lines]
            self._text = "\n".join(lines)
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def having(self, word: str, *, most: int, whole: bool = False) -> list[int]:
        """Return the lines that contain a word (with ``whole`` not as a part of another); none if more than ``most`` do."""
        text, places = self._text, list[int]()
        at, opens, closes = (
            text.find(word),
            whole and word[0].isalnum(),
            whole and word[-1].isalnum(),
        )
        while at >= 0:
            end = at + len(word)
            inside = (opens and text[at - 1 : at].isalnum()) or (
                closes and text[end : end + 1].isalnum()
            )
            if not inside:
                places.append(at)
                at = text.find("\n", end)
                if at < 0 or len(places) > most:
                    break
            at = text.find(word, at + 1)
        found = places if len(places) <= most else ()
        return [bisect_right(self._starts, place) - 1 for place in found]


def error_lines(lines: Sequence[str], lowered: Lowered | None = None) -> list[int]:
    """Return the positions of error lines."""
    lowered = lowered or Lowered(lines)
    found = {at for word in ERROR_WORDS for at in lowered.having(word, most=len(lines))}
    return [at for at in sorted(found) if is_error_line(lines[at])]


def wanted_in(
    lines: Sequence[str], wanted: Iterable[str], lowered: Lowered | None = None
) -> list[float]:
    """Return each line's share of wanted words, 0 to 1; rare words weigh more, and only whole words count."""
    scores, most = [0.0] * len(lines), most_of(lines)
    lowered = lowered or Lowered(lines)
    for word in sorted(word for word in wanted if len(word) > 1):
        found = lowered.having(word, most=most, whole=True)
        for i in found:
            scores[i] += 1 / len(found)
    best = max(scores, default=0)
    return [score / best for score in scores] if best else scores
