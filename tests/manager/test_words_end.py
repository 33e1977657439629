"""What people said leaves the process's memory with the conversation that it was said in (G45)."""

import gc
import sys
from collections.abc import Iterator
from itertools import chain
from logging import Logger
from threading import Thread
from types import ModuleType

from autogen_context import ContextCache, IncrementalContextManager
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.testing import ChatMessage
from autogen_context.text.memo import Memo, remembered
from support.counting import Characters
from support.saying import says
from support.working import TASK, Summarising, lived_through, manager, step

MARK = "zuqvex"
ELSEWHERE = (
    type,
    ModuleType,
    Logger,
)  # classes know their subclasses, modules and loggers all others


def texts_of_the_package() -> Iterator[str | bytes]:
    """All texts that the package's modules reach: their constants, tables and caches, and what these hold."""
    ours = [
        vars(m) for name, m in sys.modules.items() if name.partition(".")[0] == "autogen_context"
    ]
    others = {id(vars(m)) for m in sys.modules.values()} - set(map(id, ours))
    seen, found = set[int](), list[object](ours)
    while found:
        one = found.pop()
        if id(one) in seen or id(one) in others:
            continue
        seen.add(id(one))
        if isinstance(one, str | bytes):
            yield one
        elif isinstance(one, type) and one.__module__.startswith("autogen_context"):
            found += vars(one).values()
        elif not isinstance(one, ELSEWHERE):
            found += gc.get_referents(one)


def left_over() -> list[str | bytes]:
    """The texts with the mark that the package still reaches."""
    gc.collect()
    mark = MARK.encode()
    texts = (
        (each, each.lower() if isinstance(each, bytes) else each.lower().encode("utf-8", "replace"))
        for each in texts_of_the_package()
    )
    return [each for each, data in texts if mark in data]


def talk() -> list[ChatMessage]:
    """Turns that are read in every way: a rule, questions, a call with a name, results, a value and a file."""
    rule = f"Never touch {MARK}_rule.py. The limit of {MARK.upper()}-7 is at most 40 euros, and the {MARK}s wait."
    return [
        *TASK,
        says(rule),
        *chain(*(step(n, f"def {MARK}_{n}(): return 'src/{MARK}.py'") for n in range(24))),
    ]


async def lived(**given: object) -> IncrementalContextManager:
    """A conversation with summaries, compactions, questions and a bill."""
    keeper = manager(Summarising(), 6_000, summary_timeout_s=60.0, **given)
    asked = [*talk(), says(f"What did we say about the limit of {MARK.upper()}-7?")]
    prepared = await lived_through(keeper, asked)
    assert any(each.kind == "compaction" for each in keeper.versions)
    keeper.explain(asked[-1])
    keeper.recall_context(query=f"{MARK}_rule")
    keeper.record_usage(prepared, prompt_tokens=prepared.certificate.counted_tokens)
    return keeper


async def test_nothing_that_was_said_outlives_a_closed_conversation() -> None:
    """In nothing that a module of the package reaches; another conversation that goes on is no reason to keep it."""
    other = IncrementalContextManager(window_tokens=6_000, counter=Characters())
    other.prepare_nowait([*TASK])
    keeper = await lived()
    await keeper.aclose()
    assert left_over() == []
    other.prepare_nowait([*TASK, *step(0)])


async def test_nothing_that_was_said_outlives_a_conversation_that_nobody_closes() -> None:
    """It leaves with its manager."""
    await lived()
    assert left_over() == []


async def test_a_cache_that_was_given_keeps_what_was_made() -> None:
    """Its owner clears it."""
    async with ContextCache() as cache:
        await (await lived(cache=cache)).aclose()
        assert left_over() == []


def test_parts_that_are_used_alone_keep_nothing_with_the_package() -> None:
    """A compressor by itself remembers what it shortened, and nobody else does."""
    text = "\n".join(str(each["content"]) for each in talk())
    assert (
        MARK
        in SemanticCompressor(counter=Characters())
        .compress_nowait(text, target_tokens=400)
        .compressed
    )
    assert left_over() == []


def test_a_memo_keeps_what_was_worked_out_until_it_is_ended() -> None:
    """Only while it is in use, as many results as the function says, and nothing any more after its end."""
    made: list[str] = []

    @remembered(2)
    def upper(text: str) -> str:
        made.append(text)
        return text.upper()

    memo = Memo()
    with memo.in_use():
        assert [upper(each) for each in "aabac"] == list("AABAC")
        assert made == ["a", "b", "c"]
        with Memo().in_use():
            upper("a")
        upper("c")
        other = Thread(target=upper, args=("c",))
        other.start()
        other.join()
    assert made == ["a", "b", "c", "a", "c"]
    upper("c")
    memo.end()
    with memo.in_use():
        assert [upper("c"), upper("c")] == ["C", "C"]
    assert made[5:] == ["c"] * 3
