"""The JSON that goes over the wire: shapes, replies, and refusals in the wording of OpenAI's API."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeGuard

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""Anything that JSON can say, as ``json.loads`` gives it."""

JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object that is only read."""

ChatMessage: TypeAlias = dict[str, Any]
"""One message of a conversation as OpenAI's chat completions write it."""

CountTokens: TypeAlias = Callable[[str], int]
"""Tokens of a text."""

Cut = Literal["nowhere", "middle", "start"]
"""Where a connection is closed: at the start nothing is sent, in the middle a half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An HTTP answer; a streamed one sends each part as an event."""

    status: int = 200
    parts: tuple[bytes, ...] = ()
    streamed: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: Cut = "nowhere"


def json_reply(body: Json, *, status: int = 200, cut: Cut = "nowhere") -> Reply:
    """A reply with a JSON body."""
    return Reply(status=status, parts=(json.dumps(body).encode(),), cut=cut)


def event_reply(events: Sequence[Json], *, cut: Cut = "nowhere") -> Reply:
    """A reply that streams these events and OpenAI's end mark."""
    sent = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    return Reply(parts=(*sent, b"data: [DONE]\n\n"), streamed=True, cut=cut)


class ApiError(Exception):
    """A request that the API refuses; ``kind`` is OpenAI's ``type``."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        self.status = status
        self.message = message
        named: dict[str, Json] = {"message": message, "type": kind}
        self.error: dict[str, Json] = {**named, "param": param, "code": code}
        super().__init__(message)

    def reply(self) -> Reply:
        """The refusal as it is sent."""
        return json_reply({"error": self.error}, status=self.status)


def is_object_list(value: Json) -> TypeGuard[list[dict[str, Json]]]:
    """Whether a JSON value is a list of objects."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
