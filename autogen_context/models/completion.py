"""Chat completions: a client for OpenAI-compatible endpoints, the protocols for a client of the host, and answers as JSON."""

import asyncio
import logging
import os
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

from pydantic import AliasPath, BaseModel, Field, ValidationError

from autogen_context.argument import require_address, require_seconds, require_whole, wrong_argument
from autogen_context.errors import CompletionFailed

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# OpenAI's newer models refuse ``max_tokens``; most other servers know nothing else (read 2026-11).
# https://platform.openai.com/docs/api-reference/chat/create
NEW_LIMIT_HOSTS = (".openai.com", ".openai.azure.com")
READ_CHARS = 10_000  # longer answers in JSON are refused; a valid one has some hundreds

logger = logging.getLogger(__name__)
Shape = TypeVar("Shape", bound=BaseModel)


class Complete(Protocol):
    """An async function from prompt to answer; clients of hosts are wrapped in one."""

    async def __call__(self, prompt: str, /) -> str:
        """Answer a prompt. Any exception counts as no answer."""
        ...


class CompletesPrompts(Protocol):
    """A client with a ``complete`` method, such as ``CompletionClient``."""

    async def complete(self, prompt: str, /) -> str:
        """Answer a prompt."""
        ...


class HostClient(Protocol):
    """A client of a host, such as autogen-ext's; accepted by the entries of that host."""

    @property
    def model_info(self) -> Any:
        """Capabilities of its model."""
        ...


ModelClient = Complete | CompletesPrompts | HostClient
"""A model client in any accepted form."""


class _ChatResponse(BaseModel):
    content: str | None = Field(validation_alias=AliasPath("choices", 0, "message", "content"))
    reason: str | None = Field(None, validation_alias=AliasPath("choices", 0, "finish_reason"))


class Places:
    """Limits concurrent calls, with one semaphore for each event loop."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._by_loop = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]()

    def here(self) -> asyncio.Semaphore:
        """Return the semaphore of the running event loop."""
        loop = asyncio.get_running_loop()
        places = self._by_loop.get(loop)
        return places or self._by_loop.setdefault(loop, asyncio.Semaphore(self._concurrency))


class CompletionClient:
    """A chat model at an OpenAI-compatible endpoint; each call uses its own connection.

    Args:
        model: name of the model at the endpoint.
        base_url: such as ``http://127.0.0.1:8000/v1``; default: ``OPENAI_BASE_URL``, else OpenAI's own.
        api_key: default: ``OPENAI_API_KEY``, but only if ``base_url`` is not given, so that the key never goes to another
            server.
        timeout_s: time limit for one answer in seconds, waiting and retries included.
        retries: number of retries after a dropped connection, a rate limit or a server error.
        concurrency: the most concurrent calls; others wait within their time limit.

    Raises:
        ValueError: an argument is empty or out of range.
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
        check_endpoint(model, base_url, timeout_s)
        require_whole("retries", retries, least=0, give="0 or more")
        require_whole("concurrency", concurrency, least=1, give="1 or more")
        self._model = model
        self._connect = partial(connected, base_url, api_key, timeout_s, retries)
        self._timeout_s = timeout_s
        self._places = Places(concurrency)

    async def complete(self, prompt: str, /, *, max_tokens: int = 1024) -> str:
        """Return the model's answer to a prompt, stripped, of at most ``max_tokens`` tokens.

        Raises:
            CompletionFailed: no answer in time, the endpoint refused or failed, or the answer is empty, truncated or
                invalid.
            ValueError: ``max_tokens`` is not positive.
        """
        require_whole("max_tokens", max_tokens, least=1, give="1 or more")
        try:
            async with asyncio.timeout(self._timeout_s), self._places.here():
                return text_of(await self._ask(prompt, max_tokens))
        except TimeoutError:
            raise CompletionFailed(f"none within {self._timeout_s:g} s") from None

    async def _ask(self, prompt: str, max_tokens: int) -> bytes:
        # Lone surrogates cannot be encoded and are sent as question marks.
        asked = prompt.encode("utf-8", "replace").decode("utf-8")
        # Importing openai and loading certificates take about a second: keep them off the event loop.
        failure = await asyncio.to_thread(client_error)
        try:
            async with await asyncio.to_thread(self._connect) as client:
                is_new = client.base_url.host.endswith(NEW_LIMIT_HOSTS)
                limit = "max_completion_tokens" if is_new else "max_tokens"
                answer = await client.chat.completions.with_raw_response.create(
                    model=self._model,
                    messages=[{"role": "user", "content": asked}],
                    extra_body={limit: max_tokens},
                )
                return answer.content
        except failure as error:
            raise CompletionFailed(reason_of(error)) from None


async def asked(
    complete: Complete, prompt: str, shape: type[Shape], *, timeout_s: float, failed: str
) -> Shape | None:
    """Ask a model for one JSON object; without a valid one in time return ``None``, after one ``failed`` with the reason."""
    try:
        async with asyncio.timeout(timeout_s):
            answer = await complete(prompt)
        if len(answer) > READ_CHARS:
            answer = ""  # no valid one is as long
        return shape.model_validate_json(answer[answer.find("{") : answer.rfind("}") + 1])
    except Exception as error:  # noqa: BLE001 - a model that fails in any way costs its answer, not the turn
        late = isinstance(error, TimeoutError)
        reason = "no answer in time" if late else type(error).__name__
        logger.warning(failed, reason, extra={"reason": reason})
        return None


def complete_of(
    client: ModelClient | Literal["host"], *, argument: str = "model_client"
) -> Complete:
    """Return a client's completion function; ``ValueError`` if it has none."""
    found: object = getattr(client, "complete", client)
    if callable(found):
        return cast("Complete", found)  # its answers are checked when it is called
    give = "a CompletionClient, or an async function of a prompt; complete_with(client) makes one of autogen-agentchat's"
    if client == "host":
        give += "; 'host' is for register(agent), which knows the agent's own"
    raise wrong_argument(argument, client, give)


def check_endpoint(model: str, base_url: str | None, timeout_s: float) -> None:
    """Raise ``ValueError`` for an invalid model name, address or time limit."""
    if not model.strip():
        raise wrong_argument("model", model, "the model's name at the endpoint")
    if base_url:
        require_address("base_url", base_url)
    require_seconds("timeout_s", timeout_s)


def connected(
    base_url: str | None, api_key: str | None, timeout_s: float, retries: int
) -> "AsyncOpenAI":
    """Create a client; an endpoint that is given explicitly receives neither key nor headers from the environment."""
    from openai import AsyncOpenAI  # noqa: PLC0415 - an extra, and slow to import

    key = api_key or ("none" if base_url else None)
    if base_url in (None, "", os.environ.get("OPENAI_BASE_URL")):
        return AsyncOpenAI(base_url=base_url, api_key=key, timeout=timeout_s, max_retries=retries)
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = [line.partition(":")[0].strip() for line in lines if ":" in line]
    blank = {name: "" for name in names if name.lower() != "authorization"}
    client = AsyncOpenAI(
        base_url=base_url,
        api_key=key,
        timeout=timeout_s,
        max_retries=retries,
        default_headers={**blank, "Authorization": f"Bearer {key}"},
    )
    client.organization = client.project = None
    return client


def client_error() -> type[Exception]:
    """Return the base class of the client's errors."""
    from openai import OpenAIError  # noqa: PLC0415 - as above

    return OpenAIError


def reason_of(error: Exception) -> str:
    """Describe a failure without the server's text, which may repeat the key or the prompt."""
    status: object = getattr(error, "status_code", None)
    return f"HTTP {status}" if status else type(error).__name__


def text_of(body: bytes) -> str:
    """Return the text of an answer; ``CompletionFailed`` if it is incomplete or invalid."""
    try:
        answer = _ChatResponse.model_validate_json(body)
    except ValidationError:
        raise CompletionFailed("it is no chat completion") from None
    return whole(answer.content, answer.reason)


def whole(text: object, reason: str | None) -> str:
    """Return the text of an answer; ``CompletionFailed`` if it was broken off, is empty, or is no text but a tool call."""
    if reason in {"length", "content_filter"}:
        raise CompletionFailed(f"it was broken off ({reason})")
    if isinstance(text, str) and text.strip():
        return text.strip()
    raise CompletionFailed("it calls a tool" if reason == "tool_calls" else "it is empty")
