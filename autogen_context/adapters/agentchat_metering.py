"""A model client that tells a context what only a client sees: system prompt, tools, and the bill.

Promise: every request goes out as the agent made it, or, where what stands around the context was not known when it
was prepared, prepared once more with that; a bill is recorded only for the request that the context prepared.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
from typing_extensions import override

from autogen_context.adapters.agentchat_context import ManagedChatCompletionContext
from autogen_context.adapters.agentchat_envelope import envelope_around
from autogen_context.config.config import ContextConfig
from autogen_context.models.completion import ModelClient
from autogen_context.models.embedder import WarmVectors
from autogen_context.session.prepared import Prepared

if TYPE_CHECKING:
    from autogen_context.cache.originals import OriginalTier
    from autogen_context.compressor.compressor import Compressor
    from autogen_context.project.file_changes import FileChangeTracker
    from autogen_context.project.project import ProjectContext
    from autogen_context.triggers.intent_model import AskIntent

Tools = Sequence[Tool | ToolSchema]
Request = Sequence[LLMMessage]


def managed(  # noqa: PLR0913 - what a manager can be made of
    client: ChatCompletionClient,
    *,
    window_tokens: int | None = None,
    config: ContextConfig | None = None,
    vectors: WarmVectors | None = None,
    compressor: "Compressor | None" = None,
    model_client: ChatCompletionClient | ModelClient | None = None,
    intents: "AskIntent | None" = None,
    original_store: "OriginalTier | None" = None,
    files: "FileChangeTracker | None" = None,
    project: "ProjectContext | None" = None,
) -> tuple["MeteredChatCompletionClient", ManagedChatCompletionContext]:
    """A client and a context for one agent, from what the client says of its model.

    Nothing has to be described: the client sees the agent's system prompt and tools, so that they are measured, and the
    bills, which make the count exact. A model that takes one system message alone gets later ones as the user's.

    Args:
        client: the agent's model client.
        window_tokens: the most input tokens a request may have; from the model's limits where left out.
        config: all settings; they win over what the client says, ``window_tokens`` wins over them.
        vectors: as for the context.
        compressor: likewise.
        model_client: likewise; the agent's own client, or a cheaper one.
        intents: likewise.
        original_store: likewise.
        files: likewise.
        project: likewise.

    Returns:
        ``model_client`` and ``model_context`` of the agent.

    Raises:
        ValueError: a setting makes no sense; names it, its value and the way out.
    """
    said: dict[str, Any] = {
        "model": model_of(client),
        "single_system": not client.model_info.get("multiple_system_messages", False),
        "reserve_tokens": 0,
    }
    chosen = config.model_dump(exclude_unset=True) if config else {}
    context = ManagedChatCompletionContext(
        window_tokens=window_tokens,
        config=ContextConfig(**{**said, **chosen}),
        vectors=vectors,
        compressor=compressor,
        model_client=model_client,
        intents=intents,
        original_store=original_store,
        files=files,
        project=project,
    )
    return MeteredChatCompletionClient(client, context), context


class MeteredChatCompletionClient(ChatCompletionClient):
    """A client for the one agent that has this context; it does what the client within does.

    A request is the context's if it is system messages and then what the context handed out last, the same objects, and
    nothing else. Others (another agent's, a team's selector, a question with something added, images taken out for a
    model without vision) go through untouched and are not recorded. Neither are answers from a cache, and streams
    without usage (OpenAI's: ``stream_options={"include_usage": True}`` in the client's arguments).

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
        request, prepared = await self._measured(messages, tools)
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
        request, prepared = await self._measured(messages, tools)
        async for chunk in self._client.create_stream(request, tools=tools, **options):
            if isinstance(chunk, CreateResult):
                self._record(prepared, chunk)
            yield chunk

    async def _measured(
        self, request: Request, tools: Tools
    ) -> tuple[Request, Prepared[LLMMessage] | None]:
        """The request to send, and how it was prepared; ``None`` if it is not the context's."""
        context = self._context
        around = envelope_around(context.handed_out, request, tools)
        if around is None:
            return request, None
        if around != context.envelope:
            context.envelope = around
            request = [*around.system, *await context.get_messages()]
        return request, context.last_prepared

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


def model_of(client: ChatCompletionClient) -> str:
    """The name of a client's model; empty where the client has no declarative form that says it."""
    try:
        declared: Mapping[str, object] = client.dump_component().config
    except NotImplementedError:
        return ""
    name = declared.get("model")
    return name if isinstance(name, str) else ""
