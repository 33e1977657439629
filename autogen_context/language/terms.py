"""The search terms of a text: words by their stems, identifiers whole and in parts.

Promise: pure; linear in the length of the text, whatever is in it. What is written in several ways (``userName``,
``user_name``, ``User names``) has terms in common. A stem need not be a word: it is compared with stems, never shown.
"""

import re
from functools import cache, lru_cache
from itertools import chain
from unicodedata import normalize

from autogen_context.language.phrases import listed

WORD_CHARS = 100  # of one word; the rest is not indexed, and nothing longer is remembered
REMEMBERED = 65_536  # words, and as many chunks, whose terms are not looked for again
MOST_PARTS = 8  # what has more is no identifier but data
LEAST_LETTERS = 2  # of a part
LEAST_DIGITS = 3  # of a part
LEAST_STEM = 2  # letters that an ending leaves at least
LEAST_UNDOUBLED = 4  # shorter words keep a double letter at their end: add, egg

LETTER = r"[\w\u0300-\u036f]"  # accents that stand alone belong to the letter before
WORD = re.compile(rf"{LETTER}+(?:[.\-]{LETTER}+)*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
ACCENTS = re.compile(r"[\u0300-\u036f]")
UNSPACED = re.compile(  # no space between words, or particles glued to them: kana, Han, Hangul
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)

# What makes another word of a word, and the letters that must be left before it.
ENDINGS = {"ment": 4, "ness": 4, "ful": 4, "able": 4, "ly": 4, "al": 5, "er": 4, "or": 4} | {
    "sion": 3,
    "tion": 3,
    "ate": 5,
    "at": 5,
}
ANY_ENDING = tuple(ENDINGS)
KEPT_OF_ENDING = {"sion": "s", "tion": "t"}  # version: vers, creation: creat


@cache
def stop_words() -> frozenset[str]:
    """Frequent English words, in questions more than in answers."""
    rows = [row for label, row in listed("terms") if label == "frequent"]
    return frozenset(" ".join(rows).split())


@cache
def irregular() -> dict[str, str]:
    """Forms of English words that no ending tells, and of which word they are."""
    rows = [row.split() for label, row in listed("terms") if label == "forms"]
    return {form: word for word, *forms in rows for form in forms}


def terms(text: str) -> list[str]:
    """The terms of a text, in its order, repeated as in it.

    A word gives its stem; an identifier itself, what stands between its dots and hyphens, and the stems of the parts (at
    ``_``, capitals and longer numbers); Chinese, Japanese and Korean pairs of characters. Frequent English words give
    nothing. Of a word, 100 characters are looked at.
    """
    chunks = text.split()  # quicker than a search for words, and most chunks come again
    if len(max(chunks, key=len, default="")) <= WORD_CHARS:
        return list(chain.from_iterable(map(terms_of_chunk, chunks)))
    found: list[str] = []
    for chunk in chunks:
        if len(chunk) <= WORD_CHARS:
            found += terms_of_chunk(chunk)
            continue
        for match in WORD.finditer(chunk):  # data, or a script that has no spaces
            word = match.group()
            runs = UNSPACED.findall(word) if len(word) > WORD_CHARS else []
            pairs = [pair for run in runs for pair in pairs_of(run)]
            found += pairs or terms_of_word(word[:WORD_CHARS])
    return found


@lru_cache(REMEMBERED)
def terms_of_chunk(chunk: str) -> tuple[str, ...]:
    """The terms of what stands between two spaces, and is no longer than a word may be."""
    return tuple(term for word in WORD.findall(chunk) for term in terms_of_word(word))


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
        return () if lower in stop_words() else (stem(lower),)
    segments = word.replace("-", ".").split(".")
    wholes = [whole.lower() for whole in (word, *segments) if len(whole) >= LEAST_LETTERS]
    parts = [part.lower() for segment in segments for part in PART.findall(segment)]
    least = {True: LEAST_DIGITS, False: LEAST_LETTERS}
    told = [
        part for part in parts if len(part) >= least[part.isdigit()] and part not in stop_words()
    ]
    return tuple(
        dict.fromkeys(wholes + (list(map(stem, told)) if len(parts) <= MOST_PARTS else []))
    )


def pairs_of(run: str) -> list[str]:
    """Each two neighbouring characters; a single one alone."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


def stem(word: str) -> str:
    """What the forms of an English word in lower case share; never longer than the word but for irregular forms.

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
    """Without the s of a plural or of a verb."""
    if len(word) < LEAST_STEM + 1 or word[-1] != "s" or word[-2] in "sui":
        return word
    if len(word) > LEAST_STEM + 2 and word.endswith("ies"):
        return word[:-3] + "y"
    sibilant = len(word) > LEAST_STEM + 2 and word.endswith(("ses", "xes", "zes", "ches", "shes"))
    return word[:-2] if sibilant else word[:-1]


def without_endings(word: str) -> str:
    """Without the endings that make nouns, adjectives and adverbs, one after the other."""
    for ending, least in ENDINGS.items() if word.endswith(ANY_ENDING) else ():
        if word.endswith(ending):
            rest = undoubled(word[: -len(ending)])
            if len(rest) >= least:
                return without_endings(rest + KEPT_OF_ENDING.get(ending, ""))
    return word


def undoubled(word: str) -> str:
    """Without the second of two equal consonants at its end."""
    if len(word) >= LEAST_UNDOUBLED and word[-1] == word[-2] != "e":
        return word[:-1]
    return word
