"""Wire format: JSON types, HTTP replies, and errors in the format of OpenAI's API."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeGuard

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""Any JSON value, as returned by ``json.loads``."""

JsonObject: TypeAlias = Mapping[str, Json]
"""A read-only JSON object."""

ChatMessage: TypeAlias = dict[str, Any]
"""A message in OpenAI's chat completions format."""

CountTokens: TypeAlias = Callable[[str], int]
"""Returns the number of tokens of a text."""

Cut = Literal["nowhere", "middle", "start"]
"""Where the connection is closed: before anything is sent, after half of the reply, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An HTTP response; ``streamed`` if its body is events."""

    status: int = 200
    body: bytes = b""
    streamed: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: Cut = "nowhere"


def json_reply(body: Json, *, status: int = 200, cut: Cut = "nowhere") -> Reply:
    """Return a reply with a JSON body."""
    return Reply(status=status, body=json.dumps(body).encode(), cut=cut)


def event_reply(events: Sequence[Json], *, cut: Cut = "nowhere") -> Reply:
    """Return a reply that streams these events, then OpenAI's ``[DONE]`` marker."""
    sent = (f"data: {data}\n\n" for data in (*map(json.dumps, events), "[DONE]"))
    return Reply(body="".join(sent).encode(), streamed=True, cut=cut)


class ApiError(Exception):
    """Raised for a request that the API rejects; ``kind`` is OpenAI's ``type``."""

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
        """Return the HTTP error response."""
        return json_reply({"error": self.error}, status=self.status)


def is_object_list(value: Json) -> TypeGuard[list[dict[str, Json]]]:
    """Return True if a JSON value is a list of objects."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
