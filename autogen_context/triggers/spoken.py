"""What an agent says of its work, clause by clause.

Promise: code, quoted text and markup are left out, since nobody says them; each clause is in lower case, with its question mark and
without the interjections in front of it. At most ``HEAD_CHARS`` and ``TAIL_CHARS`` of a text are read: what was done is said
first or last.
"""

import re
from functools import lru_cache

HEAD_CHARS = 1_500
TAIL_CHARS = 500
REMEMBERED = 8
CLAUSE_CHARS = 300  # a longer one is pasted, not said

# Each begins with the signs of which one must come first: what cannot begin there is passed over at once.
_LEFT_OUT = re.compile(
    r"(?=[`\"\u201c'<>*# \t])(?:"
    r"```.*?(?:```|\Z)"  # code
    r"|`[^`\n]{1,200}`|\"[^\"\n]{1,300}\"|\u201c[^\u201d\n]{1,300}\u201d|(?<!\w)'[^'\n]{2,100}'(?!\w)"  # quoted in a line
    r"|^[ \t]*>[^\n]*$"  # quoted lines
    r"|(?P<markup></?\w{1,40}>|\*\*|^#{1,6} ))",
    re.DOTALL | re.MULTILINE,
)
_OPENING = re.compile(
    r"(?=[-*\u2022\dTD])(?:[-*\u2022] |\d{1,3}[.)] |(?:THOUGHT|Thought|DISCUSSION)S?:?\s)+"
)
_BREAK = re.compile(
    r"(?=[\s,])(?:(?<=[.!?;:])\s+|\s*\n\s*|, (?:so|and|but|then)\b|,? (?:so|and|but|then)(?= (?:i|we|now|let|next|the|it|this|that|all)\b)"
    r"|, (?=(?:now|let)\b)| [\u2013\u2014-] )",
    re.IGNORECASE,
)
_INTERJECTED = (
    r"(?:ok|okay|great|perfect|excellent|good|nice|alright|all right|right|well|yes|so|and|but|finally|awesome|wonderful"
    r"|\u2705|\u2713|\u2714\ufe0f?|\U0001f389|fantastic|indeed|hooray|sure|also|of course|as expected)(?:[,!.: ]+|\Z)"
)
_INTERJECTION = re.compile(rf"{_INTERJECTED}(?:{_INTERJECTED})*")


def clauses_of(text: str) -> tuple[str, ...]:
    """The clauses of a text, in order."""
    return clauses_of_part(read_part(text))


@lru_cache(REMEMBERED)
def clauses_of_part(part: str) -> tuple[str, ...]:
    """The clauses of what is read of a text; each trigger asks for those of the same turn."""
    said = _LEFT_OUT.sub(stand_in, part.replace("\u2019", "'"))
    lines = "\n".join(map(without_opening, said.split("\n")))
    return tuple(
        without_interjections(clause.lower())
        for clause in map(str.strip, _BREAK.split(lines))
        if clause and len(clause) <= CLAUSE_CHARS
    )


def stand_in(left_out: re.Match[str]) -> str:
    """What stands where something was left out: nothing for markup, a sign for what was quoted."""
    return " " if left_out["markup"] else " _ "


def without_opening(line: str) -> str:
    """A line without the signs of a list in front of it."""
    bare = line.lstrip()
    opening = _OPENING.match(bare)
    return bare[opening.end() :] if opening else line


def without_interjections(clause: str) -> str:
    """A clause without the interjections in front of it."""
    interjections = _INTERJECTION.match(clause)
    return clause[interjections.end() :] if interjections else clause


def read_part(text: str) -> str:
    """What of a text is read: its beginning and its end."""
    if len(text) <= HEAD_CHARS + TAIL_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}\n{text[-TAIL_CHARS:]}"
