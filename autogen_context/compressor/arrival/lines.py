r"""Which lines of a text stay when not all of them can, and what programs print line by line.

Promise: the result fits its room by an exact count, keeps the order of the text, has no more characters than it, and marks
say how much is hidden. While an error line is left out, nothing of a lower rank is there. Tightened, every character that a
terminal would show at the end stays; what comes again at once is written once with a number.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from operator import eq

from autogen_context.compressor.shorten import CountText, is_error_line

ERROR_RANK = 6.0
WANTED_RANK = 5.0  # and up to half more for the best; what a kind of content ranks itself is below
BLANK_RANK = -1.0

FITTING_STEPS = 6
FILLED_FRACTION = 0.9  # of the room; with so much in use no further step is worth its count
STEP_FRACTION = 0.97  # of what the last count says would fit: the next extract has other lines
MOST_PER_LINE = 4  # a line may have so great a part of the room; all of it where it stands alone
LEAST_PIECE = 60  # characters; less of a line says nothing
MARK_CHARS = 30  # that a mark inside a line has at most
EVERYWHERE_FRACTION = 1 / 3  # of the lines; a word, or an error, in more of them tells nothing
EVERYWHERE_LINES = 10  # but so few lines are never everywhere

LOGGED = re.compile(
    r"\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d"  # 2024-05-14 12:00
    r"|\[?\d\d:\d\d:\d\d\b"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d "  # May 14 12:00:00, as syslog has it
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"  # web servers
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :|])"
)
LEAST_LOGGED = 4
LOGGED_FRACTION = 0.5  # of the lines
LEAST_LINES = 2  # of an output

TERMINAL_CODE = re.compile(
    r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-Za-z])"
)
OVERWRITTEN = re.compile(r"^[^\n]*\r(?!\n|\Z)[^\n]*", re.MULTILINE)
LEAST_REPEATED = 80  # characters of lines that come again, for a note to pay
MANY_TIMES = 2_000  # a line comes again, blank ones as well; no encoding has a token for a hundred

NUMBERED = "|".join(rf" {{{6 - digits}}}\d{{{digits}}}\t" for digits in range(1, 6))  # by cat -n
NUMBERED_OTHERWISE = re.compile(rf"\n(?!{NUMBERED}|\d{{6,}}\t) *\d+\t")
PADDING = re.compile(r"\n +(?=\d+\t)")

VARYING = re.compile(r"[0-9a-fA-F][0-9a-fA-F-]{6,}|[0-9.,:-]+")  # what tells no two templates apart
WARNING = re.compile(r"(?i:\b(?:warn(?:ing|ings|ed)?|deprecat\w*)\b)|[a-z]Warning\b")
WARNING_RANK = 4.0
ERRORS_RANK = 4.5  # of errors that are in most lines, but for the first and last of each template
RARE_RANK = 0.5  # of the first line of a template, and up to 1 more the rarer it is
LAST_RANK = 0.4  # of its last line

# A note that tells of the lines beside it is one with these.
TIED = re.compile(r"(?<!lines as above …\])\n(?!\[the line above |\[… [^\n]{0,12}lines as above)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a text may have in tokens, and which lower-case words, identifiers and paths are asked for in it."""

    tokens: int
    count: CountText
    wanted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reducer:
    """One kind of content; deterministic, linear in the text, raises on no input, and never makes a text longer."""

    kind: str
    recognises: Callable[[str, Sequence[str]], bool]  # by the text and a sample of its lines
    cut: Callable[[str, Room], str]  # what matters within a room, with marks where something went
    tighten: Callable[[str], str] = str  # the same information in fewer characters


def are_enough(
    lines: Sequence[str], test: Callable[[str], object], *, share: float = 0.0, least: int = 1
) -> bool:
    """Whether ``least`` lines, and a ``share`` (0..1) of them, pass a test."""
    return sum(1 for line in lines if test(line)) >= max(least, share * len(lines))


def cutting(
    ranks_of: Callable[[Sequence[str]], Iterable[float]], noun: str = "lines"
) -> Callable[[str, Room], str]:
    """Cuts a text of which each line has a rank."""

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
    """The lines of the highest rank that fit, in the order of the text; among equals its ends stay before its middle.

    ``noun`` is what a mark calls many of them; ``whole`` ones stay whole or go, as sentences do; of ``templates``, one for
    each line, the first line shown says how many more like it are hidden.
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
    for _ in range(FITTING_STEPS):  # the first guess takes tokens for evenly spread
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
    room: Room,
    chars: int,
    gap_chars: int,
    *,
    whole: bool,
) -> Iterator[tuple[int, str]]:
    """The lines that some number of characters has place for, with their positions; long ones shortened.

    A line that finds no place ends the lines of its rank; one of ``ERROR_RANK`` ends all.
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
    """A mark for each gap between the lines that are shown, by its place; a gap that is shorter than its mark is shown."""
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
    """The lines of a text; notes that tell of the lines beside them are one with these."""
    noted = "[the line above " in text or "lines as above …]" in text
    return TIED.split(text) if noted else text.split("\n")


def gap_of(lines: int, noun: str = "lines") -> str:
    """What stands where so many lines were."""
    return f"[… {lines} {noun if lines > 1 else noun.removesuffix('s')} …]"


def shortened(line: str, chars: int, wanted: Iterable[str] = ()) -> str:
    """A line of so many characters at most: its ends, what is around a wanted word, and marks that count the rest."""
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
    ranks: Iterable[float], lines: Sequence[str], room: Room, *, errors: bool = False
) -> list[float]:
    """The ranks that a kind of content has for its lines, with what is wanted above them, and errors above that.

    Where more than a third of the lines tell of errors, that tells nothing.
    """
    found = [
        max(rank, WANTED_RANK + share / 2) if share else rank
        for rank, share in zip(ranks, wanted_in(lines, room.wanted), strict=True)
    ]
    failed = [i for i, line in enumerate(lines) if is_error_line(line)] if errors else []
    if len(failed) <= most_of(lines):
        for i in failed:
            found[i] = ERROR_RANK
    return found


def most_of(lines: Sequence[str]) -> int:
    """In how many lines something may be that tells them apart."""
    return max(EVERYWHERE_LINES, int(EVERYWHERE_FRACTION * len(lines)))


def wanted_in(lines: Sequence[str], wanted: Iterable[str]) -> list[float]:
    """How much of what is wanted each line has, 0 to 1; a word in few lines says more, and counts only where it stands alone."""
    scores = [0.0] * len(lines)
    lower = [line.lower() for line in lines]
    for word in sorted(word for word in wanted if len(word) > 1):
        before = r"(?<![^\W_])" if word[0].isalnum() else ""
        after = r"(?![^\W_])" if word[-1].isalnum() else ""
        alone = re.compile(f"{before}{re.escape(word)}{after}")
        found = [i for i, line in enumerate(lower) if word in line and alone.search(line)]
        if len(found) <= most_of(lines):
            for i in found:
                scores[i] += 1 / len(found)
    best = max(scores, default=0)
    return [score / best for score in scores] if best else scores


# Logs, and any output that is nothing more telling


def tight_output(text: str) -> str:
    """What a terminal would show, with repeated lines written once and line numbers without padding."""
    return without_repeats(without_padding(shown(text)))


def cut_output(text: str, room: Room) -> str:
    """The lines that matter; the first of each template says how many more like it are hidden."""
    lines = lines_of(tight_output(text))
    templates = [VARYING.sub("", line) for line in lines]
    return choose(lines, ranks_of(lines, templates, room), room, templates=templates)


def shown(text: str) -> str:
    r"""An output as it stands on a screen: colours and what was written over are gone; an end of ``\r\n`` stays one."""

    def last_state(match: re.Match[str]) -> str:
        line = match.group()
        seen, covered = "", 0
        for state in reversed(line.removesuffix("\r").split("\r")):
            seen += state[covered:]
            covered = max(covered, len(state))
        return f"{seen}\r" if line.endswith("\r") else seen

    if "\x1b" in text:
        text = TERMINAL_CODE.sub("", text).replace("\x1b", "")
    return OVERWRITTEN.sub(last_state, text) if "\r" in text else text


def without_repeats(text: str) -> str:
    """The text with lines that come several times at once written once, with a note of how often."""
    lines = text.split("\n")
    if not any(map(eq, lines, lines[1:])):
        return text
    parts: list[str] = []
    for line, run in groupby(lines):
        more = len(list(run)) - 1
        pays = more * len(line.strip()) >= LEAST_REPEATED or more >= MANY_TIMES
        parts += [line, note_of(more) + "\r" * line.endswith("\r")] if pays else [line] * (more + 1)
    return "\n".join(parts)


def note_of(times: int) -> str:
    """What stands below a line that came so many times more."""
    return f"[the line above {times} more times]"


def without_padding(text: str) -> str:
    """The same text with the blanks before its line numbers gone, where all are as ``cat -n`` writes them."""
    if "\t" not in text:
        return text
    lines = f"\n{text}"
    return text if NUMBERED_OTHERWISE.search(lines) else PADDING.sub("\n", lines)[1:]


def ranks_of(lines: Sequence[str], templates: Sequence[str], room: Room) -> list[float]:
    """What each line is worth; of errors the first and the last of each template a little more than the others."""
    counts = Counter(templates)
    last = {template: i for i, template in enumerate(templates)}
    first = {template: i for i, template in reversed([*enumerate(templates)])}
    ranks: list[float] = []
    for i, (line, template) in enumerate(zip(lines, templates, strict=True)):
        if not line or line.isspace():
            ranks.append(BLANK_RANK)
        elif first[template] == i:
            rare = RARE_RANK + 1 / counts[template]
            ranks.append(WARNING_RANK if WARNING.search(line) else rare)
        else:
            ranks.append(LAST_RANK if last[template] == i else 0.0)
    ranks = ranked(ranks, lines, room)
    errors = [i for i, line in enumerate(lines) if is_error_line(line)]
    telling = len(errors) <= most_of(lines)
    for i in errors:
        ends = i in (first[templates[i]], last[templates[i]])
        ranks[i] = ERROR_RANK + ends if telling or ends else ERRORS_RANK
    return ranks


LOG = Reducer(
    kind="log",
    recognises=lambda _, lines: are_enough(
        lines, LOGGED.match, share=LOGGED_FRACTION, least=LEAST_LOGGED
    ),
    tighten=tight_output,
    cut=cut_output,
)
OUTPUT = Reducer(
    kind="output",
    recognises=lambda text, lines: (
        len(lines) >= LEAST_LINES and "\0" not in text and "\ufffd" not in text
    ),
    tighten=tight_output,
    cut=cut_output,
)
