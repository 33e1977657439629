"""Feed what the provider billed to the manager that prepared the request.

Promise: a bill is recorded only for the list that it was sent for: it is the difference that one call of one agent made
to the usage of its client, and the messages of that call are the very objects that were prepared.

Calls beside the conversation (a summary at the end of a chat), cached replies, clients that are not OpenAI's (theirs may
leave cached input out), and lists that something else changed after the transform are passed over. Source: autogen
0.14.1, ``generate_oai_reply``; versions without the two hooks around the model call record nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import is_
from threading import get_ident
from typing import Any, Protocol

from autogen_context.adapters.classic_conversations import ChatDict, Conversations
from autogen_context.manager.manager import IncrementalContextManager
from autogen_context.manager.prepared import Prepared

BEFORE_CALL, AFTER_CALL = "safeguard_llm_inputs", "safeguard_llm_outputs"
OPENAI_TYPES = frozenset({"openai", "azure"})


class BilledAgent(Protocol):
    """What is read of an agent whose client reports usage."""

    @property
    def client(self) -> Any:
        """An ``OpenAIWrapper``, or ``None``."""
        ...

    @property
    def llm_config(self) -> Any:
        """An ``LLMConfig``, a dict, or ``False``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A model call that has begun."""

    thread: int
    billed_before: int
    manager: IncrementalContextManager
    prepared: Prepared[ChatDict]


class Bills:
    """Two hooks around the model calls of one agent.

    Args:
        agent: the agent.
        conversations: what was prepared for it.
    """

    def __init__(self, agent: BilledAgent, conversations: Conversations) -> None:
        self._agent = agent
        self._conversations = conversations
        self._call: OpenCall | None = None

    def before(self, messages: list[ChatDict]) -> list[ChatDict]:
        """Note what was billed so far, if this call sends what was prepared last."""
        manager, prepared = self._conversations.manager, self._conversations.last_prepared
        self._call = None
        if prepared and ends_in(messages, prepared) and is_openai(self._agent):
            self._call = OpenCall(
                thread=get_ident(),
                billed_before=billed(self._agent),
                manager=manager,
                prepared=prepared,
            )
        return messages

    def after(self, reply: object) -> object:
        """Record what this call added; a call that another thread began meanwhile is not told apart from it."""
        call, self._call = self._call, None
        if call is None or call.thread != get_ident():
            return reply
        prompt_tokens = billed(self._agent) - call.billed_before
        if prompt_tokens > 0:
            call.manager.record_usage(call.prepared, prompt_tokens=prompt_tokens)
        return reply


def ends_in(messages: list[ChatDict], prepared: Prepared[ChatDict]) -> bool:
    """Whether a request consists of the agent's system message and the very messages that were prepared."""
    sent, own = messages[1:], prepared.messages[1:]
    return len(sent) == len(own) > 0 and all(map(is_, sent, own))


def is_openai(agent: BilledAgent) -> bool:
    """Whether every model that may answer is billed as OpenAI does, cached input included."""
    config = agent.llm_config
    entries: Iterable[Any] = (config.get("config_list") or [config]) if config else ()
    return all((entry.get("api_type") or "openai") in OPENAI_TYPES for entry in entries)


def billed(agent: BilledAgent) -> int:
    """The input tokens of all calls of an agent's client so far, cached replies not among them."""
    usage: Mapping[str, Any] = getattr(agent.client, "actual_usage_summary", None) or {}
    return sum(of["prompt_tokens"] for key, of in usage.items() if key != "total_cost")
