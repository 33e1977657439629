"""Whether a turn's cost depends on how long a conversation is, and how much memory a message takes for good.

Usage: python benchmarks/growth.py [TURNS]

Each row compares a late stretch with an early one of the same conversation: medians of processor time, so that other work on the
machine counts little. TURNS (4,000) small turns show what stays in memory for each message once the window, the reach of a
compaction and the versions are full; the caller's own list is in it. The last lines are the longest time for which the event loop
stood still while ``prepare`` ran, without the collections of garbage that Python ran meanwhile, and the longest of these: it
depends on all objects of a process, of which this one has few.
"""

import asyncio
import gc
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from autogen_context import IncrementalContextManager
from autogen_context.testing import ChatMessage

PAGE_BYTES = 4096
WORDS = [f"w{n}" for n in range(4_000)]
EARLY, LATE, STRETCH = 300, 1_800, 100  # turns


def work(turns: int) -> Iterator[list[ChatMessage]]:
    """An agent that reads files, turn by turn; every 25th a person says something."""
    rng = random.Random(5)  # noqa: S311 - the same work each time
    for turn in range(turns):
        path = f"src/mod_{rng.randrange(60)}.py"
        said: list[ChatMessage] = []
        if turn % 25 == 24:
            said.append({"role": "user", "content": f"Now look at {path}, within {turn} seconds."})
        call = {"name": "read_file", "arguments": f'{{"path": "{path}"}}'}
        said.append(
            {
                "role": "assistant",
                "content": f"I look at {path}.",
                "tool_calls": [{"id": f"c{turn}", "type": "function", "function": call}],
            }
        )
        lines = (" ".join(rng.choices(WORDS, k=8)) for _ in range(rng.randrange(5, 40)))
        said.append({"role": "tool", "tool_call_id": f"c{turn}", "content": "\n".join(lines)})
        yield said


def turns_by_kind() -> None:
    """Print holding and compacting turns, early and late."""
    manager = IncrementalContextManager(window_tokens=8_000)
    history: list[ChatMessage] = [{"role": "system", "content": "You are a coding agent."}]
    times: dict[tuple[str, str], list[float]] = {}
    for turn, said in enumerate(work(LATE + STRETCH)):
        history += said
        start = time.process_time()
        prepared = manager.prepare_nowait(history)
        spent = time.process_time() - start
        kind = "compacting" if prepared.compacted else "holding"
        for name, begin in (("early", EARLY), ("late", LATE)):
            if begin <= turn < begin + STRETCH:
                times.setdefault((kind, name), []).append(spent)
    for kind in ("holding", "compacting"):
        early, late = median(times[kind, "early"]), median(times[kind, "late"])
        print(row(f"{kind} turn, {EARLY} and {LATE} turns", early, late))


def questions() -> None:
    """Print what a question about the past costs on a short and on a long history, where it has as many hits."""
    found: list[float] = []
    for messages in (1_000, 8_000):
        manager = IncrementalContextManager(window_tokens=8_000)
        history: list[ChatMessage] = []
        for n in range(messages // 2):
            history.append({"role": "user", "content": f"Item {n} costs {n * 37} pounds."})
            history.append({"role": "assistant", "content": "Noted."})
        manager.prepare_nowait(history)
        spent: list[float] = []
        for n in range(9):
            history.append({"role": "user", "content": f"What did I say item {n * 31} costs?"})
            start = time.process_time()
            manager.prepare_nowait(history)
            spent.append(time.process_time() - start)
            history.append({"role": "assistant", "content": "As you said."})
            manager.prepare_nowait(history)
        found.append(median(spent))
    print(row("question, 1,000 and 8,000 messages", *found))


def memory(turns: int) -> None:
    """Print what a message takes for good."""
    manager = IncrementalContextManager(window_tokens=4_000)
    history: list[ChatMessage] = []
    marks: list[tuple[int, int]] = []
    for turn in range(turns):
        history.append(
            {"role": "user", "content": f"Message {turn}: what of item {turn * 7 % 9973}?"}
        )
        history.append({"role": "assistant", "content": f"Item {turn * 7 % 9973} is fine."})
        manager.prepare_nowait(history)
        if turn + 1 in {turns // 4, turns}:
            gc.collect()
            marks.append((len(history), resident_bytes()))
    (few, before), (many, after) = marks
    print(f"{'a small message takes':44} {(after - before) / (many - few):10.0f} bytes")


async def pauses() -> None:
    """Print the longest time for which the event loop stood still, and the longest collection of garbage meanwhile."""
    manager, longest = IncrementalContextManager(window_tokens=32_000), 0.0
    history: list[ChatMessage] = []
    collected: list[float] = []
    began, running = 0.0, True

    def collecting(phase: str, _info: dict[str, int]) -> None:
        nonlocal began
        if phase == "start":
            began = time.perf_counter()
        else:
            collected.append(time.perf_counter() - began)

    async def watch() -> None:
        nonlocal longest
        while running:
            start, known = time.perf_counter(), len(collected)
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - start - 0.001 - sum(collected[known:]))

    gc.callbacks.append(collecting)
    watching = asyncio.create_task(watch())
    for said in work(400):
        history += said
        await manager.prepare(history)
        await asyncio.sleep(0)  # where the agent asks its model
    running = False
    await watching
    gc.callbacks.remove(collecting)
    print(f"{'longest pause of the event loop':44} {longest * 1e3:10.1f} ms")
    print(f"{'longest collection of garbage':44} {max(collected) * 1e3:10.1f} ms")


def resident_bytes() -> int:
    """What the process has in memory."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * PAGE_BYTES


def row(name: str, early: float, late: float) -> str:
    """Two times and their ratio."""
    return f"{name:44} {early * 1e3:8.2f} ms {late * 1e3:8.2f} ms   x {late / early:.2f}"


def main() -> None:
    """Print all."""
    memory(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000)  # first, while nothing else was freed
    turns_by_kind()
    questions()
    asyncio.run(pauses())


if __name__ == "__main__":
    main()
