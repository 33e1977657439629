"""What goes back over the wire: a reply, or a refusal in the shape and wording of OpenAI's API.

Promise: values only. Sending them is the transport's work.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from autogen_context.testing.shapes import Json

Cut = Literal["nowhere", "middle", "start"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An HTTP answer.

    Attributes:
        status: the HTTP status.
        parts: the body in the pieces in which it is sent; a streamed reply sends one event a piece.
        streamed: sent as server-sent events.
        headers: what is sent beside the content's type and length.
        cut: where the connection is closed; at the ``start`` nothing is sent, in the ``middle`` a half.
    """

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
    """A request that the API refuses.

    Attributes:
        status: the HTTP status.
        message: what is wrong, as OpenAI words it.
        kind: OpenAI's ``type``.
        param: the part of the request that is at fault.
        code: OpenAI's machine-readable code.
    """

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
        self.kind = kind
        self.param = param
        self.code = code
        super().__init__(message)

    def reply(self) -> Reply:
        """The refusal as it is sent."""
        error: dict[str, Json] = {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }
        return json_reply({"error": error}, status=self.status)
