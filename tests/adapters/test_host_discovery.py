"""A server that is asked for the limits of its models, on every host, by its own client's turns."""

import asyncio
from itertools import repeat
from threading import enumerate as enumerate_threads

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.testing import LoopbackServer, Say, ScriptedModel
from support.hosts import agent_of, on_every_host
from support.logs import MODEL

OK = Say("ok TERMINATE")
SERVED_TOKENS = 5_000  # less than the model is known to have


def asked_for_limits(server: LoopbackServer) -> int:
    """How often."""
    return sum(request.path == "/v1/models" for request in server.requests)


@on_every_host
async def test_the_limits_of_a_server_are_asked_for_once_and_used(host: str) -> None:
    """Beside the turns, which do not wait for it, also where the host is synchronous."""
    model = ScriptedModel(repeat(OK))
    async with LoopbackServer(model, window_tokens=SERVED_TOKENS, model_names=[MODEL]) as server:
        config = ContextConfig(discovery_url=server.base_url)
        agent = agent_of(host, server, window_tokens=None, config=config)
        for _ in range(1_000):
            await agent.ask("Hi.")
            assert agent.context is not None
            prepared = agent.context.last_prepared
            assert prepared is not None
            if prepared.certificate.limit_tokens <= SERVED_TOKENS:
                break
            await asyncio.sleep(0.01)
        else:
            pytest.fail(f"asked {asked_for_limits(server)} times, and nothing was used")
        await agent.context.aclose()
        await agent.aclose()
    assert asked_for_limits(server) == 1


def test_synchronous_code_hears_of_limits_as_well() -> None:
    """A list that is prepared without an event loop: none of its turns waits."""
    with LoopbackServer(
        ScriptedModel([]), window_tokens=SERVED_TOKENS, model_names=[MODEL]
    ) as server:
        config = ContextConfig(model=MODEL, discovery_url=server.base_url)
        manager = IncrementalContextManager(config=config)
        said = [{"role": "user", "content": "Hi."}]
        first = manager.prepare_nowait(said)
        for thread in enumerate_threads():
            if thread.name == "discovery":
                thread.join()
        second = manager.prepare_nowait(said)
    assert first.certificate.limit_tokens > SERVED_TOKENS >= second.certificate.limit_tokens
    assert asked_for_limits(server) == 1
