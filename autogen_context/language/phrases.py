"""Phrases by topic, from one file per language, and the matcher that finds them in texts.

Each ``*.toml`` of this package is a language; its tables are topics, their keys labels, their values phrases. The table
``[words]`` defines names for use in phrases of the same file: ``{person}`` expands to its value in brackets. To add a
language, add a file. Phrase syntax:

- ``do you remember``: these words in this order, within one sentence;
- ``(i|we) said``: one of several; ``(please)? list``: this or nothing;
- ``what ... say``: up to four words between; ``remind*``: any ending of the word;
- ``^recall``: at the start of a sentence or of a line, or after ``:`` or ``;``.

Promise: only whole words match, regardless of case and Unicode form of accents. Matching time is linear in the number of
words, for any text. Elisions and contractions are split at the apostrophe (``l'`` and ``accord``, ``we`` and ``'ve``);
``don't`` is one word. In scripts without spaces, each character is a word.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from typing import NamedTuple
from unicodedata import normalize

from pydantic import TypeAdapter

from autogen_context.language.linear import model
from autogen_context.text.memo import remembering

Tables = dict[str, dict[str, list[str]]]
WORDS = "words"
SHARED: TypeAdapter[dict[str, str]] = TypeAdapter(dict[str, str])
TOPICS: TypeAdapter[Tables] = TypeAdapter(Tables)
NAME = re.compile(r"\{([^{}]*)\}")
GAP_WORDS = 4  # maximum number of words matched by "..."
MOST_KNOWN = 20_000  # states, and words of one conversation
LONGEST_KNOWN = 40  # characters of a cached word
UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # Thai and Lao, kana, Han
LETTER = rf"[^\W{UNSPACED}]"
LETTERS = rf"{LETTER}++(?:[\u0300-\u036f]++{LETTER}*+)*+"  # with combining accents
LEARNED = "people", "kinds", "gate", "goal"  # models of the package
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
    """Return the matcher for the phrases of a topic, in all languages of the package."""
    return PhraseMatcher(listed(topic))


def listed(topic: str) -> list[tuple[str, str]]:
    """Return the phrases of a topic as (label, phrase)."""
    tables = [table[topic] for table in package_tables() if topic in table]
    if not tables:
        raise KeyError(topic)
    return [(label, phrase) for table in tables for label, row in table.items() for phrase in row]


def load_languages() -> None:
    """Build the matchers of all topics and read what is learned: 80 ms of work, so that a thread has it done before a turn needs them."""
    for topic in dict.fromkeys(chain.from_iterable(package_tables())):
        phrases(topic)
    for name in LEARNED:
        model(name)


@cache
def package_tables() -> list[Tables]:
    """Read the tables of all languages of the package, on first use."""
    found = files("autogen_context.language").iterdir()
    languages = {file.name: file for file in found if file.name.endswith(".toml")}
    return [tables_of(languages[name]) for name in sorted(languages)]


def tables_of(file: Traversable) -> Tables:
    """Read the tables of a file by topic and label, with the names of ``[words]`` expanded."""
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


class PhraseMatch(NamedTuple):
    """A match of a phrase in a text."""

    label: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Part of a phrase: one of several alternatives, or nothing if it is optional."""

    rows: tuple["Items", ...]
    optional: bool = False


Items = tuple["Group | str | int", ...]  # groups, words, and gaps by their most words
Place = tuple[str, Items]  # a label, and the remainder of one of its phrases
Step = tuple[str | None, Place]  # a next word as of ``next_words``, and what remains after it


def next_words(items: Items) -> Iterator[tuple[str | None, Items]]:
    """Yield each possible next word with the remaining items: ``None`` for any word, "" if the phrase is complete."""
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


def steps_of(places: Iterable[Place]) -> Iterator[Step]:
    """Yield the next words of phrases, each with what remains after it."""
    return ((word, (label, rest)) for label, items in places for word, rest in next_words(items))


class MatcherState(dict[tuple[str, ...], "MatcherState | None"]):
    """A state of the matching automaton: positions within phrases, and the next state for each word's keys.

    Next states are built on first use; ``None`` means that no phrase continues. ``known`` holds all states built so far, for
    reuse; ``labels`` are those of the phrases that end in this state.
    """

    def __init__(
        self, steps: Iterable[Step], known: "dict[frozenset[Place], MatcherState]"
    ) -> None:
        super().__init__()
        self._known = known
        by_word: defaultdict[str | None, list[Place]] = defaultdict(list)
        for word, place in steps:
            by_word[word].append(place)
        self.labels = sorted({label for label, _ in by_word.pop("", ())})
        self._by_word = {word: tuple(places) for word, places in by_word.items()}

    def __missing__(self, keys: tuple[str, ...]) -> "MatcherState | None":
        """Build the next state for a word that is new in this state."""
        met = [self._by_word[key] for key in (None, *keys) if key in self._by_word]
        places = frozenset[Place]().union(*met)
        following = None
        if places:
            following = self._known.get(places) or MatcherState(steps_of(places), self._known)
        if len(self._known) < MOST_KNOWN:
            if following is not None:
                self._known[places] = following
            self[keys] = following
        return following


ChunkWord = tuple[int, int, tuple[str, ...] | None]
"""Start, end and keys of a word; without keys what ends a clause (0, 0), or a sentence (0, 1)."""


class PhraseMatcher:
    """Finds the phrases of one topic in texts."""

    def __init__(self, phrases: Iterable[tuple[str, str]]) -> None:
        self._words: set[str] = set()
        everywhere: list[Step] = []
        opening: list[Step] = []
        for label, phrase in phrases:
            steps = parsed(label, phrase, self._words)
            (opening if phrase.lstrip().startswith("^") else everywhere).extend(steps)
        known: dict[frozenset[Place], MatcherState] = {}
        self._first = (
            MatcherState(everywhere, known),
            MatcherState([*everywhere, *opening], known),
        )
        self._beginnings = sorted({len(word) - 1 for word in self._words if word.endswith("*")})

    def find(self, text: str) -> list[PhraseMatch]:
        """Return the phrases found in a text, in text order.

        Matches of one label do not overlap: the first wins, and the longest of those that start at the same word. Matches
        of different labels may overlap.
        """
        stops: dict[tuple[str, int], int] = {}
        active: list[tuple[int, MatcherState]] = []  # start of each partial match, and its state
        at, known, firsts = 0, remembering(self._words_in, MOST_KNOWN), self._first
        for line in text.split("\n"):
            chunks, opens = line.split(), True
            active = active if chunks else []  # an empty line ends a sentence
            for chunk in chunks:  # plain loops, since all words of all texts pass here
                at = text.find(chunk, at)
                words = known(chunk) if len(chunk) <= LONGEST_KNOWN else self._words_in(chunk)
                for start, stop, keys in words:
                    if keys is None:
                        opens = True
                        active = [] if stop else active
                        continue
                    first, opens = firsts[opens], False
                    if active:
                        before, active = active, []
                        for began, state in before:
                            if (following := state[keys]) is not None:
                                active.append((began, following))
                    if keys and (following := first[keys]) is not None:
                        active.append((at + start, following))
                    for began, state in active:
                        for label in state.labels:
                            stops[label, began] = at + stop
                at += len(chunk)
        return longest_of(stops)

    def labels(self, text: str) -> frozenset[str]:
        """Return the labels of the phrases found in a text."""
        return frozenset(found.label for found in self.find(text))

    def _words_in(self, chunk: str) -> tuple[ChunkWord, ...]:
        """Return the words of a chunk of text without spaces, and what in it ends a sentence or a clause."""
        return tuple(
            (token.start(), token.end(), self._keys_of(token[1]))
            if token[1]
            else (0, int(token.lastgroup == "end"), None)
            for token in TOKEN.finditer(chunk)
        )

    def _keys_of(self, word: str) -> tuple[str, ...]:
        """Return the keys that match a word: the word itself, and prefixes of it with ``*``."""
        folded = fold(word)
        known, size = self._words, len(folded)
        whole = (folded,) if folded in known else ()
        return (
            *whole,
            *(key for n in self._beginnings if n <= size and (key := f"{folded[:n]}*") in known),
        )


def longest_of(stops: dict[tuple[str, int], int]) -> list[PhraseMatch]:
    """Return matches, by label and start, in text order; of one label those that start in an earlier one are left out."""
    ends: dict[str, int] = {}
    found: list[PhraseMatch] = []
    for (label, start), stop in sorted(stops.items(), key=lambda each: (each[0][1], -each[1])):
        if start >= ends.get(label, 0):
            ends[label] = stop
            found.append(PhraseMatch(label, start, stop))
    return found


def fold(word: str) -> str:
    """Normalize a word for comparison: case-folded, accents composed, straight apostrophes."""
    if word.isascii():
        return word.lower()
    return normalize("NFC", normalize("NFC", word).casefold()).translate(STRAIGHT)


def parsed(label: str, phrase: str, known: set[str]) -> list[Step]:
    """Parse a phrase into its first steps, adding its words to ``known``; raise ``ValueError`` for invalid syntax."""
    parts = PART.finditer(phrase.strip().removeprefix("^").rstrip())
    try:
        steps = [*steps_of([(label, (group_of(parts, known),))])]
    except (ValueError, RecursionError) as error:
        raise ValueError(f"phrase {phrase[:80]!r}: {error}") from None
    if next(parts, None) is not None or phrase.count("(") != phrase.count(")"):
        raise ValueError(f"phrase {phrase!r} has a bracket without its other one")
    if not all(word for word, _ in steps):
        raise ValueError(f"phrase {phrase!r} may begin without a word: require one")
    return steps


def group_of(parts: Iterator[re.Match[str]], known: set[str]) -> Group:
    """Parse a group up to its closing bracket or the end of the phrase."""
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
                raise ValueError('a "?" stands behind ")"')
            row[-1] = Group(row[-1].rows, optional=True)
        elif text == "...":
            row.append(GAP_WORDS)
        else:
            words = words_of(text)
            known.update(words)
            row += words
    return Group(tuple(map(tuple, rows)))


@cache  # of the package's own phrases, which repeat theirs some ten times
def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a part of a phrase without spaces; raise ``ValueError`` if it has none."""
    words = [fold(each.group()) for each in TOKEN.finditer(text) if each["word"]]
    if not words or "*" in text[:-1]:
        raise ValueError(f"{text!r} is no word")
    if text.endswith(("*", "'")):  # a prefix, or an elision
        words[-1] += text[-1]
    return tuple(words)
