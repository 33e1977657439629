"""Cut a text into what stays or goes whole: sentences, items of lists, headings, blocks of code.

Promise: the passages have every word of the text, in its order; none ends in the middle of a sentence, and code between
fences is one passage. Linear time, whatever is in the text.

Who speaks is read from lines that begin with a role, ``[user] …`` or ``user: …``, as a ledger reads it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from autogen_context.compressor.sentence import sentences_of
from autogen_context.ledger import Author
from autogen_context.ledger.speakers import MARKER, SPEAKERS

Kind = Literal["sentence", "item", "heading", "block"]

FENCE = re.compile(r"\s*(```|~~~)")
INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
HEADING = re.compile(r"#{1,6} \S|[=\-*_]{3,}$")
TITLE = re.compile(r"[^.!?\s][^.!?]{0,58}:$")
ITEM = re.compile(r"(?:[-*•+]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]+(?=\S)", re.IGNORECASE)
BULLETS = frozenset("-*•+")
HEADING_SIGNS = frozenset("#=-*_")
BLANKS = frozenset(" \t")
MARKS = ("[", "*", "<", "#")  # with which a line that names a speaker begins, unless it has a colon
WRAPPED_CHARS = 40  # a line so long may go on in the next
LONGEST_WRAPPED = 2_000  # characters; what goes on for longer is no sentence


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


NOBODY = Speaker()


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
        start: where it begins in the text, its lead included.
        end: where it ends there.
    """

    text: str
    kind: Kind = "sentence"
    lead: str = ""
    gap: str = ""
    speaker: Speaker = NOBODY
    section: int = 0
    start: int = 0
    end: int = 0

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
    """The text of some passages of a text, in its order: each turn opens with its role, lines and paragraphs stay apart."""
    return "".join(pieces(passages))


def pieces(passages: Iterable[Passage]) -> Iterator[str]:
    """What is written for each passage, with what parts it from the one before."""
    before: Passage | None = None
    for passage in passages:
        if before is None:
            yield passage.written
        elif before.speaker != passage.speaker:
            yield "\n" + passage.written
        else:
            yield gap_between(before, passage) + passage.lead + passage.text
        before = passage


def gap_between(before: Passage, passage: Passage) -> str:
    """What parts two passages of a turn; sentences stand on one line only where they are of one paragraph."""
    together = before.section == passage.section and before.kind not in {"heading", "block"}
    return passage.gap if together or "\n" in passage.gap else "\n"


def speaker_in(line: str, *, turn: int) -> Speaker | None:
    """Whose turn a line opens, if it opens one."""
    if ":" not in line and line.lstrip()[:1] not in MARKS:
        return None
    marker = MARKER.match(line)
    if marker is None or marker.lastgroup is None:
        return None
    named = SPEAKERS[marker[marker.lastgroup].lower()]
    rest = line[marker.end() :]
    opening = marker.group() + rest[: len(rest) - len(rest.lstrip(" \t"))]
    return Speaker(turn=turn, opening=opening, author=named)


def may_fence(line: str) -> bool:
    """Whether a line has signs that open and close blocks."""
    return "```" in line or "~~~" in line


def item_in(bare: str) -> re.Match[str] | None:
    """What opens an item, if a line begins with that: a bullet, or at most four characters and then a stop or a bracket."""
    head = bare[:5]
    return ITEM.match(bare) if head[:1] in BULLETS or "." in head or ")" in head else None


class Reader:
    """Reads lines one after the other."""

    def __init__(self) -> None:
        self._found: list[Passage] = []
        self._block: list[str] = []
        self._fenced = False
        self._at = 0  # where the line begins
        self._line_chars = 0
        self._gap = ""
        self._section = 0
        self._speaker = NOBODY

    def read(self, text: str) -> list[Passage]:
        """All passages of a text."""
        for line in text.split("\n"):
            self._take(line)
            self._at += len(line) + 1
        self._end_block(self._at - 1)
        return self._found

    def _take(self, line: str) -> None:
        if self._fenced:
            self._block.append(line)
            if may_fence(line) and FENCE.match(line):
                self._end_block(self._at + len(line))
        elif may_fence(line) and FENCE.match(line):
            self._end_block(self._at - 1)
            self._block, self._fenced = [line], True
        elif line[:1] in BLANKS and INDENTED.match(line) and not item_in(line.lstrip()):
            self._block.append(line)
        else:
            self._end_block(self._at - 1)
            self._take_prose(line)

    def _end_block(self, end: int) -> None:
        block, self._block, self._fenced = "\n".join(self._block), [], False
        if block:
            self._add(block, kind="block", end=end)
            self._gap = "\n"

    def _take_prose(self, line: str) -> None:
        speaker = speaker_in(line, turn=self._speaker.turn + 1)
        if speaker:
            self._speaker = speaker
            self._section += 1
        rest = line[len(speaker.opening) :] if speaker else line
        if bare := rest.strip():
            self._take_line(bare, at=self._at + len(line) - len(rest.lstrip()))
            self._line_chars = len(bare)
            self._gap = "\n"
        elif self._gap == "\n":
            self._gap = "\n\n"
            self._section += 1

    def _take_line(self, bare: str, *, at: int) -> None:
        item = item_in(bare)
        signed = bare[0] in HEADING_SIGNS and HEADING.match(bare)
        if signed or (bare[-1] == ":" and TITLE.match(bare) and not item):
            self._section += 1
            self._add(bare, kind="heading", end=at + len(bare))
        elif self._goes_on(bare):
            self._go_on(bare, at=at)
        else:
            self._add_sentences(bare, lead=item.group() if item else "", at=at)

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

    def _go_on(self, bare: str, *, at: int) -> None:
        """Put the rest of a sentence to its beginning; what follows in the line are sentences of their own."""
        last = self._found.pop()
        first, *others = sentences_of(bare)
        text = f"{last.text} {bare[first]}"
        self._found.append(replace(last, text=text, end=at + first.stop))
        self._gap = " "
        for other in others:
            self._add(bare[other], kind="sentence", end=at + other.stop)

    def _add_sentences(self, bare: str, *, lead: str, at: int) -> None:
        kind: Kind = "item" if lead else "sentence"
        rest, at = bare[len(lead) :], at + len(lead)
        for sentence in sentences_of(rest):
            self._add(rest[sentence], kind=kind, lead=lead, end=at + sentence.stop)
            self._gap, lead = " " if rest[sentence.stop : sentence.stop + 1].isspace() else "", ""

    def _add(self, text: str, *, kind: Kind, end: int, lead: str = "") -> None:
        self._found.append(
            Passage(
                text=text,
                kind=kind,
                lead=lead,
                gap=self._gap,
                speaker=self._speaker,
                section=self._section,
                start=end - len(text) - len(lead),
                end=end,
            )
        )
