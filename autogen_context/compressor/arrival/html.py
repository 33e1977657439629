"""HTML and XML pages.

Promise: tightened, only the blanks between two tags on different lines go, and none inside what keeps its blanks. Cut, a
page is its text: headings, links with where they lead, lists, tables row by row; no scripts, no styles. Broken pages are
read as far as they can be.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from autogen_context.compressor.arrival.lines import GLANCE_CHARS, fits
from autogen_context.compressor.arrival.markup import lowered
from autogen_context.compressor.arrival.page import WRITTEN, lines_of_page
from autogen_context.compressor.arrival.reducer import Room
from autogen_context.compressor.arrival.rows import Rows, kept, ranks_of

SAMPLE_CHARS = 6_000
LEAST_TAGS = 8
LEAST_SHARE = 0.15  # of a sample's characters that stand in tags
LEAST_HTML_SHARE = 0.5  # of the tags; with fewer known ones, names of elements are information
HEADING_RANK = 1.2
BEGINS = re.compile(
    r"^[ \t]*+<(?:!doctype|html|head|body|\?xml|rss|feed|svg)\b|\A\s*+<[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>\s*<",
    re.IGNORECASE | re.MULTILINE,
)
A_TAG = re.compile(r"</?([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
KEPT = re.compile(r"<(pre|textarea|script|style)\b|<!--|<!\[CDATA\[", re.IGNORECASE)
ENDS = {"<!--": "-->", "<![cdata[": "]]>"}
BETWEEN = re.compile(r">[ \t\r]*+\n\s*+(?=<)")
ELEMENTS = re.compile(r"(?<=>)\s*+(?=<)")
BLOCK_NAMES = """
html head body meta link script style div p br hr ul ol dl dt dd table thead tbody tfoot tr caption form nav main
header footer section article aside pre blockquote option iframe figure figcaption
"""  # elements that begin a line and need no other mark
KNOWN = WRITTEN.keys() | frozenset(BLOCK_NAMES.split())


@dataclass(frozen=True, slots=True)
class Html:
    """Pages, and XML documents."""

    kind: str = "html"

    def recognises(self, text: str, /) -> bool:
        """Whether a text begins as a page or a document does, with many tags."""
        sample = text[:SAMPLE_CHARS]
        if sample.count("<") < LEAST_TAGS:
            return False
        begins = BEGINS.search(sample)
        tags = [match.end() - match.start() for match in A_TAG.finditer(sample)]
        rest = len(sample) - (begins.start() if begins else 0)
        return bool(begins) and len(tags) >= LEAST_TAGS and sum(tags) >= LEAST_SHARE * rest

    def tighten(self, text: str, /) -> str:
        """One line's end for all blanks between tags on different lines."""
        if "xml:space" in text:
            return text
        return "".join(
            part if kept_whole else BETWEEN.sub(">\n", part) for part, kept_whole in spans_of(text)
        )

    def cut(self, text: str, room: Room, /) -> str:
        """The text of a page; of other documents the elements that matter."""
        if len(text) <= GLANCE_CHARS * room.tokens:
            tight = self.tighten(text)
            if fits(tight, room):
                return tight
        lines = lines_of(text)
        return kept(Rows(lines=lines, ranks=ranked(lines, room.wanted), noun="lines"), text, room)


def lines_of(text: str) -> list[str]:
    """The lines of a page's text, and those of what stands before and after it; of a document, its elements."""
    begins = BEGINS.search(text)
    start = begins.start() if begins else 0
    end = text.rfind("</html>") + len("</html>")
    end = end if end > start + len("</html>") else len(text)
    inner = text[start:end]
    lines = lines_of_page(inner) if is_page(inner) else ELEMENTS.sub("\n", inner).split("\n")
    around = [part.split("\n") if part.strip() else [] for part in (text[:start], text[end:])]
    return [*around[0], *lines, *around[1]]


def is_page(text: str) -> bool:
    """Whether most tags of a sample are those of HTML."""
    names = [match[1].lower() for match in A_TAG.finditer(text[:SAMPLE_CHARS])]
    return sum(name in KNOWN for name in names) >= LEAST_HTML_SHARE * len(names)


def spans_of(text: str) -> Iterator[tuple[str, bool]]:
    """The text in parts, and whether each is an element that keeps its blanks; what never ends is one to the end."""
    at = 0
    low = lowered(text)
    match = KEPT.search(text)
    while match:
        yield text[at : match.start()], False
        end = low.find(
            f"</{match[1].lower()}" if match[1] else ENDS[match.group().lower()], match.end()
        )
        at = end if end >= 0 else len(text)
        yield text[match.start() : at], True
        match = KEPT.search(text, at)
    yield text[at:], False


def ranked(lines: Sequence[str], wanted: Collection[str]) -> list[float]:
    """A rank for each line: headings above other text."""
    ranks = ranks_of(lines, wanted)
    return [
        max(rank, HEADING_RANK) if line.startswith("#") else rank
        for line, rank in zip(lines, ranks, strict=True)
    ]
