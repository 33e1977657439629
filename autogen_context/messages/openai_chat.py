"""Read and write messages in OpenAI's chat format, as dicts or objects of the client library.

Promise: invalid messages are refused with a reason, and so are those of other formats. Unknown fields and data in content parts
are counted and returned untouched. A rewritten message keeps all other fields, and copies share no mutable object.

Source: https://platform.openai.com/docs/api-reference/chat (read 2026-11). ``function_call`` and the role ``function`` are
its older form, read as a call and a result without id. A client object is anything with ``model_dump``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from autogen_context.argument import listed, require_several
from autogen_context.errors import InvalidTranscript
from autogen_context.messages.canonical import PLAIN, Fields, canonical, canonical_text
from autogen_context.messages.foreign import refuse_foreign, refuse_part
from autogen_context.messages.message import (
    Image,
    Message,
    ToolCall,
    ToolResult,
    content_digest,
    with_text,
)

RESULT_ROLES = frozenset({"tool", "function"})
CALL_FIELDS = frozenset({"tool_calls", "function_call"})
# Fields that are read, and metadata, which is not sent to providers.
NOT_EXTRA = CALL_FIELDS | {"role", "content", "name", "tool_call_id", "metadata"}
READ_KEYS = NOT_EXTRA - CALL_FIELDS
OF_A_CALL = frozenset({"id", "type", "index", "function", "custom"})
IMAGE_TYPES = frozenset({"image_url", "input_image", "image"})


class OpenAIChat:
    """The host format of plain OpenAI message lists."""

    own_name = ""
    later_system = True

    def read(self, payload: object, /) -> Message:
        """Convert a dict or client object; ``ValueError`` if a field is missing or of the wrong type."""
        fields = fields_of(payload)
        role = fields.get("role")
        if not (isinstance(role, str) and role and fields.keys() <= NOT_EXTRA):
            refuse_foreign(fields)
            role = str(fields["role"])
        content = read_content(fields.get("content"))
        is_result = role in RESULT_ROLES
        has_calls = not is_result and not CALL_FIELDS.isdisjoint(fields)
        name, call_id = text_in(fields, "name"), text_in(fields, "tool_call_id")
        result = ToolResult(call_id=call_id, text=content.text, name=name) if is_result else None
        return Message(
            role=role,
            text="" if result else content.text,
            calls=read_calls(fields) if has_calls else (),
            results=(result,) if result else (),
            name="" if result else name,
            images=content.images,
            extra=unread(fields, content.other),
            text_parts=content.text_parts,
            intensity=intensity_of(fields) if "metadata" in fields else 0.0,
        )

    def snapshot(self, payload: object, /) -> object:
        """Return a private deep copy; strings are shared, since they are immutable."""
        return copied(fields_of(payload))

    def digest(self, snapshot: object, /) -> bytes:
        """Hash a snapshot to 16 bytes, independent of field order."""
        return content_digest(canonical_text(fields_of(snapshot)))

    def rewrite(self, payload: object, message: Message, /) -> dict[str, object]:
        """Return a new dict with the texts of ``message`` and all other fields of ``payload``."""
        fields = fields_of(payload)
        if fields.get("role") != message.role:
            return self.compose(message)
        written = {key: copied(value) for key, value in fields.items()}
        written["content"] = written_content(fields.get("content"), message)
        known_id = text_in(fields, "tool_call_id")
        call_id = message.results[0].call_id if message.results else known_id
        if call_id != known_id:
            written["tool_call_id"] = call_id
            if not call_id and message.role != "tool":  # the older form has none
                del written["tool_call_id"]
        calls = cast("list[dict[str, dict[str, object]]]", written.get("tool_calls") or [])
        for each, call in zip(calls, message.calls, strict=False):
            if "function" in each:
                each["function"]["arguments"] = call.arguments
        older = written.get("function_call")
        if isinstance(older, dict) and message.calls:
            cast("dict[str, object]", older)["arguments"] = message.calls[-1].arguments
        return written

    def compose(self, message: Message, /) -> dict[str, object]:
        """Return a dict for a message of the engine, which has at most one result."""
        if not message.results:
            return {"role": message.role, "content": message.text}
        result = message.results[0]
        if message.role == "function":
            return {"role": "function", "name": result.name, "content": result.text}
        return {"role": "tool", "tool_call_id": result.call_id, "content": result.text}


def messages_in(given: Iterable[object]) -> Iterator[Message]:
    """Convert messages in OpenAI's format, or ``Message`` objects; ``InvalidTranscript`` for anything else."""
    require_several("messages", given, give="a list of messages")
    for index, message in enumerate(given):
        try:
            yield message if isinstance(message, Message) else OpenAIChat().read(message)
        except (ValueError, RecursionError) as error:
            raise InvalidTranscript(index=index, reason=str(error)) from error


def intensity_of(fields: Fields) -> float:
    """Read ``metadata.emotion_data.emotional_intensity``, 0..1; 0 if there is none."""
    metadata = object_fields(fields.get("metadata")) or {}
    emotion = object_fields(metadata.get("emotion_data")) or {}
    value = emotion.get("emotional_intensity")
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return float(cast("float", value)) if known else 0.0


class ContentParts(NamedTuple):
    """The parts of a content: texts joined by newlines and their number, images, all other parts."""

    text: str = ""
    text_parts: int = 1
    images: tuple[Image, ...] = ()
    other: tuple[object, ...] = ()


def read_content(content: object) -> ContentParts:
    """Split a content into text, images and other parts."""
    if content is None or isinstance(content, str):
        return ContentParts(content or "")
    texts: list[str] = []
    images: list[Image] = []
    other: list[object] = []
    for part in listed("content", content, give="a string, a list of parts or null"):
        if (text := text_of(part)) is not None and is_plain_text(part):
            texts.append(text)
        elif is_image(part):
            fields = object_fields(part) or {}
            url = object_fields(fields.get("image_url")) or {}
            detail = url.get("detail", fields.get("detail"))
            images.append(Image(detail=detail if isinstance(detail, str) else "auto"))
        else:
            refuse_part(object_fields(part) or {})
            other.append(part)
    return ContentParts("\n".join(texts), max(1, len(texts)), tuple(images), tuple(other))


def text_of(part: object) -> str | None:
    """Return the text of a text part, ``None`` for other parts."""
    if isinstance(part, str):
        return part
    fields = object_fields(part) or {}
    text = fields.get("text")
    is_text = fields.get("type") in ("text", "input_text", "output_text", None)
    return text if isinstance(text, str) and is_text else None


def is_plain_text(part: object) -> bool:
    """Return True if a text part says that it is one, or has nothing but its text and how to cache it."""
    fields = object_fields(part)
    return fields is None or "type" in fields or fields.keys() <= {"text", "cache_control"}


def is_image(part: object) -> bool:
    """Whether a part is an image."""
    return (object_fields(part) or {}).get("type") in IMAGE_TYPES


def read_calls(fields: Fields) -> tuple[ToolCall, ...]:
    """Return the calls of an assistant message in order; a ``function_call`` that is a string is ignored."""
    calls = tuple(map(read_call, call_fields(fields)))
    older = fields.get("function_call")
    if not older or isinstance(older, str):
        return calls
    return (*calls, replace(read_call({"function": older}), older=True))


def call_fields(fields: Fields) -> list[Fields]:
    """Return the objects in ``tool_calls``."""
    calls = fields.get("tool_calls")
    if not calls:
        return []
    given = listed("tool_calls", calls, give="a list of calls")
    return [fields_of(call, "a tool call") for call in given]


def read_call(call: Fields) -> ToolCall:
    """Read one call; custom tools use ``custom.input`` instead of ``function.arguments``."""
    inner = call.get("function") or call.get("custom")
    if inner is None:
        raise ValueError("a tool call needs a 'function' with 'name' and 'arguments'")
    function = fields_of(inner, "a tool call's function")
    arguments = function.get("arguments", function.get("input", ""))
    return ToolCall(
        id=text_in(call, "id"),
        name=str(function.get("name", "")),
        arguments=arguments if isinstance(arguments, str) else canonical(arguments),
    )


def unread(fields: Fields, parts: Sequence[object]) -> str:
    """Return all other fields and parts that are sent, as JSON; empty if there are none."""
    if fields.keys() <= READ_KEYS and not parts and isinstance(fields.get("name") or "", str):
        return ""
    if {type(key) for key in fields} != {str}:
        raise ValueError(f"a message must be JSON data with strings as keys, got {list(fields)}")
    extra = {key: value for key, value in fields.items() if key not in NOT_EXTRA and value}
    if parts:
        extra["content"] = list(parts)
    if not isinstance(fields.get("name") or "", str):
        extra["name"] = fields["name"]
    if CALL_FIELDS.isdisjoint(fields):
        return canonical(extra) if extra else ""
    if fields.get("role") in RESULT_ROLES:  # calls on a result
        extra |= {key: fields[key] for key in CALL_FIELDS if fields.get(key)}
    else:
        older = fields.get("function_call")
        extra |= {"function_call": older} if older and isinstance(older, str) else {}
        further = [  # fields of calls, such as signatures
            {key: value for key, value in call.items() if key not in OF_A_CALL and value}
            for call in call_fields(fields)
        ]
        extra |= {"tool_calls": further} if any(further) else {}
    return canonical(extra) if extra else ""


def written_content(content: object, message: Message) -> object:
    """Return the content with the message's text; other parts are kept, images only if the message has them."""
    text = message.results[0].text if message.results else message.text
    if not isinstance(content, Sequence) or isinstance(content, str):
        return text if text or content is not None else None
    parts = cast("Sequence[object]", content)
    return with_text(
        [copied(part) for part in parts if message.images or not is_image(part)],
        text,
        is_text=lambda part: text_of(part) is not None,
        as_text=lambda text: {"type": "text", "text": text},
    )


def text_in(fields: Fields, key: str) -> str:
    """Return a string field; empty if it is missing or no string."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def fields_of(payload: object, what: str = "a message") -> Fields:
    """Return the fields of a dict or client object; ``ValueError`` for anything else."""
    fields = object_fields(payload)
    if fields is None:
        raise ValueError(f"{what} must be a dict or a client object, got {type(payload).__name__}")
    return fields


def object_fields(value: object) -> Fields | None:
    """Return the fields of a mapping or client object, else ``None``."""
    if type(value) is dict or isinstance(value, Mapping):  # the first test is faster
        return cast("Fields", value)  # JSON objects have string keys
    dump = cast("Callable[..., Fields] | None", getattr(value, "model_dump", None))
    return dump(exclude_none=True) if callable(dump) else None


def copied(value: object) -> object:
    """Return a deep copy of dicts, lists and client objects; other values are shared."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list or kind is tuple:
        return [copied(item) for item in cast("Sequence[object]", value)]
    fields = object_fields(value)
    if fields is None:
        return value
    return {k: item if type(item) in PLAIN else copied(item) for k, item in fields.items()}
