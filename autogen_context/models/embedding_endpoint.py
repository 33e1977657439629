"""An embedding model at any endpoint that speaks OpenAI's protocol.

Promise: one vector of finite numbers per text, in order, or ``EmbeddingFailed`` within the time limit of a request;
nothing that was sent, and no key, is in the error. Of a long text the beginning counts. Cancellation passes through,
and nothing is left to be closed.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import BaseModel, FiniteFloat, ValidationError

from autogen_context.errors import EmbeddingFailed, MissingExtra
from autogen_context.models.embeddings import beginning

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# OpenAI takes 300,000 tokens a request (platform.openai.com/docs/api-reference/embeddings, 2026-11-21), and a token has
# a byte at least. It would take 2,048 texts; smaller requests can be under way together.
_REQUEST_BYTES = 290_000
_REQUEST_TEXTS = 64
_REQUESTS_AT_A_TIME = 4
_RETRIES = 100  # it is the time limit that ends them


class _Row(BaseModel):
    index: int
    embedding: list[FiniteFloat]


class _Answer(BaseModel):
    data: list[_Row]


class OpenAIEmbedder:
    """An embedding model behind an OpenAI-compatible endpoint.

    What is refused for its rate, fails in the server, or is not answered is sent again, with growing pauses or after
    those that the server asks for, until the time is over.

    Args:
        model: its name at the endpoint.
        base_url: as for the client, ``http://127.0.0.1:8000/v1``. Left out, ``OPENAI_BASE_URL``, else OpenAI's own.
        api_key: sent along. Left out, ``OPENAI_API_KEY`` where ``base_url`` is left out as well; a server that is named
            here gets none that it was not meant for.
        client: one of yours, in place of these two; it is used as it is and not closed. Without one each call has a
            connection of its own.
        timeout_s: for one request of up to 64 texts, waiting and further tries included, in seconds.

    Raises:
        ValueError: an argument is empty or out of its range, or an address or a key is given beside a client.
        MissingExtra: the extra ``openai`` is not installed.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: "AsyncOpenAI | None" = None,
        timeout_s: float = 30.0,
    ) -> None:
        _check(model, base_url, timeout_s)
        if client is not None and (base_url or api_key):
            raise ValueError("client: it has its address and key; leave out base_url and api_key")
        if find_spec("openai") is None:
            raise MissingExtra("openai", needed_for="OpenAIEmbedder")
        self.name = model
        self._client = client
        self._base_url = base_url
        self._api_key = api_key or ("none" if base_url else None)
        self._timeout_s = timeout_s

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector per text, in order; four requests at a time.

        Raises:
            EmbeddingFailed: a request failed for good, or its answer is something else than vectors for its texts.
        """
        places = asyncio.Semaphore(_REQUESTS_AT_A_TIME)
        try:
            async with self._connected() as client, asyncio.TaskGroup() as group:
                requests = [
                    group.create_task(self._asked(client, batch, places))
                    for batch in _batches(texts)
                ]
        except ExceptionGroup as failures:  # the first one ended the others
            raise failures.exceptions[0] from None
        return [vector for request in requests for vector in request.result()]

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator["AsyncOpenAI"]:
        """The client that was given, or one for this call."""
        if self._client is not None:
            yield self._client
            return
        # Importing openai takes about a second, and a client loads certificates: not on the event loop.
        async with await asyncio.to_thread(self._new_client) as client:
            yield client

    def _new_client(self) -> "AsyncOpenAI":
        from openai import AsyncOpenAI, OpenAIError  # noqa: PLC0415 - an extra, and slow to import

        try:
            return AsyncOpenAI(base_url=self._base_url, api_key=self._api_key)
        except OpenAIError as error:  # there is no key
            raise EmbeddingFailed(self.name, reason=str(error)) from None

    async def _asked(
        self, client: "AsyncOpenAI", texts: Sequence[str], places: asyncio.Semaphore
    ) -> list[list[float]]:
        """The vectors for one request."""
        try:
            async with places, asyncio.timeout(self._timeout_s):
                body = await self._body(client, texts)
        except TimeoutError:
            reason = f"no answer within {self._timeout_s:g} s, further tries included"
            raise EmbeddingFailed(self.name, reason=reason) from None
        return self._vectors(body, texts)

    async def _body(self, client: "AsyncOpenAI", texts: Sequence[str]) -> bytes:
        from openai import OpenAIError  # noqa: PLC0415 - an extra, and loaded by now

        patient = client.with_options(max_retries=_RETRIES, timeout=self._timeout_s)
        try:
            answer = await patient.embeddings.with_raw_response.create(
                model=self.name, input=list(texts), encoding_format="float"
            )
        except OpenAIError as error:
            # The server's words may repeat the key or the texts: they are not passed on, not even as a cause.
            raise EmbeddingFailed(self.name, reason=_reason(error)) from None
        return answer.content

    def _vectors(self, body: bytes, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of an answer, in the order of the texts.

        Raises:
            EmbeddingFailed: it is no list of vectors, or not one for each text.
        """
        try:
            rows = _Answer.model_validate_json(body).data
        except ValidationError:
            raise EmbeddingFailed(self.name, reason="its answer is no list of vectors") from None
        by_index = {row.index: row.embedding for row in rows}
        if sorted(row.index for row in rows) != list(range(len(texts))):
            reason = f"{len(rows)} vectors, or with wrong indexes, for {len(texts)} texts"
            raise EmbeddingFailed(self.name, reason=reason)
        return [by_index[index] for index in range(len(texts))]


def _check(model: str, base_url: str | None, timeout_s: float) -> None:
    if not model.strip():
        raise ValueError(f"model={model!r}: give the model's name at the endpoint")
    parts = urlsplit(base_url or "http://left-out")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"base_url={base_url!r}: give an address like http://127.0.0.1:8000/v1")
    if not timeout_s > 0:
        raise ValueError(f"timeout_s={timeout_s}: give a positive number of seconds")


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The beginnings of all texts in order, so many at a time as one request may have."""
    batch: list[str] = []
    batch_bytes = 0
    for text in map(beginning, texts):
        text_bytes = len(text.encode())
        if batch and (len(batch) == _REQUEST_TEXTS or batch_bytes + text_bytes > _REQUEST_BYTES):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(text)
        batch_bytes += text_bytes
    if batch:
        yield batch


def _reason(error: Exception) -> str:
    status: object = getattr(error, "status_code", None)
    return f"HTTP {status}" if status else type(error).__name__
