"""Names in texts: those of a query, and where one stands.

Promise: a name is one of the words of a text, or two or three in a row; it stands only where none of them is part of another.
Names are in lower case.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from autogen_context.messages.identifiers import MOST, RUN, is_telling, values_in

NAME_WORDS = 3  # the most words that a name has
SCANNED_WORDS = 400  # of a query, for names
REMEMBERED = 20_000  # short runs of letters: a conversation names the same things again and again
JOINT = r"[./:@#'-]"  # within a word
WORD = re.compile(rf"\w+(?:{JOINT}\w+)*")
BEFORE = re.compile(rf"\w{JOINT}?\Z")  # what is part of the same word
GAP = re.compile(r"(?:'s)?\W+")
ENDED = re.compile(rf"(?:'s)?(?!\w|{JOINT}\w)")

NO_NAMES: frozenset[str] = frozenset()


def words_asked(query: str) -> list[str]:
    """The words of a query of which names can be made, in their order."""
    found = islice(WORD.finditer(query), SCANNED_WORDS)
    return [match.group().lower().removesuffix("'s") for match in found]


def names_asked(query: str) -> Iterator[str]:
    """Each word of a query, and each two and three in a row."""
    words = words_asked(query)
    for at in range(len(words)):
        for stop in range(at + 1, min(at + NAME_WORDS, len(words)) + 1):
            yield " ".join(words[at:stop])


def names_told(text: str) -> frozenset[str]:
    """What a text names that one can ask for; each is a single word."""
    runs = set(RUN.findall(text))
    return NO_NAMES.union(
        *[known_names(run) if len(run) <= MOST else names_in(run) for run in runs]
    )


def names_in(run: str) -> tuple[str, ...]:
    """What a text without spaces names."""
    return tuple(value.lower() for value in values_in(run) if is_telling(value))


known_names = lru_cache(maxsize=REMEMBERED)(names_in)


def stands_in(text: str, name: str) -> bool:
    """Whether a lower-case text has a name: the same words, next to each other, none part of another."""
    first, *rest = name.split()
    return all(word in text for word in rest) and any(
        not BEFORE.search(text, max(0, at - 2), at) and is_all(text, at + len(first), rest)
        for at in places_of(text, first)
    )


def places_of(text: str, word: str) -> Iterator[int]:
    """Where a word stands in a text, as a part of another as well."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def is_all(text: str, end: int, rest: Sequence[str]) -> bool:
    """Whether the rest of a name's words stand behind the first, and the last of them ends there."""
    for word in rest:
        gap = GAP.match(text, end)
        if gap is None or not text.startswith(word, gap.end()):
            return False
        end = gap.end() + len(word)
    return ENDED.match(text, end) is not None
