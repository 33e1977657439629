"""What cannot be meant is refused at once, with the argument, its value and what to give."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import pytest

from autogen_context.model.limits import ModelLimits
from autogen_context.pipeline.attention.part import ContextPart
from autogen_context.pipeline.attention.score import AttentionScorer
from autogen_context.pipeline.budget.allocate import TokenBudget, TokenBudgetManager
from autogen_context.pipeline.compress.compressor import SemanticCompressor
from autogen_context.pipeline.compress.counting import CountsText
from autogen_context.pipeline.priority.prioritize import ContextPrioritizer
from autogen_context.pipeline.task.definition import TaskDefinition
from autogen_context.store.cache.cache import ContextCache
from autogen_context.store.cache.fingerprint import Compare
from autogen_context.store.cache.shared_tier import SharedTier
from autogen_context.store.scope import Scope
from autogen_context.store.stash.file import StashFile
from autogen_context.store.stash.stash import Stash

# Each of them is no such thing; the casts are what a caller without a type checker does.
TEXTS = cast("list[ContextPart]", ["a text"])
MESSAGES = cast("list[ContextPart]", [{"role": "user", "content": "hi"}])
NUMBER = cast("str", 5)
PATHS = cast("list[str]", Path("a.py"))

MAKE: dict[str, Callable[[], object]] = {
    r"parts\[0\]='a text': give ContextPart": lambda: AttentionScorer().score_nowait("q", TEXTS),
    r"parts\[0\]=\{'role': 'user'.*: give ContextPart": lambda: ContextPrioritizer().prioritize(
        "q", MESSAGES
    ),
    "total_tokens=True: give 1 or more": lambda: TokenBudgetManager(total_tokens=True),
    "total_tokens='8000': give 1 or more": lambda: TokenBudgetManager(cast("int", "8000")),
    "compression_threshold=80: give a share from 0 to 1": lambda: TokenBudget(
        total=0, allocations={}, reserve_buffer=0, compression_threshold=80
    ),
    "counter=<built-in function len>: give an object with": lambda: SemanticCompressor(
        counter=cast("CountsText", len)
    ),
    "limit_bytes=-1: give a number of bytes": lambda: Stash(-1),
    r"files='my.json': give several, such as \['my.json'\]": lambda: ModelLimits(files="my.json"),
    "compare='hash': give one of times, content": lambda: ContextCache(
        compare=cast("Compare", "hash")
    ),
    "redis=5: give the url of a server": lambda: ContextCache(redis=cast("SharedTier", 5)),
    "url='…': give redis://": lambda: ContextCache(redis="localhost"),
}


@pytest.mark.parametrize(("named", "make"), MAKE.items(), ids=MAKE)
def test_what_is_no_such_thing_is_refused(named: str, make: Callable[[], object]) -> None:
    """When it is handed over, not where it is used."""
    with pytest.raises(ValueError, match=named):
        make()


@pytest.mark.parametrize(
    ("named", "wrong"),
    [
        pytest.param("key=5: give a text", {"key": NUMBER}, id="key"),
        pytest.param("builder='a text': give a function", {"builder": "a text"}, id="builder"),
        pytest.param("give a list of paths", {"depends_on": PATHS}, id="one path"),
        pytest.param("depends_on=None: give a list", {"depends_on": None}, id="no list"),
        pytest.param("depends_on has 5: give paths", {"depends_on": [NUMBER]}, id="no path"),
    ],
)
async def test_a_cache_refuses_what_it_cannot_keep(named: str, wrong: dict[str, object]) -> None:
    """Before anything is built."""
    asked: dict[str, object] = {"key": "k", "builder": lambda: "built", **wrong}
    ask = cast("Callable[..., Awaitable[object]]", ContextCache().get_or_build)
    with pytest.raises(ValueError, match=named):
        await ask(**asked)


def test_what_can_only_be_meant_is_taken(tmp_path: Path) -> None:
    """A path as text, a task as text, and what there is most of without its name."""
    assert StashFile(str(tmp_path), scope=Scope()).path.parent == tmp_path
    (tmp_path / "own.json").write_text('{"mine": 5}')
    assert ModelLimits(files=[str(tmp_path / "own.json")]).lookup("mine").input_tokens == 5
    text = "Fix the crash in auth.py, then run the tests. The API must stay as it is."
    budgets = TokenBudgetManager(16_000)
    assert budgets.allocate(text) == budgets.allocate(TaskDefinition.from_text(text))
    is_critical = True
    assert ContextPart("goal", "Ship it.", is_critical) == ContextPart(
        "goal", "Ship it.", critical=True
    )
