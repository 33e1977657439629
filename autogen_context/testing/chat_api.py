"""Answers in the shape of OpenAI's chat completions, whole and streamed.

Promise: the deltas of a streamed answer put together are the whole answer; ids and times follow from the answer's
number, not from a clock.
"""

from collections.abc import Iterator, Mapping

from autogen_context.messages.message import ToolCall
from autogen_context.testing.script import Answer
from autogen_context.testing.shapes import Json
from autogen_context.testing.usage import Usage

# The moment of the first answer, in seconds since 1970; each later answer is a second younger.
_FIRST_CREATED = 1_700_000_000
# A text or an argument is streamed in about this many pieces, so that large ones do not take for ever.
_PIECES = 16
_SHORTEST_PIECE = 8


def completion(answer: Answer, *, model: str) -> dict[str, Json]:
    """The answer as one ``chat.completion``."""
    message: dict[str, Json] = {"refusal": None, **answer.as_message()}
    choice: dict[str, Json] = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _finish_reason(answer),
    }
    body = _envelope(answer, model=model, kind="chat.completion")
    return {**body, "choices": [choice], "usage": _usage(answer.usage)}


def completion_events(answer: Answer, *, model: str, include_usage: bool) -> list[Json]:
    """The answer as ``chat.completion.chunk`` events, the usage last where it was asked for."""
    envelope = _envelope(answer, model=model, kind="chat.completion.chunk")
    choices = [_choice(delta, None) for delta in _deltas(answer)]
    choices.append(_choice({}, _finish_reason(answer)))
    usage_slot: dict[str, Json] = {"usage": None} if include_usage else {}
    events: list[Json] = [{**envelope, "choices": [choice], **usage_slot} for choice in choices]
    if include_usage:
        events.append({**envelope, "choices": [], "usage": _usage(answer.usage)})
    return events


def _envelope(answer: Answer, *, model: str, kind: str) -> dict[str, Json]:
    return {
        "id": f"chatcmpl-{answer.number:06d}",
        "object": kind,
        "created": _FIRST_CREATED + answer.number,
        "model": model,
        "system_fingerprint": "scripted",
    }


def _usage(usage: Usage) -> dict[str, Json]:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _finish_reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _choice(delta: Mapping[str, Json], finish_reason: str | None) -> dict[str, Json]:
    return {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish_reason}


def _deltas(answer: Answer) -> Iterator[Mapping[str, Json]]:
    yield {"role": "assistant", "content": None if answer.text is None else "", "refusal": None}
    for piece in _pieces(answer.text or ""):
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        yield from _call_deltas(call, index)


def _call_deltas(call: ToolCall, index: int) -> Iterator[Mapping[str, Json]]:
    """A call is opened with its id and name; its arguments follow in pieces."""
    opening: dict[str, Json] = {"name": call.name, "arguments": ""}
    yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": opening}]}
    for piece in _pieces(call.arguments):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> list[str]:
    size = max(_SHORTEST_PIECE, -(-len(text) // _PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]
