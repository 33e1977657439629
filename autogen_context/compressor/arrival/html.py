"""HTML pages, and XML documents.

Promise: tightened, a page is as it was. Cut, a page is its text: headings, links with where they lead, lists, tables row by
row, images by what they show; no scripts, styles and comments. A document of other elements has one on each line. Broken
pages are read as far as they can be, in linear time.
"""

import re
from collections.abc import Callable, Sequence
from html import unescape

from autogen_context.compressor.arrival.lines import choose, ranked
from autogen_context.compressor.arrival.reducer import Reducer, Room

SAMPLE_CHARS = 6_000
LEAST_TAGS = 8
LEAST_FRACTION = 0.15  # of a sample's characters that stand in tags
LEAST_PAGE_FRACTION = 0.5  # of the tags; with fewer known ones, names of elements are information
LONGEST_LINK = 300  # characters of an address
BEGINS = re.compile(
    r"^[ \t]*+<(?:!doctype|html|head|body|\?xml|rss|feed|svg)\b|\A\s*+<[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>\s*<",
    re.IGNORECASE | re.MULTILINE,
)
HIDDEN = re.compile(  # what begins and never ends is hidden to the end, as browsers have it
    r"<(script|style|noscript|template|svg)\b[^<>]*(?<!/)>.*?(?:</\1\b[^<>]*>|\Z)|<!--.*?(?:-->|\Z)",
    re.IGNORECASE | re.DOTALL,
)
TAG = re.compile(r"<([/!?]?[A-Za-z][\w:.-]*)([^<>]*)>")
BETWEEN = re.compile(r"(?<=>)\s*+(?=<)")
ATTRIBUTE = r"(?<![\w:-]){}\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]++))"
HREF, ALT = (re.compile(ATTRIBUTE.format(name), re.IGNORECASE) for name in ("href", "alt"))
INLINE = "a abbr b bdi big cite code del dfn em font i img ins kbd label mark q s samp small span strong sub sup time u var"
BLOCKS = """
html head body meta link script style div p br hr ul ol dl dt dd table thead tbody tfoot tr caption form nav main
header footer section article aside pre blockquote option iframe figure figcaption
"""
WRITTEN = {
    **dict.fromkeys(INLINE.split(), ""),
    **dict.fromkeys((f"/{name}" for name in INLINE.split()), ""),
    **{f"h{level}": f"\n{'#' * level} " for level in range(1, 7)},
    **dict.fromkeys(("td", "th"), " | "),
    **dict.fromkeys(("/td", "/th"), ""),
    "title": "\n# ",
    "li": "\n- ",
}
"""What a tag adds to the text; all others begin a line."""
KNOWN = WRITTEN.keys() | set(BLOCKS.split())
EMPTY = frozenset({"", "-", "#", "|"})
HEADING_RANK = 1.2
ENDS_RANK = 1.5


def recognises(text: str, _: Sequence[str]) -> bool:
    """Whether a text begins as a page or a document does, with many tags."""
    sample = text[:SAMPLE_CHARS]
    if sample.count("<") < LEAST_TAGS:
        return False
    begins = BEGINS.search(sample)
    tags = [match.end() - match.start() for match in TAG.finditer(sample)]
    rest = len(sample) - (begins.start() if begins else 0)
    return bool(begins) and len(tags) >= LEAST_TAGS and sum(tags) >= LEAST_FRACTION * rest


def cut(text: str, room: Room) -> str:
    """The text of a page; of other documents the elements that matter."""
    lines = lines_of_page(text) if is_page(text) else BETWEEN.sub("\n", text).split("\n")
    ranks = [HEADING_RANK if line.startswith("#") else 0.0 for line in lines]
    for i in {0, 1, len(lines) - 1} if len(lines) > 1 else ():
        ranks[i] = ENDS_RANK
    short = choose(lines, ranked(ranks, lines, room, errors=True), room)
    return short if len(short) <= len(text) else choose([text], [0.0], room)


def is_page(text: str) -> bool:
    """Whether most tags of a sample are those of HTML."""
    names = [match[1].lower().lstrip("/!?") for match in TAG.finditer(text[:SAMPLE_CHARS])]
    return sum(name in KNOWN for name in names) >= LEAST_PAGE_FRACTION * len(names)


def lines_of_page(text: str) -> list[str]:
    """The text of a page, line by line."""
    words = unescape(TAG.sub(writer(), HIDDEN.sub("", text)))
    lines = (" ".join(line.split()).removeprefix("| ") for line in words.split("\n"))
    return [line for line in lines if line not in EMPTY] or [""]


def writer() -> Callable[[re.Match[str]], str]:
    """Says what each tag of one page adds: a link's address where it ends, what an image shows."""
    links: list[str] = []

    def written(tag: re.Match[str]) -> str:
        name = tag[1].lower()
        if name == "a":
            links.append(value_in(HREF, tag[2]))
        elif name == "/a" and links:
            address = links.pop()
            shown = address and not address.startswith(("#", "javascript:", "data:"))
            return f" ({address[:LONGEST_LINK]})" if shown else ""
        elif name == "img":
            return value_in(ALT, tag[2])
        return WRITTEN.get(name, "\n")

    return written


def value_in(attribute: re.Pattern[str], attributes: str) -> str:
    """The value of an attribute; empty if there is none."""
    match = attribute.search(attributes)
    return next(filter(None, match.groups()), "").strip() if match else ""


HTML = Reducer(kind="html", recognises=recognises, cut=cut)
