"""Words decide whether a pattern is tried at all: nothing that it would find may be missed for that."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.ledger import concepts, english, english_cues, parts, phrases
from autogen_context.ledger.cue import Cue, Sieve, lowered
from autogen_context.ledger.values import VALUE, Value, value_of, values
from support.texts import TEXTS

TABLES = (
    *english_cues.WORDS.values(),
    *english_cues.FIRST.values(),
    *english.CONCEPT_WORDS.values(),
    english.FIRST_WORDS,
    english.DATE_WORDS.replace("|", " "),
    "the a of to by in for with more than less no longer any not be been is are was n't I'm it's we",
)
WORDS = sorted({word for table in TABLES for word in table.split() if word.strip("'").isalpha()})
THINGS = (
    "Ann", "Bo Chen", "AWS", "500 EUR", "$5", "8081", "db_3", "src/pool.py", "12 May", "tomorrow's", "twenty dollars",
    "`x`", '"so"', "'it'", "UTC", "pacific time", "next week", "#42", "a.b", "x::y", "run()", "~/f", "Q3", "10:30", "5 ms",
)  # fmt: skip
PIECES = (
    st.sampled_from(WORDS) | st.sampled_from(THINGS) | st.sampled_from((",", ":", ";", "-", "."))
)
SENTENCES = st.lists(PIECES, min_size=1, max_size=14).map(" ".join)
LITERALS = tuple(
    sentence
    for sentence in (
        "never run it without approval", "the pager is with Ann Lee", "make it 45", "Bo Chen owns the docs",
        "we decided to use Postgres", "no longer accept cash", "the boat tour is cancelled", "I'd rather have tea",
        "keep answers short", "remind me every day", "the price was moved from 5 to 7", "must stay unpushed",
        "if it fails, stop", "the report is due on 12 May", "forget the deadline", "that is off limits",
    )
)  # fmt: skip


def cues() -> Iterator[Cue]:
    """Every pattern that has words."""
    yield from phrases.SIEVE_CUES
    yield from (cue for _, cue in parts.PATTERNS)
    yield from (row.cue for row in concepts.CONCEPTS)
    yield from (concepts.SPOKEN, concepts.DISCLOSING, concepts.PRODUCTS)


def finds(cue: Cue, sentence: str) -> bool:
    """Whether the bare pattern is in a sentence."""
    return cue.pattern.search(sentence if cue.cased else lowered(sentence)) is not None


@given(SENTENCES | st.sampled_from(LITERALS))
def test_words_hide_no_match(sentence: str) -> None:
    """Where the pattern matches the sentence from its beginning, or anywhere unless it only begins one, the cue does."""
    for cue in cues():
        bare = cue.pattern.match(sentence if cue.cased else lowered(sentence))
        assert (cue.match(sentence) is None) == (bare is None), cue.source
        if not cue.first:
            assert (cue.search(sentence) is not None) == finds(cue, sentence), cue.source


@given(SENTENCES | st.sampled_from(LITERALS))
def test_a_sieve_lets_all_through_that_match(sentence: str) -> None:
    """One look at the words finds each cue that would be found alone."""
    through = phrases.possible(sentence)
    assert all(cue in through for cue in phrases.SIEVE_CUES if cue.match(sentence))
    assert all(
        cue in through for cue in phrases.SIEVE_CUES if not cue.first and cue.search(sentence)
    )


def test_a_sieve_holds_back() -> None:
    """What needs a word that is not there does not come through, what needs none does."""
    free, tied, first = Cue("a"), Cue("b", "tree"), Cue("c", first="now")
    sieve = Sieve(free, tied, first)
    assert sieve.through("a house") == {free}
    assert sieve.through("The Tree is now old") == {free, tied}
    assert sieve.through("Now a tree") == {free, tied, first}


@given(SENTENCES | TEXTS | st.sampled_from(LITERALS).map(str.capitalize))
def test_values_are_those_of_the_pattern(text: str) -> None:
    """Looking only where a sign of a value stands finds what looking everywhere does."""
    found: list[Value] = []
    at = 0
    while match := VALUE.pattern.search(text, at):
        value = value_of(match, text)
        at = max(value.end, match.start() + 1) if value else match.end()
        found += [value] if value else []
    assert list(values(text)) == found


SIEVED = sorted(phrases.SIEVE_CUES, key=lambda cue: cue.source)  # the same order in each process


@pytest.mark.parametrize("cue", SIEVED, ids=lambda cue: cue.source[:40])
def test_each_cue_can_be_held_back(cue: Cue) -> None:
    """None is tried on every sentence."""
    assert cue.words or cue.first
