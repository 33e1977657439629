"""An OpenAI-compatible loopback server that answers from a script and rejects the requests OpenAI rejects.

Promise: every request is recorded before the reply is sent; rejection depends only on the request and uses no step of
the script; nothing keeps running after the ``with`` block.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from typing_extensions import override

from autogen_context.testing.answers import Fault, completion, completion_events, faulty_reply
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.embeddings import embeddings
from autogen_context.testing.listening import Answering, ListeningServer, json_object
from autogen_context.testing.record import ServedRequest
from autogen_context.testing.responses import RESPONSES_PATH, StoredResponses
from autogen_context.testing.script import Answer, ScriptedModel, ScriptEnded
from autogen_context.testing.transport import ReceivedRequest
from autogen_context.testing.usage import tools_tokens
from autogen_context.testing.wire import (
    ApiError,
    ChatMessage,
    Json,
    JsonObject,
    Reply,
    event_reply,
    json_reply,
)

CHAT_PATH = "/v1/chat/completions"


class LoopbackServer(ListeningServer[ServedRequest]):
    """A server for ``/v1/chat/completions``, ``/v1/responses`` (not streamed), ``/v1/embeddings`` and ``/v1/models``, used in ``with`` or ``async with``.

    Args:
        model: the model that answers and counts tokens.
        window_tokens: maximum tokens of a request; ``None`` for no limit.
        strict_roles: also reject what strict chat templates reject: a second system message, or user and assistant messages
            that do not alternate.
        faults: faults by request number, counted from 1 across all endpoints.
        model_names: the models that ``/v1/models`` lists; requests may name any model.

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
        model_names: Sequence[str] = ("scripted-model",),
    ) -> None:
        if window_tokens is not None and window_tokens < 1:
            raise ValueError(f"window_tokens: 1 or more, or None for no limit, not {window_tokens}")
        super().__init__(ServedRequest, faults)
        self._model = model
        self._window_tokens = window_tokens
        self._strict_roles = strict_roles
        self._model_names = tuple(model_names)
        self._stored = StoredResponses()

    @property
    def base_url(self) -> str:
        """The ``base_url`` for a client, with ``/v1``; raises ``RuntimeError`` if the server is not running."""
        return f"{self.origin}/v1"

    @override
    def _read(
        self, arrival: ReceivedRequest, record: ServedRequest
    ) -> tuple[ServedRequest, Answering[ServedRequest]]:
        body = json_object(arrival.body) if arrival.method != "GET" else {}
        if body is None:
            raise ApiError("We could not parse the JSON body of your request.")
        record = replace(record, body=body)
        chat = self._stored.chat_body(body) if record.path == RESPONSES_PATH else body
        if record.path in (CHAT_PATH, RESPONSES_PATH):
            messages, tools = _objects(chat.get("messages")), _objects(chat.get("tools"))
            tokens = self._model.prompt_tokens(messages, tools=tools)
            record = replace(record, messages=messages, tools=tools, prompt_tokens=tokens)
            record = replace(record, streamed=bool(body.get("stream")))

        def answer(known: ServedRequest) -> tuple[ServedRequest, Reply]:
            reply = self._faulty(known, arrival) or self._reply(arrival, known, body, chat)
            return known, reply

        return record, answer

    @override
    def _refused(self, record: ServedRequest, failure: Exception) -> tuple[ServedRequest, Reply]:
        refused = _refusal(failure)
        return replace(record, error=refused.message), refused.reply()

    def _faulty(self, record: ServedRequest, arrival: ReceivedRequest) -> Reply | None:
        """Return the reply for the request's fault, or ``None`` to answer normally; a slow answer is delayed here."""
        if record.fault is None:
            return None
        if record.fault.kind == "slow":
            return self._delayed(record.fault, arrival)
        return faulty_reply(record.fault, chat=record.path == CHAT_PATH, streamed=record.streamed)

    def _reply(
        self, arrival: ReceivedRequest, record: ServedRequest, body: JsonObject, chat: JsonObject
    ) -> Reply:
        match (arrival.method, arrival.path):
            case ("POST", "/v1/chat/completions"):
                return self._chat(record, body)
            case ("POST", "/v1/responses"):
                if body.get("stream"):
                    raise ApiError("streamed responses are not served; use chat completions")
                return json_reply(self._stored.response(self._answer(record, chat), body, chat))
            case ("POST", "/v1/embeddings"):
                return json_reply(embeddings(body, count=self._model.count))
            case ("GET", "/v1/models"):
                row: JsonObject = {"object": "model", "created": 0, "owned_by": "script"}
                if self._window_tokens is not None:
                    row = {**row, "max_model_len": self._window_tokens}  # as in vLLM
                rows: list[Json] = [{"id": name, **row} for name in self._model_names]
                return json_reply({"object": "list", "data": rows})
            case (method, path):
                raise ApiError(f"Invalid URL ({method} {path})", status=404)

    def _chat(self, record: ServedRequest, body: JsonObject) -> Reply:
        answer, options = self._answer(record, body), body.get("stream_options")
        model = str(body.get("model"))
        if not record.streamed:
            return json_reply(completion(answer, model=model))
        wants_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        return event_reply(completion_events(answer, model=model, include_usage=wants_usage))

    def _answer(self, record: ServedRequest, body: JsonObject) -> Answer:
        """Return the model's answer to a valid request that fits; raise ``ApiError`` for any other."""
        model = body.get("model")
        if not isinstance(model, str):
            raise ApiError("you must provide a model parameter")
        check_chat(body.get("messages"), strict_roles=self._strict_roles)
        if self._window_tokens is not None and record.prompt_tokens > self._window_tokens:
            raise self._too_long(record)
        return self._model.answer(record.messages, tools=record.tools, model=model)

    def _too_long(self, record: ServedRequest) -> ApiError:
        total, schemas = record.prompt_tokens, tools_tokens(record.tools, self._model.count)
        split = f" ({total - schemas} in the messages, {schemas} in the functions)"
        return ApiError(
            f"This model's maximum context length is {self._window_tokens} tokens. However, your messages resulted in "
            f"{total} tokens{split if schemas else ''}. Please reduce the length of the messages"
            f"{' or functions' if schemas else ''}.",
            param="messages",
            code="context_length_exceeded",
        )


def _objects(value: Json) -> list[ChatMessage]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _refusal(failure: Exception) -> ApiError:
    """Return the error to send; a failing script gives status 400, since clients retry server errors."""
    if isinstance(failure, ApiError):
        return failure
    if isinstance(failure, ScriptEnded):
        return ApiError(str(failure), code="script_ended")
    return ApiError(f"the script or the count failed: {failure!r}", code="script_failed")
