"""A text within its target: what holds for any text, and what a caller sees."""

import dataclasses

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.concepts import concepts_of
from autogen_context.compressor.compressor import CountsText, Tally
from autogen_context.compressor.extract import Job, judged
from autogen_context.compressor.material import material_of
from autogen_context.tokens.estimate import EstimateCounter
from autogen_context.tokens.measure import Count
from support.prose import REPORT, TEXTS, Letters, Quarters
from support.texts import HOSTILE

TARGETS = st.integers(0, 400)
COUNTERS = st.sampled_from([Letters(), Quarters(), EstimateCounter()])
IN_ORDER = ("remove redundancy", "compress examples", "summarise sections", "abstract details")


def compressor(counter: CountsText | None = None) -> SemanticCompressor:
    """One that remembers nothing."""
    return SemanticCompressor(counter=counter or Letters(), entries=0)


@given(TEXTS, TARGETS, COUNTERS)
@example("[user] a\n\n\n[user] a", 3, Letters())
@example("[Ledger]\nFacts:\na is 1\n\n[Ledger]\nFacts:\na is 2", 30, Letters())
def test_the_target_is_kept(text: str, target: int, counter: CountsText) -> None:
    """Never above the target, never larger than the input; what fits is the same object, and nothing of it is lost."""
    result = compressor(counter).compress_nowait(text, target_tokens=target)
    before, after = result.original_tokens.tokens, result.compressed_tokens.tokens
    assert after <= max(target, 0)
    assert after <= before
    assert 0 <= result.quality <= 10
    assert 0 <= result.ratio <= 1
    if before <= target:
        assert result.compressed is text
        assert (result.strategy, result.lost, result.ratio) == (
            "none",
            (),
            after / before if before else 1,
        )


@given(TEXTS, TARGETS)
def test_same_input_same_output(text: str, target: int) -> None:
    """Whoever compresses, and however often."""
    first, second = compressor(), compressor()
    result = first.compress_nowait(text, target_tokens=target)
    assert first.compress_nowait(text, target_tokens=target) == result
    assert second.compress_nowait(text, target_tokens=target) == result


@given(TEXTS, TARGETS)
def test_what_is_lost_is_said(text: str, target: int) -> None:
    """Each concept is preserved or lost, and a preserved value can be found."""
    result = compressor().compress_nowait(text, target_tokens=target)
    assert not set(result.preserved) & set(result.lost)
    for concept in result.preserved:
        if concept.kind in {"value", "number"}:
            assert concept.text.lower() in result.compressed.lower()


def test_steps_in_turn() -> None:
    """The cheapest that is enough; the score falls with what is lost."""
    work = compressor()
    results = [
        work.compress_nowait(REPORT, target_tokens=target) for target in (2_000, 640, 600, 300, 60)
    ]
    strategies = [result.strategy for result in results]
    assert strategies[0] == "none"
    assert strategies[1] in IN_ORDER[:2]
    assert strategies[2] in IN_ORDER
    assert strategies[-1] == "keep core concepts"
    scores = [result.quality for result in results]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] > 9.0
    assert scores[-1] < 5.0


def test_keywords_stay() -> None:
    """What the caller asks for stays before anything else."""
    plain = compressor().compress_nowait(REPORT, target_tokens=300)
    asked = compressor().compress_nowait(REPORT, target_tokens=300, keep=["discussions"])
    assert "discussions" not in plain.compressed
    assert "discussions" in asked.compressed
    assert concepts_of(REPORT, ("discussions",))[0] in asked.preserved


@pytest.mark.parametrize(
    ("counter", "source"), [(Letters(), "tokenizer"), (Quarters(), "estimate")]
)
def test_counts_have_their_source(counter: CountsText, source: str) -> None:
    """A counter's own source; a plain number counts as exact."""
    result = compressor(counter).compress_nowait(REPORT, target_tokens=100)
    assert result.original_tokens.source == result.compressed_tokens.source == source
    assert isinstance(result.compressed_tokens, Count)


def test_a_result_is_a_value() -> None:
    """It cannot be changed."""
    result = compressor().compress_nowait("a", target_tokens=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.compressed = "b"  # type: ignore[misc]  # what must not go


async def test_without_a_model_waiting_makes_no_difference() -> None:
    """``compress`` gives what ``compress_nowait`` gives."""
    work = compressor()
    waited = await work.compress(REPORT, target_tokens=300, keep=("weather",))
    assert waited == work.compress_nowait(REPORT, target_tokens=300, keep=("weather",))


class Counting:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str, /) -> int:
        """Characters of a text."""
        self.asked += 1
        return len(text)


def test_results_are_remembered_by_all_that_makes_them() -> None:
    """The same text, target and keywords are compressed once; the oldest result goes first."""
    counter = Counting()
    work = SemanticCompressor(counter=counter, entries=2)
    first = work.compress_nowait(REPORT, target_tokens=300)
    asked = counter.asked
    assert work.compress_nowait(REPORT, target_tokens=300) is first
    assert counter.asked == asked
    others = [
        work.compress_nowait(REPORT, target_tokens=200),
        work.compress_nowait(REPORT, target_tokens=300, keep=("weather",)),
    ]
    assert first not in others
    assert work.compress_nowait(REPORT, target_tokens=300) is not first


def test_the_last_one_asked_for_stays() -> None:
    """Of two that are remembered, the one that was asked for longest ago goes for a third."""
    work = SemanticCompressor(counter=Letters(), entries=2)
    first, _ = (work.compress_nowait(REPORT, target_tokens=target) for target in (300, 200))
    assert work.compress_nowait(REPORT, target_tokens=300) is first
    work.compress_nowait(REPORT, target_tokens=100)
    assert work.compress_nowait(REPORT, target_tokens=300) is first


@given(TEXTS, st.integers(0, 60), st.integers(0, 60))
def test_whatever_a_step_makes_the_result_fits(text: str, target: int, size: int) -> None:
    """The guard in the centre cuts what exceeds the target or the input, and says so."""
    job = Job(text=text, target_tokens=target, keep=(), tally=Tally(Letters()))
    before = job.tally.counted(text)
    result = judged(job, before, material_of(text), "made of words " * size, "abstract details")
    assert result.compressed_tokens.tokens <= min(target, before.tokens)
    assert (result.strategy == "shorten") == (14 * size > min(target, before.tokens))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_takes_long(text: str) -> None:
    """A hundred thousand characters of the same are compressed, whatever they are."""
    assert len(compressor().compress_nowait(text, target_tokens=1_000).compressed) <= 1_000


async def test_wrong_arguments() -> None:
    """Said with the argument, its value and what goes."""
    with pytest.raises(ValueError, match="entries=-1: give how many"):
        SemanticCompressor(counter=Letters(), entries=-1)
    with pytest.raises(ValueError, match="target_tokens=-1: give 0 or more"):
        compressor().compress_nowait("a", target_tokens=-1)
    with pytest.raises(ValueError, match="keep='abc': give several keywords"):
        await compressor().compress("a", target_tokens=1, keep="abc")
    with pytest.raises(ValueError, match="limit_tokens=-1: give 0 or more"):
        compressor().compress_parts_nowait([], limit_tokens=-1)
