"""What a sentence has to be compared by: its cues, its values, and what it is about.

Promise: pure, a function of the sentence alone, linear in it. Cues come from the languages' tables; values are found by
their form in any language, and stand word for word.

Two sentences are about the same where they are the same but for one value, and that value is what they give: behind "is"
and the like, behind a limit, or, where one says that something changed, anywhere. "Alice may spend 100" and "Bob may spend
300" are not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from autogen_context.language.matcher import Found
from autogen_context.language.phrases import phrases
from autogen_context.language.stems import stem

ValueKind = Literal["quoted", "link", "money", "date", "time", "number", "code", "name"]
Cues = dict[str, tuple[Found, ...]]
Word = tuple[int, str]  # where it begins, and its stem

TOPIC = "ledger"
REMEMBERED = 8_192  # sentences
GAP_CHARS = 16  # between "is" and its value: "at about"
BORDER = 2  # characters between a limit and its value, or a colon and its value
SILENT = (
    "filler",
    "change",
    "lead",
)  # labels of words that tell nothing of what a sentence is about
LABEL_WORDS = 6  # in front of a colon that gives a value
GROUPS: dict[ValueKind, str] = {
    "quoted": "<term>",
    "link": "<term>",
    "code": "<term>",
    "name": "<term>",
    "money": "<amount>",
    "number": "<amount>",
    "date": "<when>",
    "time": "<when>",
}
NUMBER = r"[+-]?\d[\d.,'\u00a0\u202f]*\d[kKM]?|[+-]?\d[kKM]?"
CURRENCY = r"[$€£¥₹₽₩]"
A = "[A-Za-z0-9_]"  # of identifiers, in whatever script the sentence is
FORM = re.compile(
    r"(?P<quoted>\"[^\"\n]+\"|\u201c[^\u201d\n]+\u201d|\u201e[^\u201c\u201d\n]+[\u201c\u201d]|\u00ab[^\u00bb\n]+\u00bb"
    r"|\u300c[^\u300d\n]+\u300d|`[^`\n]+`|(?<!\w)'[^'\n]{1,60}'(?!\w))"
    r"|(?P<link>\b[a-z][a-z0-9+]{1,9}://[^\s<>\"')]*[^\s<>\"').,;:!?])"
    rf"|(?P<date>(?<!{A})(?:\d{{4}}-\d\d(?:-\d\d)?(?!{A}|-)|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}(?!{A})))"
    rf"|(?P<time>(?<!{A})(?:\d{{1,2}}(?::\d\d){{1,2}}(?:\s?[ap]\.?m\b)?|\d{{1,2}}\s?[ap]m\b|\d{{1,2}}h\d{{0,2}})(?!{A}))"
    rf"|(?P<money>{CURRENCY}\s?(?:{NUMBER})|(?<![A-Za-z0-9_.])(?:{NUMBER})\s?(?:{CURRENCY}|(?:USD|EUR|GBP|CHF|JPY|CAD|AUD)\b))"
    rf"|(?P<number>(?<![A-Za-z0-9_/#@.-])(?:{NUMBER})(?:\s?[%°‰])?(?:st|nd|rd|th|er|º|ª)?(?![A-Za-z0-9_/@]|[.:_-]{A}))"
    rf"|(?P<code>[#@~./$A-Za-z0-9_-]*(?:\d|_|::|\(\)|[a-z][A-Z]|{A}[/.@:#]{A})(?:[A-Za-z0-9_/.@#:$%+=&~-]*[A-Za-z0-9_/+)])?|[#@]{A}[A-Za-z0-9_-]*)"
    r"|(?P<name>[^\W\d_][\w'\u2019-]*(?:\.(?= ))?)"
)
WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
JOINED = re.compile(r"\.?[\s,]+(?:\w{1,4}\s)?\s*")  # between a day and an hour: ", at "


@dataclass(frozen=True, slots=True)
class Value:
    """One value and where it stands."""

    kind: ValueKind
    text: str
    start: int
    stop: int

    @property
    def group(self) -> str:
        """What stands for it where sentences are compared."""
        return GROUPS[self.kind]


@dataclass(frozen=True, slots=True)
class Link:
    """What joins a thing and its value.

    Attributes:
        subject: where the words for the thing begin.
        start: where they end.
        stop: behind which the value stands.
        changed: whether it says that there was another.
        labels: whether it is a colon, behind which a value or a whole sentence may stand.
    """

    subject: int
    start: int
    stop: int
    changed: bool
    labels: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence that was looked at.

    Attributes:
        text: the sentence.
        cues: what of the languages' tables stands in it, by label, in order.
        values: its values, in order, apart.
        key: what it gives a value; empty where it gives none, or that cannot be told.
        relation: the words between "is" and the value, ``None`` where a verb of change stands there.
        mask: the sentence without its last value, which is what a change may give anew; empty where nothing stands before it.
        terms: stems of the words that tell something.
    """

    text: str
    cues: Cues
    values: tuple[Value, ...]
    key: str
    relation: str | None
    mask: str
    terms: frozenset[str]

    def has(self, *labels: str) -> bool:
        """Whether one of these cues stands in it."""
        return any(label in self.cues for label in labels)

    def opens(self, label: str) -> Found | None:
        """The cue that it begins with."""
        first = self.cues.get(label, (None,))[0]
        return first if first and not WORD.search(self.text, 0, first.start) else None

    @property
    def changes(self) -> bool:
        """Whether it says that something is otherwise now."""
        return self.has("change", "becomes") and not self.has("adds")


@lru_cache(REMEMBERED)
def looked_at(text: str) -> Sentence:
    """A sentence with what it is compared by."""
    cues = cues_of(text)
    values = tuple(values_of(text, cues))
    words = tuple(telling_words(text, cues))
    key, relation = given(text, cues, values, words)
    return Sentence(
        text=text,
        cues=cues,
        values=values,
        key=key,
        relation=relation,
        mask=without(words, values[-1])
        if values and words and words[0][0] < values[-1].start
        else "",
        terms=frozenset(
            word for at, word in words if not any(at == no.start for no in cues.get("negates", ()))
        ),
    )


def cues_of(text: str) -> Cues:
    """The cues of a text by label."""
    found: dict[str, list[Found]] = {}
    for each in phrases(TOPIC).find(text):
        found.setdefault(each.label, []).append(each)
    return {label: tuple(each) for label, each in found.items()}


def values_of(text: str, cues: Cues) -> Iterator[Value]:
    """The values of a sentence, in order and apart; a day and its hour are one."""
    days = {each.start: each for each in cues.get("day", ())}
    currencies = {each.start: each for each in cues.get("currency", ())}
    last: Value | None = None
    for value in formed(text, days):
        after = value.stop + (text[value.stop : value.stop + 1] == " ")
        kind, stop = value.kind, value.stop
        if kind == "number" and after in currencies:
            kind, stop = "money", currencies[after].stop
        if last is not None and follows(last, value, text):
            kind = "name" if last.kind == "name" else "date"
            last = Value(kind, text[last.start : stop], last.start, stop)
        elif last is None or value.start >= last.stop:
            if last is not None:
                yield last
            last = Value(kind, text[value.start : stop], value.start, stop)
    if last is not None:
        yield last


def formed(text: str, days: dict[int, Found]) -> Iterator[Value]:
    """What has the form of a value; a word with a capital is one behind the first word, or where it goes on in one."""
    at = 0
    opening = True
    while match := FORM.search(text, at):
        at, start = match.end(), match.start()
        kind: ValueKind = match.lastgroup  # type: ignore[assignment]  # the groups have the kinds' names
        if start in days:
            at = max(at, days[start].stop)
            yield Value("date", text[start:at], start, at)
        elif kind != "name":
            yield Value(kind, match.group(), start, at)
        elif is_name(match.group(), text, at, opening=opening):
            yield Value("name", match.group(), start, at)
        opening = False


def is_name(word: str, text: str, at: int, *, opening: bool) -> bool:
    """Whether a word is a name: it has a capital, and not only because the sentence begins there."""
    if not word[0].isupper() or len(word) < 2:  # noqa: PLR2004  # "I"
        return False
    return not opening or word.isupper() or text[at : at + 2].strip()[:1].isupper()


def follows(last: Value, value: Value, text: str) -> bool:
    """Whether two values are one: a name of several words, a day with its month or hour."""
    between = text[last.stop : value.start]
    if last.kind == value.kind == "name":
        return between in {" ", "-"}
    if value.kind not in {"date", "time", "number"} or "date" not in {last.kind, value.kind}:
        return value.kind == "date" and last.kind == "number" and len(between) <= 4  # noqa: PLR2004
    return last.kind in {"date", "time", "number"} and JOINED.fullmatch(between) is not None


def telling_words(text: str, cues: Cues) -> Iterator[Word]:
    """The words that tell something, by their stems; what leads in, articles, and what says that something changed do not."""
    silent = sorted((each.start, each.stop) for label in SILENT for each in cues.get(label, ()))
    stop = at = 0
    for match in WORD.finditer(text):
        while at < len(silent) and silent[at][0] <= match.start():
            stop = max(stop, silent[at][1])
            at += 1
        if match.start() >= stop:
            word = match.group().casefold()
            yield match.start(), stemmed(word) if word.isascii() and word.isalpha() else word


@lru_cache(REMEMBERED)
def stemmed(word: str) -> str:
    """The stem of a word that may come again."""
    return stem(word)


def given(
    text: str, cues: Cues, values: Sequence[Value], words: Sequence[Word]
) -> tuple[str, str | None]:
    """What a sentence gives a value, and by which relation; empty where it gives none or that cannot be told."""
    if "adds" in cues or "told" in cues:
        return "", ""
    link = link_of(text, cues)
    if link is not None and not any(label in cues for label in ("negates", "forbid")):
        return given_by(link, values, words)
    limits = [each.stop for each in cues.get("limit", ())]
    for value in values:
        if value.group != "<term>" and any(0 < value.start - stop <= BORDER for stop in limits):
            return without(words, value), ""
    return "", ""


def given_by(link: Link, values: Sequence[Value], words: Sequence[Word]) -> tuple[str, str | None]:
    """What stands before a link and is given the value that stands behind it."""
    value = next((each for each in values if each.start >= link.stop), None)
    about = between(words, link.subject, link.start)
    if value is None or not about or value.start - link.stop > GAP_CHARS:
        return "", ""
    relation = between(words, link.stop, value.start)
    if relation and value.group == "<amount>":
        return "", ""
    rest = between(words, value.stop)
    if link.labels and value.group == "<term>" and (relation or rest):
        return (
            "",
            "",
        )  # "Finding: part_1 waits for lock_2" is a sentence under a label, and gives it no value
    key = f"{about} = {value.group} {rest}".strip()
    return key, None if link.changed else relation if value.group == "<term>" else ""


def link_of(text: str, cues: Cues) -> Link | None:
    """What joins a thing and its value: "is", "was moved to", "set … to", a colon."""
    first = next(iter(cues.get("sets", ())), None)
    if first is not None and not WORD.search(text, 0, first.start):
        to = next((each for each in cues.get("to", ()) if each.start > first.stop), None)
        return Link(first.stop, to.start, to.stop, changed=True) if to else None
    links = [*cues.get("is", ()), *cues.get("becomes", ())]
    link = min(links, default=None, key=lambda each: (each.start, -each.stop))
    colon = text.find(": ")
    if 0 < colon < (link.start if link else len(text)) and text[:colon].count(" ") < LABEL_WORDS:
        return Link(0, colon, colon + BORDER, changed="change" in cues, labels=True)
    if link is None or any(each.start == 0 for each in cues.get("unbound", ())):
        return None
    return Link(0, link.start, link.stop, changed=link.label == "becomes")


def between(words: Sequence[Word], start: int, stop: int | None = None) -> str:
    """The words of a part of a sentence."""
    return " ".join(word for at, word in words if start <= at and (stop is None or at < stop))


def without(words: Sequence[Word], masked: Value) -> str:
    """A sentence with the group of a value in its place."""
    parts = (between(words, 0, masked.start), masked.group, between(words, masked.stop))
    return " ".join(filter(None, parts))
