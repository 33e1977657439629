"""Message format of AG2 1.x: converts between the events of a stream and messages.

Promise: reads exactly what AG2's clients send of an event; data that a provider needs back with a response (reasoning, calls
of built-in tools) is kept or dropped together with that response; a rewritten event is a copy that differs only in the
rewritten fields.

Source: ``ag2/config/*/mappers.py`` of AG2 1.2.1: clients send requests, responses, the tool results of each step, and
summaries; of all other events only ``ProviderReplay`` and the calls and results of built-in tools.
"""

import copy
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from ag2.compact import CompactionSummary
from ag2.events import (
    BaseEvent,
    BinaryInput,
    BuiltinToolCallEvent,
    BuiltinToolResultEvent,
    DataInput,
    Input,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ProviderReplay,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolResult,
    ToolResultEvent,
    ToolResultsEvent,
)
from typing_extensions import override

from autogen_context.adapters.register import Prompt
from autogen_context.messages.canonical import canonical
from autogen_context.messages.message import (
    HostFormat,
    Image,
    Message,
    Origin,
    ToolCall,
    content_digest,
    with_text,
)
from autogen_context.messages.message import ToolResult as Result

SENT = (ModelRequest, ModelResponse, ToolResultsEvent, CompactionSummary)
OF_A_RESPONSE = (ProviderReplay, BuiltinToolCallEvent, BuiltinToolResultEvent)
TEXTS = (TextInput, DataInput)  # a tuple, since AG2's classes overload ``|``
SUMMARY = "[Summary of earlier conversation]\n"  # the prefix that AG2's clients add


@dataclass(frozen=True, slots=True)
class Response:
    """A model response and the provider events to send back with it, in their original order."""

    events: tuple[BaseEvent, ...]

    @property
    def said(self) -> ModelResponse:
        """The response itself; an empty one if the turn was interrupted before it."""
        last = self.events[-1]
        return last if isinstance(last, ModelResponse) else ModelResponse()

    @property
    def attached(self) -> tuple[BaseEvent, ...]:
        """The provider events."""
        return tuple(each for each in self.events if not isinstance(each, ModelResponse))


def payloads_of(events: Iterable[BaseEvent]) -> list[object]:
    """Return the payloads of the events of a stream that are sent, equal for the same events.

    An event is its own, but for a response with its provider's events, and for results without a ``ToolResultsEvent``: of a
    final call, or of a step that was interrupted.
    """
    payloads: list[object] = []
    attached: list[BaseEvent] = []
    loose: dict[str, ToolResultEvent] = {}
    for event in events:
        if isinstance(event, OF_A_RESPONSE):
            attached.append(event)
        elif isinstance(event, ToolResultEvent):
            loose[event.parent_id] = event
        elif isinstance(event, SENT):
            if loose and not isinstance(event, ToolResultsEvent):
                payloads.append(ToolResultsEvent([*loose.values()]))
            loose.clear()
            if attached and not isinstance(event, ModelResponse):
                payloads.append(Response(tuple(attached)))
                attached = []
            payloads.append(Response((*attached, event)) if attached else event)
            attached = []
    return [*payloads, Response(tuple(attached))] if attached else payloads


def events_of(payloads: Iterable[object]) -> list[BaseEvent]:
    """Return the events to send for the prepared payloads."""
    events: list[BaseEvent] = []
    for payload in payloads:
        events.extend(
            payload.events if isinstance(payload, Response) else [cast("BaseEvent", payload)]
        )
    return events


class Ag2Format(HostFormat):
    """The host format of AG2 1.x; ``asked_by`` says whose requests are.

    A system message becomes a request, as AG2 has no such event; ``later_system`` if its client makes that one again.
    """

    def __init__(self, asked_by: Origin = "person", *, later_system: bool = False) -> None:
        self._asked_by: Origin = asked_by
        self.later_system = later_system

    @override
    def read(self, payload: object, /) -> Message:
        """Read the message in a payload; raise ``ValueError`` for any other type."""
        if isinstance(payload, Prompt):
            return payload.as_message()
        if isinstance(payload, Response):
            said = read_response(payload.said)
            extra = [*map(as_json, payload.attached), said.extra]
            return replace(said, extra="\n".join(filter(None, extra)))
        if isinstance(payload, ModelResponse):
            return read_response(payload)
        if isinstance(payload, ToolResultsEvent):
            parts = [part for each in payload.results for part in each.result.parts]
            results = [
                Result(
                    call_id=each.parent_id, name=each.name or "", text=text_of(each.result.parts)
                )
                for each in payload.results
            ]
            return Message(role="tool", results=tuple(results), images=images_of(parts))
        if isinstance(payload, CompactionSummary):
            return Message(role="user", text=SUMMARY + payload.summary, author="program")
        if isinstance(payload, ModelRequest):
            texts = sum(isinstance(part, TEXTS) for part in payload.parts)
            return Message(
                role="user",
                text=text_of(payload.parts),
                text_parts=max(1, texts),
                images=images_of(payload.parts),
                author=self._asked_by,
            )
        raise ValueError(
            "a message must be a ModelRequest, ModelResponse, ToolResultsEvent or CompactionSummary of ag2, got "
            f"{type(payload).__name__}"
        )

    @override
    def rewrite(self, payload: object, message: Message, /) -> object:
        """Return a copy of ``payload`` with the texts of ``message``."""
        if isinstance(payload, Response) and message.role == "assistant":
            return Response((*payload.attached, written_response(payload.said, message)))
        if isinstance(payload, ModelResponse) and message.role == "assistant":
            return written_response(payload, message)
        if isinstance(payload, ToolResultsEvent) and message.results:
            written = copy.copy(payload)
            written.results = [
                written_result(each, new, with_media=bool(message.images))
                for each, new in zip(payload.results, message.results, strict=False)
            ]
            return written
        if isinstance(payload, ModelRequest) and message.role == "user":
            written_request = copy.copy(payload)
            written_request.parts = written_parts(
                payload.parts, message.text, with_media=bool(message.images)
            )
            return written_request
        return Prompt(message.text) if isinstance(payload, Prompt) else self.compose(message)

    @override
    def compose(self, message: Message, /) -> BaseEvent:
        """Create an event for one of our own messages; a system message becomes a request, as AG2 has no such event."""
        if message.results:
            results = [
                ToolResultEvent(
                    parent_id=each.call_id, name=each.name, result=ToolResult(TextInput(each.text))
                )
                for each in message.results
            ]
            return ToolResultsEvent(results)
        if message.role == "assistant":
            return ModelResponse(ModelMessage(message.text))
        return ModelRequest([TextInput(message.text)])


def read_response(response: ModelResponse) -> Message:
    """Read a model response: its text, tool calls, and the metadata a provider needs back with a call."""
    calls = response.tool_calls.calls
    metadata = [call.vendor_metadata for call in calls if call.vendor_metadata]
    return Message(
        role="assistant",
        text=response.content or "",
        calls=tuple(ToolCall(id=c.id, name=c.name, arguments=c.arguments or "{}") for c in calls),
        extra=canonical(metadata) if metadata else "",
    )


def text_of(parts: Iterable[Input]) -> str:
    """Return the text of these parts, data as JSON."""
    return "\n".join(
        part.content if isinstance(part, TextInput) else canonical(part.data)
        for part in parts
        if isinstance(part, TEXTS)
    )


def images_of(parts: Iterable[Input]) -> tuple[Image, ...]:
    """Return one image of unknown size per non-text part, since no provider documents the cost of files or audio."""
    media = (as_json(part) for part in parts if not isinstance(part, TEXTS))
    return tuple(Image(digest=content_digest(each).hex()) for each in media)


def as_json(event: BaseEvent) -> str:
    """Return an event as JSON text, binary data as its digest."""
    if isinstance(event, BinaryInput):
        return canonical([event.kind, event.media_type, content_digest(event.data).hex()])
    fields = event.to_dict()
    fields.pop("created_at", None)
    return canonical(fields)


def written_response(response: ModelResponse, message: Message) -> ModelResponse:
    """Return a copy of the response with the text and arguments of ``message``."""
    written = copy.copy(response)
    if message.text != (response.content or ""):
        written.message = ModelMessage(message.text, metadata=response.metadata)
    pairs = zip(response.tool_calls.calls, message.calls, strict=False)
    written.tool_calls = ToolCallsEvent([written_call(call, new) for call, new in pairs])
    return written


def written_call(call: ToolCallEvent, new: ToolCall) -> ToolCallEvent:
    """Return the call with new arguments; always valid JSON, since AG2's clients parse them before sending."""
    if new.arguments == (call.arguments or "{}"):
        return call
    written = copy.copy(call)
    written.arguments = new.arguments
    try:
        written.serialized_arguments = json.loads(new.arguments)
    except ValueError:
        written.serialized_arguments = {"shortened": new.arguments}
        written.arguments = json.dumps(written.serialized_arguments)
    return written


def written_result(result: ToolResultEvent, new: Result, *, with_media: bool) -> ToolResultEvent:
    """Return a copy of the result with the new text and call id."""
    written = copy.copy(result)
    written.parent_id = new.call_id
    before = result.result
    written.result = ToolResult(
        parts=written_parts(before.parts, new.text, with_media=with_media),
        final=before.final,
        metadata=before.metadata,
    )
    return written


def written_parts(parts: Sequence[Input], text: str, *, with_media: bool) -> list[Input]:
    """Return the parts with ``text`` replacing all text parts, and the other parts only ``with_media``."""
    kept = [part for part in parts if with_media or isinstance(part, TEXTS)]
    if text_of(parts) == text:
        return kept
    return with_text(kept, text, is_text=lambda part: isinstance(part, TEXTS), as_text=TextInput)
