"""The terms of a text: what a search may find it by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.language.terms import STOP_WORDS, WORD_CHARS, pairs_of, stem, terms

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


@pytest.mark.parametrize("word", sorted(STOP_WORDS))
def test_frequent_words_give_nothing(word: str) -> None:
    """They stand in every question and say nothing of its answer."""
    assert not terms(word)
    assert not terms(word.title())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Users connect", ["user", "connect"], id="plain words"),
        pytest.param("don't, Melanie's", ["melani"], id="what is left of n't and 's"),
        pytest.param("Deborah`s", ["deborah"], id="a typed backtick"),
        pytest.param("is_valid", ["is_valid", "valid"], id="no stop words from parts"),
        pytest.param("HTTPServer", ["httpserver", "http", "serv"], id="capitals in a row"),
        pytest.param("port=8081", ["port", "8081"], id="numbers whole"),
        pytest.param("error404", ["error404", "error", "404"], id="longer numbers apart"),
        pytest.param("v2", ["v2"], id="short numbers not apart"),
        pytest.param("src/io.py", ["src", "io.py", "io", "py"], id="paths by names"),
        pytest.param("2024-05-01", ["2024-05-01", "2024", "05", "01"], id="dates"),
        pytest.param("9f86d081884c7d659a2feaa0c55ad015", ["9f86d081884c7d659a2feaa0c55ad015"], id="a hash whole"),
        pytest.param("JSON", ["json"], id="all capitals"),
        pytest.param("USERS", ["user"], id="capitals in a plural"),
        pytest.param("café cafe\u0301", ["caf", "caf"], id="accents of either kind"),  # as cafe
        pytest.param("ＡＢＣ", ["abc"], id="wide letters"),  # noqa: RUF001 - they are what is tested
        pytest.param("Привет, мир", ["привет", "мир"], id="Cyrillic"),
        pytest.param("机器学习", ["机器", "器学", "学习"], id="Chinese"),
        pytest.param("东", ["东"], id="one character"),
        pytest.param("東京タワー2024", ["東京", "京タ", "タワ", "ワー", "2024"], id="Japanese and a number"),
        pytest.param("한국어", ["한국", "국어"], id="Korean"),
        pytest.param("", [], id="nothing"),
        pytest.param("--- ... ***", [], id="no letter"),
    ],
)  # fmt: skip
def test_what_the_terms_are(text: str, expected: list[str]) -> None:
    """The order is that of the text, wholes before parts."""
    assert terms(text) == expected


@pytest.mark.parametrize(
    "word", ["x" * 1_000_000, "aB" * 500_000, "a.b-" * 250_000, "a_" * 500_000, "9" * 1_000_000]
)
def test_an_endless_word_is_cut(word: str) -> None:
    """Of a word that never ends, the beginning is indexed, once."""
    found = terms(f"start {word} last_one")
    assert (found[0], found[-3:]) == ("start", ["last_one", "last", "on"])
    assert len(found) <= 104
    assert max(map(len, found)) <= 100


def test_an_endless_line_is_read() -> None:
    """Where many words stand without a space (JSON on one line), all of them count."""
    assert terms('{"port":8081},' * 1_000) == ["port", "8081"] * 1_000


def test_long_chinese_is_read_to_its_end() -> None:
    """A script without spaces has no words that could be cut."""
    run = "".join(chr(0x4E00 + i) for i in range(2_000))
    assert terms(run) == pairs_of(run)


def test_a_space_costs_nothing() -> None:
    """A million of them give no term."""
    assert terms(" " * 1_000_000) == []
