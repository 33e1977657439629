"""Divide a text of any length at its structure: the parts that are searched, cited and sent whole.

Promise: the parts joined are the text. A part ends where a section, a paragraph, an item, a sentence or a line ends, whichever is
the greatest that fits; only what is longer than any of these is cut elsewhere. Each part knows the headings above it. Linear time.
Headings of Markdown, reStructuredText, AsciiDoc, Info, manual pages and plain text are known by how they are set.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from autogen_context.text.sentence import stops_in

MOST_CHARS = 900  # of a part: a few paragraphs, or a dozen lines of code
LEAST_CHARS = 150  # of a rest that stands alone; a shorter one would score high because it is short
LONGEST_SENTENCE = 700  # characters; anything longer is no prose, and ends with its lines
HEADING_CHARS = 120  # of a heading, or of a line under which others are indented
MOST_LEADS = 2  # lines above with less indentation that are named with a part

MARKED = re.compile(r"(#{1,6}|={1,6})[ \t]+(\S.*)")
RULER = re.compile(r"([=\-~^\"'`*+#.:_])\1{2,}[ \t]*")
LONG_RULER = 20  # characters; a title may stand below such a one alone
RULED_SLACK = 3  # characters by which a line below a title may be shorter
NUMBERED = re.compile(r"(\d+(?:\.\d+)+)\.?[ \t]+[^\W\d_].{0,90}[^.,;:!?\s]")
CAPITALS = re.compile(r"[A-Z](?=[^a-z]*[A-Z]{2})[A-Z0-9 ,/&()'\-]{2,60}")
FENCE = re.compile(r"[ \t]*(```|~~~)")
ITEM = re.compile(r"[ \t]*(?:(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+\S|\S.*::[ \t]*$|\|)")
CAPITALS_LEVEL = 9  # below all others: sections of a manual page, or terms that are defined


Opens = Callable[[str, str], bool]


class TextPart(NamedTuple):
    """A part of a text: where it starts and ends, in characters, the headings above it, and where its own text starts.

    The headings are the outermost first; behind them come lines above under which the text is indented. The first part of a section
    has its headings before its text.
    """

    start: int
    end: int
    headings: tuple[str, ...]
    body: int


class _Line(NamedTuple):
    start: int
    end: int  # with its line break
    text: str  # without it
    is_fenced: bool = False

    @property
    def indent(self) -> int:
        expanded = self.text.expandtabs(8)
        return len(expanded) - len(expanded.lstrip())

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


class _Block(NamedTuple):
    """Lines without a blank one, or between fences, with the blank ones behind; ``leads`` are less indented lines above."""

    start: int
    end: int
    leads: tuple[str, ...]


def parts_of(text: str, *, most_chars: int = MOST_CHARS) -> list[TextPart]:
    """Divide a text into parts of about the same length, in order."""
    found: list[TextPart] = []
    rest_chars = min(LEAST_CHARS, most_chars // 4)
    for start, headings, lines in sections_of(lines_of(text)):
        first = len(found)
        for a, b, leads in packed(blocks_of(lines), text, most_chars):
            path = (*headings, *leads)
            is_rest = len(found) > first and b - a < rest_chars
            if is_rest and found[-1].end - found[-1].start + b - a <= most_chars + rest_chars:
                found[-1] = found[-1]._replace(end=b)
            else:
                found.append(TextPart(a, b, path, a))
        if len(found) > first:
            found[first] = found[first]._replace(start=start)  # with its headings
        else:  # headings without a text
            end = lines[-1].end if lines else len(text)
            found.append(TextPart(start, end, headings, end))
    return found


def lines_of(text: str) -> list[_Line]:
    """Return the lines of a text; a fence that nothing closes is none."""
    lines: list[_Line] = []
    at, opened, mark = 0, -1, ""
    for line in text.split("\n"):
        end = min(len(text), at + len(line) + 1)
        fence = FENCE.match(line)
        lines.append(_Line(at, end, line.rstrip("\r")))
        if fence and opened < 0:
            opened, mark = len(lines) - 1, fence[1]
        elif fence and line.strip() == mark:
            for n in range(opened, len(lines)):
                lines[n] = lines[n]._replace(is_fenced=True)
            opened = -1
        at = end
    return lines if lines[-1].text or len(lines) == 1 else lines[:-1]


def sections_of(
    lines: Sequence[_Line],
) -> Iterator[tuple[int, tuple[str, ...], Sequence[_Line]]]:
    """Yield where each section starts, its headings and the lines below them; headings in a row are one start."""
    above: list[tuple[int, str]] = []
    ranks: dict[str, int] = {}
    start, body, at = 0, 0, 0
    while at < len(lines):
        heading = heading_at(lines, at, ranks)
        if heading is None:
            at += 1
            continue
        level, title, taken = heading
        if any(not line.is_blank for line in lines[body:at]):
            yield start, tuple(each for _, each in above), lines[body:at]
            start = lines[at].start
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, title[:HEADING_CHARS]))
        at += taken
        body = at
    yield start, tuple(each for _, each in above), lines[body:]


def heading_at(
    lines: Sequence[_Line], at: int, ranks: dict[str, int]
) -> tuple[int, str, int] | None:
    """Return the level and title of a heading that starts at a line, and how many lines it has; ``None`` if there is none.

    ``ranks`` has the levels of titles with rulers, in the order in which they came up.
    """
    line = lines[at]
    if line.is_fenced or line.is_blank or len(line.text) > 2 * HEADING_CHARS:
        return None
    if (marked := MARKED.match(line.text)) is not None:
        return len(marked[1]), marked[2].rstrip("#= \t") or marked[2], 1
    if at and not lines[at - 1].is_blank:
        return None
    below = [each.text for each in lines[at + 1 : at + 3]] + ["", ""]
    if (ruled := ruled_title(line.text, *below[:2])) is not None:
        rank, title, taken = ruled
        return ranks.setdefault(rank, len(ranks) + 1), title, taken
    text, numbered = line.text.strip(), NUMBERED.fullmatch(line.text)
    if numbered and not below[0].strip():
        return numbered[1].count(".") + 1, text, 1
    return (CAPITALS_LEVEL, text, 1) if CAPITALS.fullmatch(line.text.rstrip()) else None


def ruled_title(line: str, second: str, third: str) -> tuple[str, str, int] | None:
    """Return the kind of ruler, the title and the lines of a title with a ruler above or below it."""
    text = line.strip()
    if (ruler := RULER.fullmatch(line)) is not None:
        is_between = third.strip() == text
        if is_title(second, len(text)) and (is_between or len(text) >= LONG_RULER):
            return f"{ruler[1]} above", second.strip(), 2 + is_between
        return None
    ruler = RULER.fullmatch(second)
    return (ruler[1], text, 2) if ruler and is_title(line, len(second.strip())) else None


def is_title(text: str, ruler_chars: int) -> bool:
    """Return True if a line may be a title with a ruler of this length."""
    title = text.strip()
    has_words = len(title) > 1 and any(map(str.isalnum, title)) and not RULER.fullmatch(title)
    return has_words and len(title) <= ruler_chars + RULED_SLACK


def blocks_of(lines: Sequence[_Line]) -> Iterator[_Block]:
    """Yield the blocks of a section, each with the lines above under which it is indented."""
    above: list[tuple[int, str]] = []
    begun: list[_Line] = []
    leads: tuple[str, ...] = ()
    for line in lines:
        ends = bool(begun) and (
            line.is_fenced != begun[-1].is_fenced
            or (begun[-1].is_blank and not line.is_blank and not line.is_fenced)
        )
        if ends and any(not each.is_blank for each in begun):
            yield _Block(begun[0].start, begun[-1].end, leads)
            begun = []
        if not line.is_blank:
            indent = line.indent
            while above and above[-1][0] >= indent:
                above.pop()
            if all(each.is_blank for each in begun):
                leads = tuple(title for _, title in above if title)[-MOST_LEADS:]
            title = line.text.strip()
            above.append((indent, title if len(title) <= HEADING_CHARS else ""))
        begun.append(line)
    if any(not each.is_blank for each in begun):
        yield _Block(begun[0].start, begun[-1].end, leads)


def packed(
    blocks: Iterator[_Block], text: str, most_chars: int
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield parts of whole blocks, and of a block that is too long, what it is divided into."""
    start, end = 0, 0
    leads: tuple[str, ...] = ()
    for block in blocks:
        is_long = block.end - block.start > most_chars
        if end > start and (is_long or block.end - start > most_chars):
            yield start, end, leads
            start = end
        if end == start:
            start, leads = block.start if end == 0 else end, block.leads
        if is_long:
            cuts = divided(text, start, block.end, most_chars)
            for a, b in pairwise(cuts):
                yield a, b, leads
            start = block.end
        end = block.end
    if end > start:
        yield start, end, leads


def divided(text: str, start: int, end: int, most_chars: int) -> list[int]:
    """Return where a block is cut, its start and end included: at paragraphs, items, sentences, lines, or else at blanks."""
    cuts, last = [start], start
    for at in atoms_of(text, start, end, most_chars):
        if at - cuts[-1] > most_chars and last > cuts[-1]:
            cuts.append(last)
        last = at
    if end - cuts[-1] < min(LEAST_CHARS, most_chars // 4) and len(cuts) > 1:
        cuts.pop()
    return [*cuts, end]


def atoms_of(text: str, start: int, end: int, most_chars: int) -> Iterator[int]:
    """Yield the ends of what is not cut in a block, in order, the last one at its end."""
    for a, b in pairwise(ends_at(text, start, end, is_opening)):
        if b - a <= most_chars:
            yield b
            continue
        sentences = [a, *(a + s.following for s in stops_in(text[a:b], r"\n[ \t]*\n")), b]
        for c, d in pairwise(sentences):
            if d - c <= LONGEST_SENTENCE:
                yield d
                continue
            for e, f in pairwise(ends_at(text, c, d, lambda _before, _line: True)):
                yield from chopped(text, e, f, most_chars)


def is_opening(before: str, line: str) -> bool:
    """Return True if a line starts an item or a paragraph."""
    return not before.strip() or ITEM.match(line) is not None


def ends_at(text: str, start: int, end: int, opens: Opens) -> Iterator[int]:
    """Yield the start, the starts of lines that open something, and the end."""
    yield start
    before, at = "x", start
    for line in text[start:end].split("\n"):
        if at > start and at < end and line.strip() and opens(before, line):
            yield at
        before, at = line, at + len(line) + 1
    yield end


def chopped(text: str, start: int, end: int, most_chars: int) -> Iterator[int]:
    """Yield the ends of pieces of a line that is too long: behind a blank, if there is one in the second half."""
    while end - start > most_chars:
        blank = text.rfind(" ", start + most_chars // 2, start + most_chars) + 1
        start = blank or start + most_chars
        yield start
    yield end
