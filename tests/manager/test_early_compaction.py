"""When the history is rewritten before the window forces it: where the provider's cache ran out, and where that pays."""

import json
import logging
from functools import partial
from itertools import pairwise

import pytest

from autogen_context.testing import ChatMessage
from support import keeping
from support.entries import Clock
from support.finishing import TASK, turns, work
from support.saying import step

MODEL = "gpt-5"  # cached for five minutes, at a tenth
# With a window that holds it all, if not said otherwise.
manager = partial(keeping.manager, window_tokens=60_000, model=MODEL, clock=None)


@pytest.mark.parametrize(
    ("compaction", "idle_s", "compacted"),
    [
        pytest.param("when_cache_cold", 200, False, id="the cache is there"),
        pytest.param("when_cache_cold", 400, True, id="the cache ran out"),
        pytest.param("when_full", 400, False, id="not asked for"),
    ],
)
def test_a_cache_that_ran_out_is_a_moment_to_compact(
    compaction: str,
    idle_s: float,
    compacted: bool,  # noqa: FBT001 - a row
) -> None:
    """What is sent must be written anew in any case; so it is made smaller, if much can go."""
    clock, messages = Clock(), work(10)
    kept = manager(clock=clock, compaction=compaction, window_tokens=12_000)
    assert not kept.prepare_nowait(messages).compacted
    clock.now_s += idle_s
    messages += step("c99", "run", "Monday", command="date")
    turn = kept.prepare_nowait(messages)
    assert turn.compacted == compacted
    assert turn.cost_estimate is not None
    assert turn.cost_estimate.price.is_cold == (idle_s > 300)


def test_without_a_clock_time_decides_nothing() -> None:
    """The verdict is told in each turn all the same, with its numbers."""
    messages = work(10)
    for turn in turns(manager(window_tokens=12_000), messages):
        assert not turn.compacted
        assert turn.cost_estimate is not None
        assert not turn.cost_estimate.price.is_cold
        assert turn.cost_estimate.price.rewrite.window_tokens == turn.certificate.counted_tokens


def test_what_is_finished_goes_when_that_pays() -> None:
    """Only of finished pieces, only what need not stay; what stands in front of the first cut is sent as before."""
    messages = work(14)
    held, priced = turns(manager(), messages), turns(manager(compaction="cost_based"), messages)
    cuts = [turn for turn in priced if turn.compacted]
    assert cuts
    for turn in cuts:
        assert turn.cost_estimate is not None
        assert turn.cost_estimate.why == "pays"
        assert turn.messages[: len(TASK)] == TASK
        assert turn.certificate.pairs_closed
    assert priced[-1].certificate.counted_tokens < 0.7 * held[-1].certificate.counted_tokens
    before = priced[-1]
    said = json.dumps(before.messages)
    assert all(f'part_{n}.py\\", \\"old' in said.replace("\\\\", "\\") for n in range(14))


def test_waiting_is_counted_from_turn_to_turn() -> None:
    """What it has cost not to cut is what it had cost, and a turn's saving for each turn since; a cut begins anew."""
    told = turns(manager(compaction="cost_based"), work(14))
    judged = [(n, turn.finished) for n, turn in enumerate(told) if turn.finished]
    carried = 0
    for (n, before), (m, after) in pairwise(judged):
        a, b = before.cost_estimate, after.cost_estimate
        since = a.waited_tokens + (m - n - 1) * a.price.saving_tokens
        if before.is_done:
            assert b.waited_tokens == pytest.approx(b.price.saving_tokens)
        elif not any(turn.compacted for turn in told[n:m]):
            assert b.waited_tokens == pytest.approx(since + b.price.saving_tokens)
            carried += 1
    assert carried > 1


def test_what_a_person_says_amid_finished_work_stays() -> None:
    """Word for word, as written, though the span around it goes."""
    messages = work(12)
    at = len(TASK) + 2
    said: ChatMessage = {"role": "user", "content": "By the way, part 0 is about rents. " * 20}
    later: ChatMessage = {"role": "user", "content": "Go on."}
    messages = [*messages[:at], said, *messages[at:60], later, *messages[60:]]
    *_, last = turns(manager(compaction="cost_based"), messages)
    assert len(last.messages) < len(messages)
    assert said in last.messages


def test_what_cannot_be_helped_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Where pins fill the room above the mark, one warning says what fills it, and turns go on without planning anew."""
    kept = manager(compact_at_fraction=0.5, compact_to_fraction=0.4, window_tokens=4_000)
    messages = [*TASK, {"role": "user", "content": "A rule. " * 1_200}]
    kept.pin(messages[-1])
    rewrote: list[bool] = []
    with caplog.at_level(logging.WARNING, "autogen_context"):
        for n in range(12):
            messages = [*messages, *step(f"c{n}", "run", "Monday, and cold", command="date")]
            rewrote.append(kept.prepare_nowait(messages).compacted)
    told = [r for r in caplog.records if "compact_at_fraction" in r.getMessage()]
    assert len(told) == 1
    assert told[0].__dict__["parts"]["pinned"] > 2_000
    assert sum(rewrote) <= 2
