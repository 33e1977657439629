"""What the pipeline knows of a message, whatever host it came from.

Promise: a ``Message`` is an immutable value and shares no mutable object with the host. The host's own object is called the
*payload*; a ``HostFormat`` reads payloads into messages and writes them, and no stage looks at a payload itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Protocol

from pydantic import InstanceOf

Text = InstanceOf[str]
"""Any string; what a tool returns may hold lone surrogates, which pydantic's own strings refuse."""

SYSTEM_ROLES = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call that the model asked for; an ``older`` one stands in OpenAI's older form, a ``function_call``."""

    id: Text  # by which its result names it; may be empty
    name: Text
    arguments: Text  # as the host has them, normally JSON text
    older: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What one call returned; ``call_id`` may be empty, then it is paired by position."""

    call_id: Text
    text: Text
    name: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image in a message; 0 where a size in pixels is not known."""

    width: int = 0
    height: int = 0
    detail: Text = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: Text  # system, developer, user, assistant, tool, or what else the host uses
    text: Text = ""  # all text of the content, parts joined with a newline
    calls: tuple[ToolCall, ...] = ()  # of an assistant message
    results: tuple[ToolResult, ...] = ()  # of a tool message; some hosts put all of a step in one
    name: Text = ""  # the author's, where the host sends one
    images: tuple[Image, ...] = ()
    extra: Text = ""  # provider fields that are sent along, as JSON text; counted, never changed
    own: bool = False  # whether no host ever sent it, not even with other texts
    text_parts: int = 1  # of how many parts the text is; apart they may cost more than joined
    intensity: float = 0.0  # of the emotion in it, 0..1, where the host has a model that says so


class HostFormat(Protocol):
    """How one host writes a conversation down.

    Attributes:
        own_name: the author's name under which the host sends what we compose for the user's role; may be empty.
    """

    own_name: str

    def read(self, payload: object, /) -> Message:
        """The message in a payload; a ``ValueError`` that says what is wrong where it is none of this host."""
        ...

    def snapshot(self, payload: object, /) -> object:
        """A private value, equal for payloads of equal content; it shares no mutable object with the payload."""
        ...

    def digest(self, snapshot: object, /) -> bytes:
        """16 bytes, equal exactly where the content is of which the snapshots were taken."""
        ...

    def rewrite(self, payload: object, message: Message, /) -> object:
        """A new payload with the texts, calls, results and images of ``message`` and all other fields of ``payload``."""
        ...

    def compose(self, message: Message, /) -> object:
        """A payload for a message that no host ever sent (a notice, a supplied result)."""
        ...


def content_digest(*parts: str | bytes) -> bytes:
    """16 bytes that stand for these parts in this order; any string goes, lone surrogates included."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little") + data)
    return state.digest()


def image_note(images: int) -> str:
    """What stands where so many images were."""
    return "[image left out]" if images == 1 else f"[{images} images left out]"


def without_images(message: Message) -> Message:
    """The message with a note in place of its images, where its text is read."""
    if not message.images:
        return message
    note = image_note(len(message.images))
    if not message.results:
        return replace(message, images=(), text=f"{message.text}\n{note}".strip())
    *others, last = message.results
    noted = replace(last, text=f"{last.text}\n{note}".strip())
    return replace(message, images=(), results=(*others, noted))


def joined_text(messages: Sequence[Message]) -> str:
    """Everything readable in these messages: texts, calls and results, one per line block."""
    lines: list[str] = []
    for message in messages:
        lines.extend([message.text] if message.text else [])
        lines.extend(f"{call.name} {call.arguments}" for call in message.calls)
        lines.extend(result.text for result in message.results)
    return "\n".join(lines)
