"""Read what a text states and what it takes back.

Promise: time in proportion to what is read: of a person and a system prompt 20,000 characters, of an assistant 4,000 and of
a tool 3,000, half of them from either end. Rules, constraints and preferences are read from people and system prompts
only; quoted, fenced and pasted text is read from nobody.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from autogen_context.ledger.cue import Cue, group
from autogen_context.ledger.entry import AUTHORITIES, Author, Kind
from autogen_context.ledger.kinds import is_chatter, kind_of, labelled, reported_kind
from autogen_context.ledger.parts import parts_of
from autogen_context.ledger.phrases import (
    CORRECTED,
    ENDS,
    FORGETS,
    MARKS,
    POINTS,
    WITHOUT_OBJECT,
    possible,
)
from autogen_context.ledger.quoting import LINE, unquoted
from autogen_context.ledger.sentences import Sentence, sentences
from autogen_context.ledger.values import is_strong, values

ASSISTANT_CHARS = 2_000  # from either end
TOOL_CHARS = 1_500  # from either end
AROUND_CHARS = 160  # in front of a sentence, of which it may speak
ASSISTANT_LEAST = 12  # characters of a sentence that tells something
REPORTED_LINE = re.compile(r"^[ \t]*[A-Z][^\n{}<>\[\]|=\\]{10,240}[.!][ \t]*$", re.MULTILINE)
TOLD_CUE = Cue(  # what is decided, next or done, or is a value
    r"\b(?:decided|agreed|chose|settled|opted|picked|went with|going with|go with|let's|[Ww]e'll use|I'll use|decision|[Nn]ext (?:step|task|up)"
    r"|goal|working on|remaining|blocked|waiting for|failing|rebased|checked out|based on)\b"
    r"|\b(?:is|are|was|were|been|moved to|changed to|set to)\b[^.\n]{0,40}(?:[\d\"`_/'@#]|[a-z][.:][a-z]|[ ][A-Z][a-z])"
    r"|[\d#][^.\n]{0,40}\b(?:is|was|were|are|been) [a-z]+(?:ed|en|ing|one|ost|ent|aid|old)\b",
    cased=True,
)
TOLD_PARTS = (  # of which one stands in whatever TOLD_CUE finds in what an assistant says
    " is ", " are ", " was ", " were ", " been ", "decid", "ecision", "agreed", "chose", "settled", "opted", "picked", " with",
    "let's", "'ll use", "ext step", "ext task", "ext up", "goal", "working on", "remaining", "blocked", "waiting for", "failing",
    "rebased", "checked out", "based on", "moved to", "changed to", "set to",
)  # fmt: skip
MOST_CORRECTED = 3  # words: an amount and its unit
PRONOUN_FIRST = re.compile(r"(?:it|he|she|they)(?:'s|'re| \w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a sentence does to a ledger.

    Attributes:
        kind: of what it states; ``None`` where it states nothing new.
        text: what it states, on one line.
        author: who says it.
        start: where it begins in the text.
        end: where it ends.
        raw: the sentence as it was said.
        around: what was said just before on its line.
        marked: whether it says that something changed.
        leans_on: what the sentence before states, which this one goes on with; may be empty.
        taken_back: what no longer holds, in its words; may be empty.
        corrected: the value that takes the place of the last one; may be empty.
    """

    kind: Kind | None
    text: str
    author: Author
    start: int
    end: int
    raw: str = ""
    around: str = ""
    marked: bool = False
    leans_on: str = ""
    taken_back: str = ""
    corrected: str = ""


def readings(text: str, author: Author) -> Iterator[Reading]:
    """What one speaker states in a text, in order."""
    if author in AUTHORITIES:
        yield from said(text, author)
    else:
        yield from reported(text, author)


def said(text: str, author: Author) -> Iterator[Reading]:
    """What somebody with authority states; each sentence may lean on the one before on its line."""
    before: Reading | None = None
    reading: Reading | None
    label: tuple[int, Kind] | None = None  # where its line ends
    for sentence in sentences(text):
        if before is not None and "\n" in text[before.end : sentence.start]:
            before = None
        if label is not None and "\n" in text[label[0] : sentence.start]:
            label = None
        found = labelled(sentence.text)
        if found is not None:
            label = (sentence.end, found[0])
            says = not is_chatter(found[1])
            reading = read_of(sentence, author, found[0], found[1]) if says else None
        else:
            reading = read(sentence, author, before, label[1] if label else None)
        if reading is not None:
            yield replace(reading, around=around(text, sentence.start))
            before = reading if reading.kind else before


def read(
    sentence: Sentence, author: Author, before: Reading | None, labelled_as: Kind | None
) -> Reading | None:
    """What a sentence without a label states."""
    text = sentence.text
    taken_back = withdrawn_in(text)
    if taken_back is not None:
        what, stays = taken_back
        reading = read_of(sentence, author, kind_of(stays) or "fact" if stays else None, stays)
        return replace(reading, taken_back=what, marked=True)
    if before is not None and leans(text):
        return leaning(sentence, before)
    correction = CORRECTED.fullmatch(text) if CORRECTED in possible(text) else None
    if correction:
        value = group(correction, "value", text)
        if begins_with_value(value) and len(value.split()) <= MOST_CORRECTED:
            return replace(read_of(sentence, author, None, text), corrected=value)
    kind = kind_of(text) or (None if is_chatter(text) else labelled_as)
    return read_of(sentence, author, kind, text) if kind else None


def read_of(sentence: Sentence, author: Author, kind: Kind | None, text: str) -> Reading:
    """A reading of a whole sentence."""
    return Reading(
        kind=kind,
        text=text.rstrip(" :"),
        author=author,
        start=sentence.start,
        end=sentence.end,
        raw=sentence.raw,
        marked=MARKS.search(sentence.raw) is not None,
    )


def around(text: str, start: int) -> str:
    """What stands in front of a place on its line, as far as it may be meant by what stands there."""
    before = text[max(0, start - AROUND_CHARS) : start]
    return before[before.rfind("\n") + 1 :]


def begins_with_value(text: str) -> bool:
    """Whether a text is a value, and perhaps what it counts."""
    return any(value.start == 0 for value in values(text))


def leans(text: str) -> bool:
    """Whether a sentence speaks of the one before without naming it."""
    if WITHOUT_OBJECT.fullmatch(text):
        return True
    if POINTS not in possible(text):
        return False
    first = PRONOUN_FIRST.match(text)
    if first:
        return any(is_strong(value) for value in values(text))
    return POINTS.search(text) is not None and parts_of(text).form in {
        "",
        "rule",
        "ordered",
        "used",
    }


def leaning(sentence: Sentence, before: Reading) -> Reading:
    """A sentence with what it leans on: the object that it does not name, or all of the sentence before."""
    bare = WITHOUT_OBJECT.fullmatch(sentence.text)
    named = parts_of(before.text).subject
    if bare and named:
        verb, when = group(bare, "verb", sentence.text), group(bare, "when", sentence.text)
        text = f"{verb} {bare_object(named)} {when}"
        return read_of(sentence, before.author, kind_of(text) or before.kind, text)
    joined = f"{before.text}; {sentence.text}"
    return replace(before, text=joined, end=sentence.end, leans_on=before.text)


def bare_object(phrase: str) -> str:
    """A phrase as the object of another sentence."""
    return phrase[0].lower() + phrase[1:] if phrase[:2].istitle() else phrase


def withdrawn_in(text: str) -> tuple[str, str] | None:
    """What a sentence takes back, and what it states beside."""
    if ENDINGS.isdisjoint(possible(text)):
        return None
    forgotten = FORGETS.fullmatch(text)
    if forgotten:
        what = group(forgotten, "what", text)
        return RELATIVE.split(what, maxsplit=1)[0], group(forgotten, "rest", text)
    ended = ENDS.fullmatch(text)
    if ended:
        what = next(filter(None, (group(ended, name, text) for name in ended.re.groupindex)))
        return what, "" if POINTING.match(what) else text
    return None


ENDINGS = frozenset({FORGETS, ENDS})
RELATIVE = re.compile(r" (?:i|we|you|that|which|from|for now)\b", re.IGNORECASE)
POINTING = re.compile(r"(?:that|this|it|they|those|these)\b", re.IGNORECASE)


def reported(text: str, author: Author) -> Iterator[Reading]:
    """What an assistant or a tool states; a tool in plain sentences that stand on lines of their own."""
    most = ASSISTANT_CHARS if author == "assistant" else TOOL_CHARS
    for start, part in ends_of(text, most):
        for at, line in lines_worth_reading(part, author):
            for sentence in sentences(line):
                kind = (
                    reported_kind(sentence.text) if len(sentence.text) >= ASSISTANT_LEAST else None
                )
                if kind is not None and (author == "assistant" or kind == "fact"):
                    shifted = Sentence(
                        sentence.text,
                        sentence.raw,
                        start + at + sentence.start,
                        start + at + sentence.end,
                    )
                    yield read_of(shifted, author, kind, sentence.text)


def ends_of(text: str, most: int) -> Iterator[tuple[int, str]]:
    """Both ends of a text with where they begin; all of a short one."""
    if len(text) <= 2 * most:
        yield 0, text
        return
    yield 0, text[:most]
    yield len(text) - most, text[-most:]


def lines_worth_reading(text: str, author: Author) -> Iterator[tuple[int, str]]:
    """Lines that may state something, with where they begin."""
    if author == "tool":
        found = REPORTED_LINE.finditer(text)
        yield from (
            (match.start(), match.group()) for match in found if TOLD_CUE.search(match.group())
        )
        return
    for match in LINE.finditer(unquoted(text)):
        line = match.group()
        long = len(line) >= ASSISTANT_LEAST
        if long and any(map(line.__contains__, TOLD_PARTS)) and TOLD_CUE.search(line):
            yield match.start(), line
