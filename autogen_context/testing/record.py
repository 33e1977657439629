"""What a loopback server records of a request."""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_context.testing.answers import Fault
from autogen_context.testing.wire import ChatMessage, JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRequest:
    """A request received by the server; ``status`` is 499 if the client disconnected before a slow answer."""

    number: int
    path: str
    status: int = 200
    body: JsonObject | None = None  # the request as it came
    error: str = ""  # the API's error message, if the request was rejected
    messages: Sequence[ChatMessage] = ()
    tools: Sequence[ChatMessage] = ()
    prompt_tokens: int = 0  # of the whole request, by the model's counter
    streamed: bool = False
    fault: Fault | None = None
