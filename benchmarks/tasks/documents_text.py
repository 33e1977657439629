"""What a text says of a book: values and what changes them, groups, and where in the book things stand.

Promise: it reads lines and sentences of any text, whoever wrote it, and makes nothing up; the same text says the same.

A value is that of the term in its sentence, else of the term before it on its line, else of the term in the heading above it. What a
sentence gives as older is no value; what it gives as that of a branch is a value of that branch.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tasks.documents_words import BRANCHES, GROUP_LETTERS, KINDS
from tasks.people import SENTENCE

UNITS = {measure.name: measure.unit for kind in KINDS for measure in kind.measures}
GROUPS = [kind.group.format(letter) for kind in KINDS for letter in GROUP_LETTERS]
TERMS = [term for kind in KINDS for term in kind.terms]


def any_of(words: Sequence[str]) -> str:
    """A pattern for any of these words, the longest first."""
    return rf"\b(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})\b"


SUBJECT = re.compile(any_of([*TERMS, *GROUPS]), re.IGNORECASE)
MEASURE = re.compile(any_of(list(UNITS)).removesuffix(r"\b") + r"(?=s?\b)", re.IGNORECASE)
VALUE = re.compile(rf"\b\d+ (?:{'|'.join(sorted(set(UNITS.values())))})\b")
SECTION = re.compile(r"(?i)\bsection (\d+\.\d+)")
HEADING = re.compile(r"\W*([A-Z]?\d{1,2}\.\d) +([^.|:]{2,40})$")
HEAD_OF_PAGE = re.compile(r"(?i)\bpage (\d+) of (\d+)\b")
PLACE = re.compile(r"(.+?) ?(?:\.{3,}|\u2026|[,(:]? ?\b(?:page|p\.)) *(\d{1,3})\)?$")
NUMBERED = re.compile(r"[>\s]*(?:\d+ ?[\t|:]\s*)?")  # in front of lines that are quoted or counted
BETWEEN = re.compile(
    r"(?i)\[(?!.*\b(?:call|result|tool)\b).*\]$|[-=]{3,}$"
)  # stands between pieces
OLD_BEFORE = re.compile(r"(?i)\b(?:instead of|no longer|from|in place of|rather than)\W+$")
WAS_BEFORE = re.compile(r"(?i)\b(?:was|previously|before|old)\W+$")  # where another value is
OLD_BEHIND = re.compile(r"(?i)\W+(?:is|are|was) replaced by\b|\W{0,3}(?:->|=>|\u2192)")
ASIDE = re.compile(r" ?\([^()]*\)")
CHANGE = re.compile(r"(?i)\b(?:changed|amended|becomes|now|no longer|instead of|replaced)\b")
OLDER = re.compile(
    r"(?i)\b(?:editions?|until \d{4}|used to be|draft of|formerly|dropped|print of)\b"
)
PAST = re.compile(rf"{OLDER.pattern}|\b(?:was|previously|before|old)\b")
MARKS = " \t#*-_`:\u2022"
BRANCH = re.compile(rf"(?i)\b(this|{'|'.join(BRANCHES)}) (?:{'|'.join(k.branch for k in KINDS)})\b")
WHOLE_PAGE = 3_000  # characters: with fewer something of a page is missing
SOMEWHERE = "?"  # a branch that the text does not name
LOWER_GROUPS = frozenset(group.lower() for group in GROUPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A value that a text gives; ``section`` is the one it stands in, empty where nothing says it."""

    subject: str
    measure: str
    value: str
    section: str
    branch: str
    is_change: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What one text says."""

    statements: tuple[Statement, ...]
    replaced: tuple[tuple[str, str, str], ...]  # section, old and new value
    groups: tuple[tuple[str, str], ...]  # term, its group
    places: tuple[tuple[str, int], ...]  # title, page
    supplements: tuple[tuple[str, int], ...]  # branch, a page of its supplement
    page: int  # the page that the text is as a whole, else 0


class Page:
    """A text while it is read line by line."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.replaced: list[tuple[str, str, str]] = []
        self.groups: list[tuple[str, str]] = []
        self.places: list[tuple[str, int]] = []
        self.supplements: list[tuple[str, int]] = []
        self.columns: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self.subject = self.section = self.branch = self.measure = ""
        self.number = 0

    def read(self, line: str) -> None:
        """Read the next line."""
        if BETWEEN.match(line):
            self._begin()
            return
        if (named := BRANCH.search(line)) and named[1].lower() != "this":
            self.branch = named[1].lower()
            if self.number and not self.section:
                self.supplements.append((self.branch, self.number))
        if head := HEAD_OF_PAGE.search(line):
            self._begin()
            self.number = int(head[1])
        elif heading := HEADING.match(line):
            title = SUBJECT.fullmatch(heading[2].strip())
            self.section, self.subject = heading[1], title[0].lower() if title else ""
            self.measure = ""
            if self.number:
                self.places.append((heading[2].strip().lower(), self.number))
        elif place := PLACE.match(line):
            title = HEADING.match(place[1].strip(" .-*"))
            self.places.append(
                ((title[2] if title else place[1]).strip(" .-*").lower(), int(place[2]))
            )
        elif "|" in line:
            self._row([cell.strip() for cell in line.split("|")])
        elif not self._is_title(line.strip(MARKS)):
            self._sentences(line)

    def _is_title(self, bare: str) -> bool:
        """Whether a line is a term or a measure alone, of which the lines below tell."""
        if title := SUBJECT.fullmatch(bare):
            self.subject, self.measure = title[0].lower(), ""
            return True
        title = MEASURE.match(bare)
        if title is None or bare[title.end() :] not in {"", "s"}:
            return False
        self.measure = title[0].lower()
        return True

    def _sentences(self, line: str) -> None:
        current = self.subject
        for sentence in SENTENCE.split(line):
            current = self._sentence(sentence, current)

    def _row(self, cells: Sequence[str]) -> None:
        """A row of a table, or the row with its columns."""
        has_value = any(VALUE.fullmatch(cell) for cell in cells)
        if not has_value and any(MEASURE.fullmatch(cell) for cell in cells):
            self.columns = [cell.lower() for cell in cells]
            return
        subject = next((cell.lower() for cell in cells if SUBJECT.fullmatch(cell)), "")
        for n, cell in enumerate(cells):
            unit = cell.split(" ", 1)[-1]
            fitting = [name for name in UNITS if UNITS[name] == unit]
            named = [cell.lower() for cell in cells if MEASURE.fullmatch(cell)]
            if named or len(self.columns) == len(cells):
                fitting = [name for name in fitting if name in (named or [self.columns[n]])]
            if subject and VALUE.fullmatch(cell) and len(fitting) == 1:
                self.statements.append(
                    Statement(
                        subject=subject,
                        measure=fitting[0],
                        value=cell,
                        section=self.section,
                        branch="",
                        is_change=False,
                    )
                )

    def _sentence(self, sentence: str, current: str) -> str:
        """A sentence; returns of what the next one is, if it does not say it."""
        bare = ASIDE.sub(lambda each: "" if PAST.search(each[0]) else each[0], sentence)
        sentence = bare if VALUE.search(bare) else sentence
        subjects = [(m.start(), m[0].lower()) for m in SUBJECT.finditer(sentence)]
        measures = [(m.start(), m[0].lower()) for m in MEASURE.finditer(sentence)]
        values = list(VALUE.finditer(sentence))
        if not values:
            groups = [name for _, name in subjects if name in LOWER_GROUPS]
            if len(set(groups)) == 1:
                self.groups += [(name, groups[0]) for _, name in subjects if name != groups[0]]
        elif not OLDER.search(sentence):
            old = [m for m in values if is_old(m, sentence)]
            was = [m for m in values if WAS_BEFORE.search(sentence[: m.start()])]
            old += [m for m in was if m not in old and {*was, *old} < {*values}]
            new = [m for m in values if m not in old]
            section = SECTION.search(sentence)
            if section and old and new and not measures:
                self.replaced.append((section[1], old[0][0], new[0][0]))
            where = (BRANCH.findall(sentence) or [""])[0].lower()
            where = (self.branch or SOMEWHERE) if where == "this" else where
            for value in new:
                fitting = measures or ([(0, self.measure)] if self.measure else [])
                fitting = [each for each in fitting if UNITS[each[1]] == value[0].split(" ")[1]]
                if measure := nearest(value.start(), fitting):
                    is_change = CHANGE.search(sentence) is not None
                    subject = nearest(value.start(), subjects) or current
                    self.statements.append(
                        Statement(
                            subject=subject,
                            measure=measure,
                            value=value[0],
                            section=section[1] if section else self.section,
                            branch=where,
                            is_change=is_change,
                        )
                    )
        return subjects[-1][1] if subjects else current


@lru_cache(maxsize=20_000)
def parsed_text(text: str) -> Parsed:
    """What a text says, the same for the same text."""
    page = Page()
    for line in text.split("\n"):
        page.read(NUMBERED.sub("", line, count=1).rstrip())
    return Parsed(
        statements=tuple(page.statements),
        replaced=tuple(page.replaced),
        groups=tuple(page.groups),
        places=tuple(page.places),
        supplements=tuple(page.supplements),
        page=page.number if len(text) >= WHOLE_PAGE else 0,
    )


def is_old(value: re.Match[str], sentence: str) -> bool:
    """Whether a sentence gives a value as the one that holds no longer."""
    before, behind = sentence[: value.start()], sentence[value.end() :]
    return OLD_BEFORE.search(before) is not None or OLD_BEHIND.match(behind) is not None


def nearest(at: int, names: Sequence[tuple[int, str]]) -> str:
    """The name before a place, else the first one after it, else empty."""
    before = [name for place, name in names if place < at]
    return before[-1] if before else names[0][1] if names else ""
