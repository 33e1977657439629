"""An agent that reads more logs than its window holds, and asks for a part of one at the end."""

import re
from collections.abc import Callable

from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.testing import Call, LoopbackServer, Request, Say, ScriptedModel, Step
from autogen_context.tokens.message_counter import MessageCounter

MODEL, WINDOW = "gpt-4-0613", 4_000
NOWHERE = "http://127.0.0.1:9/v1"
COUNTER = MessageCounter.for_model(MODEL)
PROMPT = "You read logs. " * 60


def read_log(number: int) -> str:
    """Read one of the log files."""
    return "".join(f"worker {number} wrote block {n * 7919 + number}\n" for n in range(60))


ASKED_BACK = f"block {41 * 7919 + 2}"  # of the third log


def fourteen_logs() -> list[Step]:
    """A run that reads more than the window holds, and asks for a part of it at its end."""
    asks = Call(RECALL_TOOL_NAME, {"query": ASKED_BACK})
    return [*(Call("read_log", {"number": n}) for n in range(14)), asks, Say("Done. TERMINATE")]


def by_handle(request: Request) -> Step:
    """Ask for the whole original of which a part was found."""
    return Call(RECALL_TOOL_NAME, {"handle": found(request)[1]})


def by_line(request: Request) -> Step:
    """Ask for the first line of what was found."""
    place = found(request)
    return Call(RECALL_TOOL_NAME, {"handle": place[1], "lines": place[2]})


def found(request: Request) -> re.Match[str]:
    """Handle and first line of what was found by a query."""
    place = re.search(r"\[Original (\w+)[^,]*, lines (\d+)-(\d+) of", str(request.messages))
    assert place is not None
    return place


Reply = Step | Callable[[Request], Step]


def exact_tokens(text: str) -> int:
    """Tokens by the tokenizer of the model, where it is on this machine."""
    return COUNTER.count(text).tokens


def strict_server(
    *steps: Reply, window_tokens: int | None = WINDOW, strict_roles: bool = False
) -> LoopbackServer:
    """A server that counts as OpenAI does and refuses what is larger than the window; a step may look at its request."""
    remaining = iter(steps)

    def step(request: Request) -> Step:
        chosen = next(remaining)
        return chosen(request) if callable(chosen) else chosen

    script = ScriptedModel(step, count=exact_tokens)
    return LoopbackServer(script, window_tokens=window_tokens, strict_roles=strict_roles)
