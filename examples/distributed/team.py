"""A team over two worker processes on AutoGen's distributed runtime, one of which is killed in the middle of its work.

    python examples/distributed/team.py

It needs ``pip install "autogen-context[redis,fast]" "autogen-ext[grpc,openai]"`` and a Redis server: that of ``REDIS_URL``, or
``redis-server`` on this machine. The model is scripted and refuses what is larger than the window.
"""

import asyncio
import os
import secrets
import shutil
import socket
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from autogen_core import AgentId, try_get_known_serializers_for_type
from autogen_ext.runtimes.grpc import GrpcWorkerAgentRuntime, GrpcWorkerAgentRuntimeHost
from task import WINDOW, Task

from autogen_context.testing import Call, LoopbackServer, Request, Say, ScriptedModel, Step

KILLED_IN = 5  # of ten tasks
WORKER = Path(__file__).with_name("worker.py")
# What a worker reads was written by one with the key; without it nothing of the team is shared.
ENVIRONMENT = {"AUTOGEN_CONTEXT_STORE_KEY": secrets.token_hex(32), **os.environ}
LOST = f"block {41 * 7919 + 2}"  # stands in the second log, which left the reader's window long ago


def model(request: Request) -> Step:
    """Reads three logs for each task; who is asked about a block looks for it in what the team has seen."""
    last = request.messages[-1]
    task = [str(m["content"]) for m in request.messages if m["role"] == "user"][-1]
    if last["role"] == "user" and LOST in task:
        return Call("recall_context", {"query": LOST})
    if last["role"] == "tool" and LOST in task:
        lines = str(last["content"]).splitlines()
        found = next((line for line in lines if line.endswith(f"wrote {LOST}")), "nothing")
        return Say(f"I found: {found}")
    roles = [m["role"] for m in request.messages]
    read = roles[::-1].index("user") // 2  # logs since the task came
    if read == 3:  # noqa: PLR2004 - as said above
        return Say(f"Done: {task}")
    number = [int(word) for word in task.split() if word.isdigit()][-1]
    return Call("read_log", {"number": number * 3 + read})


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def redis() -> AsyncGenerator[str]:
    """The url of a Redis server: the one that is named, or one for this run."""
    if url := os.environ.get("REDIS_URL"):
        yield url
        return
    if shutil.which("redis-server") is None:
        sys.exit("set REDIS_URL to a Redis server, or install redis-server")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = await asyncio.create_subprocess_exec("redis-server", *options, stdout=PIPE)
        assert process.stdout is not None
        async for line in process.stdout:
            if b"Ready to accept" in line:
                break
        try:
            yield f"redis://127.0.0.1:{port}"
        finally:
            await ended(process)


async def started(name: str, *arguments: str) -> Process:
    """A worker that has joined the runtime."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(WORKER), name, *arguments, stdout=PIPE, env=ENVIRONMENT
    )
    assert process.stdout is not None
    if await process.stdout.readline() != b"ready\n":
        sys.exit(f"the worker {name} did not start")
    return process


async def ended(process: Process) -> None:
    """End a process of this run, as a machine that fails would."""
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def told_of_errors(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """All but that a call to the killed worker was cancelled, which the runtime's host reports as an error."""
    if not isinstance(context.get("exception"), asyncio.CancelledError):
        loop.default_exception_handler(context)


async def main() -> None:
    """Ten tasks for the reader, who is killed in the middle of the sixth; then a question to the other."""
    port = free_port()
    host = GrpcWorkerAgentRuntimeHost(address=f"127.0.0.1:{port}")
    host.start()
    asyncio.get_running_loop().set_exception_handler(told_of_errors)
    async with (
        redis() as redis_url,
        LoopbackServer(ScriptedModel(model), window_tokens=WINDOW) as server,
    ):
        places = (f"127.0.0.1:{port}", server.base_url, redis_url)
        reader, writer = await asyncio.gather(
            *(started(name, *places) for name in ("reader", "writer"))
        )
        workers = {"reader": reader, "writer": writer}
        runtime = GrpcWorkerAgentRuntime(host_address=places[0])
        runtime.add_message_serializer(try_get_known_serializers_for_type(Task))
        await runtime.start()

        async def ask(name: str, text: str) -> str:
            answer: Task = await runtime.send_message(Task(text), AgentId(name, "default"))
            return answer.text

        try:
            for number in range(10):
                text = f"Read the logs of day {number}"
                if number == KILLED_IN:
                    before = len(server.requests)
                    broken_off = asyncio.create_task(ask("reader", text))
                    while len(server.requests) < before + 2:  # noqa: ASYNC110 - the server is no part of this loop
                        await asyncio.sleep(0.01)
                    await ended(workers["reader"])
                    broken_off.cancel()
                    print(f"reader killed in task {number}, after {len(server.requests)} requests")
                    workers["reader"] = await started("reader", *places)
                await ask("reader", text)
            print("reader:", await ask("reader", f"Who wrote {LOST}?"))
            print("writer:", await ask("writer", f"Who wrote {LOST}?"))
        finally:
            for each in workers.values():
                await ended(each)
            await runtime.stop()
            await host.stop(grace=0)
        most = max(request.prompt_tokens for request in server.requests)
        counts = f"{len(server.requests)} requests, {len(server.rejected)} rejected"
        print(f"{counts}, the largest {most} of {WINDOW} tokens")


if __name__ == "__main__":
    asyncio.run(main())
