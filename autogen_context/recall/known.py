"""What a conversation names, and whether that is in sight.

Promise: what a message adds is read once, and what a query asks costs the query's words, however long the conversation is.
A name stands in a text only where none of its words is part of another.

Three kinds of words tell what a query is about: *identifiers* (what has a digit, a dot, a capital within); *names*, which
nobody here writes small; and *rare* words, of which one speaks as of something known ("the cheese project").
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from autogen_context.language.phrases import Found, phrases
from autogen_context.language.query import ends_of, is_question, sentences
from autogen_context.language.terms import STOP_WORDS
from autogen_context.messages.identifiers import MOST, RUN, is_telling, values_in
from autogen_context.messages.message import Message, joined_text
from autogen_context.messages.piece import still_there

RARE = 2  # messages that a word stands in at most, for it to tell what is asked
SHORT_WORDS = 3  # a query of no more is about what it names
NAME_WORDS = 3  # the most words that a name has
SCANNED_WORDS = 400  # of a query, for names
REMEMBERED = 20_000  # short runs of letters: a conversation names the same things again and again
MOST_COUNTED = (
    100  # messages that come at once; to search more is quicker than to count their words
)
JOINT = r"[./:@#'-]"  # within a word
WORD = re.compile(rf"\w+(?:{JOINT}\w+)*")
BEFORE = re.compile(rf"\w{JOINT}?\Z")  # what is part of the same word
GAP = re.compile(r"(?:'s)?\W+")
ENDED = re.compile(rf"(?:'s)?(?!\w|{JOINT}\w)")
SPOKEN = re.compile(
    r"(?P<opens>(?:\A|[\n.!?:;\"\u201c(\[*#>|\u2022-])[ \t]{0,8})?(?P<word>[^\W\d_]\w{2,60}(?:['\u2019]\w{1,9})?)"
)
BETWEEN = str.maketrans(
    dict.fromkeys('"`,;()[]{}<>=|!?*+~^&%$\\', " ")
)  # in no word, nor at a joint


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How the words of a text are written, in lower case: within a sentence small or with a capital, and all of them."""

    small: frozenset[str]
    capital: frozenset[str]
    all: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Words":
        """Read a text."""
        small: set[str] = set()
        capital: set[str] = set()
        words: set[str] = set()
        for match in SPOKEN.finditer(text):
            word = lower(match)
            words.add(word)
            if match["word"][0].islower():
                small.add(word)
            elif match["opens"] is None:
                capital.add(word)
        return cls(small=frozenset(small), capital=frozenset(capital), all=frozenset(words))


@dataclass(slots=True)
class Known:
    """What messages name, counted by message."""

    identifiers: Counter[str] = field(default_factory=Counter[str])
    small: Counter[str] = field(default_factory=Counter[str])
    capital: Counter[str] = field(default_factory=Counter[str])
    said: Counter[str] = field(default_factory=Counter[str])

    def add(self, message: Message, text: str) -> None:
        """Take in what a message names."""
        self.identifiers.update(names_told(text))
        words = words_said(message)
        self.small.update(words.small)
        self.capital.update(words.capital)
        self.said.update(words.all)

    def remove(self, message: Message, text: str) -> None:
        """Forget what was added with a message."""
        count_off(self.identifiers, names_told(text))
        words = words_said(message)
        count_off(self.small, words.small)
        count_off(self.capital, words.capital)
        count_off(self.said, words.all)

    def named(self, query: str) -> list[str]:
        """What a query names or asks about that is known here, each once, in lower case."""
        found = [word for word in words_asked(query) if word in self.identifiers]
        for sentence in sentences(ends_of(query)):
            found += self._spoken_of(sentence)
        return list(dict.fromkeys(found))

    def _spoken_of(self, sentence: str) -> list[str]:
        """The names in a sentence, and the rare words that it asks about."""
        known = [match for match in SPOKEN.finditer(sentence) if self.said[lower(match)]]
        if not known:
            return []
        marks = phrases("gate").find(sentence)
        common = [(each.start, each.stop) for each in marks if each.label == "common"]
        asks = is_question(sentence) or any(each.label == "about" for each in marks)
        is_short = len(sentence.split()) <= SHORT_WORDS
        found: list[str] = []
        for match in known:
            word, start = lower(match), match.start("word")
            if word in STOP_WORDS or any(first <= start < stop for first, stop in common):
                continue
            is_rare = self.said[word] <= RARE
            if self._is_name(word, match):
                found += [word] if asks or is_short or is_rare else []
            elif asks and is_rare and is_definite(sentence, start, marks):
                found.append(word)
        return found

    def _is_name(self, word: str, match: re.Match[str]) -> bool:
        """Whether nobody writes it small, and somebody does so with a capital within a sentence."""
        inside = match["opens"] is None and match["word"][0].isupper()
        return not self.small[word] and bool(inside or self.capital[word])


def lower(spoken: re.Match[str]) -> str:
    """A word in lower case, without the s of whose it is."""
    return spoken["word"].lower().replace("\u2019", "'").removesuffix("'s")


def is_definite(sentence: str, start: int, marks: Sequence[Found]) -> bool:
    """Whether a sentence speaks of the word there as of something known: alone, or behind "the" or "about"."""
    if len(sentence.split()) == 1:
        return True
    stops = [each.stop for each in marks if each.label in ("about", "definite")]
    before = max((stop for stop in stops if stop <= start), default=None)
    return before is not None and len(sentence[before:start].split()) < NAME_WORDS


def words_said(message: Message) -> Words:
    """The words that a person or the model says in a message; results are full of others."""
    return Words.of(message.text if message.role in ("user", "assistant") else "")


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
    """The identifiers of a text; each is a single word."""
    runs = set(RUN.findall(text))
    return frozenset[str]().union(
        *[known_names(run) if len(run) <= MOST else names_in(run) for run in runs]
    )


def names_in(run: str) -> tuple[str, ...]:
    """What a text without spaces names."""
    return tuple(value.lower() for value in values_in(run) if is_telling(value))


known_names = lru_cache(maxsize=REMEMBERED)(names_in)


class Sight:
    """The messages in sight, as one looks names up in them.

    What came into sight at once is one text, searched once for a name; of what came later the words are counted, so that a
    turn costs the same however much is in sight.
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._together = 0  # how many of them are one text
        self._text = ""
        self._alone: frozenset[str] = frozenset()  # what stands in the text by itself
        self._found: dict[str, bool] = {}  # whether a name stands in the text
        self._words: Counter[str] = Counter()  # how often each stands behind it

    def follow(self, messages: Sequence[Message]) -> None:
        """Read what came into sight, and forget what went out of it."""
        same = still_there(self._messages, messages)
        if same < self._together or len(messages) - same > MOST_COUNTED:
            self._begin(messages)
            return
        count_off(self._words, words_in(self._messages[same:]))
        self._messages[same:] = messages[same:]
        self._words.update(words_in(self._messages[same:]))

    def __contains__(self, name: str) -> bool:
        """Whether a name is in sight; it stands in one message."""
        if name not in self._found:
            self._found[name] = name in self._alone or stands_in(self._text, name)
        return self._found[name] or self._is_behind(name)

    def _begin(self, messages: Sequence[Message]) -> None:
        """Read all as one text."""
        self._messages, self._together = list(messages), len(messages)
        self._text, self._found = joined_text(messages).lower(), {}
        self._alone = frozenset(self._text.translate(BETWEEN).split())
        self._words = Counter()

    def _is_behind(self, name: str) -> bool:
        """Whether a name stands in what came later."""
        if WORD.fullmatch(name):
            return name in self._words or f"{name}'s" in self._words
        later = (joined_text([message]).lower() for message in self._messages[self._together :])
        return any(stands_in(text, name) for text in later)


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


def count_off(counts: Counter[str], gone: Collection[str]) -> None:
    """Count what is gone off again, and forget what is nowhere any more."""
    counts.subtract(gone)
    for each in set(gone):
        if not counts[each]:
            del counts[each]


def words_in(messages: Iterable[Message]) -> list[str]:
    """The words of messages."""
    return WORD.findall(joined_text(list(messages)).lower())
