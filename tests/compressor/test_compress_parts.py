"""The parts of a context within a limit, the least relevant first."""

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.parts import CompressedPart
from autogen_context.prioritizer.attention.part import ContextPart
from autogen_context.prioritizer.attention.score import AttentionScore
from support.prose import REPORT, TEXTS, Letters

NOTES = "\n".join(
    f"Note {n}: the service {name} listens on port {8000 + n}, and it was restarted by {who}."
    for n, (name, who) in enumerate(
        [("auth", "Ada"), ("mail", "Bob"), ("search", "Cleo"), ("billing", "Dan"), ("feed", "Eve")]
    )
)


def scored(text: str, score: float, *, critical: bool = False) -> AttentionScore:
    """A part with its relevance."""
    return AttentionScore(
        part=ContextPart("notes", text, critical=critical),
        score=score,
        share=0.0,
        temperature=1.0,
        reasons=(),
    )


def fitted(scores: list[AttentionScore], limit: int) -> list[CompressedPart]:
    """The parts within a limit, in characters."""
    return SemanticCompressor(counter=Letters()).compress_parts_nowait(scores, limit_tokens=limit)


SCORED = st.lists(st.builds(scored, TEXTS, st.floats(0, 1), critical=st.booleans()), max_size=5)


@given(SCORED, st.integers(0, 2_000))
def test_the_limit_is_kept(scores: list[AttentionScore], limit: int) -> None:
    """All parts come back, in order, together within the limit; the same each time; below the threshold as they were."""
    parts = fitted(scores, limit)
    assert [part.part.label for part in parts] == [score.part.label for score in scores]
    assert sum(len(part.part.text) for part in parts) <= limit
    assert [part.tokens for part in parts] == [len(part.part.text) for part in parts]
    assert parts == fitted(scores, limit)
    if sum(len(score.part.text) for score in scores) <= 0.75 * limit:
        assert [part.part for part in parts] == [score.part for score in scores]


def test_low_relevance_goes_to_a_third_first() -> None:
    """From 75 % of the limit on; what is relevant, and what is critical, stays as it is."""
    scores = [scored(NOTES, 0.9), scored(NOTES, 0.1), scored(NOTES, 0.0, critical=True)]
    limit = 3 * len(NOTES)
    parts = fitted(scores, limit)
    assert [part.part.text == NOTES for part in parts] == [True, False, True]
    assert len(NOTES) * 0.15 <= parts[1].tokens <= len(NOTES) / 3
    untouched = fitted(scores, 4 * len(NOTES) + 4)
    assert [part.result for part in untouched] == [None] * 3


def test_the_least_relevant_first_and_only_as_many_as_it_takes() -> None:
    """Of two of low relevance one is enough here; of equals the later one goes first."""
    scores = [scored(NOTES, 0.2), scored(NOTES, 0.1), scored(NOTES, 0.8)]
    limit = int(2.4 * len(NOTES) / 0.75)
    assert [part.result is None for part in fitted(scores, limit)] == [True, False, True]
    equals = [scored(NOTES, 0.1), scored(NOTES, 0.1), scored(NOTES, 0.8)]
    assert [part.result is None for part in fitted(equals, limit)] == [True, False, True]


def test_relevant_parts_follow_and_then_parts_are_left_out() -> None:
    """Relevance 0.3 is not low; what is left out has an empty text."""
    scores = [scored(NOTES, 0.3), scored(NOTES, 0.9)]
    parts = fitted(scores, int(1.5 * len(NOTES)))
    assert [part.result is None for part in parts] == [False, True]
    parts = fitted(scores, len(NOTES) // 3)
    assert parts[0].part.text == ""
    assert parts[1].part.text


def test_a_part_is_brought_to_its_third_once() -> None:
    """Where the relevant ones must follow, the first ones are left alone."""
    scores = [scored(NOTES, 0.1), scored(NOTES, 0.9), scored(NOTES, 0.8)]
    alone = fitted(scores, 3 * len(NOTES))[0]
    assert fitted(scores, int(1.9 * len(NOTES)))[0] == alone


def test_what_is_just_relevant_enough_stays() -> None:
    """Below 0.3 is low, 0.3 is not, as long as all are within the limit."""
    limit = 2 * len(NOTES) + 10
    assert [p.result is None for p in fitted([scored(NOTES, 0.3)] * 2, limit)] == [True, True]
    assert fitted([scored(NOTES, 0.29)] * 2, limit)[1].result is not None


def test_a_critical_part_is_compressed_and_not_dropped() -> None:
    """Even where it alone is larger than the limit."""
    scores = [scored(REPORT, 0.0, critical=True), scored(NOTES, 1.0)]
    parts = fitted(scores, 300)
    assert 100 < parts[0].tokens <= 300
    assert "POOL_SIZE" in parts[0].part.text
    assert parts[1].tokens == 0
