# ruff: noqa: RUF001 - texts in many scripts are what is tested
"""The estimate is an upper bound on both encodings, for any text, and a tight one for what agents read."""

import argparse
import base64
import inspect
import json
import random
import string
from collections.abc import Callable
from pathlib import Path
from pydoc_data import topics
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.tokens.estimate import SEAM_TOKENS, EstimateCounter, sum_slices
from autogen_context.tokens.tokenizers import BpeOpenAICounter

EXACT = [BpeOpenAICounter("cl100k_base"), BpeOpenAICounter("o200k_base")]
ESTIMATE = EstimateCounter()

LETTERS = string.ascii_letters
BLOCKS = {  # first and last code point
    "latin": (0x80, 0x24F),
    "greek, cyrillic": (0x370, 0x52F),
    "armenian, hebrew, arabic": (0x530, 0x6FF),
    "devanagari to telugu": (0x900, 0xC7F),
    "thai": (0xE00, 0xE7F),
    "georgian": (0x10A0, 0x10FF),
    "khmer": (0x1780, 0x17FF),
    "punctuation, symbols": (0x2000, 0x2BFF),
    "kana": (0x3000, 0x30FF),
    "cjk": (0x4E00, 0x9FFF),
    "hangul": (0xAC00, 0xD7A3),
    "fullwidth": (0xFF00, 0xFFEF),
    "emoji": (0x1F1E6, 0x1FAFF),
    "mathematical": (0x1D400, 0x1D7FF),
}


def most(text: str) -> int:
    """The larger of the two exact counts."""
    return max(counter.count(text).tokens for counter in EXACT)


def estimate(text: str) -> int:
    """What is under test."""
    return ESTIMATE.count(text).tokens


def code_points(block: str) -> st.SearchStrategy[str]:
    """Texts of one block of Unicode."""
    first, last = BLOCKS[block]
    return st.text(st.characters(min_codepoint=first, max_codepoint=last), max_size=40)


foreign = st.sampled_from(sorted(BLOCKS)).flatmap(code_points)
snippets = st.one_of(
    st.text(string.ascii_lowercase, max_size=12),
    st.text(LETTERS, max_size=12),
    st.text("xqzjvkwyXQZJVKWY", max_size=12),
    st.text(string.punctuation, max_size=8),
    st.text(string.digits, max_size=12),
    st.text(string.whitespace, max_size=8),
    st.text("'sdmtlrveSTabX", max_size=10),
    st.text("/\n )'a", max_size=10),
    st.text("0１２３4 a", max_size=10),
    st.text("ÀคงÅ한Ӡრე ՠաĀเ", max_size=10),
    foreign,
    st.sampled_from(
        [
            "fooBarBaz",
            "HTTPServer",
            "it's",
            "'self'",
            "\r\n",
            "<|endoftext|>",
            "👩‍👩‍👧‍👦🏽",
            "🇩🇪",
            "don’t",
        ]
    ),
    st.builds(str.__mul__, st.characters(), st.integers(1, 120)),
)


@given(st.text())
@settings(max_examples=400)
def test_never_below_the_exact_count_of_any_text(text: str) -> None:
    """For any text at all the estimate is at least the exact count."""
    assert estimate(text) >= most(text)


@given(st.lists(snippets, max_size=8).map("".join))
@settings(max_examples=800)
def test_never_below_the_exact_count_where_kinds_of_text_meet(text: str) -> None:
    """Scripts, case, digits, marks, runs and breaks in any order: at least the exact count."""
    assert estimate(text) >= most(text)


@given(st.text(st.characters(max_codepoint=127), max_size=10))
@settings(max_examples=600)
def test_never_below_the_exact_count_of_a_few_ascii_characters(text: str) -> None:
    """Tiny strings have no slack to hide behind, and hold as well."""
    assert estimate(text) >= most(text)


@given(st.text(st.characters(max_codepoint=127)) | st.text("a;)\n/ "), st.integers(1, 60))
def test_slices_never_sum_to_less_than_the_whole(text: str, at_most: int) -> None:
    """However small the slices, their sum is at least the whole."""
    exact = EXACT[1]
    assert (
        sum_slices(text, lambda part: exact.count(part).tokens, at_most=at_most)
        >= exact.count(text).tokens
    )


def test_a_text_that_has_borders_is_cut_at_no_cost() -> None:
    """Prose is cut between words: the slices sum to exactly the whole."""
    text = "one word after another. " * 1_000
    exact = EXACT[1]
    whole = exact.count(text).tokens
    assert sum_slices(text, lambda part: exact.count(part).tokens, at_most=5_000) == whole


def test_a_text_without_borders_pays_for_its_seams() -> None:
    """Where only a cut through a piece is possible, the margin is added for each."""
    assert sum_slices("x" * 30, len, at_most=10) == 30 + 2 * SEAM_TOKENS


def test_an_estimate_says_so() -> None:
    """Each count carries its source."""
    assert ESTIMATE.count("text").source == "estimate"


def test_nothing_costs_nothing() -> None:
    """The empty text has no tokens."""
    assert estimate("") == 0


def prose() -> list[str]:
    """Python's reference, in English."""
    return [text for text in topics.topics.values() if len(text) > 2_000]


def code() -> list[str]:
    """Modules of the standard library."""
    return [
        inspect.getsource(module) for module in (argparse, json, random, base64, inspect, string)
    ]


def records() -> list[str]:
    """The same rows as JSON, in three layouts."""
    rows = [
        {
            "id": n,
            "name": f"user {n}",
            "email": f"user{n}@example.org",
            "active": n % 2 == 0,
            "score": n / 7,
        }
        for n in range(60)
    ]
    return [json.dumps(rows), json.dumps(rows, indent=2), json.dumps(rows, separators=(",", ":"))]


def logs() -> list[str]:
    """Lines as services write them."""
    lines = [
        f"2026-03-{n % 28 + 1:02d} 12:{n % 60:02d}:07,{n * 37 % 1000:03d} WARNING [worker-{n % 8}] connection reset by peer, "
        f"retrying id={n * 7919:x} took={n * 1.37:.2f}ms path=/api/v1/orders/{n}"
        for n in range(100)
    ]
    return ["\n".join(lines)]


def random_texts(alphabet: str) -> list[str]:
    """Five texts of 2,000 characters each, always the same."""
    chance = random.Random(7)  # noqa: S311 - a fixed text
    return ["".join(chance.choices(alphabet, k=2_000)) for _ in range(5)]


def base64_texts() -> list[str]:
    """Random bytes as base64."""
    return [base64.b64encode(random.Random(n).randbytes(2_000)).decode() for n in range(5)]  # noqa: S311 - a fixed text


KINDS: dict[str, tuple[Callable[[], list[str]], float]] = {
    "prose": (prose, 1.5),
    "code": (code, 1.5),
    "json": (records, 1.6),
    "logs": (logs, 1.6),
    "base64": (base64_texts, 1.5),
    "hex": (lambda: [random.Random(3).randbytes(900).hex()], 1.2),  # noqa: S311 - a fixed text
    "uuid": (lambda: ["550e8400-e29b-41d4-a716-446655440000\n" * 30], 1.2),
    "digits": (lambda: random_texts(string.digits), 1.01),
    "chinese": (lambda: ["今天天气很好，我们一起去公园散步，然后回家吃晚饭。" * 20], 1.6),
    "japanese": (lambda: ["今日は天気がいいので、公園を散歩してから家に帰ります。" * 20], 1.6),
    "korean": (lambda: ["오늘은 날씨가 좋아서 공원을 산책하고 집에 돌아갑니다. " * 20], 1.7),
    "russian": (lambda: ["Сегодня хорошая погода, поэтому мы гуляем в парке. " * 20], 2.2),
    "german": (
        lambda: ["Heute ist schönes Wetter, deshalb gehen wir im Park spazieren. " * 20],
        2.0,
    ),
    "french": (
        lambda: ["Il fait très beau, alors nous nous promenons dans le parc d'été. " * 20],
        2.0,
    ),
    "arabic": (lambda: ["الطقس جميل اليوم لذلك نتنزه في الحديقة. " * 20], 2.0),
    "hindi": (lambda: ["आज मौसम अच्छा है इसलिए हम पार्क में घूम रहे हैं। " * 20], 2.0),
    "thai": (lambda: ["วันนี้อากาศดีเราจึงไปเดินเล่นในสวนสาธารณะ " * 20], 2.0),
    "emoji": (lambda: ["👩‍👩‍👧‍👦🏽 ok 🇩🇪 😀😀 ✅ " * 30], 1.6),
    "box drawing": (lambda: ["┌──────────┬──────┐\n│ name     │ size │\n" * 20], 2.2),
    "rules": (lambda: [f"{'-' * 72}\n{'=' * 79}\n{'#' * 60}\n" * 10], 7.0),
    "indentation": (lambda: ["\n".join(" " * n + "x" for n in range(60))], 1.5),
    "random letters": (lambda: random_texts(string.ascii_lowercase), 1.8),
    "random marks": (lambda: random_texts(string.punctuation), 1.8),
    "control characters": (lambda: random_texts("".join(map(chr, range(32)))), 1.6),
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_tight_for_each_kind(kind: str) -> None:
    """No document of a kind is below the exact count, and the median is not far above it."""
    texts, at_most = KINDS[kind]
    ratios = [estimate(text) / most(text) for text in texts()]
    assert min(ratios) >= 1
    assert median(ratios) <= at_most


ODD = {
    "a lone surrogate": "a\ud800b",
    "a pair of surrogates": "\ud83d\ude00",
    "null characters": "\0" * 1_000,
    "a special token": "<|endoftext|>",
    "a byte order mark": "\ufeffname",
    "carriage returns": "\r" * 500,
    "a slash after a line break": "};\n/usr/bin\n//x",
    "contractions": "don't 'self' it'sBar I'LL",
    "fullwidth digits": "３133２1２",
    "many fullwidth digits": "２1２２３２０１２０1２０３2２３０３２１3０11２1０1３",
    "a space before a wide character": " 起 미",
    "a token across two characters": "р\u2800ก",
    "a slash after a break after a symbol": "亰갬\x8a\n/A{\xf1",
    "what looks like a contraction": "'venan",
    "syllables that do not merge": "poc" * 20,
    "surrogates of a rare character": "\udbff\udfff",
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_texts(name: str) -> None:
    """What broke an earlier rule, or breaks other counters, is bounded too."""
    assert estimate(ODD[name]) >= most(ODD[name])


LONG = {"spaces": " ", "letters": "a", "breaks": "\n", "accents": "é", "words": "x "}


@pytest.mark.parametrize("kind", sorted(LONG))
def test_a_million_characters(kind: str) -> None:
    """Long texts of one piece, or of many, are counted, and bounded."""
    text = LONG[kind] * (200_000 // len(LONG[kind]))
    assert estimate(text) >= most(text)
    assert estimate(text * 5) >= 5 * most(text) - 5


def test_every_known_token_is_one_token_in_both_encodings() -> None:
    """The table that the bound rests on holds nothing but single tokens."""
    path = Path(inspect.getfile(EstimateCounter)).with_name("known_tokens.json")
    tokens: list[str] = json.loads(path.read_text("utf-8"))["tokens"]
    assert [token for token in tokens if most(token) != 1] == []
