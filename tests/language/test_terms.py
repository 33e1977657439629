"""The terms of a text: what a search may find it by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.language.terms import WORD_CHARS, stem, terms

PIECES = (
    "user_name", "HTTPServer2", "os.path.join", "the", "Running", "检索结果", "\u0301", "-.-", "x" * 300, "8081",
    "Привет", "don't", "\ud800", "한국어는", "a1b2c3d4e5f6a7b8", "\n", " ", "(", "👩‍👩‍👧", "gpt-4o-mini",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=200)
WORDS = st.lists(
    st.sampled_from(["load", "user", "config", "retry", "token", "parser"]), min_size=2, max_size=5
)


@given(TEXTS, TEXTS)
def test_texts_are_read_apart(one: str, other: str) -> None:
    """What stands behind a space has no influence on what stands before it."""
    assert terms(f"{one} {other}") == terms(one) + terms(other)


@given(TEXTS)
def test_terms_are_small_and_plain(text: str) -> None:
    """No term has a capital, a space, or more than a word may have; none is empty or a stop word alone."""
    for term in terms(text):
        assert term
        assert term == term.lower()
        assert len(term) <= 2 * WORD_CHARS  # a capital may have two letters as a small one
        assert not term.isspace()


@given(WORDS)
def test_all_spellings_of_an_identifier_share_its_words(words: list[str]) -> None:
    """Camel, Pascal, snake, constant, kebab and dotted names have the terms of their words, and of themselves."""
    pascal = "".join(word.title() for word in words)
    camel = words[0] + "".join(word.title() for word in words[1:])
    joined = ["_".join(words), "_".join(words).upper(), "-".join(words), ".".join(words)]
    for name in (camel, pascal, *joined):
        assert {*map(stem, words)} <= {*terms(name)}
        assert name.lower() in terms(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Users connect", ["user", "connect"]),
        ("don't, Melanie's", ["melani"]),
        ("Deborah`s", ["deborah"]),
        ("is_valid", ["is_valid", "valid"]),
        ("HTTPServer", ["httpserver", "http", "serv"]),
        ("port=8081", ["port", "8081"]),
        ("error404", ["error404", "error", "404"]),
        ("v2", ["v2"]),
        ("invoice 4, no. 12", ["invoic", "4", "12"]),
        ("src/io.py", ["src", "io.py", "io", "py"]),
        ("2024-05-01", ["2024-05-01", "2024", "05", "01"]),
        ("9f86d081884c7d659a2feaa0c55ad015", ["9f86d081884c7d659a2feaa0c55ad015"]),
        ("JSON", ["json"]),
        ("USERS", ["user"]),
        ("café cafe\u0301", ["caf", "caf"]),  # as cafe
        ("ＡＢＣ", ["abc"]),  # noqa: RUF001 - they are what is tested
        ("Привет, мир", ["привет", "мир"]),
        ("机器学习", ["机器", "器学", "学习"]),
        ("东", ["东"]),
        ("東京タワー2024", ["東京", "京タ", "タワ", "ワー", "2024"]),
        ("한국어", ["한국", "국어"]),
        ("", []),
        ("--- ... ***", []),
    ],
)  # fmt: skip
def test_what_the_terms_are(text: str, expected: list[str]) -> None:
    """The order is that of the text, wholes before parts."""
    assert terms(text) == expected


FAMILIES = """
run runs running ran
parse parser parsing parsed parses
configure configures configured configuration configurable
validate validation validating valid
try tries tried trying
control controlled controller
boxes box
agree agreeing agreement
happy happily happiness
teach teaches taught teacher
mother mothers mom moms
see sees seen seeing saw
ids id
""".strip().splitlines()
STRANGERS = ["string sting", "thing th", "format form", "summer sum", "status stat", "user use"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_one_stem(family: str) -> None:
    """Plurals, tenses and what is made of a word come together with it."""
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize("pair", STRANGERS)
def test_strangers_stay_apart(pair: str) -> None:
    """What only looks like an ending is none."""
    one, other = pair.split()
    assert stem(one) != stem(other)
