"""Split a text into passages that are kept or dropped whole: sentences, list items, headings, code blocks.

Promise: the passages contain every word of the text, in order; a fenced code block is one passage. Linear time. Speakers in
a transcript are recognised as in the ledger.
"""

import re

from autogen_context.ledger.ledger import speeches
from autogen_context.text.passage import Author, Form, Passage, PassageKind, Speaker
from autogen_context.text.sentence import sentences_of

FENCE = re.compile(r"\s*(```|~~~)")
INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
HEADING = re.compile(r"#{1,6} \S|[=\-*_]{3,}$|[^.!?\s][^.!?]{0,58}:$")
ITEM = re.compile(r"(?:[-*•+]|\(?(?:\d{1,3}|[a-z])[.)])[ \t]+(?=\S)", re.IGNORECASE)
WRAPPED_CHARS = 40  # characters from which a line may continue in the next
LONGEST_WRAPPED = 2_000  # characters; anything longer is not a sentence
AUTHORITY: dict[Author, int] = {"tool": 0, "assistant": 0, "person": 1, "system": 1}


def authority_of(passage: Passage) -> int:
    """Return 1 for what a person or the system says, else 0."""
    return AUTHORITY[passage.form.speaker.author]


def passages_of(text: str) -> list[Passage]:
    """Split a text into passages as they are written, in order."""
    found: list[Passage] = []
    at = 0
    for turn, (author, start, end) in enumerate(speeches(text, "person")):
        body = text[start:end].lstrip(" \t") if turn else text[start:end]
        opening = text[at : end - len(body)] if turn else ""
        section = found[-1].form.section + 1 if found else 0
        speaker = Speaker(turn=turn, opening=opening, author=author)
        found += read(body, speaker, section)
        at = end
    return found


def read(text: str, speaker: Speaker, section: int) -> list[Passage]:
    """Split one speaker's text into passages."""
    found: list[Passage] = []
    block: list[str] = []
    fenced, gap, before_chars = False, "", 0

    def add(text: str, kind: PassageKind, lead: str = "") -> None:
        found.append(Passage(text, form=Form(kind, lead, gap, speaker, section)))

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
                and found[-1].form.kind in {"sentence", "item"}
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
