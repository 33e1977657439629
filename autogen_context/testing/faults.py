"""What can go wrong between an agent and its model, on demand.

Promise: only ``Fault.slow`` lets the request through to the model; the others answer in its place, so that they cost
no step of the script.
"""

from dataclasses import dataclass
from typing import Literal

from autogen_context.testing.chat_api import completion, completion_events
from autogen_context.testing.script import Answer
from autogen_context.testing.shapes import Json
from autogen_context.testing.usage import Usage
from autogen_context.testing.wire import ApiError, Reply, event_reply, json_reply

_CUT_OFF = (
    "This answer is never received whole, because the connection is closed in the middle of it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault; made by the methods that bear its name.

    Attributes:
        kind: what goes wrong.
        seconds: how long a slow answer takes, or what a rate limit says to wait.
        status: the HTTP status of an error.
        cut: where the connection of a dropped answer is closed.
        missing: what an empty answer lacks.
    """

    kind: Literal["slow", "rate_limit", "error", "garbage", "drop", "empty"]
    seconds: float = 0.0
    status: int = 200
    cut: Literal["middle", "start"] = "middle"
    missing: Literal["choices", "content"] = "choices"

    @staticmethod
    def slow(seconds: float) -> "Fault":
        """The right answer, ``seconds`` late; a client that gave up by then costs no step."""
        return Fault(kind="slow", seconds=_not_negative(seconds, "seconds"))

    @staticmethod
    def rate_limit(retry_after_s: float = 1.0) -> "Fault":
        """429 with a ``Retry-After`` of so many seconds."""
        return Fault(
            kind="rate_limit", status=429, seconds=_not_negative(retry_after_s, "retry_after_s")
        )

    @staticmethod
    def error(status: int = 500) -> "Fault":
        """An error of the server, by its HTTP status."""
        if not 400 <= status <= 599:  # noqa: PLR2004  the range in which HTTP has its errors
            raise ValueError(f"status: an HTTP error is from 400 to 599, not {status}")
        return Fault(kind="error", status=status)

    @staticmethod
    def garbage() -> "Fault":
        """200 with a body that is no JSON; streamed, an event that breaks off."""
        return Fault(kind="garbage")

    @staticmethod
    def drop(*, before_headers: bool = False) -> "Fault":
        """The connection is closed in the middle of the answer, or before anything was sent."""
        return Fault(kind="drop", cut="start" if before_headers else "middle")

    @staticmethod
    def empty(missing: Literal["choices", "content"] = "choices") -> "Fault":
        """200 with nothing in it: no choices, or a choice with an empty text."""
        return Fault(kind="empty", missing=missing)


def faulty_reply(fault: Fault, *, chat: bool, streamed: bool) -> Reply | None:
    """What is sent in place of the answer.

    Args:
        fault: what goes wrong.
        chat: the request is for a chat completion, not for embeddings or models.
        streamed: the client waits for events.

    Returns:
        The reply; ``None`` for a slow answer, which is the answer itself.
    """
    match fault.kind:
        case "slow":
            return None
        case "rate_limit":
            return _rate_limited(fault)
        case "error":
            return _failed(fault.status)
        case "garbage":
            return _garbage(streamed=streamed)
        case "drop":
            return _chat_reply(_answer(_CUT_OFF), streamed=streamed, cut=fault.cut)
        case "empty":
            return _empty(fault, streamed=streamed) if chat else _empty_list()


def _rate_limited(fault: Fault) -> Reply:
    text = f"Rate limit reached for requests. Please try again in {fault.seconds:g}s."
    refused = ApiError(text, status=429, kind="requests", code="rate_limit_exceeded").reply()
    return Reply(status=429, parts=refused.parts, headers={"Retry-After": f"{fault.seconds:g}"})


def _failed(status: int) -> Reply:
    text = "The server had an error while processing your request. Sorry about that!"
    return ApiError(text, status=status, kind="server_error").reply()


def _garbage(*, streamed: bool) -> Reply:
    if streamed:
        return Reply(parts=(b'data: {"choices": [{"delta": {"cont\n\n',), streamed=True)
    return Reply(parts=(b"<html><body>upstream is having a moment</body></html>",))


def _empty(fault: Fault, *, streamed: bool) -> Reply:
    if fault.missing == "content":
        return _chat_reply(_answer(""), streamed=streamed)
    body: Json = {**completion(_answer(""), model="scripted-model"), "choices": []}
    return event_reply([]) if streamed else json_reply(body)


def _empty_list() -> Reply:
    return json_reply({"object": "list", "data": []})


def _chat_reply(
    answer: Answer, *, streamed: bool, cut: Literal["nowhere", "middle", "start"] = "nowhere"
) -> Reply:
    if streamed:
        events = completion_events(answer, model="scripted-model", include_usage=False)
        return event_reply(events, cut=cut)
    return json_reply(completion(answer, model="scripted-model"), cut=cut)


def _answer(text: str) -> Answer:
    """An answer that no script gave, under the number 0, which no request has."""
    nothing = Usage(prompt_tokens=0, completion_tokens=0, cached_tokens=0)
    return Answer(number=0, text=text, calls=(), usage=nothing)


def _not_negative(value: float, name: str) -> float:
    if value < 0:
        raise ValueError(f"{name}: seconds to wait, 0 or more, not {value}")
    return value
