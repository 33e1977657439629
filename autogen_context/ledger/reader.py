"""Extract statements from text: rules, limits, decisions, goals, preferences, identities, facts and withdrawals.

Promise: linear time. At most 20,000 characters are read from either end of a text, of an assistant's 2,000. Rules and
preferences are read only from people and the system prompt; quotations, questions, suppositions and talk about the work
in progress are not statements. Two sentences have the same subject if they differ only in the value they give.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from autogen_context.language.own_words import MOST_CHARS, QUESTION, sentences, unquoted
from autogen_context.language.phrases import PhraseMatch, phrases
from autogen_context.language.reading import SentenceKind, reading_of
from autogen_context.language.terms import stem
from autogen_context.text.memo import remembered
from autogen_context.text.passage import Author
from autogen_context.text.work import READ_SENTENCES, REPORT_CHARS, STATEMENT_CHARS

StatementKind = Literal[
    "safety rule", "constraint", "decision", "goal state", "preference", "identity", "fact"
]
ValueKind = Literal["quoted", "link", "date", "time", "amount", "code", "name"]
Cues = dict[str, tuple[PhraseMatch, ...]]
Word = tuple[int, str]
"""The start of a word and its stem."""

AUTHORITIES: frozenset[Author] = frozenset({"system", "person"})
RULES: frozenset[StatementKind] = frozenset({"safety rule", "constraint"})
READ_CHARS: dict[Author, int] = {  # from each end of a text
    "system": STATEMENT_CHARS,
    "person": STATEMENT_CHARS,
    "assistant": REPORT_CHARS,
    "tool": 0,
}
ALL = slice(None)
LEAST_WORTH = 0.7  # of a statement without a cue
IN_FORCE = 0.5  # probability of a rule or a preference
UNCUED_CHARS = 1_000  # of a text that may state something without a cue
FACT_CHARS = 240  # of a sentence without a cue
LEAST_TERMS = 3  # of a fact without a cue
LABEL_WORDS = 4  # before a colon, in a label such as "Rule:"
KEY_WORDS = 6  # before a colon that is followed by a value
RECAST_WORDS = 5  # "make that 45 people"
GAP_CHARS = 16  # between "is" and its value, for words such as "at about"
BORDER = 2  # characters between a limit and its value, or a colon and its value
REMEMBERED = 8_192  # words cached
# Sentences cached, about 1 KB each: all of the longest text, which is read several times.
LOOKED_AT = 8_192
SILENT = ("filler", "change", "lead")  # cues that say nothing about the subject
GROUPS: dict[ValueKind, str] = {"amount": "<amount>", "date": "<when>", "time": "<when>"}
LABELS: dict[str, StatementKind] = {  # kind named by a label before a statement
    "names_rule": "constraint",
    "names_decision": "decision",
    "names_fact": "fact",
    "names_goal": "goal state",
    "names_wish": "preference",
}
KINDS: dict[SentenceKind, StatementKind] = {
    "rule": "constraint",
    "preference": "preference",
    "decision": "decision",
    "task": "goal state",
    "fact": "fact",
    "correction": "fact",
    "other": "fact",
}
CUED: dict[str, StatementKind] = {  # kind implied by a cue
    "prefer": "preference",
    "person": "identity",
    "decide": "decision",
    "aim": "goal state",  # this and the later ones do not apply to talk about the work in progress
    "manner": "preference",
}
NUMBER = r"[+-]?\d[\d.,'\u00a0\u202f]*\d[kKM]?|[+-]?\d[kKM]?"
CURRENCY = r"[$€£¥₹₽₩]"
A = "[A-Za-z0-9_]"  # identifier character, whatever the script of the sentence
FORM = re.compile(
    r"(?P<quoted>\"[^\"\n]+\"|\u201c[^\u201d\n]+\u201d|\u201e[^\u201c\u201d\n]+[\u201c\u201d]|\u00ab[^\u00bb\n]+\u00bb"
    r"|\u300c[^\u300d\n]+\u300d|`[^`\n]+`|(?<!\w)'[^'\n]{1,60}'(?!\w))"
    r"|(?P<link>\b[a-z][a-z0-9+]{1,9}://[^\s<>\"')]*[^\s<>\"').,;:!?])"
    rf"|(?P<date>(?<!{A})(?:\d{{4}}-\d\d(?:-\d\d)?(?!{A}|-)|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}(?!{A})))"
    rf"|(?P<time>(?<!{A})(?:\d{{1,2}}(?::\d\d){{1,2}}(?:\s?[ap]\.?m\b)?|\d{{1,2}}\s?[ap]m\b|\d{{1,2}}h\d{{0,2}})(?!{A}))"
    rf"|(?P<amount>{CURRENCY}\s?(?:{NUMBER})|(?<![A-Za-z0-9_.])(?:{NUMBER})\s?(?:{CURRENCY}|(?:USD|EUR|GBP|CHF|JPY|CAD|AUD)\b)"
    rf"|(?<![A-Za-z0-9_/#@.-])(?:{NUMBER})(?:\s?[%°‰])?(?:st|nd|rd|th|er|º|ª)?(?![A-Za-z0-9_/@]|[.:_-]{A}))"
    rf"|(?P<code>[#@~./$A-Za-z0-9_-]*(?:\d|_|::|\(\)|[a-z][A-Z]|{A}[/.@:#]{A})(?:[A-Za-z0-9_/.@#:$%+=&~-]*[A-Za-z0-9_/+)])?|[#@]{A}[A-Za-z0-9_-]*)"
    r"|(?P<name>[^\W\d_][\w'\u2019-]*(?:\.(?= ))?)"
)
WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
JOINED = re.compile(r"\.?[\s,]+(?:\w{1,4}\s)?\s*")  # between a day and a time: ", at "
SIGNS = " .!?\u2026"  # that end a sentence
PAUSE = " \t,:;!\u2013\u2014-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A valid statement on one line; ``key`` is its subject, ``position`` the index of the message that stated it."""

    kind: StatementKind
    key: str
    text: str
    author: Author
    position: int

    @property
    def reported(self) -> bool:
        """True if its author has no authority (an assistant or a tool)."""
        return self.author not in AUTHORITIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement read from a sentence, with the place of this in the text; a withdrawal only takes something back."""

    kind: StatementKind | Literal["withdrawal"]
    text: str
    start: int = 0
    stop: int = 0
    sure: bool = True  # a cue or a link shows it, not only a value in the sentence
    changes: bool = False  # the wording announces a change
    withdraws: str = ""  # what is no longer valid, as worded in the sentence
    recasts: str = ""  # the corrected value for the previous statement


class StatedValue(NamedTuple):
    """A value and its position in the sentence."""

    kind: ValueKind
    text: str
    start: int
    stop: int

    @property
    def group(self) -> str:
        """The placeholder for the value when sentences are compared."""
        return GROUPS.get(self.kind, "<term>")


class Subject(NamedTuple):
    """What a sentence gives a value: its words with a placeholder for the value; empty if it has none.

    ``linked`` means that a verb, a colon or a limit links the two; only then a newer sentence replaces an older one whatever
    its wording. ``relation`` has the words between link and value, ``None`` if the link announces a change.
    """

    key: str = ""
    relation: str | None = ""
    linked: bool = False


class Sentence:
    """A sentence with its cues by label; the properties used for comparison are computed on demand."""

    def __init__(self, text: str) -> None:
        self.text = text
        found: dict[str, list[PhraseMatch]] = {}
        for each in phrases("ledger").find(text):
            found.setdefault(each.label, []).append(each)
        self.cues: Cues = {label: tuple(each) for label, each in found.items()}

    @cached_property
    def values(self) -> tuple[StatedValue, ...]:
        """The values, in order."""
        return tuple(values_of(self.text, self.cues))

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """The content words."""
        return tuple(content_words(self.text, self.cues))

    @cached_property
    def terms(self) -> frozenset[str]:
        """Stems of the content words, without negations."""
        denials = {each.start for each in self.cues.get("negates", ())}
        return frozenset(word for at, word in self.words if at not in denials)

    @cached_property
    def subject(self) -> Subject:
        """What the sentence gives a value."""
        last = self.values[-1] if self.values else None
        if linked := linked_in(self):
            return linked
        if last is None or not self.words or self.words[0][0] >= last.start:
            return Subject()
        return Subject(without(self.words, last))

    @property
    def key(self) -> str:
        """The subject that is linked to a value; empty if there is none."""
        return self.subject.key if self.subject.linked else ""

    def has(self, *labels: str) -> bool:
        """Return True if the sentence contains one of these cues."""
        return not self.cues.keys().isdisjoint(labels)

    def opens(self, label: str) -> PhraseMatch | None:
        """Return the cue of this label that the sentence begins with, if any."""
        first = self.cues.get(label, (None,))[0]
        return first if first and not WORD.search(self.text, 0, first.start) else None

    @property
    def changes(self) -> bool:
        """True if the wording announces a change."""
        return self.has("change", "becomes") and not self.has("adds")

    @property
    def limited(self) -> list[StatedValue]:
        """The values that directly follow a limit ("at most")."""
        ends = [each.stop for each in self.cues.get("limit", ())]
        values = self.values if ends else ()
        return [v for v in values if any(0 < v.start - end <= BORDER for end in ends)]


looked_at = remembered(LOOKED_AT)(Sentence)


def cues_in(sentence: str) -> Cues:
    """Return the cues of a sentence by label; cached unless it is long, whatever sign ends it."""
    bare = sentence.rstrip(SIGNS)
    return (looked_at(bare) if len(bare) <= MOST_CHARS else Sentence(bare)).cues


def values_of(text: str, cues: Cues) -> Iterator[StatedValue]:
    """Yield the values of a sentence in order, without overlap; a day with its time, or a name of several words, is one value."""
    currencies = {each.start: each for each in cues.get("currency", ())}
    last: StatedValue | None = None
    for value in formed(text, {each.start: each for each in cues.get("day", ())}):
        after = value.stop + (text[value.stop : value.stop + 1] == " ")
        kind, stop = value.kind, value.stop
        if kind == "amount" and after in currencies:
            stop = currencies[after].stop
        if last is not None and follows(last, value, text[last.stop : value.start]):
            kind = "name" if last.kind == "name" else "date"
            last = StatedValue(kind, text[last.start : stop], last.start, stop)
        elif last is None or value.start >= last.stop:
            if last is not None:
                yield last
            last = StatedValue(kind, text[value.start : stop], value.start, stop)
    if last is not None:
        yield last


def formed(text: str, days: dict[int, PhraseMatch]) -> Iterator[StatedValue]:
    """Yield candidate values by their form.

    A capitalized first word counts only if it is all capitals or the next word is capitalized too.
    """
    at, opening = 0, True
    while match := FORM.search(text, at):
        at, start, word = match.end(), match.start(), match.group()
        kind: ValueKind = match.lastgroup  # type: ignore[assignment]  # the groups are named after the kinds
        is_name = word[0].isupper() and len(word) > 1  # excludes "I"
        alone = opening and not word.isupper() and not text[at : at + 2].strip()[:1].isupper()
        if start in days:
            at = max(at, days[start].stop)
            yield StatedValue("date", text[start:at], start, at)
        elif kind != "name" or (is_name and not alone):
            yield StatedValue(kind, word, start, at)
        opening = False


def follows(last: StatedValue, value: StatedValue, between: str) -> bool:
    """Return True if two adjacent values form one: a name, or a day with its time."""
    if last.kind == value.kind == "name":
        return between in {" ", "-"}
    kinds: set[ValueKind] = {last.kind, value.kind}
    return "date" in kinds and kinds <= GROUPS.keys() and JOINED.fullmatch(between) is not None


def content_words(text: str, cues: Cues) -> Iterator[Word]:
    """Yield the stems of the content words, skipping fillers, change cues and lead-ins."""
    silent = sorted((each.start, each.stop) for label in SILENT for each in cues.get(label, ()))
    stop = at = 0
    for match in WORD.finditer(text):
        while at < len(silent) and silent[at][0] <= match.start():
            stop = max(stop, silent[at][1])
            at += 1
        if match.start() >= stop:
            word = match.group().casefold()
            yield match.start(), stemmed(word) if word.isascii() and word.isalpha() else word


stemmed = remembered(REMEMBERED)(stem)


def linked_in(sentence: Sentence) -> Subject | None:
    """Return the subject that a verb, a colon or a limit links to a value, if it is clear."""
    if sentence.has("adds", "reported_speech"):
        return None
    link = None if sentence.has("negates", "forbid") else link_of(sentence)
    if link is None:
        limited = next((v for v in sentence.limited if v.group != "<term>"), None)
        return Subject(without(sentence.words, limited), "", linked=True) if limited else None
    (opening, start, stop), label = link
    words = sentence.words
    value = next((each for each in sentence.values if each.start >= stop), None)
    about = between(words, opening, start)
    if value is None or not about or value.start - stop > GAP_CHARS:
        return None
    relation, rest = between(words, stop, value.start), between(words, value.stop)
    is_term = value.group == "<term>"
    if relation and value.group == "<amount>":
        return None
    if label == "colon" and is_term and (relation or rest):  # "Finding: part_1 waits for lock_2"
        return None
    key = f"{about} = {value.group} {rest}".strip()
    changed = label == "becomes" or (label == "colon" and sentence.has("change"))
    return Subject(key, None if changed else relation if is_term else "", linked=True)


def link_of(sentence: Sentence) -> tuple[tuple[int, int, int], str] | None:
    """Return where the subject begins and where its link to a value starts and stops, and the link's label."""
    text, cues = sentence.text, sentence.cues
    if order := sentence.opens("sets"):  # "set ... to"
        to = next((each for each in cues.get("to", ()) if each.start > order.stop), None)
        return ((order.stop, to.start, to.stop), "becomes") if to else None
    links = [*cues.get("is", ()), *cues.get("becomes", ())]
    link = min(links, default=None, key=lambda each: (each.start, -each.stop))
    colon = text.find(": ")
    if 0 < colon < (link.start if link else len(text)) and text[:colon].count(" ") < KEY_WORDS:
        return (0, colon, colon + BORDER), "colon"
    if link is None or any(each.start == 0 for each in cues.get("unbound", ())):
        return None
    return (0, link.start, link.stop), link.label


def between(words: Sequence[Word], start: int, stop: int | None = None) -> str:
    """Return the words in a range of a sentence, joined by spaces."""
    return " ".join(word for at, word in words if start <= at and (stop is None or at < stop))


def without(words: Sequence[Word], masked: StatedValue) -> str:
    """Return the words with a value replaced by its placeholder."""
    parts = (between(words, 0, masked.start), masked.group, between(words, masked.stop))
    return " ".join(filter(None, parts))


def read(text: str, author: Author = "person", start: int = 0) -> Iterator[Statement]:
    """Yield the statements of one speaker's text, which begins at ``start``, in order; none for a tool.

    In a person's text that is too long to be read whole, which is mostly pasted, uncertain facts do not count.
    """
    most = READ_CHARS[author]
    if len(text) <= 2 * most:
        yield from read_part(text, author, start)
    elif most:
        ends = (
            (text[:most], start, slice(READ_SENTENCES)),
            (text[-most:], start + len(text) - most, slice(-READ_SENTENCES, None)),
        )
        for part, begins, which in ends:
            for statement in read_part(part, author, begins, which):
                if statement.sure or author not in AUTHORITIES:
                    yield statement


def read_part(text: str, author: Author, start: int, which: slice = ALL) -> Iterator[Statement]:
    """Yield the statements of a part of a text, of all its sentences or of those; a heading or a label applies to the list or the line after it."""
    plain = unquoted(text)
    heading, label = "", None
    line = 0  # end of the line to which the label applies
    for begin, stop, signs, listed in [*sentences(plain)][which]:
        if begin >= line and not listed:
            heading, label = "", None
        written = plain[begin:stop]
        if written[-1] == ":":
            heading, label, line = written[:-1], labelled(written)[1], stop
            continue
        written, named = labelled(written)
        if named:
            heading, label, line = "", named, plain.find("\n", begin) % (len(plain) + 1)
        written, led = led_to(" ".join(written.split()))
        above = f"{heading}: " if heading and label is None and listed else ""
        found = stated(looked_at(above + written), label, author) if written else None
        if found is not None:
            changes = found.changes or "change" in led
            yield replace(found, start=start + begin, stop=start + signs, changes=changes)


def labelled(text: str) -> tuple[str, StatementKind | None]:
    """Split off a label ("Rule:"); return the rest and the kind that the label names, if any."""
    for sign in (":", " - ", " \u2013 ", " \u2014 "):
        lead, found, rest = text.partition(sign)
        words = lead.split() if found else []
        if 0 < len(words) <= LABEL_WORDS:
            prefix = looked_at(" ".join(words))
            kinds: list[StatementKind] = [
                kind for label, kind in LABELS.items() if prefix.has(label)
            ]
            if kinds and kinds[0] == "constraint" and prefix.has("risk"):
                return rest.lstrip(PAUSE), "safety rule"
            if kinds:
                return rest.lstrip(PAUSE), kinds[0]
    return text, None


def led_to(text: str) -> tuple[str, set[str]]:
    """Strip lead-ins ("Please note that"); return the rest and the labels of the cues in them."""
    led: set[str] = set()
    while True:
        sentence = looked_at(text)
        lead = sentence.opens("lead") or sentence.opens("interjection")
        if lead is None or lead.stop >= len(text):
            return text, led
        if lead.label == "interjection" and text[lead.stop] not in ",:!.":
            return text, led
        led.update(label for label in sentence.cues if sentence.opens(label))
        text = text[lead.stop :].lstrip(PAUSE)


@remembered(LOOKED_AT)
def stated(sentence: Sentence, label: StatementKind | None, author: Author) -> Statement | None:
    """Return the statement of a sentence, or ``None``."""
    withdraws, recasts = "", ""
    if author in AUTHORITIES:
        recasts, withdraws = recast_in(sentence), withdrawn_in(sentence)
        kind, sure = (label, True) if label else kind_of(sentence)
        guards = sentence.has("risk") and (sentence.has("forbid") or sentence.opens("if"))
        kind = "safety rule" if kind == "constraint" and guards else kind
    else:
        kind, sure = reported_kind(sentence), sentence.has("decide")
    if kind is None and not withdraws and not recasts:
        return None
    ordered = sentence.opens("withdraw")
    more = ordered and any(value.start > ordered.stop + len(withdraws) for value in sentence.values)
    takes_back = recasts or (withdraws and ordered and not more)
    otherwise: StatementKind = "fact" if sentence.has("is", "becomes") else "decision"
    return Statement(
        kind="withdrawal" if takes_back else kind or otherwise,
        text=sentence.text,
        sure=sure or bool(withdraws or recasts),
        changes=sentence.changes,
        withdraws=withdraws,
        recasts=recasts,
    )


def kind_of(sentence: Sentence) -> tuple[StatementKind | None, bool]:
    """Return the kind of an authority's sentence, and True if it is sure: by its cues or, where these say nothing, as it was learned."""
    kind, sure = cued_kind(sentence)
    if sure:
        return kind, True
    reading = reading_of(sentence.text)
    if reading.worth < LEAST_WORTH:
        return kind, False
    if reading.in_force >= IN_FORCE:
        return ("preference" if reading.kind == "preference" else "constraint"), False
    return kind or KINDS[reading.kind], False


def cued_kind(sentence: Sentence) -> tuple[StatementKind | None, bool]:
    """Return the kind that cues give an authority's sentence, and True if it is sure."""
    conditional = sentence.opens("if")
    is_reported = (
        sentence.has("reported_speech") and not sentence.has("own_words") and not conditional
    )
    idle = sentence.has("idle") and not sentence.values
    lacks = sentence.has("lacks")
    if sentence.opens("ask") or idle or (sentence.has("hedge") and not is_reported):
        return None, False
    if lacks and not (sentence.key or sentence.has("is", "becomes")):
        return None, False
    demanded = sentence.has("oblige") and not sentence.has("intent")
    _, comma, then = sentence.text.partition(", ") if conditional else ("", "", "")
    ordered = comma and looked_at(then).has("request", "order", "forbid", "oblige", "manner")
    forbids = sentence.has("forbid") and not lacks
    if not is_reported and (forbids or demanded or sentence.limited or ordered):
        return "constraint", True
    works = (sentence.opens("request") and not sentence.key) or sentence.has("progress")
    if not is_reported and not sentence.cues.keys().isdisjoint(CUED):
        for label, kind in list(CUED.items())[: 3 if works else None]:
            if sentence.has(label):
                return kind, True
    if works:
        return ("constraint", True) if sentence.has("lasting") else (None, False)
    return fact_of(sentence)


def fact_of(sentence: Sentence) -> tuple[StatementKind | None, bool]:
    """Return the kind if a sentence states a fact: a definite subject with "is", or a short sentence with a value."""
    is_reported = sentence.has("reported_speech") and any(
        value.kind == "quoted" for value in sentence.values
    )
    if is_reported or len(sentence.text) > FACT_CHARS or sentence.opens("if"):
        return None, False
    link = sentence.has("is", "becomes") or bool(sentence.key)
    if link and sentence.values:
        return "constraint" if sentence.has("bounds") else "fact", True
    if sentence.has("vague"):
        return None, False
    if link:
        return ("fact", True) if sentence.opens("definite") else (None, False)
    tells = sentence.values and (len(sentence.terms) >= LEAST_TERMS or not sentence.text.isascii())
    return ("fact" if tells else None), False


def reported_kind(sentence: Sentence) -> StatementKind | None:
    """Return the kind of an assistant's sentence; never a rule or a preference."""
    if sentence.has("hedge", "idle", "forbid", "oblige", "prefer", "person"):
        return None
    if sentence.opens("ask") or sentence.opens("if") or QUESTION.search(sentence.text):
        return None
    if sentence.has("decide"):
        return "decision"
    if not sentence.values or sentence.opens("request"):
        return None
    if sentence.has("aim"):
        return "goal state"
    return "fact" if sentence.key and not sentence.has("progress") else None


def withdrawn_in(sentence: Sentence) -> str:
    """Return what a sentence withdraws, as worded in it; empty if nothing."""
    text = sentence.text
    if order := sentence.opens("withdraw"):
        return clause(text[order.stop :])
    for each in sentence.cues.get("withdrawn", ()):
        return clause(text[: each.start])
    for each in sentence.cues.get("no_longer", ()):
        return clause(f"{text[: each.start]} {text[each.stop :]}")
    for each in sentence.cues.get("not_but", ()):
        return " ".join(text[each.start : each.stop].split()[1:-1])
    for each in sentence.cues.get("instead", ()):
        value = next((v for v in sentence.values if 0 < v.start - each.stop <= 5), None)  # noqa: PLR2004  "instead of the B"
        return value.text if value else " ".join(text[each.stop :].split()[:1]).strip(".,;")
    return ""


def clause(text: str) -> str:
    """Return the words up to a comma, semicolon, colon or parenthesis."""
    return re.split(r"[,;:(]\s", text.strip(" ,;:"), maxsplit=1)[0].strip(" .,;:!\"'")


def recast_in(sentence: Sentence) -> str:
    """Return the corrected value for the previous statement ("make that 45"); empty if none."""
    order = sentence.opens("recast")
    if order is None:
        return ""
    rest = sentence.text[order.stop :].strip(" .,:;!")
    found = [value for value in sentence.values if value.start >= order.stop]
    return rest if len(found) == 1 and len(rest.split()) <= RECAST_WORDS else ""
