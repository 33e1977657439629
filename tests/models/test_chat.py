"""A chat model through a real client and a real server, with all that goes wrong between them."""

import asyncio
import json
import logging
from collections.abc import Iterator
from itertools import repeat

import pytest

from autogen_context.errors import CompletionFailed, ContextError, MissingExtra
from autogen_context.models import chat as module
from autogen_context.models.chat import CompletionClient
from autogen_context.testing import Fault, LoopbackServer, Say, ScriptedModel

KEY = "sk-secret-key"
PROMPT = "What is the password of the vault?"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A server that always says the same."""
    with LoopbackServer(ScriptedModel(repeat(Say("  An answer.\n")))) as running:
        yield running


def client_of(
    server: LoopbackServer, *, timeout_s: float = 20.0, retries: int = 0, concurrency: int = 4
) -> CompletionClient:
    """A client of that server."""
    return CompletionClient(
        "m",
        base_url=server.base_url,
        api_key=KEY,
        timeout_s=timeout_s,
        retries=retries,
        concurrency=concurrency,
    )


async def test_an_answer(server: LoopbackServer) -> None:
    """The text comes without white space around it; what was asked arrives as it was given."""
    client = client_of(server)
    assert await client.complete(PROMPT) == "An answer."
    assert await client.complete("b", system="a", max_tokens=7) == "An answer."
    assert [list(request.messages) for request in server.requests] == [
        [{"role": "user", "content": PROMPT}],
        [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}],
    ]


def test_one_client_serves_one_loop_after_the_other(server: LoopbackServer) -> None:
    """Synchronous hosts start a loop for each turn; callers that wait for a place are served in each."""
    client = client_of(server, concurrency=1)

    async def thrice() -> list[str]:
        return await asyncio.gather(*(client.complete("a") for _ in range(3)))

    assert [asyncio.run(thrice()) for _ in range(2)] == [["An answer."] * 3] * 2


async def test_no_more_at_once_than_there_are_places(server: LoopbackServer) -> None:
    """Further callers wait, in their own time limit."""
    server.inject(Fault.slow(30))
    client = client_of(server, timeout_s=1.0, concurrency=1)
    answers = [client.complete(text) for text in "ab"]
    failed = await asyncio.gather(*answers, return_exceptions=True)
    assert [str(error) for error in failed] == [str(CompletionFailed("none within 1 s"))] * 2
    assert len(server.requests) <= 1


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault.rate_limit(0.01), id="rate limit"),
        pytest.param(Fault.error(500), id="server error"),
        pytest.param(Fault.error(503), id="overloaded"),
        pytest.param(Fault.drop(), id="dropped in the middle"),
        pytest.param(Fault.drop(before_headers=True), id="dropped at the start"),
    ],
)
async def test_what_passes_is_tried_again(server: LoopbackServer, fault: Fault) -> None:
    """A dropped connection, a rate limit and a fault of the server; as often as was said."""
    server.inject(fault)
    assert await client_of(server, retries=1).complete(PROMPT) == "An answer."
    server.inject(fault)
    with pytest.raises(CompletionFailed):
        await client_of(server).complete(PROMPT)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(Fault.rate_limit(0.01), "HTTP 429", id="rate limit"),
        pytest.param(Fault.error(500), "HTTP 500", id="server error"),
        pytest.param(Fault.error(401), "HTTP 401", id="wrong key"),
        pytest.param(Fault.garbage(), "it is no chat completion", id="garbage"),
        pytest.param(Fault.drop(), "APIConnectionError", id="dropped"),
        pytest.param(Fault.empty("choices"), "it has no choices", id="no choices"),
        pytest.param(Fault.empty("content"), "it is empty", id="no content"),
    ],
)
async def test_what_is_no_answer_is_said_without_a_secret(
    server: LoopbackServer, fault: Fault, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The reason is in our words: no key, no prompt, nothing that the server said, not even as a cause."""
    caplog.set_level(logging.INFO)
    server.inject(fault)
    with pytest.raises(CompletionFailed) as raised:
        await client_of(server).complete(PROMPT)
    assert isinstance(raised.value, ContextError)
    assert raised.value.reason == reason
    assert str(raised.value) == f"the chat model gave no usable answer: {reason}"
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    assert not [word for word in (KEY, PROMPT) if word in caplog.text]


async def test_slow_is_not_waited_for(server: LoopbackServer) -> None:
    """The time limit holds for all tries together."""
    server.inject(Fault.slow(30), Fault.slow(30), Fault.slow(30))
    with pytest.raises(CompletionFailed, match=r"none within 0\.5 s"):
        await client_of(server, timeout_s=0.5, retries=2).complete(PROMPT)


async def test_nobody_is_there() -> None:
    """A refused connection is a failure like others."""
    with LoopbackServer(ScriptedModel([])) as gone:
        url = gone.base_url
    with pytest.raises(CompletionFailed, match="APIConnectionError"):
        await CompletionClient("m", base_url=url, retries=0).complete(PROMPT)


async def test_cancellation_passes_through(server: LoopbackServer) -> None:
    """And is no failure."""
    server.inject(Fault.slow(30))
    asking = asyncio.create_task(client_of(server).complete(PROMPT))
    await asyncio.sleep(0.05)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_any_text_can_be_asked(server: LoopbackServer) -> None:
    """Lone surrogates, which no request can hold, go as question marks."""
    assert await client_of(server).complete("a\ud800b") == "An answer."
    assert server.requests[0].messages[0]["content"] == "a?b"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "it is no chat completion"),
        (b'{"error": "x"}', "it is no chat completion"),
        (b'{"choices": [{"message": {"content": null}}]}', "it is empty"),
        (b'{"choices": [{"message": {"content": ["x"]}}]}', "it is no chat completion"),
        (
            b'{"choices": [{"message": {"content": "hal"}, "finish_reason": "length"}]}',
            r"it was broken off \(length\)",
        ),
        (
            b'{"choices": [{"message": {"content": "x"}, "finish_reason": "content_filter"}]}',
            r"it was broken off \(content_filter\)",
        ),
    ],
)
def test_what_an_answer_is_not(body: bytes, reason: str) -> None:
    """Half a text is none: a summary that breaks off would lose its end unnoticed."""
    with pytest.raises(CompletionFailed, match=reason):
        module.text_of(body)


@pytest.mark.parametrize(
    ("host", "field"),
    [
        ("api.openai.com", "max_completion_tokens"),
        ("eu.api.openai.com", "max_completion_tokens"),
        ("mine.openai.azure.com", "max_completion_tokens"),
        ("127.0.0.1", "max_tokens"),
        ("notopenai.com", "max_tokens"),
    ],
)
def test_the_limit_has_the_name_that_the_endpoint_knows(host: str, field: str) -> None:
    """OpenAI's newer models refuse the old name, most other servers do not know the new one."""
    assert module.limit_for(host, 7) == {field: 7}


async def test_the_limit_is_sent() -> None:
    """Beside the model's name and the messages, and nothing else."""
    bodies: list[object] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        bodies.append(json.loads(await reader.readexactly(length)))
        body = b'{"choices": [{"message": {"content": "ok"}}]}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
        assert await CompletionClient("m", base_url=url).complete("a", max_tokens=7) == "ok"
    messages = [{"role": "user", "content": "a"}]
    assert bodies == [{"model": "m", "messages": messages, "max_tokens": 7}]


@pytest.mark.parametrize("base_url", [None, "http://127.0.0.1:1/v1"])
def test_a_named_server_gets_no_key_of_the_environment(
    base_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment's key goes to the environment's endpoint alone."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    client = CompletionClient("m", base_url=base_url).connection()
    assert client.api_key == ("none" if base_url else KEY)


async def test_without_a_key_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's own endpoint needs one: a failure, not a crash."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(CompletionFailed, match="OpenAIError"):
        await CompletionClient("m").complete(PROMPT)


def test_wrong_arguments() -> None:
    """Said at construction, with the argument, its value and what goes."""
    with pytest.raises(ValueError, match="model=' ': give the model's name"):
        CompletionClient(" ")
    with pytest.raises(ValueError, match="base_url='localhost': give an address like"):
        CompletionClient("m", base_url="localhost")
    with pytest.raises(ValueError, match="timeout_s=0: give a positive number of seconds"):
        CompletionClient("m", timeout_s=0)
    with pytest.raises(ValueError, match="retries=-1: give 0 or more"):
        CompletionClient("m", retries=-1)
    with pytest.raises(ValueError, match="concurrency=0: give 1 or more"):
        CompletionClient("m", concurrency=0)


async def test_an_answer_of_no_tokens_is_a_slip() -> None:
    """It is found before anything is sent."""
    with pytest.raises(ValueError, match="max_tokens=0: give 1 or more"):
        await CompletionClient("m", base_url="http://127.0.0.1:1/v1").complete("a", max_tokens=0)


def test_a_missing_client_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """At construction, not in the middle of a turn."""
    monkeypatch.setattr(module, "find_spec", dict[str, None]().get)
    with pytest.raises(MissingExtra, match=r"asking a chat model needs: .*\[openai\]"):
        CompletionClient("m")
