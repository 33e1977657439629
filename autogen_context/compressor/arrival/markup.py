"""What of a page's source is meant to be seen: no scripts, styles, drawings and comments.

Promise: linear time on any input; what begins and never ends is hidden to the end, as browsers have it.
"""

import re
from collections.abc import Iterator
from html import escape

from autogen_context.compressor.arrival.alarms import SMALL

HIDING = re.compile(
    r"<(script|style|noscript|template|svg)\b[^<>]*>|<!--|<!\[CDATA\[", re.IGNORECASE
)
COMMENT_END = "-->"
DATA_END = "]]>"


def visible(text: str) -> str:
    """The source without what hides; character data in it is escaped as other text is."""
    return "".join(visible_parts(text))


def visible_parts(text: str) -> Iterator[str]:
    """The stretches between what hides."""
    low = lowered(text)
    at = 0
    while match := HIDING.search(text, at):
        yield text[at : match.start()]
        if match[1]:
            closed = match.group().endswith("/>")
            at = match.end() if closed else end_of(low, f"</{match[1].lower()}", match.end())
        elif match.group() == "<!--":
            at = end_of(text, COMMENT_END, match.end(), past=True)
        else:
            at = end_of(text, DATA_END, match.end(), past=True)
            yield escape(text[match.end() : at].removesuffix(DATA_END), quote=False)
    yield text[at:]


def lowered(text: str) -> str:
    """The text in small letters, each in its place: some letters would grow."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(SMALL)


def end_of(text: str, end: str, start: int, *, past: bool = False) -> int:
    """The place of an end, or the one past it; the end of the text, where there is none."""
    found = text.find(end, start)
    return len(text) if found < 0 else found + len(end) * past
