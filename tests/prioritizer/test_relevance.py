"""Scores by words: on one scale for all queries, and the same however the documents came; and what neighbours lend."""

from collections.abc import Callable
from itertools import pairwise
from math import inf, nan
from random import Random
from statistics import mean, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.language.terms import terms
from autogen_context.prioritizer.attention import (
    LexicalIndex,
    fused,
    relatedness,
    relevances,
)

WORDS = st.sampled_from(
    ["port", "server", "user_id", "Deploy", "the", "tests", "8081", "检索", "?"]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=30)
CORPORA = st.lists(TEXTS, max_size=12)
FEW = settings(max_examples=30)
FILLER = ["alpha", "beta", "gamma", "delta", "epsilon"]
WAYS: dict[str, Callable[[str, list[str]], list[float]]] = {
    "index": lambda query, texts: in_order(index_of(texts).scores(query), texts),
    "nearby": lambda query, texts: in_order(index_of(texts).scores_nearby(query), texts),
    "alone": relevances,
}


def index_of(texts: list[str]) -> LexicalIndex:
    """An index with these documents."""
    index = LexicalIndex()
    for text in texts:
        index.add(text)
    return index


def in_order(scores: dict[int, float], texts: list[str]) -> list[float]:
    """The score of each text."""
    return [scores.get(at, 0.0) for at in range(len(texts))]


@pytest.mark.parametrize("way", WAYS)
@FEW
@given(before=CORPORA, query=TEXTS, after=CORPORA)
def test_one_score_a_document(way: str, before: list[str], query: str, after: list[str]) -> None:
    """P3: each in 0..1, 0 for no term in common, and 1 for the query itself, whatever else is there."""
    texts = [*before, query, *after]
    scores = WAYS[way](query, texts)
    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)
    if way != "nearby":
        for text, score in zip(texts, scores, strict=True):
            assert (score > 0) == (not {*terms(text)}.isdisjoint(terms(query)))
        assert scores[len(before)] == bool(terms(query))


@FEW
@given(kept=CORPORA, gone=CORPORA, query=TEXTS)
def test_what_is_forgotten_leaves_no_trace(kept: list[str], gone: list[str], query: str) -> None:
    """A truncated index is one that never had more, also for what is added later, and if it was asked before."""
    index = index_of([*kept, *gone])
    index.scores_nearby("port")
    index.truncate(len(kept))
    assert index.scores_nearby(query) == index_of(kept).scores_nearby(query)
    index.add(query)
    assert index.scores_nearby(query) == index_of([*kept, query]).scores_nearby(query)
    index.truncate(0)
    assert vars(index) == vars(LexicalIndex())


@FEW
@given(texts=CORPORA, query=st.dictionaries(TEXTS, st.floats(0.01, 100), max_size=4))
def test_several_texts_are_a_weighted_mean(texts: list[str], query: dict[str, float]) -> None:
    """Each text of a query has its own scores; those without a term are left out."""
    telling = {text: weight for text, weight in query.items() if terms(text)}
    for i, score in enumerate(relevances(query, texts)):
        parts = [w * relevances(text, texts)[i] for text, w in telling.items()]
        assert score == pytest.approx(sum(parts) / (sum(telling.values()) or 1))


def test_neighbours_lend_their_words() -> None:
    """The nearer, the more; beyond four messages nothing; and less among long ones."""
    texts = ["alpha"] * 6 + ["the port is 8081"] + ["alpha"] * 6
    scores = in_order(index_of(texts).scores_nearby("port"), texts)
    assert scores == pytest.approx(list(reversed(scores)))
    assert scores[:2] == [0, 0]
    assert all(one < other for one, other in pairwise(scores[1:7]))
    short, long = ["alpha"] * 5, [" ".join(FILLER * 4)] * 5
    by_position = index_of([*short, "port", *short, *long, "port", *long]).scores_nearby("port")
    assert by_position[5] > 1.2 * by_position[16] > 0


@pytest.mark.parametrize("weight", [0, -1.0, nan, inf])
def test_a_weight_is_positive(weight: float) -> None:
    """The error names the weight, its text, and what to do; that of a truncation what is there."""
    with pytest.raises(ValueError, match=rf"weight {weight} of 'old'; give a positive number"):
        relevances({"new": 1.0, "old": weight}, [])
    with pytest.raises(ValueError, match="documents=3: give 0 to 2"):
        index_of(["a1", "b2"]).truncate(3)


def test_words_and_meaning_count_half_each() -> None:
    """A mean of both, or the one by words; of a cosine what is more than that of unrelated texts."""
    assert fused([0.2, 0.2], [0.6, None]) == pytest.approx([0.4, 0.2])
    assert (relatedness(1), relatedness(0.1), relatedness(-1)) == (1, 0, 0)
    assert 0 < relatedness(0.5) < relatedness(0.6)


@pytest.mark.parametrize("way", ["index", "alone"])
@pytest.mark.parametrize(("words", "documents"), [(6, 3), (60, 3), (6, 300)])
def test_scores_mean_the_same_from_query_to_query(way: str, words: int, documents: int) -> None:
    """Half of a query scores about a half, others near zero: short queries or long, few documents or many."""
    random = Random(words * documents)  # noqa: S311 - no secret

    def made_up(count: int) -> list[str]:
        return [f"w{int(3_000 ** random.random())}x" for _ in range(count)]

    texts = [" ".join(made_up(random.randrange(5, 60))) for _ in range(documents)]
    halves, others = list[float](), list[float]()
    for _ in range(10):
        query = made_up(words)
        half = " ".join(random.sample(query, words // 2))
        *rest, score = WAYS[way](" ".join(query), [*texts, half])
        halves.append(score)
        others += rest
    assert 0.4 < median(halves) < 0.7
    assert sum(0.15 < score < 0.9 for score in halves) >= 0.9 * len(halves)
    assert mean(others) < 0.15
