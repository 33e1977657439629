"""Phrases are looked for where their words stand, and what is found is what a search for each of them finds."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.language.query import kind_of, matcher, plain, sentences
from autogen_context.language.query_anchors import Anchors, Spoken
from autogen_context.language.query_english import ENGLISH
from autogen_context.language.query_languages import OTHER_LANGUAGES
from autogen_context.language.query_matcher import Spelling, phrases_of
from autogen_context.language.query_rules import Rule, expression
from autogen_context.language.query_sketches import Sketcher, same_case

LANGUAGES = (ENGLISH, *OTHER_LANGUAGES)
PHRASES = [phrase for language in LANGUAGES for phrase in phrases_of(language)]
LABELLED: dict[str, dict[str, dict[str, list[str]]]] = json.loads(
    (Path(__file__).parent / "recall_queries.json").read_text("utf-8")
)
QUERIES = [
    query
    for half in LABELLED.values()
    for kinds in half.values()
    for listed in kinds.values()
    for query in listed
]
ODD = ["\u0130", "\u0131", "\u017f", "\u212a", "`", "\u2019", "?", "\n", "u", "remeber", "wat"]


def forms_of(query: str) -> st.SearchStrategy[str]:
    """A query in other cases, and its words."""
    return st.sampled_from([query, query.upper(), query.title(), *query.split()])


asked = st.lists(st.sampled_from(QUERIES).flatmap(forms_of) | st.sampled_from(ODD), max_size=6)
texts = st.builds(str.join, st.sampled_from([" ", "", "  ", ". "]), asked)


def found_by_all(sentence: str) -> Iterator[tuple[Rule, str]]:
    """What the first rule of each language finds, when all of its phrases are searched for at once."""
    for language in LANGUAGES:
        meant = Spelling(language.spelling).mended(sentence)
        for rule in language.rules:
            phrases = "|".join(f"(?:{phrase})" for phrase in rule.phrases)
            found = re.search(expression(phrases, language), meant, re.IGNORECASE)
            if found:
                yield rule, " ".join(found.group().split())
                break


@given(texts)
def test_what_is_found_is_what_a_search_for_all_phrases_finds(text: str) -> None:
    """The same rules and the same words, in the same order."""
    search = matcher().search(plain(text))
    for sentence in sentences(text):
        found = [(finding.rule, finding.words) for finding in search.findings(sentence)]
        assert found == list(found_by_all(sentence))


@given(st.data())
def test_a_phrase_that_is_found_may_stand_there(data: st.DataObject) -> None:
    """Whatever fits it, with anything around it."""
    phrase = data.draw(st.sampled_from(PHRASES))
    text = data.draw(st.from_regex(re.compile(phrase.expression, re.IGNORECASE)))
    assert phrase.anchors.may_stand_in(Spoken.of(text))


def test_most_phrases_tell_a_word() -> None:
    """The few that do not tell letters: none is searched for in every text."""
    wordless = [phrase for phrase in PHRASES if not phrase.anchors.words]
    assert len(wordless) < len(PHRASES) / 20
    assert all(phrase.anchors.letters for phrase in wordless)


def test_letters_that_are_found_as_others_are_read_as_these() -> None:
    """Of the letters of all scripts, those that a search without regard to case takes for a letter of a phrase."""
    letters = set(same_case("".join(p.expression for p in PHRASES)))
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    for letter in filter(str.isalnum, letters):
        assert {same_case(found) for found in re.findall(letter, everything, re.IGNORECASE)} == {
            letter
        }


SKETCHED = {
    "choices": ("(?:did|do) (?:i|we) \\w+", [{"did", "do"}, {"i", "we"}, {"*"}]),
    "a choice of phrases": ("te acuerdas|recuerdas", [{"te acuerdas", "recuerdas"}]),
    "left out": ("answers? to", [{"answer", "answers"}, {"to"}]),
    "left out with its gap": (
        "what(?: is)? (?:that )?we",
        [{"what", "what is"}, {"we", "that we"}],
    ),
    "come again": ("you(?: <often>)* said", [{"you", "you *"}, {"said"}]),
    "come again, gaps behind": ("^(?:please )*tell me", [{"tell", "* tell"}, {"me"}]),
    "come again, no gaps": ("go(?:es)+ on", [{"go*"}, {"on"}]),
    "come again, some gaps": ("a(?: b|c)+ d", [{"a*"}, {"d"}]),
    "so often": ("a(?: b){1,3}(?: c){0,2} d", [{"a *", "a * *"}, {"d"}]),
    "looked at": ("(?<!if\\s)you (?!can|could)see", [{"you"}, {"see"}]),
    "sets of letters": ("mo[iy] [^?]x", [{"moi", "moy"}, {"*x"}]),
    "signs": ("don't now\\W*$", [{"don"}, {"t"}, {"now", "now * "}]),
    "any words": ("so ... far", [{"so"}, {"***"}, {"far"}]),
    "case that counts": ("did (?-i:Ann)", [{"did"}, {"ann"}]),
    "an expression of its own": (r"x\b(?:\d|\1)", [{"x**"}]),
}


@pytest.mark.parametrize(("phrase", "sketches"), SKETCHED.values(), ids=SKETCHED.keys())
def test_what_phrases_look_like(phrase: str, sketches: list[set[str]]) -> None:
    """Between the gaps that are always there; what cannot be told is left open."""
    assert Sketcher({"often": "just|once"}, spaced=True).stretches(phrase) == sketches


def test_where_nothing_parts_words_each_letter_is_one() -> None:
    """But for Latin ones, which may be a part of a word."""
    assert Sketcher({}, spaced=False).stretches("记x得?") == [{" 记 *", " 记 * 得 "}]


def test_of_too_many_only_the_words_are_sketched_that_meet() -> None:
    """A part without gaps has no words that do not meet; then nothing is told."""
    many = "|".join(f"w{i} and v{i % 100}" for i in range(400))
    assert Sketcher({}, spaced=True).stretches(f"(?:{many})(?:-|es)x") == [
        {f"* v{i}{end}" for i in range(100) for end in (" *x", "esx")}
    ]
    words = "|".join(f"w{i}" for i in range(40))
    assert Sketcher({}, spaced=True).stretches(f"(?:{words})(?:{words})") == [{"*"}]


ANCHORED = {
    "the rarest first": ("what (?:did|do) we", ({"what"}, {"we"}, {"do", "did"}), set[str]()),
    "common to all": ("(?:that )?we", ({"we"},), set[str]()),
    "nothing of a part": ("we \\w+ed", ({"we"},), set[str]()),
    "letters": ("recap\\w+|summ\\w*", (), {"recap", "summ"}),
    "letters, if words are cut": ("re\\w+ (?:so|\\w+)", (), {"re"}),
    "nothing": ("\\w+", (), set[str]()),
}


@pytest.mark.parametrize(("phrase", "words", "letters"), ANCHORED.values(), ids=ANCHORED.keys())
def test_anchors(phrase: str, words: tuple[set[str], ...], letters: set[str]) -> None:
    """One word of each stretch, of all that it may be; letters where there are no words."""
    anchors = Anchors.of(Sketcher({}, spaced=True).stretches(phrase))
    assert set(map(frozenset, anchors.words)) == set(map(frozenset, words))
    assert anchors.words[:1] == tuple(map(frozenset, words[:1]))
    assert anchors.letters == letters
    assert not Anchors.of(Sketcher({}, spaced=True).stretches("ab")).may_stand_in(Spoken.of("abc"))


FOUND = {
    "misspelt, a long s": ("you \u017fugested it", "you suggested"),
    "misspelt, no dots": ("d\u0131dnt you say so?", "didn't you"),
    "a capital that falls apart": ("\u0130YOU KNOW MY", "you know my"),
    "letters, no words": ("On r\u00e9capitule.", "r\u00e9capitule"),
    "what stands first": ("As discussed, you mentioned it", "As discussed"),
    "what is listed first": ("you promised me last time", "you promised me"),
}


@pytest.mark.parametrize(("query", "words"), FOUND.values(), ids=FOUND.keys())
def test_words_that_are_found(query: str, words: str) -> None:
    """Whatever letters they are written with; of the phrases of a rule the one that stands first."""
    assert kind_of(query)[1].endswith(f': "{words}"')
