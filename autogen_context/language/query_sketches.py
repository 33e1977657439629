r"""What the texts look like in which a phrase is found, read off the phrase itself.

Promise: each text in which a phrase is found looks like one of its sketches; what cannot be told is left open, never wrong.

A sketch has the letters that a phrase names, in lower case, a space for what parts words, and ``*`` for what may be
anything: ``(?:did|do) (?:i|we) \w+`` gives ``did i *``, ``did we *``, ``do i *`` and ``do we *``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import product

Sketches = frozenset[str]
Stretch = list[Sketches]  # what stands one behind the other

ANYTHING = "*"
GAP = " "
NOTHING: Sketches = frozenset({""})
ANY: Sketches = frozenset({ANYTHING})
PARTED: Sketches = frozenset({GAP})
MOST_SKETCHES = 500  # of two parts together; of parts that have more, only the words that meet
WORD = re.compile(r"\w+")
PART = re.compile(
    r"(?P<named><\w+>)|(?P<look>\(\?<?[=!])|(?P<group>\((?:\?(?:-i)?:)?)|(?P<end>\))|(?P<bar>\|)|(?P<edge>[\^$])"
    r"|(?P<repeat>(?:[?*+]|\{\d+(?:,\d*)?\})\??)"
    r"|(?P<set>\[\^?(?:\\.|[^\]\\])+\])|(?P<escape>\\.)|(?P<dot>\.)|(?P<letters>\w+(?![?*+{])|\w)|.",
    re.DOTALL,
)
FOUND_AS = {  # what a search without regard to case takes for a letter whose capital it is not
    "\u0130\u0131": "i",
    "\u017f": "s",
    "\u1c80": "\u0432",
    "\u1c81": "\u0434",
    "\u1c82": "\u043e",
    "\u1c83": "\u0441",
    "\u1c84\u1c85": "\u0442",
}
LETTERS = {ord(letter): plain for letters, plain in FOUND_AS.items() for letter in letters}
RARE = re.compile(f"[{''.join(FOUND_AS)}]")


def same_case(text: str) -> str:
    """A text in lower case, where letters that are found as if they were others are these."""
    if not text.isascii() and RARE.search(text):
        text = text.translate(LETTERS)
    return text.lower()


class Sketcher:
    """Sketches phrases of one language.

    Args:
        words: its named alternatives.
        spaced: whether words stand apart; where they do not, each letter is a word.
    """

    def __init__(self, words: Mapping[str, str], *, spaced: bool) -> None:
        self._words = words
        self._spaced = spaced
        self._named: dict[str, Sketches] = {}

    def stretches(self, phrase: str) -> list[Sketches]:
        """What a phrase has between the gaps that are always there.

        Args:
            phrase: an expression that is found as whole words; a space is any gap between two of them.

        Returns:
            The sketches of each stretch, in the order of the phrase; of a choice between phrases those of all as one.
        """
        choices = self._choices(PART.finditer(phrase))
        if len(choices) > 1:
            return [sketches_of_any(choices)]
        parts = choices[0]
        gaps = [at for at, part in enumerate(parts) if part == PARTED]
        starts, stops = [0, *(gap + 1 for gap in gaps)], [*gaps, len(parts)]
        return [joined(parts[start:stop]) for start, stop in zip(starts, stops, strict=True)]

    def _choices(self, parts: Iterator[re.Match[str]]) -> list[Stretch]:
        """What a phrase or a group leaves the choice between, up to its end."""
        found: list[Stretch] = [[]]
        for part in parts:
            match part.lastgroup:
                case "end":
                    break
                case "bar":
                    found.append([])
                case "look":  # it only leaves fewer texts
                    self._choices(parts)
                case "repeat":
                    found[-1].append(repeated(found[-1].pop(), part.group()))
                case "group":
                    found[-1].append(sketches_of_any(self._choices(parts)))
                case _:
                    found[-1].append(self._sketches_of(part))
        return found

    def _sketches_of(self, part: re.Match[str]) -> Sketches:
        """The sketches of what is no group."""
        text = part.group()
        match part.lastgroup:
            case "named":
                return self._sketches_of_named(text[1:-1])
            case "edge":
                return NOTHING
            case "letters":
                return frozenset({self._written(text)})
            case "set" if text[1:-1].isalpha():
                return frozenset(map(self._written, text[1:-1]))
            case _:
                return PARTED if parts_words(part) else ANY

    def _sketches_of_named(self, name: str) -> Sketches:
        if name not in self._named:
            self._named[name] = sketches_of_any(self._choices(PART.finditer(self._words[name])))
        return self._named[name]

    def _written(self, letters: str) -> str:
        folded = same_case(letters)
        return folded if self._spaced else "".join(map(written_unspaced, folded))


def parts_words(part: re.Match[str]) -> bool:
    """Whether no letter of a word fits what is neither group nor letter."""
    match part.lastgroup:
        case "set" | "dot":
            return False
        case "escape":
            return part.group()[1] in "sW" or not part.group()[1].isalnum()
        case _:
            return True


def written_unspaced(letter: str) -> str:
    """The sketch of a letter that is a word; Latin letters are parts of words in any language."""
    return ANYTHING if letter.isascii() else f"{GAP}{letter}{GAP}"


def sketches_of_any(choices: Sequence[Stretch]) -> Sketches:
    """The sketches of all that there is a choice between."""
    return frozenset[str]().union(*map(joined, choices))


def repeated(sketches: Sketches, times: str) -> Sketches:
    """The sketches of what may be left out or come again."""
    if times[0] != "?":
        left = GAP if all(sketch.startswith(GAP) for sketch in sketches) else ""
        right = GAP if all(sketch.endswith(GAP) for sketch in sketches) else ""
        sketches = frozenset({f"{left}{ANYTHING}{right}"})
    return sketches | NOTHING if times[0] in "?*" or times.startswith("{0") else sketches


def joined(parts: Stretch) -> Sketches:
    """The sketches of what stands one behind the other."""
    return reduce(followed_by, parts, NOTHING)


def followed_by(one: Sketches, other: Sketches) -> Sketches:
    """The sketches of the one with the other behind it; where these are too many, of the words that meet."""
    if len(one) > 1 < len(other) and len(one) * len(other) > MOST_SKETCHES:
        one, other = frozenset(map(end_of, one)), frozenset(map(beginning_of, other))
        if len(one) * len(other) > MOST_SKETCHES:
            return ANY
    return frozenset(map("".join, product(one, other)))


def end_of(sketch: str) -> str:
    """What a sketch says of the word that it ends in."""
    gap = sketch.rfind(GAP)
    return sketch if gap < 0 else ANYTHING + sketch[gap:]


def beginning_of(sketch: str) -> str:
    """What a sketch says of the word that it begins with."""
    gap = sketch.find(GAP)
    return sketch if gap < 0 else sketch[: gap + 1] + ANYTHING
