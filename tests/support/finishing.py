"""Pieces of work, one after the other, each finished with its last step; and the turns in which a model does them."""

import json

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.testing import ChatMessage

TASK: list[ChatMessage] = [
    {"role": "system", "content": "You repair programs."},
    {"role": "user", "content": "Repair the shop."},
]


def step(n: int, tool: str, arguments: dict[str, str], result: str) -> list[ChatMessage]:
    """A call and its result."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"c{n}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": result},
    ]


def work(pieces: int) -> list[ChatMessage]:
    """Reading, changing and testing one file after the other: subtasks that are finished with their last step."""
    messages = [*TASK]
    for n in range(pieces):
        path = f"src/part_{n}.py"
        text = "\n".join(f"value_{n}_{line} = {line * n}" for line in range(187))
        messages += step(5 * n, "read_file", {"path": path}, text)
        messages += step(
            5 * n + 1, "search_files", {"pattern": f"value_{n}"}, f"{path}:1: {text[:400]}"
        )
        messages += step(5 * n + 2, "str_replace", {"path": path, "old": "1", "new": "2"}, "Done.")
        messages += step(5 * n + 3, "run_tests", {}, "9 passed in 0.4s")
    return messages


def stops_of(messages: list[ChatMessage]) -> list[int]:
    """Where the model is to speak."""
    stops = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    return [*stops[1:], len(messages)]


def turns(
    of: IncrementalContextManager, messages: list[ChatMessage]
) -> list[Prepared[ChatMessage]]:
    """A request wherever the model is to speak."""
    return [of.prepare_nowait(messages[:stop]) for stop in stops_of(messages)]
