"""Responses of the test server: answers in OpenAI's format, complete or streamed, and injected faults.

Promise: the deltas of a streamed answer add up to the complete answer; ids and times depend only on the answer's number.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from autogen_context.testing.script import Answer
from autogen_context.testing.usage import Usage
from autogen_context.testing.wire import ApiError, Cut, Json, Reply, event_reply, json_reply

FIRST_CREATED = 1_700_000_000  # Unix time in seconds; each answer comes a second after the last
PIECES = 16  # chunks of a streamed text, at most, so that a large text does not take too long
SHORTEST_PIECE = 8  # characters
CUT_OFF = "This answer is never received whole: the connection is closed in the middle of it."


def completion(answer: Answer, *, model: str) -> dict[str, Json]:
    """Return the answer as a ``chat.completion`` object."""
    message: dict[str, Json] = {"refusal": None, **answer.as_message()}
    choice: dict[str, Json] = {"index": 0, "message": message, "logprobs": None}
    choice["finish_reason"] = "tool_calls" if answer.calls else "stop"
    body = _envelope(answer, model=model, kind="chat.completion")
    return {**body, "choices": [choice], "usage": _usage(answer.usage)}


def completion_events(answer: Answer, *, model: str, include_usage: bool) -> list[Json]:
    """Return the answer as ``chat.completion.chunk`` events, followed by the usage if requested."""
    envelope = _envelope(answer, model=model, kind="chat.completion.chunk")
    usage_slot: dict[str, Json] = {"usage": None} if include_usage else {}
    deltas: list[tuple[Mapping[str, Json], str | None]] = [(each, None) for each in _deltas(answer)]
    deltas.append(({}, "tool_calls" if answer.calls else "stop"))
    events: list[Json] = []
    for delta, reason in deltas:
        choice: Json = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": reason}
        events.append({**envelope, "choices": [choice], **usage_slot})
    if include_usage:
        events.append({**envelope, "choices": [], "usage": _usage(answer.usage)})
    return events


def _envelope(answer: Answer, *, model: str, kind: str) -> dict[str, Json]:
    created = FIRST_CREATED + answer.number
    named = {"id": f"chatcmpl-{answer.number:06d}", "object": kind, "model": model}
    return {**named, "created": created, "system_fingerprint": "scripted"}


def _usage(usage: Usage) -> dict[str, Json]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


def _deltas(answer: Answer) -> Iterator[Mapping[str, Json]]:
    """Yield the text in chunks, then each tool call: its id and name, followed by its arguments in chunks."""
    yield {"role": "assistant", "content": None if answer.text is None else "", "refusal": None}
    for piece in pieces(answer.text or ""):
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        opening: dict[str, Json] = {"name": call.name, "arguments": ""}
        head: Json = {"index": index, "id": call.id, "type": "function", "function": opening}
        yield {"tool_calls": [head]}
        for piece in pieces(call.arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def pieces(text: str) -> list[str]:
    """Return a text in the chunks in which it is streamed."""
    size = max(SHORTEST_PIECE, -(-len(text) // PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, created by the static method of its kind; only with ``slow`` does the request reach the model."""

    kind: Literal["slow", "rate_limit", "error", "garbage", "drop", "empty"]
    seconds: float = 0.0
    status: int = 200
    cut: Literal["middle", "start"] = "middle"
    missing: Literal["choices", "content"] = "choices"

    @staticmethod
    def slow(seconds: float) -> "Fault":
        """The correct answer, ``seconds`` late; if the client has disconnected by then, no step is used."""
        if seconds < 0:
            raise ValueError(f"seconds: seconds to wait, 0 or more, not {seconds}")
        return Fault(kind="slow", seconds=seconds)

    @staticmethod
    def rate_limit(retry_after_s: float = 1.0) -> "Fault":
        """Status 429 with a ``Retry-After`` header of ``retry_after_s`` seconds."""
        if retry_after_s < 0:
            raise ValueError(f"retry_after_s: seconds to wait, 0 or more, not {retry_after_s}")
        return Fault(kind="rate_limit", seconds=retry_after_s)

    @staticmethod
    def error(status: int = 500) -> "Fault":
        """A server error with this HTTP status, 400 to 599."""
        if not 400 <= status <= 599:  # noqa: PLR2004  the range of HTTP errors
            raise ValueError(f"status: an HTTP error is from 400 to 599, not {status}")
        return Fault(kind="error", status=status)

    @staticmethod
    def garbage() -> "Fault":
        """Status 200 with an invalid JSON body; if streamed, a truncated event."""
        return Fault(kind="garbage")

    @staticmethod
    def drop(*, before_headers: bool = False) -> "Fault":
        """A connection closed in the middle of the answer, or before anything is sent."""
        return Fault(kind="drop", cut="start" if before_headers else "middle")

    @staticmethod
    def empty(missing: Literal["choices", "content"] = "choices") -> "Fault":
        """Status 200 with no choices, or with a choice whose text is empty."""
        return Fault(kind="empty", missing=missing)


def faulty_reply(fault: Fault, *, chat: bool, streamed: bool) -> Reply:
    """Return the reply to send instead of the answer, for every fault except ``slow``."""
    if fault.kind == "rate_limit":
        wait = f"{fault.seconds:g}"
        text = f"Rate limit reached for requests. Please try again in {wait}s."
        refused = ApiError(text, status=429, kind="requests", code="rate_limit_exceeded").reply()
        return replace(refused, headers={"Retry-After": wait})
    if fault.kind == "error":
        text = "The server had an error while processing your request. Sorry about that!"
        return ApiError(text, status=fault.status, kind="server_error").reply()
    if fault.kind == "garbage":
        broken = b'data: {"choices": [{"delta": {"cont\n\n'
        return Reply(body=broken if streamed else b"<html>", streamed=streamed)
    if fault.kind == "empty" and not chat:
        return json_reply({"object": "list", "data": []})
    nothing = Usage(prompt_tokens=0, completion_tokens=0, cached_tokens=0)
    text = "" if fault.kind == "empty" else CUT_OFF
    answer = Answer(number=0, text=text, calls=(), usage=nothing)
    body = completion(answer, model="scripted-model")
    events = completion_events(answer, model="scripted-model", include_usage=False)
    if fault.kind == "empty" and fault.missing == "choices":
        body, events = {**body, "choices": []}, []
    cut: Cut = fault.cut if fault.kind == "drop" else "nowhere"
    return event_reply(events, cut=cut) if streamed else json_reply(body, cut=cut)
