"""A real agent of each host with the host's own OpenAI client, and the managers that the host has of its own.

Promise: an agent is built the same way whoever manages its context; ``restart`` goes on with nothing but what was JSON.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ag2 import Agent as Ag2Agent
from ag2 import KnowledgeConfig
from ag2.compact import CompactTrigger, TailWindowCompact
from ag2.config import OpenAIConfig
from ag2.knowledge import EventLogWriter, MemoryKnowledgeStore
from ag2.policies import SlidingWindowPolicy, TokenBudgetPolicy
from ag2.stream import MemoryStream
from agent_framework import (
    Agent,
    AgentSession,
    ContextWindowCompactionStrategy,
    SlidingWindowStrategy,
    TokenBudgetComposedStrategy,
    ToolResultCompactionStrategy,
    TruncationStrategy,
)
from agent_framework_openai import OpenAIChatCompletionClient as FrameworkClient
from autogen import ConversableAgent
from autogen.agentchat.contrib.capabilities.transform_messages import TransformMessages
from autogen.agentchat.contrib.capabilities.transforms import (
    MessageHistoryLimiter,
    MessageTokenLimiter,
)
from autogen_agentchat.agents import AssistantAgent
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient
from long_work import PROMPT, TURNS_PER_TASK

from autogen_context import register
from autogen_context.adapters.register import AgentContext
from autogen_context.tokens.message_counter import MessageCounter

MODEL, WINDOW = "gpt-4-0613", 8_000
ROOM = WINDOW - 500  # of it for the messages, where a manager sees neither prompt nor tools
MESSAGES = 12  # six calls and their results, for managers that count messages: they have 6,500 tokens on the average
COUNTER = MessageCounter.for_model(MODEL)
MOST_STEPS = 10 * TURNS_PER_TASK

Tools = Sequence[Callable[[int, str], str]]
Options = Callable[[], dict[str, Any]]
"""What a host's own manager is given as; new objects with each call."""


class Tokenizer:
    """The exact count, for those of Agent Framework's strategies that take one."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return COUNTER.count(text).tokens


class HostAgent(Protocol):
    """An agent in one conversation; ``context`` is what ``register`` gave, where ours manages it."""

    context: AgentContext[Any] | None

    def __init__(self, url: str, tools: Tools, options: Options | None) -> None:
        """Without options ours manages the context."""
        ...

    async def ask(self, text: str) -> None:
        """Give the agent a task, until it is done."""
        ...

    async def restart(self) -> None:
        """Begin anew with another agent from a state that was JSON."""
        ...


class AgentchatAgent:
    """``AssistantAgent`` of autogen-agentchat."""

    def __init__(self, url: str, tools: Tools, options: Options | None) -> None:
        self.context: AgentContext[Any] | None = None
        self._url, self._tools, self._options = url, tools, options
        self._agent = self._new()

    async def ask(self, text: str) -> None:
        """A run."""
        await self._agent.run(task=text)

    async def restart(self) -> None:
        """The agent's own state."""
        state = json.dumps(await self._agent.save_state())
        self._agent = self._new()
        await self._agent.load_state(json.loads(state))

    def _new(self) -> AssistantAgent:
        given = self._options() if self._options else {}
        agent = AssistantAgent(
            "clerk",
            OpenAIChatCompletionClient(model=MODEL, api_key="none", base_url=self._url),
            tools=list(self._tools),
            system_message=PROMPT,
            max_tool_iterations=MOST_STEPS,
            **given,
        )
        if self._options is None:
            self.context = register(agent, window_tokens=WINDOW)
        return agent


class ClassicAgent:
    """``ConversableAgent`` of classic AutoGen, beside another one that runs the tools."""

    def __init__(self, url: str, tools: Tools, options: Options | None) -> None:
        self.context: AgentContext[Any] | None = None
        self._url, self._tools, self._options = url, tools, options
        self._agent, self._user = self._new()

    async def ask(self, text: str) -> None:
        """A chat that goes on with what was said."""
        await asyncio.to_thread(
            self._user.initiate_chat,
            self._agent,
            message=text,
            clear_history=False,
            silent=True,
        )

    async def restart(self) -> None:
        """The lists of both agents, and the state of the manager."""
        assert self.context
        said = [self._agent.chat_messages[self._user], self._user.chat_messages[self._agent]]
        state = json.dumps([*said, self.context.manager.save_state()])
        self._agent, self._user = self._new()
        mine, theirs, managed = json.loads(state)
        self._agent.chat_messages[self._user] = mine
        self._user.chat_messages[self._agent] = theirs
        self.context.manager.load_state(managed)

    def _new(self) -> tuple[ConversableAgent, ConversableAgent]:
        entry = {"model": MODEL, "api_key": "none", "price": [0, 0], "base_url": self._url}
        agent = self._one("clerk", {"config_list": [entry], "cache_seed": None})
        user = self._one("user", False)  # noqa: FBT003 - the host's own word for none
        for tool in self._tools:
            agent.register_for_llm(description=tool.__doc__)(tool)
            user.register_for_execution()(tool)
        if self._options is None:
            self.context = register(agent, window_tokens=WINDOW)
        else:
            TransformMessages(**self._options(), verbose=False).add_to_agent(agent)
        return agent, user

    @staticmethod
    def _one(name: str, config: Any) -> ConversableAgent:
        return ConversableAgent(
            name,
            system_message=PROMPT,
            llm_config=config,
            human_input_mode="NEVER",
            max_consecutive_auto_reply=MOST_STEPS,
            is_termination_msg=ends_the_chat,
        )


def ends_the_chat(message: Mapping[str, object]) -> bool:
    """The convention of classic agents."""
    return str(message.get("content") or "").endswith("TERMINATE")


class Ag2OneAgent:
    """``Agent`` of AG2 1.x."""

    def __init__(self, url: str, tools: Tools, options: Options | None) -> None:
        self.context: AgentContext[Any] | None = None
        self._url, self._tools, self._options = url, tools, options
        self._stream, self._store = MemoryStream(), MemoryKnowledgeStore()
        self._agent = self._new()

    async def ask(self, text: str) -> None:
        """A turn of the stream."""
        await self._agent.ask(text, stream=self._stream)

    async def restart(self) -> None:
        """What stands in the agent's knowledge store: the log of the events, and the state of the manager."""
        log = EventLogWriter(self._store)
        stream = MemoryStream(id=self._stream.id)
        await stream.history.replace(await log.load(self._stream.id))
        self._stream, self._agent = stream, self._new()

    def _new(self) -> Ag2Agent:
        given: dict[str, Any] = {"knowledge": KnowledgeConfig(store=self._store, expose_tool=False)}
        if self._options is not None:
            given = self._options()
        config = OpenAIConfig(MODEL, api_key="none", base_url=self._url)
        agent = Ag2Agent("clerk", PROMPT, config=config, tools=list(self._tools), **given)
        if self._options is None:
            self.context = register(agent, window_tokens=WINDOW)
        return agent


class FrameworkAgent:
    """``Agent`` of Microsoft Agent Framework."""

    def __init__(self, url: str, tools: Tools, options: Options | None) -> None:
        self.context: AgentContext[Any] | None = None
        self._url, self._tools, self._options = url, tools, options
        self._agent = self._new()
        self._session = self._agent.create_session()

    async def ask(self, text: str) -> None:
        """A run in the session."""
        await self._agent.run(text, session=self._session)

    async def restart(self) -> None:
        """The session."""
        saved = json.dumps(self._session.to_dict())
        self._agent = self._new()
        self._session = AgentSession.from_dict(json.loads(saved))

    def _new(self) -> Agent[Any]:
        client = FrameworkClient(MODEL, api_key="none", base_url=self._url)
        given = self._options() if self._options else {}
        agent: Agent[Any] = Agent(client, PROMPT, name="clerk", tools=list(self._tools), **given)
        if self._options is None:
            self.context = register(agent, window_tokens=WINDOW)
        return agent


def ag2_tail() -> dict[str, Any]:
    """A ``TailWindowCompact``, which acts between turns."""
    strategy, trigger = TailWindowCompact(MESSAGES), CompactTrigger(max_events=MESSAGES)
    store = MemoryKnowledgeStore()
    knowledge = KnowledgeConfig(
        store=store, expose_tool=False, compact=strategy, compact_trigger=trigger
    )
    return {"knowledge": knowledge}


def token_limited() -> dict[str, Any]:
    """AutoGen's own context that counts tokens."""
    counting = OpenAIChatCompletionClient(model=MODEL, api_key="none")
    return {"model_context": TokenLimitedChatCompletionContext(counting, token_limit=ROOM)}


def strategy(make: Callable[[], object]) -> Options:
    """One of Agent Framework's, with the exact count."""
    return lambda: {"compaction_strategy": make(), "tokenizer": Tokenizer()}


HOSTS: Mapping[str, tuple[type[HostAgent], Mapping[str, Options | None]]] = {
    "agentchat": (
        AgentchatAgent,
        {
            "ours": None,
            "Buffered(12)": lambda: {"model_context": BufferedChatCompletionContext(MESSAGES)},
            "HeadAndTail(1, 11)": lambda: {
                "model_context": HeadAndTailChatCompletionContext(1, MESSAGES - 1)
            },
            "TokenLimited(7,500)": token_limited,
        },
    ),
    "classic": (
        ClassicAgent,
        {
            "ours": None,
            "MessageHistoryLimiter(12)": lambda: {"transforms": [MessageHistoryLimiter(MESSAGES)]},
            "MessageTokenLimiter(1,200; 7,500)": lambda: {
                "transforms": [MessageTokenLimiter(1_200, ROOM, model=MODEL)]
            },
        },
    ),
    "ag2": (
        Ag2OneAgent,
        {
            "ours": None,
            "TailWindowCompact(12)": ag2_tail,
            "SlidingWindowPolicy(12)": lambda: {"assembly": [SlidingWindowPolicy(MESSAGES)]},
            "TokenBudgetPolicy(7,500)": lambda: {"assembly": [TokenBudgetPolicy(ROOM)]},
        },
    ),
    "agent-framework": (
        FrameworkAgent,
        {
            "ours": None,
            "SlidingWindow(6)": strategy(
                lambda: SlidingWindowStrategy(keep_last_groups=MESSAGES // 2)
            ),
            "Truncation(7,500 to 4,000)": strategy(
                lambda: TruncationStrategy(
                    max_n=ROOM, compact_to=WINDOW // 2, tokenizer=Tokenizer()
                )
            ),
            "TokenBudget(ToolResult(4))": strategy(
                lambda: TokenBudgetComposedStrategy(
                    token_budget=ROOM,
                    tokenizer=Tokenizer(),
                    strategies=[ToolResultCompactionStrategy(keep_last_tool_call_groups=4)],
                )
            ),
            "ContextWindow(8,000)": strategy(
                lambda: ContextWindowCompactionStrategy(
                    max_context_window_tokens=WINDOW, max_output_tokens=0, tokenizer=Tokenizer()
                )
            ),
        },
    ),
}
