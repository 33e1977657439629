"""Tell of which older statement a newer one gives the value anew, where the two share few words.

Promise: pure. Both must measure the same and speak of the same, in words that few other statements have; the less clearly
the new one says that something is not as it was, the more of them. Where two older ones are as near, where one has values
that would be lost, or where names or nouns say that they are two things, none is meant.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from autogen_context.language.stems import stem
from autogen_context.ledger.content import NOTHING, terms_of
from autogen_context.ledger.cue import words
from autogen_context.ledger.english import MEASURE_WORDS
from autogen_context.ledger.measures import COUNT, UNIT, is_name, measures_of
from autogen_context.ledger.parts import parts_of
from autogen_context.ledger.phrases import MARKS, MAY_REVISE, POINTS, REVISES
from autogen_context.ledger.values import values

MEASURING = frozenset(map(stem, (*words(MEASURE_WORDS), *UNIT)))
FORMS = frozenset({"is", "limit", "moved", "listed", "does"})  # that tell what has a value
MOST_WORDS = 5  # of what has a value, for it to be told by them
SAID_WEIGHT = 1.0  # of the words that both have, where the new one says that something changed
IMPLIED_WEIGHT = 1.5  # where it may say so
UNSAID_WEIGHT = 2.0  # where it does not
AHEAD = 1.5  # times what the next best weighs


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A statement and how it was said.

    Attributes:
        text: the statement.
        raw: the sentence as it was said.
        around: what was said just before, of which it may speak.
    """

    text: str
    raw: str
    around: str

    def revises(self, known: Collection[str]) -> str | None:
        """The one of some statements of which it gives the value anew, if it is clear which.

        Args:
            known: n texts that measure the same.
        """
        spread = Counter(chain.from_iterable(map(features_of, known)))
        weights = {old: self._weight(old, spread) for old in known if may_be_same(self.text, old)}
        best = sorted(weights, key=weights.__getitem__, reverse=True)[:2]
        if not best or weights[best[0]] < self._least_weight():
            return None
        is_clear = len(best) == 1 or weights[best[0]] >= AHEAD * weights[best[1]]
        return best[0] if is_clear else None

    def _weight(self, old: str, spread: Mapping[str, int]) -> float:
        """How much the features weigh that both have: the less others have them, the more."""
        shared = features_of(self.text) & features_of(old)
        if shared or POINTS.search(self.text):
            shared |= topic_of(self.around) & topic_of(old)
        return sum(1 / spread[feature] for feature in shared)

    def _least_weight(self) -> float:
        """How much they must weigh."""
        said = (self.raw, self.around)
        if any(map(MARKS.search, said)) or any(map(REVISES.search, said)):
            return SAID_WEIGHT
        return IMPLIED_WEIGHT if any(map(MAY_REVISE.search, said)) else UNSAID_WEIGHT


def may_be_same(new: str, old: str) -> bool:
    """Whether nothing says that two statements which measure the same speak of two things."""
    names = names_in(new)
    if names and not names_in(old) <= names:
        return False
    measured = Counter(measures_of(new))
    if any(
        measured[each] < many for each, many in Counter(measures_of(old)).items() if measured[each]
    ):
        return False
    return subject_in(new) <= words_of(old) or subject_in(old) <= words_of(new)


@lru_cache(4_096)
def features_of(text: str) -> frozenset[str]:
    """What a statement speaks of, and what it counts."""
    return topic_of(text) | {each for each in measures_of(text) if each.startswith(COUNT)}


@lru_cache(4_096)
def topic_of(text: str) -> frozenset[str]:
    """What a statement speaks of: its words, but for those of measuring and what it counts, and its names."""
    counted = {measure.removeprefix(COUNT) for measure in measures_of(text)}
    return words_of(text) - MEASURING - counted


@lru_cache(4_096)
def words_of(text: str) -> frozenset[str]:
    """The words of a statement and its names."""
    return terms_of(text) | names_in(text)


@lru_cache(4_096)
def names_in(text: str) -> frozenset[str]:
    """The names of a statement, in lower case, word by word; a number that says which thing is meant is one as well."""
    named = (value.text.lower() for value in values(text) if is_name(value, text))
    return frozenset(chain.from_iterable(map(str.split, named)))


@lru_cache(4_096)
def subject_in(text: str) -> frozenset[str]:
    """The words of what has a value, where the form of a statement tells it in few words; else none."""
    parts = parts_of(text)
    opens = parts.form in FORMS and text.startswith(parts.subject)
    if not opens or parts.subject.count(" ") >= MOST_WORDS:
        return NOTHING
    return frozenset(word for word in words_of(parts.subject) if "'" not in word)
