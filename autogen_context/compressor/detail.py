"""Abstract details: the same sentence in fewer words.

Promise: values, numbers, names, quoted strings and negations stay word for word; what goes are words that carry none of
them. Never longer, and idempotent where it matters: what is terse stays terse. Linear time.
"""

import re
from collections.abc import Callable, Iterable

from autogen_context.compressor.counting import Tally
from autogen_context.compressor.sense import sense_of
from autogen_context.compressor.weigh import Weighed, reworded


def quick(phrases: Iterable[str], *, after: str = "") -> re.Pattern[str]:
    """A pattern for phrases of whole words in either case of the first letter.

    Each alternative begins with a letter and looks back after it, so that a search skips quickly to where one may be.
    """
    longest_first = sorted(phrases, key=len, reverse=True)
    starts = [
        start for phrase in longest_first for start in (phrase, phrase[0].upper() + phrase[1:])
    ]
    return re.compile("|".join(rf"{s[0]}(?<![\w-].){re.escape(s[1:])}\b{after}" for s in starts))


SHORTER = {
    "in order to": "to",
    "so as to": "to",
    "due to the fact that": "because",
    "owing to the fact that": "because",
    "in spite of the fact that": "although",
    "despite the fact that": "although",
    "in the event that": "if",
    "at this point in time": "now",
    "at the present time": "now",
    "prior to": "before",
    "subsequent to": "after",
    "with regard to": "about",
    "with respect to": "about",
    "in relation to": "about",
    "for the purpose of": "for",
    "a large number of": "many",
    "a number of": "several",
    "the majority of": "most",
    "in addition to": "besides",
    "as well as": "and",
    "is able to": "can",
    "are able to": "can",
    "is going to": "will",
    "are going to": "will",
    "has the ability to": "can",
    "make use of": "use",
    "makes use of": "uses",
    "take into account": "consider",
    "by means of": "by",
    "until such time as": "until",
}
EMPTY = (
    *(
        "please",
        "kindly",
        "basically",
        "essentially",
        "actually",
        "really",
        "very",
        "quite",
        "simply",
        "clearly",
    ),
    *(
        "obviously",
        "of course",
        "certainly",
        "indeed",
        "generally speaking",
        "in general",
        "in fact",
        "at all",
    ),
    *(
        "as a matter of fact",
        "needless to say",
        "it should be noted that",
        "it is worth noting that",
    ),
    *(
        "it is important to note that",
        "it is important to remember that",
        "note that",
        "please note that",
    ),
    *(
        "keep in mind that",
        "as you know",
        "as mentioned above",
        "as mentioned before",
        "as mentioned earlier",
    ),
    *(
        "as i said",
        "i think that",
        "i think",
        "i believe that",
        "i believe",
        "i guess",
        "in my opinion",
    ),
    *("to be honest", "you know", "sort of", "kind of"),
)
OPENERS = (
    r"however|moreover|furthermore|additionally|in addition|besides|therefore|thus|hence|consequently|meanwhile|also|so|well|okay|ok|now"
    r"|then|anyway|finally|first of all|by the way|on the other hand|nevertheless"
)
TELLING_WORDS = {max(phrase.split(), key=len) for phrase in (*SHORTER, *EMPTY)}  # one of each
LONG_WAY = quick(SHORTER)
FILLER = quick(EMPTY, after=",? ")
ASIDE_FILLER = re.compile(rf", (?:{'|'.join(EMPTY)}),(?= )")
OPENER = re.compile(rf"^(?:{OPENERS}), (?=\w)", re.IGNORECASE)
ASIDE = re.compile(
    r" ?\([^()\n]{1,200}\)|,? (?:which|who) [^,.;:\n]{3,120},|[\u2013\u2014][^\u2013\u2014\n]{3,120}[\u2013\u2014]"
)
ASIDE_SIGNS = ("(", "\u2013", "\u2014", " which ", " who ")
ARTICLE = re.compile(r"(?<![\w.-])(?:the|an?) (?=[\w$(])", re.IGNORECASE)
QUOTES = ('"', "\u201c", "`")
QUOTED = re.compile(r'("[^"\n]*"|\u201c[^\u201d\n]*\u201d|`[^`\n]*`)')
WORD = re.compile("[a-z]+")
SPACES = re.compile(r"[ \t]{2,}")


def with_few_details(entries: Iterable[Weighed], tally: Tally) -> list[Weighed]:
    """The entries with shorter sentences; headings and blocks stay as they are."""
    return [
        entry
        if entry.passage.kind in {"block", "heading"}
        else reworded(entry, abstracted(entry.passage.text), tally)
        for entry in entries
    ]


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
    if not any(map(sentence.__contains__, QUOTES)):
        return change(sentence)
    parts = QUOTED.split(sentence)
    parts[::2] = map(change, parts[::2])
    return "".join(parts)


def without_fillers(part: str) -> str:
    """A part of a sentence in fewer words."""
    if any(map(part.__contains__, ASIDE_SIGNS)):
        part = ASIDE.sub(without_concepts, part)
    if TELLING_WORDS.isdisjoint(WORD.findall(part.lower())):
        return part
    return FILLER.sub("", LONG_WAY.sub(shorter, ASIDE_FILLER.sub("", part)))


def without_concepts(aside: re.Match[str]) -> str:
    """Nothing, for an aside that has no concept; otherwise the aside."""
    return aside.group() if sense_of(aside.group()).concepts else ""


def shorter(way: re.Match[str]) -> str:
    """The short way of saying it, with a capital where the long one had it."""
    said = way.group()
    return with_capital(SHORTER[said.lower()], said)


def with_capital(text: str, original: str) -> str:
    """The text on one run of spaces, with a capital where the original begins with one."""
    even = SPACES.sub(" ", text).strip() if "  " in text or "\t" in text else text.strip()
    plain = even[:1].islower() and even[:2].isalpha()
    return even[0].upper() + even[1:] if plain and original[:1].isupper() else even or original
