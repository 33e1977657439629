"""Parts of a context are scored on a fixed scale, whatever stands beside them, and filtered by it."""

import logging
from collections.abc import Mapping, Sequence
from math import exp, inf, nan
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.errors import EmbeddingFailed
from autogen_context.models.similarity import unit_vector
from autogen_context.prioritizer.attention import (
    AttentionFilter,
    AttentionScore,
    AttentionScorer,
    ContextPart,
)

FEW = settings(max_examples=40)
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


MEANINGS = Meanings({"car": [1, 0, 0], "automobile": [0.9, 0.1, 0], "banana": [0, 1, 0]})
FRUIT = [ContextPart("memory", "automobile"), ContextPart("memory", "banana")]


@FEW
@given(PARTS, TEXTS)
def test_each_part_has_a_score_and_a_fraction(parts: list[ContextPart], query: str) -> None:
    """Scores in 0..1 in the order of the parts; shares in the order of scores, 1 in all; a reason for each."""
    found = AttentionScorer(temperature=0.2).score_nowait(query, parts)
    assert [score.part for score in found] == parts
    assert sum(score.share for score in found) == pytest.approx(1 if parts else 0)
    for score in found:
        assert 0 <= score.score <= 1
        assert score.reasons
        assert score.share / found[0].share == pytest.approx(
            exp((score.score - found[0].score) / 0.2)
        )


@FEW
@given(PARTS, PARTS, TEXTS, TEXTS)
def test_the_scale_is_the_query_itself(
    before: list[ContextPart], after: list[ContextPart], text: str, query: str
) -> None:
    """F24: a part scores beside others, alike or not, what it scores alone."""
    part = ContextPart("memory", text)
    [alone] = AttentionScorer().score_nowait(query, [part])
    among = AttentionScorer().score_nowait(query, [*before, part, *after])[len(before)]
    assert (among.score, among.reasons) == (alone.score, alone.reasons)


@pytest.mark.parametrize("count", [1, 7, 50])
def test_parts_that_are_alike_are_all_kept(count: int) -> None:
    """F24: what all of them share is asked for all the same; by shares, 0.15 would drop all beyond six."""
    parts = [ContextPart("memory", f"the port of server {i} is {8080 + i}") for i in range(count)]
    scores = AttentionScorer().score_nowait("Which port does the server use?", parts)
    assert min(score.score for score in scores) > 0.5
    assert len(AttentionFilter(threshold=0.15).filter(scores)) == count
    assert any(score.share >= 0.15 for score in scores) == (count <= 6)
    assert {score.temperature for score in scores} == {0.1}


def test_nothing_in_common_is_no_error() -> None:
    """All score 0 and say so, also where there is no query or no part."""
    parts = [ContextPart("memory", "deploy"), ContextPart("actions", "")]
    nothing: dict[str, float] = {}
    for query in ("bananas", "", "the", nothing):
        found = AttentionScorer().score_nowait(query, parts)
        assert [(score.score, score.reasons) for score in found] == [
            (0, ("no word in common",))
        ] * 2
    assert AttentionScorer().score_nowait("port", []) == []


def test_reasons_name_the_words() -> None:
    """As the query has them, three at most; and what is critical."""
    part = ContextPart("goal", "server ports, users and the logs of tests", critical=True)
    query = "Which port, server and user logs tested? Ports?"
    [score] = AttentionScorer().score_nowait(query, [part])
    assert score.reasons[0] == f"words {score.score:.2f}: port, server, user"
    assert score.reasons[1:] == ("critical",)


async def test_meaning_is_fused() -> None:
    """What shares no word but means the same is found; unrelated parts stay at 0."""
    same, other = await AttentionScorer(MEANINGS).score("car", FRUIT)
    assert same.score == pytest.approx(0.5, abs=0.01)
    assert same.reasons == ("no word in common", "meaning 0.99")
    assert other.score == 0


async def test_a_failing_model_leaves_the_words(caplog: pytest.LogCaptureFixture) -> None:
    """Scores are those by words, and the log says so without any text."""
    parts = [ContextPart("memory", "secret car"), *FRUIT]
    with caplog.at_level(logging.WARNING):
        found = await AttentionScorer(Meanings({}, failing=True)).score("car", parts)
    assert found == AttentionScorer().score_nowait("car", parts)
    assert [record.message for record in caplog.records] == ["parts are scored by words alone"]
    assert "car" not in str([vars(record) for record in caplog.records])


def scored(part: ContextPart, score: float) -> AttentionScore:
    """A part with a score."""
    return AttentionScore(part=part, score=score, share=0.01, temperature=0.1, reasons=())


SCORES = st.lists(
    st.builds(
        scored, st.builds(ContextPart, LABELS, TEXTS, critical=st.booleans()), st.floats(0, 1)
    ),
    max_size=12,
)


def is_critical(score: AttentionScore) -> bool:
    """By its own word, or by a label of the default ones."""
    return score.part.critical or score.part.label in {"goal", "Steering"}


@FEW
@given(SCORES, st.floats(0, 1))
def test_the_threshold_is_one_for_scores(scores: list[AttentionScore], threshold: float) -> None:
    """Kept is what reaches it or is critical, best first, equal ones in order."""
    kept = AttentionFilter(threshold=threshold).filter(scores)
    expected = [score for score in scores if score.score >= threshold or is_critical(score)]
    assert kept == sorted(expected, key=lambda score: -score.score)


@FEW
@given(SCORES, st.integers(1, 14))
def test_top_k_takes_its_place(scores: list[AttentionScore], top_k: int) -> None:
    """Then the k best are kept whatever they score, and all that is critical."""
    kept = AttentionFilter(threshold=1, top_k=top_k).filter(scores)
    ranked = sorted(scores, key=lambda score: -score.score)
    assert kept == [s for i, s in enumerate(ranked) if i < top_k or is_critical(s)]


@pytest.mark.parametrize("seed", range(3))
def test_noise_goes(seed: int) -> None:
    """Where a third of the parts has to do with the query, a fifth of the text goes at least, and none of that third."""
    random = Random(seed)  # noqa: S311 - no secret
    noise = [" ".join(f"w{random.randrange(900)}x" for _ in range(20)) for _ in range(20)]
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
