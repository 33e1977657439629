"""What is finished is judged and told; nothing of it is cut unless that is asked for."""

import asyncio
import json

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.manager.prepared import Prepared
from autogen_context.testing import ChatMessage
from autogen_context.triggers.hybrid import SemanticHybridTrigger
from autogen_context.triggers.intent import IntentModel
from autogen_context.triggers.turn import Trigger, Turn
from support.counting import Characters

TASK: list[ChatMessage] = [
    {"role": "system", "content": "You repair programs."},
    {"role": "user", "content": "Repair the shop."},
]


def step(n: int, tool: str, arguments: dict[str, str], result: str) -> list[ChatMessage]:
    """A call and its result."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"c{n}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": result},
    ]


def piece_of_work(n: int, chars: int = 3_000) -> list[ChatMessage]:
    """Reading, changing and testing one file: a subtask that is finished with its last step."""
    path = f"src/part_{n}.py"
    text = "\n".join(f"value_{n}_{line} = {line * n}" for line in range(chars // 16))
    return [
        *step(5 * n, "read_file", {"path": path}, text),
        *step(5 * n + 1, "search_files", {"pattern": f"value_{n}"}, f"{path}:1: {text[:400]}"),
        *step(5 * n + 2, "str_replace", {"path": path, "old": "1", "new": "2"}, "Changed."),
        *step(5 * n + 3, "run_tests", {}, "9 passed in 0.4s"),
    ]


def work(pieces: int) -> list[ChatMessage]:
    """A conversation of finished pieces of work."""
    return [*TASK, *(m for n in range(pieces) for m in piece_of_work(n))]


def manager(triggers: Trigger | None = None, **given_settings: object) -> IncrementalContextManager:
    """With a window that holds it all, if not said otherwise."""
    config = ContextConfig.model_validate(
        {"model": "gpt-5", "window_tokens": 60_000} | given_settings
    )
    return IncrementalContextManager(config=config, counter=Characters(), triggers=triggers)


def stops_of(messages: list[ChatMessage]) -> list[int]:
    """Where the model is to speak."""
    stops = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    return [*stops[1:], len(messages)]


def turns(
    of: IncrementalContextManager, messages: list[ChatMessage]
) -> list[Prepared[ChatMessage]]:
    """A request wherever the model is to speak."""
    return [of.prepare_nowait(messages[:stop]) for stop in stops_of(messages)]


@pytest.mark.parametrize("compaction", ["when_full", "when_cache_cold"])
def test_it_tells_what_would_be_cut(compaction: str) -> None:
    """Up to the first cut the same as with ``priced``; from there on what it costs not to cut goes on being counted."""
    messages = work(14)
    shaded = turns(manager(compaction=compaction, dry_run=True), messages)
    plain = turns(manager(compaction=compaction), messages)
    assert [(t, t.cost_estimate) for t in plain] == [(t, t.cost_estimate) for t in shaded]
    assert all(t.finished is None for t in plain)
    priced = turns(manager(compaction="cost_based"), messages)
    first = next(i for i, turn in enumerate(priced) if turn.compacted)
    assert [turn.finished for turn in shaded[:first]] == [turn.finished for turn in priced[:first]]
    would, did = shaded[first].finished, priced[first].finished
    assert would is not None
    assert did is not None
    assert (would.spans, would.cost_estimate, would.is_done) == (
        did.spans,
        did.cost_estimate,
        False,
    )
    assert did.is_done
    later = [turn.finished for turn in shaded[first:] if turn.finished is not None]
    waited = [each.cost_estimate.waited_tokens for each in later]
    assert waited == sorted(waited)
    assert len(set(waited)) > 1


def test_spans_are_in_the_hosts_positions() -> None:
    """They begin with a message of the model and end with a result; together they save what the price has."""
    messages = work(14)
    judged = [t.finished for t in turns(manager(dry_run=True), messages) if t.finished]
    assert judged
    for finished in judged:
        starts = [span.start for span in finished.spans]
        assert starts == sorted(starts)
        for span in finished.spans:
            assert messages[span.start]["role"] == "assistant"
            assert messages[span.stop - 1]["role"] == "tool"
            assert span.kind != "none"
            assert 0 < span.confidence <= 1
        saved = finished.cost_estimate.price.rewrite.saved_tokens
        assert sum(span.saved_tokens for span in finished.spans) == saved


def test_a_saved_state_waits_on() -> None:
    """What it has cost not to cut is in the state."""
    messages, kept = work(5), manager(dry_run=True)
    for stop in stops_of(messages):
        other = manager(dry_run=True)
        other.load_state(json.loads(json.dumps(kept.save_state())))
        one, same = kept.prepare_nowait(messages[:stop]), other.prepare_nowait(messages[:stop])
        assert (one, one.cost_estimate, one.finished) == (same, same.cost_estimate, same.finished)


class Debugging:
    """A model that always says the same.

    Attributes:
        asked: how often it was asked.
    """

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, prompt: str, /) -> str:
        """The answer."""
        self.asked += 1
        return '{"intent": "DEBUG", "confidence": 0.9}'


@pytest.mark.parametrize(
    ("given_settings", "asks"),
    [
        pytest.param({"dry_run": True}, True, id="judged"),
        pytest.param({}, True, id="handed in"),
        pytest.param({"compaction": "when_full"}, False, id="nobody looks"),
    ],
)
async def test_a_model_is_asked_where_triggers_look(
    given_settings: dict[str, object],
    asks: bool,  # noqa: FBT001 - a row
) -> None:
    """Once for each turn, in the background; what it said is looked up afterwards."""
    script, messages = Debugging(), work(3)
    model = IntentModel(script.complete)
    async with manager(SemanticHybridTrigger(known=model), **given_settings) as kept:
        for stop in stops_of(messages):
            await kept.prepare(messages[:stop])
            await asyncio.sleep(0)  # the answer of the agent is under way
    assert (script.asked > 0) == asks
    assert script.asked <= len(stops_of(messages))
    assert model(Turn(number=0)) is None
