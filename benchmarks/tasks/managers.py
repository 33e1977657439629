"""The managers that are measured beside each other, each on its own host, set up as its documentation sets it up.

Promise: each gets the same window. Those that see neither prompt nor tools get what is left of it for the messages; those that count
messages get as many as surely fit. Ours has no setting but the window.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from agent_framework import (
    CompactionProvider,
    CompactionStrategy,
    InMemoryHistoryProvider,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
    TruncationStrategy,
)
from agent_framework_openai import OpenAIChatCompletionClient as FrameworkClient
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    TokenLimitedChatCompletionContext,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient
from host_agents import (
    Ag2OneAgent,
    AgentchatAgent,
    ClassicAgent,
    FrameworkAgent,
    HostAgent,
    Job,
    Options,
    Tokenizer,
)
from openai import AsyncOpenAI

from tasks.contexts import RememberingClient, WindowContext
from tasks.langchain_agent import LangChainAgent, summarising

MODEL = "gpt-4-turbo-2024-04-09"  # its own window is larger than all that are tried
MARGIN = 0.03  # of a window, for what a manager that sees messages alone counts differently
SUMMARY_INPUT_TOKENS = 32_000  # four times Agent Framework's own limit; with none, a run bills up to 139 million tokens
COMPACT_TO = 0.5  # of the room: where truncation and summaries begin anew, as in the examples of their documentation


class Closed(Protocol):
    """What is closed behind a run."""

    async def close(self) -> None:
        """Close it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a manager is set up for; tokens, a window of 0 is none."""

    window: int
    taken: int  # by the prompt and the schemas of the tools
    largest_message: int
    summaries_url: str  # of a model that summarises
    clients: list[Closed] = field(default_factory=list["Closed"])  # to close when the run is over

    @property
    def room(self) -> int:
        """What is left for the messages."""
        return int(self.window * (1 - MARGIN)) - self.taken

    @property
    def messages(self) -> int:
        """Messages that surely fit."""
        return max(4, self.room // self.largest_message)


Given = tuple[Mapping[str, Any], Options | None]
"""What ours is given, and what the host's own manager is given, if it is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """A manager on its host."""

    name: str
    host_name: str
    host: Callable[[Job], HostAgent]
    own: Callable[[Setting], Mapping[str, Any]] | None = None
    ours: Callable[[Setting], Mapping[str, Any]] = field(default=lambda _: {})

    def given(self, setting: Setting) -> Given:
        """The arguments of a job."""
        own = self.own
        return self.ours(setting), None if own is None else lambda: dict(own(setting))


def window(setting: Setting, *, with_first: bool) -> Mapping[str, Any]:
    """A plain window."""
    return {"model_context": WindowContext(setting.room, with_first=with_first)}


def token_limited(setting: Setting) -> Mapping[str, Any]:
    """AutoGen's context that counts tokens; it takes messages out of the middle."""
    client = RememberingClient(model=MODEL, api_key="none")
    setting.clients.append(client)
    return {"model_context": TokenLimitedChatCompletionContext(client, token_limit=setting.room)}


def buffered(setting: Setting) -> Mapping[str, Any]:
    """AutoGen's context that counts messages."""
    return {"model_context": BufferedChatCompletionContext(setting.messages)}


def truncation(setting: Setting) -> Mapping[str, Any]:
    """Agent Framework's truncation, by tokens."""
    kept = int(setting.room * COMPACT_TO)
    return compacted(
        lambda: TruncationStrategy(max_n=setting.room, compact_to=kept, tokenizer=Tokenizer())
    )


def summarisation(setting: Setting) -> Mapping[str, Any]:
    """Agent Framework's summaries, when the budget of tokens is used up; where one leaves too much, one of all but the newest group."""
    inner = AsyncOpenAI(api_key="none", base_url=setting.summaries_url)
    client = FrameworkClient(MODEL, async_client=inner)
    setting.clients.append(inner)

    def summaries(kept_messages: int) -> SummarizationStrategy:
        return SummarizationStrategy(
            client=client,
            target_count=kept_messages,
            threshold=0,
            max_summary_input_tokens=SUMMARY_INPUT_TOKENS,
            tokenizer=Tokenizer(),
        )

    kept = max(4, int(setting.messages * COMPACT_TO))
    return compacted(
        lambda: TokenBudgetComposedStrategy(
            token_budget=setting.room,
            tokenizer=Tokenizer(),
            strategies=[summaries(kept), summaries(1)],
        )
    )


def compacted(strategy: Callable[[], CompactionStrategy]) -> Mapping[str, Any]:
    """The options of Agent Framework's agents for a strategy, within a turn and on the history that the next one begins with.

    Without the second each turn would begin with everything, and summaries would be made anew of its oldest part alone.
    """
    history = InMemoryHistoryProvider(skip_excluded=True)
    after = CompactionProvider(
        after_strategy=strategy(), tokenizer=Tokenizer(), history_source_id=history.source_id
    )
    return {
        "compaction_strategy": strategy(),
        "tokenizer": Tokenizer(),
        "context_providers": [history, after],
    }


def langchain(setting: Setting) -> Mapping[str, Any]:
    """LangChain's summaries."""
    room = setting.room
    return {"middleware": [summarising(MODEL, setting.summaries_url, room_tokens=room)]}


def ours(setting: Setting) -> Mapping[str, Any]:
    """This library with nothing but its window."""
    return {"window_tokens": setting.window}


def ours_with_summaries(setting: Setting) -> Mapping[str, Any]:
    """This library with a model for summaries."""
    client = OpenAIChatCompletionClient(model=MODEL, api_key="none", base_url=setting.summaries_url)
    setting.clients.append(client)
    return {"window_tokens": setting.window, "model_client": client}


EVERYTHING = Manager(
    name="everything", host_name="agentchat", host=AgentchatAgent, own=lambda _: {}
)
agentchat = partial(Manager, host_name="agentchat", host=AgentchatAgent)
framework = partial(Manager, host_name="agent-framework", host=FrameworkAgent)
MANAGERS: Mapping[str, Manager] = {
    each.name: each
    for each in (
        EVERYTHING,
        agentchat(name="sliding", own=partial(window, with_first=False)),
        agentchat(name="first and newest", own=partial(window, with_first=True)),
        agentchat(name="TokenLimited", own=token_limited),
        agentchat(name="Buffered", own=buffered),
        framework(name="AF truncation", own=truncation),
        framework(name="AF summaries", own=summarisation),
        Manager(
            name="LangChain summaries", host_name="langchain", host=LangChainAgent, own=langchain
        ),
        agentchat(name="ours", ours=ours),
        agentchat(name="ours with summaries", ours=ours_with_summaries),
    )
}
ON_HOSTS: Mapping[str, Manager] = {
    name: Manager(name="ours", host_name=name, host=host, ours=ours)
    for name, host in (
        ("agentchat", AgentchatAgent),
        ("classic", ClassicAgent),
        ("ag2", Ag2OneAgent),
        ("agent-framework", FrameworkAgent),
    )
}
