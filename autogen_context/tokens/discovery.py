"""Ask a running endpoint for the token limits of its models.

Promise: a request ends within its time limit, and any failure gives one warning and no limit, never an error.
Requests use ``openai.AsyncOpenAI``, so keys, proxies and certificates work as in the model calls that follow.
"""

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from pydantic import BaseModel

from autogen_context.argument import require_address, require_seconds
from autogen_context.tokens.limits import ModelLimit, limit_of, squash, unrouted
from autogen_context.tokens.prices import LOCAL, engine_of

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_LOGGER = logging.getLogger(__name__)

# A reported number outside this range is treated as a server error.
_PLAUSIBLE_TOKENS = range(256, 100_000_001)
# Names of the context window field; values for the running instance come first:
# LM Studio; vLLM, SGLang; llama.cpp, and its older versions at /props; OpenRouter (the provider it routes to, then
# the model), Ollama, Together; Groq; Mistral.
_WINDOW_FIELDS = [
    "loaded_context_length",
    "max_model_len",
    "meta.n_ctx",
    "default_generation_settings.n_ctx",
    "top_provider.context_length",
    "context_length",
    "context_window",
    "max_context_length",
]
_DOORS = (("/api/v0/models", "id", "lmstudio"), ("/api/ps", "name", "ollama"))
_OUTPUT_FIELDS = ("top_provider.max_completion_tokens", "max_completion_tokens")

Fields = dict[str, object]


class _Listing(BaseModel):
    """A list of models: under ``data`` for OpenAI and LM Studio, under ``models`` for Ollama."""

    data: list[Fields] = []
    models: list[Fields] = []


class Discovery:
    """Reads model limits from an OpenAI-compatible endpoint.

    Args:
        base_url: the client's base URL, such as ``http://127.0.0.1:8000/v1``.
        api_key: sent with each request; if omitted, a placeholder is sent, never a key from the environment.
        timeout_s: time limit for all requests of one look-up, in seconds.

    Raises:
        ValueError: ``base_url`` is not an HTTP URL, or ``timeout_s`` is not positive.
    """

    def __init__(
        self, base_url: str, *, api_key: str | None = None, timeout_s: float = 5.0
    ) -> None:
        require_address("base_url", base_url)
        require_seconds("timeout_s", timeout_s)
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key or "none"
        self._timeout_s = timeout_s
        # Keep user name and password out of logs and reports.
        parts = urlsplit(base_url)
        self.address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    async def ask(self, model: str, /) -> ModelLimit | None:
        """Return the limits of ``model``, or ``None`` if the endpoint fails or does not know it."""
        try:
            async with asyncio.timeout(self._timeout_s):
                # Importing openai takes about a second and would block the event loop.
                async with await asyncio.to_thread(self._client) as client:
                    return await self._ask(client, model)
        except Exception as error:  # noqa: BLE001 - a failing endpoint must not fail the look-up
            # Log nothing from the response: it may echo the API key.
            status: object = getattr(error, "status_code", None)
            reason = f"HTTP {status}" if status else type(error).__name__
            if isinstance(error, TimeoutError) or type(error) is ValueError:
                reason = str(error) or "no answer in time"
            warning = "%s returned no limits for %r: %s; the next source is used"
            _LOGGER.warning(warning, self.address, model, reason)
            return None

    def _client(self) -> "AsyncOpenAI":
        from openai import AsyncOpenAI  # noqa: PLC0415 - an extra, and slow to import

        return AsyncOpenAI(
            base_url=self._base_url, api_key=self._api_key, timeout=self._timeout_s, max_retries=0
        )

    async def _ask(self, client: "AsyncOpenAI", model: str) -> ModelLimit | None:
        """Read the limits from ``/v1/models``, else from the native endpoints of LM Studio, Ollama and llama.cpp."""
        answer = await client.models.with_raw_response.list()
        row = _row_of(model, _Listing.model_validate_json(answer.content).data, key="id")
        if row is None:
            return None
        engine = engine_of(str(row.get("owned_by")))
        if limit := self._limit(model, row, engine):
            return limit
        root, served = self._base_url.removesuffix("/v1"), str(row["id"])
        for path, key, name in _DOORS:
            listing = _Listing.model_validate(await _answer(client, root + path))
            row = _row_of(served, listing.data or listing.models, key=key)
            if row and (limit := self._limit(model, row, engine_of(name))):
                return limit
        if limit := self._limit(model, _fields(await _answer(client, f"{root}/props")), LOCAL):
            return limit
        # Ollama: settings as text, and metadata of the model file.
        shown = _fields(await _answer(client, f"{root}/api/show", {"model": served}))
        settings, info = str(shown.get("parameters")), _fields(shown.get("model_info")).items()
        tokens = next((value for key, value in info if key.endswith(".context_length")), None)
        # Prefer the configured context size to the one that the model was trained with.
        running = re.search(r"^num_ctx\s+(\d{1,12})\s*$", settings, re.MULTILINE)
        row = {"context_length": int(running[1]) if running else tokens}
        return self._limit(model, row, engine_of("ollama"))

    def _limit(self, model: str, row: Fields, engine: str) -> ModelLimit | None:
        window = _tokens(row, _WINDOW_FIELDS)
        if window is None:
            return None
        output = min(_tokens(row, _OUTPUT_FIELDS) or window, window)
        source = f"discovery {self.address}"
        limit = limit_of(model, source, window_tokens=window, output_tokens=output)
        return limit.model_copy(update={"provider": engine})


async def _answer(client: "AsyncOpenAI", url: str, body: Mapping[str, str] | None = None) -> object:
    """Query an endpoint that few servers have; return an empty dict if there is none."""
    from openai import APIStatusError  # noqa: PLC0415 - an extra, and slow to import

    ask = partial(client.post, body=body) if body else client.get
    try:
        answer: object = await ask(url, cast_to=object)
    except APIStatusError:
        return {}
    return {} if isinstance(answer, str) else answer  # HTML, if every path is answered


def _fields(answer: object) -> Fields:
    """Return the answer if it is a JSON object, else an empty dict."""
    return cast("Fields", answer) if isinstance(answer, dict) else {}


def _row_of(model: str, rows: Sequence[Fields], *, key: str) -> Fields | None:
    """Return the row with this name, else the one that matches without routes; ``:latest`` is ignored."""
    plain = [(str(row.get(key)).removesuffix(":latest"), row) for row in rows]
    asked = model.removesuffix(":latest")
    exact = (row for name, row in plain if squash(name) == squash(asked))
    routed = (row for name, row in plain if squash(unrouted(name)) == squash(unrouted(asked)))
    return next(exact, None) or next(routed, None)


def _tokens(row: Fields, fields: Sequence[str]) -> int | None:
    """Return the first of these fields that the row has, in tokens; raise ``ValueError`` if it is implausible."""
    for field in fields:
        outer, _, inner = field.partition(".")
        value = row.get(outer)
        if inner:
            value = _fields(value).get(inner)
        if value is None:
            continue
        if not isinstance(value, int) or value not in _PLAUSIBLE_TOKENS:
            raise ValueError(f"{field} is {value!r:.40}, which is no plausible number of tokens")
        return value
    return None
