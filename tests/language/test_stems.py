"""The forms of an English word have one stem, and different words rarely do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.language.terms import IRREGULAR, stem

LETTERS = st.text("abcdeilnorstuy", min_size=1, max_size=14)

FAMILIES = (
    "run runs running ran",
    "parse parser parsing parsed parses",
    "use uses used using",
    "configure configures configured configuration configurable",
    "create creates created creating creation",
    "validate validation validating valid",
    "try tries tried trying",
    "install installs installed installing installation",
    "control controlled controller",
    "box boxes",
    "cache caches cached caching",
    "buy buys bought buying",
    "go goes going went gone",
    "agree agreeing agreement",
    "happy happily happiness",
    "teach teaches taught teacher",
    "child children",
    "mother mothers mom moms",
    "see sees seen seeing saw",
    "id ids",
)
STRANGERS = (
    "string sting",
    "thing th",
    "global glob",
    "format form",
    "letter let",
    "summer sum",
    "need ne",
    "status stat",
    "bus bu",
    "user use",
    "add ad",
    "nation nat",
    "comment com",
)


@pytest.mark.parametrize("family", FAMILIES, ids=[family.split()[0] for family in FAMILIES])
def test_a_family_has_one_stem(family: str) -> None:
    """Plurals, tenses and what is made of a word come together with it."""
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize("pair", STRANGERS)
def test_strangers_stay_apart(pair: str) -> None:
    """What only looks like an ending is none."""
    one, other = pair.split()
    assert stem(one) != stem(other)


@given(LETTERS)
def test_a_stem_is_the_beginning_of_its_word(word: str) -> None:
    """Nothing is put in, but for an i in place of a final y; and something is always left."""
    if word not in IRREGULAR and word.removesuffix("s") not in IRREGULAR:
        found = stem(word)
        assert word.replace("y", "i").startswith(found.replace("y", "i"))
        assert len(found) >= min(2, len(word))


@given(st.text(max_size=20))
def test_any_letters_have_a_stem(word: str) -> None:
    """Whatever a word is made of, it has one stem, and an empty one only where it is empty."""
    assert bool(stem(word)) == bool(word)
    assert stem(word) == stem(word)
