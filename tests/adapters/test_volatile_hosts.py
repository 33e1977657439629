"""A clock in the system prompt of a real agent, in the way that its host has for it, as the server sees it."""

import pytest
from volatile import HOSTS, PROMPTS, Talk, run

from autogen_context.view.prompt import OPENING

TALK = Talk(turns=14, window_tokens=3_000, answer_tokens=150)
SINGLE = {"ag2"}  # it has no system message but the prompt
of_each_host = pytest.mark.parametrize("host", HOSTS)


@of_each_host
async def test_a_clock_costs_no_compaction_and_little_of_the_cache(host: str) -> None:
    """Of what is cached with one prompt at least 0.8 is cached with a clock behind, and nothing without; but where it has no place."""
    still, ticking, behind = [await run(host, name, TALK) for name in PROMPTS]
    assert still.compactions
    assert behind.compactions <= 1.2 * still.compactions
    assert ticking.cached == 0
    assert (behind.cached >= 0.8 * still.cached) == (host not in SINGLE)
    fronts = {str(request.messages[0]["content"]) for request in behind.requests[1:]}
    assert (len(fronts) == 1) == (host not in SINGLE)


@of_each_host
async def test_the_server_gets_each_part_of_the_newest_prompt_once(host: str) -> None:
    """In system messages: rules in front, the time behind them, before what the person said last."""
    for number, request in enumerate((await run(host, "behind", TALK)).requests):
        systems = [str(m["content"]) for m in request.messages if m["role"] == "system"]
        text = "\n".join(systems)
        for part in (f"Current time: 10:00:{number:02d}.", "Never delete an order.", "name: Ada"):
            assert text.count(part) == 1
        assert text.count("Current time") == 1
        assert request.messages[-1]["role"] == "user"
        if number and host not in SINGLE:
            assert OPENING in str(request.messages[-2]["content"])
            assert request.messages[-2]["role"] == "system"
