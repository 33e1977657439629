"""The search terms of a text: stems of words, identifiers whole and in parts.

Promise: pure, and linear in the length of the text. Different spellings (``userName``, ``user_name``, ``User names``) share
terms. Stems are only compared, never shown.
"""

import re
from functools import cache
from itertools import chain
from unicodedata import normalize

from autogen_context.language.phrases import listed
from autogen_context.text.memo import remembered, with_memo

WORD_CHARS = 100  # indexed of one word; longer ones are not cached
REMEMBERED = 20_000  # words of one conversation, and as many chunks
MOST_PARTS = 8  # with more parts it is data, no identifier
LEAST_LETTERS = 2  # of an indexed part
LEAST_DIGITS = 3  # of an indexed number within a word; one that stands alone is indexed anyhow
LEAST_STEM = 2  # letters left when an ending is removed
LEAST_UNDOUBLED = 4  # shorter words keep a final double letter: add, egg

LETTER = r"[\w\u0300-\u036f]"  # combining accents belong to the letter before
WORD = re.compile(rf"{LETTER}+(?:[.\-]{LETTER}+)*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
ACCENTS = re.compile(r"[\u0300-\u036f]")
UNSPACED = re.compile(  # scripts without spaces between words, or with attached particles: kana, Han, Hangul
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

# Derivational endings, and the letters that must be left before them.
FOUR_LEFT = dict.fromkeys(("ment", "ness", "ful", "able", "ly", "er", "or"), 4)
ENDINGS = {**FOUR_LEFT, "al": 5, "sion": 3, "tion": 3, "ate": 5, "at": 5}
ANY_ENDING = tuple(ENDINGS)
KEPT_OF_ENDING = {"sion": "s", "tion": "t"}  # version: vers, creation: creat


@cache
def stop_words() -> frozenset[str]:
    """Return frequent English words, which are not indexed."""
    rows = [row for label, row in listed("terms") if label == "frequent"]
    return frozenset(" ".join(rows).split())


@cache
def irregular() -> dict[str, str]:
    """Return irregular English forms and their base words."""
    rows = [row.split() for label, row in listed("terms") if label == "forms"]
    return {form: word for word, *forms in rows for form in forms}


@with_memo
def terms(text: str) -> list[str]:
    """Return the terms of a text in order, with repetitions.

    A word gives its stem; an identifier gives itself, its segments at dots and hyphens, and the stems of their parts (at
    ``_``, capitals and longer numbers); a number gives itself; Chinese, Japanese and Korean give pairs of characters. Frequent English words give
    nothing. Only the first 100 characters of a word count.
    """
    chunks = text.split()  # faster than searching words, and most chunks are cached
    if len(max(chunks, key=len, default="")) <= WORD_CHARS:
        return list(chain.from_iterable(map(terms_of_chunk, chunks)))
    found: list[str] = []
    for chunk in chunks:
        if len(chunk) <= WORD_CHARS:
            found += terms_of_chunk(chunk)
            continue
        for match in WORD.finditer(chunk):  # data, or a script without spaces
            word = match.group()
            runs = UNSPACED.findall(word) if len(word) > WORD_CHARS else []
            pairs = [pair for run in runs for pair in pairs_of(run)]
            found += pairs or terms_of_word(word[:WORD_CHARS])
    return found


@remembered(REMEMBERED)
def terms_of_chunk(chunk: str) -> tuple[str, ...]:
    """Return the terms of a chunk between spaces; cached."""
    return tuple(term for word in WORD.findall(chunk) for term in terms_of_word(word))


@remembered(REMEMBERED)
def terms_of_word(word: str) -> tuple[str, ...]:
    """Return the terms of one word; none for a stop word."""
    if word.isascii():
        return terms_of_spaced(word)
    folded = normalize("NFC", ACCENTS.sub("", normalize("NFKD", word)))
    pairs = [pair for run in UNSPACED.findall(folded) for pair in pairs_of(run)]
    rests = UNSPACED.sub(" ", folded).split()
    return (*pairs, *(term for rest in rests for term in terms_of_spaced(rest)))


def terms_of_spaced(word: str) -> tuple[str, ...]:
    """Return the stem of a plain word, or an identifier with its segments and parts."""
    if word.isalpha() and (word[1:].islower() or word.isupper() or len(word) == 1):
        lower = word.lower()
        return () if lower in stop_words() else (stem(lower),)
    if word.isdigit():
        return (word,)
    segments = word.replace("-", ".").split(".")
    wholes = [whole.lower() for whole in (word, *segments) if len(whole) >= LEAST_LETTERS]
    parts = [part.lower() for segment in segments for part in PART.findall(segment)]
    least = {True: LEAST_DIGITS, False: LEAST_LETTERS}
    if len(parts) <= MOST_PARTS:
        wanted = (part for part in parts if len(part) >= least[part.isdigit()])
        wholes += [stem(part) for part in wanted if part not in stop_words()]
    return tuple(dict.fromkeys(wholes))


def pairs_of(run: str) -> list[str]:
    """Return all pairs of neighbouring characters; a single character is returned alone."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


def stem(word: str) -> str:
    """Return the stem of an English word in lower case; never longer than the word, except for irregular forms.

    Source:
        The first steps of Porter (1980), with fewer endings and a table of irregular forms;
        docs/decisions/0007-relevance.md.
    """
    one = singular(word)
    word = irregular().get(one, one)
    if word.endswith("ied") and len(word) > LEAST_STEM + 2:
        word = word[:-3] + "y"
    elif not word.endswith("eed"):  # without ing or ed, where a syllable is left
        rest = word[:-3] if word.endswith("ing") else word.removesuffix("ed")
        word = rest if len(rest) >= LEAST_STEM and not set("aeiouy").isdisjoint(rest) else word
    word = without_endings(word)
    word = word[:-1] if len(word) > LEAST_STEM and word[-1] == "e" else word
    return word[:-1] + "i" if len(word) > LEAST_STEM and word[-1] == "y" else undoubled(word)


def singular(word: str) -> str:
    """Remove the s of a plural or a verb."""
    if len(word) < LEAST_STEM + 1 or word[-1] != "s" or word[-2] in "sui":
        return word
    if len(word) > LEAST_STEM + 2 and word.endswith("ies"):
        return word[:-3] + "y"
    sibilant = len(word) > LEAST_STEM + 2 and word.endswith(("ses", "xes", "zes", "ches", "shes"))
    return word[:-2] if sibilant else word[:-1]


def without_endings(word: str) -> str:
    """Remove derivational endings, one after the other."""
    for ending, least in ENDINGS.items() if word.endswith(ANY_ENDING) else ():
        if word.endswith(ending):
            rest = undoubled(word[: -len(ending)])
            if len(rest) >= least:
                return without_endings(rest + KEPT_OF_ENDING.get(ending, ""))
    return word


def undoubled(word: str) -> str:
    """Remove the second of two equal final letters."""
    if len(word) >= LEAST_UNDOUBLED and word[-1] == word[-2] != "e":
        return word[:-1]
    return word
