"""How an agent's model calls use the prompt cache of its provider: Claude's marks, OpenAI's key, and bills that say what was cached.

Promise: the words of a request never change; clients of other providers are not touched.
"""

import warnings
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar
from weakref import WeakKeyDictionary

from autogen_context.config.config import ContextConfig
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.models.cache_marks import CacheMarks, Lifetime
from autogen_context.models.provider_call import (
    CacheKey,
    Provider,
    ProviderCall,
    Watched,
    is_openais_own,
    provider_clients,
    watch,
)

PartT = TypeVar("PartT")


class ProviderCalls:
    """The model calls of one agent, each conversation's by themselves.

    Args:
        config: its ``cache_marks`` and ``prompt_cache_key`` say what is done.
    """

    def __init__(self, config: ContextConfig) -> None:
        self._config = config
        self._lifetime: Lifetime = "1h" if config.cache_marks == "1h" else "5m"
        self._marks: WeakKeyDictionary[IncrementalContextManager, CacheMarks] = WeakKeyDictionary()
        self._keys: WeakKeyDictionary[IncrementalContextManager, CacheKey] = WeakKeyDictionary()
        self._warned = False

    def of(
        self,
        manager: IncrementalContextManager,
        client: object,
        *,
        grows: bool = True,
        system_text: str = "",
    ) -> ProviderCall:
        """Return a call for a conversation's next requests with a host's client.

        Args:
            manager: that of the conversation.
            client: the host's client, or a provider's.
            grows: whether the conversation goes on from the request; else only tools and system prompt are marked.
            system_text: of a message that is the system's, where the host has no system message.
        """
        marks = None
        if self._config.cache_marks != "off":
            marks = self._marks.get(manager)
            if marks is None:
                marks = self._marks[manager] = CacheMarks(self._lifetime)
        call = ProviderCall(marks=marks, grows=grows)
        for provider, own in provider_clients(client):
            if self._has_key(provider, own):
                key = self._keys.get(manager)
                if key is None:
                    whose = f"{self._config.tenant}\n{self._config.agent}"
                    key = self._keys[manager] = CacheKey(whose)
                call.cache_key = key
            if provider == "openai":
                call.system_text = system_text
            watch(own, provider)
            return call
        self._warn_of(client)
        return call

    def bind(self, manager: IncrementalContextManager, client: object) -> ProviderCall:
        """Return a call to which all requests of a client belong that has no call of its own: for a client of one agent."""
        call = self.of(manager, client)
        for _, own in provider_clients(client):
            asks: object = getattr(own, "request", None)
            if isinstance(asks, Watched):
                asks.call = call
        return call

    def _has_key(self, provider: Provider, client: object) -> bool:
        wanted = self._config.prompt_cache_key
        return provider == "openai" and (
            wanted == "on" or (wanted == "auto" and is_openais_own(client))
        )

    def _warn_of(self, client: object) -> None:
        """Warn once that a client for Claude is not understood, so that nothing of its requests is marked."""
        names = {kind.__name__ for kind in type(client).__mro__}
        if self._warned or not any("Anthropic" in name for name in names):
            return
        self._warned = True
        if self._config.cache_marks != "off":
            warnings.warn(
                f"the client of Anthropic's within {type(client).__name__} is not found, so nothing is marked for the prompt cache "
                'and all input is billed at its full price; set cache_marks="off" to silence this',
                stacklevel=4,
            )


async def within(call: ProviderCall, parts: AsyncIterator[PartT]) -> AsyncGenerator[PartT]:
    """Yield the parts of a host's stream; each is asked for within the call."""
    while True:
        with call.scope():
            try:
                part = await anext(parts)
            except StopAsyncIteration:
                return
        yield part
