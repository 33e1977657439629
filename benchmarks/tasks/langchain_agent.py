"""A real agent of LangChain, with its middleware that summarises.

Promise: the same job as for the other hosts; its history is in a checkpointer, as its documentation has it.
"""

from collections.abc import Sequence
from typing import Any

from host_agents import COUNTER, MOST_STEPS, HostAgent, Job
from langchain import agents
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import BaseMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import SecretStr
from typing_extensions import override

NODES_PER_STEP = 4  # of its graph: the middleware before and after the model, the model, the tools
MESSAGE_TOKENS = 8  # above its texts: role, ids and separators


class LangChainAgent(HostAgent):
    """An agent of ``create_agent``."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        library: Any = agents  # the types of its states are not all known
        self.agent = library.create_agent(
            model=chat_model(job.model, job.url),
            tools=[*job.tools],
            system_prompt=job.prompt,
            checkpointer=InMemorySaver(),
            **(job.own() if job.own else {}),
        )

    @override
    async def ask(self, text: str) -> str:
        config = {
            "configurable": {"thread_id": "1"},
            "recursion_limit": 2 * NODES_PER_STEP * MOST_STEPS,
        }
        said = {"messages": [{"role": "user", "content": text}]}
        state = await self.agent.ainvoke(said, config)
        return str(state["messages"][-1].content)

    @override
    async def restart(self) -> None:
        raise NotImplementedError  # no benchmark asks for it

    @override
    async def aclose(self) -> None:
        """Its client closes by itself."""


def chat_model(model: str, url: str) -> ChatOpenAI:
    """A model on a server."""
    return ChatOpenAI(model=model, api_key=SecretStr("none"), base_url=url)


def summarising(model: str, url: str, *, room_tokens: int) -> SummarizationMiddleware:
    """The middleware: summaries when the room is used up, and the newest 30 % kept, as in its documentation."""
    counted: Any = tokens_of  # its type takes any form of a message
    return SummarizationMiddleware(
        chat_model(model, url),
        trigger=("tokens", room_tokens),
        keep=("tokens", int(0.3 * room_tokens)),
        token_counter=counted,
        trim_tokens_to_summarize=None,
    )


def tokens_of(messages: Sequence[BaseMessage]) -> int:
    """Tokens of messages by the exact count."""
    texts = [f"{message.content}{getattr(message, 'tool_calls', '')}" for message in messages]
    return sum(MESSAGE_TOKENS + COUNTER.count(text).tokens for text in texts)
