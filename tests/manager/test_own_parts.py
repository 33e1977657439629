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
from autogen_context.prioritizer.prioritizer import BlockAt, Need, ScaledScores, Scores
from autogen_context.prioritizer.record import ConversationRecord
from autogen_context.testing import ChatMessage
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

    def __getattr__(self, _method: str) -> Callable[..., object]:
        """Any of them."""
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


class Numbers:
    """A counter that returns plain numbers, as many tokenizers do."""

    def count(self, text: str, /) -> int:
        return Characters().count(text).tokens


def test_a_counter_may_return_a_number() -> None:
    """It counts as a tokenizer's."""
    assert sent(counter=Numbers()) == sent()
    with pytest.raises(ValueError, match=r"count\(text\)=None: give a number of tokens"):
        sent(counter=cast("Characters", Failing(nothing)))
