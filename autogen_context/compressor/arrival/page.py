"""The text of an HTML page, as lines.

Promise: every word that a browser would show is there, in its order, and nothing of what it would not; headings, list
items, links and table rows are written as in Markdown. Linear time.
"""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import chain

from autogen_context.compressor.arrival.markup import visible

LONGEST_LINK = 300  # characters of an address
TAG = re.compile(r"<([/!?]?[A-Za-z][\w:.-]*)([^<>]*)>")
ATTRIBUTE = re.compile(r"(?<![\w:-])([\w:-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]++))")
NO_LINKS = ("#", "javascript:", "data:")
CELL = "| "
KEPT_BLANK = "\0"  # a blank that stays
INLINE_NAMES = """
a abbr b bdi bdo big button cite code data del dfn em font i img input ins kbd label mark q s samp select small
span strike strong sub sup time tt u var wbr script style noscript template svg
"""
INLINE = INLINE_NAMES.split()
HEADINGS = {f"h{level}": f"\n{'#' * level} " for level in range(1, 7)} | {"title": "\n# "}
WRITTEN = {
    **dict.fromkeys(INLINE, ""),
    **dict.fromkeys((f"/{name}" for name in INLINE), ""),
    **HEADINGS,
    **dict.fromkeys(("td", "th"), f" {CELL}"),
    **dict.fromkeys(("/td", "/th"), ""),
    "li": "\n- ",
}
"""What a tag adds to the text; all others begin a line."""
TELLING = frozenset({"a", "/a", "img", "input"})
EMPTY = frozenset({"", "-", "#", "|"})


def lines_of_page(text: str) -> list[str]:
    """The text of a page, line by line."""
    words = unescape("".join(words_of(visible(text))))
    filled = (line for line in words.split("\n") if line and not line.isspace())
    lines = (" ".join(line.split()).removeprefix(CELL) for line in filled)
    found = [line for line in lines if line not in EMPTY]
    if KEPT_BLANK not in words:
        return found
    return [line.replace(KEPT_BLANK, " ").rstrip() for line in found]


def words_of(text: str) -> list[str]:
    """Text and what tags add to it, a line's end only where a line ends."""
    first, *parts = TAG.split(text)
    tags = list(map(str.lower, parts[::3]))
    links: list[str] = []
    added = (
        adds(tag, attributes, links) if tag in TELLING else WRITTEN.get(tag, "\n")
        for tag, attributes in zip(tags, parts[1::3], strict=True)
    )
    behind = zip(added, texts_behind(tags, parts[2::3]), strict=True)
    return [flowing(first), *chain.from_iterable(behind)]


def texts_behind(tags: Sequence[str], texts: Sequence[str]) -> Iterator[str]:
    """What stands behind each tag."""
    if "pre" not in tags:
        yield from map(flowing, texts)
        return
    kept = 0  # elements around that keep their blanks
    for tag, text in zip(tags, texts, strict=True):
        kept = max(0, kept + (tag == "pre") - (tag == "/pre"))
        yield preformatted(text) if kept else flowing(text)


def adds(tag: str, attributes: str, links: list[str]) -> str:
    """What a tag adds that tells by its attributes: where a link leads, when it ends; what an image shows, a field has."""
    if tag == "a":
        links.append(value_of("href", attributes))
    elif tag == "/a":
        address = links.pop() if links else ""
        return (
            f" ({address[:LONGEST_LINK]})" if address and not address.startswith(NO_LINKS) else ""
        )
    elif tag == "img":
        return value_of("alt", attributes)
    elif tag == "input":
        return f"[{value_of('name', attributes)}={value_of('value', attributes)}]"
    return ""


def value_of(name: str, attributes: str) -> str:
    """The value of an attribute; empty if there is none."""
    for match in ATTRIBUTE.finditer(attributes):
        if match[1].lower() == name:
            return (match[2] or match[3] or match[4] or "").strip()
    return ""


def flowing(text: str) -> str:
    """Text in which a line's end is a blank."""
    return text.replace("\n", " ")


def preformatted(text: str) -> str:
    """Text in which all blanks stay."""
    return text.replace(" ", KEPT_BLANK).replace("\t", KEPT_BLANK)
