"""The phrases of the table, ready to be looked for, and which of them may stand in a sentence.

Promise: one look at the words of a sentence tells which of all phrases need to be looked for at all.
"""

from collections.abc import Iterable
from functools import lru_cache

from autogen_context.ledger import english_cues
from autogen_context.ledger.cue import Cue, Sieve


def cue(name: str) -> Cue:
    """A pattern of the table with its words."""
    words, first = english_cues.WORDS.get(name, ""), english_cues.FIRST.get(name, "")
    return Cue(getattr(english_cues, name), words, first=first)


def cues(rows: Iterable[tuple[str, str, str]]) -> frozenset[Cue]:
    """The rows of a table, of which one says what the table is for."""
    return frozenset(Cue(pattern, words, first=first) for pattern, words, first in rows)


FORBIDS, OBLIGES = cues(english_cues.FORBIDS), cues(english_cues.OBLIGES)
RISKS, TRAITS = cue("RISKS"), cue("TRAITS")
CONDITIONAL, THEN, TOLD, UNSURE = cue("CONDITIONAL"), cue("THEN"), cue("TOLD"), cue("UNSURE")
WISHES, WISHED_WAY, FOR_ME = cue("WISHES"), cue("WISHED_WAY"), cue("FOR_ME")
DECIDES, AIMS, AIMS_WITH_VALUE = cue("DECIDES"), cue("AIMS"), cue("AIMS_WITH_VALUE")
TASKS, DEADLINES, MARKS = cue("TASKS"), cue("DEADLINES"), cue("MARKS")
REVISES, MAY_REVISE = cue("REVISES"), cue("MAY_REVISE")
CHATTER, BUSY, FORMER, VAGUE = cue("CHATTER"), cue("BUSY"), cue("FORMER"), cue("VAGUE")
FORGETS, ENDS, CORRECTED = cue("FORGETS"), cue("ENDS"), cue("CORRECTED")
WITHOUT_OBJECT, POINTS = cue("WITHOUT_OBJECT"), cue("POINTS")
SIEVE_CUES = (
    *FORBIDS, *OBLIGES, TRAITS, CONDITIONAL, TOLD, UNSURE, WISHES, WISHED_WAY, FOR_ME, DECIDES, AIMS, AIMS_WITH_VALUE, TASKS,
    CHATTER, FORMER, VAGUE, FORGETS, ENDS, CORRECTED, WITHOUT_OBJECT, POINTS,
)  # fmt: skip
SIEVE = Sieve(*SIEVE_CUES)


def says(rows: frozenset[Cue], sentence: str) -> bool:
    """Whether a sentence is of one of some rows."""
    return any(cue.search(sentence) for cue in rows & possible(sentence))


@lru_cache(4_096)
def possible(sentence: str) -> frozenset[Cue]:
    """Those that may match a sentence; what is not of the sieve is never among them."""
    return SIEVE.through(sentence)
