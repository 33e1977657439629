"""An endpoint's vectors are those of the texts, or there is one clear error in time."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from openai import AsyncOpenAI

from autogen_context.cache.vectors import VectorStore
from autogen_context.errors import EmbeddingFailed, MissingExtra
from autogen_context.models.embedding_endpoint import OpenAIEmbedder
from autogen_context.testing import Fault, LoopbackServer, ScriptedModel
from autogen_context.testing.embeddings import embed

MODEL = "text-embedding-3-small"
SECRET = "sk-very-secret"  # noqa: S105 - it opens nothing
Rows = list[dict[str, object]]


def serving(*faults: Fault) -> LoopbackServer:
    """A server whose first answers go wrong."""
    return LoopbackServer(ScriptedModel([]), faults=dict(enumerate(faults, 1)))


def embedder_of(server: LoopbackServer, timeout_s: float = 20.0) -> OpenAIEmbedder:
    """A client of it."""
    return OpenAIEmbedder(MODEL, base_url=server.base_url, api_key=SECRET, timeout_s=timeout_s)


async def test_one_vector_per_text_in_order() -> None:
    """Over as many requests as it takes: 64 texts each at most."""
    texts = [f"text {number}" for number in range(150)]
    async with serving() as server:
        vectors = await embedder_of(server).embed(texts)
        assert [request.path for request in server.requests] == ["/v1/embeddings"] * 3
    assert vectors == [pytest.approx(embed(text)) for text in texts]


async def test_any_text() -> None:
    """Nothing, spaces, what UTF-8 cannot hold, and far too much are read as far as they can be."""
    texts = ["", " ", "a \ud800 b", "word " * 1_000_000, "é" * 9_000]
    async with serving() as server:
        vectors = await embedder_of(server).embed(texts)
    beginnings = [" ", " ", "a ? b", ("word " * 2_000)[:8_191], "é" * 4_095]
    assert vectors == [pytest.approx(embed(text)) for text in beginnings]


async def test_no_text_is_no_request() -> None:
    """Nothing is asked for nothing."""
    async with serving() as server:
        assert await embedder_of(server).embed([]) == []
        assert not server.requests


@pytest.mark.parametrize(
    "fault",
    [
        Fault.rate_limit(0.01),
        Fault.error(500),
        Fault.error(503),
        Fault.drop(),
        Fault.drop(before_headers=True),
    ],
    ids=["rate limit", "error", "overload", "dropped", "hung up"],
)
async def test_what_passes_is_waited_out(fault: Fault) -> None:
    """The same request is sent again."""
    async with serving(fault, fault) as server:
        assert await embedder_of(server).embed(["a"]) == [pytest.approx(embed("a"))]
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.slow(30), r"no answer within 0.5 s, further tries included"),
        (Fault.rate_limit(30), "no answer within 0.5 s"),
        (Fault.error(400), "HTTP 400"),
        (Fault.error(401), "HTTP 401"),
        (Fault.garbage(), "no list of vectors"),
        (Fault.empty(), "0 vectors, or with wrong indexes, for 1 texts"),
    ],
    ids=["slow", "rate limit", "refused", "key", "garbage", "empty"],
)
async def test_what_does_not_pass_is_one_error(fault: Fault, reason: str) -> None:
    """It names the model and what went wrong, and holds neither the text nor the key."""
    timeout_s = 0.5 if "0.5 s" in reason else 20.0
    async with serving(fault, fault) as server:
        with pytest.raises(EmbeddingFailed, match=reason) as caught:
            await embedder_of(server, timeout_s=timeout_s).embed(["a secret"])
    assert caught.value.model == MODEL
    assert "secret" not in f"{caught.value} {caught.value.__cause__}"


async def test_one_bad_request_of_many() -> None:
    """It ends the others, and its error is the one that is told."""
    async with serving(Fault.error(400), *[Fault.slow(30)] * 3) as server:
        with pytest.raises(EmbeddingFailed, match="HTTP 400"):
            await embedder_of(server).embed([str(number) for number in range(256)])


async def test_cancellation_passes_through() -> None:
    """Whoever waits no longer does not wait."""
    async with serving(Fault.slow(30)) as server:
        work = asyncio.create_task(embedder_of(server).embed(["a"]))
        await asyncio.wait({work}, timeout=0.3)  # it is under way
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work


async def test_behind_a_store() -> None:
    """A store asks for each text once, also where the first try fails."""
    async with serving(Fault.garbage()) as server:
        store = VectorStore(embedder_of(server))
        with pytest.raises(EmbeddingFailed):
            await store.vectors(["a", "b"])
        first = await store.vectors(["a", "b"])
        again = await store.vectors(["b", "a"])
        assert len(server.requests) == 2
    assert [list(vector) for vector in again] == [list(vector) for vector in reversed(first)]


async def test_a_client_of_yours_stays_open() -> None:
    """It is used for every call, and closed by its owner alone."""
    async with serving(Fault.error(500)) as server:
        async with AsyncOpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client:
            embedder = OpenAIEmbedder(MODEL, client=client)
            await embedder.embed(["a"])
            await embedder.embed(["b"])
            assert not client.is_closed()
        assert len(server.requests) == 3


# Servers that lie, and what they see


@dataclass
class Seen:
    """What a server was sent."""

    url: str = ""
    keys: list[str] = field(default_factory=list[str])
    sizes: list[int] = field(default_factory=list[int])
    at_a_time: list[int] = field(default_factory=list[int])


@asynccontextmanager
async def answering(rows: Callable[[Sequence[str]], Rows]) -> AsyncGenerator[Seen]:
    """A server that gives these rows for any texts, each answer a moment late."""
    seen, open_requests = Seen(), set[object]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        open_requests.add(writer)
        seen.keys.append(headers.get("authorization", ""))
        seen.sizes.append(len(body))
        seen.at_a_time.append(len(open_requests))
        await asyncio.sleep(0.02)
        content = json.dumps({"data": rows(json.loads(body)["input"])}).encode()
        open_requests.discard(writer)
        writer.write(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(content)
        )
        writer.write(content)
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1_000_000)
    async with listener:
        seen.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
        yield seen


def row(index: int, *numbers: float) -> dict[str, object]:
    """A row of an answer."""
    return {"index": index, "embedding": list(numbers)}


async def test_rows_in_another_order() -> None:
    """The index says whose vector it is."""
    async with answering(lambda _: [row(1, 1), row(0, 0)]) as server:
        vectors = await OpenAIEmbedder(MODEL, base_url=server.url).embed(["a", "b"])
    assert vectors == [[0], [1]]


@pytest.mark.parametrize(
    "rows",
    [
        [row(0, 1)],
        [row(0, 1), row(0, 1)],
        [row(1, 1), row(2, 1)],
        [row(0, 1), row(1, 1), row(2, 1)],
        [row(0, 1), {"index": 1}],
        [row(0, 1), {"index": 1, "embedding": "AAAA"}],
        [row(0, 1), row(1, float("nan"))],
    ],
    ids=["few", "twice", "from one", "many", "no vector", "packed", "nan"],
)
async def test_a_lie_is_an_error(rows: Rows) -> None:
    """Not one vector of finite numbers for each text: nothing is guessed."""
    async with answering(lambda _: rows) as server:
        with pytest.raises(EmbeddingFailed, match=r"2 texts|no list"):
            await OpenAIEmbedder(MODEL, base_url=server.url).embed(["a", "b"])


async def test_requests_have_a_size() -> None:
    """Texts of the longest kind are spread over requests, so that none has more tokens than 300,000; four at a time."""
    async with answering(lambda texts: [row(i, 1) for i in range(len(texts))]) as server:
        vectors = await OpenAIEmbedder(MODEL, base_url=server.url).embed(["x" * 10_000] * 400)
    assert len(vectors) == 400
    assert max(server.sizes) <= 300_000
    assert max(server.at_a_time) == 4


async def test_no_key_for_a_server_it_was_not_meant_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's key goes to the environment's address; a server that is named gets the key that is named."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    async with answering(lambda _: [row(0, 1)]) as server:
        await OpenAIEmbedder(MODEL, base_url=server.url).embed(["a"])
        await OpenAIEmbedder(MODEL, base_url=server.url, api_key="named").embed(["a"])
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        await OpenAIEmbedder(MODEL).embed(["a"])
    assert server.keys == ["bearer none", "bearer named", f"bearer {SECRET}"]


async def test_no_key_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own words say what to set."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EmbeddingFailed, match="OPENAI_API_KEY"):
        await OpenAIEmbedder().embed(["a"])


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: OpenAIEmbedder(" "), "model=' '"),
        (lambda: OpenAIEmbedder(base_url="localhost:8000"), "base_url='localhost:8000'"),
        (lambda: OpenAIEmbedder(timeout_s=0), "timeout_s=0"),
        (lambda: OpenAIEmbedder(timeout_s=float("nan")), "timeout_s=nan"),
        (lambda: OpenAIEmbedder(client=AsyncOpenAI(api_key="k"), api_key="k"), "client: "),
    ],
    ids=["model", "address", "no time", "nan", "both"],
)
def test_bad_arguments(make: Callable[[], OpenAIEmbedder], match: str) -> None:
    """The error names the argument, its value and the way out."""
    with pytest.raises(ValueError, match=match):
        make()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to install."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"autogen-context\[openai\]"):
        OpenAIEmbedder()
