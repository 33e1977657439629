"""Triggers of a user's own, and where what is finished is cut without being asked for (T6)."""

import json
import threading
from typing import Any

import pytest

from autogen_context import ContextConfig, IncrementalContextManager, SemanticHybridTrigger
from autogen_context.manager.prepared import Prepared
from autogen_context.testing import ChatMessage
from autogen_context.triggers.turn import (
    NOTHING,
    Scope,
    Trigger,
    TriggerDecision,
    Turn,
)
from support.counting import Characters


class AfterRelease:
    """Proposes what was done since the last release; the release stays."""

    def __init__(self) -> None:
        self.start = 0

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """The turns up to a release."""
        if not any(step.tool == "release" for step in turn.steps):
            return NOTHING
        scope = Scope(start=self.start, stop=turn.number + 1, outcomes=(turn.number,))
        self.start = scope.stop
        return TriggerDecision(kind="subtask", scope=scope, confidence=0.95)


class Never:
    """Proposes nothing."""

    def observe(self, _turn: Turn, /) -> TriggerDecision:
        """Nothing."""
        return NOTHING


def conversation(*, turns: int = 60, released_after: int = 12) -> list[ChatMessage]:
    """Work that is released every few turns; no rule of ours reads anything into it."""
    messages: list[ChatMessage] = [{"role": "user", "content": "Run the shop."}]
    for n in range(turns):
        name = "release" if n % released_after == released_after - 1 else "zap"
        function = {"name": name, "arguments": json.dumps({"order": n})}
        call = {"id": f"c{n}", "type": "function", "function": function}
        told = "\n".join(f"order {n} line {line}: {n * line}" for line in range(60))
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": told})
    return messages


def rewrites(
    messages: list[ChatMessage], triggers: Trigger | None = None, **settings: object
) -> list[int]:
    """The turns in which anything else was sent than before."""
    config = ContextConfig.model_validate({"model": "gpt-4o", "window_tokens": 100_000} | settings)
    manager = IncrementalContextManager(config=config, counter=Characters(), triggers=triggers)
    stops = [i for i, m in enumerate(messages) if m["role"] == "assistant"][1:]
    turns: list[Prepared[ChatMessage]] = [manager.prepare_nowait(messages[:i]) for i in stops]
    return [n for n, turn in enumerate(turns) if turn.finished and turn.finished.is_done]


def test_a_users_own_trigger_decides_when() -> None:
    """Its proposals are cut behind a release, where ours find nothing; one that never proposes cuts nothing."""
    messages = conversation()
    assert rewrites(messages, Never()) == []
    mine = AfterRelease()
    own = rewrites(messages, mine)
    assert own
    assert mine.start == 0  # it was copied
    assert rewrites(messages, mine, compaction="when_full") == []
    assert all(n % 12 in {11, 0} for n in own), own
    off: dict[str, Any] = dict.fromkeys(("subtasks", "intents", "boundaries", "staleness"), False)
    alone = SemanticHybridTrigger(**off, fallback_turns=0, more=[AfterRelease()])
    assert rewrites(messages, alone) == own


def test_what_cannot_be_copied_is_refused() -> None:
    """At construction, with the way out."""
    mine = AfterRelease()
    mine.lock = threading.Lock()  # type: ignore[attr-defined]  # what users keep in their objects
    with pytest.raises(ValueError, match=r"triggers=.*__deepcopy__"):
        IncrementalContextManager(triggers=mine)


@pytest.mark.parametrize(
    ("cached", "cuts"),
    [
        pytest.param(0.1, False, id="a tenth"),
        pytest.param(0.25, True, id="a quarter"),
        pytest.param(1.0, True, id="nothing is cached"),
        pytest.param(None, False, id="nobody says"),
    ],
)
def test_it_acts_by_itself_where_that_pays(cached: float | None, *, cuts: bool) -> None:
    """From a quarter of the price on; below, and where nobody says the price, promise 5 holds (T6)."""
    messages = conversation(turns=60)
    assert bool(rewrites(messages, cached_input_fraction=cached, fallback_turns=8)) == cuts
