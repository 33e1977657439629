"""What the client of a provider adds to one call of a model, and reads from its bill: for hosts that have no place for either.

Promise: a client's requests outside a ``ProviderCall`` are those of its caller, unchanged; within one, nothing is taken from a
request, and what its caller says of the prompt cache wins. A client is changed once, in one attribute (``request``), and never closed.

Why there: the clients of OpenAI and Anthropic (and Bedrock's, Vertex', Azure's) have one method through which every request of
theirs goes, streamed or not, by whatever resource; hosts build requests themselves and take no such arguments (AutoGen's client
for Claude), or only some. The context variable keeps apart the agents that share a client.
"""

import hashlib
import inspect
import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Self, TypeAlias, cast

from autogen_context.messages.message import SYSTEM_ROLES
from autogen_context.models.cache_marks import CacheMarks

Provider: TypeAlias = Literal["anthropic", "openai"]
PROVIDERS: tuple[Provider, ...] = ("anthropic", "openai")
OPENAI_HOST = "api.openai.com"  # and its regions; others may refuse a field that they do not know
CACHE_KEY = "prompt_cache_key"
KEY_BYTES = 16
PATHS: Mapping[Provider, tuple[str, ...]] = {
    "anthropic": ("/v1/messages",),
    "openai": ("/chat/completions", "/responses"),
}
# Where hosts keep the client of a provider, and clients that wrap others.
KEPT_IN = ("anthropic_client", "_client", "client", "_oai_client")
MOST_WRAPPERS = 4  # clients around a client
# The arguments that Anthropic's client no longer names from its 1.0 on, while the API reads them.
SAMPLING = ("temperature", "top_p", "top_k")


class Billed(NamedTuple):
    """What a provider billed for the input of a request: all of it, and what of that it read from its cache, if it says so."""

    prompt_tokens: int
    cached_tokens: int | None


@dataclass(slots=True, kw_only=True)
class ProviderCall:
    """One call of a model by a host.

    Attributes:
        marks: marks the requests to Anthropic; ``None`` for none.
        grows: whether the conversation goes on from this request.
        cache_key: the key of the requests to OpenAI; ``None`` for none.
        system_text: a message in the user role with this text, the last of them, goes to OpenAI as the system message that it was
            before the host, which has no other, made it a person's; empty for none.
        billed: what the provider said of its last request; ``None`` before that, and if it said nothing.
        on_bill: is called once for each request that is billed, with the hash of the request's newest text; for hosts that
            have no place behind a call.
    """

    marks: CacheMarks | None = None
    grows: bool = True
    cache_key: "CacheKey | None" = None
    system_text: str = ""
    billed: Billed | None = None
    on_bill: Callable[[Billed, int], None] | None = None
    _newest: int = 0
    _is_due: bool = False  # a bill of the last request

    @contextmanager
    def scope(self) -> Generator[None]:
        """Make this the call to which the requests within belong."""
        token = CALL.set(self)
        try:
            yield
        finally:
            CALL.reset(token)

    def changed(self, provider: Provider, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what is sent in place of a request."""
        if self.on_bill is not None:
            self._newest, self._is_due = hash(newest_text(body)), True
        if provider == "anthropic":
            return self.marks.marked(body, grows=self.grows) if self.marks else body
        if self.system_text:
            body = with_system(body, self.system_text)
        if self.cache_key is None or CACHE_KEY in body:
            return body
        return {**body, CACHE_KEY: self.cache_key.of(body)}

    def see(self, answer: object) -> None:
        """Read the bill of an answer, or of a part of it."""
        whole: Any = getattr(answer, "message", None) or getattr(answer, "response", None) or answer
        usage = getattr(whole, "usage", None)
        billed = billed_of(usage) if usage is not None else None
        if billed is not None and billed.prompt_tokens:
            self.billed = billed
            if self.on_bill is not None and self._is_due:
                self._is_due = False
                self.on_bill(billed, self._newest)


CALL: ContextVar[ProviderCall | None] = ContextVar("autogen_context_call", default=None)


def with_system(body: Mapping[str, Any], text: str) -> Mapping[str, Any]:
    """Return a request to OpenAI in which the last message in the user role with a text is a system message."""
    name = "messages" if "messages" in body else "input"
    messages = list_in(body, name)
    for at in range(len(messages) - 1, -1, -1):
        message = fields_in(messages[at])
        if message.get("role") == "user" and text_in(message) == text:
            said = {**message, "role": "system"}
            return {**body, name: [*messages[:at], said, *messages[at + 1 :]]}
    return body


def text_in(message: Mapping[str, Any]) -> object:
    """Return what a message says, if it is one text."""
    parts = list_in(message, "content")
    return fields_in(parts[0]).get("text") if len(parts) == 1 else message.get("content")


def list_in(fields: Mapping[str, Any], name: str) -> Sequence[object]:
    """Return the list under a name; empty if there is none."""
    value: object = fields.get(name)
    return cast("list[object]", value) if isinstance(value, list) else ()


def fields_in(value: object) -> Mapping[str, Any]:
    """Return a JSON object; an empty one for any other value."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


class CacheKey:
    """The key of one conversation: a digest of whose it is and of the first message that is none of the system's.

    It is worked out once, so that neither a compaction nor another system prompt changes it, and is the same after a restart.

    Args:
        whose: what tells agents and tenants apart.
    """

    def __init__(self, whose: str) -> None:
        self._whose, self._key = whose, ""

    def of(self, body: Mapping[str, Any]) -> str:
        """Return the key, for a request of the conversation."""
        if not self._key:
            said: Any = body.get("messages") or body.get("input")
            several: Sequence[object] = (said,)
            if isinstance(said, list | tuple):
                several = cast("Sequence[object]", said)
            first = next(filter(is_said, several), None)
            text = json.dumps([self._whose, first], default=str).encode("utf-8", "surrogatepass")
            self._key = hashlib.blake2b(text, digest_size=KEY_BYTES).hexdigest()
        return self._key


def is_said(message: object) -> bool:
    """Return True for a message, or a text, that is no system prompt."""
    role: object = getattr(message, "role", None)
    if isinstance(message, Mapping):
        role = cast("Mapping[str, object]", message).get("role")
    return role not in SYSTEM_ROLES


def newest_text(body: Mapping[str, Any]) -> object:
    """Return the text of a request's newest message, or of a message; of several blocks that of the last one."""
    content: Any = (
        body.get("messages") or body.get("input") or body.get("content") or body.get("text")
    )
    while isinstance(content, Mapping) or (isinstance(content, list | tuple) and content):
        if isinstance(content, list | tuple):
            content = cast("Any", content)[-1]
        else:
            message = cast("Mapping[str, Any]", content)
            content = message.get("content") or message.get("text")
    return cast("object", content)


def billed_of(usage: Any) -> Billed | None:
    """Return what a usage says of the input, in the form of either provider; Anthropic bills cached input apart."""
    cached = getattr(usage, "cache_read_input_tokens", None)
    written = getattr(usage, "cache_creation_input_tokens", None)
    tokens = getattr(usage, "input_tokens", None)
    if tokens is not None and hasattr(usage, "cache_read_input_tokens"):
        return Billed(tokens + (cached or 0) + (written or 0), cached)
    tokens = getattr(usage, "prompt_tokens", tokens)
    details = getattr(usage, "prompt_tokens_details", None)
    details = getattr(usage, "input_tokens_details", details)
    if tokens is None:
        return None
    return Billed(tokens, getattr(details, "cached_tokens", None))


def provider_clients(client: object) -> Iterator[tuple[Provider, Any]]:
    """Yield the client of a provider that a host's client sends its requests with, and the provider."""
    for _ in range(MOST_WRAPPERS):
        provider = provider_of(client)
        if provider is not None:
            yield provider, client
            return
        attributes: Mapping[str, object] = getattr(client, "__dict__", {})
        inner = next((attributes[name] for name in KEPT_IN if attributes.get(name)), None)
        if inner is None:
            return
        client = inner


def provider_of(client: object) -> Provider | None:
    """Return whose client this is, if it is a provider's own."""
    if not callable(getattr(client, "request", None)):
        return None
    roots = {kind.__module__.partition(".")[0] for kind in type(client).__mro__}
    return next((provider for provider in PROVIDERS if provider in roots), None)


def is_openais_own(client: Any) -> bool:
    """Return True if a client of OpenAI's sends its requests to OpenAI itself."""
    host = str(getattr(getattr(client, "base_url", None), "host", ""))
    return host == OPENAI_HOST or host.endswith(f".{OPENAI_HOST}")


def watch(client: Any, provider: Provider) -> None:
    """Let ``ProviderCall`` act on the requests of a provider's client; again for the same one does nothing."""
    if isinstance(client.request, Watched):
        return
    client.request = Watched(client.request, provider)
    if provider == "anthropic":
        take_sampling(client.messages)


class Watched:
    """A client's ``request`` that the current call changes, and that it reads the bill of."""

    def __init__(self, ask: Callable[..., Any], provider: Provider) -> None:
        self._ask = ask
        self._provider: Provider = provider
        self.call: ProviderCall | None = None  # of requests without one of their own
        self._is_async = inspect.iscoroutinefunction(ask)

    def __call__(self, cast_to: Any, options: Any, *rest: Any, **named: Any) -> Any:
        """Send a request, with the arguments of the client's ``request``."""
        call, path = CALL.get() or self.call, str(getattr(options, "url", "")).partition("?")[0]
        ask = partial(self._ask, cast_to, options, *rest, **named)
        body = getattr(options, "json_data", None)
        if (
            call is None
            or not path.endswith(PATHS[self._provider])
            or not isinstance(body, Mapping)
        ):
            return ask()
        options.json_data = call.changed(self._provider, cast("Mapping[str, Any]", body))
        is_stream = bool(named.get("stream"))
        if self._is_async:
            return self._later(ask, call, is_stream=is_stream)
        return seen(ask(), call, is_stream=is_stream)

    async def _later(self, ask: Callable[[], Any], call: ProviderCall, *, is_stream: bool) -> Any:
        return seen(await ask(), call, is_stream=is_stream)


def seen(answer: Any, call: ProviderCall, *, is_stream: bool) -> Any:
    """Return an answer whose bill was read, or a stream whose parts are read as they pass."""
    if is_stream and hasattr(answer, "response") and hasattr(answer, "close"):
        return SeenStream(answer, call)
    call.see(answer)
    return answer


class SeenStream:
    """A client's stream, in every respect but that a call reads the bill in what passes."""

    def __init__(self, stream: Any, call: ProviderCall) -> None:
        self._stream, self._call = stream, call

    def __getattr__(self, name: str) -> Any:
        """Whatever else a stream has."""
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the parts."""
        return self

    def __next__(self) -> Any:
        """Return the next part."""
        part = next(self._stream)
        self._call.see(part)
        return part

    def __aiter__(self) -> Self:
        """Iterate over the parts."""
        return self

    async def __anext__(self) -> Any:
        """Return the next part."""
        part = await anext(self._stream)
        self._call.see(part)
        return part

    def __enter__(self) -> Self:
        """Return this stream; the client's is closed at the end."""
        self._stream.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Close the stream."""
        self._stream.__exit__(*error)

    async def __aenter__(self) -> Self:
        """Return this stream; the client's is closed at the end."""
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the stream."""
        await self._stream.__aexit__(*error)


def take_sampling(messages: Any) -> None:
    """Let ``create`` take the sampling arguments that it no longer names, in the body, where the API reads them.

    Hosts that were written for the client before its 1.0 (AutoGen 0.7, classic AutoGen 0.14) pass ``temperature`` with every
    request, which is a ``TypeError`` from 1.0 on.
    """
    create = messages.create
    missing = [name for name in SAMPLING if name not in inspect.signature(create).parameters]
    if not missing:
        return

    def create_with(*given: Any, **named: Any) -> Any:
        moved = {name: named.pop(name) for name in missing if name in named}
        if moved:
            named["extra_body"] = {**moved, **(named.get("extra_body") or {})}
        return create(*given, **named)

    messages.create = create_with
