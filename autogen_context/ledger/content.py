"""The words of a text that say what it is about.

Promise: pure; values and words that say nothing are left out, words that mean the same give the same.
"""

import re
from functools import lru_cache

from autogen_context.language.stems import stem
from autogen_context.ledger.cue import words
from autogen_context.ledger.english import PASSED_OVER, SAME_WORDS
from autogen_context.ledger.values import values

NOTHING: frozenset[str] = frozenset()
PASSED = words(PASSED_OVER)
WORD = re.compile(r"[A-Za-z\u00c0-\u024f][\w'-]*")
SAME = {
    stem(word): stem(row.split()[0])
    for row in SAME_WORDS.strip().splitlines()
    for word in row.split()
}
COMPOUND = re.compile(
    r"\b(head|code|time|on|check|dead) (count|name|zone|call|list|line)\b", re.IGNORECASE
)
COMPOUNDING = (" count", " name", " zone", " call", " list", " line")
PREPOSITION = re.compile(
    r"\b(?:of|for|in|on|at|to|from|with|by|about|per|during|before|after|under|behind|into)\b",
    re.IGNORECASE,
)


@lru_cache(4_096)
def terms_of(text: str) -> frozenset[str]:
    """Stems of the words that say what a text is about, values left out."""
    return NOTHING.union(*map(stems_of, WORD.findall(compounded(without_values(text)))))


def compounded(text: str) -> str:
    """The text with words as one that mean one thing together."""
    return COMPOUND.sub(r"\1\2", text) if any(map(text.__contains__, COMPOUNDING)) else text


@lru_cache(4_096)
def without_values(text: str) -> str:
    """The text with a space for each value."""
    kept: list[str] = []
    at = 0
    for value in values(text):
        kept.append(text[at : value.start])
        at = value.end
    return " ".join([*kept, text[at:]])


@lru_cache(8_192)
def stems_of(word: str) -> tuple[str, ...]:
    """What a word is compared by; nothing for words that say nothing."""
    lower = word.lower().removesuffix("'s").strip("'-")
    if lower in PASSED or len(lower) < 2:  # noqa: PLR2004 - letters that stand alone name nothing
        return ()
    if lower in SAME or "-" not in lower:
        one = SAME.get(lower) or SAME.get(stem(lower), stem(lower))
        return (one,)
    return tuple(term for part in lower.split("-") for term in stems_of(part))


def noun_of(phrase: str) -> str:
    """The noun of a phrase: the last word before what belongs to it."""
    before = PREPOSITION.split(compounded(without_values(phrase)), maxsplit=1)[0]
    words = [term for word in WORD.findall(before) for term in stems_of(word)]
    return words[-1] if words else ""
