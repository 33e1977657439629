"""What people say, from one file a language, and the one matcher that finds it.

Each ``*.toml`` of this package is a language; its tables are topics, their keys labels, their values phrases. The table
``[words]`` names what phrases of the same file share: ``{person}`` stands for ``(...)`` of it. A language is added by
adding a file. A phrase is written as people say it:

- ``do you remember``: these words in this order, within one sentence;
- ``(i|we) said``: one of several; ``(please)? list``: this or nothing;
- ``what ... say``: up to four words between; ``remind*``: any ending of the word;
- ``^recall``: at the start of a sentence or of a line, or behind ``:`` or ``;``.

Promise: whole words are compared, never parts of words, in any case and either form of an accent. Time is in proportion
to the words of the text, whatever stands in it. A word ends at an apostrophe that elides (``l'`` and ``accord``) or joins
(``we`` and ``'ve``); ``don't`` is one word. Where a script writes no spaces, each character is a word.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple
from unicodedata import normalize

from pydantic import TypeAdapter

__all__ = ["Found", "PhraseMatcher", "phrases"]

Tables = dict[str, dict[str, list[str]]]
WORDS = "words"
SHARED: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
TOPICS: TypeAdapter[Tables] = TypeAdapter(Tables)
NAME = re.compile(r"\{([^{}]*)\}")
GAP_WORDS = 4  # that may stand where a phrase says "..."
MOST_KNOWN = 20_000  # states, and words
LONGEST_KNOWN = 40  # characters of a word that is remembered
UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # Thai and Lao, kana, Han
LETTER = rf"[^\W{UNSPACED}]"
LETTERS = rf"{LETTER}++(?:[\u0300-\u036f]++{LETTER}*+)*+"  # with accents that stand alone
APOSTROPHE = "['\u2019\u02bc\uff07]"
JOINED = rf"(?:s|d|m|ve|ll|re)(?!{LETTER})"
TOKEN = re.compile(
    rf"(?P<word>{LETTERS}(?:(?<={LETTER}n|[\u0300-\u036f]n){APOSTROPHE}t(?!{LETTER})"  # don't
    rf"|{APOSTROPHE}(?!{JOINED})(?={LETTER}))?"  # l' of l'accord
    rf"|{APOSTROPHE}{JOINED}"  # 've of we've
    rf"|[{UNSPACED}])"
    r"|(?P<end>[.!?\u2026]+(?=[\s\"')\]\u201d\u00bb]|$)|[\u3002\uff01\uff1f]|\n[ \t\r]*\n)"
    r"|(?P<line>[\n:;])",
    re.IGNORECASE,
)
PART = re.compile(r"\s*(?:(?P<sign>[()|?])|(?P<gap>\.\.\.)|(?P<words>[^\s()|?]+))")
STRAIGHT = str.maketrans(dict.fromkeys("\u2019\u02bc\uff07", "'"))


@cache
def phrases(topic: str) -> "PhraseMatcher":
    """What finds the phrases of a topic, in all languages of the package at once."""
    return PhraseMatcher(listed(topic))


def listed(topic: str) -> list[tuple[str, str]]:
    """The phrases of a topic, each behind its label."""
    tables = [table[topic] for table in package_tables() if topic in table]
    if not tables:
        raise KeyError(topic)
    return [(label, phrase) for table in tables for label, row in table.items() for phrase in row]


@cache
def package_tables() -> list[Tables]:
    """The tables of the languages of the package, read at first use."""
    found = files("autogen_context.language").iterdir()
    languages = {file.name: file for file in found if file.name.endswith(".toml")}
    return [tables_of(languages[name]) for name in sorted(languages)]


def tables_of(file: Traversable) -> Tables:
    """The tables of a file by topic and label, with what ``[words]`` names in place."""
    words: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        if found[1] not in words:
            raise ValueError(f"a phrase names {found[0]}, which [{WORDS}] does not have above")
        return f"({words[found[1]]})"

    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
        for name, named_words in SHARED.validate_python(read.pop(WORDS, {})).items():
            words[name] = NAME.sub(named, named_words)
        return {
            topic: {label: [NAME.sub(named, each) for each in row] for label, row in table.items()}
            for topic, table in TOPICS.validate_python(read).items()
        }
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}") from error


class Found(NamedTuple):
    """A phrase that stands in a text."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Part of a phrase: one of several rows, or none where it is optional."""

    rows: tuple["Items", ...]
    optional: bool = False


Items = tuple["Group | str | int", ...]  # of a phrase: groups, words, gaps of at most so many words
Place = tuple[str, Items]  # a label, and what remains of a phrase that is listed under it


def next_words(items: Items) -> Iterator[tuple[str | None, Items]]:
    """What may come next and what remains behind it: a word, ``None`` for any word, "" where nothing needs to come."""
    if not items:
        yield "", ()
        return
    head, rest = items[0], items[1:]
    if isinstance(head, Group):
        for row in head.rows:
            yield from next_words((*row, *rest))
        if head.optional:
            yield from next_words(rest)
    elif isinstance(head, int):
        yield from next_words(rest)
        if head:
            yield None, (head - 1, *rest)
    else:
        yield head, rest


class State(dict[tuple[str, ...], "State | None"]):
    """The places within phrases that some words may have led to, and behind each next word, given as what it is listed as, others.

    These are worked out when they are first met; ``None`` where no phrase goes on. ``known`` has the states that were met, of
    which each is made once; ``labels`` are of the phrases that are complete here.
    """

    def __init__(self, places: Iterable[Place], known: "dict[frozenset[Place], State]") -> None:
        super().__init__()
        self._known = known
        self._by_word: defaultdict[str | None, set[Place]] = defaultdict(set)
        for label, items in places:
            for word, rest in next_words(items):
                self._by_word[word].add((label, rest))
        self.labels = [label for label, _ in self._by_word.pop("", ())]

    def __missing__(self, keys: tuple[str, ...]) -> "State | None":
        """The places behind a word that was not met here before."""
        met = [self._by_word[key] for key in (None, *keys) if key in self._by_word]
        places = frozenset[Place]().union(*met)
        following = None
        if places:
            following = self._known.get(places) or State(places, self._known)
        if len(self._known) < MOST_KNOWN:
            if following is not None:
                self._known[places] = following
            self[keys] = following
        return following


class PhraseMatcher:
    """Looks for the phrases of one topic."""

    def __init__(self, phrases: Iterable[tuple[str, str]]) -> None:
        self._words: set[str] = set()
        everywhere: list[Place] = []
        opening: list[Place] = []
        for label, phrase in phrases:
            items = parsed(phrase, self._words)
            (opening if phrase.lstrip().startswith("^") else everywhere).append((label, items))
        known: dict[frozenset[Place], State] = {}
        self._first = (State(everywhere, known), State([*everywhere, *opening], known))
        self._keys = lru_cache(MOST_KNOWN)(self._keys_of)
        self._beginnings = sorted({len(word) - 1 for word in self._words if word.endswith("*")})
        self._may_begin = lru_cache(MOST_KNOWN)(self._has_beginning)

    def find(self, text: str) -> list[Found]:
        """The phrases in a text, in its order.

        Of one label nothing overlaps: the first counts, and of those that begin at the same word the longest. Phrases of
        different labels may overlap.
        """
        if not any(map(self._may_begin, text.split())):  # much quicker, since most words come again
            return []
        stops: dict[tuple[str, int], int] = {}
        active: list[tuple[int, State]] = []  # where phrases begin, and how far they are
        opens = True
        for token in TOKEN.finditer(text):
            word: str | None = token[1]
            if word is None:
                opens = True
                if token.lastgroup == "end":
                    active = []
                continue
            keys = self._keys(word) if len(word) <= LONGEST_KNOWN else self._keys_of(word)
            first, opens = self._first[opens], False
            if not (keys or active):
                continue
            reached = [(start, state[keys]) for start, state in active]
            if keys:
                reached.append((token.start(), first[keys]))
            active = [(start, state) for start, state in reached if state is not None]
            for start, state in active:
                for label in state.labels:
                    stops[label, start] = token.end()
        ends: dict[str, int] = {}
        found: list[Found] = []
        for (label, start), stop in sorted(stops.items(), key=lambda each: (each[0][1], -each[1])):
            if start >= ends.get(label, 0):
                ends[label] = stop
                found.append(Found(label, start, stop))
        return found

    def labels(self, text: str) -> frozenset[str]:
        """The labels of the phrases in a text."""
        return frozenset(found.label for found in self.find(text))

    def _has_beginning(self, chunk: str) -> bool:
        """Whether a phrase may begin in what stands between two spaces."""
        if len(chunk) > LONGEST_KNOWN:
            return True
        listed = (self._keys(token[1]) for token in TOKEN.finditer(chunk) if token[1])
        return any(self._first[True][keys] is not None for keys in listed if keys)

    def _keys_of(self, word: str) -> tuple[str, ...]:
        """What a word is listed as: itself, or a beginning of it with any ending."""
        folded = fold(word)
        known, size = self._words, len(folded)
        whole = (folded,) if folded in known else ()
        return (
            *whole,
            *(key for n in self._beginnings if n <= size and (key := f"{folded[:n]}*") in known),
        )


def fold(word: str) -> str:
    """A word as words are compared: one case, composed accents, plain apostrophes."""
    if word.isascii():
        return word.lower()
    return normalize("NFC", normalize("NFC", word).casefold()).translate(STRAIGHT)


def parsed(phrase: str, known: set[str]) -> Items:
    """What a phrase is made of; its words are added to those that are known."""
    parts = PART.finditer(phrase.strip().removeprefix("^").rstrip())
    try:
        items: Items = (group_of(parts, known),)
        first = {word for word, _ in next_words(items)}
    except RecursionError:
        raise ValueError(f"phrase {phrase[:80]!r} has too many groups in one another") from None
    except ValueError as error:
        raise ValueError(f"phrase {phrase!r} {error}") from None
    if next(parts, None) is not None or phrase.count("(") != phrase.count(")"):
        raise ValueError(f"phrase {phrase!r} has a bracket without its other one")
    if "" in first:
        raise ValueError(f"phrase {phrase!r} may be found where no word is: require one")
    if None in first:
        raise ValueError(f'phrase {phrase!r} begins with "...": name the first word')
    return items


def group_of(parts: Iterator[re.Match[str]], known: set[str]) -> Group:
    """The group up to its end."""
    rows: list[list[Group | str | int]] = [[]]
    for part in parts:
        row, text = rows[-1], part[part.lastgroup or 0]
        if text == ")":
            break
        if text == "|":
            rows.append([])
        elif text == "(":
            row.append(group_of(parts, known))
        elif text == "?":
            if not row or not isinstance(row[-1], Group):
                raise ValueError('has a "?" that does not stand behind ")"')
            row[-1] = Group(row[-1].rows, optional=True)
        elif text == "...":
            row.append(GAP_WORDS)
        else:
            words = [fold(each.group()) for each in TOKEN.finditer(text) if each["word"]]
            if not words or "*" in text[:-1]:
                raise ValueError(f"has {text!r}, which is no word")
            if text.endswith(("*", "'")):  # any ending, or an elision
                words[-1] += text[-1]
            known.update(words)
            row += words
    if not all(rows):
        raise ValueError("has a choice without words")
    if any(row[-1] == GAP_WORDS for row in rows):
        raise ValueError('ends with "...": name the last word')
    return Group(tuple(map(tuple, rows)))
