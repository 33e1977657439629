"""An agent that reads more logs than its window holds, and asks for a part of one at the end."""

from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from autogen_context.testing import Call, LoopbackServer, Say, ScriptedModel, Step
from autogen_context.tokens.message_counter import MessageCounter

MODEL, WINDOW = "gpt-4-0613", 4_000
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


def strict_server(*steps: Step) -> LoopbackServer:
    """A server that counts as OpenAI does and refuses what is larger than the window."""
    script = ScriptedModel(steps, count=lambda text: COUNTER.count(text).tokens)
    return LoopbackServer(script, window_tokens=WINDOW)
