"""A loopback server of Anthropic's Messages API that answers from a script, with Anthropic's rules and its prompt cache.

Promise: every request is recorded before the reply is sent, with what it was billed; rejection depends only on the request and
uses no step of the script; nothing keeps running after the ``with`` block. What is checked, and what could not be, is said in
``anthropic_rules`` and ``anthropic_cache``.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from typing_extensions import override

from autogen_context.testing.answers import Fault
from autogen_context.testing.anthropic_cache import ClaudeCache, ClaudeUsage
from autogen_context.testing.anthropic_format import (
    answer_message,
    chat_of,
    error_reply,
    faulty_reply,
    message_events,
    stream_reply,
)
from autogen_context.testing.anthropic_rules import check_request, marks_of
from autogen_context.testing.listening import Answering, ListeningServer, json_object
from autogen_context.testing.record import ServedRequest
from autogen_context.testing.script import ScriptedModel, ScriptEnded
from autogen_context.testing.transport import ReceivedRequest
from autogen_context.testing.wire import ApiError, JsonObject, Reply, json_reply

MESSAGES_PATH = "/v1/messages"
COUNT_PATH = f"{MESSAGES_PATH}/count_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedMessages(ServedRequest):
    """A request for an answer of Claude: as a chat request that means the same, and as it came.

    Attributes:
        marks: where it has ``cache_control``, such as ``messages.3.content.0``; an empty text is the request itself.
        usage: what it was billed; ``None`` if it was rejected, or had a fault.
    """

    marks: tuple[str, ...] = ()
    usage: ClaudeUsage | None = None


class AnthropicServer(ListeningServer[ServedMessages]):
    """A server for ``/v1/messages``, streamed or not, and ``/v1/messages/count_tokens``, used in ``with`` or ``async with``.

    Args:
        model: the model that answers and counts tokens; Anthropic's own tokenizer is not public.
        window_tokens: maximum tokens of a request; ``None`` for no limit.
        strict_roles: also refuse messages of one role in a row, which today's API joins.
        faults: faults by request number, counted from 1 across all endpoints.
        clock: the time in seconds, by which what is cached expires.

    Raises:
        ValueError: ``window_tokens`` is not positive.
    """

    def __init__(
        self,
        model: ScriptedModel,
        *,
        window_tokens: int | None = None,
        strict_roles: bool = False,
        faults: Mapping[int, Fault] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if window_tokens is not None and window_tokens < 1:
            raise ValueError(f"window_tokens: 1 or more, or None for no limit, not {window_tokens}")
        super().__init__(ServedMessages, faults)
        self._model = model
        self._window_tokens = window_tokens
        self._strict_roles = strict_roles
        self._cache = ClaudeCache(model.count, clock)

    @property
    def base_url(self) -> str:
        """The ``base_url`` for a client, without ``/v1``; raises ``RuntimeError`` if the server is not running."""
        return self.origin

    @override
    def _read(
        self, arrival: ReceivedRequest, record: ServedMessages
    ) -> tuple[ServedMessages, Answering[ServedMessages]]:
        if (arrival.method, arrival.path) not in {("POST", MESSAGES_PATH), ("POST", COUNT_PATH)}:
            raise ApiError(f"{arrival.method} {arrival.path}", status=404)
        body = json_object(arrival.body)
        if body is None:
            raise ApiError("The request body is not valid JSON")
        messages, tools = chat_of(body)
        marks = [place for place, _, _ in marks_of(body)]
        record = replace(
            record,
            body=body,
            messages=messages,
            tools=tools,
            streamed=bool(body.get("stream")),
            marks=(*marks, *([""] if body.get("cache_control") else [])),
            prompt_tokens=self._cache.prompt_tokens(body),
        )

        def answer(known: ServedMessages) -> tuple[ServedMessages, Reply]:
            reply = self._faulty(known, arrival)
            return (known, reply) if reply else self._reply(known, body)

        return record, answer

    @override
    def _refused(self, record: ServedMessages, failure: Exception) -> tuple[ServedMessages, Reply]:
        refused = failure
        if isinstance(failure, ScriptEnded):
            refused = ApiError(str(failure))
        if not isinstance(refused, ApiError):
            refused = ApiError(f"the script or the count failed: {failure!r}")
        return replace(record, error=refused.message), error_reply(refused)

    def _faulty(self, record: ServedMessages, arrival: ReceivedRequest) -> Reply | None:
        """Return the reply for the request's fault, or ``None`` to answer normally; a slow answer is delayed here."""
        if record.fault is None:
            return None
        if record.fault.kind == "slow":
            return self._delayed(record.fault, arrival)
        return faulty_reply(record.fault, streamed=record.streamed)

    def _reply(self, record: ServedMessages, body: JsonObject) -> tuple[ServedMessages, Reply]:
        if record.path == COUNT_PATH:
            return record, json_reply({"input_tokens": record.prompt_tokens})
        check_request(body, strict_roles=self._strict_roles)
        most = self._window_tokens
        if most is not None and record.prompt_tokens > most:
            raise ApiError(f"prompt is too long: {record.prompt_tokens} tokens > {most} maximum")
        model = str(body["model"])
        answer = self._model.answer(record.messages, tools=record.tools, model=model)
        billed = self._cache.billed(body)
        usage = replace(billed, output_tokens=answer.usage.completion_tokens)
        record = replace(record, usage=usage)
        if record.streamed:
            return record, stream_reply([*message_events(answer, usage, model=model)])
        return record, json_reply(answer_message(answer, usage, model=model))
