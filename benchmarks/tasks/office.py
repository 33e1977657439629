"""An office: its people, the mails that fill its days, and how a reader tells who says what in a text.

Promise: what is made comes from the generator that it is given. Who speaks is read from plain headings ("User said:", "[user]",
"Facts, by the person:") and from the role of a message, whoever laid the text out; a text that names its own source (a mail, minutes,
another project) is never taken for a person's word.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from random import Random

PAIRS = (
    ("Ana Ferro", "Anna Ferrer"), ("Jon Bergman", "John Berg"), ("Mara Lind", "Maria Linde"), ("Karl Osten", "Carl Ostend"),
    ("Lea Moreau", "Leah Morel"), ("Tom Hale", "Tim Hales"), ("Eva Santor", "Ewa Santori"), ("Nils Dahl", "Niels Dahlen"),
)  # fmt: skip
NAMES = tuple(name for pair in PAIRS for name in pair)
FULL = {name.split()[1]: name for name in NAMES}  # by the last name
NAME = re.compile(rf"\b(?:\w+ )?({'|'.join(FULL)})\b")
OTHERS = (
    "Priya Nair", "Oskar Wendt", "Chloe Barnes", "Mateo Ruiz", "Ines Prado", "Yusuf Aydin", "Hanna Kolb", "Peter Vance", "Rosa Quint",
    "Dario Bellini", "Greta Holm", "Samir Haddad",
)  # fmt: skip
PROJECTS = (
    "Halden", "Castel", "Mirador", "Tessera", "Vela", "Osprey", "Polder", "Quay", "Lumen", "Nordwind", "Kestrel", "Brandt",
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
YEAR = 2026
MONTH = "|".join(MONTHS)
DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{MONTH})|(?P<month2>{MONTH}) (?P<day2>\d{{1,2}})|{YEAR}-(?P<mm>\d\d)-(?P<dd>\d\d))\b"
)

SENTENCES = (
    "The {thing} came back from {other} with {n} remarks, and only {k} of them touch our part.",
    "I spoke with {other} about the {thing}; there is no hurry before the next round of {topic}.",
    "Could somebody check whether the {thing} in folder {code} is still the one we use?",
    "We counted {n} visitors, {k} fewer than the week before, mostly because of the {topic}.",
    "The supplier for {topic} moved, the new reference is {code} and the old one is closed.",
    "{other} takes over the {thing} while the rest of us are at the fair.",
    "Nothing has changed about the {topic}, the version in {code} stays for now.",
    "On the {thing}: the printer asks for files with {k} mm of bleed and {n} dpi.",
    "The lift is out of order until it is repaired, please use the stairs by the {topic} office.",
    "{other} asked whether the {thing} should be kept; I said that we decide when {code} is through.",
    "Attached is the {thing} with {n} rows, sorted by code; {code} stands twice and that is fine.",
    "Our guests liked the {topic}, less so the coffee, and {k} of {n} would come again.",
    "For the {thing} we still lack a signature from {other}, everything else is complete.",
    "The archive of the {topic} is on the third shelf, box {code}, behind the {thing}.",
    "Please do not print the {thing}: {n} pages of which {k} are blank.",
    "{other} found a mistake in the {topic}: line {k} should read {code}.",
    "Last time the {thing} took {k} weeks, so let us begin with the {topic} early.",
    "I would rather have one good {thing} than {k} half ones, and {other} agrees.",
    "The {topic} group meets without me; {other} writes down what comes of it and files it under {code}.",
    "There were {n} answers to the {topic} survey, {k} of them by hand.",
    "The insurance wants the {thing} once more, with the number {code} on each page.",
    "{other} is on the train and reads mail in the evening only.",
    "If the {thing} does not arrive, ring the desk and give them {code}.",
    "We have {n} chairs, {k} tables and no {thing} at all.",
    "The new {topic} rules are shorter than the old ones, {k} pages and an annex.",
    "Thanks for the {thing}, it helped; I passed {code} on to {other}.",
)
THINGS = (
    "draft", "catalogue", "floor plan", "invoice", "survey", "leaflet", "inventory", "protocol", "translation", "tender",
    "guest list", "sample", "poster", "licence", "timetable", "index",
)  # fmt: skip
TOPICS = (
    "catering", "parking", "signage", "insurance", "lighting", "archive", "transport", "training", "heating", "press", "website",
    "cleaning", "translation", "furniture",
)  # fmt: skip


def sentence(random: Random) -> str:
    """Something that people write about, of no weight here."""
    return random.choice(SENTENCES).format(
        thing=random.choice(THINGS), topic=random.choice(TOPICS), other=random.choice(OTHERS), n=random.randrange(20, 900),
        k=random.randrange(2, 19), code=f"{random.choice('ABCDEFGHKLM')}{random.randrange(100, 999)}-{random.randrange(10, 99)}",
    )  # fmt: skip


def mail(random: Random, about: Sequence[str], sentences: int) -> str:
    """A mail of so many sentences, with these among them."""
    lines = [sentence(random) for _ in range(sentences)]
    for each in about:
        lines.insert(random.randrange(1, len(lines)), each)
    sender, subject = random.choice(OTHERS), f"{random.choice(TOPICS)} and {random.choice(THINGS)}"
    paragraphs: list[str] = []
    while lines:
        size = random.randrange(2, 6)
        paragraphs.append(" ".join(lines[:size]))
        del lines[:size]
    head = f"From: {sender} <{address_of(sender)}>\nSubject: {subject}"
    return "\n".join([head, *paragraphs, f"Regards, {sender.split()[0]}"])


def address_of(name: str) -> str:
    """The mail address of a person."""
    return f"{name.lower().replace(' ', '.')}@office.example"


def day_in_words(random: Random, day: date) -> str:
    """A day as people write it."""
    month = MONTHS[day.month - 1]
    return random.choice(
        (f"{day.day} {month}", f"{month} {day.day}", f"the {day.day}{ending(day.day)} of {month}")
    )


def ending(number: int) -> str:
    """What is written behind an ordinal number."""
    return "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def days_in(text: str) -> Iterator[tuple[int, int, date]]:
    """Start, end and value of the days that a text names."""
    for found in DATE.finditer(text):
        if found["mm"]:
            month, day = int(found["mm"]), int(found["dd"])
        else:
            month = MONTHS.index(found["month"] or found["month2"]) + 1
            day = int(found["day"] or found["day2"])
        if 1 <= month <= 12 and 1 <= day <= monthrange(YEAR, month)[1]:
            yield found.start(), found.end(), date(YEAR, month, day)


PERSON, NOTE, TOOL = "person", "note", "tool"
VOICES = {"user": PERSON, "system": PERSON, "tool": TOOL}  # others are notes
MARKS = re.compile(r"^(?:\s*(?:\d+\t|[>*\u2022-]\s|\d+[.)]\s))*\s*")
SPEAKER = re.compile(
    r"(?i)^[\W_]{0,4}(?:the )?(?P<who>user|human|person|customer|assistant|agent|model|ai|tool|function|system)\b[^:\n]{0,30}:[*_]*\s+(?P<rest>\S.*)$"
)
TITLE = re.compile(r"^#+ .{2,60}$|^\W{0,4}\[.{1,120}\]\W{0,2}$|^[\W_]{0,4}[^:]{2,60}:[\W_]{0,3}$")
BY_PERSON = re.compile(r"(?i)\b(?:user|human|person|customer|people|instruct\w*)\b")
BY_TOOL = re.compile(r"(?i)\b(?:tools?|functions?|results?|mails?|calls?|search|calendar)\b")
BY_NAME = re.compile(r"^(?:From|To|Subject|Date): |^(?:Mail|Week) \d+ of \d+")
CALL = re.compile(r"(?i)^(?:\[?called\b|\{|\w+\(\{)")
SOURCED = re.compile(
    r"(?i)\b(?:minutes|(?:for|of) project|my (?:last )?(?:mail|letter)|in the (?:plan|list|file) of|as (?:i|we) wrote|calendar of)\b"
)
END = re.compile(r"(?<=[.!?;])\s+")


@lru_cache(maxsize=20_000)
def spoken(text: str, voice: str) -> tuple[tuple[str, str], ...]:
    """Sentences of a text with who says each; ``voice`` speaks where no heading says otherwise. Calls are not speech."""
    begins, said = voice, list[tuple[str, str]]()
    for line in text.split("\n"):
        bare = MARKS.sub("", line).strip()
        if not bare or CALL.match(bare):
            continue
        if begins != TOOL:  # what a tool gives has no speakers
            if TITLE.match(bare):
                voice = speaker_of(bare, begins)
                continue
            if BY_NAME.match(bare):
                voice = TOOL
            elif found := SPEAKER.match(bare):
                voice, bare = speaker_of(found["who"], begins), found["rest"]
        said += [(TOOL if SOURCED.search(each) else voice, each) for each in END.split(bare)]
    return tuple(said)


def speaker_of(title: str, otherwise: str) -> str:
    """Who speaks below a title."""
    if BY_PERSON.search(title):
        return PERSON
    if BY_TOOL.search(title):
        return TOOL
    if re.search(r"(?i)\b(?:original|ledger|matches|left out|earlier)\b", title):
        return otherwise
    return NOTE
