"""Scores by words: on one scale for all queries, and the same however the documents came; and what neighbours lend."""

from collections.abc import Callable
from itertools import pairwise
from math import inf, nan
from random import Random
from statistics import mean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.language.terms import terms
from autogen_context.prioritizer.relevance import (
    REACH,
    LexicalIndex,
    fused,
    means_around,
    relatedness,
    relevances,
)

WORDS = st.sampled_from(
    ["port", "server", "user_id", "Deploy", "the", "tests", "8081", "检索", "?"]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=30)
CORPORA = st.lists(TEXTS, max_size=12)
SHARES = st.floats(0, 1)
FILLER = ["alpha", "beta", "gamma", "delta", "epsilon"]
WAYS: dict[str, Callable[[str, list[str]], list[float]]] = {
    "index": lambda query, texts: index_of(texts).scores(query),
    "nearby": lambda query, texts: index_of(texts).scores_nearby(query),
    "alone": relevances,
}


def index_of(texts: list[str]) -> LexicalIndex:
    """An index with these documents."""
    index = LexicalIndex()
    for text in texts:
        index.add(text)
    return index


@pytest.mark.parametrize("way", WAYS)
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


@given(texts=CORPORA, query=st.dictionaries(TEXTS, st.floats(0.01, 100), max_size=4))
def test_several_texts_are_a_weighted_mean(texts: list[str], query: dict[str, float]) -> None:
    """Each text of a query has its own scores; those without a term are left out."""
    telling = {text: weight for text, weight in query.items() if terms(text)}
    for i, score in enumerate(relevances(query, texts)):
        parts = [w * relevances(text, texts)[i] for text, w in telling.items()]
        assert score == pytest.approx(sum(parts) / (sum(telling.values()) or 1))


@pytest.mark.parametrize("way", ["index", "alone"])
def test_more_of_the_query_scores_more(way: str) -> None:
    """Each word of it that a document has in addition counts; the same among more others counts less."""
    words = ["rotate", "all", "database", "credentials", "until", "friday", "in", "frankfurt"]
    texts = [" ".join(words[:n]) for n in range(1, len(words) + 1)]
    scores = WAYS[way](texts[-1], texts)
    assert all(one <= other for one, other in pairwise(scores))
    assert (scores[0] < 0.3, scores[-1]) == (True, 1)
    longer = [f"deploy port {' '.join(FILLER * n)}" for n in range(5)]
    assert all(one > other > 0 for one, other in pairwise(WAYS[way]("deploy port", longer)))


def test_rare_words_say_more() -> None:
    """In a list a word of one document counts more than one of all of them."""
    index = index_of(["port alpha", "port beta", "port gamma", "frankfurt delta"])
    common, rare = index.scores("port frankfurt")[2:]
    assert rare > 2 * common


def test_neighbours_lend_their_words() -> None:
    """The nearer, the more; beyond four messages nothing; and less among long ones."""
    texts = ["alpha"] * 6 + ["the port is 8081"] + ["alpha"] * 6
    scores = index_of(texts).scores_nearby("port")
    assert scores == pytest.approx(list(reversed(scores)))
    assert scores[:2] == [0, 0]
    assert all(one < other for one, other in pairwise(scores[1:7]))
    short, long = ["alpha"] * 5, [" ".join(FILLER * 4)] * 5
    scores = index_of([*short, "port", *short, *long, "port", *long]).scores_nearby("port")
    assert scores[5] > 1.2 * scores[16] > 0


@given(st.lists(st.sampled_from([0, 0, 1, 2, 500]), max_size=25))
def test_a_mean_counts_neighbours_by_halves(counts: list[int]) -> None:
    """Of a value and four on each side, as far as there are any."""
    for place, found in enumerate(means_around(counts)):
        near = {i: 2.0 ** -abs(i - place) for i in range(len(counts)) if abs(i - place) <= REACH}
        expected = sum(w * counts[i] for i, w in near.items()) / sum(near.values())
        assert found == pytest.approx(expected)


@given(st.lists(st.tuples(SHARES, st.none() | SHARES), max_size=9))
def test_fusion_stays_between(pairs: list[tuple[float, float | None]]) -> None:
    """A fused score is the mean of both, or the one that there is."""
    lexical, semantic = [words for words, _ in pairs], [meaning for _, meaning in pairs]
    expected = [words if meaning is None else (words + meaning) / 2 for words, meaning in pairs]
    assert fused(lexical, semantic) == pytest.approx(expected)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_relatedness_is_a_fixed_line(one: float, other: float) -> None:
    """It grows with the cosine, from 0 for unrelated texts to 1 for the same."""
    assert 0 <= relatedness(one) <= 1
    assert (relatedness(one) - relatedness(other)) * (one - other) >= 0
    assert (relatedness(1), relatedness(0.1), relatedness(-1)) == (1, 0, 0)


@pytest.mark.parametrize("weight", [0, -1.0, nan, inf])
def test_a_weight_is_positive(weight: float) -> None:
    """The error names the weight, its text, and what to do."""
    with pytest.raises(ValueError, match=rf"weight {weight} of 'old'; give a positive number"):
        relevances({"new": 1.0, "old": weight}, [])


@pytest.mark.parametrize("documents", [-1, 3])
def test_a_truncation_is_within(documents: int) -> None:
    """The error names what is there."""
    with pytest.raises(ValueError, match=f"documents={documents}: give 0 to 2"):
        index_of(["a1", "b2"]).truncate(documents)


@pytest.mark.parametrize("way", ["index", "alone"])
@pytest.mark.parametrize(("words", "documents"), [(6, 3), (60, 3), (6, 300)])
def test_scores_mean_the_same_from_query_to_query(way: str, words: int, documents: int) -> None:
    """Half of a query scores about a half, others near zero: short queries or long, few documents or many."""
    random = Random(words * documents)  # noqa: S311 - no secret

    def made_up(count: int) -> list[str]:
        return [f"w{int(3_000 ** random.random())}x" for _ in range(count)]

    texts = [" ".join(made_up(random.randrange(5, 60))) for _ in range(documents)]
    halves, others = list[float](), list[float]()
    for _ in range(20):
        query = made_up(words)
        half = " ".join(random.sample(query, words // 2))
        *rest, score = WAYS[way](" ".join(query), [*texts, half])
        halves.append(score)
        others += rest
    assert 0.4 < median(halves) < 0.7
    assert sum(0.15 < score < 0.9 for score in halves) >= 0.9 * len(halves)
    assert mean(others) < 0.15
