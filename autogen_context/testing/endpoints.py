"""What the server answers when nothing goes wrong on purpose.

Promise: a request that the API would refuse raises ``ApiError`` and costs no step of the script.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autogen_context.testing.chat_api import completion, completion_events
from autogen_context.testing.chat_rules import check_chat, check_window
from autogen_context.testing.embedding_api import embeddings
from autogen_context.testing.script import ScriptedModel
from autogen_context.testing.shapes import ChatMessage, Json, JsonObject
from autogen_context.testing.transport import Arrival
from autogen_context.testing.usage import tools_tokens
from autogen_context.testing.wire import ApiError, Reply, event_reply, json_reply

CHAT_PATH = "/v1/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The API over a scripted model.

    Attributes:
        model: what answers, and how tokens are counted.
        window_tokens: the most tokens that a request may have; ``None`` for no limit.
        strict_roles: refuse also what strict chat templates refuse.
        model_names: the models that are listed.
    """

    model: ScriptedModel
    window_tokens: int | None
    strict_roles: bool
    model_names: tuple[str, ...]

    def reply(self, arrival: Arrival, body: JsonObject) -> Reply:
        """Answer one request.

        Raises:
            ApiError: the API refuses it.
            ScriptEnded: no step is left.
        """
        match (arrival.method, arrival.path):
            case ("POST", "/v1/chat/completions"):
                return self._chat(body)
            case ("POST", "/v1/embeddings"):
                return json_reply(embeddings(body, count=self.model.count))
            case ("GET", "/v1/models"):
                return json_reply(self._models())
            case (method, path):
                raise ApiError(f"Invalid URL ({method} {path})", status=404)

    def _chat(self, body: JsonObject) -> Reply:
        model = body.get("model")
        if not isinstance(model, str):
            raise ApiError("you must provide a model parameter")
        check_chat(body.get("messages"), strict_roles=self.strict_roles)
        messages, tools = objects(body.get("messages")), objects(body.get("tools"))
        self._check_window(messages, tools)
        answer = self.model.answer(messages, tools=tools, model=model)
        if body.get("stream"):
            include_usage = _wants_usage(body)
            return event_reply(completion_events(answer, model=model, include_usage=include_usage))
        return json_reply(completion(answer, model=model))

    def _check_window(self, messages: Sequence[ChatMessage], tools: Sequence[ChatMessage]) -> None:
        if self.window_tokens is not None:
            check_window(
                prompt_tokens=self.model.prompt_tokens(messages, tools=tools),
                tool_tokens=tools_tokens(tools, self.model.count),
                window_tokens=self.window_tokens,
            )

    def _models(self) -> Json:
        """The list of models; ``max_model_len`` is where vLLM puts the context length."""
        length: Mapping[str, Json] = (
            {} if self.window_tokens is None else {"max_model_len": self.window_tokens}
        )
        rows: list[Json] = [
            {"id": name, "object": "model", "created": 0, "owned_by": "script", **length}
            for name in self.model_names
        ]
        return {"object": "list", "data": rows}


def json_body(arrival: Arrival) -> dict[str, Json]:
    """The JSON object that a request carries; a ``GET`` carries an empty one.

    Raises:
        ApiError: the body is no JSON object.
    """
    if arrival.method == "GET":
        return {}
    try:
        body: Json = json.loads(arrival.body)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ApiError("We could not parse the JSON body of your request.")
    return body


def objects(value: Json) -> list[ChatMessage]:
    """The objects in a list; nothing where there is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _wants_usage(body: JsonObject) -> bool:
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("include_usage"))
