"""Find many phrases in a text at once.

Promise: whole words are compared, never parts of words, in any case and either form of an accent. Time is in proportion
to the words of the text, whatever stands in it: each word leads to a number of steps that the phrases bound.

A phrase is written as people say it:

- ``do you remember``: these words in this order, within one sentence;
- ``(i|we) said``: one of several; ``(please)? list``: this or nothing;
- ``what ... say``: up to four words between; ``remind*``: any ending of the word;
- ``^recall``: at the start of a sentence or of a line, or behind ``:`` or ``;``.

A word ends at an apostrophe that elides (``l'`` and ``accord``) or joins (``we`` and ``'ve``); ``don't`` is one word.
Where a script writes no spaces, each character is a word.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from unicodedata import normalize

__all__ = ["Found", "PhraseMatcher"]

GAP_WORDS = 4  # that may stand where a phrase says "..."
GAP = "..."
MOST_KNOWN = 20_000  # states, and words
LONGEST_KNOWN = 40  # characters of a word that is remembered
UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # Thai and Lao, kana, Han
LETTER = rf"[^\W{UNSPACED}]"
LETTERS = rf"(?:{LETTER}[\u0300-\u036f]*)+"  # with accents that stand alone
APOSTROPHE = "['\u2019\u02bc\uff07]"
JOINED = rf"(?:s|d|m|ve|ll|re)(?!{LETTER})"
TOKEN = re.compile(
    rf"(?P<word>{LETTERS}n{APOSTROPHE}t(?!{LETTER})"  # don't
    rf"|{LETTERS}(?:{APOSTROPHE}(?!{JOINED})(?={LETTER}))?"  # l' of l'accord
    rf"|{APOSTROPHE}{JOINED}"  # 've of we've
    rf"|[{UNSPACED}])"
    r"|(?P<end>[.!?\u2026]+(?=[\s\"')\]\u201d\u00bb]|$)|[\u3002\uff01\uff1f]|\n[ \t\r]*\n)"
    r"|(?P<line>[\n:;])",
    re.IGNORECASE,
)
PART = re.compile(r"\s*(?:(?P<sign>[()|?])|(?P<gap>\.\.\.)|(?P<words>[^\s()|?]+))")
STRAIGHT = str.maketrans(dict.fromkeys("\u2019\u02bc\uff07", "'"))


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase that stands in a text.

    Attributes:
        label: what the phrase is listed under.
        start: where it begins, in characters of the text as it was given.
        stop: where it ends, likewise.
    """

    label: str
    start: int
    stop: int


@dataclass(slots=True, eq=False)
class Step:
    """A place within phrases: what may come next, and what is complete here."""

    by_word: dict[str, list["Step"]] = field(default_factory=dict[str, list["Step"]])
    by_any: list["Step"] = field(default_factory=list["Step"])
    labels: frozenset[str] = frozenset()


class State:
    """The places within phrases that some words may have led to; worked out when they are first met.

    Args:
        steps: the places.
        known: the states that were met, of which each is made once; beyond so many none is remembered.

    Attributes:
        labels: of the phrases that are complete here.
    """

    def __init__(self, steps: Iterable[Step], known: "dict[frozenset[Step], State]") -> None:
        self._steps = frozenset(steps)
        self._known = known
        self._behind: dict[tuple[str, ...], State | None] = {}
        self.labels = frozenset(label for step in self._steps for label in step.labels)

    def behind(self, keys: tuple[str, ...]) -> "State | None":
        """The places behind one more word, given as what it is listed as; ``None`` where no phrase goes on."""
        if keys in self._behind:
            return self._behind[keys]
        ways = [step.by_any for step in self._steps]
        ways += [step.by_word.get(key, []) for step in self._steps for key in keys]
        steps = frozenset(step for way in ways for step in way)
        following = None
        if steps:
            following = self._known.get(steps) or State(steps, self._known)
        if len(self._known) < MOST_KNOWN:
            if following is not None:
                self._known[steps] = following
            self._behind[keys] = following
        return following


class PhraseMatcher:
    """Looks for the phrases of one topic.

    Args:
        phrases: n pairs of a label and a phrase that is listed under it.

    Raises:
        ValueError: a phrase cannot be read; the message has the phrase.
    """

    def __init__(self, phrases: Iterable[tuple[str, str]]) -> None:
        anywhere: list[Step] = []
        opening: list[Step] = []
        for label, phrase in phrases:
            place = opening if phrase.lstrip().startswith("^") else anywhere
            place.append(first_step(phrase, Step(labels=frozenset({label}))))
        first = either([*anywhere, *opening])
        known: dict[frozenset[Step], State] = {}
        self._first = (State([either(anywhere)], known), State([first], known))
        self._keys: dict[str, tuple[str, ...]] = {}
        self._listed = listed_in(first)
        self._beginnings = sorted({len(word) - 1 for word in self._listed if word.endswith("*")})

    def find(self, text: str) -> list[Found]:
        """The phrases in a text.

        Args:
            text: any text, of any length.

        Returns:
            What was found, in the order of the text. Of one label nothing overlaps: the first counts, and of those that
            begin at the same word the longest. Phrases of different labels may overlap.
        """
        stops: dict[tuple[str, int], int] = {}
        active: list[tuple[int, State]] = []  # where phrases begin, and how far they are
        opens = True
        for token in TOKEN.finditer(text):
            if token.lastgroup != "word":
                opens = True
                if token.lastgroup == "end":
                    active = []
                continue
            word = token.group()
            keys = self._keys.get(word)
            if keys is None:
                keys = self._keys_of(word)
                if len(self._keys) < MOST_KNOWN and len(word) <= LONGEST_KNOWN:
                    self._keys[word] = keys
            first, opens = self._first[opens], False
            if not keys and not active:
                continue
            if active:
                active = [
                    (start, following)
                    for start, state in active
                    if (following := state.behind(keys)) is not None
                ]
            if keys and (begun := first.behind(keys)) is not None:
                active.append((token.start(), begun))
            for start, state in active:
                for label in state.labels:
                    stops[label, start] = token.end()
        return apart(stops)

    def labels(self, text: str) -> frozenset[str]:
        """The labels of the phrases in a text."""
        return frozenset(found.label for found in self.find(text))

    def _keys_of(self, word: str) -> tuple[str, ...]:
        """What a word is listed as: itself, or a beginning of it with any ending."""
        folded = fold(word)
        keys = (folded, *(f"{folded[:n]}*" for n in self._beginnings))
        return tuple(key for key in dict.fromkeys(keys) if key in self._listed)


def fold(word: str) -> str:
    """A word as words are compared: one case, composed accents, plain apostrophes."""
    if word.isascii():
        return word.lower()
    return normalize("NFC", normalize("NFC", word).casefold()).translate(STRAIGHT)


def words_of(text: str) -> list[str]:
    """The words of a text, folded."""
    return [fold(each.group()) for each in TOKEN.finditer(text) if each.lastgroup == "word"]


def apart(stops: Mapping[tuple[str, int], int]) -> list[Found]:
    """What does not overlap of each label, in the order of the text."""
    reached: dict[str, int] = {}
    found: list[Found] = []
    for (label, start), stop in sorted(stops.items(), key=lambda each: (each[0][1], -each[1])):
        if start >= reached.get(label, 0):
            reached[label] = stop
            found.append(Found(label, start, stop))
    return found


def listed_in(first: Step) -> frozenset[str]:
    """The words of all phrases that begin here."""
    listed: set[str] = set()
    seen: set[Step] = set()
    ahead = [first]
    while ahead:
        step = ahead.pop()
        if step not in seen:
            seen.add(step)
            listed.update(step.by_word)
            ahead += step.by_any
            for following in step.by_word.values():
                ahead += following
    return frozenset(listed)


@dataclass(frozen=True, slots=True)
class Group:
    """Part of a phrase: one of several rows, or none where it is optional."""

    rows: tuple[tuple["Group | str", ...], ...]
    optional: bool = False


def first_step(phrase: str, done: Step) -> Step:
    """The step before the first word of a phrase, from which ``done`` is reached behind its last."""
    try:
        first = before(parsed(phrase.strip().removeprefix("^")), done)
    except RecursionError:
        raise ValueError(f"phrase {phrase[:80]!r} has too many groups in one another") from None
    except ValueError as error:
        raise ValueError(f"phrase {phrase!r} {error}") from None
    if first.labels:
        raise ValueError(f"phrase {phrase!r} may be found where no word is: require one")
    if first.by_any:
        raise ValueError(f'phrase {phrase!r} begins with "...": name the first word')
    return first


def parsed(phrase: str) -> Group:
    """What a phrase is made of."""
    parts = PART.finditer(phrase.rstrip())
    group = group_of(parts)
    if next(parts, None) is not None or phrase.count("(") != phrase.count(")"):
        raise ValueError("has a bracket without its other one")
    return group


def group_of(parts: Iterator[re.Match[str]]) -> Group:
    """The group up to its end."""
    rows: list[list[Group | str]] = [[]]
    for part in parts:
        row, text = rows[-1], part[part.lastgroup or 0]
        if text == ")":
            break
        if text == "|":
            rows.append([])
        elif text == "(":
            row.append(group_of(parts))
        elif text == "?":
            if not row or not isinstance(row[-1], Group):
                raise ValueError('has a "?" that does not stand behind ")"')
            row[-1] = replace(row[-1], optional=True)
        elif text == GAP:
            row.append(GAP)
        else:
            row += listed_words(text)
    if not all(rows):
        raise ValueError("has a choice without words")
    return Group(tuple(map(tuple, rows)))


def listed_words(text: str) -> list[str]:
    """The words of a stretch without spaces; the last may have any ending."""
    words = words_of(text)
    if not words or "*" in text[:-1]:
        raise ValueError(f"has {text!r}, which is no word")
    if text.endswith(("*", "'")):  # any ending, or an elision
        words[-1] += text[-1]
    return words


def before(group: Group, following: Step) -> Step:
    """The step before a group behind which another step comes."""
    choices = [following] if group.optional else []
    for row in group.rows:
        step = following
        for item in reversed(row):
            if isinstance(item, Group):
                step = before(item, step)
            elif item == GAP:
                step = before_gap(step)
            else:
                step = Step(by_word={item: [step]})
        choices.append(step)
    return either(choices)


def before_gap(following: Step) -> Step:
    """The step before some words that do not matter."""
    if following.labels:
        raise ValueError('ends with "...": name the last word')
    step = following
    for _ in range(GAP_WORDS):
        step = either([following, Step(by_any=[step])])
    return step


def either(steps: Iterable[Step]) -> Step:
    """What any of these steps allows."""
    whole = Step()
    for step in steps:
        for word, following in step.by_word.items():
            whole.by_word.setdefault(word, []).extend(following)
        whole.by_any += step.by_any
        whole.labels |= step.labels
    return whole
