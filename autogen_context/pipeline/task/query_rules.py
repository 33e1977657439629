"""How a language's phrases for the kinds of queries are written down, and how they are looked for.

Promise: a phrase is found as whole words only, and looking takes time in proportion to the text.

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


class Matcher:
    """The rules of a language, ready to be asked."""

    def __init__(self, language: Language) -> None:
        self._spelling = language.spelling
        self._misspelt = whole_words("|".join(language.spelling)) if language.spelling else None
        self._rules = [(rule, expression(rule, language)) for rule in language.rules]

    def find(self, sentence: str) -> Finding | None:
        """What the first rule that fits found in a sentence."""
        if self._misspelt is not None:
            sentence = self._misspelt.sub(self._meant, sentence)
        for rule, pattern in self._rules:
            match = pattern.search(sentence)
            if match:
                return Finding(rule=rule, words=" ".join(match.group().split()))
        return None

    def _meant(self, match: re.Match[str]) -> str:
        return self._spelling[match.group().lower()]


def expression(rule: Rule, language: Language) -> re.Pattern[str]:
    """One expression for all phrases of a rule."""
    listed = "|".join(f"(?:{phrase})" for phrase in rule.phrases)
    named = spelt_out(listed, language.words)
    written = named.replace(" ... ", SOME_WORDS).replace(" ", GAP if language.spaced else "")
    return whole_words(written) if language.spaced else re.compile(written)


def spelt_out(phrase: str, words: Mapping[str, str]) -> str:
    """A phrase with its named alternatives in the place of their names; these may name others."""
    while NAMED.search(phrase):
        phrase = NAMED.sub(lambda match: f"(?:{words[match[1]]})", phrase)
    return phrase


def whole_words(alternatives: str) -> re.Pattern[str]:
    """An expression that is found only where no word is cut."""
    return re.compile(rf"(?<!\w)(?:{alternatives})(?:(?<!\w)|(?!\w))", re.IGNORECASE)
