"""What is forgotten by what ``register`` returns is in no later request of a real agent, though its host still has it."""

import json

from autogen_context.testing import Say
from support.hosts import on_every_host, working

MARKER = "zebra4711"


@on_every_host
async def test_an_agent_asks_without_what_was_forgotten(host: str) -> None:
    """By a query; the host's own list is left alone, in this turn and the next."""
    steps = [Say("Noted. TERMINATE"), Say("Fine. TERMINATE"), Say("Good. TERMINATE")]
    async with working(host, *steps) as (server, agent):
        await agent.ask(f"My account is {MARKER}.")
        await agent.ask("Thanks.")
        assert agent.context is not None
        assert MARKER in json.dumps(list(server.requests[-1].messages))
        gone = agent.context.forget(query=MARKER)
        assert len(gone.messages) == 1
        await agent.ask("What else?")
        assert MARKER not in json.dumps(list(server.requests[-1].messages))
        assert MARKER not in json.dumps(agent.context.manager.save_state())
        assert MARKER not in agent.context.manager.recall_context(query="account")
