"""What is different between two versions of one text, by nature: its layout, a clock, an identifier, a number, or its content.

Promise: of versions that differ, the nature is the mildest that explains all of the difference; ``content`` if none does. Linear in the
texts. The words of a clock are those of English and the formats of ISO 8601 and the common locales; whatever is written otherwise
is still a changed number or content.
"""

import json
import re
from collections.abc import Callable
from typing import Literal, NamedTuple, cast

Nature = Literal["layout", "call ids", "clock", "identifier", "counter", "content"]

SHOWN_CHARS = 80  # of each version in an excerpt
MOST_CHARS = 200_000  # of a text that is looked at as JSON
CALL_IDS = frozenset({"id", "tool_call_id", "call_id", "tool_use_id"})
MASK = "\ufffc"

_MONTH = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_CLOCK = (
    r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}",  # 2026-11-29
    r"\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}",  # 29.11.2026, 11/29/26
    r"\d{4}年\d{1,2}月\d{1,2}日",
    r"\d{8}T\d{4,6}",
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\.? )?\b{_MONTH}\b\.?(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}})?",
    rf"\b{_DAY}\b\.?",
    r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[ap]\.?m\b\.?)?",
    r"\b\d{1,2} ?[ap]\.?m\b\.?",
    r"\b1[4-9]\d{8}(?:\d{3}|\.\d+)?\b",  # seconds or milliseconds since 1970
)
_ZONE = r"(?: ?(?:Z\b|UTC\b|GMT\b|CES?T\b|[ECMP][SD]T\b|[+-]\d\d:?\d\d\b))?"
_MOMENT = rf"(?:{'|'.join(_CLOCK)}){_ZONE}"
_STAMP = re.compile(
    rf"{_MOMENT}(?:(?:[ ,T()]|\bat\b|\bof\b|\bthe\b){{0,8}}{_MOMENT})*", re.IGNORECASE
)
_ID = re.compile(
    r"\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MIXED = re.compile(
    rf"(?<![\w-])(?=[a-z_-]*[\d{MASK}])(?=[\d_{MASK}-]*[a-z])[\w{MASK}-]{{4,}}", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")
_EDGE = re.compile(r"[\s\"'`<>(){}\[\]]")


class Excerpt(NamedTuple):
    """Where two versions differ first: the line, from 1, and what stands there in each."""

    line: int
    old: str
    new: str


def nature_of(old: str, new: str) -> Nature:
    """Return the mildest nature that explains the whole difference of two texts that differ."""
    if _without_layout(old, keeps_ids=True) == _without_layout(new, keeps_ids=True):
        return "layout"
    for nature, loosened in LOOSENED:
        old, new = loosened(old), loosened(new)
        if old == new:
            return nature
    if _NUMBER.sub(MASK, old) == _NUMBER.sub(MASK, new):
        return "counter"
    return "identifier" if _MIXED.sub(MASK, old) == _MIXED.sub(MASK, new) else "content"


def loosest(text: str) -> str:
    """Return what is left of a text that no clock, identifier, number or layout changes."""
    for _, loosened in LOOSENED:
        text = loosened(text)
    return _SPACE.sub("", _NUMBER.sub(MASK, _MIXED.sub(MASK, text)))


def excerpt(old: str, new: str) -> Excerpt:
    """Return what differs between the common start and the common end of two texts, cut at words and at whole dates and times."""
    start = common_start(old, new)
    stop = common_start(old[start:][::-1], new[start:][::-1])
    old_start, old_stop = _whole(old, start, len(old) - stop)
    new_start, new_stop = _whole(new, start, len(new) - stop)
    start = min(old_start, new_start)
    if (
        old[old_stop - 1 : old_stop] == new[new_stop - 1 : new_stop] != ""
        and new[new_stop - 1] in ".,;"
    ):
        old_stop, new_stop = old_stop - 1, new_stop - 1
    line = new.count("\n", 0, start) + 1
    return Excerpt(line, old[start:old_stop], new[start:new_stop])


def shown(text: str) -> str:
    """Return a text on one line, cut after ``SHOWN_CHARS``."""
    line = _SPACE.sub(" ", text[: 4 * SHOWN_CHARS])
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"


def common_start(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their start."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:  # equal up to ``low``, not up to ``high``
        middle = (low + high) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle)
    return low


def _whole(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return the range widened to whole words, and to a whole date with its time where it is in one."""
    from_, to = start, stop
    while from_ > 0 and start - from_ < SHOWN_CHARS and not _EDGE.match(text[from_ - 1]):
        from_ -= 1
    while to < len(text) and to - stop < SHOWN_CHARS and not _EDGE.match(text[to]):
        to += 1
    around = max(0, from_ - SHOWN_CHARS)
    for stamp in _STAMP.finditer(text, around, min(len(text), to + SHOWN_CHARS)):
        if stamp.start() <= from_ < stamp.end() or stamp.start() < to <= stamp.end():
            return min(from_, stamp.start()), max(to, stamp.end())
    return from_, to


# From mild to loose: each leaves something out of what the one before it left


def _without_layout(text: str, *, keeps_ids: bool) -> str:
    """Return a text without white space, the order of keys and of words in lists, and escapes, of JSON in its last line as well."""
    value = _as_json(text)
    if value is not None:
        return _dumped(value, keeps_ids=keeps_ids)
    *lines, last = text.split("\n")
    ended = _as_json(last)
    end = last if ended is None else _dumped(ended, keeps_ids=keeps_ids)
    between = "" if keeps_ids else " "
    return _SPACE.sub(between, "\n".join([*lines, end])).strip()


def _without_ids(text: str) -> str:
    return _without_layout(text, keeps_ids=False)


def _without_clock(text: str) -> str:
    return _STAMP.sub(MASK, text)


def _without_identifiers(text: str) -> str:
    return _ID.sub(MASK, text)


LOOSENED: tuple[tuple[Nature, Callable[[str], str]], ...] = (
    ("call ids", _without_ids),
    ("clock", _without_clock),
    ("identifier", _without_identifiers),
)


def _as_json(text: str) -> object:
    """Return the JSON object or list that a text is, else ``None``."""
    if not text[:MOST_CHARS].lstrip().startswith(("{", "[")) or len(text) > MOST_CHARS:
        return None
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value


def _dumped(value: object, *, keeps_ids: bool) -> str:
    return json.dumps(_plain(value, keeps_ids=keeps_ids), sort_keys=True, ensure_ascii=False)


def _plain(value: object, *, keeps_ids: bool) -> object:
    """Return a JSON value whose lists of words are sorted, and whose texts are JSON values or have no doubled spaces."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)  # as JSON has it
        return {
            key: _plain(each, keeps_ids=keeps_ids)
            for key, each in fields.items()
            if keeps_ids or key not in CALL_IDS
        }
    if isinstance(value, list):
        items = [_plain(each, keeps_ids=keeps_ids) for each in cast("list[object]", value)]
        texts = [each for each in items if isinstance(each, str)]
        return sorted(texts) if len(texts) == len(items) else items
    if isinstance(value, str):
        inner = _as_json(value)
        return (
            _SPACE.sub(" ", value).strip() if inner is None else _plain(inner, keeps_ids=keeps_ids)
        )
    return value
