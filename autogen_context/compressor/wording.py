"""The same sentence in fewer words.

Promise: values, numbers, names, quoted strings and negations stay word for word; what goes are words that carry none of
them. Never longer; what is terse stays terse. Linear time.
"""

import re
from collections.abc import Callable, Iterable

from autogen_context.compressor.concepts import sense_of

SHORTER = {
    "in order to": "to",
    "so as to": "to",
    "due to the fact that": "because",
    "despite the fact that": "although",
    "in the event that": "if",
    "at this point in time": "now",
    "prior to": "before",
    "subsequent to": "after",
    "with regard to": "about",
    "with respect to": "about",
    "for the purpose of": "for",
    "a large number of": "many",
    "the majority of": "most",
    "in addition to": "besides",
    "as well as": "and",
    "is able to": "can",
    "are able to": "can",
    "is going to": "will",
    "are going to": "will",
    "by means of": "by",
}
EMPTY = (
    *("please", "kindly", "basically", "essentially", "actually", "really", "very", "quite", "simply"),
    *("clearly", "obviously", "of course", "certainly", "indeed", "generally speaking", "in fact"),
    *("as a matter of fact", "needless to say", "to be honest", "you know", "sort of", "kind of"),
    *("it should be noted that", "it is worth noting that", "it is important to note that"),
    *("please note that", "note that", "keep in mind that", "as you know", "as mentioned above"),
)  # fmt: skip
OPENER = re.compile(
    r"^(?:however|moreover|furthermore|additionally|in addition|besides|therefore|thus|hence|consequently|meanwhile|also|so|well"
    r"|okay|ok|now|then|anyway|finally|first of all|by the way|on the other hand|nevertheless), (?=\w)",
    re.IGNORECASE,
)
ASIDE = re.compile(
    r" ?\([^()\n]{1,200}\)|,? (?:which|who) [^,.;:\n]{3,120},|[\u2013\u2014][^\u2013\u2014\n]{3,120}[\u2013\u2014]"
)
ARTICLE = re.compile(r"(?<![\w.-])(?:the|an?) (?=[\w$(])", re.IGNORECASE)
QUOTED = re.compile(r'("[^"\n]*"|\u201c[^\u201d\n]*\u201d|`[^`\n]*`)')
SPACES = re.compile(r"[ \t]{2,}")


def phrases(words: Iterable[str]) -> str:
    """A pattern for phrases, the longest first, as a phrase may begin with another."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


LONG_WAY = re.compile(rf"(?<![\w.-])(?:{phrases(SHORTER)})\b", re.IGNORECASE)
FILLER = re.compile(
    rf", (?:{phrases(EMPTY)}),(?= )|(?<![\w.-])(?:{phrases(EMPTY)})\b,? ", re.IGNORECASE
)


def abstracted(sentence: str) -> str:
    """A sentence without asides, fillers and long ways of saying things."""
    plain = OPENER.sub("", unquoted(sentence, without_fillers), count=1)
    return with_capital(plain, sentence)


def terse(sentence: str) -> str:
    """A sentence as a note: without articles as well."""
    noted = unquoted(abstracted(sentence), lambda part: ARTICLE.sub("", part))
    return with_capital(noted, sentence)


def unquoted(sentence: str, change: Callable[[str], str]) -> str:
    """The sentence with a change to what is not quoted in it."""
    parts = QUOTED.split(sentence)
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def without_fillers(part: str) -> str:
    """A part of a sentence in fewer words; an aside goes where it has no concept but itself."""
    part = ASIDE.sub(lambda aside: aside.group() if says_more(aside.group()) else "", part)
    return LONG_WAY.sub(shorter, FILLER.sub("", part))


def says_more(aside: str) -> bool:
    """Whether an aside has a concept of its own: a value, a name, a rule."""
    return any(concept.kind != "statement" for concept in sense_of(aside).concepts)


def shorter(way: re.Match[str]) -> str:
    """The short way of saying it, with a capital where the long one had it."""
    return with_capital(SHORTER[way.group().lower()], way.group())


def with_capital(text: str, original: str) -> str:
    """The text on one run of spaces, with a capital where the original begins with one."""
    even = SPACES.sub(" ", text).strip()
    plain = even[:1].islower() and even[:2].isalpha()
    return even[0].upper() + even[1:] if plain and original[:1].isupper() else even or original
