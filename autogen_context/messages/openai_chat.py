"""Read and write messages as OpenAI's chat format has them, as dicts or as the client library's own objects.

Promise: what cannot be a message is refused with its reason; unknown fields and content parts are counted and come
back untouched; a rewritten message keeps every field but those that were rewritten.

Source: https://platform.openai.com/docs/api-reference/chat (read 2026-11); ``function_call`` and the role ``function``
are its older form and read as a call and a result without id.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from autogen_context.argument import require_several
from autogen_context.errors import InvalidTranscript
from autogen_context.messages.json_value import (
    canonical,
    copied,
    digest_of,
    fields_of,
    part_fields,
)
from autogen_context.messages.message import Image, Message, ToolCall, ToolResult

RESULT_ROLES = frozenset({"tool", "function"})
CALL_FIELDS = frozenset({"tool_calls", "function_call"})
# What is read, and metadata, which is for tools beside the model: no provider is sent it.
NOT_EXTRA = CALL_FIELDS | {"role", "content", "name", "tool_call_id", "metadata"}
OF_A_CALL = frozenset({"id", "type", "index", "function", "custom"})
IMAGE_TYPES = frozenset({"image_url", "input_image", "image"})


class OpenAIChat:
    """The host format of plain OpenAI message lists."""

    own_name = ""

    def read(self, payload: object, /) -> Message:
        """The message in a dict or client object.

        Raises:
            ValueError: it has no role, or a field of the wrong type.
        """
        fields = fields_of(payload)
        role = fields.get("role")
        if not isinstance(role, str) or not role:
            raise ValueError(f"a message needs a 'role' that is a string, got {role!r}")
        content = read_content(fields.get("content"))
        is_result = role in RESULT_ROLES
        has_calls = not is_result and not CALL_FIELDS.isdisjoint(fields)
        name = fields.get("name")
        return Message(
            role=role,
            text="" if is_result else content.text,
            calls=tuple(read_calls(fields)) if has_calls else (),
            results=(read_result(fields, content.text),) if is_result else (),
            name=name if isinstance(name, str) and not is_result else "",
            images=content.images,
            extra=unread(fields, content.other),
            text_parts=content.text_parts,
            intensity=intensity_of(fields),
        )

    def snapshot(self, payload: object, /) -> object:
        """A private deep copy; strings are shared, since nobody can change them."""
        return copied(fields_of(payload))

    def digest(self, snapshot: object, /) -> bytes:
        """16 bytes that stand for a snapshot, whatever the order of its fields."""
        return digest_of(fields_of(snapshot))

    def rewrite(self, payload: object, message: Message, /) -> dict[str, object]:
        """A new dict with the texts of ``message`` and all other fields of ``payload``."""
        fields = fields_of(payload)
        if fields.get("role") != message.role:
            return self.compose(message)
        written = {k: copied(v) for k, v in fields.items()}
        written["content"] = written_content(fields.get("content"), message)
        call_id = message.results[0].call_id if message.results else ""
        if call_id:
            written["tool_call_id"] = call_id
        elif fields.get("tool_call_id"):
            del written["tool_call_id"]
        if message.calls:
            write_calls(written, message.calls)
        return written

    def compose(self, message: Message, /) -> dict[str, object]:
        """A dict for a message of our own; it has one result at most."""
        if message.results:
            result = message.results[0]
            if not result.call_id and result.name:
                return {"role": "function", "name": result.name, "content": result.text}
            return {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
        return {"role": message.role, "content": message.text}


def intensity_of(fields: Mapping[str, object]) -> float:
    """The emotional intensity, 0..1, in the fields of a message; 0 where none is given.

    Source: ``metadata.emotion_data.emotional_intensity``, as assistants with an emotion model write it.
    """
    if "metadata" not in fields:
        return 0.0
    value = part_fields(part_fields(fields["metadata"]).get("emotion_data")).get(
        "emotional_intensity"
    )
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(cast("float", value)) if known else 0.0


def messages_in(given: Iterable[object]) -> Iterator[Message]:
    """The messages in a list of them, be they in OpenAI's format or ``Message`` already.

    Raises:
        InvalidTranscript: one is neither.
        ValueError: it is no list.
    """
    require_several("messages", given, give="a list of messages")
    for index, message in enumerate(given):
        yield message if isinstance(message, Message) else message_in(message, index)


def message_in(payload: object, index: int) -> Message:
    """The message in a payload at a position of its list.

    Raises:
        InvalidTranscript: there is none.
    """
    try:
        return OpenAIChat().read(payload)
    except (ValueError, RecursionError) as error:
        raise InvalidTranscript(index=index, reason=str(error)) from error


class Content(NamedTuple):
    """What is in a content: its texts joined by newlines, how many there were, images, and all other parts."""

    text: str = ""
    text_parts: int = 1
    images: tuple[Image, ...] = ()
    other: tuple[object, ...] = ()


def read_content(content: object) -> Content:
    """Text, images and all other parts of a content.

    Raises:
        ValueError: it is no string, list or null.
    """
    if content is None or isinstance(content, str):
        return Content(content or "")
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        raise ValueError(  # noqa: TRY004 - a wrong argument is a ValueError here
            f"'content' must be a string, a list of parts or null, got {type(content).__name__}"
        )
    texts: list[str] = []
    images: list[Image] = []
    other: list[object] = []
    for part in cast("Sequence[object]", content):
        if (text := text_of(part)) is not None:
            texts.append(text)
        elif (image := image_of(part)) is not None:
            images.append(image)
        else:
            other.append(part)
    return Content("\n".join(texts), max(1, len(texts)), tuple(images), tuple(other))


def text_of(part: object) -> str | None:
    """The text of a text part."""
    if isinstance(part, str):
        return part
    fields = part_fields(part)
    text = fields.get("text")
    is_text = fields.get("type") in ("text", "input_text", "output_text", None)
    return text if isinstance(text, str) and is_text else None


def image_of(part: object) -> Image | None:
    """The image of an image part; its size is not read from the data."""
    fields = part_fields(part)
    if fields.get("type") not in IMAGE_TYPES:
        return None
    detail = part_fields(fields.get("image_url")).get("detail", fields.get("detail"))
    return Image(detail=detail if isinstance(detail, str) else "auto")


def read_calls(fields: Mapping[str, object]) -> Iterator[ToolCall]:
    """The calls of an assistant message, in order; a ``function_call`` that is a text is none.

    Raises:
        ValueError: ``tool_calls`` is no list of objects with a function.
    """
    yield from map(read_call, call_fields(fields))
    older = fields.get("function_call")
    if older and not isinstance(older, str):
        yield replace(read_call({"function": older}), older=True)


def call_fields(fields: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The objects in ``tool_calls``.

    Raises:
        ValueError: it is no list of objects.
    """
    calls = fields.get("tool_calls") or ()
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise ValueError(  # noqa: TRY004 - a wrong argument is a ValueError here
            f"'tool_calls' must be a list, got {type(calls).__name__}"
        )
    return (fields_of(call, "a tool call") for call in cast("Sequence[object]", calls))


def read_call(call: Mapping[str, object]) -> ToolCall:
    """One call; custom tools have ``custom.input`` where functions have ``function.arguments``.

    Raises:
        ValueError: it names no function.
    """
    inner = call.get("function") or call.get("custom")
    if inner is None:
        raise ValueError("a tool call needs a 'function' with 'name' and 'arguments'")
    function = fields_of(inner, "a tool call's function")
    arguments = function.get("arguments", function.get("input", ""))
    call_id = call.get("id")
    return ToolCall(
        id=call_id if isinstance(call_id, str) else "",
        name=str(function.get("name", "")),
        arguments=arguments if isinstance(arguments, str) else canonical(arguments),
    )


def read_result(fields: Mapping[str, object], text: str) -> ToolResult:
    """The result in a tool message."""
    call_id, name = fields.get("tool_call_id"), fields.get("name")
    return ToolResult(
        call_id=call_id if isinstance(call_id, str) else "",
        text=text,
        name=name if isinstance(name, str) else "",
    )


def unread(fields: Mapping[str, object], parts: Sequence[object]) -> str:
    """All that is sent and is neither text nor image nor call nor name, as JSON; empty if there is nothing.

    Raises:
        ValueError: a key is no string.
    """
    if {type(key) for key in fields} != {str}:
        raise ValueError(f"a message must be JSON data with strings as keys, got {list(fields)}")
    extra = {key: value for key, value in fields.items() if key not in NOT_EXTRA and value}
    if parts:
        extra["content"] = list(parts)
    if not isinstance(fields.get("name") or "", str):
        extra["name"] = fields["name"]
    if not CALL_FIELDS.isdisjoint(fields):
        extra |= unread_of_calls(fields)
    return canonical(extra) if extra else ""


def unread_of_calls(fields: Mapping[str, object]) -> dict[str, object]:
    """Fields of calls beside name and arguments (signatures), calls on a result, and a ``function_call`` that is a text."""
    if fields.get("role") in RESULT_ROLES:
        return {key: fields[key] for key in sorted(CALL_FIELDS) if fields.get(key)}
    older = fields.get("function_call")
    extra: dict[str, object] = {"function_call": older} if older and isinstance(older, str) else {}
    calls = [
        {key: value for key, value in call.items() if key not in OF_A_CALL and value}
        for call in call_fields(fields)
    ]
    return {**extra, "tool_calls": calls} if any(calls) else extra


def written_content(content: object, message: Message) -> object:
    """The content with the message's text in it; parts that are no text stay, images only if the message has them."""
    text = message.results[0].text if message.results else message.text
    if not isinstance(content, Sequence) or isinstance(content, str):
        return text if text or content is not None else None
    written: list[object] = []
    for part in cast("Sequence[object]", content):
        if text_of(part) is not None:
            written += [{"type": "text", "text": text}] if text else []
            text = ""
        elif message.images or image_of(part) is None:
            written.append(copied(part))
    return [*written, {"type": "text", "text": text}] if text or not written else written


def write_calls(written: dict[str, object], calls: tuple[ToolCall, ...]) -> None:
    """Put the arguments of the calls into a message that has these calls."""
    listed = cast("list[dict[str, dict[str, object]]]", written.get("tool_calls") or [])
    for fields, call in zip(listed, calls, strict=False):
        inner = fields.get("function")
        if inner is not None and inner.get("arguments") != call.arguments:
            inner["arguments"] = call.arguments
    older = written.get("function_call")
    if isinstance(older, dict):
        written["function_call"] = {
            **cast("dict[str, object]", older),
            "arguments": calls[-1].arguments,
        }
