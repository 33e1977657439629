"""A conversation of each host that was saved by an earlier release; how to save one of today's: ``python -m support.states``."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autogen_context import IncrementalContextManager
from autogen_context.manager.state import SCHEMA
from autogen_context.messages.openai_chat import OpenAIChat
from support.keeping import manager
from support.words import WORDS, Words


def openai_result(result: tuple[str, str]) -> object:
    """A step's only result in OpenAI's words."""
    return {"role": "tool", "tool_call_id": result[0], "content": result[1]}


PLAIN = replace(WORDS["classic"], host=OpenAIChat(), results=openai_result)
HOSTS = {"openai": PLAIN, **WORDS}
FOLDER = Path(__file__).parents[1] / "manager" / "states"
SAVED_STEPS = 40
PINNED = 3  # position of a message


def conversation(words: Words, steps: int) -> list[Any]:
    """An agent that reads files and is told rules in between, in the words of a host."""
    messages = [
        words.system("You are careful."),
        words.user("Never touch the key file. Mend a.py."),
    ]
    for n in range(steps):
        if n % 8 == 5:
            messages.append(words.user(f"The limit of part {n} is {n * 7} ms."))
        call_id = f"call_{n}"
        messages += [
            words.call(call_id),
            words.result(call_id, f"{n}: " + f"line of part_{n} " * 40),
        ]
        messages.append(words.said(f"Part {n} is read, value_{n} is {n * 3}."))
    return messages


def keeper_of(words: Words) -> IncrementalContextManager:
    """A manager whose window is far smaller than the conversation."""
    return manager(3_000, host=words.host)


def decided(decisions: Sequence[Any]) -> list[list[object]]:
    """What became of each unit."""
    return [[each.start, each.stop, each.action, each.tokens_after] for each in decisions]


def example(words: Words) -> dict[str, object]:
    """A saved state, and what its own release decided in the turn after it."""
    keeper = keeper_of(words)
    for steps in range(2, SAVED_STEPS + 1, 2):
        messages = conversation(words, steps)
        keeper.prepare_nowait(messages)
        if steps == 2:
            keeper.pin(messages[PINNED])
    state = keeper.save_state()
    turn = keeper.prepare_nowait(conversation(words, SAVED_STEPS + 1))
    return {"state": state, "next": decided(turn.decisions), "compacted": turn.compacted}


if __name__ == "__main__":
    for host, words in HOSTS.items():
        path = FOLDER / f"schema-{SCHEMA}-{host}.json"
        path.write_text(json.dumps(example(words), separators=(",", ":")) + "\n")
