"""Parts of the user's own: each decides, can stand on the one it replaces, and where it fails the default decides."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from typing_extensions import override

from autogen_context import ContextPrioritizer, IncrementalContextManager, TokenBudgetManager
from autogen_context.budget.policy import BudgetRequest, CompactionBudget, TurnBudget
from autogen_context.compressor.reducers import Reduction
from autogen_context.messages.message import ToolCall
from autogen_context.messages.tool_schema import recall_tool_schema
from autogen_context.prioritizer.prioritizer import BlockAt, Need, ScaledScores, Scores
from autogen_context.prioritizer.record import ConversationRecord
from autogen_context.testing import ChatMessage
from autogen_context.text.fit import CountText
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.turn import NOTHING, Trigger, TriggerDecision, Turn, TurnRange
from support.counting import Characters
from support.keeping import manager
from support.working import run


def sent(**parts: Any) -> list[list[ChatMessage]]:
    """What is sent in each turn of a run with compactions."""
    keeper = manager(**parts)
    return [keeper.prepare_nowait(run(n)).messages for n in range(1, 40)]


def raises(*_given: object, **_named: object) -> object:
    """No answer, and a reason with text that no log may have."""
    raise KeyError("a secret")


async def awaited(*_given: object, **_named: object) -> object:
    """An answer that nobody awaits."""
    return None


def nothing(*_given: object, **_named: object) -> None:
    """No answer."""


class Failing:
    """Fails in all of its methods in the same way."""

    def __init__(self, way: Callable[..., object]) -> None:
        self._way = way

    def __getattr__(self, method: str) -> Callable[..., object]:
        """Any of them."""
        if method.startswith("__"):
            raise AttributeError(method)
        return self._way


@pytest.mark.parametrize("way", [raises, awaited, nothing], ids=lambda way: way.__name__)
@pytest.mark.parametrize("part", ["budget", "prioritizer"])
def test_where_a_part_fails_the_default_decides(
    part: str, way: Callable[..., object], caplog: pytest.LogCaptureFixture
) -> None:
    """Each turn is the same as without it; each of its methods is warned of once, without text of a message."""
    own = sent(**{part: Failing(way)})
    warned = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert warned
    assert len(warned) == len(set(warned))
    assert all(f"the {part}'s " in each and "secret" not in each for each in warned)
    assert own == sent()


class Scored:
    """Scores that cannot be used, or would keep a choice from its end."""

    def __init__(self, score: Callable[[int], object]) -> None:
        self._score, self._asked = score, 0

    def scores(self, _conversation: ConversationRecord, _need: Need, /) -> Scores:
        return cast("Scores", self)

    def score(self, _at: BlockAt, /) -> object:
        self._asked += 1
        return self._score(self._asked)

    def keep(self, _at: BlockAt, /) -> None:
        """Nothing."""

    def reasons(self, _unit: int, /) -> object:
        return self._score(0)


SCORES: dict[str, Callable[[int], object]] = {
    "raises": raises,
    "awaited": awaited,
    "nothing": nothing,
    "negative": lambda _: -1.0,
    "no number": lambda _: float("nan"),
    "falls with each call": lambda n: 1 / (1 + n),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_that_cannot_be_used(name: str) -> None:
    """The usual ones take over from the first on; a choice comes to its end whatever they are."""
    own = sent(prioritizer=Scored(SCORES[name]))
    assert own == sent() or name == "falls with each call"


class NamingPartTwo:
    """The usual scores, three times as high for what names part two."""

    def __init__(self) -> None:
        self._usual = ContextPrioritizer()

    def scores(self, conversation: ConversationRecord, need: Need, /) -> Scores:
        named = (unit.position for unit in conversation.units if "part_2" in unit.text)
        return ScaledScores(self._usual.scores(conversation, need), dict.fromkeys(named, 1e6))


def test_a_prioritizer_stands_on_the_usual_one() -> None:
    """Its factor decides, and is explained with the reasons of the usual one."""
    keeper = manager(prioritizer=NamingPartTwo())
    for n in range(1, 60):
        keeper.prepare_nowait(run(n))
    explained = [keeper.explain(message) for message in run(59)]
    reasons = [each.reasons for each in explained if "scaled by 1e+06" in each.reasons]
    assert reasons
    assert all(any("names " in reason for reason in each) for each in reasons)
    assert sent(prioritizer=NamingPartTwo()) != sent()


class Reranker:
    """Asks a model which units matter, here by their age, and waits for it."""

    def __init__(self, waits_s: float = 0.0) -> None:
        self._waits_s = waits_s
        self.asked = 0

    async def scores(self, conversation: ConversationRecord, _need: Need, /) -> dict[int, float]:
        self.asked += 1
        await asyncio.sleep(self._waits_s)
        return {
            unit.position: 1.0 + conversation.length - unit.position for unit in conversation.units
        }


class OldestFirst:
    """The same without waiting."""

    def scores(self, conversation: ConversationRecord, _need: Need, /) -> dict[int, float]:
        return {
            unit.position: 1.0 + conversation.length - unit.position for unit in conversation.units
        }


async def sent_by(keeper: IncrementalContextManager) -> list[list[ChatMessage]]:
    """What is sent in each turn, with waiting."""
    return [(await keeper.prepare(run(n))).messages for n in range(1, 40)]


async def test_a_reranker_is_awaited(caplog: pytest.LogCaptureFixture) -> None:
    """As if it had answered at once, and asked once for each list that is compacted; several turns at once have their own."""
    reranker = Reranker()
    own = await sent_by(manager(prioritizer=reranker))
    assert own == sent(prioritizer=OldestFirst()) != sent()
    assert 0 < reranker.asked < 10
    keepers = [manager(prioritizer=reranker) for _ in range(3)]
    assert await asyncio.gather(*map(sent_by, keepers)) == [own] * 3
    keeper, histories = manager(prioritizer=reranker), [run(n) for n in range(20, 40)]
    turns = await asyncio.gather(*map(keeper.prepare, histories))
    assert all(turn.certificate.fits for turn in turns)
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


async def test_a_reranker_that_is_late_or_not_awaited(caplog: pytest.LogCaptureFixture) -> None:
    """The usual scores decide, which is told of once with the reason; no task is left behind."""
    late = manager(prioritizer=Reranker(waits_s=60), prioritizer_timeout_s=0.01)
    assert await sent_by(late) == sent()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert sent(prioritizer=Reranker()) == sent()
    warned = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert [each.partition(": ")[2].split(",")[0] for each in warned] == [
        "it was cancelled",
        "its scores are to be awaited",
    ]


class Peeking(Reranker):
    """Asks the usual prioritizer when the turn is over."""

    @override
    async def scores(self, conversation: ConversationRecord, need: Need, /) -> dict[int, float]:
        await super().scores(conversation, need)
        ContextPrioritizer().scores(conversation, need)
        return {}


async def test_what_is_awaited_has_values_alone() -> None:
    """The index that the next turn changes is out of its reach."""
    assert await sent_by(manager(prioritizer=Peeking())) == sent()


class Half:
    """A budget on top of the usual one: half of what that keeps."""

    def __init__(self) -> None:
        self._usual = TokenBudgetManager()

    def for_turn(self, room_tokens: int, /) -> TurnBudget:
        return self._usual.for_turn(room_tokens)

    def for_compaction(self, request: BudgetRequest, /) -> CompactionBudget:
        usual = self._usual.for_compaction(request)
        return replace(usual, kept_fraction=usual.kept_fraction / 2)


def test_a_budget_stands_on_the_usual_one() -> None:
    """What it changes is sent otherwise."""
    assert sent(budget=Half()) != sent()


class Columns:
    """Keeps the first characters of what a tool of one name returns."""

    def __init__(self, *, most: int = 40, is_lossless: bool = False) -> None:
        self._most, self._is_lossless = most, is_lossless

    def recognises(self, call: ToolCall | None, _text: str, /) -> bool:
        return call is not None and call.name == "read_file" and "part_3" in call.arguments

    def reduce(
        self, _call: ToolCall | None, text: str, /, *, room_tokens: int, count: CountText
    ) -> Reduction:
        assert 0 < room_tokens < 5_000
        assert count(text) > 0
        return Reduction(
            text=text[: self._most], kept="its beginning", is_lossless=self._is_lossless
        )


RECALL: list[dict[str, object]] = [recall_tool_schema()]


@pytest.mark.parametrize("is_lossless", [False, True])
@pytest.mark.parametrize("reduce", ["off", "lossless", "lossy"])
def test_a_reducer_decides_on_its_results(reduce: str, *, is_lossless: bool) -> None:
    """On no others; what loses something where that is allowed, with a mark, its original kept, and the reducer named by ``explain``."""
    messages, settings = run(6), dict[str, Any](reduce=reduce, window_tokens=50_000)
    keeper = manager(reducers=[Columns(is_lossless=is_lossless)], **settings)
    own = keeper.prepare_nowait(messages, RECALL).messages
    is_used = reduce == "lossy" or (reduce == "lossless" and is_lossless)
    reasons = [keeper.explain(message).reason for message in messages]
    reduced = [at for at, reason in enumerate(reasons) if " by Columns" in reason]
    assert bool(reduced) is is_used
    for at in (at for at in reduced if messages[at]["role"] == "tool"):
        original, text = str(messages[at]["content"]), str(own[at]["content"])
        assert text.startswith(original[:40])
        assert ("recall_context(handle=" in text) is not is_lossless
        assert reasons[at].endswith("reduced on arrival by Columns: its beginning")
        last = original.splitlines()[-1]
        assert is_lossless or last in keeper.recall_context(query=last)


@pytest.mark.parametrize("name", ["raises", "awaited", "nothing", "too large"])
def test_a_reducer_that_fails(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """The built-in kinds decide, and it is told of once."""
    failing = Columns(most=10**6) if name == "too large" else Failing(SCORES[name])
    settings: dict[str, Any] = {"reduce": "lossy", "window_tokens": 50_000}
    long = [*run(3)[:-1], {**run(3)[-1], "content": "a line of a log that is long\n" * 900}]
    own = manager(reducers=[failing], **settings).prepare_nowait(long, RECALL).messages
    assert own == manager(**settings).prepare_nowait(long, RECALL).messages
    warned = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(warned) == len(set(warned))
    assert warned or name in ("too large", "nothing")


class EveryFifth:
    """Proposes the newest five turns, under a name of its own."""

    def observe(self, turn: Turn, /) -> TriggerDecision:
        if turn.number % 5 < 4:
            return NOTHING
        scope = TurnRange(start=turn.number - 4, stop=turn.number + 1)
        return TriggerDecision(kind="every fifth", scope=scope, confidence=1.0)


@pytest.mark.parametrize("more", [False, True])
def test_a_trigger_has_a_kind_of_its_own(*, more: bool) -> None:
    """As it is, or among the usual ones; where it fails nothing is proposed."""
    own = SemanticHybridTrigger(more=[EveryFifth()]) if more else EveryFifth()
    keeper = manager(60_000, triggers=own, compaction="cost_based", dry_run=True)
    found = [keeper.prepare_nowait(run(n)).finished for n in range(1, 40)]
    kinds = {span.kind for each in found if each for span in each.spans}
    assert "every fifth" in kinds


@pytest.mark.parametrize("way", [raises, awaited, nothing], ids=lambda way: way.__name__)
def test_a_trigger_that_fails(way: Callable[..., object], caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is proposed by it, which is told of once."""
    failing = cast("Trigger", Failing(way))
    for triggers in (SemanticHybridTrigger(more=[failing]), failing):
        keeper = manager(60_000, triggers=triggers, compaction="cost_based")
        assert all(keeper.prepare_nowait(run(n)).certificate.fits for n in range(1, 12))
    warned = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(warned) == 2


class Numbers:
    """A counter that returns plain numbers, as many tokenizers do."""

    def count(self, text: str, /) -> int:
        return Characters().count(text).tokens


def test_a_counter_may_return_a_number() -> None:
    """It counts as a tokenizer's."""
    assert sent(counter=Numbers()) == sent()
    with pytest.raises(ValueError, match=r"count\(text\)=None: give a number of tokens"):
        sent(counter=cast("Characters", Failing(nothing)))
