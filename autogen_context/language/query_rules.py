"""How a language's phrases for the kinds of queries are written down.

Promise: a phrase is found as whole words only.

A phrase is a regular expression, read with three conveniences: a space is any gap between two words; ``<word>`` is one of
the language's named alternatives; ``...`` is up to six words. Case does not matter, but within ``(?-i:…)``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

QueryKind = Literal["casual", "recall", "summary"]

GAP = r"[\s,:]+"
SOME_WORDS = rf"(?:{GAP}[^\s,:?!]+){{0,6}}?{GAP}"
NAMED = re.compile(r"<(\w+)>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Phrases that give a sentence its kind, and the reason in words."""

    kind: QueryKind
    reason: str
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """What is said in one language; of the rules the first that fits a sentence decides.

    Attributes:
        rules: in the order in which they are asked.
        words: named alternatives for the phrases.
        spelling: short and wrong spellings, lower case, and what is meant; replaced before the rules are asked.
        spaced: whether words stand apart; where they do not, a phrase may stand anywhere.
    """

    rules: tuple[Rule, ...]
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    spelling: Mapping[str, str] = field(default_factory=dict[str, str])
    spaced: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The rule that fits a sentence, and the words that it found."""

    rule: Rule
    words: str


def expression(phrase: str, language: Language) -> str:
    """The regular expression of a phrase."""
    named = spelt_out(phrase, language.words)
    written = named.replace(" ... ", SOME_WORDS).replace(" ", GAP if language.spaced else "")
    return whole_words(written) if language.spaced else written


def spelt_out(phrase: str, words: Mapping[str, str]) -> str:
    """A phrase with its named alternatives in the place of their names; these may name others."""
    while NAMED.search(phrase):
        phrase = NAMED.sub(lambda match: f"(?:{words[match[1]]})", phrase)
    return phrase


def whole_words(alternatives: str) -> str:
    """An expression that is found only where no word is cut."""
    return rf"(?<!\w)(?:{alternatives})(?:(?<!\w)|(?!\w))"
