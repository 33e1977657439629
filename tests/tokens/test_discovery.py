"""Discovery: what real servers say, and that nothing that goes wrong there reaches the caller."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from autogen_context.cli.limits import asked, one
from autogen_context.tokens.discovery import Discovery
from autogen_context.tokens.limits import ModelLimits

SLOW, DROP = "slow", "drop"
Route = (
    object  # JSON to answer with, bytes as they are, a status, or one of the two behaviours above
)


@dataclass
class Server:
    """A loopback server: answers by path, and what it was asked."""

    routes: Mapping[str, Route]
    url: str = ""
    error: object = None  # the body of all answers
    asked: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])
    is_asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split()[1]
        self.asked.append(path)
        self.is_asked.set()
        lines = head.split("\r\n")
        self.keys += [line[15:] for line in lines if line.lower().startswith("authorization: ")]
        route = self.routes.get(path, 404)
        if route == SLOW:
            await asyncio.sleep(30)
        if route != DROP:
            status = route if isinstance(route, int) else 200
            body = route if isinstance(route, bytes) else json.dumps(self.error or route).encode()
            kind = "text/html" if isinstance(route, bytes) else "application/json"
            told = f"HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(told.encode() + body)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(routes: Mapping[str, Route]) -> AsyncGenerator[Server]:
    """A server on a free port; whoever still waits for it is let go at the end."""
    server, clients = Server(routes), set[asyncio.Task[None]]()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        clients.add(task)
        try:
            await server.answer(reader, writer)
        except (asyncio.CancelledError, ConnectionError):
            writer.close()
        finally:
            clients.discard(task)

    listener = await asyncio.start_server(client, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listener.close()
        for task in list(clients):
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)


def listing(**row: object) -> dict[str, Route]:
    """A ``/v1/models`` that lists the model ``m`` with these fields."""
    return {"/v1/models": {"object": "list", "data": [{"id": "other"}, {"id": "m", **row}]}}


def limits(url: str, *, ttl_s: float = 3600.0, timeout_s: float = 60.0) -> ModelLimits:
    """Limits that know nothing but an endpoint and what comes after it."""
    discovery = Discovery(url, timeout_s=timeout_s)
    return ModelLimits(files=(), environ={}, discovery=discovery, ttl_s=ttl_s)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What this package warned of so far."""
    ours = [r for r in caplog.records if r.name.startswith("autogen_context")]
    return [r.getMessage() for r in ours if r.levelno >= logging.WARNING]


OLLAMA_SHOW = {"parameters": "stop x", "model_info": {"llama.context_length": 131072}}
SERVERS: dict[str, tuple[dict[str, Route], tuple[int, int, str]]] = {  # window, longest answer, engine
    "vllm": (listing(max_model_len=32768), (32768, 32768, "")),
    "lm-studio": ({**listing(), "/api/v0/models": {"data": [{"id": "m", "max_context_length": 131072, "loaded_context_length": 4096}]}}, (4096, 4096, "llama.cpp")),
    "openrouter": (listing(context_length=200000, top_provider={"context_length": 128000, "max_completion_tokens": 8192}), (128000, 8192, "")),
    "groq": (listing(context_window=131072, max_completion_tokens=32768), (131072, 32768, "")),
    "output above window": (listing(context_length=8192, max_completion_tokens=16384), (8192, 8192, "")),
    "ollama, running": ({**listing(), "/api/ps": {"models": [{"name": "m:latest", "context_length": 4096}]}, "/api/show": OLLAMA_SHOW}, (4096, 4096, "Ollama")),
    "ollama, set": ({**listing(), "/api/show": {**OLLAMA_SHOW, "parameters": "stop x\nnum_ctx                        16384"}}, (16384, 16384, "Ollama")),
    "llama.cpp": (listing(owned_by="llamacpp", meta={"n_ctx": 2048, "n_ctx_train": 8192}), (2048, 2048, "llama.cpp")),
    "llama.cpp, older": ({**listing(owned_by="llamacpp", meta={"n_ctx_train": 8192}), "/props": {"default_generation_settings": {"n_ctx": 2048}}}, (2048, 2048, "llama.cpp")),
    "a page for everything": ({**listing(), "/api/v0/models": b"<html>", "/api/ps": b"<html>", "/api/show": OLLAMA_SHOW}, (131072, 131072, "Ollama")),
}  # fmt: skip


@pytest.mark.parametrize(("routes", "expected"), SERVERS.values(), ids=SERVERS)
async def test_what_servers_say_is_read(
    routes: dict[str, Route], expected: tuple[int, int, str], caplog: pytest.LogCaptureFixture
) -> None:
    """The window of the running instance, the longest answer, and the engine by its name or its door, quietly."""
    async with serving(routes) as server:
        found = await limits(server.url).alookup("m")
    assert (found.window_tokens, found.output_tokens, found.provider) == expected
    assert found.source == f"discovery {server.url.removesuffix('/v1')}"
    assert warnings(caplog) == []


async def test_routes_and_spelling_do_not_hide_a_model() -> None:
    """The exact name first, wherever it stands, then the same name under another route or none."""
    names = [("openai/m", "m"), ("m", "org/m"), ("M", "m"), ("o/m:7b", "m:7b"), ("m", "m:latest")]
    rows = [*((asked, "a/n", served) for asked, served in names), ("m", "org/m", "m")]
    async with serving({}) as server:
        for asked, other, served in rows:
            data = [{"id": other, "max_model_len": 1000}, {"id": served, "max_model_len": 2000}]
            server.routes = {"/v1/models": {"data": data}}
            assert (await limits(server.url).alookup(asked)).input_tokens == 2000


async def test_a_served_model_is_looked_up_by_its_engine() -> None:
    """The command line says with which name its cached tokens cost nothing."""
    async with serving(listing(owned_by="vllm", max_model_len=2000)) as server:
        assert (await limits(server.url).alookup("m")).provider == "vLLM"
        lines = await asyncio.to_thread(lambda: list(one(*asked("m", server.url))))
    assert any("model='vllm/m'" in line for line in lines)


BAD_VALUES: list[object] = [255, "32768", 10**12, True, {}]
FAULTS: dict[str, dict[str, Route]] = {
    **{f"value {value!r}": listing(max_model_len=value) for value in BAD_VALUES},
    "bad output": listing(max_model_len=8192, max_completion_tokens="many"),
    "bad value behind": {**listing(), "/api/v0/models": {"data": [{"id": "m", "max_context_length": -1}]}},
    "401": {"/v1/models": 401},
    "page": {"/v1/models": b"<html>hello</html>"},
    "bad rows": {"/v1/models": {"data": [1, 2]}},
    "deep": {"/v1/models": b"[" * 100_000},
    "dropped": {"/v1/models": DROP},
    "slow behind": {**listing(), "/api/ps": SLOW},
}  # fmt: skip


async def test_any_fault_is_one_warning_and_no_limit(caplog: pytest.LogCaptureFixture) -> None:
    """The next source answers, and the endpoint is not asked again at once."""
    async with serving({}) as server:
        for name, server.routes in FAULTS.items():
            caplog.clear()
            timeout_s = 0.5 if SLOW in server.routes.values() else 60.0
            subject = limits(server.url, timeout_s=timeout_s)
            assert (await subject.alookup("m")).source == "default", name
            before = len(server.asked)
            assert (await subject.alookup("m")).source == "default"
            assert len(server.asked) == before
            (warning,) = warnings(caplog)
            assert server.url.removesuffix("/v1") in warning
    assert (await limits(server.url).alookup("gpt-4o")).source == "known"  # nobody listens any more
    assert len(warnings(caplog)) == 2


async def test_an_endpoint_that_does_not_know_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    """As OpenAI's own, which lists models without numbers: nothing to warn of."""
    unserved = {"/v1/models": {"data": [{"id": "other", "max_model_len": 2000}]}}
    async with serving({}) as server:
        for server.routes in (unserved, listing()):
            subject = limits(server.url)
            assert (await subject.alookup("m")).source == "default"
            assert subject.trace("m")[2].note == "no number"
    assert warnings(caplog) == []


async def test_cancellation_passes_through() -> None:
    """A caller who gives up is let go, and the next one asks anew."""
    async with serving({"/v1/models": SLOW}) as server:
        subject = limits(server.url)
        assert subject.lookup("m").source == "default"  # kept, until there is a better answer
        first = asyncio.create_task(subject.alookup("m"))
        await server.is_asked.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        server.routes = listing(max_model_len=2000)
        assert (await subject.alookup("m")).input_tokens == 2000


async def test_what_was_found_holds_until_there_is_a_newer_answer() -> None:
    """The plain look-up never asks and sees what arrived; when asking again fails the old answer is still the best."""
    async with serving(listing(max_model_len=2000)) as server:
        subject = limits(server.url, ttl_s=0)
        assert subject.lookup("m").source == "default"
        assert subject.trace("m")[2].note == "not asked yet"
        assert server.asked == []
        assert (await subject.alookup("m")).input_tokens == subject.lookup("m").input_tokens == 2000
        server.routes = {"/v1/models": 500}
        assert (await subject.alookup("m")).input_tokens == 2000
        server.routes = listing(max_model_len=3000)
        assert (await subject.alookup("m")).input_tokens == 3000


async def test_a_users_word_comes_before_the_endpoints() -> None:
    """With the model in the environment the endpoint is not even asked; the known table comes after it; off by default."""
    rows = [{"id": "m", "max_model_len": 2000}, {"id": "gpt-4o", "max_model_len": 3000}]
    async with serving({"/v1/models": {"data": rows}}) as server:
        discovery = Discovery(server.url)
        subject = ModelLimits(files=(), environ={"MODEL_LIMIT_M": "7"}, discovery=discovery)
        assert (await subject.alookup("m")).input_tokens == 7
        assert server.asked == []
        assert (await subject.alookup("gpt-4o")).input_tokens == 3000
    without = ModelLimits(files=(), environ={})
    assert await without.alookup("gpt-4o") == without.lookup("gpt-4o")
    with pytest.raises(ValueError, match="give the model's name"):
        await without.alookup("")


async def test_only_the_given_key_is_sent_and_none_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A key of the environment stays here; a key or password is in no warning and no source."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    async with serving({"/v1/models": 401}) as server:
        server.error = {"error": {"message": "Incorrect API key provided: sk-given"}}
        await Discovery(server.url).ask("m")
        await Discovery(server.url, api_key="sk-given").ask("m")
        url = server.url.replace("//", "//user:sk-password@")
        await Discovery(url, api_key="sk-given").ask("m")
    assert server.keys[:2] == ["Bearer none", "Bearer sk-given"]
    assert "sk-" not in "".join(warnings(caplog))


def test_wrong_arguments() -> None:
    """An address or a time limit that is none are refused at construction."""
    for url in ("", "localhost:8000", "ftp://x", "http://", "/v1"):
        with pytest.raises(ValueError, match="give an address like"):
            Discovery(url)
    for timeout_s in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="timeout_s"):
            Discovery("http://127.0.0.1/v1", timeout_s=timeout_s)
