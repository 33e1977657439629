"""The engine's own form of a message, independent of the host.

Promise: a ``Message`` is immutable and shares no mutable object with the host. The host's object is the *payload*; a
``HostFormat`` converts payloads to messages and back, and no other code reads a payload.
"""

from base64 import b32encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Literal, Protocol, TypeVar

from pydantic import InstanceOf

from autogen_context.messages.canonical import canonical_text

Part = TypeVar("Part")
Text = InstanceOf[str]
"""Any string, lone surrogates included, which pydantic's own ``str`` refuses and tools do return."""

HANDLE_CHARS = 26
Origin = Literal["system", "person", "agent", "program", "unknown", "doubtful"]
"""Whose words the text of a message is. `agent`: the model's, or another agent's; `program`: a tool's, or output in the user
role; `unknown`: of an author in the user role of whom nobody says whether it is a person; `doubtful`: a person's or a program's."""
SYSTEM_ROLES = frozenset({"system", "developer"})
MODEL_ROLES = frozenset({"assistant"})  # in which a host hands over what its model wrote


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call; ``older`` marks OpenAI's older form, ``function_call``."""

    id: Text  # referenced by its result; may be empty
    name: Text
    arguments: Text  # as the host sent them, normally JSON
    older: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of a tool call; with an empty ``call_id`` it is paired by position."""

    call_id: Text
    text: Text
    name: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image in a message; a size in pixels of 0 means unknown."""

    width: int = 0
    height: int = 0
    detail: Text = "auto"
    digest: Text = ""  # of its content, if ``snapshot`` relies on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Text  # system, developer, user, assistant, tool, or another one of the host
    text: Text = ""  # all text of the content, parts joined with a newline
    calls: tuple[ToolCall, ...] = ()  # of an assistant message
    results: tuple[ToolResult, ...] = ()  # of a tool message; some hosts put several into one
    name: Text = ""  # of the author, if the host sends one
    images: tuple[Image, ...] = ()
    extra: Text = ""  # other provider fields as JSON; counted, never changed
    own: bool = False  # written by the engine, not derived from a message of the host
    text_parts: int = 1  # number of text parts; several may cost more tokens than one
    intensity: float = 0.0  # emotional intensity, 0..1, if the host reports one
    author: Origin | Literal[""] = field(default="", repr=False, compare=False)
    """Whose words its text is, if the host says so; no part of its content."""
    origin: Origin | Literal[""] = field(default="", repr=False, compare=False)
    """Of a message in the user role: whose words its text is, once a conversation has found it out by ``origin_of``."""


class HostFormat(Protocol):
    """Reads and writes the messages of one host; formats inherit what recognises a message.

    Attributes:
        own_name: author name that the host gives to user messages composed by the engine; may be empty.
        later_system: whether a system message behind others is sent in its role, at its place.
    """

    own_name: str = ""
    later_system: bool = True

    def read(self, payload: object, /) -> Message:
        """Convert a payload to a message; ``ValueError`` with the reason if it is no message of this host."""
        ...

    def snapshot(self, payload: object, /) -> object:
        """Return a private copy that compares equal for equal content; by default the message, which has all that is sent."""
        return self.read(payload)

    def digest(self, snapshot: object, /) -> bytes:
        """Return 16 bytes that are equal exactly for snapshots of equal content."""
        return content_digest(canonical_text(snapshot))

    def rewrite(self, payload: object, message: Message, /) -> object:
        """Return a new payload with the texts, calls, results and images of ``message`` and the other fields of ``payload``."""
        ...

    def compose(self, message: Message, /) -> object:
        """Return a payload for a message written by the engine, such as a notice or a missing result."""
        ...


def content_digest(*parts: str | bytes, key: bytes = b"") -> bytes:
    """Hash these parts in order to 16 bytes; accepts any string, lone surrogates included.

    With a ``key`` of at most 64 bytes nobody without it can make or foresee the digest.
    """
    state = blake2b(digest_size=16, key=key)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little") + data)
    return state.digest()


def handle_of(content: Sequence[Message] | str, *, key: bytes = b"") -> str:
    """Return the handle under which messages, or a tool's result, are kept and asked back: 128 bits in 26 letters and digits.

    Two contents never share one, and with a ``key`` nobody without it can foresee one. Of the digits there are 2 to 7, since
    the others are read as letters. It is a name that is looked up as it was given: how it is made may change.
    """
    parts = ("result", content) if isinstance(content, str) else ("messages", repr(content))
    digest = content_digest(*parts, key=key)
    return b32encode(digest).decode()[:HANDLE_CHARS].lower()


def with_text(
    parts: Sequence[Part],
    text: str,
    *,
    is_text: Callable[[Part], bool],
    as_text: Callable[[str], Part],
) -> list[Part]:
    """Return the parts of a content with one text in the place of the first text part; an empty one only if it is alone."""
    at = next((i for i, part in enumerate(parts) if is_text(part)), len(parts))
    others = [part for part in parts if not is_text(part)]
    return [*others[:at], *([as_text(text)] if text or not others else []), *others[at:]]


def image_note(images: int) -> str:
    """Return the text that replaces this many images."""
    return "[image left out]" if images == 1 else f"[{images} images left out]"


def as_message(text: str) -> Message:
    """Return a text as a user message, the role that every chat template accepts at that place."""
    return Message(role="user", text=text, own=True)


def without_images(message: Message) -> Message:
    """Return the message with its images replaced by a note in its text."""
    if not message.images:
        return message
    note = image_note(len(message.images))
    if not message.results:
        return replace(message, images=(), text=f"{message.text}\n{note}".strip())
    *others, last = message.results
    noted = replace(last, text=f"{last.text}\n{note}".strip())
    return replace(message, images=(), results=(*others, noted))


def chars_of(message: Message) -> int:
    """Return the characters of a message: of its texts, calls and results."""
    texts = [message.text, message.extra, *(call.arguments for call in message.calls)]
    return sum(map(len, (*texts, *(result.text for result in message.results))))


def joined_text(messages: Sequence[Message]) -> str:
    """Join all texts, calls and results of messages with newlines."""
    lines: list[str] = []
    for message in messages:
        lines.extend([message.text] if message.text else [])
        lines.extend(f"{call.name} {call.arguments}" for call in message.calls)
        lines.extend(result.text for result in message.results)
    return "\n".join(lines)
