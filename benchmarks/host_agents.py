"""A real agent of each host with the host's own client of OpenAI's or Anthropic's, and the managers that the host has of its own.

Promise: an agent is built the same way whoever manages its context; ``restart`` goes on with nothing but what was JSON.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import Any

from ag2 import Agent as Ag2Agent
from ag2 import KnowledgeConfig
from ag2.compact import CompactTrigger, TailWindowCompact
from ag2.config import ModelConfig, OpenAIConfig
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
from autogen_agentchat.messages import ToolCallSummaryMessage
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
)
from autogen_core.models import ChatCompletionClient, ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient
from httpx2 import AsyncClient
from long_work import PROMPT, TURNS_PER_TASK
from openai import AsyncOpenAI
from typing_extensions import override

from autogen_context import register
from autogen_context.adapters.register import AgentContext
from autogen_context.tokens.message_counter import MessageCounter

MODEL, WINDOW = "gpt-4-0613", 8_000
ROOM = WINDOW - 500  # of it for the messages, where a manager sees neither prompt nor tools
MESSAGES = 12  # six calls and their results, for managers that count messages: they have 6,500 tokens on the average
COUNTER = MessageCounter.for_model(MODEL)
MOST_STEPS = 10 * TURNS_PER_TASK
# Before autogen-agentchat 0.6.4 a run ends with the results of its first calls; the next one goes on from there.
SEVERAL_CALLS = "max_tool_iterations" in signature(AssistantAgent).parameters

Tools = Sequence[Callable[..., str]]
Options = Callable[[], dict[str, Any]]
"""What a host's own manager is given as; new objects with each call."""


class Tokenizer:
    """The exact count, for those of Agent Framework's strategies that take one."""

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return COUNTER.count(text).tokens


@dataclass(frozen=True, kw_only=True)
class Job:
    """Of whom an agent asks, what it has, and who manages its context: ours, with what ``register`` is given, or ``own``."""

    url: str
    tools: Tools = ()
    name: str = "clerk"
    prompt: str = PROMPT
    model: str = MODEL
    is_claude: bool = False  # its model is asked through Anthropic's API
    is_streamed: bool = False  # where the host's agents can, answers come in parts
    ours: Mapping[str, Any] = field(default_factory=lambda: {"window_tokens": WINDOW})
    own: Options | None = None


class HostAgent(ABC):
    """An agent in one conversation.

    Attributes:
        agent: the host's own.
        context: what ``register`` gave, where ours manages it.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.agent: Any = None
        self.context: AgentContext[Any] | None = None

    def managed(self, agent: Any) -> None:
        """Take an agent, and keep its context where the job says so."""
        self.agent = agent
        if self.job.own is None:
            self.context = register(agent, **self.job.ours)

    @abstractmethod
    async def ask(self, text: str) -> str:
        """Give the agent a task, until it is done; the last thing that it says."""

    @abstractmethod
    async def restart(self) -> None:
        """Begin anew with another agent from a state that was JSON."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the agent's client."""


class AgentchatAgent(HostAgent):
    """``AssistantAgent`` of autogen-agentchat."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.client = self._claude() if job.is_claude else self._gpt()
        self._begin()

    def _gpt(self) -> ChatCompletionClient:
        job = self.job
        return OpenAIChatCompletionClient(model=job.model, api_key="none", base_url=job.url)

    def _claude(self) -> ChatCompletionClient:
        from autogen_ext.models.anthropic import AnthropicChatCompletionClient  # noqa: PLC0415 - optional

        job = self.job
        info = ModelInfo(
            vision=False,
            function_calling=True,
            json_output=False,
            structured_output=False,
            multiple_system_messages=False,
            family="claude-4-sonnet",
        )
        return AnthropicChatCompletionClient(
            model=job.model, api_key="none", base_url=job.url, model_info=info
        )

    @override
    async def ask(self, text: str) -> str:
        result = await self.agent.run(task=text)
        while not SEVERAL_CALLS and isinstance(result.messages[-1], ToolCallSummaryMessage):
            result = await self.agent.run()
        return str(result.messages[-1].content)

    @override
    async def restart(self) -> None:
        state = json.dumps(await self.agent.save_state())
        self._begin()
        await self.agent.load_state(json.loads(state))

    @override
    async def aclose(self) -> None:
        await self.client.close()

    def _begin(self) -> None:
        job = self.job
        given: dict[str, Any] = {"max_tool_iterations": MOST_STEPS} if SEVERAL_CALLS else {}
        given |= job.own() if job.own else {}
        given |= {"model_client_stream": True} if job.is_streamed else {}
        tools: list[Any] = list(job.tools)
        self.managed(
            AssistantAgent(job.name, self.client, tools=tools, system_message=job.prompt, **given)
        )


def as_function(tool: Callable[..., str]) -> Callable[..., str]:
    """A tool as classic AutoGen takes it, which refuses methods."""

    @wraps(tool)
    def called(*args: Any, **arguments: Any) -> str:
        return tool(*args, **arguments)

    return called


class ClassicAgent(HostAgent):
    """``ConversableAgent`` of classic AutoGen, beside another one that runs the tools."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.user = self._begin()

    @override
    async def ask(self, text: str) -> str:
        chat = await asyncio.to_thread(
            self.user.initiate_chat,
            self.agent,
            message=text,
            max_turns=None if self.job.tools else 1,
            clear_history=False,
            silent=True,
        )
        return str(chat.chat_history[-1]["content"])

    @override
    async def restart(self) -> None:
        """The lists of both agents, and the state of the manager."""
        assert self.context
        said = [self.agent.chat_messages[self.user], self.user.chat_messages[self.agent]]
        state = json.dumps([*said, self.context.manager.save_state()])
        self.user = self._begin()
        mine, theirs, managed = json.loads(state)
        self.agent.chat_messages[self.user] = mine
        self.user.chat_messages[self.agent] = theirs
        self.context.manager.load_state(managed)

    @override
    async def aclose(self) -> None:
        """Its client closes by itself."""

    def _begin(self) -> ConversableAgent:
        job = self.job
        entry: dict[str, Any] = {"model": job.model, "api_key": "none", "base_url": job.url}
        entry |= {"api_type": "anthropic"} if job.is_claude else {"price": [0, 0]}
        entry |= {"stream": True} if job.is_streamed else {}
        agent = self._one(job.name, {"config_list": [entry], "cache_seed": None})
        user = self._one("user", False)  # noqa: FBT003 - the host's own word for none
        for tool in map(as_function, job.tools):
            agent.register_for_llm(description=tool.__doc__)(tool)
            user.register_for_execution()(tool)
        if job.own is not None:
            TransformMessages(**job.own(), verbose=False).add_to_agent(agent)
        self.managed(agent)
        return user

    def _one(self, name: str, config: Any) -> ConversableAgent:
        return ConversableAgent(
            name,
            system_message=self.job.prompt,
            llm_config=config,
            human_input_mode="NEVER",
            max_consecutive_auto_reply=MOST_STEPS,
            is_termination_msg=ends_the_chat,
        )


def ends_the_chat(message: Mapping[str, object]) -> bool:
    """The convention of classic agents."""
    return str(message.get("content") or "").endswith("TERMINATE")


class Ag2OneAgent(HostAgent):
    """``Agent`` of AG2 1.x."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.stream, self._store, self._http = (
            MemoryStream(),
            MemoryKnowledgeStore(),
            AsyncClient(),
        )
        self._begin()

    @override
    async def ask(self, text: str) -> str:
        reply = await self.agent.ask(text, stream=self.stream)
        return str(reply.body)

    @override
    async def restart(self) -> None:
        """What stands in the agent's knowledge store: the log of the events, and the state of the manager."""
        log = EventLogWriter(self._store)
        stream = MemoryStream(id=self.stream.id)
        await stream.history.replace(await log.load(self.stream.id))
        self.stream = stream
        self._begin()

    @override
    async def aclose(self) -> None:
        await self._http.aclose()

    def _begin(self) -> None:
        job = self.job
        knowledge = KnowledgeConfig(store=self._store, expose_tool=False)
        given: dict[str, Any] = job.own() if job.own else {"knowledge": knowledge}
        given_here: dict[str, Any] = {"api_key": "none", "base_url": job.url}
        given_here |= {"http_client": self._http, "streaming": job.is_streamed}
        kind: Callable[..., ModelConfig] = OpenAIConfig
        if job.is_claude:
            from ag2.config import AnthropicConfig  # noqa: PLC0415 - optional

            kind = AnthropicConfig
        config = kind(job.model, **given_here)
        self.managed(Ag2Agent(job.name, job.prompt, config=config, tools=list(job.tools), **given))


class FrameworkAgent(HostAgent):
    """``Agent`` of Microsoft Agent Framework."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._client = self._provider()
        self._begin()
        self.session: AgentSession = self.agent.create_session()

    @override
    async def ask(self, text: str) -> str:
        if not self.job.is_streamed:
            return str((await self.agent.run(text, session=self.session)).text)
        stream = self.agent.run(text, session=self.session, stream=True)
        return str((await stream.get_final_response()).text)

    @override
    async def restart(self) -> None:
        """The session."""
        saved = json.dumps(self.session.to_dict())
        self._begin()
        self.session = AgentSession.from_dict(json.loads(saved))

    @override
    async def aclose(self) -> None:
        await self._client.close()

    def _provider(self) -> Any:
        job = self.job
        if not job.is_claude:
            return AsyncOpenAI(api_key="none", base_url=job.url)
        from anthropic import AsyncAnthropic  # noqa: PLC0415 - optional

        return AsyncAnthropic(api_key="none", base_url=job.url)

    def _begin(self) -> None:
        job = self.job
        most: dict[str, Any] = {"function_invocation_configuration": {"max_iterations": MOST_STEPS}}
        client: Any
        if job.is_claude:
            from agent_framework_anthropic import AnthropicClient  # noqa: PLC0415 - optional

            client = AnthropicClient(model=job.model, anthropic_client=self._client, **most)
        else:
            client = FrameworkClient(job.model, async_client=self._client, **most)
        given = job.own() if job.own else {}
        self.managed(Agent(client, job.prompt, name=job.name, tools=list(job.tools), **given))


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
