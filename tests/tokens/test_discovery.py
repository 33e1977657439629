"""Discovery: what real servers say, and that nothing that goes wrong there reaches the caller."""

import asyncio
import logging
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from threading import Event
from typing import Any

import pytest

from autogen_context.cli.limits import asked, one
from autogen_context.testing.transport import ReceivedRequest, Transport
from autogen_context.testing.wire import Reply, json_reply
from autogen_context.tokens.discovery import Discovery
from autogen_context.tokens.limits import ModelLimit, ModelLimits, limit_of

SLOW, DROP = "slow", "drop"
Route = object  # JSON, a page as bytes, a status, or one of the two behaviours above


class Server:
    """A loopback server: answers by path, and what it was asked."""

    def __init__(self, routes: Mapping[str, Route]) -> None:
        self.routes = routes
        self.url = self.error = ""  # its address; what all its answers say
        self.asked, self.keys = list[str](), list[str]()
        self.is_asked, self.is_over = Event(), Event()

    def serve(self, request: ReceivedRequest) -> Reply:
        """What stands under a path."""
        self.asked.append(request.path)
        self.keys.append(request.headers["Authorization"])
        self.is_asked.set()
        route: Any = self.routes.get(request.path, 404)
        if route in (SLOW, DROP):
            self.is_over.wait(30 if route == SLOW else 0)
            return Reply(cut="start")
        if isinstance(route, bytes):
            return Reply(body=route, headers={"Content-Type": "text/html"})
        return json_reply(self.error or route, status=route if isinstance(route, int) else 200)


@contextmanager
def serving(routes: Mapping[str, Route]) -> Generator[Server]:
    """A server on a free port; whoever still waits for it is let go at the end."""
    server = Server(routes)
    with closing(Transport(server.serve)) as transport:
        server.url = f"http://127.0.0.1:{transport.port}/v1"
        try:
            yield server
        finally:
            server.is_over.set()


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
    with serving(routes) as server:
        found = await limits(server.url).alookup("m")
    assert (found.window_tokens, found.output_tokens, found.provider) == expected
    assert found.source == f"discovery {server.url.removesuffix('/v1')}"
    assert warnings(caplog) == []


async def test_routes_and_spelling_do_not_hide_a_model() -> None:
    """The exact name first, wherever it stands, then the same name under another route or none."""
    names = [("openai/m", "m"), ("m", "org/m"), ("M", "m"), ("o/m:7b", "m:7b"), ("m", "m:latest")]
    rows = [*((asked, "a/n", served) for asked, served in names), ("m", "org/m", "m")]
    with serving({}) as server:
        for asked, other, served in rows:
            data = [{"id": other, "max_model_len": 1000}, {"id": served, "max_model_len": 2000}]
            server.routes = {"/v1/models": {"data": data}}
            assert (await limits(server.url).alookup(asked)).input_tokens == 2000


async def test_a_served_model_is_looked_up_by_its_engine() -> None:
    """The command line says with which name its cached tokens cost nothing."""
    with serving(listing(owned_by="vllm", max_model_len=2000)) as server:
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
    with serving({}) as server:
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
    with serving({}) as server:
        for server.routes in (unserved, listing()):
            subject = limits(server.url)
            assert (await subject.alookup("m")).source == "default"
            assert subject.trace("m")[2].note == "no number"
    assert warnings(caplog) == []


async def test_cancellation_passes_through() -> None:
    """A caller who gives up is let go, and the next one asks anew."""
    with serving({"/v1/models": SLOW}) as server:
        subject = limits(server.url)
        assert subject.lookup("m").source == "default"  # kept, until there is a better answer
        first = asyncio.create_task(subject.alookup("m"))
        await asyncio.to_thread(server.is_asked.wait, 30)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        server.routes = listing(max_model_len=2000)
        assert (await subject.alookup("m")).input_tokens == 2000


async def test_what_was_found_holds_until_there_is_a_newer_answer() -> None:
    """The plain look-up never asks and sees what arrived; when asking again fails the old answer is still the best."""
    with serving(listing(max_model_len=2000)) as server:
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
    with serving({"/v1/models": {"data": rows}}) as server:
        discovery = Discovery(server.url)
        subject = ModelLimits(files=(), environ={"MODEL_LIMIT_M": "7"}, discovery=discovery)
        assert (await subject.alookup("m")).input_tokens == 7
        assert server.asked == []
        assert (await subject.alookup("gpt-4o")).input_tokens == 3000
    without = ModelLimits(files=(), environ={})
    assert await without.alookup("gpt-4o") == without.lookup("gpt-4o")
    with pytest.raises(ValueError, match="give the model's name"):
        await without.alookup("")


class Registry:
    """A source of limits of one's own, such as a company's list of models."""

    address = "registry"

    async def ask(self, model: str, /) -> ModelLimit | None:
        """Know one model."""
        return limit_of(model, "registry", window_tokens=5000) if model == "ours" else None


async def test_a_source_of_ones_own_stands_where_an_endpoint_does() -> None:
    """``discovery=`` takes any object that is asked for a model; what it does not know has the next source."""
    subject = ModelLimits(files=(), environ={}, discovery=Registry())
    assert (await subject.alookup("ours")).input_tokens == 5000
    assert (await subject.alookup("other")).source == "default"


async def test_only_the_given_key_is_sent_and_none_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A key of the environment stays here; a key or password is in no warning and no source."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")
    with serving({"/v1/models": 401}) as server:
        server.error = "Incorrect API key provided: sk-given"
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
