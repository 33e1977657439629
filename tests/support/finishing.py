"""Pieces of work, one after the other, each finished with its last step; and the turns in which a model does them."""

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.testing import ChatMessage
from support.saying import step

TASK: list[ChatMessage] = [
    {"role": "system", "content": "You repair programs."},
    {"role": "user", "content": "Repair the shop."},
]


def work(pieces: int) -> list[ChatMessage]:
    """Reading, changing and testing one file after the other: subtasks that are finished with their last step."""
    messages = [*TASK]
    for n in range(pieces):
        path = f"src/part_{n}.py"
        text = "\n".join(f"value_{n}_{line} = {line * n}" for line in range(187))
        messages += step(f"c{n}a", "read_file", text, path=path)
        messages += step(f"c{n}b", "search_files", f"{path}:1: {text[:400]}", pattern=f"value_{n}")
        messages += step(f"c{n}c", "str_replace", "Done.", path=path, old="1", new="2")
        messages += step(f"c{n}d", "run_tests", "9 passed in 0.4s")
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
