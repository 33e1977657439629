"""What is finished in a conversation: judged, told, and cut where that is asked for or the price says so (T6)."""

import asyncio
import json
import threading
from typing import Any

import pytest

from autogen_context import ContextCache, IncrementalContextManager, SemanticHybridTrigger
from autogen_context.testing import ChatMessage
from autogen_context.triggers.intent import IntentModel
from autogen_context.triggers.turn import NOTHING, Trigger, TriggerDecision, Turn, TurnRange
from support import keeping
from support.finishing import TASK, stops_of, turns, work
from support.saying import step

ONLY_INTENTS: dict[str, Any] = {
    "enable_subtask_detection": False,
    "enable_boundary_detection": False,
    "enable_staleness_detection": False,
}


def releases() -> list[ChatMessage]:
    """Work that is released every twelve turns; no rule of ours reads anything into it."""
    messages = [*TASK]
    for n in range(60):
        told = "\n".join(f"order {n} line {line}: {n * line}" for line in range(60))
        messages += step(f"c{n}", "release" if n % 12 == 11 else "zap", told, order=str(n))
    return messages


def manager(triggers: Trigger | None = None, **given_settings: object) -> IncrementalContextManager:
    """With a window that holds it all."""
    settings: dict[str, Any] = {"model": "gpt-5", "window_tokens": 100_000} | given_settings
    return keeping.manager(triggers=triggers, clock=None, **settings)


def cuts(triggers: Trigger | None = None, **given_settings: object) -> list[int]:
    """The turns in which something that is finished was cut from the work with releases."""
    prepared = turns(manager(triggers, model="gpt-4o", **given_settings), releases())
    return [n for n, turn in enumerate(prepared) if turn.finished and turn.finished.is_done]


def test_it_tells_what_would_be_cut() -> None:
    """Up to the first cut the same as where it is cut; from there on what it costs not to cut goes on being counted.

    Spans are in the host's positions, from a message of the model to a result; together they save what the price has.
    """
    messages = work(14)
    shaded, plain = turns(manager(dry_run=True), messages), turns(manager(), messages)
    assert [(t, t.cost_estimate) for t in plain] == [(t, t.cost_estimate) for t in shaded]
    assert all(t.finished is None for t in plain)
    priced = turns(manager(compaction="cost_based"), messages)
    first = next(i for i, turn in enumerate(priced) if turn.compacted)
    assert [turn.finished for turn in shaded[:first]] == [turn.finished for turn in priced[:first]]
    would, did = shaded[first].finished, priced[first].finished
    assert would is not None
    assert did is not None
    assert (would.spans, would.cost_estimate) == (did.spans, did.cost_estimate)
    assert (would.is_done, did.is_done) == (False, True)
    waited = [turn.finished.cost_estimate.waited_tokens for turn in shaded[first:] if turn.finished]
    assert waited == sorted(waited)
    assert len(set(waited)) > 1
    for finished in filter(None, (turn.finished for turn in shaded)):
        spans = finished.spans
        assert list(spans) == sorted(spans, key=lambda span: span.start)
        assert {messages[span.start]["role"] for span in spans} == {"assistant"}
        assert {messages[span.stop - 1]["role"] for span in spans} == {"tool"}
        saved = finished.cost_estimate.price.rewrite.saved_tokens
        assert sum(span.saved_tokens for span in spans) == saved


def test_a_saved_state_waits_on() -> None:
    """What it has cost not to cut is in the state."""
    messages, kept = work(4), manager(dry_run=True)
    for stop in stops_of(messages):
        other = manager(dry_run=True)
        other.load_state(json.loads(json.dumps(kept.save_state())))
        one, same = kept.prepare_nowait(messages[:stop]), other.prepare_nowait(messages[:stop])
        assert (one, one.cost_estimate, one.finished) == (same, same.cost_estimate, same.finished)


@pytest.mark.parametrize(
    ("given_settings", "asks"),
    [
        pytest.param({"dry_run": True}, True, id="judged"),
        pytest.param({}, True, id="handed in"),
        pytest.param({"compaction": "when_full"}, False, id="nobody looks"),
    ],
)
async def test_a_model_is_asked_where_triggers_look(
    given_settings: dict[str, object], *, asks: bool
) -> None:
    """Once for each turn, in the background; what it said is looked up afterwards."""
    asked: list[str] = []

    async def complete(prompt: str, /) -> str:
        asked.append(prompt)
        return '{"intent": "DEBUG", "confidence": 0.9}'

    messages, model = work(3), IntentModel(complete)
    async with manager(SemanticHybridTrigger(known=model), **given_settings) as kept:
        for stop in stops_of(messages):
            await kept.prepare(messages[:stop])
            await asyncio.sleep(0)  # the answer of the agent is under way
    assert bool(asked) == asks
    assert len(asked) <= len(stops_of(messages))
    assert model(Turn(number=0)) is None


async def test_the_managers_model_tells_intents_once_for_all_runs() -> None:
    """Its answers decide, and are kept by content in the cache; with intents switched off, or nothing to judge, it is not asked."""
    asked: list[str] = []

    async def complete(prompt: str, /) -> str:
        asked.append(prompt)
        intent = "EXPLORE" if len(asked) < 13 else "IMPLEMENT"
        return f'{{"intent": "{intent}", "confidence": 0.9}}'

    async def run(**given_settings: Any) -> tuple[int, bool]:
        """How often the model was asked for an intent, and whether a span was found."""
        asked.clear()
        found = False
        async with manager(cache=cache, **ONLY_INTENTS | given_settings) as kept:
            for stop in stops_of(messages):
                found |= (await kept.prepare(messages[:stop])).finished is not None
                await asyncio.sleep(0.001)  # the agent asks its model
        return sum("what is it at?" in prompt for prompt in asked), found

    messages, cache = work(6), ContextCache()
    assert await run(dry_run=True) == (0, False)
    assert await run(model_client=complete, compaction="when_full") == (0, False)
    off = await run(model_client=complete, dry_run=True, enable_intent_detection=False)
    assert off == (0, False)
    times, found = await run(model_client=complete, dry_run=True)
    assert (0 < times <= len(stops_of(messages)), found) == (True, True)
    assert await run(model_client=complete, dry_run=True) == (0, True)


class AfterRelease:
    """Proposes what was done since the last release; the release stays."""

    def __init__(self) -> None:
        self.start = 0

    def observe(self, turn: Turn, /) -> TriggerDecision:
        """The turns up to a release."""
        if not any(each.tool == "release" for each in turn.steps):
            return NOTHING
        scope = TurnRange(start=self.start, stop=turn.number + 1, outcomes=(turn.number,))
        self.start = scope.stop
        return TriggerDecision(kind="subtask", scope=scope, confidence=0.95)


OFF: dict[str, Any] = {
    **dict.fromkeys(("subtasks", "intents", "boundaries", "staleness"), False),
    "fallback_turns": 0,
}


def test_a_users_own_trigger_decides_when() -> None:
    """Its proposals are cut behind a release, where ours find nothing; without need nothing is."""
    mine = AfterRelease()
    own = cuts(mine)
    assert own
    assert all(n % 12 in {11, 0} for n in own), own
    assert mine.start == 0  # it was copied
    assert cuts(mine, compaction="when_full") == []
    assert cuts(SemanticHybridTrigger(**OFF)) == []
    assert cuts(SemanticHybridTrigger(**OFF, more=[mine])) == own


def test_what_cannot_be_copied_is_refused() -> None:
    """At construction, with the way out."""
    mine = AfterRelease()
    mine.lock = threading.Lock()  # type: ignore[attr-defined]  # what users keep in their objects
    with pytest.raises(ValueError, match=r"triggers=.*__deepcopy__"):
        IncrementalContextManager(triggers=mine)


@pytest.mark.parametrize(
    ("cached", "acts"),
    [
        pytest.param(None, False, id="nobody says"),
        pytest.param(0.1, False, id="a tenth"),
        pytest.param(0.25, True, id="a quarter"),
        pytest.param(1.0, True, id="nothing is cached"),
    ],
)
def test_it_acts_by_itself_where_that_pays(cached: float | None, *, acts: bool) -> None:
    """From a quarter of the price on; below, and where nobody says the price, promise 5 holds."""
    kinds = ("subtask", "intent", "boundary", "staleness")  # the count is left
    off: dict[str, Any] = {f"enable_{kind}_detection": False for kind in kinds}
    assert bool(cuts(cached_input_fraction=cached, fallback_turns=8, **off)) == acts
