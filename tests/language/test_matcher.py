"""Phrases are found as whole words, in any language, in time that the text's length bounds."""

import time
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.language.phrases import Found, PhraseMatcher


def spans(phrase: str, text: str) -> list[str]:
    """What one phrase covers of a text."""
    found = PhraseMatcher([("it", phrase)]).find(text)
    return [text[each.start : each.stop] for each in found]


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        pytest.param("when i", "When it rains", [], id="whole words"),
        pytest.param("did we", "So DID We, or", ["DID We"], id="any case"),
        pytest.param("(i|we) said", "you said, we said", ["we said"], id="one of several"),
        pytest.param(
            "(the|(my|our) own) way", "our own way", ["our own way"], id="groups in groups"
        ),
        pytest.param(
            "please (do)? go",
            "please go. please do go",
            ["please go", "please do go"],
            id="optional",
        ),
        pytest.param("remind* me", "reminding me", ["reminding me"], id="any ending"),
        pytest.param("remind*", "remind", ["remind"], id="no ending"),
        pytest.param(
            "what ... say",
            "what on earth did you say",
            ["what on earth did you say"],
            id="four between",
        ),
        pytest.param("what ... say", "what a b c d e say", [], id="five between"),
        pytest.param("what ... say", "what say", ["what say"], id="none between"),
        pytest.param("what ... say", "What? I say", [], id="not across sentences"),
        pytest.param("we use", "we\nuse", ["we\nuse"], id="across a line"),
        pytest.param("we use", "we\n \nuse", [], id="not across paragraphs"),
        pytest.param("we use", "we, I hope, use; we (use)", ["we (use"], id="across marks"),
        pytest.param(
            "^recall",
            "Recall it. I recall. \nrecall: recall",
            ["Recall", "recall", "recall"],
            id="opening",
        ),
        pytest.param("we said", "we've said", [], id="joined words count"),
        pytest.param(
            "we ('ve)? said",
            "we\u2019ve said, we said",
            ["we\u2019ve said", "we said"],
            id="joined word",
        ),
        pytest.param("you can", "you can't", [], id="not is part of its word"),
        pytest.param("don't", "I DON\u2019T", ["DON\u2019T"], id="other apostrophe"),
        pytest.param("(t'|te) ai", "je t'ai, je t ai", ["t'ai"], id="elision alone"),
        pytest.param("accord", "d'accord", ["accord"], id="elision"),
        pytest.param(
            "qu'est-ce que", "Qu\u2019est-ce que c'est", ["Qu\u2019est-ce que"], id="elided phrase"
        ),
        pytest.param(
            "ma\u00f1ana", "man\u0303ana, ma\u00f1anas", ["man\u0303ana"], id="composed or not"
        ),
        pytest.param("id", "id\u00e9e, \u00fcid, id\u0303", [], id="accents are letters"),
        pytest.param("stra\u00dfe", "STRASSE", ["STRASSE"], id="case folds"),
        pytest.param("do you", "do_you, do2you", [], id="identifiers are words"),
        pytest.param(
            "\u8fd8\u8bb0\u5f97",
            "\u4f60\u8fd8\u8bb0\u5f97\u5417",
            ["\u8fd8\u8bb0\u5f97"],
            id="no spaces",
        ),
        pytest.param("a b", "a a b b", ["a b"], id="begins again"),
        pytest.param("a (b)? (a)?", "a b a b a", ["a b a", "a"], id="longest, then behind it"),
    ],
)
def test_phrase(phrase: str, text: str, expected: list[str]) -> None:
    """What a phrase covers."""
    assert spans(phrase, text) == expected


def test_labels_overlap_and_stand_in_order() -> None:
    """Phrases of several labels are all told, by where they begin."""
    matcher = PhraseMatcher([("inner", "b c"), ("outer", "a b c"), ("inner", "c d")])
    assert matcher.find("x a b c d") == [Found("outer", 2, 7), Found("inner", 4, 7)]
    assert matcher.labels("a b c d") == {"inner", "outer"}


@pytest.mark.parametrize(
    ("phrase", "reason"),
    [
        ("", "words"),
        ("(a)?", "where no word is"),
        ("... a", "first word"),
        ("a ...", "last word"),
        ("(a", "bracket"),
        ("a)", "bracket"),
        (")(", "words"),
        ("a?", 'behind "\\)"'),
        ("a | (|b)", "choice"),
        ("a *", "no word"),
        ("a*b", "no word"),
        ("(" * 5_000 + "a" + ")" * 5_000, "too many groups"),
    ],
)
def test_unreadable_phrase_is_named(phrase: str, reason: str) -> None:
    """A phrase that cannot be read is an error with its text and what is wrong."""
    with pytest.raises(ValueError, match=reason) as raised:
        PhraseMatcher([("it", phrase)])
    assert repr(phrase[:60])[:-1] in str(raised.value)


WORDS = st.sampled_from(["a", "b", "c", "ab", "\u00e9t\u00e9", "don't", "l'", "A", ".", "\n", ","])
PHRASES = st.sampled_from(
    ["a", "a b", "b* c", "a ... c", "(a|b c) a", "^a b", "a (b)? \u00e9t\u00e9", "l'a"]
)


@given(st.lists(WORDS), st.lists(PHRASES, min_size=1), st.sampled_from(["NFC", "NFD"]))
def test_found_is_found_alone(words: list[str], phrases: list[str], form: str) -> None:
    """Each phrase is found as if it were the only one; positions are of the text that was given."""
    text = normalize(form, " ".join(words))  # type: ignore[arg-type]
    together = PhraseMatcher([(phrase, phrase) for phrase in phrases]).find(text)
    alone = {phrase: PhraseMatcher([(phrase, phrase)]).find(text) for phrase in phrases}
    assert sorted(together, key=str) == sorted(
        (each for found in alone.values() for each in found), key=str
    )
    assert [each.start for each in together] == sorted(each.start for each in together)
    for each in together:
        assert not text[each.start].isspace()
        assert PhraseMatcher([("it", each.label.removeprefix("^"))]).find(
            text[each.start : each.stop]
        )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("what did we " * 30_000, id="begins everywhere"),
        pytest.param("a" * 300_000, id="one word"),
        pytest.param("n't'" * 75_000, id="apostrophes"),
        pytest.param("e\u0301" * 150_000, id="accents"),
        pytest.param("." * 150_000 + "\n" * 150_000, id="marks"),
        pytest.param(("\n" + " " * 500) * 600, id="blank lines"),
    ],
)
def test_hostile_text_costs_its_length(text: str) -> None:
    """No text takes more than some microseconds a character."""
    matcher = PhraseMatcher(
        ("it", f"{first} ... (did|{second}) ... we ... {third}*")
        for first in ("what", "did", "we", "a")
        for second in ("we", "what", "n't")
        for third in ("say", "e\u0301", "n")
    )
    began = time.process_time()
    matcher.find(text)
    assert time.process_time() - began < 10
