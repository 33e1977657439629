"""The face of a conversation: what a user asks of it, and what it says."""

import asyncio
import json
import logging
import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded, NotInHistory, OriginalNotFound
from autogen_context.manager.parts import limits_of
from autogen_context.testing import ChatMessage, LoopbackServer, ScriptedModel
from autogen_context.tokens.measure import Count
from autogen_context.view.decision import Decision
from autogen_context.view.explanation import Explanation
from autogen_context.view.view import BilledUsage
from support.counting import Characters
from support.keeping import manager, outcome_of
from support.saying import says

TASK = says("the task", "user")
LONG: list[ChatMessage] = [TASK, *(says(f"{i} " + "x" * 200) for i in range(20))]
TOOL = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}


def test_arguments_win_over_the_configuration() -> None:
    """What is not given stays as configured."""
    config = ContextConfig(model="gpt-4", window_tokens=5_000, originals_bytes=7)
    keeper = IncrementalContextManager(window_tokens=400, reserve_tokens=100, config=config)
    assert (keeper.config.model, keeper.config.originals_bytes) == ("gpt-4", 7)
    assert keeper.prepare_nowait([TASK]).certificate.limit_tokens == 300


def test_the_window_is_the_models_where_none_is_given() -> None:
    """Less the reserve; where no model is known either, a careful default."""
    keeper = IncrementalContextManager(model="gpt-4", reserve_tokens=192, counter=Characters())
    known = limits_of(keeper.config).lookup("gpt-4")
    assert keeper.prepare_nowait([TASK]).certificate.limit_tokens == known.prompt_tokens - 192
    nameless = IncrementalContextManager(counter=Characters())
    assert nameless.prepare_nowait([TASK]).certificate.limit_tokens == 8_192


def test_a_window_above_the_models_is_taken_with_a_warning() -> None:
    """It names both numbers."""
    keeper = IncrementalContextManager(model="gpt-4", window_tokens=9_000, counter=Characters())
    with pytest.warns(
        UserWarning, match="window_tokens=9000 is above the 8192 input tokens of gpt-4"
    ):
        assert keeper.prepare_nowait([TASK]).certificate.limit_tokens == 9_000


def test_tools_are_counted() -> None:
    """In the certificate, and in the room that messages have."""
    turns = [manager(400, model="gpt-4").prepare_nowait(LONG[:6], [TOOL] * n) for n in (0, 1, 6)]
    bare, one, six = (turn.certificate.counted_tokens for turn in turns)
    assert one - bare > Characters().count(json.dumps(TOOL, separators=(",", ":"))).tokens
    assert [turn.compacted for turn in turns] == [False, False, True]
    assert six <= 400


@given(st.integers(20, 380), st.integers(1, 3_000), st.integers(1, 60))
def test_what_is_impossible_is_told_in_the_providers_tokens(
    window: int, billed: int, length: int
) -> None:
    """Whatever the bills taught, the parts add up to a floor above the limit."""
    keeper = manager(3_000)
    keeper.record_usage(keeper.prepare_nowait([TASK]), prompt_tokens=billed)
    narrow = manager(window)
    narrow.load_state(keeper.save_state())
    messages = [says("s" * length * 4, "system"), TASK]
    found = outcome_of(narrow, messages)
    if isinstance(found, ContextWindowExceeded):
        assert found.limit_tokens == window < found.least_tokens == sum(found.parts.values())
        assert {"system", "newest", "tools and format"} <= set(found.parts)
    else:
        assert found.certificate.fits


def test_every_message_is_explained() -> None:
    """By the decision on its unit; of equal messages the last one is meant."""
    keeper = manager(300)
    messages = [*LONG, TASK]
    turn = keeper.prepare_nowait(messages)
    for position, message in list(enumerate(messages))[1:]:
        explained = keeper.explain(dict(message))
        assert decided(explained) in turn.decisions
        assert explained.start <= position < explained.stop
        assert explained.score >= 0
        assert explained.reasons
    assert keeper.explain(TASK).start == len(LONG)
    for stranger in (says("never seen"), says("the task")):
        with pytest.raises(NotInHistory, match="not in the list that was prepared last"):
            keeper.explain(stranger)
    with pytest.raises(NotInHistory):
        manager(300).explain(TASK)


def decided(explained: Explanation) -> Decision:
    """The decision alone."""
    return Decision(**{field.name: getattr(explained, field.name) for field in fields(Decision)})


def test_originals_are_had_back_until_the_stash_is_full() -> None:
    """By the handle of the decision; what was evicted is an error with the way out."""
    keeper = manager(300, originals_bytes=2_000)
    turn = keeper.prepare_nowait(LONG)
    dropped = [decision for decision in turn.decisions if decision.action == "drop"]
    [last] = keeper.recall(dropped[-1].handle)
    assert last.text == LONG[dropped[-1].start]["content"]
    with pytest.raises(OriginalNotFound, match="raise originals_bytes to keep more"):
        keeper.recall(dropped[0].handle)


def test_an_unpinned_message_may_go() -> None:
    """At the next compaction, not before."""
    keeper = manager(400)
    keeper.pin(LONG[5])
    assert LONG[5] in keeper.prepare_nowait(LONG[:8]).messages
    keeper.unpin(LONG[5])
    assert LONG[5] in keeper.prepare_nowait(LONG[:8]).messages
    turn = keeper.prepare_nowait(LONG)
    assert turn.compacted
    assert LONG[5] not in turn.messages


def test_bills_tighten_the_bound() -> None:
    """What the host adds unseen shows from the next turn on, and usage adds up."""
    keeper = manager(1_000)
    turn = keeper.prepare_nowait([TASK])
    counted = turn.certificate.counted_tokens
    assert turn.certificate.bound == Count(tokens=counted, source="tokenizer")
    keeper.record_usage(turn, prompt_tokens=counted + 500, cached_tokens=3)
    bound = keeper.prepare_nowait([TASK]).certificate.bound
    assert bound == Count(tokens=counted + 500, source="provider")
    assert keeper.usage == BilledUsage(requests=1, prompt_tokens=counted + 500, cached_tokens=3)
    assert keeper.prepare_nowait(LONG[:10]).compacted


def test_a_compaction_is_one_line_without_words(caplog: pytest.LogCaptureFixture) -> None:
    """Its numbers are attached; what anybody said is not in it."""
    caplog.set_level(logging.INFO, "autogen_context")
    keeper = manager(300)
    for length in range(1, 9):
        keeper.prepare_nowait(LONG[:length])
    records = [record for record in caplog.records if record.getMessage() == "compacted"]
    assert records
    for record in records:
        assert record.levelno == logging.INFO
        assert record.__dict__["tokens_before"] > record.__dict__["tokens_after"] > 0
        assert record.__dict__["room_tokens"] == 300
        ours = record.__dict__.keys() - logging.makeLogRecord({}).__dict__.keys()
        assert not re.search("xxx|task", str([record.msg, {k: record.__dict__[k] for k in ours}]))


async def test_a_discovered_limit_is_used_when_it_is_there() -> None:
    """The first turn does not wait for it; a window that was given stays."""
    model = ScriptedModel([])
    with LoopbackServer(model, window_tokens=1_234, model_names=["my-model"]) as server:
        config = ContextConfig(model="my-model", discovery_url=server.base_url)
        given = IncrementalContextManager(window_tokens=5_000, config=config, counter=Characters())
        found = IncrementalContextManager(config=config, counter=Characters())
        async with given, found:
            assert await limit_of(given) == 5_000
            assert await limit_of(found) == 8_192
            for _ in range(1_000):
                await asyncio.sleep(0.01)
                if await limit_of(found) != 8_192 and len(server.requests) > 1:
                    break
            await asyncio.sleep(0.2)  # for the one whose window stays, to have heard, too
            assert await limit_of(found) < 1_234
            assert await limit_of(given) == 5_000


async def limit_of(keeper: IncrementalContextManager) -> int:
    """What the next request may have."""
    return (await keeper.prepare([TASK])).certificate.limit_tokens


async def test_closing_ends_what_is_under_way_and_lets_cancellation_through() -> None:
    """A discovery that hangs holds nobody up; whoever is cancelled while closing is cancelled."""
    config = ContextConfig(model="my-model", discovery_url="http://127.0.0.1:9/v1")
    keeper = IncrementalContextManager(config=config, counter=Characters())
    await keeper.prepare([TASK])
    closing = asyncio.ensure_future(keeper.aclose())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await keeper.aclose()
