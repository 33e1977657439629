"""What a person asks for: rules over whole words, measured on labelled queries."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.language.query import END_CHARS, kind_of
from autogen_context.language.query_matcher import Matcher
from autogen_context.language.query_rules import Language, QueryKind, Rule

Labelled = dict[str, dict[str, dict[QueryKind, list[str]]]]
LABELLED: Labelled = json.loads((Path(__file__).parent / "recall_queries.json").read_text("utf-8"))
RECALL_WORDS = (
    "remember what did when did you mentioned we talked about last time again summarise so far"
)


def queries(half: str) -> list[tuple[QueryKind, str]]:
    """The queries of a half, each with its label."""
    return [
        (kind, query)
        for kinds in LABELLED[half].values()
        for kind, listed in kinds.items()
        for query in listed
    ]


def precision_and_recall(half: str, kind: QueryKind) -> tuple[float, float]:
    """Of those found, how many are of the kind; of those of the kind, how many are found."""
    pairs = [(label == kind, kind_of(query)[0] == kind) for label, query in queries(half)]
    right = pairs.count((True, True))
    return right / sum(found for _, found in pairs), right / sum(label for label, _ in pairs)


def test_the_set_is_large_and_has_no_query_twice() -> None:
    """Each half has more than 240 queries, and none is in both."""
    texts = [query for half in LABELLED for _, query in queries(half)]
    assert min(len(queries(half)) for half in LABELLED) > 240
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("half", ["tuned", "held"])
@pytest.mark.parametrize("kind", ["recall", "summary"])
def test_nine_of_ten_at_least(half: str, kind: QueryKind) -> None:
    """On both halves, precision and recall are 0.9 or more; docs/guides/recall.md has the figures."""
    precision, recall = precision_and_recall(half, kind)
    assert precision >= 0.9
    assert recall >= 0.9


WHOLE_WORDS = {
    "when it rains": "I like it when it rains",
    "what different": "What different ways are there?",
    "somewhat didactic": "This is somewhat didactic.",
    "remembered": "The dog remembered its owner.",
    "whenever I": "Whenever I open it, it crashes.",
}


@pytest.mark.parametrize("query", WHOLE_WORDS.values(), ids=WHOLE_WORDS.keys())
def test_parts_of_words_decide_nothing(query: str) -> None:
    """The phrases "when i", "what di…" and "remember" inside of other words or phrases ask for nothing."""
    assert kind_of(query)[0] == "casual"


APART: dict[str, tuple[str, QueryKind]] = {
    "said by you": ("What did you say the port was?", "recall"),
    "known by all": ("What did Python 3.12 add?", "casual"),
    "asked to remember": ("Do you remember my dog's name?", "recall"),
    "told to remember": ("Remember to run the tests", "casual"),
    "told to keep": ("remember that I like tea", "casual"),
    "a person": ("When did Melanie run a charity race?", "recall"),
    "an event": ("When did the Berlin Wall fall?", "casual"),
    "a text": ("Summarise this article", "casual"),
    "the conversation": ("Summarise what we did", "summary"),
    "both": ("Quick recap please. What did I say about the port?", "recall"),
    "other quotes": ("What\u2019s my dog\u2019s name?", "recall"),
    "misspelt": ("wat did u say", "recall"),
    "shouted": ("WHAT DID YOU SAY?", "recall"),
    "nothing": ("", "casual"),
    "no words": ("?!", "casual"),
}


@pytest.mark.parametrize(("query", "kind"), APART.values(), ids=APART.keys())
def test_what_is_told_apart(query: str, kind: QueryKind) -> None:
    """Words are shared, meanings are not."""
    assert kind_of(query)[0] == kind


@given(st.text(max_size=300) | st.lists(st.sampled_from(RECALL_WORDS.split())).map(" ".join))
def test_any_text_has_a_kind_and_a_reason(query: str) -> None:
    """The same one each time; the words that are given as its reason stand in the query."""
    kind, reason = kind_of(query)
    assert (kind, reason) == kind_of(query)
    assert reason
    if kind != "casual":
        found = reason.partition('"')[2].removesuffix('"')
        assert " ".join(found.lower().split()) in " ".join(query.lower().replace("`", "'").split())


@given(st.sampled_from(["\n", " "]), st.integers(2, 50))
def test_people_ask_before_or_behind_what_they_paste(gap: str, times: int) -> None:
    """In a long text only both ends are read, whole; what stands in the middle is no question to us."""
    pasted = "all is well here. " * (END_CHARS // 18 * times)
    question = "What did you say the port was?"
    assert kind_of(f"{question}{gap}{pasted}")[0] == "recall"
    assert kind_of(f"{pasted}{gap}{question}")[0] == "recall"
    assert kind_of(f"{pasted}{gap}{question}{gap}{pasted}")[0] == "casual"


def test_a_language_is_one_more_table() -> None:
    """Rules are asked in their order; spellings are mended first; ``<word>`` and ``...`` stand for what they say."""
    table = Language(
        rules=(
            Rule(kind="casual", reason="an order", phrases=("^pamini ",)),
            Rule(kind="recall", reason="a question", phrases=("<who> ... pamin",)),
        ),
        words={"who": "<you>|ni", "you": "vi"},
        spelling={"pmin": "pamin"},
    )
    matcher = Matcher(table)
    texts = ("vi ankoraŭ pmin", "pamini vi x pamin", "vi paminx")
    found = [list(matcher.search(text).findings(text)) for text in texts]
    assert [[(f.rule.kind, f.words) for f in findings] for findings in found] == [
        [("recall", "vi ankoraŭ pamin")],
        [("casual", "pamini")],
        [],
    ]
