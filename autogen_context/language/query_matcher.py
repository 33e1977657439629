"""Look for the phrases of languages in a text.

Promise: what is found is what a search for every phrase finds; but a text is searched only for those whose words stand in
it, so most texts cost little more than to be read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter

from autogen_context.language.query_anchors import AnchorIndex, Anchors, Spoken
from autogen_context.language.query_rules import (
    Finding,
    Language,
    Rule,
    expression,
    whole_words,
)
from autogen_context.language.query_sketches import Sketcher, same_case


class Spelling:
    """Mends the short and wrong spellings of a language.

    Args:
        meant: what each of them means, all in lower case.
    """

    def __init__(self, meant: Mapping[str, str]) -> None:
        self._meant = meant
        self._misspelt = whole_words("|".join(meant))

    def mended(self, sentence: str) -> str:
        """A sentence as it is meant."""
        if not self._meant:
            return sentence
        return compiled(self._misspelt).sub(self._mended_word, sentence)

    def _mended_word(self, match: re.Match[str]) -> str:
        return self._meant[same_case(match.group())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A phrase, ready to be looked for.

    Attributes:
        spelling: that of its language, the same object for all of its phrases.
        rule: whose phrase it is.
        expression: what finds it.
        anchors: what a text has in which it is found.
    """

    spelling: Spelling
    rule: Rule
    expression: str
    anchors: Anchors

    def search(self, sentence: str) -> re.Match[str] | None:
        """Where it stands first in a sentence."""
        return compiled(self.expression).search(sentence)


class Matcher:
    """The rules of several languages, ready to be asked."""

    def __init__(self, *languages: Language) -> None:
        self._phrases = [phrase for language in languages for phrase in phrases_of(language)]
        self._index = AnchorIndex([phrase.anchors for phrase in self._phrases])
        self._meant: dict[str, str] = {}
        for language in languages:
            for word, meant in language.spelling.items():
                self._meant[word] = f"{self._meant.get(word, '')} {meant}"

    def search(self, text: str) -> "Search":
        """A search for what may be found in the sentences of a text."""
        spoken = Spoken.of(text)
        misspelt = self._meant.keys() & spoken.words
        if misspelt:
            spoken = Spoken.of("".join([text, *(self._meant[word] for word in misspelt)]))
        phrases = [self._phrases[at] for at in self._index.possible(spoken)]
        return Search(phrases=phrases, mends=bool(misspelt))


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search in the sentences of one text.

    Attributes:
        phrases: those that may be found, in the order of languages and rules.
        mends: whether something is misspelt.
    """

    phrases: Sequence[Phrase]
    mends: bool

    def findings(self, sentence: str) -> Iterator[Finding]:
        """What the first rule of each language that fits finds in a sentence."""
        for spelling, of_language in groupby(self.phrases, key=attrgetter("spelling")):
            meant = spelling.mended(sentence) if self.mends else sentence
            finding = first_finding(of_language, meant)
            if finding:
                yield finding


def phrases_of(language: Language) -> Iterator[Phrase]:
    """The phrases of a language, in the order of its rules."""
    spelling = Spelling(language.spelling)
    sketcher = Sketcher(language.words, spaced=language.spaced)
    for rule in language.rules:
        for phrase in rule.phrases:
            yield Phrase(
                spelling=spelling,
                rule=rule,
                expression=expression(phrase, language),
                anchors=Anchors.of(sketcher.stretches(phrase)),
            )


def first_finding(phrases: Iterable[Phrase], sentence: str) -> Finding | None:
    """What the first rule that fits finds; of its phrases the one that stands first, else the one listed first."""
    spoken = Spoken.of(sentence)
    possible = (phrase for phrase in phrases if phrase.anchors.may_stand_in(spoken))
    for rule, of_rule in groupby(possible, key=attrgetter("rule")):
        matches = [match for phrase in of_rule if (match := phrase.search(sentence))]
        if matches:
            first = min(matches, key=lambda match: match.start())
            return Finding(rule=rule, words=" ".join(first.group().split()))
    return None


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """An expression that can be searched for; made when it is first needed, since most never are."""
    return re.compile(expression, re.IGNORECASE)
