"""Scores by words: on one scale for all queries, and the same however the documents came."""

from itertools import pairwise
from math import inf, nan
from random import Random
from statistics import mean, median

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autogen_context.language.terms import terms
from autogen_context.prioritizer.relevance.lexical import LexicalIndex, fused, relatedness

WORDS = st.sampled_from(
    ["port", "server", "user_id", "Deploy", "the", "tests", "8081", "检索", "cache", "?"]
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=30)
CORPORA = st.lists(TEXTS, max_size=12)
QUERIES = TEXTS | st.dictionaries(TEXTS, st.floats(0.01, 100), max_size=4)
SHARES = st.floats(0, 1)
FILLER = ["alpha", "beta", "gamma", "delta", "epsilon"]


def index_of(texts: list[str]) -> LexicalIndex:
    """An index with these documents."""
    index = LexicalIndex()
    for text in texts:
        index.add(text)
    return index


@given(texts=CORPORA, query=QUERIES, nearby=st.booleans())
def test_one_score_a_document(
    texts: list[str], query: str | dict[str, float], *, nearby: bool
) -> None:
    """For any query there are as many scores as documents, each in 0..1, the same each time."""
    index = index_of(texts)
    scores = index.scores(query, nearby=nearby)
    assert len(scores) == len(index) == len(texts)
    assert all(0 <= score <= 1 for score in scores)
    assert index.scores(query, nearby=nearby) == scores


@given(CORPORA, TEXTS, CORPORA)
def test_the_query_itself_scores_one(before: list[str], query: str, after: list[str]) -> None:
    """Whatever else is there, and wherever it stands."""
    assume(terms(query))
    assert index_of([*before, query, *after]).scores(query)[len(before)] == 1


@given(CORPORA, TEXTS)
def test_no_term_in_common_scores_zero(texts: list[str], query: str) -> None:
    """And only that: what shares a term has a score."""
    scores = index_of(texts).scores(query)
    for text, score in zip(texts, scores, strict=True):
        assert (score > 0) == (not {*terms(text)}.isdisjoint(terms(query)))


@given(kept=CORPORA, gone=CORPORA, query=TEXTS, nearby=st.booleans())
def test_what_is_forgotten_leaves_no_trace(
    kept: list[str], gone: list[str], query: str, *, nearby: bool
) -> None:
    """A truncated index is one that never had more, also for what is added later, and if it was asked before."""
    index = index_of([*kept, *gone])
    index.scores("port", nearby=nearby)
    index.truncate(len(kept))
    assert len(index) == len(kept)
    assert index.scores(query, nearby=nearby) == index_of(kept).scores(query, nearby=nearby)
    index.add(query)
    whole = index_of([*kept, query])
    assert index.scores(query, nearby=nearby) == whole.scores(query, nearby=nearby)
    index.truncate(0)
    assert vars(index) == vars(LexicalIndex())


@given(
    texts=CORPORA,
    query=st.dictionaries(TEXTS, st.floats(0.01, 100), max_size=4),
    nearby=st.booleans(),
)
def test_several_texts_are_a_weighted_mean(
    texts: list[str], query: dict[str, float], *, nearby: bool
) -> None:
    """Each text of a query has its own scores; those without a term are left out."""
    index = index_of(texts)
    telling = {text: weight for text, weight in query.items() if terms(text)}
    for i, score in enumerate(index.scores(query, nearby=nearby)):
        parts = [w * index.scores(text, nearby=nearby)[i] for text, w in telling.items()]
        assert score == pytest.approx(sum(parts) / (sum(telling.values()) or 1))


@given(CORPORA, TEXTS, st.data())
def test_some_documents_score_as_among_all(
    texts: list[str], query: str, data: st.DataObject
) -> None:
    """Whichever are asked for: what is near them counts, whether it is asked for or not."""
    index = index_of(texts)
    asked = [document for document in range(len(texts)) if data.draw(st.booleans())]
    everything = index.scores(query, nearby=True)
    assert index.scores_nearby(query, asked) == [everything[document] for document in asked]


def test_more_of_the_query_scores_more() -> None:
    """Each word of it that a document has in addition counts."""
    words = ["rotate", "all", "database", "credentials", "until", "friday", "in", "frankfurt"]
    texts = [" ".join(words[:n]) for n in range(1, len(words) + 1)]
    scores = index_of(texts).scores(texts[-1])
    assert all(one <= other for one, other in pairwise(scores))
    assert (scores[0] < 0.3, scores[-1]) == (True, 1)


def test_rare_words_say_more() -> None:
    """A word of one document counts more than one of all of them."""
    index = index_of(["port alpha", "port beta", "port gamma", "frankfurt delta"])
    common, rare = index.scores("port frankfurt")[2:]
    assert rare > 2 * common


def test_length_counts_against() -> None:
    """The same words among others score less, the fewer others the better."""
    texts = [f"deploy port {' '.join(FILLER * n)}" for n in range(5)]
    scores = index_of(texts).scores("deploy port")
    assert all(one > other > 0 for one, other in pairwise(scores))


def test_long_queries_do_not_punish() -> None:
    """A document that is shorter than the query is not too long for it."""
    query = " ".join(f"word{i}x" for i in range(100))
    half = " ".join(f"word{i}x" for i in range(50))
    assert 0.4 < index_of(["port", "server", half]).scores(query)[2] < 0.7


def test_again_and_again_says_a_little_more() -> None:
    """A word that is repeated counts more, but not as often as it stands there."""
    index = index_of(["port alpha beta gamma", "port port port gamma", "delta"])
    once, thrice, _ = index.scores("port deploy cache")
    assert 1.3 * once < thrice < 2 * once


def test_what_a_query_repeats_is_wanted_again() -> None:
    """A document that says it once has less than all of the query."""
    once, thrice, *_ = index_of(["port", "port port port", *FILLER]).scores("port port port")
    assert 0.5 < once < thrice == 1


def test_no_text_of_a_query_counts_for_another() -> None:
    """A document that says one of them again and again has all of that one, and nothing of the other."""
    index = index_of(["port port port port", *FILLER])
    assert index.scores("port")[0] == 1
    assert index.scores({"port": 1.0, "deploy": 1.0})[0] == 0.5


def test_a_word_that_nobody_has_counts() -> None:
    """What no document holds is missed in all of them, as much as what one holds is in the others."""
    index = index_of(["port", "deploy"])
    assert index.scores("port nowhere")[0] == index.scores("port deploy")[0]


def test_neighbours_lend_their_words() -> None:
    """The nearer, the more; beyond four messages nothing."""
    texts = ["alpha"] * 6 + ["the port is 8081"] + ["alpha"] * 6
    scores = index_of(texts).scores("port", nearby=True)
    assert scores == pytest.approx(list(reversed(scores)))
    assert scores[:2] == [0, 0]
    assert all(one < other for one, other in pairwise(scores[1:7]))
    assert index_of(texts).scores("port")[5] == 0


def test_long_neighbours_count_against() -> None:
    """Two messages say the same; the one among longer ones has less to do with it."""
    short, long = ["alpha"] * 5, [" ".join(FILLER * 4)] * 5
    scores = index_of([*short, "port", *short, *long, "port", *long]).scores("port", nearby=True)
    assert scores[5] > 1.2 * scores[16] > 0


def test_an_answer_is_found_by_its_question() -> None:
    """Of two like answers, the one beside the question stands out; alone they are equal."""
    texts = [*FILLER, "Which port?", "Take 8081.", *FILLER, "Take 8081.", *FILLER]
    index = index_of(texts)
    right, wrong = texts.index("Take 8081."), len(texts) - 1 - len(FILLER)
    assert index.scores("port 8081")[right] == index.scores("port 8081")[wrong]
    nearby = index.scores("port 8081", nearby=True)
    assert nearby[right] > 1.3 * nearby[wrong]


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
    assert relatedness(0.55) == pytest.approx(0.5)


@pytest.mark.parametrize("weight", [0, -1.0, nan, inf])
def test_a_weight_is_positive(weight: float) -> None:
    """The error names the weight, its text, and what to do."""
    with pytest.raises(ValueError, match=rf"weight {weight} of 'old'; give a positive number"):
        LexicalIndex().scores({"new": 1.0, "old": weight})


@pytest.mark.parametrize("documents", [-1, 3])
def test_a_truncation_is_within(documents: int) -> None:
    """The error names what is there."""
    with pytest.raises(ValueError, match=f"documents={documents}: give 0 to 2"):
        index_of(["a1", "b2"]).truncate(documents)


# ---- the scale


def made_up(random: Random, words: int) -> str:
    """Words as often as in a language: the n-th has a share of about 1/n."""
    return " ".join(f"w{int(3_000 ** random.random())}x" for _ in range(words))


def query_and_halves(random: Random, words: int) -> tuple[str, str]:
    """A text, and a half of its words."""
    text = made_up(random, words).split()
    return " ".join(text), " ".join(random.sample(text, words // 2))


@pytest.mark.parametrize("words", [6, 15, 60])
@pytest.mark.parametrize("documents", [3, 30, 300])
def test_scores_mean_the_same_from_query_to_query(words: int, documents: int) -> None:
    """Half of a query scores about a half, others near zero: short queries or long, few documents or many."""
    halves, others = list[float](), list[float]()
    random = Random(words * documents)  # noqa: S311 - no secret
    texts = [made_up(random, random.randrange(5, 60)) for _ in range(documents)]
    index = index_of(texts)
    for _ in range(40):
        query, half = query_and_halves(random, words)
        index.add(half)
        *rest, score = index.scores(query)
        index.truncate(documents)
        halves.append(score)
        others += rest
    assert 0.4 < median(halves) < 0.7
    assert sum(0.15 < score < 0.9 for score in halves) >= 0.9 * len(halves)
    assert mean(others) < 0.15
