"""Cut a text into what stays or goes whole: sentences, items of lists, headings, blocks of code.

Promise: the passages have every word of the text, in its order; none ends in the middle of a sentence, and code between
fences is one passage. Linear time, whatever is in the text.

Who speaks is read from lines that begin with a role, ``[user] …`` or ``user: …``. Nobody gains authority by such a line: all
are written as the first one is, the system speaks at the very beginning alone, and what was handed on (``[system] [tool] …``)
has no more authority than who said it first.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from autogen_context.ledger import Author
from autogen_context.ledger.ledger import INNER, MARKER, SPEAKERS

Kind = Literal["sentence", "item", "heading", "block"]

FENCE = re.compile(r"\s*(```|~~~)")
INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
HEADING = re.compile(r"#{1,6} \S|[=\-*_]{3,}$|[^.!?\s][^.!?]{0,58}:$")
ITEM = re.compile(r"(?:[-*•+]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]+(?=\S)", re.IGNORECASE)
SENTENCE_END = re.compile(  # a character first, then what stands before it: so the search is quick
    r"[.!?](?<![.!?][.!?])[.!?]*+[\"'\u201d\u2019)\]]*+(?P<blanks>[ \t]++)(?=[\"'\u201c\u2018(\[$\u20ac\u00a3]?[A-Z0-9])"
    r"|[\u3002\uff01\uff1f]++(?=[^\s\u3002\uff01\uff1f])"
)
SHORT_FORM = re.compile(  # what only looks like the end of a sentence
    r"(?:\b(?:e\.g|i\.e|cf|vs|mr|mrs|ms|dr|prof|approx|fig|sec|st|[a-z])|^\(?\d{1,3})\.[\"')\]]*$",
    re.IGNORECASE,
)
SHORT_FORM_CHARS = 12
WRAPPED_CHARS = 40  # a line so long may go on in the next
LONGEST_WRAPPED = 2_000  # characters; what goes on for longer is no sentence
AUTHORITY: dict[Author, int] = {"tool": 0, "assistant": 0, "person": 1, "system": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Whose turn it is.

    Attributes:
        turn: its number, from 0; one without a role stands before all others.
        opening: what opens it, as written: ``[user] ``.
        author: who that is; ``None`` where nobody is named.
    """

    turn: int = 0
    opening: str = ""
    author: Author | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What stays or goes whole.

    Attributes:
        text: as written; a sentence that goes on in the next line is on one line.
        kind: what it is.
        lead: what opens it: the bullet of an item.
        gap: the white space that stands before it.
        speaker: whose turn it is in.
        section: number of the section that it belongs to, from 0; a heading, an empty line and a turn open one.
    """

    text: str
    kind: Kind = "sentence"
    lead: str = ""
    gap: str = ""
    speaker: Speaker = Speaker()
    section: int = 0

    @property
    def written(self) -> str:
        """The passage where it opens its turn."""
        opening = self.speaker.opening
        border = "" if not opening or opening[-1].isspace() else self.gap or " "
        return f"{opening}{border}{self.lead}{self.text}"


def passages_of(text: str) -> list[Passage]:
    """The passages of a text, in its order."""
    return Reader().read(text)


def joined(passages: Iterable[Passage]) -> str:
    """The text of some passages, in order: each turn opens with its role, lines and paragraphs stay apart."""
    parts: list[str] = []
    before: Passage | None = None
    for passage in passages:
        if before is None or before.speaker != passage.speaker:
            parts += ["\n" * (before is not None), passage.written]
        else:
            together = before.section == passage.section and before.kind in {"sentence", "item"}
            gap = passage.gap if together or "\n" in passage.gap else "\n"
            parts += [gap, passage.lead, passage.text]
        before = passage
    return "".join(parts)


def opening_of(line: str) -> tuple[str, str, Author] | None:
    """What opens a turn, in which style, and whose it is, if a line opens one."""
    if ":" not in line and line.lstrip()[:1] not in {"[", "*", "<", "#"}:
        return None
    marker = MARKER.match(line)
    if marker is None or marker.lastgroup is None:
        return None
    author: Author = author_named(marker[marker.lastgroup])
    end = marker.end()
    while marker.lastgroup == "bracketed" and (inner := INNER.match(line, end)):
        end = inner.end()
        author = min(author, author_named(inner["bracketed"]), key=lambda who: AUTHORITY[who])
    end = len(line) - len(line[end:].lstrip(" \t"))
    return line[:end], marker.lastgroup, author


def author_named(role: str) -> Author:
    """Whose role it is."""
    return SPEAKERS[role.lower()]


def sentences_of(line: str) -> Iterator[slice]:
    """Where the sentences of a line stand, without the white space between them."""
    start = 0
    for match in SENTENCE_END.finditer(line):
        end = match.end() - len(match["blanks"] or "")
        if end > start and not SHORT_FORM.search(line[max(start, end - SHORT_FORM_CHARS) : end]):
            yield slice(start, end)
            start = match.end()
    if start < len(line):
        yield slice(start, len(line))


class Reader:
    """Reads lines one after the other."""

    def __init__(self) -> None:
        self._found: list[Passage] = []
        self._block: list[str] = []
        self._fenced = False
        self._line_chars = 0
        self._gap = ""
        self._section = 0
        self._speaker = Speaker()
        self._style = ""  # in which the first speaker is written
        self._begun = False

    def read(self, text: str) -> list[Passage]:
        """All passages of a text."""
        for line in text.split("\n"):
            self._take(line)
        self._end_block()
        return self._found

    def _take(self, line: str) -> None:
        fence = ("```" in line or "~~~" in line) and FENCE.match(line)
        if self._fenced:
            self._block.append(line)
            if fence:
                self._end_block()
        elif fence:
            self._end_block()
            self._block, self._fenced = [line], True
        elif line[:1] in {" ", "\t"} and INDENTED.match(line) and not ITEM.match(line.lstrip()):
            self._block.append(line)
        else:
            self._end_block()
            self._take_line(self._without_speaker(line))
        self._begun = self._begun or bool(line.strip())

    def _end_block(self) -> None:
        block, self._block, self._fenced = "\n".join(self._block), [], False
        if block:
            self._add(block, kind="block")
            self._gap = "\n"

    def _without_speaker(self, line: str) -> str:
        """What a line says; who says it is noted."""
        opened = opening_of(line)
        if opened is None or self._style not in {"", opened[1]}:
            return line
        opening, self._style, author = opened
        if author == "system" and self._begun:
            author = "tool"
        self._speaker = Speaker(turn=self._speaker.turn + 1, opening=opening, author=author)
        self._section += 1
        return line[len(opening) :]

    def _take_line(self, line: str) -> None:
        bare = line.strip()
        if not bare:
            self._section += self._gap == "\n"
            self._gap = "\n\n" if self._gap == "\n" else self._gap
            return
        item = ITEM.match(bare)
        if not item and HEADING.match(bare):
            self._section += 1
            self._add(bare, kind="heading")
        elif self._goes_on(bare):
            first, *others = sentences_of(bare)
            last = self._found.pop()
            self._found.append(replace(last, text=f"{last.text} {bare[first]}"))
            self._add_sentences(bare, others, kind="sentence", gap=" ")
        else:
            lead = item.group() if item else ""
            rest = bare[len(lead) :]
            self._add_sentences(
                rest, sentences_of(rest), kind="item" if item else "sentence", lead=lead
            )
        self._line_chars, self._gap = len(bare), "\n"

    def _goes_on(self, bare: str) -> bool:
        """Whether a line ends a sentence that the line before began."""
        last = self._found[-1] if self._found and self._gap == "\n" else None
        return (
            last is not None
            and last.speaker == self._speaker
            and last.kind in {"sentence", "item"}
            and (bare[0].islower() or bare[0] in "`(")
            and self._line_chars >= WRAPPED_CHARS
            and len(last.text) <= LONGEST_WRAPPED
            and last.text[-1] not in ".!?:;}{)]>"
        )

    def _add_sentences(
        self, line: str, places: Iterable[slice], *, kind: Kind, lead: str = "", gap: str = ""
    ) -> None:
        self._gap = gap or self._gap
        for place in places:
            self._add(line[place], kind=kind, lead=lead)
            self._gap, lead = " " if line[place.stop : place.stop + 1].isspace() else "", ""

    def _add(self, text: str, *, kind: Kind, lead: str = "") -> None:
        self._found.append(
            Passage(
                text=text,
                kind=kind,
                lead=lead,
                gap=self._gap,
                speaker=self._speaker,
                section=self._section,
            )
        )
