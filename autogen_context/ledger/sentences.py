"""Cut what somebody said into sentences that can state one thing each, with where they stand.

Promise: what somebody else said is left out; a quotation within a sentence is never cut. Positions are those of the given
text. Time in proportion to the text, of which the first 20,000 characters are read.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from autogen_context.ledger.cue import Cue, lowered, words
from autogen_context.ledger.quoting import without_quotations

READ_CHARS = 20_000  # of one text
LEAST_WORDS = 2  # in front of a comma that joins two sentences
SENTENCE_CHARS = 400  # longer ones are pasted, not said

DETERMINED = (
    r"(?:the|our|my|his|her|their|its|this|that|all|each|every|no|some|any) (?:[\w'&/.#-]+ ){1,5}?"
)
SUBJECT = r"(?:i|we|you|he|she|it|they|there|nobody)"
FINITE = (
    r"(?:is|are|was|were|will|must|has|have|can|may|should|shall|needs?|gets?|isn't|aren't|won't|mustn't|can't|goes|went|comes"
    r"|runs?|uses?|lives?|costs?|starts?|begins?|ends?|wants?|prefers?|moved|changed)\b"
)
STOP = re.compile(  # one character first, then what stands before it: quick to find
    r"[\s\"')\]](?:(?<=[.!?;][\s\"')\]])(?:(?<=\s)\s*|\s+)|(?<=\n)\n*)"
)
JOINING = re.compile(r", | (?<!, )(?:and|but|so)(?= )")  # a character first: quick to find
JOINT = re.compile(
    r",? (?:and|but|so) (?=(?:i|we|please|never|always|actually|let's|call|don't|do not)\b)"
    rf"|(?:,(?: and| but| so)?|,? (?:and|but)) (?=(?:{DETERMINED}|{SUBJECT} ){FINITE}|{SUBJECT}'\w+ )"
    rf"|,? so (?=(?:[\w'.-]+ ){{1,3}}{FINITE})"
)
SAYER = re.compile(r"\s*(?:I|[Ww]e|[Tt]hey|[Hh]e|[Ss]he) ")
SUBORDINATE = Cue(
    r"\b(?:if|unless|until|when|whenever|while|because|since|before|after|once|as long as|so that|whether|that)\b"
)
ABBREVIATED = re.compile(
    r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Inc|Ltd|Co|Corp|vs|etc|approx|e\.g|i\.e|cf|Fig|Sec|Jr|Sr|Mt|resp|incl|excl|^[A-Z])\.\s*$"
)
SPOKEN = re.compile(
    r"\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d|\u00ab[^\u00bb\n]{1,300}\u00bb"
)
OPENING_QUOTES = ('"', "\u201c", "\u00ab")
LEADING = Cue(
    r"^\W*?(?=[\w\"\u201c#/$@`'(<.+-])(?:(?:(?:please|pls|plz|also|and|but|so|ok|okay|well|actually|oh|sorry|remember(?: that)?|note(?: that)?"
    r"|keep in mind(?: that)?|from now on|by the way|btw|fyi|hi|hello|hey|in general|as of (?:today|now)|now|for the record|as discussed"
    r"|just so you know|(?:we|i)(?:'ve| have)? changed (?:our|my) minds?|hold on|wait|hmm|right|great|perfect|thanks|in addition|additionally|besides|important(?:ly)?"
    r"|it(?:'s| is) important that|for now it(?:'s| is) important that|one more thing)\b[\s,:]*"
    r"|(?:no|yes|yep|nope|good|sure|morning|good morning)[,.!:]\s*"
    r"|(?:(?:quick|small|short|slight|minor|another|one|important) )?(?:updates?|changes?|corrections?|reminders?|heads[- ]up|news|info|edit|ps|p\.s\.|change of plans?|nota bene|nb|important|attention)\s*[:,!\u2013-]\s*)+)?"
)
TRAILING = Cue(
    r"(?:,?\s+(?:now|from now on|instead|again|today|please|any ?more|by the way|of course|recently|yesterday|though|too"
    r"|as well|in case it matters|if that helps|(?:last|this) (?:month|year)))+$"
)
LEADERS = words("""
    please pls plz also and but so ok okay well actually oh sorry remember note keep from by btw fyi hi hello hey in as now for just hold
    wait hmm right great perfect thanks additionally besides important importantly one no yes yep nope good sure morning quick
    small short slight minor another update updates change changes correction corrections reminder reminders heads news info edit
    ps p nota nb attention
""")  # with which LEADING begins, but for the next two rows
MAY_LEAD, LED_BY = words("we i it"), ("changed", "important")
TRAILERS = words("""
    now on instead again today please more anymore way course recently yesterday though too well matters helps month year
""")  # with which TRAILING ends
FIRST = re.compile(r"\W*?(?=[\w\"\u201c#/$@`'(<.+-])(?P<word>[^\W_]*)")
BULLET = re.compile(r"^[ \t]*(?:[-*•\u2013]|\d{1,2}[.)])[ \t]+(?:\[[ x]\] )?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """What may state something.

    Attributes:
        text: the sentence without what leads in and out of it, on one line.
        raw: as it was said.
        start: where it begins in the text.
        end: where it ends.
    """

    text: str
    raw: str
    start: int
    end: int


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of one speaker that may state something; questions do not."""
    read = without_quotations(text[:READ_CHARS].replace("\u2019", "'"))
    start = 0
    for end, following in cuts(read):
        part = read[start:end]
        if 0 < len(part) <= SENTENCE_CHARS and "?" not in part:
            bare = bare_of(part)
            if bare:
                yield Sentence(bare, part, start, end)
        start = following


def cuts(text: str) -> Iterator[tuple[int, int]]:
    """Where sentences end, and where the next ones begin; the last at the end of the text."""
    may_quote = any(map(text.__contains__, OPENING_QUOTES))
    quotations = [match.span() for match in SPOKEN.finditer(text)] if may_quote else []
    starts = [start for start, _ in quotations]
    start = 0
    for match in borders(text):
        quotation = bisect_left(starts, match.start()) - 1
        if quotation >= 0 and match.start() < quotations[quotation][1] - 1:
            continue
        if is_cut(text, start, match):
            yield match.start(), match.end()
            start = match.end()
    yield len(text), len(text)


def borders(text: str) -> Iterator[re.Match[str]]:
    """Where a sentence may end: stops and ends of lines, and joints between them."""
    lower = lowered(text)
    joints = (JOINT.match(lower, found.start()) for found in JOINING.finditer(lower))
    stops = STOP.finditer(text)
    end = 0
    for match in sorted((*stops, *filter(None, joints)), key=beginning):
        if match.start() >= end:
            yield match
            end = match.end()


def beginning(match: re.Match[str]) -> int:
    """Where it begins."""
    return match.start()


def is_cut(text: str, start: int, match: re.Match[str]) -> bool:
    """A stop behind an abbreviation ends nothing, nor does a joint behind what depends on something else."""
    left = text[start : match.start()]
    if match.re is JOINT:
        joint = match.group().strip()
        least = LEAST_WORDS if joint == "," and not SAYER.match(left) else 1
        return SUBORDINATE.search(left) is None and len(left.split()) > least
    return "\n" in match.group() or ABBREVIATED.search(left.lstrip()[-8:]) is None


def bare_of(part: str) -> str:
    """A sentence without bullet, greeting, emphasis and stop."""
    bullet = BULLET.match(part)
    plain = (part[bullet.end() :] if bullet else part).replace("**", "")
    bare = plain[end_of_lead(plain) :].strip().rstrip(" .!;,")
    return " ".join(bare[: start_of_trail(bare)].rstrip(" ,").split())


def end_of_lead(plain: str) -> int:
    """Where what leads into a sentence is over."""
    first = FIRST.match(plain)
    if first is None:
        return 0
    word = first["word"].lower()
    if word in LEADERS or (word in MAY_LEAD and any(map(plain.lower().__contains__, LED_BY))):
        led = LEADING.match(plain)
        return led.end() if led else 0
    return first.start("word")


def start_of_trail(bare: str) -> int:
    """Where what leads out of a sentence begins."""
    last = bare[bare.rfind(" ") + 1 :].lower()
    trail = TRAILING.search(bare) if last in TRAILERS else None
    return trail.start() if trail else len(bare)
