"""An agent with some 75,000 tokens of work in a window of 8,000: ``make demo``.

Everything is real but the model: AutoGen's agent and client, the tools, the project and its tests, and a server that
refuses what OpenAI refuses. The model is a script, so nothing is downloaded and nothing is paid.
"""

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage, ToolCallRequestEvent
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import LLMMessage, SystemMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from bill import Bill
from closing import Run, closing
from model import Model
from openai import OpenAIError
from story import SYSTEM, TASK, steps
from terminal import progress_bar, say
from tools import Workspace

from autogen_context import Prepared, register
from autogen_context.adapters.agentchat import ManagedChatCompletionContext
from autogen_context.errors import ContextError
from autogen_context.report.table import print_turns
from autogen_context.testing import LoopbackServer, ScriptedModel
from autogen_context.tokens.message_counter import MessageCounter

MODEL = "gpt-4o-2024-08-06"
WINDOW_TOKENS = 8_000
PROJECT = Path(__file__).parent / "project"
NOT_COPIED = shutil.ignore_patterns("__pycache__", "ruff.toml", ".*")


async def main() -> int:
    """Run the agent and print what came of it; the exit code."""
    say(f"An AssistantAgent repairs a small project in a window of {WINDOW_TOKENS:,} tokens.")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(PROJECT, Path(folder, "project"), ignore=NOT_COPIED)
        run = await repair(Workspace(copy))
    say(f"It answers: {run.answer}")
    print_turns(run.bill.records(), input_per_million=run.bill.input_per_million)
    say(closing(run))
    return 0 if run.is_good else 1


async def repair(workspace: Workspace) -> Run:
    """Let the agent repair the project, and look whether it did."""
    model, counter = Model(workspace.outputs), MessageCounter.for_model(MODEL)
    script = ScriptedModel(model, count=lambda text: counter.count(text).tokens)
    async with LoopbackServer(script, window_tokens=WINDOW_TOKENS) as server:
        history, sent = await converse(server.base_url, workspace)
    bill = Bill(
        MODEL,
        history=history,
        sent=sent,
        billed_tokens=[request.prompt_tokens for request in server.requests],
    )
    return Run(
        window_tokens=WINDOW_TOKENS,
        bill=bill,
        answer=str(history[-1].content),
        seen=model.seen,
        rejected=len(server.rejected),
        passes=await workspace.passes(),
    )


async def converse(
    base_url: str, workspace: Workspace
) -> tuple[list[LLMMessage], list[Prepared[LLMMessage]]]:
    """Run the agent: the whole conversation, and what was prepared for each request."""
    inner = OpenAIChatCompletionClient(model=MODEL, base_url=base_url, api_key="none")
    planned = len(list(steps())) + 1
    agent = AssistantAgent(
        "coder",
        inner,
        tools=list(workspace.tools),
        system_message=SYSTEM,
        max_tool_iterations=planned,
    )
    context = register(agent, window_tokens=WINDOW_TOKENS)
    assert isinstance(context, ManagedChatCompletionContext)
    sent: list[Prepared[LLMMessage]] = []
    with progress_bar(planned) as on_answer:
        async for event in agent.run_stream(task=TASK):
            if isinstance(event, ToolCallRequestEvent | TextMessage) and context.last_prepared:
                sent.append(context.last_prepared)
                on_answer()
    await inner.close()
    return await whole_history(context), sent


async def whole_history(context: ManagedChatCompletionContext) -> list[LLMMessage]:
    """All messages of a conversation, as AutoGen's own context would send them."""
    everything = UnboundedChatCompletionContext()
    await everything.load_state(await context.save_state())
    before = [SystemMessage(content=text) for text in context.envelope.system]
    return [*before, *await everything.get_messages()]


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except (ContextError, OpenAIError) as error:
        sys.exit(f"The run broke off: {error}")
