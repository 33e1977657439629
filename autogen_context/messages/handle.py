"""Handles: the names under which originals are kept and asked back.

Promise: 128 bits that depend on the content alone, so that two contents never share a handle; with a key nobody without it
can foresee one. 26 lower-case letters and digits without 0, 1, 8 and 9, which are read as letters.

Handles of earlier releases have 12 hex digits of another digest. Nothing makes or reads their parts: where a saved state or a
mark still has one, it is a name like any other, and is found as long as the state brings its original.
"""

from base64 import b32encode
from collections.abc import Sequence
from typing import Final

from autogen_context.messages.message import Message, content_digest
from autogen_context.messages.saved import messages_as_bytes

HANDLE_CHARS: Final = 26


def handle_of(content: Sequence[Message] | str, *, key: bytes = b"") -> str:
    """Return the handle of messages, or of the text of a tool's result; ``key`` has at most 64 bytes."""
    messages = (Message(role="tool", text=content),) if isinstance(content, str) else content
    digest = content_digest("handle", messages_as_bytes(messages), key=key)
    return b32encode(digest).decode()[:HANDLE_CHARS].lower()
