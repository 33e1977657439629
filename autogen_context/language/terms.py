"""The search terms of a text: words by their stems, identifiers whole and in parts.

Promise: pure; linear in the length of the text, whatever is in it. What is written in several ways (``userName``,
``user_name``, ``User names``) has terms in common.
"""

import re
from functools import lru_cache
from unicodedata import normalize

from autogen_context.language.stems import stem

WORD_CHARS = 100  # of one word; the rest is not indexed, and nothing longer is remembered
REMEMBERED = 65_536  # words, and as many chunks, whose terms are not looked for again
MOST_PARTS = 8  # what has more is no identifier but data
LEAST_LETTERS = 2  # of a part
LEAST_DIGITS = 3  # of a part

LETTER = r"[\w\u0300-\u036f]"  # accents that stand alone belong to the letter before
WORD = re.compile(rf"{LETTER}+(?:[.\-]{LETTER}+)*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
ACCENTS = re.compile(r"[\u0300-\u036f]")
UNSPACED = re.compile(  # no space between words, or particles glued to them: kana, Han, Hangul
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

FREQUENT = """
a about after all also am an and any are as at be been before being but by can could did do does doing done for from had
has have having he her here hers him his how i if in into is it its just kind kinds me more most my no not of on only or
other our ours over shall she should so some such than that the their theirs them then there these they this those to too
us very was we were what when where which who whom whose why will with would you your yours
s t d m re ve ll don didn doesn isn wasn aren weren hasn haven hadn won wouldn couldn shouldn ain
"""  # in questions more than in answers; the last row is left of don't and the like
STOP_WORDS = frozenset(FREQUENT.split())


def terms(text: str) -> list[str]:
    """The terms of a text, in its order, repeated as in it.

    Args:
        text: any text; prose, code and logs alike.

    Returns:
        Lower-case terms. A word gives its stem; an identifier itself, what stands between its dots and hyphens, and the
        stems of the parts (at ``_``, capitals and longer numbers); Chinese, Japanese and Korean pairs of characters.
        Frequent English words give nothing. Of a word, 100 characters are looked at.
    """
    found: list[str] = []
    for chunk in text.split():  # quicker than a search for words, and most chunks come again
        found += terms_of_chunk(chunk) if len(chunk) <= WORD_CHARS else terms_of_long(chunk)
    return found


@lru_cache(REMEMBERED)
def terms_of_chunk(chunk: str) -> tuple[str, ...]:
    """The terms of what stands between two spaces, and is no longer than a word may be."""
    return tuple(term for word in WORD.findall(chunk) for term in terms_of_word(word))


def terms_of_long(chunk: str) -> list[str]:
    """The terms of a long stretch without spaces: data, or a script that has none."""
    found: list[str] = []
    for match in WORD.finditer(chunk):
        word = match.group()
        found += terms_of_word(word) if len(word) <= WORD_CHARS else terms_of_long_word(word)
    return found


def terms_of_long_word(word: str) -> tuple[str, ...]:
    """All pairs where there are no spaces to be had, else the terms of the beginning."""
    runs = UNSPACED.findall(word)
    return tuple(pair for run in runs for pair in pairs_of(run)) or terms_of_word(word[:WORD_CHARS])


@lru_cache(REMEMBERED)
def terms_of_word(word: str) -> tuple[str, ...]:
    """The terms of one word; none for a stop word."""
    if word.isascii():
        return terms_of_spaced(word)
    folded = normalize("NFC", ACCENTS.sub("", normalize("NFKD", word)))
    pairs = [pair for run in UNSPACED.findall(folded) for pair in pairs_of(run)]
    rests = UNSPACED.sub(" ", folded).split()
    return (*pairs, *(term for rest in rests for term in terms_of_spaced(rest)))


def terms_of_spaced(word: str) -> tuple[str, ...]:
    """A plain word's stem, nothing for a stop word; of an identifier itself, its segments, and their parts."""
    if word.isalpha() and (word[1:].islower() or word.isupper() or len(word) == 1):
        lower = word.lower()
        return () if lower in STOP_WORDS else (stem(lower),)
    segments = word.replace("-", ".").split(".")
    wholes = [whole.lower() for whole in (word, *segments) if len(whole) >= LEAST_LETTERS]
    parts = [part for segment in segments for part in PART.findall(segment)]
    return tuple(dict.fromkeys(wholes + stems_of(parts)))


def stems_of(parts: list[str]) -> list[str]:
    """The stems of what an identifier is made of; none where that is too much for one."""
    if len(parts) > MOST_PARTS:
        return []
    lower = [
        part.lower()
        for part in parts
        if len(part) >= (LEAST_DIGITS if part.isdigit() else LEAST_LETTERS)
    ]
    return [stem(part) for part in lower if part not in STOP_WORDS]


def pairs_of(run: str) -> list[str]:
    """Each two neighbouring characters; a single one alone."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]
