"""What cannot be meant is refused at once, with the argument, its value and what to give."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.budget.manager import TokenBudget, TokenBudgetManager
from autogen_context.budget.task import TaskDefinition
from autogen_context.cache.cache import ContextCache
from autogen_context.cache.fingerprint import Compare
from autogen_context.cache.originals import DiskOriginals, OriginalStore, OriginalTier
from autogen_context.cache.tier import Scope, SharedTier
from autogen_context.cache.watch import FileWatch
from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.errors import InvalidTranscript
from autogen_context.ledger import Ledger
from autogen_context.manager.change import ContextChange
from autogen_context.messages.tool_schema import recall_tool_schema
from autogen_context.prioritizer.attention import (
    AttentionFilter,
    AttentionScore,
    AttentionScorer,
    ContextPart,
)
from autogen_context.prioritizer.prioritizer import ContextPrioritizer
from autogen_context.recall.facts import Facts
from autogen_context.testing import ChatMessage
from autogen_context.tokens.limits import ModelLimits
from autogen_context.tokens.measure import CountsText, EstimateCounter
from autogen_context.triggers.hybrid import SemanticHybridTrigger, StalenessTracker
from autogen_context.triggers.turn import Trigger

# Each of them is no such thing; the casts are what a caller without a type checker does.
TEXTS = cast("list[ContextPart]", ["a text"])
NUMBER = cast("str", 5)
NOTHING = cast("str", None)
PATHS = cast("list[str]", Path("a.py"))
SAID: ChatMessage = {"role": "user", "content": "My name is Ann."}

MAKE: dict[str, Callable[[], object]] = {
    "directory=5: give a path": lambda: ContextCache(NUMBER),
    "watch=5: give a FileWatch": lambda: ContextCache(watch=cast("FileWatch", 5)),
    r"more\[0\]=5: give an object": lambda: SemanticHybridTrigger(more=[cast("Trigger", 5)]),
    "keep=5: give keywords": lambda: SemanticCompressor().compress_nowait(
        "a", target_tokens=1, keep=[NUMBER]
    ),
    r"scores\[0\]='a text': give what": lambda: SemanticCompressor().compress_parts_nowait(
        cast("list[AttentionScore]", TEXTS), limit_tokens=1
    ),
    r"parts\[0\]='a text': give ContextPart": lambda: AttentionScorer().score_nowait("q", TEXTS),
    "total_tokens='8000': give 1 or more": lambda: TokenBudgetManager(cast("int", "8000")),
    "compression_threshold=80: give a fraction from 0 to 1": lambda: TokenBudget(
        total=0, allocations={}, reserve_buffer=0, compression_threshold=80
    ),
    "counter=<built-in function len>: give an object with": lambda: SemanticCompressor(
        counter=cast("CountsText", len)
    ),
    "limit_bytes=-1: give a number, 0 or more": lambda: OriginalStore(-1),
    r"files='my.json': give several, such as \['my.json'\]": lambda: ModelLimits(files="my.json"),
    "compare='hash': give one of times, content": lambda: ContextCache(
        compare=cast("Compare", "hash")
    ),
    "shared=5: give the url of a server": lambda: ContextCache(shared=cast("SharedTier", 5)),
    "url='…': give redis://": lambda: ContextCache(shared="localhost"),
    "text=5: give the task as a text": lambda: TaskDefinition.from_text(NUMBER),
    "text=None: give the task as a text": lambda: ContextPrioritizer().prioritize(NOTHING, []),
    "label=5: give a text": lambda: ContextPart(NUMBER, "Ship it."),
    "text=5: give a text": lambda: ContextPart("goal", NUMBER),
    r"number=99: give one of the turns known, \[\]": lambda: StalenessTracker().staleness_of(99),
    r"model_client='host': .*register\(agent\)": lambda: IncrementalContextManager(
        model_client="host"
    ),
    "original_store=5: give .* your own OriginalTier": lambda: IncrementalContextManager(
        original_store=cast("OriginalTier", 5)
    ),
    "query=5: give a text": lambda: AttentionScorer().score_nowait(NUMBER, []),
    r"scores\[0\]=ContextPart.*: give what AttentionScorer": lambda: AttentionFilter().filter(
        cast("list[AttentionScore]", [ContextPart("goal", "Ship it.")])
    ),
    "top_k=1.5: give 1 or more": lambda: AttentionFilter(top_k=cast("int", 1.5)),
    "messages={'role'.*: give a list of messages": lambda: Facts().learn(SAID),
    "text=None: give a text": lambda: Ledger().learn_text(NOTHING),
    r"rendering=5: give what rendered\(\) gave": lambda: Ledger.read(NUMBER),
    "path=5: give a path": lambda: ContextConfig.load(NUMBER),
}


@pytest.mark.parametrize(("named", "make"), MAKE.items(), ids=MAKE)
def test_what_is_no_such_thing_is_refused(named: str, make: Callable[[], object]) -> None:
    """When it is handed over, not where it is used."""
    with pytest.raises(ValueError, match=named):
        make()


def manager() -> IncrementalContextManager:
    """One that has seen nothing."""
    return IncrementalContextManager(window_tokens=4_000, counter=EstimateCounter())


PREPARED = manager().prepare_nowait([SAID])
ASKED: dict[str, tuple[str, Sequence[object], Mapping[str, object]]] = {
    "messages=None: give the whole history": ("prepare_nowait", [None], {}),
    "messages={'role'.*: give the whole history as a list": ("prepare", [SAID], {}),
    "messages=5: give the whole history": ("observe", [5], {}),
    "tools='recall': give a list of schemas": ("prepare_nowait", [[SAID]], {"tools": "recall"}),
    r"tools=\{'type'.*: give a list": ("prepare_nowait", [[SAID]], {"tools": recall_tool_schema()}),
    r"tools\[1\]=5: give a schema as a dict": ("prepare_nowait", [[SAID], [{}, 5]], {}),
    "a message must be a dict or a client object, got int": ("pin", [5], {}),
    "a message must be a dict or a client object, got NoneType": ("explain", [None], {}),
    "handle=5: give a text": ("recall", [5], {}),
    "prepared=None: give what prepare returned": ("record_usage", [None], {"prompt_tokens": 5}),
    "prompt_tokens=None: give the input": ("record_usage", [PREPARED], {"prompt_tokens": None}),
    "cached_tokens='5': give how many of these were cached, or None": (
        "record_usage",
        [PREPARED],
        {"prompt_tokens": 9, "cached_tokens": "5"},
    ),
    "path=5: give a path": ("save", [5], {}),
    "path=None: give a path": ("load", [None], {}),
    "changes=ContextChange.*: give a list, such as": (
        "apply_changes",
        [ContextChange.task_started("T")],
        {},
    ),
    r"changes\[0\]='a.py': give a ContextChange, such as": ("apply_changes", [["a.py"]], {}),
}


@pytest.mark.parametrize(("named", "call"), ASKED.items(), ids=list(ASKED))
async def test_a_manager_names_what_is_wrong(
    named: str, call: tuple[str, Sequence[object], Mapping[str, object]]
) -> None:
    """And goes on as if it had not been asked."""
    keeper = manager()
    name, given, by_name = call
    before = keeper.save_state()
    with pytest.raises(ValueError, match=f"^{named}"):
        await cast("Callable[..., Awaitable[object]]", getattr(keeper, name))(*given, **by_name)
    assert keeper.save_state() == before


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        pytest.param("config", {"window_tokens": 100}, id="settings"),
        pytest.param("host", "openai", id="a host's name"),
        pytest.param("counter", len, id="a function that counts"),
        pytest.param("counter", "gpt-4o", id="a text, which has a count as well"),
        pytest.param("vectors", [], id="vectors"),
        pytest.param("compressor", "gpt-4o", id="a model's name"),
        pytest.param("compressor", SemanticCompressor, id="a class for a compressor"),
        pytest.param("budget", TokenBudgetManager, id="a class for a budget"),
        pytest.param("model_client", 5, id="a number for a client"),
        pytest.param("prioritizer", print, id="a function for a prioritizer"),
        pytest.param("triggers", print, id="a function for triggers"),
        pytest.param("clock", 5.0, id="a time"),
        pytest.param("original_store", "redis://localhost", id="a url"),
        pytest.param("original_store", OriginalStore(100), id="a store instead of a tier"),
        pytest.param("events", 5, id="a number for a file"),
        pytest.param("files", "nowhere", id="no folder to follow"),
        pytest.param("project", Path("nowhere"), id="no folder to read"),
    ],
)
def test_a_manager_is_not_made_of_anything(name: str, wrong: object) -> None:
    """Each part must be able to do what it is for, or is refused at construction."""
    make = cast("Callable[..., object]", IncrementalContextManager)
    with pytest.raises(ValueError, match=rf"^{name}=.*: give [aFPTh]"):
        make(**{name: wrong})


@pytest.mark.parametrize("learn", [Facts().learn, Ledger().learn])
@pytest.mark.parametrize("wrong", ["a text", {"content": "no role"}], ids=str)
def test_what_is_no_message_is_named_by_its_position(
    learn: Callable[[Sequence[object]], object], wrong: object
) -> None:
    """As it is where a turn is prepared."""
    with pytest.raises(InvalidTranscript, match=r"^message 1: a message (must be|needs)"):
        learn([SAID, wrong])


@pytest.mark.parametrize(
    ("named", "wrong"),
    [
        pytest.param("key=5: give a text", {"key": NUMBER}, id="key"),
        pytest.param("builder='a text': give a function", {"builder": "a text"}, id="builder"),
        pytest.param("give a list of paths", {"depends_on": PATHS}, id="one path"),
        pytest.param("ttl_s='60': give seconds", {"ttl_s": "60"}, id="a text for seconds"),
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
    """A path as text, a task as text, no tools as ``None``, and what there is most of without its name."""
    assert DiskOriginals(str(tmp_path), scope=Scope()).store.path.is_relative_to(tmp_path)
    (tmp_path / "own.json").write_text('{"mine": 5}')
    assert ModelLimits(files=[str(tmp_path / "own.json")]).lookup("mine").input_tokens == 5
    text = "Fix the crash in auth.py, then run the tests. The API must stay as it is."
    budgets = TokenBudgetManager(16_000)
    assert budgets.allocate(text) == budgets.allocate(TaskDefinition.from_text(text))
    keeper, other = IncrementalContextManager("gpt-4o"), IncrementalContextManager(model="gpt-4o")
    assert keeper.config == other.config
    assert keeper.prepare_nowait([SAID], None) == other.prepare_nowait([SAID], tools=[])
    assert keeper.prepare_nowait(deque([SAID])) == other.prepare_nowait((SAID,))
    assert keeper.recall_context(NOTHING, lines=NUMBER) == keeper.recall_context("", lines="5")
