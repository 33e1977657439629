"""Any messages of autogen-agentchat, and its own client against a server that is as strict as OpenAI's."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from autogen_core import FunctionCall, Image
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient
from hypothesis import strategies as st
from PIL import Image as Pixels

from autogen_context.testing import LoopbackServer
from support.logs import MODEL, NOWHERE, WINDOW, Reply, strict_server

TEXTS = st.text("ab \n{}", max_size=6) | st.integers(1, 90).map("word ".__mul__)
IDS = st.sampled_from(["1", "2", ""])
IMAGES = st.integers(1, 3).map(lambda size: Image(Pixels.new("RGB", (size, 1))))
NAMES = st.sampled_from(["user", "coder", "autogen_context"])
CALLS = st.builds(FunctionCall, id=IDS, name=NAMES, arguments=TEXTS)
RESULTS = st.builds(FunctionExecutionResult, content=TEXTS, name=NAMES, call_id=IDS)
TEXT_MESSAGES: st.SearchStrategy[LLMMessage] = st.one_of(
    st.builds(SystemMessage, content=TEXTS),
    st.builds(UserMessage, content=TEXTS, source=NAMES),
    st.builds(AssistantMessage, content=TEXTS, thought=st.none() | TEXTS, source=st.just("coder")),
    st.builds(
        AssistantMessage,
        content=st.lists(CALLS, min_size=1, max_size=2),
        thought=st.none() | TEXTS.filter(bool),
        source=st.just("coder"),
    ),
    st.builds(FunctionExecutionResultMessage, content=st.lists(RESULTS, min_size=1, max_size=2)),
)
MESSAGES = TEXT_MESSAGES | st.builds(
    UserMessage, content=st.lists(TEXTS | IMAGES, max_size=3), source=NAMES
)
CONVERSATIONS = st.lists(TEXT_MESSAGES, max_size=12)


def said(text: str) -> UserMessage:
    """A message of a person."""
    return UserMessage(content=text, source="user")


def client_of(server: LoopbackServer | None = None, **options: Any) -> OpenAIChatCompletionClient:
    """AutoGen's client for a server, or for none."""
    url = server.base_url if server else NOWHERE
    given: dict[str, Any] = {"model": MODEL, "api_key": "none", "base_url": url, **options}
    return OpenAIChatCompletionClient(**given)


@asynccontextmanager
async def serving(
    *steps: Reply, window_tokens: int | None = WINDOW, strict_roles: bool = False, **options: Any
) -> AsyncGenerator[tuple[LoopbackServer, OpenAIChatCompletionClient]]:
    """A server that takes these steps, and AutoGen's client for it; ``options`` are the client's."""
    async with strict_server(
        *steps, window_tokens=window_tokens, strict_roles=strict_roles
    ) as server:
        client = client_of(server, **options)
        try:
            yield server, client
        finally:
            await client.close()


def model_info(**abilities: bool) -> dict[str, Any]:
    """What a client says of a model that has these abilities; by default it calls functions, and takes one system message."""
    given = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "structured_output": False,
    }
    return {"model_info": {**given, "family": "unknown", **abilities}}
