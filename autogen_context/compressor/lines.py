"""Selection of lines within a token limit: each kind of content ranks its lines, and ``choose`` selects among them.

Promise: the result fits the limit by an exact count, keeps the order of the text, is no longer than it, and has marks that
tell how much is hidden. If an error line does not fit, no line of a lower rank is kept.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from autogen_context.text.fit import CountText, fit, longest, with_gaps
from autogen_context.text.outcome import is_error_line
from autogen_context.text.passage import MOST_MISSES, Passage

ERROR_RANK = 6.0  # above all others
WANTED_RANK = 5.0  # plus up to 0.5; other ranks of a kind's lines should be lower
BLANK_RANK = -1.0  # never kept for itself

MOST_PER_LINE = 4  # a line gets at most 1/4 of the limit; a single line all of it
LEAST_PIECE = 60  # characters; shorter pieces of a line are useless
MARK_CHARS = 30  # at most, of a mark inside a line
EVERYWHERE_FRACTION = 1 / 3  # of the lines; a word or an error in more of them is ignored
EVERYWHERE_LINES = 10  # up to so many lines are never too many

ALONE = (r"(?<![^\W_])", r"(?![^\W_])")  # before and behind a word that is no part of another
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
        return choose([*map(Passage, lines, ranks)], room, noun=noun, whole=noun == "sentences")

    return cut


def are_enough(
    lines: Sequence[str], test: Callable[[str], object], *, fraction: float = 0.0, least: int = 1
) -> bool:
    """Return True if at least ``least`` lines and a ``fraction`` (0..1) of them pass a test."""
    return sum(1 for line in lines if test(line)) >= max(least, fraction * len(lines))


def choose(
    lines: Sequence[Passage],
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
    last = len(lines) - 1
    pieces = [f"{line.text}\n" for line in lines[:-1]] + [line.text for line in lines[-1:]]
    ranks = [line.rank for line in lines]
    from_ends = [i for pair in zip(range(last, -1, -1), range(last + 1), strict=True) for i in pair]
    order = sorted(from_ends[: last + 1], key=ranks.__getitem__, reverse=True)

    def drawn(chars: int) -> str:
        size, short = max(LEAST_PIECE, chars // min(last + 1, MOST_PER_LINE) - 1), dict[int, str]()

        def cost(at: int) -> int:
            short[at] = lines[at].text if whole else shortened(lines[at].text, size, room.wanted)
            return len(short[at]) + 1

        kept = fit(
            order,
            chars,
            cost=cost,
            ends=lambda at: ranks[at] >= ERROR_RANK,
            most_misses=MOST_MISSES,
        ).kept
        hidden = Counter(templates)
        hidden.subtract(templates[at] for at in kept if templates)
        for at in sorted(kept) if templates else ():
            if more := hidden.pop(templates[at], 0) if templates[at].strip() else 0:
                short[at] += f" [… {more} more like this …]"
        return with_gaps(pieces, {at: short[at] + "\n" * (at < last) for at in kept}, noun)

    return longest(drawn, "".join(pieces), room_tokens=room.tokens, count=room.count)


def lines_of(text: str) -> list[str]:
    """Split a text into lines, keeping notes about adjacent lines together with them."""
    noted = "[the line above " in text or "lines as above …]" in text
    return TIED.split(text) if noted else text.split("\n")


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
    found = list(ranks)
    for i, share in enumerate(wanted_in(lines, room.wanted)):
        if share:
            found[i] = max(found[i], WANTED_RANK + share / 2)
    failed = error_lines(lines) if errors else []
    if len(failed) <= most_of(lines):
        for i in failed:
            found[i] = max(found[i], ERROR_RANK) if found[i] >= 0 else found[i]
    return found


def most_of(lines: Sequence[str]) -> int:
    """Return the number of lines up to which a match is distinctive."""
    return max(EVERYWHERE_LINES, int(EVERYWHERE_FRACTION * len(lines)))


def error_lines(lines: Sequence[str]) -> list[int]:
    """Return the positions of error lines."""
    low = "\n".join(lines).lower()  # most texts have few of the words
    words = [word for word in ERROR_WORDS if word in low]
    near = [at for at, line in enumerate(lines) if words and has_one_of(words, line.lower())]
    return [at for at in near if is_error_line(lines[at])]


def has_one_of(words: Iterable[str], line: str) -> bool:
    """Return True if a line has one of these words, or it as a part of another."""
    return any(map(line.__contains__, words))


def wanted_in(lines: Sequence[str], wanted: Iterable[str]) -> list[float]:
    """Return each line's share of wanted words, 0 to 1; rare words weigh more, and only whole words count."""
    scores, most = [0.0] * len(lines), most_of(lines)
    lows = [line.lower() for line in lines]
    text = "\n".join(lows)
    for word in sorted(word for word in wanted if len(word) > 1 and word in text):
        opens, closes = (ALONE if each.isalnum() else ("", "") for each in (word[0], word[-1]))
        alone = re.compile(f"{opens[0]}{re.escape(word)}{closes[1]}").search
        having = (at for at, low in enumerate(lows) if word in low and alone(low))
        found = [*islice(having, most + 1)]
        for at in found if len(found) <= most else ():
            scores[at] += 1 / len(found)
    best = max(scores, default=0)
    return [score / best for score in scores] if best else scores
