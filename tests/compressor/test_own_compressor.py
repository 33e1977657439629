"""A compressor of the user's own takes the place of ours: what is sent changes, and the promises hold."""

import asyncio
import gc
import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context import ContextConfig, IncrementalContextManager, Prepared
from autogen_context.compressor.left_out import LeftOut
from autogen_context.compressor.protocol import Compressor
from autogen_context.errors import ContextWindowExceeded
from autogen_context.messages.blocks import SHORT_ARGUMENT, parsed, strings_in
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts
from autogen_context.text.fit import CountText
from autogen_context.view.notice import Notice, ProviderTurn, ProviderUpdate
from support import keeping
from support.counting import Characters
from support.prompts import client
from support.saying import asks, call_of, says, tells
from support.working import Hanging, notice_in, run


class Truncating:
    """The beginning of everything; in so many lines as a user would write."""

    def on_arrival(self, text: str, _reduced: str, /, *, count: CountText) -> str:
        return text[:120] if count(text) > 120 else text

    def shorten(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        return text[:room_tokens] if count(text) > room_tokens else text

    def stated(self, text: str, /) -> str:
        return text[:80]

    def notice(self, left_out: LeftOut, /, *, room_tokens: int, count: CountText) -> str:
        told = f"{len(left_out.units)} steps"
        return told if count(told) <= room_tokens else ""


class Recording(Truncating):
    """The same, and what it answered."""

    def __init__(self) -> None:
        self.answers = {""}

    @override
    def on_arrival(self, text: str, reduced: str, /, *, count: CountText) -> str:
        self.answers.add(answer := super().on_arrival(text, reduced, count=count))
        return answer

    @override
    def shorten(self, text: str, /, *, room_tokens: int, count: CountText) -> str:
        self.answers.add(answer := super().shorten(text, room_tokens=room_tokens, count=count))
        return answer

    @override
    def stated(self, text: str, /) -> str:
        self.answers.add(answer := super().stated(text))
        return answer


class Wrong:
    """Does one thing wrong in all of its methods."""

    def __init__(self, answer: Callable[[str], object]) -> None:
        self._answer = answer

    def __getattr__(self, _method: str) -> Callable[..., object]:
        """Any of them."""

        def wrong(given: object, *_others: object, **_rooms: object) -> object:
            return self._answer(str(given))

        return wrong


def raises(text: str) -> str:
    """No answer."""
    raise KeyError(text)


WAYS: dict[str, Callable[[str], object]] = {
    "it raises": raises,
    "no text": lambda _: None,
    "larger": lambda text: text * 3 + "x",
    "nothing": lambda _: "",
}


def keeper(
    compressor: Compressor | None, window_tokens: int = 5_000, **given: Any
) -> IncrementalContextManager:
    """A manager with it, which counts characters."""
    return keeping.manager(window_tokens, compressor=compressor, **given)


LONG = "The story of the service is long and was told by many. " * 60
RULE = "Never touch the table billing_2024. "


def prepared(compressor: Compressor | None) -> Prepared[ChatMessage]:
    """A turn of a run in which a person tells a long story, and the newest message has no room whole."""
    said = {2: LONG + RULE}
    return keeper(compressor).prepare_nowait(
        [*run(90, said), says("Sum up: " + "what is " * 4_000, "user")]
    )


def test_what_is_sent_is_its(caplog: pytest.LogCaptureFixture) -> None:
    """Each of its methods changes what is sent, without one word of warning; the request fits."""
    ours, own = prepared(None), prepared(Truncating())
    assert own.certificate.fits
    assert " steps\n]" in notice_in(own)
    assert "> read src/part_" in notice_in(ours)
    assert "[… shortened" in str(ours.messages[-1]["content"])
    assert "[… shortened" not in str(own.messages[-1]["content"])
    results = [str(m["content"]) for m in own.messages if m["role"] == "tool"]
    assert all(Characters().count(text).tokens <= 120 for text in results)
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


def texts_in(message: Mapping[str, object]) -> list[str]:
    """The text of a message, and the longer strings among its arguments."""
    calls = cast("list[dict[str, dict[str, str]]]", message.get("tool_calls") or [])
    found = [text for call in calls for text in strings_in(parsed(call["function"]["arguments"]))]
    return [str(message["content"] or ""), *(text for text in found if len(text) > SHORT_ARGUMENT)]


WRITES = asks(call_of("c99", "write_file", path="a.py", content=LONG * 10))
NEWEST = {
    "words": [says("Sum up: " + "what is " * 4_000, "user")],
    "arguments": [WRITES, tells("c99", "done")],
}


@pytest.mark.parametrize("newest", NEWEST)
@pytest.mark.parametrize("window", [3_000, 4_000, 5_000])
def test_every_text_that_is_shorter_than_it_came_is_its(window: int, newest: str) -> None:
    """Reduced on arrival, cut to some of its blocks, a person's long message, or one that must stay: E6, G34."""
    own = Recording()
    messages = [*run(60, {2: LONG + RULE}), *NEWEST[newest]]
    turn = keeper(own, window).prepare_nowait(messages)
    came = {text for message in messages for text in texts_in(message)}
    sent = {text for message in turn.messages for text in texts_in(message)} - {notice_in(turn)}
    assert any("blocks are worth" in decision.reason for decision in turn.decisions)
    assert sent <= came | own.answers


class Telling:
    """A provider that tells more than has room."""

    name = "news"

    async def before_turn(self, turn: ProviderTurn, /) -> None:
        """Nothing to prepare."""

    def turn(self, _turn: ProviderTurn, /) -> ProviderUpdate:
        """Tell it."""
        return ProviderUpdate(notices=(Notice(key="all", text="All of it:", detail=LONG),))


async def test_a_notice_and_an_answer_that_are_too_long_are_its() -> None:
    """What is told in front of the newest message, and what the recall tool answers: E6."""
    own = Recording()
    manager = keeper(own, 3_000, providers=[Telling()])
    [told] = keeping.told_in(await manager.prepare(run(1)))
    assert any(f"All of it:\n> {answer}\n" in told for answer in own.answers if answer)
    manager = keeper(own, 500)
    manager.prepare_nowait(run(30))
    assert manager.recall_context(query="part total") in own.answers


def test_what_it_cut_can_be_had_back() -> None:
    """A result that it cut on arrival is kept whole under its handle."""
    manager = keeper(Truncating(), 50_000)
    messages = run(2)
    manager.prepare_nowait(messages)
    [line] = str(messages[-1]["content"]).splitlines()[-1:]
    assert line in manager.recall_context(query=line)


@pytest.mark.parametrize("way", WAYS)
def test_what_it_does_wrong_costs_quality_alone(way: str, caplog: pytest.LogCaptureFixture) -> None:
    """The request fits; ours answers in its place, and one warning for each method says why."""
    turn = prepared(cast("Compressor", Wrong(WAYS[way])))
    assert turn.certificate.fits
    warned = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(warned) == len(set(warned))
    if way != "nothing":
        assert turn.messages == prepared(None).messages
        assert any("compressor's notice failed" in each for each in warned)


@settings(max_examples=10)
@given(transcripts(), st.sampled_from([*WAYS, "truncates"]), st.integers(300, 2_000))
def test_the_promises_hold(messages: list[ChatMessage], way: str, window: int) -> None:
    """Whatever it does: it fits, pairs are closed, the newest message is there, and twice is the same."""
    own = Truncating() if way == "truncates" else cast("Compressor", Wrong(WAYS[way]))
    try:
        turn = keeper(own, window).prepare_nowait(messages)
    except ContextWindowExceeded:
        return
    assert turn.certificate.fits
    assert turn.certificate.pairs_closed
    assert turn.certificate.newest_present or not messages
    assert keeper(own, window).prepare_nowait(messages).messages == turn.messages


async def test_nothing_goes_on_behind_managers_that_were_dropped() -> None:
    """F17: several of them, none closed, whose model never answers."""
    config = ContextConfig(window_tokens=12_000, summary_timeout_s=0.01)
    managers = [
        IncrementalContextManager(
            config=config, counter=Characters(), model_client=client(Hanging())
        )
        for _ in range(3)
    ]
    for number in range(len(managers)):
        await managers[number].prepare(run(40))
    assert len(asyncio.all_tasks()) > len(managers)
    managers.clear()
    gc.collect()
    for _ in range(3):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize(
    ("argument", "value", "give"),
    [
        ("compressor", object(), "a SemanticCompressor, or an object with the methods"),
        ("model_client", "gpt-4o", "a CompletionClient, or an async function of a prompt"),
    ],
)
def test_wrong_parts(argument: str, value: object, give: str) -> None:
    """Said at construction, with what to give."""
    with pytest.raises(ValueError, match=rf"{argument}=.*: give {give}"):
        IncrementalContextManager(**{argument: value})  # type: ignore[arg-type]  # wrong on purpose
