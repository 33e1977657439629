"""Many callers at once: turns of tasks in several event loops on shared managers with a model, and what each call costs its loop.

Usage: python benchmarks/many.py [turns]

8 threads have an event loop each, with 50 tasks; each task takes a conversation and prepares turns of it, with bills, pins,
questions and states between them, until all of them together have taken 20,000. Conversations grow to some 300 messages in a window
of 8,000 tokens, one is handed in with 3,000 messages at once, and one has a window that it never fills. A model is asked for
summaries, advice and embeddings, and answers after giving way. The managers share a cache and a store of vectors.

What is printed: exceptions; for each call the most CPU time of the loop's own thread (``time.thread_time``) between two awaits, by
which no other thread and no busy machine is counted, and of which garbage collection is a part; and the longest turns, which have
threads of their own. ``save_state`` and ``load_state`` are called in threads, since they take as long as the state is large.
"""

import asyncio
import gc
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from material import history

from autogen_context import ContextCache, ContextConfig, IncrementalContextManager, Prepared
from autogen_context.cache.vectors import VectorStore
from autogen_context.testing import ChatMessage, approximate_tokens
from autogen_context.tokens.measure import Count

THREADS, TASKS, TURNS = 8, 50, 20_000
CONVERSATIONS, MESSAGES, WINDOW_TOKENS = 24, 300, 8_000
TURNS_A_STEP = 5  # of a conversation
LONG_MESSAGES, ROOMY_TOKENS = 3_000, 2_000_000
BOUND_MS = 20.0

ResultT = TypeVar("ResultT")


class Approximate:
    """A counter that needs no tokenizer."""

    def count(self, text: str, /) -> Count:
        """Tokens of a text."""
        return Count(tokens=approximate_tokens(text), source="tokenizer")


class Embedder:
    """Vectors by the letters of a text, after giving way."""

    name = "letters"

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector per text."""
        await asyncio.sleep(0)
        return [[1.0 + text.count(letter) for letter in "etaoinshrdlu"] for text in texts]


async def model(prompt: str, /) -> str:
    """An answer in the words of the prompt, after giving way."""
    await asyncio.sleep(0.001)
    return prompt[len(prompt) // 2 :][:600]


class Costs:
    """The CPU time of event loops' threads, by what was called: how often, and the most at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.calls: Counter[str] = Counter()
        self.most_ms: defaultdict[str, float] = defaultdict(float)
        self.above: Counter[str] = Counter()
        self._collected = threading.local()
        gc.callbacks.append(self._collecting)

    def _collecting(self, phase: str, _info: object) -> None:
        """Note the time of garbage collection, of which a thread pays for all threads' garbage."""
        here = self._collected
        if phase == "start":
            here.began_s = time.thread_time()
        else:
            here.ms = getattr(here, "ms", 0.0) + 1_000 * (time.thread_time() - here.began_s)

    @contextmanager
    def of(self, name: str) -> Generator[None]:
        """Count what is done in the block, without garbage collection, which is counted by itself."""
        self._collected.ms, began_s = 0.0, time.thread_time()
        try:
            yield
        finally:
            ms, collected = 1_000 * (time.thread_time() - began_s), self._collected.ms
            with self._lock:
                for what, each in ((name, ms - collected), ("garbage collection in it", collected)):
                    self.calls[what] += 1
                    self.above[what] += each > BOUND_MS
                    self.most_ms[what] = max(self.most_ms[what], each)

    async def awaited(self, name: str, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Await a coroutine; each of its steps is counted."""
        result: ResultT = await Steps(work, partial(self.of, name))
        return result


class Steps:
    """A coroutine whose steps are measured."""

    def __init__(self, work: Coroutine[Any, Any, Any], measured: Callable[[], Any]) -> None:
        self._work, self._measured = work, measured

    def __await__(self) -> Generator[Any, Any, Any]:
        """Pass on what goes in and comes out."""
        sent, error = None, None
        while True:
            with self._measured():
                try:
                    out = self._work.send(sent) if error is None else self._work.throw(error)
                except StopIteration as ended:
                    return ended.value
            sent, error = None, None
            try:
                sent = yield out
            except BaseException as thrown:  # noqa: BLE001 - passed on
                error = thrown


class Run:
    """The managers, their conversations, and what happens to them."""

    def __init__(self, turns: int) -> None:
        self.turns, self.begun, self._lock, self.costs = turns, 0, Lock(), Costs()
        self.faults: Counter[str] = Counter()
        self.compacted = self.taken = 0
        self.longest_ms = 0.0
        cache = ContextCache()
        vectors = VectorStore(Embedder(), cache=cache, entries=20_000)
        self.histories = [history(MESSAGES + n) for n in range(CONVERSATIONS)]
        self.histories[0] = history(LONG_MESSAGES)
        sizes = [WINDOW_TOKENS] * CONVERSATIONS
        sizes[1] = ROOMY_TOKENS
        self.managers = [
            IncrementalContextManager(
                config=ContextConfig(window_tokens=size, compaction="when_full"),
                counter=Approximate(),
                model_client=model,
                vectors=vectors,
                cache=cache,
            )
            for size in sizes
        ]

    def numbers(self) -> Iterator[int]:
        """The numbers of turns that nobody else takes."""
        while True:
            with self._lock:
                number, self.begun = self.begun, self.begun + 1
            if number >= self.turns:
                return
            yield number

    async def task(self) -> None:
        """Take turns of one conversation after the other; each grows by a call and its result after some turns."""
        for number in self.numbers():
            at, messages = number % CONVERSATIONS, self.histories[number % CONVERSATIONS]
            grown = 2 * (number // (CONVERSATIONS * TURNS_A_STEP))
            stop = len(messages) if not at else min(2 + grown, len(messages))
            try:
                await self._one(self.managers[at], messages[:stop], number)
            except Exception as error:  # noqa: BLE001 - that is what is counted
                self.faults[f"{type(error).__name__}: {error}"[:200]] += 1

    async def _one(
        self, manager: IncrementalContextManager, messages: list[ChatMessage], number: int
    ) -> None:
        costs, began_s = self.costs, time.perf_counter()
        prepared: Prepared[ChatMessage] = await costs.awaited("prepare", manager.prepare(messages))
        if not prepared.certificate.fits:
            self.faults["a request does not fit"] += 1
        with self._lock:
            self.taken += 1
            self.compacted += prepared.compacted
            self.longest_ms = max(self.longest_ms, 1_000 * (time.perf_counter() - began_s))
        chosen = messages[-1 - number % 2]
        with costs.of("record_usage"):
            manager.record_usage(prepared, prompt_tokens=prepared.certificate.counted_tokens)
        with costs.of("usage"):
            _ = manager.usage
        with costs.of("versions"):
            _ = manager.versions
        if not number % 5:
            with costs.of("pin"):
                manager.pin(chosen)
            with costs.of("unpin"):
                manager.unpin(chosen)
        if not number % 3:
            with costs.of("explain"):
                manager.explain(messages[0])
        if not number % 7:
            with costs.of("observe"):
                manager.observe(messages)
        if not number % 50:
            state = await asyncio.to_thread(manager.save_state)
            self.faults["a state without digests"] += not state["digests"]

    def loop(self) -> None:
        """All tasks of one thread."""

        async def main() -> None:
            loop = asyncio.get_running_loop()
            loop.set_task_factory(self._made)
            tasks = [asyncio.create_task(self.task()) for _ in range(TASKS)]
            await asyncio.gather(*tasks)

        asyncio.run(main())

    def _made(
        self, loop: asyncio.AbstractEventLoop, work: Any, **named: Any
    ) -> "asyncio.Task[Any]":
        """A task, whose steps are measured if it is one of ours."""
        name = getattr(work, "__qualname__", "")
        if name.endswith(("._summarise", "._ask", "._embedded")):
            work = self.costs.awaited(f"background, {name}", work)
        return asyncio.Task(work, loop=loop, **named)

    async def close(self) -> None:
        """Close all managers."""
        for manager in self.managers:
            await manager.aclose()


def main() -> None:
    """Take the turns, and print what came of them."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    run, began_s = Run(turns), time.perf_counter()
    threads = [threading.Thread(target=run.loop) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(run.close())
    taken_s = time.perf_counter() - began_s
    print(
        f"{run.taken:,} turns of {THREADS} threads with {TASKS} tasks each on {CONVERSATIONS} managers in {taken_s:.0f} s, "
        f"{run.compacted:,} compactions, the longest turn {run.longest_ms:,.0f} ms"
    )
    print(f"faults: {dict(run.faults) or 'none'}")
    print(
        f"{'CPU of the loop between two awaits':<36}{'steps':>10}{'most, ms':>12}{'above 20 ms':>14}"
    )
    for name, count in run.costs.calls.most_common():
        print(f"{name:<36}{count:>10,}{run.costs.most_ms[name]:>12.2f}{run.costs.above[name]:>14,}")


if __name__ == "__main__":
    main()
