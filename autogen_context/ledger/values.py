"""The values of a statement: what must stand word for word wherever the statement stands.

Promise: linear time; values do not overlap and come in their order. A value is a quotation, an address, an amount, a date,
a time, a time zone, a number with its unit, an identifier, a path, or a name.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

from autogen_context.ledger.cue import Cue, first_of, words, words_in
from autogen_context.ledger.english import FIRST_WORDS, GIVEN_NAMES

ValueKind = Literal[
    "quoted", "link", "money", "date", "time", "zone", "number", "code", "name", "acronym"
]
STARTING, GIVEN = words(FIRST_WORDS), words(GIVEN_NAMES)
WEAK: frozenset[ValueKind] = frozenset({"acronym"})  # API, TTL: as common as words

MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t(?:ember)?)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
DAY = r"\d{1,2}(?:st|nd|rd|th)?"
WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
CURRENCY = r"(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|dollars?|euros?|pounds?|francs?|yen|bucks|cents|crowns|rupees)\b"
ONES = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
SPELLED = rf"{ONES}(?:[ -](?:{ONES}|hundred|thousand|million|and {ONES}))*"
AMOUNT = r"\d[\d,.]*\d[kKmM]?|\d[kKmM]?"
UNIT = (
    r"(?:%|percent\b|°C|°F|degrees?\b|ms\b|s\b|sec(?:onds?)?\b|min(?:utes?)?\b|h\b|hours?\b|days?\b|weeks?\b|months?\b|years?\b"
    r"|[kKMGT]i?B\b|bytes?\b|tokens?\b|words?\b|lines?\b|pages?\b|mm\b|cm\b|m\b|km\b|kg\b|g\b|lbs?\b|miles?\b|rps\b"
    r"|rpm\b|V\b|A\b|W\b|kW\b|px\b|pt\b|times\b)"
)
CAPITAL = r"[A-Z](?:[a-z\u00c0-\u024f'][\w'\u00c0-\u024f]*|\.(?= [A-Z]))"
NAMED = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\.? )?{CAPITAL}(?:[ -](?:(?:de|da|del|van|von|der|of|al|bin|la) |& )?(?:{CAPITAL}|[A-Z]{{2,5}}\b))*"
VALUE = Cue(
    r"(?P<quoted>\"[^\"\n]+\"|\u201c[^\u201d\n]+\u201d|`[^`\n]+`|(?<!\w)'[^'\n]{1,60}'(?!\w))"
    r"|(?P<link>\b[a-z][a-z0-9+]{1,9}://[^\s<>\"')]*[^\s<>\"').,;:!?])"
    rf"|(?P<date>\b\d{{4}}-\d\d(?:-\d\d)?\b(?!-)|\b{DAY} (?:of )?{MONTH}\b(?:,? \d{{4}}\b)?|\b{MONTH} {DAY}\b(?:,? \d{{4}}\b)?"
    rf"|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}\b|\b{WEEKDAY}\b(?: (?:morning|afternoon|evening|night)\b)?|\b{MONTH} \d{{4}}\b|\bQ[1-4](?: \d{{4}})?\b|\b\d{{1,2}}(?:st|nd|rd|th)\b"
    rf"|\b(?:tomorrow|tonight|(?:end|middle|beginning|start) of (?:the )?(?:day|week|month|quarter|year|{MONTH})|next (?:week|month|quarter|year))\b)"
    rf"|(?P<money>[$€£¥]\s?(?:{AMOUNT})|\b(?:{AMOUNT})\s?(?:{CURRENCY}|[€£$])|\b{SPELLED} {CURRENCY})"
    r"|(?P<time>\b\d{1,2}(?::\d\d){1,2}(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]m\b)"
    r"|(?P<zone>\b(?:UTC|GMT|CES?T|[ECMP][SD]T|BST|IST|JST)(?:[+-]\d{1,2}(?::?\d\d)?)?\b"
    r"|\b(?i:pacific|eastern|central|mountain|local|central european)(?: (?:standard|daylight))? [tT]ime\b"
    r"|\b(?:Africa|America|Asia|Atlantic|Australia|Europe|Pacific|Etc|US)/[A-Z]\w+(?:/\w+)?)"
    rf"|(?P<number>\b(?!one\b){SPELLED}[ -](?:(?:working|business|calendar) )?(?:percent|seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?)\b"
    r"|(?<![\w/.,$€£¥-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w|,\d))"
    r"|(?P<code>(?<![\w/])(?:[#@~./$\w-]*(?:\d|_|::|\(\)|[a-z][A-Z]|\w[/.@:#]\w)[\w/.@#:$%+=&~-]*[\w%/+)]|[A-Za-z][\w.]*-\d\b|[#@]\w[\w-]*|[~.]?/[\w./-]*\w/?|\w+\(\)|\w+/|\d))"
    rf"|(?P<name>\b{NAMED})"
    r"|(?P<acronym>\b[A-Z][A-Z-]{1,9}\b)",
    cased=True,
)
SIGN = re.compile(  # of which one stands in whatever VALUE finds, but for the words below
    r"[\d_A-Z\"\u201c`#@/$\u20ac\u00a3\u00a5]|'(?<!\w')|\(\)|[.:](?=[:\w])"
)
SPOKEN = words("tomorrow tomorrow's tonight tonight's end next time") | words(
    ONES[3:-1].replace("|", " ")
)
NUMBER = re.compile(rf"[+-]?(?:{AMOUNT})%?")
TAIL = re.compile(rf"(?:\s?(?:to|and|-|x|by)\s?(?:{AMOUNT}))?\s?{UNIT}")


@dataclass(frozen=True, slots=True)
class Value:
    """One value and where it stands."""

    kind: ValueKind
    text: str
    start: int
    end: int


@lru_cache(4_096)
def values(text: str) -> tuple[Value, ...]:
    """The values of a sentence."""
    found: list[Value] = []
    at = start_of(text, 0)
    while at >= 0 and (match := VALUE.pattern.search(text, at)):
        value = value_of(match, text)
        at = start_of(text, max(value.end, match.start() + 1) if value else match.end())
        if value:
            found.append(value)
    return tuple(found)


def start_of(text: str, at: int) -> int:
    """A place from which on the next value is found, at or behind a place; -1 where there is none."""
    if not SPOKEN.isdisjoint(words_in(text)):
        return at
    plain = at == 0 and text[:1].isupper() and first_of(text).capitalize() not in GIVEN
    sign = SIGN.search(text, 1 if plain else at)
    if sign is None:
        return -1
    return 0 if plain else max(at, text.rfind(" ", at, sign.start()) + 1)


def value_of(match: re.Match[str], text: str) -> Value | None:
    """The value of a match; none where a capital only begins a sentence."""
    kind = cast("ValueKind", match.lastgroup)  # each alternative has its name
    if kind in {"code", "number"} and NUMBER.fullmatch(match.group()):
        unit = TAIL.match(text, match.end())
        end = unit.end() if unit else match.end()
        return Value("number", text[match.start() : end], match.start(), end)
    if kind == "name":
        return name_of(match)
    return Value(kind, match.group(), match.start(), match.end())


def name_of(match: re.Match[str]) -> Value | None:
    """A name without the word that only stands before it because the sentence begins there."""
    name, start = match.group(), match.start()
    first, _, rest = name.partition(" ")
    if start == 0 and first.lower() in STARTING:
        name, start = rest, start + len(first) + 1
    elif start == 0 and not rest and "-" not in first and first not in GIVEN:
        return None
    if not name or name.lower() in STARTING:
        return None
    return Value("name", name, start, match.end())


def is_strong(value: Value) -> bool:
    """Whether it names one thing or amount, as an abbreviation alone does not."""
    return value.kind not in WEAK
