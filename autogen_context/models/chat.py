"""Ask a chat model for a text, at any endpoint that speaks OpenAI's protocol.

Promise: an answer is whole and not empty, or ``CompletionFailed`` is raised within the time limit; nothing that was asked
or answered, and no key, is in the error or in a log. Cancellation passes through, and nothing is left to be closed.

Each call has a connection of its own: a few milliseconds beside a model's seconds, and calls from one event loop after
the other, as synchronous hosts make them, need no care.
"""

import asyncio
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ValidationError

from autogen_context.errors import CompletionFailed, MissingExtra

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletionMessageParam

# OpenAI's newer models refuse ``max_tokens``; most other servers know nothing else (read 2026-11).
# https://platform.openai.com/docs/api-reference/chat/create
_NEW_LIMIT_HOSTS = (".openai.com", ".openai.azure.com")


class _Said(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Answer(BaseModel):
    choices: Sequence[_Choice]


class CompletionClient:
    """A chat model behind an OpenAI-compatible endpoint.

    Args:
        model: its name at the endpoint.
        base_url: as for the client, ``http://127.0.0.1:8000/v1``. Left out, ``OPENAI_BASE_URL``, else OpenAI's own.
        api_key: sent along. Left out, ``OPENAI_API_KEY`` where ``base_url`` is left out as well; a server that is named
            here gets none that it was not meant for.
        timeout_s: for one answer, waiting and further tries included, in seconds.
        retries: how often a dropped connection, a rate limit or a fault of the server is tried again, with growing
            pauses.
        concurrency: how many answers are waited for at once; further callers wait for a place, in their time limit.

    Raises:
        ValueError: an argument is empty or out of its range.
        MissingExtra: the extra ``openai`` is not installed.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 30.0,
        retries: int = 2,
        concurrency: int = 4,
    ) -> None:
        _check(model, base_url)
        _check_at_least("retries", retries, 0)
        _check_at_least("concurrency", concurrency, 1)
        if not timeout_s > 0:
            raise ValueError(f"timeout_s={timeout_s}: give a positive number of seconds")
        self._model = model
        self._base_url = base_url
        self._api_key = api_key or ("none" if base_url else None)
        self._timeout_s = timeout_s
        self._retries = retries
        self._concurrency = concurrency
        # A semaphore serves one event loop; each loop that calls has its own.
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    async def complete(
        self, prompt: str, /, *, system: str | None = None, max_tokens: int = 1024
    ) -> str:
        """The model's answer to a prompt.

        Args:
            prompt: what the model is asked.
            system: a system prompt before it.
            max_tokens: the most that the answer may have, in tokens.

        Returns:
            The text of the answer, without white space around it.

        Raises:
            CompletionFailed: there was none in time, the endpoint refused or failed, or the answer is empty, broken off
                or none at all.
            ValueError: ``max_tokens`` is not positive.
        """
        _check_at_least("max_tokens", max_tokens, 1)
        messages = _messages(prompt, system)
        try:
            async with asyncio.timeout(self._timeout_s), self._place():
                body = await self._ask(messages, max_tokens)
        except TimeoutError:
            raise CompletionFailed(f"none within {self._timeout_s:g} s") from None
        return text_of(body)

    def _place(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        return self._places.setdefault(loop, asyncio.Semaphore(self._concurrency))

    async def _ask(
        self, messages: Sequence["ChatCompletionMessageParam"], max_tokens: int
    ) -> bytes:
        """The body of the endpoint's answer."""
        # Importing openai takes about a second, and a client loads certificates: not on the event loop.
        from_openai = await asyncio.to_thread(_errors)
        try:
            async with await asyncio.to_thread(self.connection) as client:
                answer = await client.chat.completions.with_raw_response.create(
                    model=self._model,
                    messages=messages,
                    extra_body=limit_for(client.base_url.host, max_tokens),
                )
                return answer.content
        except from_openai as error:
            # The server's words may repeat the key or the prompt: they are not passed on, not even as a cause.
            raise CompletionFailed(_reason(error)) from None

    def connection(self) -> "AsyncOpenAI":
        """A connection of its own for one call; who takes it closes it."""
        from openai import AsyncOpenAI  # noqa: PLC0415 - an extra, and slow to import

        return AsyncOpenAI(
            base_url=self._base_url,
            api_key=self._api_key,
            timeout=self._timeout_s,
            max_retries=self._retries,
        )


def _check(model: str, base_url: str | None) -> None:
    if not model.strip():
        raise ValueError(f"model={model!r}: give the model's name at the endpoint")
    parts = urlsplit(base_url or "http://left-out")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"base_url={base_url!r}: give an address like http://127.0.0.1:8000/v1")
    if find_spec("openai") is None:
        raise MissingExtra("openai", needed_for="asking a chat model")


def _check_at_least(argument: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{argument}={value}: give {least} or more")


def _errors() -> type[Exception]:
    """The root of what the client raises."""
    from openai import OpenAIError  # noqa: PLC0415 - an extra, and slow to import

    return OpenAIError


def _messages(prompt: str, system: str | None) -> list["ChatCompletionMessageParam"]:
    asked: list[ChatCompletionMessageParam] = [{"role": "user", "content": _encodable(prompt)}]
    if system is None:
        return asked
    return [{"role": "system", "content": _encodable(system)}, *asked]


def _encodable(text: str) -> str:
    """The text with question marks for lone surrogates, which no request can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def limit_for(host: str, max_tokens: int) -> dict[str, int]:
    """The limit of an answer, by the name under which the endpoint knows it."""
    name = "max_completion_tokens" if host.endswith(_NEW_LIMIT_HOSTS) else "max_tokens"
    return {name: max_tokens}


def _reason(error: Exception) -> str:
    status: object = getattr(error, "status_code", None)
    return f"HTTP {status}" if status else type(error).__name__


def text_of(body: bytes) -> str:
    """The text of a whole answer.

    Raises:
        CompletionFailed: it is none.
    """
    try:
        choices = _Answer.model_validate_json(body).choices
    except ValidationError:
        raise CompletionFailed("it is no chat completion") from None
    if not choices:
        raise CompletionFailed("it has no choices")
    text = (choices[0].message.content or "").strip()
    if choices[0].finish_reason in {"length", "content_filter"}:
        raise CompletionFailed(f"it was broken off ({choices[0].finish_reason})")
    if not text:
        raise CompletionFailed("it is empty")
    return text
