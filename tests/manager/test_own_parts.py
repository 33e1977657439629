"""Parts of the user's own: each decides, can stand on the one it replaces, and where it fails the default decides."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from autogen_context import TokenBudgetManager
from autogen_context.budget.policy import BudgetRequest, CompactionBudget, TurnBudget
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
@pytest.mark.parametrize("part", ["budget"])
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
