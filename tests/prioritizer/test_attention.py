"""Texts are scored on a fixed scale, whatever stands beside them; parts of a context are filtered by it."""

import logging
from collections.abc import Callable, Mapping, Sequence
from math import exp, inf, nan
from random import Random
from statistics import mean, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.errors import EmbeddingFailed
from autogen_context.language.terms import terms
from autogen_context.models.relatedness import unrelated
from autogen_context.models.similarity import unit_vector
from autogen_context.prioritizer.attention import (
    MOST_HOLDERS,
    AttentionFilter,
    AttentionScore,
    AttentionScorer,
    ContextPart,
    LexicalIndex,
    relevances,
)

FEW = settings(max_examples=25)
TEXTS = st.sampled_from(
    ["fix the port", "Port 8081", "deploy to Frankfurt", "", "the", "检索结果", "tests fail"]
)
LABELS = st.sampled_from(["goal", "memory", "actions", "Steering"])
PARTS = st.lists(st.builds(ContextPart, LABELS, TEXTS, critical=st.booleans()), max_size=9)


class Meanings:
    """Vectors by a table; texts that are not in it get one that is like no other."""

    def __init__(self, table: Mapping[str, Sequence[float]], *, failing: bool = False) -> None:
        self.table = {text: unit_vector(vector) for text, vector in table.items()}
        self.failing = failing

    def ready(self, text: str) -> Sequence[float] | None:
        """What is in the table."""
        return self.table.get(text)

    async def vectors(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """The same, and something for the rest."""
        if self.failing:
            raise EmbeddingFailed("made up", reason="asked to fail")
        return [self.table.get(text, unit_vector([0.0, 0.0, 1.0])) for text in texts]


APART: dict[str, Sequence[float]] = {key: [0, 0, 1] for key in unrelated()}
MEANINGS = Meanings({"car": [1, 0, 0], "automobile": [0.9, 0.1, 0], "banana": [0, 1, 0], **APART})
FRUIT = [ContextPart("memory", "automobile"), ContextPart("memory", "banana")]


@FEW
@given(PARTS, PARTS, TEXTS, TEXTS)
def test_a_part_scores_the_same_in_any_company(
    before: list[ContextPart], after: list[ContextPart], text: str, query: str
) -> None:
    """F24: the scale 0..1 is the query itself, whatever stands beside a part; shares follow the scores and add up to 1."""
    part = ContextPart("memory", text)
    parts = [*before, part, *after]
    found = AttentionScorer(temperature=0.2).score_nowait(query, parts)
    [alone] = AttentionScorer(temperature=0.2).score_nowait(query, [part])
    among = found[len(before)]
    assert (among.score, among.reasons) == (alone.score, alone.reasons)
    assert [score.part for score in found] == parts
    assert sum(score.share for score in found) == pytest.approx(1)
    for score in found:
        assert 0 <= score.score <= 1
        assert score.reasons
        ratio = exp((score.score - among.score) / 0.2)
        assert score.share / among.share == pytest.approx(ratio)


def test_parts_that_are_alike_are_all_kept() -> None:
    """F24: what all of them share is asked for all the same; by shares, 0.15 would drop all beyond six."""
    parts = [ContextPart("memory", f"the port of server {i} is {8080 + i}") for i in range(50)]
    scores = AttentionScorer().score_nowait("Which port does the server use?", parts)
    assert min(score.score for score in scores) > 0.5
    assert len(AttentionFilter(threshold=0.15).filter(scores)) == len(parts)
    assert not any(score.share >= 0.15 for score in scores)
    assert {score.temperature for score in scores} == {0.1}


def test_nothing_in_common_is_no_error() -> None:
    """All score 0 and say so, also where there is no query or no part."""
    parts = [ContextPart("memory", "deploy"), ContextPart("actions", "")]
    for query in ("bananas", "", "the"):
        found = AttentionScorer().score_nowait(query, parts)
        assert [(each.score, each.reasons) for each in found] == [(0, ("no word in common",))] * 2
    assert AttentionScorer().score_nowait("port", []) == []


def test_reasons_name_the_words() -> None:
    """As the query has them, three at most; and what is critical."""
    part = ContextPart("goal", "server ports, users and the logs of tests", critical=True)
    query = "Which port, server and user logs tested? Ports?"
    [score] = AttentionScorer().score_nowait(query, [part])
    assert score.reasons == (f"words {score.score:.2f}: port, server, user", "critical")


async def test_meaning_is_fused() -> None:
    """G28: what shares no word but means the same counts fully, as do the words alone; unrelated parts stay at 0."""
    same, other = await AttentionScorer(MEANINGS).score("car", FRUIT)
    assert same.score == pytest.approx(1, abs=0.01)
    assert same.reasons == ("no word in common", "meaning 0.99")
    assert other.score == 0
    assert AttentionScorer(MEANINGS).score_nowait("car", FRUIT) == [same, other]
    [unknown] = AttentionScorer(MEANINGS).score_nowait("car", [ContextPart("memory", "a car")])
    assert unknown.reasons == ("words 1.00: car",)


async def test_a_failing_model_leaves_the_words(caplog: pytest.LogCaptureFixture) -> None:
    """Scores are those by words, and the log says so without any text."""
    parts = [ContextPart("memory", "secret car"), *FRUIT]
    with caplog.at_level(logging.WARNING):
        found = await AttentionScorer(Meanings({}, failing=True)).score("car", parts)
    assert found == AttentionScorer().score_nowait("car", parts)
    assert [record.message for record in caplog.records] == ["parts are scored by words alone"]
    assert "car" not in str([vars(record) for record in caplog.records])


SCORES = st.lists(
    st.builds(
        AttentionScore,
        part=st.builds(ContextPart, LABELS, TEXTS, critical=st.booleans()),
        score=st.floats(0, 1),
        share=st.just(0.01),
        temperature=st.just(0.1),
        reasons=st.just(()),
    ),
    max_size=12,
)


@FEW
@given(SCORES, st.floats(0, 1), st.none() | st.integers(1, 14))
def test_a_filter_keeps_the_best(
    scores: list[AttentionScore], threshold: float, top_k: int | None
) -> None:
    """P4: what reaches the threshold, or in its place the k best, and all that is critical; best first, equals in order."""
    kept = AttentionFilter(threshold=threshold, top_k=top_k).filter(scores)
    ranked = sorted(scores, key=lambda score: -score.score)
    assert kept == [
        score
        for place, score in enumerate(ranked)
        if score.part.critical
        or score.part.label in {"goal", "Steering"}
        or (score.score >= threshold if top_k is None else place < top_k)
    ]


def test_noise_goes() -> None:
    """P4: where a third of the parts has to do with the query, a fifth of the text goes at least, and none of that third."""
    noise = [" ".join(f"w{(row * 37 + n * 53) % 900}x" for n in range(20)) for row in range(20)]
    wanted = [f"{text} refund of booking {i}" for i, text in enumerate(noise[:7])]
    parts = [ContextPart("memory", text) for text in (*wanted, *noise[7:])]
    scores = AttentionScorer().score_nowait("refund the booking", parts)
    kept = [score.part.text for score in AttentionFilter().filter(scores)]
    assert {*wanted} <= {*kept}
    assert sum(map(len, kept)) <= 0.8 * sum(len(part.text) for part in parts)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"threshold": -0.1}, r"threshold=-0\.1: give a score from 0 to 1"),
        ({"threshold": nan}, "threshold=nan: give a score from 0 to 1"),
        ({"top_k": 0}, "top_k=0: give 1 or more, or None"),
        ({"critical_labels": "goal"}, "critical_labels='goal': give several, such as"),
    ],
)
def test_a_filter_of_nothing_that_is_one(wrong: dict[str, float], message: str) -> None:
    """The error names the argument, its value and a way out."""
    with pytest.raises(ValueError, match=message):
        AttentionFilter(**wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - the point
    with pytest.raises(ValueError, match="temperature=inf: give a positive number"):
        AttentionScorer(temperature=inf)


# ---- relevance of texts

TERMS = st.sampled_from(
    ["port", "server", "user_id", "Deploy", "the", "tests", "8081", "检索", "?"]
)
SAYINGS = st.lists(TERMS, max_size=12).map(" ".join) | st.text(max_size=30)
CORPORA = st.lists(SAYINGS, max_size=12)
WAYS: dict[str, Callable[[str, list[str]], list[float]]] = {
    "index": lambda query, texts: listed(index_of(texts).scores(query), len(texts)),
    "alone": relevances,
}


def listed(scores: dict[int, float], count: int) -> list[float]:
    """A score for each."""
    return [scores.get(at, 0.0) for at in range(count)]


def index_of(texts: list[str]) -> LexicalIndex:
    """An index with these documents."""
    index = LexicalIndex()
    for text in texts:
        index.add(text)
    return index


@pytest.mark.parametrize("way", WAYS)
@FEW
@given(before=CORPORA, query=SAYINGS, after=CORPORA)
def test_one_score_a_document(way: str, before: list[str], query: str, after: list[str]) -> None:
    """P3: each in 0..1, 0 for no term in common, and 1 for the query itself, whatever else is there."""
    texts = [*before, query, *after]
    scores = WAYS[way](query, texts)
    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)
    for text, score in zip(texts, scores, strict=True):
        assert (score > 0) == (not {*terms(text)}.isdisjoint(terms(query)))
    assert scores[len(before)] == bool(terms(query))


@FEW
@given(kept=CORPORA, gone=CORPORA, query=SAYINGS)
def test_what_is_forgotten_leaves_no_trace(kept: list[str], gone: list[str], query: str) -> None:
    """A truncated index is one that never had more, also for what is added later, and if it was asked before."""
    index = index_of([*kept, *gone])
    index.truncate(len(kept))
    assert index.scores(query) == index_of(kept).scores(query)
    index.add(query)
    assert index.scores(query) == index_of([*kept, query]).scores(query)
    with pytest.raises(ValueError, match=f"documents={len(kept) + 2}: give 0 to {len(kept) + 1}"):
        index.truncate(len(kept) + 2)
    index.truncate(0)
    assert vars(index) == vars(LexicalIndex())


def test_a_frequent_word_costs_no_more_in_a_longer_history() -> None:
    """F15: beyond ``MOST_HOLDERS`` documents it counts where a rarer one stands, or in the newest."""
    index = index_of([f"port {n % 40}x" for n in range(MOST_HOLDERS + 40)])
    newest = range(40, MOST_HOLDERS + 40)
    assert index.scores("port").keys() == {*newest}
    assert index.scores("port 7x").keys() == {n for n in range(MOST_HOLDERS + 40) if n % 40 == 7}


@pytest.mark.parametrize("way", ["index", "alone"])
@pytest.mark.parametrize(("words", "documents"), [(6, 300), (60, 3)])
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
