"""The loopback server through the clients that agents use, and the documentation's examples."""

import http.client
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import repeat
from pathlib import Path
from typing import cast

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    BadRequestError,
    InternalServerError,
    NotFoundError,
    OpenAI,
    RateLimitError,
)
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam

from autogen_context.testing import (
    Answer,
    Call,
    ChatMessage,
    Fault,
    LoopbackServer,
    Say,
    ScriptedModel,
    Step,
    conversation,
)
from autogen_context.testing.answers import completion_events
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.server import CHAT_PATH
from autogen_context.testing.wire import ApiError, event_reply
from support.saying import asks, call_of, says, tells

HELLO = [says("hi", "user")]
GUIDE = Path(__file__).parents[2] / "docs" / "testing.md"


def client_of(server: LoopbackServer, *, timeout: float = 20.0) -> OpenAI:
    """The synchronous client, without its own retries."""
    return OpenAI(base_url=server.base_url, api_key="none", max_retries=0, timeout=timeout)


def aclient_of(server: LoopbackServer) -> AsyncOpenAI:
    """The asynchronous client, without its own retries."""
    return AsyncOpenAI(base_url=server.base_url, api_key="none", max_retries=0)


def params(messages: list[ChatMessage]) -> list[ChatCompletionMessageParam]:
    """Messages as the client's types want them."""
    return cast("list[ChatCompletionMessageParam]", messages)  # the client types each role apart


def ask(client: OpenAI, messages: list[ChatMessage] = HELLO) -> ChatCompletion:
    """One answer, not streamed."""
    return client.chat.completions.create(model="gpt-4o", messages=params(messages))


def stream(client: OpenAI) -> str:
    """The text of one streamed answer."""
    events = client.chat.completions.create(model="gpt-4o", messages=params(HELLO), stream=True)
    return "".join(event.choices[0].delta.content or "" for event in events if event.choices)


def said(answer: ChatCompletion) -> tuple[str | None, list[tuple[str, str, str]]]:
    """The text of an answer, and the id, name and arguments of each call."""
    message = answer.choices[0].message
    made = [one for one in message.tool_calls or [] if one.type == "function"]
    calls = [(one.id, one.function.name, one.function.arguments) for one in made]
    return message.content, calls


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """A server that always says ok, in a window of 2,000 tokens."""
    with LoopbackServer(ScriptedModel(repeat(Say("ok"))), window_tokens=2_000) as running:
        yield running


@pytest.fixture
def client(server: LoopbackServer) -> Iterator[OpenAI]:
    """A client of that server."""
    with client_of(server) as connected:
        yield connected


async def test_streamed_answer_is_the_plain_one() -> None:
    """What the client puts together from a stream is the answer without: text, calls, finish reason and usage."""
    texts = Say("a long text, word by word " * 9)
    step: Step = [texts, Call("read", {"path": "x" * 99}), Call("b", {})]
    async with LoopbackServer(ScriptedModel([step, step])) as server, aclient_of(server) as client:
        plain = await client.chat.completions.create(model="m", messages=params(HELLO))
        async with client.chat.completions.stream(
            model="m", messages=params(HELLO), stream_options={"include_usage": True}
        ) as events:
            whole = await events.get_final_completion()
    assert said(plain)[0] == said(whole)[0] == texts.text
    assert [made[0] for made in said(plain)[1]] == ["call_000001_0", "call_000001_1"]
    assert [made[1:] for made in said(plain)[1]] == [made[1:] for made in said(whole)[1]]
    assert plain.choices[0].finish_reason == whole.choices[0].finish_reason == "tool_calls"
    assert plain.usage is not None
    assert whole.usage is not None
    assert plain.usage.prompt_tokens == server.requests[0].prompt_tokens == 8
    assert [request.streamed for request in server.requests] == [False, True]


@settings(max_examples=30)
@given(st.one_of(st.none(), st.text()), st.lists(st.text(), max_size=3), st.booleans())
def test_deltas_join_to_the_answer(
    text: str | None,
    arguments: list[str],
    include_usage: bool,  # noqa: FBT001  drawn
) -> None:
    """Whatever an answer holds, its events put together are the answer, and the usage comes last if asked for."""
    step: Step = [
        *([] if text is None else [Say(text)]),
        *(Call("t", written) for written in arguments),
    ]
    answer: Answer = ScriptedModel([step]).answer(HELLO)
    events = json.loads(
        json.dumps(completion_events(answer, model="m", include_usage=include_usage))
    )
    sent = event_reply(events).body.decode().split("\n\n")
    assert sent == [*(f"data: {json.dumps(event)}" for event in events), "data: [DONE]", ""]
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == (answer.text or "")
    joined = dict[int, str]()
    for made in (one for delta in deltas for one in delta.get("tool_calls", ())):
        joined[made["index"]] = joined.get(made["index"], "") + made["function"]["arguments"]
    assert list(joined.values()) == arguments
    assert [event["usage"] is not None for event in events if "usage" in event] == (
        [False] * (len(events) - 1) + [True] if include_usage else []
    )


NONE: ChatMessage = {}
REFUSED: list[tuple[list[ChatMessage], str, str]] = [
    ([], "empty array", "messages"),
    ([asks("a", "b"), tells("a")], "did not have response messages: b", "messages.[0].role"),
    ([asks("a"), *HELLO, tells("a")], "response messages: a", "messages.[0].role"),
    ([*HELLO, tells("a")], "response to a preceeding message with 'tool_", "messages.[1].role"),
    ([asks("a"), tells("b")], "'b' not found in 'tool_calls'", "messages.[1].tool_call_id"),
    ([asks("a"), tells("a"), tells("a")], "Duplicate value", "messages.[2].tool_call_id"),
    ([asks("a", "a"), tells("a")], "Duplicate", "messages.[0].tool_call_id"),
    ([{"role": "bot", "content": "x"}], "Invalid value: 'bot'", "messages[0].role"),
    ([{"content": "x"}], "Missing required", "messages[0].role"),
    ([{"role": "user"}], "expected a string, got null", "messages.[0].content"),
    ([{"role": "assistant"}], "expected a string, got null", "messages.[0].content"),
    ([says(4, "user")], "got an integer", "messages[0].content"),
    ([says([{"type": "x"}], "user")], "value: 'x'", "messages[0].content[0].type"),
    ([says("", tool_calls=[])], "empty array", "messages[0].tool_calls"),
    ([asks(""), tells("")], "empty string", "messages[0].tool_calls[0].id"),
    ([asks("a"), {"role": "tool", "content": ""}], "Missing", "messages[1].tool_call_id"),
    (
        [says("", tool_calls=[call_of("a") | {"function": {"name": "f", "arguments": NONE}}])],
        "expected a string, but got an object",
        "messages[0].tool_calls[0].function.arguments",
    ),
]


@pytest.mark.parametrize(("messages", "words", "place"), REFUSED)
def test_what_openai_refuses(messages: list[ChatMessage], words: str, place: str) -> None:
    """With a 400 in OpenAI's words, and the place."""
    with pytest.raises(ApiError) as refused:
        check_chat([*messages])
    assert words in refused.value.message
    assert (refused.value.status, refused.value.error["param"]) == (400, place)


def test_what_openai_takes() -> None:
    """Odd but lawful conversations."""
    taken: list[list[ChatMessage]] = [
        [*HELLO, asks("a", "b"), tells("b"), tells("a")],
        [asks("a"), tells("a"), asks("a"), tells("a")],
        [{"role": "system", "content": ""}, {"role": "developer", "content": "x"}],
        [{"role": "assistant", "content": "x", "thinking_blocks": []}],
        [{"role": "assistant", "refusal": "no"}],
        [*HELLO, *HELLO],
    ]
    for messages in taken:
        check_chat([*messages])


def test_refused_requests_cost_no_step() -> None:
    """The client gets a 400, the request is among the rejected, and the script goes on where it was."""
    with LoopbackServer(ScriptedModel([Say("1"), Say("2")])) as server, client_of(server) as client:
        assert said(ask(client))[0] == "1"
        with pytest.raises(BadRequestError) as refused:
            ask(client, [tells("a")])
        assert (refused.value.param, refused.value.type) == (
            "messages.[0].role",
            "invalid_request_error",
        )
        assert [(one.status, one.messages) for one in server.rejected] == [(400, [tells("a")])]
        assert said(ask(client))[0] == "2"
        with pytest.raises(BadRequestError, match="2 steps; request 3 is one too many"):
            ask(client)


@settings(max_examples=6)
@given(st.integers(-40, 40), st.booleans())
def test_window_is_exact(spare: int, with_tools: bool) -> None:  # noqa: FBT001  drawn
    """A request is refused exactly when its tokens by the model's count are more than the window."""
    model = ScriptedModel(repeat(Say("ok")))
    messages = conversation(turns=2, tokens_per_turn=50)
    tools: list[ChatMessage] = [{"type": "function", "function": {"name": "t"}}] * with_tools
    window = model.prompt_tokens(messages, tools=tools) + spare
    server = LoopbackServer(model, window_tokens=window)
    body = json.dumps({"model": "m", "messages": messages, "tools": tools})
    with server:
        status, answer = post(server, "/v1/chat/completions", body)
    assert status == (200 if spare >= 0 else 400)
    if spare < 0:
        assert answer["error"]["code"] == "context_length_exceeded"
        assert f"maximum context length is {window} tokens" in answer["error"]["message"]
        assert f"resulted in {window - spare} tokens" in answer["error"]["message"]
        assert ("in the functions)" in answer["error"]["message"]) == with_tools


SYSTEM, OK = says("s", "system"), says("ok")


@pytest.mark.parametrize(
    ("messages", "taken"),
    [
        ([SYSTEM, *HELLO, OK, *HELLO], True),
        ([*HELLO, asks("a"), tells("a"), OK, *HELLO], True),
        ([SYSTEM, SYSTEM, *HELLO], False),
        ([*HELLO, SYSTEM], False),
        ([*HELLO, *HELLO], False),
        ([SYSTEM, OK], False),
        ([*HELLO, OK, OK], False),
    ],
)
def test_strict_roles(messages: list[ChatMessage], taken: bool) -> None:  # noqa: FBT001  a row
    """With ``strict_roles`` what strict templates refuse is refused; without it, it is taken."""
    check_chat([*messages])
    with nullcontext() if taken else pytest.raises(ApiError, match=r"alternate|beginning"):
        check_chat([*messages], strict_roles=True)


Attempt = Callable[[OpenAI], object]
FAULTS: dict[str, tuple[Fault, Attempt, type[Exception]]] = {
    "rate-limit": (Fault.rate_limit(2), ask, RateLimitError),
    "error": (Fault.error(), ask, InternalServerError),
    "garbage-stream": (Fault.garbage(), stream, ValueError),
    "drop-stream": (Fault.drop(), stream, Exception),
    "drop-early": (Fault.drop(before_headers=True), ask, APIConnectionError),
    "slow": (
        Fault.slow(30),
        lambda client: ask(client.with_options(timeout=0.05)),
        APITimeoutError,
    ),
}


@pytest.mark.parametrize(("fault", "attempt", "error"), FAULTS.values(), ids=FAULTS)
def test_fault_reaches_the_client(fault: Fault, attempt: Attempt, error: type[Exception]) -> None:
    """The client sees the fault, the record names it, and the next request gets the step that was missed."""
    arrived = threading.Event()

    def count(text: str) -> int:
        arrived.set()
        return len(text)

    model = ScriptedModel([Say("ok")], count=count)
    with LoopbackServer(model, faults={1: fault}) as server:
        with client_of(server) as client:
            with pytest.raises(error) as raised:
                attempt(client)
            is_late = isinstance(raised.value, APITimeoutError | httpx.TimeoutException)
            assert is_late == (fault.kind == "slow")
            assert arrived.wait(20)  # a client may give up before it is read
            assert said(ask(client))[0] == "ok"
        assert server.rejected == []
    assert [one.fault for one in server.requests] == [fault, None]


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: Fault.slow(-1), "seconds"),
        (lambda: Fault.rate_limit(-1), "retry_after_s"),
        (lambda: Fault.error(200), "status"),
        (lambda: LoopbackServer(ScriptedModel([]), window_tokens=0), "window_tokens"),
    ],
)
def test_wrong_arguments_are_refused(build: Callable[[], object], named: str) -> None:
    """The error names the argument."""
    with pytest.raises(ValueError, match=named):
        build()


def dot(left: list[float], right: list[float]) -> float:
    """How near two vectors of length 1 are, from -1 to 1."""
    return sum(one * other for one, other in zip(left, right, strict=True))


def test_embeddings_through_the_client(client: OpenAI) -> None:
    """Packed as the client asks for by default and as plain numbers they are the same; shared words are near."""
    texts = ["read the file", "read the log file", "unrelated banana"]
    packed = client.embeddings.create(model="e", input=texts, dimensions=64)
    plain = client.embeddings.create(model="e", input=texts, dimensions=64, encoding_format="float")
    rows = [row.embedding for row in plain.data]
    for row, other in zip(rows, packed.data, strict=True):
        assert row == pytest.approx(other.embedding, abs=1e-6)
    assert dot(rows[0], rows[1]) > dot(rows[0], rows[2])
    assert client.embeddings.create(model="e", input="a b").usage.prompt_tokens == 2
    assert len(client.embeddings.create(model="e", input=[[1, 2], [3]]).data) == 2


def post(
    server: LoopbackServer, path: str, body: str | bytes, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, dict[str, str]]]:
    """Status and JSON of a request that a client would not send."""
    host, port = server.base_url.removeprefix("http://").removesuffix("/v1").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    try:
        connection.request("POST", path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_bad_requests(server: LoopbackServer) -> None:
    """What is no JSON object, has no model, or messages that are no list of objects, is a 400 in OpenAI's shape."""
    for body in (b"{", b"\xff", b"[]", b"[" * 100_000, b""):
        status, answer = post(server, "/v1/chat/completions", body)
        assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
        assert "could not parse the JSON body" in answer["error"]["message"]
    asked = {"model": "m", "messages": HELLO}
    for wrong in ({"model": None}, {"messages": None}, {"messages": "hi"}, {"messages": [1]}):
        assert post(server, "/v1/chat/completions", json.dumps({**asked, **wrong}))[0] == 400


def test_what_a_request_may_get(client: OpenAI, server: LoopbackServer) -> None:
    """Faults in the order in which they were injected, a 404 for other paths, a 411 without a length, the window of the models."""
    server.inject(Fault.rate_limit(1.5), Fault.error(502), Fault.slow(0.01))
    with pytest.raises(RateLimitError) as limited:
        ask(client)
    assert limited.value.response.headers["retry-after"] == "1.5"
    with pytest.raises(APIStatusError) as failed:
        ask(client)
    assert failed.value.status_code == 502
    assert said(ask(client))[0] == "ok"
    (model,) = client.models.list().data
    assert (model.id, model.to_dict()["max_model_len"]) == ("scripted-model", 2_000)
    with pytest.raises(NotFoundError, match=r"Invalid URL \(GET /v1/files\)"):
        client.files.list()
    with pytest.raises(BadRequestError, match="input"):
        client.embeddings.create(model="e", input=["a", ""])
    assert post(server, "/v1/chat/completions", b"", {"Content-Length": "many"})[0] == 411


def test_leaving_leaves_nothing() -> None:
    """With a connection open and an answer pending, leaving ends every thread at once and frees the port."""
    before = set(threading.enumerate())
    arrived, failures = threading.Event(), list[Exception]()

    def count(text: str) -> int:
        if text == "wait":
            arrived.set()
        return 1

    def wait(client: OpenAI) -> None:
        try:
            ask(client, [{"role": "user", "content": "wait"}])
        except APIConnectionError as error:
            failures.append(error)

    model = ScriptedModel(repeat(Say("ok")), count=count)
    with (
        LoopbackServer(model, faults={2: Fault.slow(600)}) as server,
        client_of(server) as idle,
        client_of(server) as client,
    ):
        ask(idle)
        waiting = threading.Thread(target=wait, args=(client,))
        waiting.start()
        assert arrived.wait(20)
        leaving = threading.Thread(target=server.__exit__, args=(None, None, None))
        leaving.start()
        leaving.join(20)  # idle connections are cut, and not waited for
        assert not leaving.is_alive()
        waiting.join()
    assert len(failures) == 1
    assert [request.status for request in server.requests] == [200, 499]
    assert set(threading.enumerate()) <= before
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.base_url


def test_guide_runs() -> None:
    """Every Python example of the guide does what it says."""
    examples = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 5
    for example in examples:
        exec(compile(example, str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102  our own text


def test_a_request_whose_client_ends_while_it_sends_never_arrived() -> None:
    """A process that is killed while it asks leaves half a body: no request, and none that was rejected."""
    with LoopbackServer(ScriptedModel(repeat(Say("ok")))) as server:
        port = httpx.URL(server.base_url).port
        assert port is not None
        with socket.create_connection(("127.0.0.1", port), timeout=20) as killed:
            head = f"POST {CHAT_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n"
            killed.sendall(f'{head}{{"model": "scr'.encode())
            killed.shutdown(socket.SHUT_WR)
            assert killed.recv(1) == b""
        with client_of(server) as client:
            ask(client)
    assert [(each.number, each.status) for each in server.requests] == [(1, 200)]
    assert server.rejected == []
