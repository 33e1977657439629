"""The Responses API of the loopback server, through OpenAI's client."""

import json

import pytest
from openai import BadRequestError, OpenAI

from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel

QUESTION = "What is the time?"


def client_of(server: LoopbackServer) -> OpenAI:
    """The synchronous client, without its own retries."""
    return OpenAI(base_url=server.base_url, api_key="none", max_retries=0)


def test_a_stored_response_is_gone_on_from() -> None:
    """The server has the conversation; the instructions are those of each request."""
    with LoopbackServer(ScriptedModel([Call("clock"), Say("Noon.")])) as server:
        client = client_of(server)
        first = client.responses.create(model="m", input=QUESTION, instructions="Be brief.")
        (call,) = first.output
        assert call.type == "function_call"
        assert (call.name, json.loads(call.arguments)) == ("clock", {})
        answer = client.responses.create(
            model="m",
            previous_response_id=first.id,
            input=[{"type": "function_call_output", "call_id": call.call_id, "output": "12:00"}],
        )
    assert answer.output_text == "Noon."
    assert [message["role"] for message in server.requests[1].messages] == [
        *("user", "assistant", "tool")
    ]
    assert answer.usage is not None
    assert answer.usage.input_tokens == server.requests[1].prompt_tokens


def test_what_is_not_stored_is_not_found() -> None:
    """With ``store=False`` the whole conversation has to be sent, as items."""
    with LoopbackServer(ScriptedModel([Say("Noon."), Say("Yes.")])) as server:
        client = client_of(server)
        first = client.responses.create(model="m", input=QUESTION, store=False)
        with pytest.raises(BadRequestError, match="not found"):
            client.responses.create(model="m", previous_response_id=first.id, input="Sure?")
        client.responses.create(
            model="m",
            store=False,
            input=[
                {"role": "user", "content": QUESTION},
                {"role": "assistant", "content": first.output_text},
                {"role": "user", "content": [{"type": "input_text", "text": "Sure?"}]},
            ],
        )
    assert [message["content"] for message in server.requests[2].messages] == [
        *(QUESTION, "Noon.", [{"type": "text", "text": "Sure?"}])
    ]


def test_its_requests_have_the_rules_of_chat_requests() -> None:
    """A call without its result is refused, as is what is larger than the window."""
    call = {"type": "function_call", "call_id": "c1", "name": "clock", "arguments": "{}"}
    with LoopbackServer(ScriptedModel([]), window_tokens=50) as server:
        client = client_of(server)
        with pytest.raises(BadRequestError, match="tool_call_id"):
            client.responses.create(model="m", input=[call, {"role": "user", "content": "?"}])  # type: ignore[list-item] # as a program has it
        with pytest.raises(BadRequestError, match="maximum context length"):
            client.responses.create(model="m", input="word " * 100)
