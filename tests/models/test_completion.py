"""A chat model through a real client and a real server, with all that goes wrong between them."""

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import closing
from itertools import repeat
from typing import Any

import pytest

from autogen_context.errors import CompletionFailed, ContextError
from autogen_context.models import completion as module
from autogen_context.models.completion import CompletionClient
from autogen_context.testing import Fault, LoopbackServer, Say, ScriptedModel
from autogen_context.testing.transport import ReceivedRequest, Transport
from autogen_context.testing.wire import Reply

KEY = "sk-secret-key"
PROMPT = "What is the password of the vault?"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A server that always says the same."""
    with LoopbackServer(ScriptedModel(repeat(Say("  An answer.\n")))) as running:
        yield running


def client_of(server: LoopbackServer, **options: Any) -> CompletionClient:
    """A client of that server, which tries once unless that is said."""
    return CompletionClient("m", base_url=server.base_url, api_key=KEY, **{"retries": 0, **options})


def test_one_client_serves_one_loop_after_the_other(server: LoopbackServer) -> None:
    """Synchronous hosts start a loop for each turn; callers that wait for a place are served in each, any text is asked."""
    client = client_of(server, concurrency=1)

    async def twice() -> list[str]:
        return await asyncio.gather(*(client.complete("a\ud800b") for _ in range(2)))

    assert [asyncio.run(twice()) for _ in range(2)] == [["An answer."] * 2] * 2
    assert server.requests[0].messages[0] == {"role": "user", "content": "a?b"}


async def test_no_more_at_once_than_there_are_places(server: LoopbackServer) -> None:
    """Further callers wait, in their own time limit."""
    server.inject(Fault.slow(30))
    client = client_of(server, timeout_s=0.5, concurrency=1)
    answers = [client.complete(text) for text in "ab"]
    failed = await asyncio.gather(*answers, return_exceptions=True)
    assert [str(error) for error in failed] == [str(CompletionFailed("none within 0.5 s"))] * 2
    assert len(server.requests) <= 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(Fault.rate_limit(0.01), "HTTP 429", id="rate limit"),
        pytest.param(Fault.error(503), "HTTP 503", id="overloaded"),
        pytest.param(Fault.drop(), "APIConnectionError", id="dropped in the middle"),
        pytest.param(Fault.error(401), "HTTP 401", id="wrong key"),
        pytest.param(Fault.garbage(), "it is no chat completion", id="garbage"),
        pytest.param(Fault.empty("choices"), "it is no chat completion", id="no choices"),
    ],
)
async def test_what_passes_is_tried_again_and_the_rest_is_said_without_a_secret(
    server: LoopbackServer, fault: Fault, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """As often as was said; the reason is in our words: no key, no prompt, nothing that the server said, not even as a cause."""
    caplog.set_level(logging.INFO)
    server.inject(fault)
    if reason in ("HTTP 429", "HTTP 503", "APIConnectionError"):
        assert await client_of(server, retries=1).complete(PROMPT) == "An answer."
        server.inject(fault)
    with pytest.raises(CompletionFailed) as raised:
        await client_of(server).complete(PROMPT)
    assert isinstance(raised.value, ContextError)
    assert str(raised.value) == f"the chat model gave no usable answer: {reason}"
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None or raised.value.__suppress_context__
    assert not [word for word in (KEY, PROMPT) if word in caplog.text]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "it is no chat completion"),
        (b'{"choices": [{"message": {"content": null}}]}', "it is empty"),
        (b'{"choices": [{"message": {"content": ["x"]}}]}', "it is no chat completion"),
        (
            b'{"choices": [{"message": {"content": "hal"}, "finish_reason": "length"}]}',
            r"it was broken off \(length\)",
        ),
    ],
)
def test_what_an_answer_is_not(body: bytes, reason: str) -> None:
    """Half a text is none: a summary that breaks off would lose its end unnoticed."""
    with pytest.raises(CompletionFailed, match=reason):
        module.text_of(body)


async def test_the_limit_is_sent() -> None:
    """Beside the model's name and the messages, and nothing else."""
    bodies: list[object] = []

    def serve(request: ReceivedRequest) -> Reply:
        bodies.append(json.loads(request.body))
        return Reply(body=b'{"choices": [{"message": {"content": "ok"}}]}')

    with closing(Transport(serve)) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        assert await CompletionClient("m", base_url=url).complete("a", max_tokens=7) == "ok"
    messages = [{"role": "user", "content": "a"}]
    assert bodies == [{"model": "m", "messages": messages, "max_tokens": 7}]


@pytest.mark.parametrize("authorization", ["Authorization", "AUTHORIZATION"])
def test_headers_go_where_they_were_meant_for(
    authorization: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those of a gateway nor an organization's name reach another server than the environment's own."""
    own, other = "http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"{authorization}: Bearer {KEY}\nX-Gateway: {KEY}")
    monkeypatch.setenv("OPENAI_ORG_ID", KEY)
    monkeypatch.setenv("OPENAI_PROJECT_ID", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", own)
    for base_url in (None, own):
        assert KEY in str(module.connected(base_url, "k", 1.0, 0).default_headers)
    sent = module.connected(other, "k", 1.0, 0).default_headers
    assert KEY not in str(sent)
    assert sent["Authorization"] == "Bearer k"


async def test_a_key_goes_where_it_was_meant_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A named server gets none of the environment; without one for OpenAI's own endpoint there is a failure, not a crash."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for base_url, key in ((None, KEY), ("http://127.0.0.1:1/v1", "none")):
        assert module.connected(base_url, None, 1.0, 0).api_key == key
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(CompletionFailed, match="OpenAIError"):
        await CompletionClient("m").complete(PROMPT)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": " "}, "model=' ': give the model's name"),
        ({"model": "m", "base_url": "localhost"}, "base_url='localhost': give an address like"),
        ({"model": "m", "timeout_s": 0}, "timeout_s=0: give seconds above 0"),
        ({"model": "m", "retries": -1}, "retries=-1: give 0 or more"),
        ({"model": "m", "concurrency": 0}, "concurrency=0: give 1 or more"),
    ],
)
def test_wrong_arguments(wrong: dict[str, Any], message: str) -> None:
    """Said with the argument, its value and what goes, before anything is sent."""
    with pytest.raises(ValueError, match=message):
        CompletionClient(**wrong)
    with pytest.raises(ValueError, match="max_tokens=0: give 1 or more"):
        asyncio.run(CompletionClient("m").complete("a", max_tokens=0))
