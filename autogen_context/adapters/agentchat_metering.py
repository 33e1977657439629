"""A model client that tells a context what only a client sees: system prompt, tools, and the bill.

Promise: every request goes out as the agent made it, or, where what stands around the context was not known when it
was prepared, prepared once more with that; a bill is recorded only for the request that the context prepared.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from autogen_agentchat.utils import remove_images
from autogen_core import ComponentModel
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelCapabilities,  # pyright: ignore[reportDeprecated]  # abstract in the base class
    ModelInfo,
    RequestUsage,
)
from autogen_core.tools import Tool, ToolSchema
from pydantic import BaseModel
from typing_extensions import override

from autogen_context.adapters.agentchat_context import ManagedChatCompletionContext
from autogen_context.adapters.agentchat_envelope import envelope_around
from autogen_context.manager.prepared import Prepared

Tools = Sequence[Tool | ToolSchema]
Request = Sequence[LLMMessage]


class MeteredChatCompletionClient(ChatCompletionClient):
    """A client for the one agent that has this context; it does what the client within does.

    A request is the context's if it is system messages and then what the context handed out last (without its images, for
    a model that has no vision), and nothing else. Others (another agent's, a team's selector, a question with something
    added) go through untouched and are not recorded. Neither are answers from a cache, and streams without usage
    (OpenAI's: ``stream_options={"include_usage": True}`` in the client's arguments).

    Args:
        client: the client that is called.
        context: the ``model_context`` of the same agent.
    """

    component_type = "model"

    def __init__(self, client: ChatCompletionClient, context: ManagedChatCompletionContext) -> None:
        self._client = client
        self._context = context

    @override
    async def create(self, messages: Request, *, tools: Tools = (), **options: Any) -> CreateResult:
        """Send a request, within the window if it is the context's.

        Raises:
            ContextWindowExceeded: with system prompt and tools, what must stay does not fit.
        """
        request, prepared = await self._measured(messages, tools, options)
        result = await self._client.create(request, tools=tools, **options)
        self._record(prepared, result)
        return result

    @override
    async def create_stream(
        self, messages: Request, *, tools: Tools = (), **options: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Send a request, within the window if it is the context's; chunks of text, then the result.

        Raises:
            ContextWindowExceeded: with system prompt and tools, what must stay does not fit.
        """
        request, prepared = await self._measured(messages, tools, options)
        async for chunk in self._client.create_stream(request, tools=tools, **options):
            if isinstance(chunk, CreateResult):
                self._record(prepared, chunk)
            yield chunk

    async def _measured(
        self, request: Request, tools: Tools, options: Mapping[str, Any]
    ) -> tuple[Request, Prepared[LLMMessage] | None]:
        """The request to send, and how it was prepared; ``None`` if it is not the context's."""
        context = self._context
        around = envelope_around(
            self._shown(context.handed_out), request, [*tools, *answer_schema(options)]
        )
        if around is None:
            return request, None
        if around != context.envelope:
            context.envelope = around
            request = [*around.system, *self._shown(await context.get_messages())]
        return request, context.last_prepared

    def _shown(self, messages: Request) -> Request:
        """Messages as an agent sends them to this model."""
        return messages if self._client.model_info["vision"] else remove_images(list(messages))

    def _record(self, prepared: Prepared[LLMMessage] | None, result: CreateResult) -> None:
        billed = result.usage.prompt_tokens
        if prepared is not None and billed and not result.cached:
            self._context.manager.record_usage(prepared, prompt_tokens=billed)

    @override
    async def close(self) -> None:
        """Close the client within."""
        await self._client.close()

    @override
    def actual_usage(self) -> RequestUsage:
        """What the client within was billed."""
        return self._client.actual_usage()

    @override
    def total_usage(self) -> RequestUsage:
        """What the client within used in all."""
        return self._client.total_usage()

    @override
    def count_tokens(self, messages: Request, *, tools: Tools = ()) -> int:
        """Tokens by the count of the client within."""
        return self._client.count_tokens(messages, tools=tools)

    @override
    def remaining_tokens(self, messages: Request, *, tools: Tools = ()) -> int:
        """Tokens left by the count of the client within."""
        return self._client.remaining_tokens(messages, tools=tools)

    @property
    @override
    def capabilities(self) -> ModelCapabilities:  # pyright: ignore[reportDeprecated]  # abstract in the base class
        """What the client within says of its model, in an older form."""
        return self._client.capabilities

    @property
    @override
    def model_info(self) -> ModelInfo:
        """What the client within says of its model."""
        return self._client.model_info

    @override
    def dump_component(self) -> ComponentModel:
        """The client within: a context cannot be named in a component, so an agent that is loaded is not metered."""
        return self._client.dump_component()


def answer_schema(options: Mapping[str, Any]) -> Sequence[ToolSchema]:
    """The schema that an answer must have, which a provider counts as it counts a tool's."""
    wanted: object = options.get("json_output")
    if not (isinstance(wanted, type) and issubclass(wanted, BaseModel)):
        return ()
    parameters: Any = (
        wanted.model_json_schema()
    )  # AutoGen's type of it names fewer keys than JSON schema has
    return (ToolSchema(name=wanted.__name__, parameters=parameters),)


def model_of(client: ChatCompletionClient) -> str:
    """The name of a client's model; empty where the client has no declarative form that says it."""
    try:
        declared: Mapping[str, object] = client.dump_component().config
    except NotImplementedError:
        return ""
    name = declared.get("model")
    return name if isinstance(name, str) else ""
