"""The promises of docs/promises.md, each as a law over conversations that nobody wrote by hand."""

import copy
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager, Prepared
from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.message import Message
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import broken_transcripts, histories, transcripts
from autogen_context.testing.wire import Json
from support import keeping
from support.keeping import outcome_of
from support.saying import asks, call_of, step, tells

# The windows are drawn without regard to the model that lends its chat format.
pytestmark = pytest.mark.filterwarnings("ignore:window_tokens=")

Transcript = list[ChatMessage]
WINDOWS = st.integers(min_value=40, max_value=3_000)
BROKEN = broken_transcripts().map(lambda messages: [m for m in messages if m.get("role")])
ANY_TRANSCRIPT = transcripts() | BROKEN
MARKS = (
    "…",
    "earlier messages (",
    "[no result",
    "[Recalled from earlier",
    "[result of a tool call",
    "images left out",
    "image left out",
)
LARGE_IMAGE, SMALL_IMAGE = 85 + 8 * 170, 85  # tokens of GPT-4, where the size is not known


# A counter that anybody can check, and GPT-4's chat format.
manager = partial(keeping.manager, model="gpt-4")


def prepared(
    keeper: IncrementalContextManager, messages: list[ChatMessage]
) -> Prepared[ChatMessage]:
    """A turn; conversations whose floors exceed the window say nothing about the law under test."""
    outcome = outcome_of(keeper, messages)
    assume(not isinstance(outcome, ContextWindowExceeded))
    return cast("Prepared[ChatMessage]", outcome)  # the other one ended the example


def tokens(messages: Sequence[ChatMessage]) -> int:
    """What the messages cost, counted apart from the manager, with what GPT-4's format adds."""
    read = OpenAIChat().read
    return sum(map(cost, map(read, messages))) + 3


def cost(message: Message) -> int:
    """What one message costs."""
    texts = [message.text, message.extra, *(r.text for r in message.results)]
    texts += [part for call in message.calls for part in (call.name, call.arguments)]
    names = [name for name in (message.name, *(r.name for r in message.results)) if name]
    beside = 4 + 4 * len(message.calls) + len(names) + 4 * (message.text_parts - 1)
    images = [SMALL_IMAGE if i.detail == "low" else LARGE_IMAGE for i in message.images]
    return beside + sum(-(-len(text) // 4) for text in (*texts, *names)) + sum(images)


def is_subsequence(part: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether all items come in the whole, in their order."""
    rest = iter(whole)
    return all(item in rest for item in part)


@given(ANY_TRANSCRIPT, WINDOWS)
def test_1_3_what_is_sent_fits_in_closed_pairs_or_the_error_has_the_numbers(
    messages: Transcript, window: int
) -> None:
    """Counted by anybody, the request is within the window, orphans that came in are repaired; or the floors exceed it."""
    outcome = outcome_of(manager(window), messages)
    if isinstance(outcome, ContextWindowExceeded):
        assert outcome.limit_tokens == window
        assert sum(outcome.parts.values()) == outcome.least_tokens > window
    else:
        bound = outcome.certificate.bound.tokens
        assert tokens(outcome.messages) <= bound <= window
        assert not outcome.certificate.broken


@given(transcripts(), WINDOWS)
def test_2_the_newest_message_is_there(messages: Transcript, window: int) -> None:
    """The last message sent is the newest, in its role, answering its call; whole if that fits beside the rest."""
    assume(messages)
    turn = prepared(manager(window), messages)
    last, newest = turn.messages[-1], messages[-1]
    assert (last["role"], last.get("tool_call_id")) == (newest["role"], newest.get("tool_call_id"))
    assert turn.certificate.newest_present
    floors = [m for m in messages if m["role"] != "assistant" and m["role"] != "tool"]
    if tokens(floors + messages[-6:]) <= window and newest["role"] == "user":
        assert last is newest


@given(histories(), WINDOWS)
def test_3_no_orphan_is_made(history: list[Transcript], window: int) -> None:
    """What OpenAI takes whole, it takes in the form that is sent, at every turn."""
    keeper = manager(window)
    for messages in history:
        turn = prepared(keeper, messages)
        assert turn.certificate.pairs_closed
        if not pending(messages):
            check_chat(cast("list[Json]", turn.messages))


def pending(messages: Transcript) -> bool:
    """Whether the last call waits for results."""
    read = [OpenAIChat().read(message) for message in messages]
    answered = {result.call_id for message in read for result in message.results}
    return any(call.id not in answered for message in read for call in message.calls)


@given(transcripts(), WINDOWS, st.data())
def test_4_the_floors_are_there(messages: Transcript, window: int, data: st.DataObject) -> None:
    """System prompt and pins as they came, the very objects."""
    assume(messages)
    keeper = manager(window)
    pin = data.draw(st.sampled_from(messages))
    keeper.pin(pin)
    turn = prepared(keeper, messages)
    sent = [id(message) for message in turn.messages]
    assert id(pin) in sent or any(m == pin for m in turn.messages)
    assert turn.certificate.pins_present
    for message in messages:
        if message["role"] not in ("system", "developer"):
            break
        assert id(message) in sent


@given(transcripts(), st.integers(min_value=0, max_value=10**6))
def test_5_without_need_nothing_changes(messages: Transcript, spare: int) -> None:
    """Below the mark the same objects come out, in a list of their own, but for results that were reduced."""
    window = tokens(messages) + spare
    turn = manager(window).prepare_nowait(messages)
    kept = [one is other for one, other in zip(turn.messages, messages, strict=True)]
    assert all(same or m.get("role") == "tool" for same, m in zip(kept, messages, strict=True))
    assert all(kept) == all(decision.action == "keep" for decision in turn.decisions)
    assert turn.certificate.counted_tokens <= tokens(messages)
    off = manager(window, reduce="off").prepare_nowait(messages)
    assert list(map(id, off.messages)) == list(map(id, messages))
    assert turn.messages is not messages
    assert not turn.compacted


@given(histories(max_messages=30), WINDOWS)
def test_6_between_compactions_the_list_only_grows(history: list[Transcript], window: int) -> None:
    """What was sent is a prefix of what is sent next, unless that turn compacted."""
    keeper = manager(window)
    for before, after in pairwise([prepared(keeper, messages) for messages in history]):
        if not after.compacted:
            assert after.messages[: len(before.messages)] == before.messages


@given(ANY_TRANSCRIPT, WINDOWS)
def test_7_13_nothing_grows_and_what_left_can_be_had_back(
    messages: Transcript, window: int
) -> None:
    """No unit costs more than it did, all dropped ones with their notice less; under its handle each is there as it came in."""
    keeper = manager(window)
    turn = prepared(keeper, messages)
    for decision in turn.decisions:
        assert decision.action != "shorten" or decision.tokens_after <= decision.tokens_before
        if decision.handle:
            originals = [OpenAIChat().read(m) for m in messages[decision.start : decision.stop]]
            assert list(keeper.recall(decision.handle)) == originals
    dropped = [d for d in turn.decisions if d.action == "drop"]
    assert sum(d.tokens_after for d in dropped) <= sum(d.tokens_before for d in dropped)


@given(transcripts(), WINDOWS)
@example(
    [
        *step("old", "read_file", ""),
        asks(
            *(call_of(each, "read_file") for each in "abc"),
            call_of("d", "read_file", path="a.py", text="検索結果が見つかりません。" * 4),
        ),
        *(tells(each, "") for each in "abcd"),
    ],
    130,
)
def test_8_order_is_kept_and_inventions_are_marked(messages: Transcript, window: int) -> None:
    """The host's own objects come in their order; every other message says that it is not whole, or is one in shorter JSON.

    What is only reduced on arrival is whole; tests/compressor/test_arrive.py has its laws.
    """
    turn = prepared(manager(window, reduce="off"), messages)
    own = {id(message) for message in messages}
    assert is_subsequence([id(m) for m in turn.messages if id(m) in own], [id(m) for m in messages])
    whole = [with_arguments_read(message) for message in messages]
    for message in turn.messages:
        if id(message) not in own and with_arguments_read(message) not in whole:
            said = json.dumps(message, ensure_ascii=False, default=str)
            assert any(mark in said for mark in MARKS)


def with_arguments_read(message: ChatMessage) -> Json:
    """A message by what the arguments of its calls say, whichever way their JSON is written."""
    read = copy.deepcopy(dict(message))
    for call in read.get("tool_calls") or ():
        with suppress(json.JSONDecodeError):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return read


@given(histories(max_messages=30), WINDOWS, st.data())
def test_9_12_15_early_in_copies_or_by_another_manager_the_turns_are_the_same(
    history: list[Transcript], window: int, data: st.DataObject
) -> None:
    """Told of each message as it comes, handed copies, saved and loaded after any turn; or told of all at once."""
    keeper, plain, heard = manager(window), manager(window), 0
    stop = data.draw(st.integers(0, len(history) - 1))
    for turn, messages in enumerate(history):
        for length in range(heard + 1, len(messages) + 1):
            keeper.observe(messages[:length])
        heard = len(messages)
        assert prepared(keeper, copy.deepcopy(messages)) == prepared(plain, messages)
        if turn == stop:
            state, keeper = keeper.save_state(), manager(window)
            keeper.load_state(json.loads(json.dumps(state)))
            assert keeper.save_state() == state


@given(histories(max_messages=20), WINDOWS)
def test_10_what_the_caller_owns_is_his(history: list[Transcript], window: int) -> None:
    """Nothing that was handed in is changed, and spoiling what was handed out changes no later turn."""
    careless, careful = manager(window), manager(window)
    for messages in history:
        before = copy.deepcopy(messages)
        given = copy.deepcopy(messages)
        turn = prepared(careless, given)
        expected = copy.deepcopy(turn.messages)
        assert given == before
        for message in turn.messages:
            message.clear()
        turn.messages.clear()
        assert prepared(careful, messages).messages == expected


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_compaction_makes_room_for_turns_that_hold(share: float) -> None:
    """After a cut the room beside what must stay is filled to the low mark, and several turns pass before the next one."""
    keeper = manager(4_000, compact_to_fraction=share)
    messages: Transcript = [{"role": "user", "content": "the task"}]
    cuts: list[int] = []
    room = 4_000 - 6 - 104 - 3  # beside the task, the newest message and the start of the answer
    for n in range(100):
        messages.append({"role": "assistant", "content": f"{n:04d} " + "x" * 395})
        turn = keeper.prepare_nowait(messages)
        if turn.compacted:
            cuts.append(n)
            assert turn.certificate.bound.tokens <= 4_000 - room * (1 - share)
    assert all(b - a >= room * (1 - share) / 104 - 1 for a, b in pairwise(cuts))
    assert cuts


@given(
    st.lists(st.integers(0, 6_000), min_size=5, max_size=25), st.integers(0, 1_500), st.booleans()
)
def test_1_the_bound_covers_the_bill(
    sizes: list[int],
    hidden: int,
    bills_overheads: bool,  # noqa: FBT001 - drawn
) -> None:
    """From the second request on no bill exceeds it, compactions included.

    Whatever the host hides, and whether or not the provider bills what we assume for calls.
    """
    keeper = manager(8_000)
    messages: Transcript = [{"role": "user", "content": "the task"}]
    for n, size in enumerate(sizes):
        messages += step(f"c{n}", "f", "x" * 4 * size)
        turn = prepared(keeper, messages)
        calls = sum(bool(m.get("tool_calls")) for m in turn.messages)
        billed = tokens(turn.messages) + hidden - (0 if bills_overheads else 4 * calls)
        assert n == 0 or billed <= turn.certificate.bound.tokens <= 8_000
        keeper.record_usage(turn, prompt_tokens=billed)
