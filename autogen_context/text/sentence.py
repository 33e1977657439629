r"""Where the sentences of a text end: the one splitter, for what is read, searched, scored and shortened.

Promise: the sentences of a text joined are the text; linear time. A line's end ends a sentence. A full stop does not after an
abbreviation, a short form, an initial, the number of a list item, or a day before its month.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

END = (  # the sign first, then a lookbehind, for a fast search
    r"[.!?\u2026\u0964\u061f](?<![.!?\u2026][.!?\u2026])[.!?\u2026]*+[\"'\u201d\u2019\u00bb)\]]*+(?=\s|$)"
    r"|[\u3002\uff01\uff1f]++[\u300d\u300f]*+"
)
BLANKS = re.compile(r"\s*")
ABBREVIATED = frozenset(
    [
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "no",
        "nr",
        "inc",
        "ltd",
        "co",
        "corp",
        "vs",
        "etc",
        "approx",
        "e.g",
        "i.e",
        "cf",
        "al",
        "fig",
        "jr",
        "sr",
        "sra",
        "dra",
        "ca",
        "bzw",
        "usw",
        "z.b",
        "p.ex",
    ]
)
OPENING = "\"'([{\u201c\u201e\u00ab"  # before a word
CONSONANT = "b-df-hj-np-tv-xz"
SHORT_FORM = re.compile(
    rf"(?<!['\u2019])\b(?:[^\W\d_]|[{CONSONANT}{CONSONANT.upper()}][{CONSONANT}]{{1,3}})$"
)
INITIAL = re.compile(r"\s*[^\W\d_]\.")
ITEM = re.compile(r"^\s*[-*•]?\s*\(?\d{1,3}$", re.MULTILINE)
DAY = re.compile(r"(?<!\d)\d{1,2}$")
MONTH = re.compile(
    r"\s*(?:jan|feb|m[aä]r|apr|ma[ij]|jun|jul|aug|sep|okt|oct|nov|de[cz]|[IVX]{1,4}\b)",
    re.IGNORECASE,
)
LOOKED_AT = 12  # characters before a full stop


class Stop(NamedTuple):
    """The end of a sentence: where its signs begin (as ``sign``), where they end, and where the next one begins."""

    start: int
    end: int
    following: int
    sign: str


def stops_in(text: str, also: str = r"\n") -> Iterator[Stop]:
    """Yield the ends of the sentences of a text but for the last; ``also`` is a pattern of what else ends one."""
    for match in re.compile(f"{END}|(?P<also>{also})").finditer(text):
        if match["also"] is None and not is_end(text, match):
            continue
        blanks = BLANKS.match(text, match.end())
        yield Stop(match.start(), match.end(), blanks.end() if blanks else match.end(), match[0])


def is_end(text: str, match: re.Match[str]) -> bool:
    """Return True if these signs end a sentence."""
    signs, start, stop = match[0], match.start(), match.end()
    after = text[stop : stop + LOOKED_AT]
    goes_on = after.lstrip()[:1].islower()
    if signs[0] != "." or len(signs) > 1:
        return not goes_on or signs in {"!", "?"}
    before = text[max(0, start - LOOKED_AT) : start]
    if before[-1:].isdigit():
        return not (ITEM.search(before) or (DAY.search(before) and MONTH.match(after)))
    last = before.split()[-1].lstrip(OPENING) if before.strip() else ""
    if last.lower() in ABBREVIATED:
        return False
    short = SHORT_FORM.search(last)
    if short is None:
        return True
    return short[0].islower() and after.lstrip()[:1].isupper() and not INITIAL.match(after)


def sentences_of(text: str) -> list[str]:
    """Split a text into sentences, each with the blanks after it."""
    starts = [0, *(stop.following for stop in stops_in(text)), len(text)]
    return [text[a:b] for a, b in pairwise(starts) if b > a]
