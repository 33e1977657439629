"""The filter goes by scores, and never drops what is critical."""

from math import nan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.prioritizer.attention.filter import AttentionFilter
from autogen_context.prioritizer.attention.part import ContextPart
from autogen_context.prioritizer.attention.score import AttentionScore, AttentionScorer

LABELS = ("goal", "memory", "actions", "Steering")
PARTS = st.builds(ContextPart, st.sampled_from(LABELS), st.text(max_size=5), critical=st.booleans())


def scored(part: ContextPart, score: float) -> AttentionScore:
    """A part with a score."""
    return AttentionScore(part=part, score=score, share=0.01, temperature=0.1, reasons=())


SCORES = st.lists(st.builds(scored, PARTS, st.floats(0, 1)), max_size=12)


def is_critical(score: AttentionScore) -> bool:
    """By its own word, or by a label of the default ones."""
    return score.part.critical or score.part.label in {"goal", "Steering"}


@given(SCORES, st.floats(0, 1))
def test_the_threshold_is_one_for_scores(scores: list[AttentionScore], threshold: float) -> None:
    """Kept is what reaches it or is critical, best first, equal ones in order."""
    kept = AttentionFilter(threshold=threshold).filter(scores)
    expected = [score for score in scores if score.score >= threshold or is_critical(score)]
    assert kept == sorted(expected, key=lambda score: -score.score)


@given(SCORES, st.integers(1, 14))
def test_top_k_takes_its_place(scores: list[AttentionScore], top_k: int) -> None:
    """Then the k best are kept whatever they score, and all that is critical."""
    kept = AttentionFilter(threshold=1, top_k=top_k).filter(scores)
    ranked = sorted(scores, key=lambda score: -score.score)
    assert kept == [s for i, s in enumerate(ranked) if i < top_k or is_critical(s)]


@pytest.mark.parametrize("count", [2, 7, 50])
def test_many_parts_do_not_push_each_other_out(count: int) -> None:
    """A softmax over n scores gives about 1/n each: by that, 0.15 would drop all beyond six parts."""
    parts = [ContextPart("memory", f"the port of server {i} is 8081") for i in range(count)]
    scores = AttentionScorer().score_nowait("port of the server", parts)
    assert len(AttentionFilter(threshold=0.15).filter(scores)) == count
    by_share = [score for score in scores if score.share >= 0.15]
    assert bool(by_share) == (count <= 6)


def test_top_k_does_not_cut_what_is_critical() -> None:
    """Cutting a sorted list at k drops a goal that shares no word with the query."""
    parts = [
        ContextPart("memory", "the port is 8081"),
        ContextPart("memory", "port 8081 is open"),
        ContextPart("goal", "ship on Friday"),
        ContextPart("rule", "never push to main", critical=True),
    ]
    scores = AttentionScorer().score_nowait("port 8081", parts)
    kept = [score.part for score in AttentionFilter(top_k=1).filter(scores)]
    assert kept == [parts[0], *parts[2:]]


def test_labels_of_your_own() -> None:
    """They take the place of the default ones, in any case of letters."""
    scores = [scored(ContextPart(label, ""), 0) for label in ("Goal", "RULE", "memory")]
    labels = [s.part.label for s in AttentionFilter(critical_labels={"Rule"}).filter(scores)]
    assert labels == ["RULE"]
    assert AttentionFilter(critical_labels=()).filter(scores) == []


@pytest.mark.parametrize("seed", range(10))
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


@pytest.mark.parametrize("threshold", [-0.1, 1.1, nan])
def test_a_threshold_is_a_score(threshold: float) -> None:
    """The error names it, and a way out."""
    with pytest.raises(ValueError, match=f"threshold={threshold}: give a score from 0 to 1"):
        AttentionFilter(threshold=threshold)


@pytest.mark.parametrize("top_k", [0, -3])
def test_top_k_is_positive(top_k: int) -> None:
    """The error names it, and a way out."""
    with pytest.raises(ValueError, match=f"top_k={top_k}: give 1 or more, or None"):
        AttentionFilter(top_k=top_k)


def test_labels_are_several() -> None:
    """A single text would be taken for its letters."""
    with pytest.raises(ValueError, match=r"critical_labels='goal': give several, such as"):
        AttentionFilter(critical_labels="goal")
