"""An agent with some 75,000 tokens of work in a window of 8,000: ``make demo``.

Everything is real but the model: AutoGen's agent and client, the tools, the project and its tests, and a server that
refuses what OpenAI refuses. The model is a script, so nothing is downloaded and nothing is paid.
"""

import argparse
import asyncio
import shlex
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
from draw import drawing
from model import Model
from openai import OpenAIError
from result import Run, picture, reading, result
from story import SYSTEM, TASK, steps
from terminal import progress_bar, say, show
from tools import Workspace

from autogen_context import Prepared, register
from autogen_context.adapters.agentchat import ManagedChatCompletionContext
from autogen_context.errors import ContextError
from autogen_context.manager.event_log import EventLog
from autogen_context.report.events import read_events, runs_of
from autogen_context.report.page import page_of
from autogen_context.report.table import print_turns
from autogen_context.testing import LoopbackServer, ScriptedModel
from autogen_context.tokens.message_counter import MessageCounter

MODEL = "gpt-4o-2024-08-06"
WINDOW_TOKENS = 8_000
PAGE = Path("demo.html")
PROJECT = Path(__file__).parent / "project"
NOT_COPIED = shutil.ignore_patterns("__pycache__", "ruff.toml", ".*")


def main(*, has_table: bool, svg: Path | None) -> int:
    """Run the agent and print what came of it; the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(PROJECT, Path(folder, "project"), ignore=NOT_COPIED)
        log = Path(folder, "run.jsonl")
        run = asyncio.run(repair(Workspace(copy), log))
        page = page_of([run.logged], title="The demo", bills=[run.bill.records])
        PAGE.write_text(page, encoding="utf-8")
    if svg:
        svg.write_text(drawing(run), encoding="utf-8")
    say(result(run))
    show(picture(run))
    say(reading(run))
    if has_table:
        say(f"It answers: {run.answer}")
        print_turns(run.bill.records)
    else:
        say(
            f"Every request as a table: {shlex.join([sys.executable, *sys.argv, '--table'])}",
            fill=False,
        )
    say(f"What was sent, what left and why, as a page: {PAGE.resolve()}", fill=False)
    return 0 if run.is_good else 1


async def repair(workspace: Workspace, log: Path) -> Run:
    """Let the agent repair the project, and look whether it did."""
    model, counter = Model(workspace.outputs), MessageCounter.for_model(MODEL)
    script = ScriptedModel(model, count=lambda text: counter.count(text).tokens)
    async with LoopbackServer(script, window_tokens=WINDOW_TOKENS) as server:
        history, sent = await converse(server.base_url, workspace, log)
    [logged] = runs_of(read_events(log))
    bill = Bill(
        logged,
        history=history,
        sent=sent,
        billed_tokens=[request.prompt_tokens for request in server.requests],
        window_tokens=WINDOW_TOKENS,
    )
    return Run(
        window_tokens=WINDOW_TOKENS,
        logged=logged,
        bill=bill,
        answer=str(history[-1].content),
        seen=model.seen,
        rejected=len(server.rejected),
        passes=await workspace.passes(),
    )


async def converse(
    base_url: str, workspace: Workspace, log: Path
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
    events = EventLog(log, record_text=True)
    context = register(agent, window_tokens=WINDOW_TOKENS, events=events)
    assert isinstance(context, ManagedChatCompletionContext)
    sent: list[Prepared[LLMMessage]] = []
    with progress_bar(planned) as on_answer:
        async for event in agent.run_stream(task=TASK):
            if isinstance(event, ToolCallRequestEvent | TextMessage) and context.last_prepared:
                sent.append(context.last_prepared)
                on_answer()
    await inner.close()
    events.flush(60)
    return await whole_history(context), sent


async def whole_history(context: ManagedChatCompletionContext) -> list[LLMMessage]:
    """All messages of a conversation, as AutoGen's own context would send them."""
    everything = UnboundedChatCompletionContext()
    await everything.load_state(await context.save_state())
    return [SystemMessage(content=SYSTEM), *await everything.get_messages()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="An agent with 75,000 tokens of work in a window of 8,000."
    )
    parser.add_argument("--table", action="store_true", help="show every request as well")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the picture of the README")
    asked = parser.parse_args()
    try:
        sys.exit(main(has_table=asked.table, svg=asked.svg))
    except (ContextError, OpenAIError) as error:
        sys.exit(f"The run broke off: {error}")
