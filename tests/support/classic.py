"""Agents of classic AutoGen, and conversations as they keep them."""

from typing import Any

from autogen import ConversableAgent
from host_agents import MOST_STEPS, ends_the_chat

from autogen_context.testing import ChatMessage
from support.logs import NOWHERE


def agent(
    name: str = "coder",
    url: str | None = NOWHERE,
    *,
    system: str = "You are a coder.",
    cache_seed: int | None = None,
    **entry: Any,
) -> ConversableAgent:
    """An agent that asks a model at an address, or, without one, only runs tools; it stops at the last word."""
    model = {"model": "gpt-4o", "api_key": "none", "price": [0, 0], "base_url": url, **entry}
    return ConversableAgent(
        name,
        system_message=system,
        llm_config={"config_list": [model], "cache_seed": cache_seed} if url else False,
        human_input_mode="NEVER",
        max_consecutive_auto_reply=MOST_STEPS,
        is_termination_msg=ends_the_chat,
    )


def grouped(messages: list[ChatMessage]) -> list[ChatMessage]:
    """A conversation with all results of a step in one message, but for those with parts."""
    steps: list[ChatMessage] = []
    for message in messages:
        if message.get("role") != "tool" or isinstance(message.get("content"), list):
            steps.append(message)
        elif steps and "tool_responses" in steps[-1]:
            steps[-1]["tool_responses"].append(message)
        else:
            steps.append({"role": "tool", "content": "", "tool_responses": [message], "name": "u"})
    return steps


def unrolled(messages: list[ChatMessage]) -> list[ChatMessage]:
    """What the host sends."""
    return [each for message in messages for each in message.get("tool_responses", [message])]


def step(number: int, *, words: int = 40) -> list[ChatMessage]:
    """A call and its result."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    text = f"line {number} " * words
    response = {"role": "tool", "tool_call_id": f"c{number}", "content": text}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": text, "tool_responses": [response], "name": "user"},
    ]


def session(steps: int, *, task: str = "Read all files.") -> list[ChatMessage]:
    """A conversation of so many steps."""
    first: ChatMessage = {"role": "user", "name": "user", "content": task}
    return [first, *(message for number in range(steps) for message in step(number))]
