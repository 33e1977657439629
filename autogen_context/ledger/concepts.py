"""Relations that are worded in many ways: a budget is spent, a launch has a date, somebody is on call.

Promise: data and how it is read; a concept is told by its words and by the kind of its value.
"""

import re
from dataclasses import dataclass

from autogen_context.language.stems import stem
from autogen_context.ledger import english
from autogen_context.ledger.cue import Cue, words, words_in
from autogen_context.ledger.values import ValueKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A relation that is worded in many ways.

    Attributes:
        head: its name.
        cue: its words, one of which must stand in the sentence.
        kinds: of value, one of which must as well; any where empty.
        passed_over: stems that do not say which one.
    """

    head: str
    cue: Cue
    kinds: frozenset[ValueKind] = frozenset()
    passed_over: frozenset[str] = frozenset()


def concept(head: str, pattern: str, *kinds: ValueKind, passed_over: str = "") -> Concept:
    """A row of the table below."""
    return Concept(
        head=head,
        cue=Cue(rf"\b(?:{pattern})\b", english.CONCEPT_WORDS.get(head, "")),
        kinds=frozenset(kinds),
        passed_over=stems(passed_over),
    )


def stems(text: str) -> frozenset[str]:
    """The stems of these words."""
    return frozenset(stem(word) for word in text.split())


MANNER, ANSWER = english.MANNER_WORDS, english.ANSWER_WORDS
CONCEPTS = (
    concept("manner", rf"(?:{MANNER})\b.*\b(?:{ANSWER})|(?:{ANSWER})\b.*\b(?:{MANNER})"),
    concept("zone", r"[\w/+:-]+", "zone", passed_over=english.ZONE_PASSED_OVER),
    concept("branch", english.BRANCH_WORDS, "code", passed_over=english.BRANCH_PASSED_OVER),
    concept("duty", english.DUTY_WORDS, "name"),
    concept("money", english.MONEY_WORDS, "money", "number"),
    concept("units", english.UNIT_WORDS),
    concept(
        "called",
        english.NAME_WORDS,
        *("code", "name", "quoted", "acronym"),
        passed_over=english.NAME_PASSED_OVER,
    ),
    concept("date", english.DATE_WORDS, "date", passed_over=english.DATE_PASSED_OVER),
)
KEPT = words(english.KEPT)
SPOKEN = Cue(
    rf"\b(?:{ANSWER}|write|speak|translate)\b.*\bin (?:{english.LANGUAGES})\b",
    english.LANGUAGES.replace("|", " "),
)
DISCLOSING = Cue(english.DISCLOSING, "never not don't nobody must")
DISCLOSING_PASSED_OVER = stems(english.DISCLOSING_PASSED_OVER)

PRODUCT = {name: kind for kind, names in english.CHOICES.items() for name in names.split()}
PRODUCTS = Cue(
    r"(?<![\w-])(?:"
    + "|".join(map(re.escape, sorted(PRODUCT, key=len, reverse=True)))
    + r")(?![\w+#-])",
    " ".join(word for name in PRODUCT for word in words_in(name)),
)
CHOSEN = Cue(rf"\b(?:{english.CHOOSING}) (?:the |an? )?(?:\w+ )?{PRODUCTS.source}")
CHOICE_PASSED_OVER = stems(english.CHOICE_PASSED_OVER)
