"""What the clients of OpenAI and Anthropic add to a request within a call, and what is read of their bills."""

import asyncio
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.lib.bedrock import AsyncAnthropicBedrock
from anthropic.lib.vertex import AsyncAnthropicVertex
from openai import AsyncAzureOpenAI, AsyncOpenAI, OpenAI
from typing_extensions import override

from autogen_context.adapters.provider_calls import ProviderCalls
from autogen_context.config.config import ContextConfig
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.models.cache_marks import CacheMarks
from autogen_context.models.provider_call import (
    Billed,
    CacheKey,
    ProviderCall,
    is_openais_own,
    provider_clients,
    watch,
)
from autogen_context.testing import (
    AnthropicServer,
    LoopbackServer,
    Request,
    Say,
    ScriptedModel,
    Step,
)
from support.claude import LONG, MARK, MODEL, text, user

TEN = [Say(f"Answer {n}.") for n in range(10)]
ASKED: Any = [{"role": "user", "content": LONG}]


def marking() -> ProviderCall:
    """A call whose requests are marked."""
    return ProviderCall(marks=CacheMarks())


def test_only_requests_within_a_call_are_marked() -> None:
    """And of those only the ones for an answer; whoever else has the client sends what it sent."""
    with AnthropicServer(ScriptedModel(TEN)) as server:
        client = Anthropic(api_key="none", base_url=server.base_url)
        for _ in range(2):  # the second time it is watched already
            watch(client, "anthropic")
        asked: Any = {"model": MODEL, "messages": ASKED}
        client.messages.create(max_tokens=5, **asked)
        with marking().scope():
            client.messages.create(max_tokens=5, **asked)
            client.messages.with_raw_response.create(max_tokens=5, **asked)
            client.beta.messages.create(max_tokens=5, **asked)
            client.messages.count_tokens(**asked)
        client.messages.create(max_tokens=5, **asked)
        client.close()
    assert [len(request.marks) for request in server.requests] == [0, 1, 1, 1, 0, 0]
    assert server.rejected == []
    assert ASKED == [{"role": "user", "content": LONG}]


def test_what_was_read_and_written_belongs_to_the_bill() -> None:
    """Of answers and streams, by either kind of stream."""
    bills: list[Billed | None] = []
    with AnthropicServer(ScriptedModel(TEN)) as server:
        client = Anthropic(api_key="none", base_url=server.base_url)
        watch(client, "anthropic")
        asked: Any = {"model": MODEL, "messages": ASKED, "max_tokens": 5}

        def whole_answer() -> None:
            client.messages.create(**asked)

        def helper() -> None:
            with client.messages.stream(**asked) as stream:
                assert stream.get_final_text().startswith("Answer")

        def raw() -> None:
            with client.messages.create(stream=True, **asked) as stream:
                assert stream.response.status_code == 200
                assert [each.type for each in stream][-1] == "message_stop"

        for ask in (whole_answer, helper, raw):
            call = marking()
            with call.scope():
                ask()
            bills.append(call.billed)
        client.close()
    whole = server.requests[0].prompt_tokens
    assert bills == [Billed(whole, 0), Billed(whole, whole - 3), Billed(whole, whole - 3)]


def test_a_request_is_billed_once() -> None:
    """Also where several parts of a stream tell of it; whose it was is said by the hash of its newest text."""
    billed: list[tuple[Billed, int]] = []
    with AnthropicServer(ScriptedModel(TEN)) as server:
        client = Anthropic(api_key="none", base_url=server.base_url)
        watch(client, "anthropic")
        call = ProviderCall(on_bill=lambda bill, newest: billed.append((bill, newest)))
        with call.scope():
            for is_streamed in (True, False):
                with client.messages.stream(model=MODEL, max_tokens=5, messages=ASKED) as stream:
                    assert stream.get_final_text()
                if not is_streamed:
                    client.messages.create(model=MODEL, max_tokens=5, messages=ASKED)
        client.close()
    whole = server.requests[0].prompt_tokens
    assert billed == [(Billed(whole, 0), hash(LONG))] * 3


async def test_calls_at_the_same_time_are_kept_apart() -> None:
    """Each has its own marks and its own bill, with one client."""

    def step(request: Request) -> Step:
        return Say(str(request.messages[-1]["content"])[-1])

    async with AnthropicServer(ScriptedModel(step)) as server:
        client = AsyncAnthropic(api_key="none", base_url=server.base_url)
        watch(client, "anthropic")

        async def ask(number: int) -> Billed | None:
            call = ProviderCall(marks=CacheMarks() if number % 2 else None)
            with call.scope():
                said: Any = [{"role": "user", "content": "word " * number * 10}]
                await client.messages.create(model=MODEL, max_tokens=5, messages=said)
            return call.billed

        bills = await asyncio.gather(*map(ask, range(1, 7)))
        await client.close()
    tokens = {len(str(request.messages)): request for request in server.requests}
    served = [tokens[key] for key in sorted(tokens)]
    assert [bill.prompt_tokens for bill in bills if bill] == [r.prompt_tokens for r in served]
    assert [bool(request.marks) for request in served] == [True, False] * 3


def test_sampling_arguments_reach_the_api() -> None:
    """AutoGen's client passes ``temperature``, which Anthropic's no longer takes by its name."""
    with AnthropicServer(ScriptedModel(TEN)) as server:
        client = Anthropic(api_key="none", base_url=server.base_url)
        watch(client, "anthropic")
        asked: Any = {"model": MODEL, "messages": ASKED, "max_tokens": 5, "temperature": 0.5}
        client.messages.create(**asked, extra_body={"top_k": 3})
        client.close()
    body = server.requests[0].body
    assert body is not None
    assert (body["temperature"], body["top_k"]) == (0.5, 3)


def test_every_client_of_anthropics_is_known() -> None:
    """Also those of its clouds, and within clients that wrap them."""

    class Wrapped:
        def __init__(self, client: object) -> None:
            self._client = client

    keys: dict[str, Any] = {"aws_access_key": "x", "aws_secret_key": "x"}
    cloud = AsyncAnthropicBedrock(aws_region="x", **keys)
    for client in (
        AsyncAnthropic(api_key="x"),
        cloud,
        AsyncAnthropicVertex(region="x", project_id="x"),
    ):
        for outer in (client, Wrapped(client), Wrapped(Wrapped(client))):
            assert [*provider_clients(outer)] == [("anthropic", client)]
    assert not [*provider_clients(object())]


# OpenAI's key


class ToLoopback(httpx2.AsyncBaseTransport):
    """Sends what is for OpenAI to the loopback server."""

    def __init__(self, origin: str) -> None:
        self._origin, self._inner = httpx2.URL(origin), httpx2.AsyncHTTPTransport()

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(
            scheme=self._origin.scheme, host=self._origin.host, port=self._origin.port
        )
        return await self._inner.handle_async_request(request)

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()


async def test_openai_itself_gets_a_key_unasked() -> None:
    """Chat completions and responses; the caller's own key stays."""
    manager, calls = IncrementalContextManager(), ProviderCalls(ContextConfig(agent="clerk"))
    async with LoopbackServer(ScriptedModel(TEN)) as server:
        http = httpx2.AsyncClient(transport=ToLoopback(server.origin))
        client = AsyncOpenAI(api_key="none", http_client=http)
        with calls.of(manager, client).scope():
            await client.chat.completions.create(model="m", messages=ASKED)
            await client.responses.create(model="m", input=LONG)
            await client.chat.completions.create(model="m", messages=ASKED, prompt_cache_key="mine")
        await client.chat.completions.create(model="m", messages=ASKED)
        await client.close()
    keys = [(request.body or {}).get("prompt_cache_key") for request in server.requests]
    assert len(str(keys[0])) == len(str(keys[1])) == 32
    assert keys[2:] == ["mine", None]


def test_a_key_is_of_the_conversation_and_not_of_its_prompt() -> None:
    """A clock in the system prompt changes it neither in the conversation nor after a restart, and a shortened task not in it."""
    body = {"messages": [{"role": "system", "content": "It is 10:31."}, *ASKED]}
    later = {"messages": [{"role": "system", "content": "It is 10:32."}, *ASKED]}
    key = CacheKey("clerk")
    assert key.of(body) == key.of(later) == CacheKey("clerk").of(later)
    assert key.of({"messages": [{"role": "user", "content": "[…]"}]}) == key.of(body)
    assert key.of(body) != CacheKey("another").of(body)
    assert CacheKey("clerk").of({"input": [object()]})
    assert CacheKey("clerk").of({"input": LONG}) != CacheKey("clerk").of({"input": "Go."})


@pytest.mark.parametrize(
    ("client", "is_own"),
    [
        (AsyncOpenAI(api_key="x"), True),
        (OpenAI(api_key="x", base_url="https://eu.api.openai.com/v1"), True),
        (OpenAI(api_key="x", base_url="https://api.openai.com.example.org/v1"), False),
        (OpenAI(api_key="x", base_url="http://127.0.0.1:8000/v1"), False),
        (
            AsyncAzureOpenAI(
                api_key="x", azure_endpoint="https://x.openai.azure.com", api_version="1"
            ),
            False,
        ),
    ],
    ids=["openai", "region", "another host", "own engine", "azure"],
)
def test_others_may_refuse_a_field_that_they_do_not_know(client: Any, is_own: bool) -> None:  # noqa: FBT001
    """Models of others on Azure do."""
    assert is_openais_own(client) is is_own
    call = ProviderCalls(ContextConfig()).of(IncrementalContextManager(), client)
    assert bool(call.cache_key) is is_own
    forced = ProviderCalls(ContextConfig(prompt_cache_key="on")).of(
        IncrementalContextManager(), client
    )
    assert forced.cache_key
    never = ProviderCalls(ContextConfig(prompt_cache_key="off")).of(
        IncrementalContextManager(), client
    )
    assert not never.cache_key


def test_what_openai_billed_is_read_with_what_was_cached() -> None:
    """Where its client is changed for the key; of a stream, where the usage was asked for."""
    with LoopbackServer(ScriptedModel(TEN)) as server:
        client = OpenAI(api_key="none", base_url=server.base_url)
        call = ProviderCalls(ContextConfig(prompt_cache_key="on")).of(
            IncrementalContextManager(), client
        )
        with call.scope():
            client.chat.completions.create(model="m", messages=ASKED)
            first = call.billed
            list(
                client.chat.completions.create(
                    model="m", messages=ASKED, stream=True, stream_options={"include_usage": True}
                )
            )
        client.close()
    assert first == Billed(server.requests[0].prompt_tokens, 0)
    assert call.billed is not None
    assert call.billed.cached_tokens


def test_a_mark_of_the_caller_is_enough_for_claude() -> None:
    """Nothing is added where the newest block has one, but for the other ends."""
    marked = CacheMarks().marked({"messages": [user(text(LONG, MARK))]})
    assert marked == {"messages": [user(text(LONG, MARK))]}


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_what_was_a_system_message_is_one_again_for_openai(api: str) -> None:
    """The last message in the user role that says this text alone, in either form of a content; all others stay."""
    messages: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "It is ten."},
        {"role": "assistant", "content": "It is ten."},
        {"role": "user", "content": "It is ten."},
        {"role": "user", "content": "It is ten. And now?"},
    ]
    with LoopbackServer(ScriptedModel(TEN)) as server:
        client = OpenAI(api_key="none", base_url=server.base_url)
        watch(client, "openai")
        for said in ("It is ten.", "It is two.", ""):
            with ProviderCall(system_text=said).scope():
                if api == "chat":
                    client.chat.completions.create(model="gpt-4o", messages=messages)
                else:
                    client.responses.create(model="gpt-4o", input=messages)
        client.close()
    first, *others = (request.messages for request in server.requests)
    assert [message["role"] for message in first] == [
        "system",
        "user",
        "assistant",
        "system",
        "user",
    ]
    for roles in others:
        assert [m["role"] for m in roles] == ["system", "user", "assistant", "user", "user"]
