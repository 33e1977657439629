# ruff: noqa: RUF001 - texts in many scripts are what is tested
"""Any text is counted: exactly where a vocabulary is at hand, else by a tight upper bound, and without waiting."""

import argparse
import base64
import gzip
import inspect
import json
import os
import random
import string
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from pydoc_data import topics
from statistics import median
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.tokens.measure import (
    SEAM_TOKENS,
    BpeOpenAICounter,
    EstimateCounter,
    TiktokenCounter,
    TokenCounter,
    counter_for,
    fetch_ranks,
    sum_slices,
)

ENCODINGS = ["cl100k_base", "o200k_base"]
EXACT = {name: BpeOpenAICounter(name) for name in ENCODINGS}
CLOSED_PORT = "http://127.0.0.1:9"
NOT_INSTALLED = "import sys; sys.modules['bpe_openai'] = None\n"
BLOCKS = [  # first and last code point: latin, greek to arabic, indic, thai, georgian, khmer, symbols, east asian, emoji
    (0x80, 0x24F), (0x370, 0x6FF), (0x900, 0xC7F), (0xE00, 0xE7F), (0x10A0, 0x10FF), (0x1780, 0x17FF), (0x2000, 0x2BFF),
    (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xFF00, 0xFFEF), (0x1F1E6, 0x1FAFF), (0x1D400, 0x1D7FF),
]  # fmt: skip
ODD = [
    ("", 0),
    ("<|endoftext|>", 7),  # a special token is plain text
    ("\ud800", 1),  # lone, it counts as U+FFFD
    ("\ud83d\ude00", 1),  # a pair is one character
    ("\udbff\udfff", 4),
]


def most(text: str) -> int:
    """The larger of the two exact counts."""
    return max(counter.count(text).tokens for counter in EXACT.values())


def estimate(text: str) -> int:
    """What is under test."""
    return EstimateCounter().count(text).tokens


def code_points(block: tuple[int, int]) -> st.SearchStrategy[str]:
    """Texts of one block of Unicode."""
    characters = st.characters(min_codepoint=block[0], max_codepoint=block[1])
    return st.text(characters, max_size=40)


SNIPPETS = st.one_of(
    st.text(string.ascii_lowercase, max_size=12),
    st.text("xqzjvkwyXQZJVKWY", max_size=12),
    st.text(string.punctuation, max_size=8),
    st.text(string.digits, max_size=12),
    st.text(string.whitespace, max_size=8),
    st.text("'sdmtlrveSTabX", max_size=10),
    st.text("/\n )'a", max_size=10),
    st.text("0１２３4 a", max_size=10),
    st.text("ÀคงÅ한Ӡრე ՠաĀเ", max_size=10),
    st.sampled_from(BLOCKS).flatmap(code_points),
    st.sampled_from(
        ["fooBarBaz", "HTTPServer", "it's", "\r\n", "<|endoftext|>", "👩‍👩‍👧‍👦🏽", "🇩🇪", "don’t"]
    ),
    st.builds(str.__mul__, st.characters(), st.integers(1, 120)),
)
ASCII = st.characters(max_codepoint=127)


@given(st.text() | st.lists(SNIPPETS, max_size=8).map("".join) | st.text(ASCII, max_size=10))
@settings(max_examples=150)
def test_the_estimate_is_never_below_the_exact_count(text: str) -> None:
    """For any text at all, where kinds of text meet, and for tiny ones, which have no slack to hide behind."""
    assert estimate(text) >= most(text)


@given(st.text(ASCII) | st.text("a;)\n/ "), st.integers(1, 60))
def test_slices_never_sum_to_less_than_the_whole(text: str, at_most: int) -> None:
    """However small the slices."""

    def exact(part: str) -> int:
        return EXACT["o200k_base"].count(part).tokens

    assert sum_slices(text, exact, at_most=at_most) >= exact(text)


def test_what_a_cut_costs() -> None:
    """Nothing between words; the margin where only a cut through a piece is possible."""
    text, exact = "one word after another. " * 1_000, EXACT["o200k_base"]
    whole = exact.count(text).tokens
    assert sum_slices(text, lambda part: exact.count(part).tokens, at_most=5_000) == whole
    assert sum_slices("x" * 30, len, at_most=10) == 30 + 2 * SEAM_TOKENS


def random_texts(alphabet: str) -> list[str]:
    """Five texts of 2,000 characters each, always the same."""
    chance = random.Random(7)  # noqa: S311 - a fixed text
    return ["".join(chance.choices(alphabet, k=2_000)) for _ in range(5)]


ROWS = [
    {"id": n, "name": f"user {n}", "email": f"user{n}@example.org", "active": n % 2 == 0, "score": n / 7}
    for n in range(60)
]  # fmt: skip
LOG = "\n".join(
    f"2026-03-{n % 28 + 1:02d} 12:{n % 60:02d}:07,{n * 37 % 1000:03d} WARNING [worker-{n % 8}] connection reset by peer, "
    f"retrying id={n * 7919:x} took={n * 1.37:.2f}ms path=/api/v1/orders/{n}"
    for n in range(100)
)
KINDS: dict[str, tuple[float, list[str]]] = {
    "prose": (1.5, [text for text in topics.topics.values() if len(text) > 2_000][:30]),
    "code": (1.5, list(map(inspect.getsource, (argparse, json, random, base64, inspect, string)))),
    "json": (1.6, [json.dumps(ROWS), json.dumps(ROWS, indent=2)]),
    "logs": (1.6, [LOG]),
    "chinese": (1.6, ["今天天气很好，我们一起去公园散步，然后回家吃晚饭。" * 20]),
    "korean": (1.7, ["오늘은 날씨가 좋아서 공원을 산책하고 집에 돌아갑니다. " * 20]),
    "russian": (2.2, ["Сегодня хорошая погода, поэтому мы гуляем в парке. " * 20]),
    "thai": (2.0, ["วันนี้อากาศดีเราจึงไปเดินเล่นในสวนสาธารณะ " * 20]),
    "emoji": (1.6, ["👩‍👩‍👧‍👦🏽 ok 🇩🇪 😀😀 ✅ " * 30]),
    "rules": (7.0, [f"{'-' * 72}\n{'=' * 79}\n{'#' * 60}\n" * 10]),
    "random letters": (1.8, random_texts(string.ascii_lowercase)),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_estimate_is_tight_for_each_kind(kind: str) -> None:
    """No document of a kind is below the exact count, and the median is not far above it."""
    at_most, texts = KINDS[kind]
    ratios = [estimate(text) / most(text) for text in texts]
    assert min(ratios) >= 1
    assert median(ratios) <= at_most


HARD = [
    *(text for text, _ in ODD), "a\ud800b", "\0" * 1_000, "\ufeffname", "\r" * 500, "};\n/usr/bin\n//x",
    "don't 'self' it'sBar I'LL", "３133２1２", "２1２２３２０１２０1２０３2２３０３２１３011２1０1３", " 起 미", "р\u2800ก",
    "亰갬\x8a\n/A{\xf1", "'venan", "poc" * 20, *(text * 8_000 for text in (" ", "a", "\n", "é", "x ")),
]  # fmt: skip


@pytest.mark.parametrize("text", HARD, ids=lambda text: ascii(text)[:30])
def test_texts_that_broke_an_earlier_rule(text: str) -> None:
    """Or break other counters: they are bounded too; so are long ones of one piece, at no more than their parts cost."""
    assert estimate(text) >= most(text)
    assert len(text) < 8_000 or estimate(text * 5) >= 5 * most(text) - 5


def test_every_known_token_is_one_token_in_both_encodings() -> None:
    """The table that the bound rests on holds nothing but single tokens; each count carries its source."""
    path = Path(inspect.getfile(EstimateCounter)).with_name("known_tokens.json")
    tokens: list[str] = json.loads(path.read_text("utf-8"))["tokens"]
    assert [token for token in tokens if most(token) != 1] == []
    assert EstimateCounter().count("text").source == "estimate"


@pytest.fixture(scope="session")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as tiktoken keeps it, with the ranks that bpe-openai ships."""
    folder = tmp_path_factory.mktemp("ranks")
    package = find_spec("bpe_openai")  # found, not imported: that would warn
    assert package is not None
    assert package.submodule_search_locations
    packed = Path(package.submodule_search_locations[0], "data")
    for encoding in ENCODINGS:
        url = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
        name = sha1(url.encode(), usedforsecurity=False).hexdigest()
        ranks = gzip.decompress((packed / f"{encoding}.tiktoken.gz").read_bytes())
        (folder / name).write_bytes(ranks)
    return folder


@pytest.fixture(scope="session")
def tiktoken(ranks: Path) -> dict[str, TokenCounter]:
    """Tiktoken's counter for each encoding."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(ranks))
        return {name: TiktokenCounter(name) for name in ENCODINGS}


def run(code: str, folder: Path | str, *, cwd: Path | None = None) -> list[str]:
    """What a fresh process prints, word by word; it can reach no network."""
    env = os.environ | {
        "TIKTOKEN_CACHE_DIR": str(folder),
        "HTTPS_PROXY": CLOSED_PORT,
        "NO_PROXY": "",
    }
    names = "from autogen_context.tokens.measure import counter_for, fetch_ranks\n"
    command = [sys.executable, "-c", names + dedent(code)]
    done = subprocess.run(  # noqa: S603 - our own code
        command, env=env, cwd=cwd, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=st.text() | st.text(ASCII) | st.text(" \n\t/'sA1"))
def test_both_tokenizers_agree(tiktoken: dict[str, TokenCounter], encoding: str, text: str) -> None:
    """bpe-openai and tiktoken count the same for any text, texts that raise elsewhere included."""
    for each in (text, *(odd for odd, _ in ODD)):
        assert EXACT[encoding].count(each) == tiktoken[encoding].count(each)
    assert [EXACT["o200k_base"].count(odd).tokens for odd, _ in ODD] == [n for _, n in ODD]


def test_a_million_characters(tiktoken: dict[str, TokenCounter]) -> None:
    """A single piece of a million spaces raises nothing, and costs what its slices cost, and the margins."""
    counter = tiktoken["o200k_base"]
    slices = 5 * counter.count(" " * 200_000).tokens
    assert counter.count(" " * 1_000_000).tokens == slices + 4 * SEAM_TOKENS


@pytest.mark.parametrize("make", [counter_for, BpeOpenAICounter, TiktokenCounter])
async def test_an_unknown_encoding_is_refused(make: Callable[[str], TokenCounter]) -> None:
    """The error names the encodings that are known, and nothing is fetched; of a known one there is one counter."""
    with pytest.raises(ValueError, match=r"'p50k_base' is not known; .* cl100k_base, o200k_base"):
        make("p50k_base")
    with pytest.raises(ValueError, match="not known"):
        await fetch_ranks("p50k_base", timeout_s=1)
    assert counter_for("o200k_base") is counter_for("o200k_base")


def test_bpe_openai_comes_first(tmp_path: Path) -> None:
    """Where it is installed it counts, without its package being imported."""
    code = """
        import sys
        print(type(counter_for("o200k_base")).__name__, "bpe_openai" in sys.modules, "tiktoken" in sys.modules)
    """
    assert run(code, tmp_path) == ["BpeOpenAICounter", "False", "False"]


@pytest.mark.parametrize("state", ["absent", "damaged", "switched off"])
def test_the_estimator_comes_last(state: str, tmp_path: Path, ranks: Path) -> None:
    """No ranks, damaged ranks, or tiktoken's cache switched off: an estimate, quickly and without a download."""
    for path in ranks.iterdir() if state == "damaged" else ():
        (tmp_path / path.name).write_bytes(path.read_bytes()[:-1])
    code = 'import sys\nprint(counter_for("o200k_base").count("hello").source, "tiktoken" in sys.modules)'
    folder = (
        "" if state == "switched off" else tmp_path
    )  # an empty name is not the working directory
    assert run(NOT_INSTALLED + code, folder, cwd=ranks) == ["estimate", "False"]
    assert len(list(tmp_path.iterdir())) == (2 if state == "damaged" else 0)


def test_ranks_that_arrive_later_are_found(tmp_path: Path, ranks: Path) -> None:
    """A refused download is an answer; once the ranks are there tiktoken counts with them."""
    code = f"""
        import asyncio, shutil
        print(asyncio.run(fetch_ranks("o200k_base", timeout_s=20)))
        shutil.copytree({str(ranks)!r}, {str(tmp_path)!r}, dirs_exist_ok=True)
        print(type(counter_for("o200k_base")).__name__)
        print(asyncio.run(fetch_ranks("o200k_base", timeout_s=20)))
    """
    told = run(NOT_INSTALLED + dedent(code), tmp_path)
    assert told == ["False", "TiktokenCounter", "True"]


def test_fetching_has_a_time_limit(tmp_path: Path) -> None:
    """A server that never answers holds up nobody; when it ends at last the loop is closed, and nothing is printed."""
    code = """
        import asyncio, os, socket, threading
        server = socket.create_server(("127.0.0.1", 0))
        os.environ["HTTPS_PROXY"] = f"http://127.0.0.1:{server.getsockname()[1]}"
        print(asyncio.run(fetch_ranks("o200k_base", timeout_s=0.2)))
    """
    end = """
        server.accept()[0].close()
        server.close()
        for thread in threading.enumerate():
            if thread.daemon:
                thread.join(20)
    """
    assert run(NOT_INSTALLED + dedent(code) + dedent(end), tmp_path) == ["False"]


def test_missing_ranks_name_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for tiktoken without ranks says what to do."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="await fetch_ranks"):
        TiktokenCounter("o200k_base")


def test_a_long_word_whose_pairs_hardly_merge_is_bounded() -> None:
    """Each pair of its letters is a token, and two thirds of the letters are as many tokens."""
    word = "oofeewyokkzndueyypxtyytfpuyecuicuoxfdojupiisvewa"
    assert len(word) * 2 // 3 <= most(word) <= estimate(word)
