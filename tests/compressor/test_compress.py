"""A text within its target: what holds for any text, and what a caller sees."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from autogen_context.compressor.compressor import CountsText, SemanticCompressor
from autogen_context.compressor.concepts import flattened
from autogen_context.tokens.measure import EstimateCounter
from support.prompts import client
from support.prose import REPORT, SENTENCES, TEXTS, Letters, Quarters
from support.texts import HOSTILE

TARGETS = st.integers(0, 400)
COUNTERS = st.sampled_from([Letters(), Quarters(), EstimateCounter()])
IN_ORDER = ("remove redundancy", "compress examples", "summarise sections", "abstract details")


async def nobody(text: str, target_tokens: int, /) -> str:
    """A model that is not asked."""
    raise NotImplementedError((text, target_tokens))


def compressor(counter: CountsText | None = None) -> SemanticCompressor:
    """One that knows nothing so far."""
    return SemanticCompressor(counter=counter or Letters())


@settings(max_examples=30)
@given(TEXTS, TARGETS, COUNTERS)
@example("[user] a\n\n\n[user] a", 3, Letters())
@example("[Ledger]\nFacts:\na is 1\n\n[Ledger]\nFacts:\na is 2", 30, Letters())
@example("word " * 300, 5, Letters())
@example("\U0001f600" * 5_000, 20, Letters())
@example("Never restart the database db-7 in business hours.", 10, Letters())
def test_the_target_is_kept(text: str, target: int, counter: CountsText) -> None:
    """Never above the target, never larger than the input, the same each time; what fits is the same object, and whole.

    F10: no text becomes empty while a letter of it has room.
    """
    result = compressor(counter).compress_nowait(text, target_tokens=target)
    before, after = result.original_tokens.tokens, result.compressed_tokens.tokens
    assert after <= min(target, before)
    assert 0 <= result.quality <= 10
    assert 0 <= result.ratio <= 1
    assert compressor(counter).compress_nowait(text, target_tokens=target) == result
    if before <= target:
        assert result.compressed is text
        assert (result.strategy, result.lost_concepts) == ("none", ())
    if text.strip() and target and isinstance(counter, Letters):
        assert result.compressed.strip()


@settings(max_examples=30)
@given(st.lists(st.sampled_from(SENTENCES[:12])).map(" ".join), TARGETS)
def test_what_is_lost_is_said(text: str, target: int) -> None:
    """F10: each sentence is preserved or lost, and lost where no word of it is left; a preserved value can be found."""
    result = compressor().compress_nowait(text, target_tokens=target)
    preserved = {concept.text for concept in result.preserved_concepts}
    lost = {concept.text for concept in result.lost_concepts}
    assert not set(result.preserved_concepts) & set(result.lost_concepts)
    for concept in result.preserved_concepts:
        if concept.kind in {"value", "number"}:
            assert concept.text.lower() in result.compressed.lower()
    for sentence in filter(text.__contains__, SENTENCES[:12]):
        assert sentence in preserved | lost
        if not any(word in result.compressed for word in sentence.split() if len(word) > 3):
            assert sentence in lost


@settings(max_examples=30)
@given(TEXTS, st.sampled_from(["Maria", "weather", "order 4711", "lunch"]), st.integers(12, 300))
@example("[user] Please look at order 4711.", "order 4711", 12)
def test_keywords_hold(text: str, keyword: str, target: int) -> None:
    """F10: what the caller asks for stays, whatever step is taken, as long as it has room."""
    assume(text.isascii())
    result = compressor().compress_nowait(text, target_tokens=target, keep=(keyword.upper(),))
    assert (keyword.lower() in flattened(text)) == (keyword.lower() in flattened(result.compressed))


MUST_STAY = {
    "before rules": "The disk is full. The budget is 500 EUR. Never push to main. The deadline is 2026-05-12.|25|disk",
    "an example": "Examples:\n- red\n- green\n- blue\n\nThat is all that there is to say of them.|40|blue",
    "an aside": "The pump (for example the old one in the cellar) stopped in the night again and again.|60|cellar",
}


@pytest.mark.parametrize("row", MUST_STAY.values(), ids=MUST_STAY)
def test_what_must_stay(row: str) -> None:
    """F10: keywords before all else; of a rule that has no room no part that says the opposite."""
    text, target, stays = row.split("|")
    work = compressor()
    assert stays in work.compress_nowait(text, target_tokens=int(target), keep=(stays,)).compressed
    rule = "You may, if you like, never ever delete the folder /data."
    assert "never ever" in work.compress_nowait(rule, target_tokens=20).compressed


def test_alike_is_not_the_same() -> None:
    """F10: both of two statements that differ in a value, or what went is reported."""
    text = "The API returns 200 on GET /users. The API returns 201 on POST /users."
    for target in range(20, len(text)):
        result = compressor().compress_nowait(text, target_tokens=target)
        lost = {concept.text for concept in result.lost_concepts}
        assert all(word in result.compressed or word in lost for word in ("200", "201"))
        assert (result.quality < 10) == bool(lost)


def test_steps_in_turn() -> None:
    """C1: the cheapest that is enough; the score falls with what is lost."""
    targets = (2_000, 640, 600, 300, 60)
    results = [compressor().compress_nowait(REPORT, target_tokens=target) for target in targets]
    strategies = [result.strategy for result in results]
    assert strategies[0] == "none"
    assert strategies[1] in IN_ORDER[:2]
    assert strategies[2] in IN_ORDER
    assert strategies[-1] == "keep core concepts"
    scores = [result.quality for result in results]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] > 9.0
    assert scores[-1] < 5.0


def test_results_are_remembered_by_all_that_makes_them() -> None:
    """C5: the same text, target and keywords are compressed once."""
    work = compressor()
    first = work.compress_nowait(REPORT, target_tokens=300)
    assert work.compress_nowait(REPORT, target_tokens=200) is not first
    assert work.compress_nowait(REPORT, target_tokens=300, keep=("weather",)) is not first
    assert work.compress_nowait(REPORT, target_tokens=300) is first


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_takes_long(text: str) -> None:
    """A hundred thousand characters of the same are compressed, whatever they are."""
    assert len(compressor().compress_nowait(text, target_tokens=1_000).compressed) <= 1_000


async def test_wrong_arguments() -> None:
    """Said with the argument, its value and what goes."""
    with pytest.raises(ValueError, match="target_tokens=-1: give 0 or more"):
        compressor().compress_nowait("a", target_tokens=-1)
    with pytest.raises(ValueError, match="text=None: give a text"):
        compressor().compress_nowait(None, target_tokens=1)  # type: ignore[arg-type]  # F35
    with pytest.raises(ValueError, match="keep='abc': give several keywords"):
        await compressor().compress("a", target_tokens=1, keep="abc")
    with pytest.raises(ValueError, match="limit_tokens=-1: give 0 or more"):
        compressor().compress_parts_nowait([], limit_tokens=-1)
    with pytest.raises(ValueError, match="model_window_tokens=999: give 1000 or more"):
        SemanticCompressor(model_window_tokens=999)
    with pytest.raises(ValueError, match="timeout_s=0: give a positive number"):
        SemanticCompressor(client(nobody), timeout_s=0)
