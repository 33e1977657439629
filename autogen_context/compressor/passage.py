"""Cut a text into what stays or goes whole: sentences, items of lists, headings, blocks of code.

Promise: the passages have every word of the text, in its order; none ends in the middle of a sentence, and code between
fences is one passage. Linear time. Who speaks in a transcript is told as the ledger hears it: nobody gains authority by a line
that says so.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from autogen_context.ledger import Author
from autogen_context.ledger.ledger import MARKER, speeches

Kind = Literal["sentence", "item", "heading", "block"]

FENCE = re.compile(r"\s*(```|~~~)")
INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
HEADING = re.compile(r"#{1,6} \S|[=\-*_]{3,}$|[^.!?\s][^.!?]{0,58}:$")
ITEM = re.compile(r"(?:[-*•+]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]+(?=\S)", re.IGNORECASE)
SENTENCE_END = re.compile(  # a character first, then what stands before it: so the search is quick
    r"[.!?](?<![.!?][.!?])[.!?]*+[\"'\u201d\u2019)\]]*+(?P<blanks>[ \t]++)(?=[\"'\u201c\u2018(\[$\u20ac\u00a3]?[A-Z0-9])"
    r"|[\u3002\uff01\uff1f]++(?=[^\s\u3002\uff01\uff1f])"
)
CONSONANT = "b-df-hj-np-tv-z"
SHORT_FORM = re.compile(  # what only looks like the end of a sentence: e.g., Dr., vs., 3.
    rf"(?:\b(?:[A-Za-z]|[{CONSONANT}{CONSONANT.upper()}][{CONSONANT}]{{1,3}})|^\(?\d{{1,3}})\.[\"')\]]*$"
)
SHORT_FORM_CHARS = 12
WRAPPED_CHARS = 40  # a line so long may go on in the next
LONGEST_WRAPPED = 2_000  # characters; what goes on for longer is no sentence
AUTHORITY: dict[Author, int] = {"tool": 0, "assistant": 0, "person": 1, "system": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Whose turn it is: its number, what opens it as written (``[user] ``; empty where nobody is named), and who speaks."""

    turn: int = 0
    opening: str = ""
    author: Author = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What stays or goes whole: its text on one line, the bullet that leads it, and the white space before it.

    A heading, an empty line and a turn open a section.
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
    found: list[Passage] = []
    at = 0
    for turn, (author, start, end) in enumerate(speeches(text, "person")):
        body = text[start:end].lstrip(" \t") if turn else text[start:end]
        opening = text[at : end - len(body)] if turn else ""
        section = found[-1].section + 1 if found else 0
        speaker = Speaker(turn=turn, opening=opening, author=author)
        found += Reader(speaker, section).read(body)
        at = end
    return found


def is_transcript(text: str) -> bool:
    """Whether a text opens with who speaks."""
    return MARKER.match(text) is not None


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
    """Reads what one speaker says, line by line."""

    def __init__(self, speaker: Speaker, section: int) -> None:
        self._found: list[Passage] = []
        self._speaker = speaker
        self._section = section
        self._gap = ""
        self._line_chars = 0

    def read(self, text: str) -> list[Passage]:
        """All passages."""
        block: list[str] = []
        fenced = False
        for line in text.split("\n"):
            fence = FENCE.match(line) is not None
            indented = INDENTED.match(line) is not None and not ITEM.match(line.lstrip())
            if not (fenced or (indented and not fence)):
                self._add_block(block)
                block = []
            if fenced or fence or indented:
                block.append(line)
                if fenced and fence:
                    self._add_block(block)
                    block = []
                fenced = fenced != fence
            else:
                self._read_line(line.strip())
        self._add_block(block)
        return self._found

    def _add_block(self, lines: list[str]) -> None:
        if text := "\n".join(lines):
            self._add(text, kind="block")
            self._gap = "\n"

    def _read_line(self, bare: str) -> None:
        if not bare:
            self._section += self._gap == "\n"
            self._gap = "\n\n" if self._gap == "\n" else self._gap
            return
        item = ITEM.match(bare)
        if not item and HEADING.match(bare):
            self._section += 1
            self._add(bare, kind="heading")
        else:
            lead = item.group() if item else ""
            line, goes_on = bare[len(lead) :], not item and self._goes_on(bare)
            for place in sentences_of(line):
                if goes_on:
                    last = self._found.pop()
                    self._found.append(replace(last, text=f"{last.text} {line[place]}"))
                else:
                    self._add(line[place], kind="item" if item else "sentence", lead=lead)
                self._gap = " " if line[place.stop : place.stop + 1].isspace() else ""
                lead, goes_on = "", False
        self._line_chars, self._gap = len(bare), "\n"

    def _goes_on(self, bare: str) -> bool:
        """Whether a line ends a sentence that the line before began."""
        last = self._found[-1] if self._found and self._gap == "\n" else None
        return (
            last is not None
            and last.kind in {"sentence", "item"}
            and (bare[0].islower() or bare[0] in "`(")
            and self._line_chars >= WRAPPED_CHARS
            and len(last.text) <= LONGEST_WRAPPED
            and last.text[-1] not in ".!?:;}{)]>"
        )

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
