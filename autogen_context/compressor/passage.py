"""Split a text into passages that are kept or dropped whole: sentences, list items, headings, code blocks.

Promise: the passages contain every word of the text, in order; a fenced code block is one passage. Linear time. Speakers in
a transcript are recognised as in the ledger.
"""

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from autogen_context.ledger import Author
from autogen_context.ledger.ledger import speeches
from autogen_context.text.sentence import sentences_of

PassageKind = Literal["sentence", "item", "heading", "block"]

FENCE = re.compile(r"\s*(```|~~~)")
INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
HEADING = re.compile(r"#{1,6} \S|[=\-*_]{3,}$|[^.!?\s][^.!?]{0,58}:$")
ITEM = re.compile(r"(?:[-*•+]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]+(?=\S)", re.IGNORECASE)
WRAPPED_CHARS = 40  # characters from which a line may continue in the next
LONGEST_WRAPPED = 2_000  # characters; anything longer is not a sentence
AUTHORITY: dict[Author, int] = {"tool": 0, "assistant": 0, "person": 1, "system": 1}


class Speaker(NamedTuple):
    """The turn of a passage: its number, its opening as written (``[user] ``; empty without a name), and its author."""

    turn: int = 0
    opening: str = ""
    author: Author = "person"


class Passage(NamedTuple):
    """A piece of text that is kept or dropped whole: its text on one line, its bullet, and the whitespace before it.

    A heading, an empty line and a turn start a section.
    """

    text: str
    kind: PassageKind = "sentence"
    lead: str = ""
    gap: str = ""
    speaker: Speaker = Speaker()
    section: int = 0

    @property
    def written(self) -> str:
        """The passage as the first of its turn."""
        opening = self.speaker.opening
        border = "" if not opening or opening[-1].isspace() else self.gap or " "
        return f"{opening}{border}{self.lead}{self.text}"


def passages_of(text: str) -> list[Passage]:
    """Split a text into passages, in order."""
    found: list[Passage] = []
    at = 0
    for turn, (author, start, end) in enumerate(speeches(text, "person")):
        body = text[start:end].lstrip(" \t") if turn else text[start:end]
        opening = text[at : end - len(body)] if turn else ""
        section = found[-1].section + 1 if found else 0
        speaker = Speaker(turn=turn, opening=opening, author=author)
        found += read(body, speaker, section)
        at = end
    return found


def joined(passages: Iterable[Passage]) -> str:
    """Join passages, in order: each turn starts with its role, line and paragraph breaks are kept."""
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


def read(text: str, speaker: Speaker, section: int) -> list[Passage]:
    """Split one speaker's text into passages."""
    found: list[Passage] = []
    block: list[str] = []
    fenced, gap, before_chars = False, "", 0

    def add(text: str, kind: PassageKind, lead: str = "") -> None:
        found.append(Passage(text, kind, lead, gap, speaker, section))

    def end_block() -> None:
        nonlocal gap
        if block:
            add("\n".join(block), "block")
            gap = "\n"
            block.clear()

    for line in text.split("\n"):
        bare, fence = line.strip(), FENCE.match(line) is not None
        indented = INDENTED.match(line) is not None and not ITEM.match(bare)
        if fenced or (indented and not fence):
            block.append(line)
            if fence:
                end_block()
                fenced = False
            continue
        end_block()
        if fence:
            block.append(line)
            fenced = True
        elif not bare:
            section += gap == "\n"
            gap = "\n\n" if gap == "\n" else gap
        elif not (item := ITEM.match(bare)) and HEADING.match(bare):
            section += 1
            add(bare, "heading")
            before_chars, gap = len(bare), "\n"
        else:
            lead = item.group() if item else ""
            rest = bare[len(lead) :]
            joins = (  # the line continues the previous line's sentence
                not item
                and gap == "\n"
                and bool(found)
                and found[-1].kind in {"sentence", "item"}
                and (bare[0].islower() or bare[0] in "`(")
                and before_chars >= WRAPPED_CHARS
                and len(found[-1].text) <= LONGEST_WRAPPED
                and found[-1].text[-1] not in ".!?:;}{)]>"
            )
            for sentence in sentences_of(rest):
                said = sentence.rstrip(" \t")
                if joins:
                    found[-1] = found[-1]._replace(text=f"{found[-1].text} {said}")
                else:
                    add(said, "item" if item else "sentence", lead)
                gap = " " if len(said) < len(sentence) else ""
                lead, joins = "", False
            before_chars, gap = len(bare), "\n"
    end_block()
    return found
