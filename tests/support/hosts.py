"""Real agents of every host, each with its own client against a server that is as strict as OpenAI's."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import host_agents
import pytest
from autogen import ConversableAgent
from host_agents import SEVERAL_CALLS, HostAgent, Job

from autogen_context.adapters.classic import BEFORE_CALL
from autogen_context.testing import LoopbackServer
from support.logs import MODEL, NOWHERE, PROMPT, WINDOW, Reply, strict_server

HOSTS = tuple(host_agents.HOSTS)
OLDEST = {"agentchat": "0.5.7", "classic": "0.9"}
on_every_host = pytest.mark.parametrize("host", HOSTS)


def column_of(host: str) -> str:
    """Its column in docs/hosts.md: the oldest releases have their own where that makes a difference."""
    is_old = {
        "agentchat": not SEVERAL_CALLS,
        "classic": BEFORE_CALL not in ConversableAgent("a", llm_config=False).hook_lists,
    }
    return f"{host} {OLDEST[host]}" if is_old.get(host) else host


def agent_of(
    host: str, server: LoopbackServer, *tools: Callable[..., str], name: str = "reader", **ours: Any
) -> HostAgent:
    """An agent that is registered with these arguments."""
    kind, _ = host_agents.HOSTS[host]
    given = {"window_tokens": WINDOW, **ours}
    return kind(
        Job(url=server.base_url, tools=tools, name=name, prompt=PROMPT, model=MODEL, ours=given)
    )


def built(host: str, **ours: Any) -> HostAgent:
    """An agent that is registered and never asked."""
    kind, _ = host_agents.HOSTS[host]
    return kind(Job(url=NOWHERE, ours=ours))


@asynccontextmanager
async def working(
    host: str, *steps: Reply, tools: tuple[Callable[..., str], ...] = (), **ours: Any
) -> AsyncGenerator[tuple[LoopbackServer, HostAgent]]:
    """A server that takes these steps, and an agent that asks it."""
    async with strict_server(*steps) as server:
        agent = agent_of(host, server, *tools, **ours)
        try:
            yield server, agent
        finally:
            if agent.context is not None:
                await agent.context.aclose()
            await agent.aclose()
