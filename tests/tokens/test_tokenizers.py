"""Exact counters take any text; what is at hand decides which one counts, and no turn waits for a download."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.tokens.estimate import SEAM_TOKENS
from autogen_context.tokens.measure import TokenCounter
from autogen_context.tokens.tokenizers import (
    BpeOpenAICounter,
    TiktokenCounter,
    counter_for,
    fetch_ranks,
)

ENCODINGS = ["cl100k_base", "o200k_base"]
CLOSED_PORT = "http://127.0.0.1:9"
NOT_INSTALLED = "import sys; sys.modules['bpe_openai'] = None\n"


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
def counters(ranks: Path) -> dict[str, tuple[TokenCounter, TokenCounter]]:
    """For each encoding: bpe-openai's counter and tiktoken's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(ranks))
        return {name: (BpeOpenAICounter(name), TiktokenCounter(name)) for name in ENCODINGS}


def run(code: str, folder: Path | str, *, cwd: Path | None = None, timeout_s: float = 60) -> str:
    """What a fresh process prints; it can reach no network."""
    env = os.environ | {
        "TIKTOKEN_CACHE_DIR": str(folder),
        "HTTPS_PROXY": CLOSED_PORT,
        "NO_PROXY": "",
    }
    command = [sys.executable, "-c", dedent(code)]
    done = subprocess.run(  # noqa: S603 - our own code
        command, env=env, cwd=cwd, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=st.text() | st.text(st.characters(max_codepoint=127)) | st.text(" \n\t/'sA1"))
def test_both_tokenizers_agree(
    counters: dict[str, tuple[TokenCounter, TokenCounter]], encoding: str, text: str
) -> None:
    """bpe-openai and tiktoken count the same for any text."""
    bpe, tiktoken = counters[encoding]
    assert bpe.count(text) == tiktoken.count(text)


ODD = {
    "empty": ("", 0),
    "a special token is plain text": ("<|endoftext|>", 7),
    "a lone surrogate counts as U+FFFD": ("\ud800", 1),
    "a pair of surrogates is one character": ("\ud83d\ude00", 1),
    "a pair of surrogates is a rare character": ("\udbff\udfff", 4),
}


@pytest.mark.parametrize("which", [0, 1], ids=["bpe-openai", "tiktoken"])
@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_texts(
    counters: dict[str, tuple[TokenCounter, TokenCounter]], name: str, which: int
) -> None:
    """Texts that raise elsewhere are counted."""
    text, tokens = ODD[name]
    assert counters["o200k_base"][which].count(text).tokens == tokens


@pytest.mark.parametrize("which", [0, 1], ids=["bpe-openai", "tiktoken"])
@pytest.mark.parametrize("character", [" ", "a", "\n", "0"])
def test_a_million_characters(
    counters: dict[str, tuple[TokenCounter, TokenCounter]], character: str, which: int
) -> None:
    """A single piece of a million characters raises nothing, and costs what its slices cost, and the margins."""
    counter = counters["o200k_base"][which]
    slices = 5 * counter.count(character * 200_000).tokens
    assert counter.count(character * 1_000_000).tokens == slices + 4 * SEAM_TOKENS


def test_ten_megabytes(counters: dict[str, tuple[TokenCounter, TokenCounter]]) -> None:
    """Ten megabytes of prose count as their sentences do: no cut falls into a piece."""
    counter = counters["o200k_base"][0]
    sentence = " A sentence with seven words in it."
    assert counter.count(sentence * 300_000).tokens == 300_000 * counter.count(sentence).tokens


@pytest.mark.parametrize("make", [counter_for, BpeOpenAICounter, TiktokenCounter])
def test_an_unknown_encoding_is_refused(make: Callable[[str], TokenCounter]) -> None:
    """The error names the encodings that are known."""
    with pytest.raises(
        ValueError, match="'p50k_base' is not known; known are cl100k_base, o200k_base"
    ):
        make("p50k_base")


async def test_nothing_is_fetched_for_an_unknown_encoding() -> None:
    """The error comes at once."""
    with pytest.raises(ValueError, match="not known"):
        await fetch_ranks("p50k_base", timeout_s=1)


def test_a_counter_is_made_once() -> None:
    """The same object serves every caller in the process."""
    assert counter_for("o200k_base") is counter_for("o200k_base")


def test_bpe_openai_comes_first(tmp_path: Path) -> None:
    """Where it is installed it counts, without its package being imported."""
    code = """
        import sys
        from autogen_context.tokens.tokenizers import counter_for
        print(type(counter_for("o200k_base")).__name__, "bpe_openai" in sys.modules, "tiktoken" in sys.modules)
        import bpe_openai
        print(len(bpe_openai.get_encoding("o200k_base").encode("hello")))
    """
    assert run(code, tmp_path) == "BpeOpenAICounter False False\n1"


def test_tiktoken_comes_next_where_its_ranks_are_on_disk(ranks: Path) -> None:
    """Without bpe-openai the ranks on disk are used."""
    code = """
        from autogen_context.tokens.tokenizers import counter_for
        counter = counter_for("cl100k_base")
        print(type(counter).__name__, counter.count("hello world"))
    """
    assert (
        run(NOT_INSTALLED + dedent(code), ranks)
        == "TiktokenCounter Count(tokens=2, source='tokenizer')"
    )


@pytest.mark.parametrize("state", ["absent", "damaged", "switched off"])
def test_the_estimator_comes_last(state: str, tmp_path: Path, ranks: Path) -> None:
    """No ranks, damaged ranks, or tiktoken's cache switched off: an estimate, quickly and without a download."""
    for path in ranks.iterdir():
        if state == "damaged":
            (tmp_path / path.name).write_bytes(path.read_bytes()[:-1])
    code = """
        import sys
        from autogen_context.tokens.tokenizers import counter_for
        print(counter_for("o200k_base").count("hello").source, "tiktoken" in sys.modules)
    """
    folder = (
        "" if state == "switched off" else tmp_path
    )  # an empty name is not the working directory
    assert run(NOT_INSTALLED + dedent(code), folder, cwd=ranks) == "estimate False"
    assert len(list(tmp_path.iterdir())) == (2 if state == "damaged" else 0)


def test_ranks_that_arrive_later_are_found(tmp_path: Path, ranks: Path) -> None:
    """Asking again gives the exact counter once the ranks are there."""
    code = f"""
        import asyncio, shutil
        from autogen_context.tokens.tokenizers import counter_for, fetch_ranks
        print(counter_for("o200k_base").count("x").source)
        shutil.copytree({str(ranks)!r}, {str(tmp_path)!r}, dirs_exist_ok=True)
        print(counter_for("o200k_base").count("x").source)
        print(asyncio.run(fetch_ranks("o200k_base", timeout_s=20)))
    """
    assert run(NOT_INSTALLED + dedent(code), tmp_path).split() == ["estimate", "tokenizer", "True"]


def test_fetching_offline_gives_up(tmp_path: Path) -> None:
    """A refused download is an answer, not an error; nothing is printed."""
    code = """
        import asyncio
        from autogen_context.tokens.tokenizers import fetch_ranks
        print(asyncio.run(fetch_ranks("o200k_base", timeout_s=20)))
        print(asyncio.run(fetch_ranks("o200k_base", timeout_s=20)))
    """
    assert run(NOT_INSTALLED + dedent(code), tmp_path).split() == ["False", "False"]


def test_fetching_has_a_time_limit(tmp_path: Path) -> None:
    """A server that never answers holds up neither the caller nor the end of the process."""
    code = """
        import asyncio, os, socket
        server = socket.create_server(("127.0.0.1", 0))
        os.environ["HTTPS_PROXY"] = f"http://127.0.0.1:{server.getsockname()[1]}"
        from autogen_context.tokens.tokenizers import fetch_ranks
        print(asyncio.run(fetch_ranks("o200k_base", timeout_s=0.2)))
    """
    assert run(NOT_INSTALLED + dedent(code), tmp_path, timeout_s=30) == "False"


def test_a_download_that_ends_too_late_is_quiet(tmp_path: Path) -> None:
    """Nobody waits any more, the event loop is closed, and nothing is printed."""
    code = """
        import asyncio, os, socket, threading
        server = socket.create_server(("127.0.0.1", 0))
        os.environ["HTTPS_PROXY"] = f"http://127.0.0.1:{server.getsockname()[1]}"
        from autogen_context.tokens.tokenizers import fetch_ranks
        print(asyncio.run(fetch_ranks("o200k_base", timeout_s=0.2)))
        server.accept()[0].close()
        server.close()
        for thread in threading.enumerate():
            if thread.daemon:
                thread.join(20)
    """
    assert run(NOT_INSTALLED + dedent(code), tmp_path, timeout_s=30) == "False"


def test_missing_ranks_name_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for tiktoken without ranks says what to do."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="await fetch_ranks"):
        TiktokenCounter("o200k_base")
