"""Summaries are made ahead of need, once each, and whatever a model does nothing else happens."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import cast

import pytest

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.span import Span, Spans
from autogen_context.compressor.summaries import Summaries, Summarises
from autogen_context.models.background import Background
from support.counting import Characters
from support.prompts import client
from support.units import candidates_of, read_all
from support.waiting import until
from support.working import Hanging, Summarising, step

SECONDS = 30.0  # that are never waited for


def spans(count: int = 2) -> list[Span]:
    """Some spans of an agent's run."""
    messages = read_all([message for n in range(60) for message in step(n)])
    return Spans().of(candidates_of(messages), stays=(), room_tokens=10_000)[:count]


Answers = Callable[[str, int], Awaitable[str]]


class Made(Summaries):
    """Of a conversation that begins, or goes on; what it works at ends when it is closed."""

    def __init__(self, model: Answers | Summarises, known: Mapping[str, str] | None = None) -> None:
        own = (
            model
            if isinstance(model, Summarises)
            else SemanticCompressor(client(model), counter=Characters())
        )
        self.background = Background(model)
        super().__init__(own, Characters(), known or {}, self.background)


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """What was warned of."""
    return [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_each_span_is_asked_for_once() -> None:
    """Also while it is under way, and when a saved state has it; the summary is known by its key and far smaller."""
    model = Summarising()
    one = Made(model, {spans(4)[3].key: "Done."})
    await one.make(spans(), timeout_s=0)
    await one.make(spans(4), timeout_s=SECONDS)
    await one.make(spans(4), timeout_s=SECONDS)
    assert len(model.asked) == len(spans(3)) == 3
    assert set(one.known) == {span.key for span in spans(4)}
    for span in spans(3):
        assert "Summed up." in one.known[span.key]
        assert Characters().count(one.known[span.key]).tokens <= span.tokens // 10 + 1


class Own:
    """A compressor of the user's own that makes summaries.

    Attributes:
        answers: what it does, one after the other.
    """

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)

    async def summarise(self, text: str, /, *, target_tokens: int) -> str:
        """The next answer."""
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return cast("str", answer)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "it is empty"),
        (None, "it is empty"),
        ("x" * 10_000, "it exceeds its token limit"),
        (KeyError("secret"), "KeyError"),
    ],
    ids=range(4),
)
async def test_any_compressor_is_measured(
    answer: object, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """F2: what cannot stand for a span is not kept, nor asked for again; one warning, whose message says why."""
    one = Made(Own(answer))
    await one.make(spans(1), timeout_s=SECONDS)
    await one.make(spans(1), timeout_s=SECONDS)
    assert one.known == {}
    [warned] = warnings_in(caplog)
    assert warned.getMessage().endswith(why)


async def test_no_turn_waits_longer_than_it_was_told() -> None:
    """Not at all, or up to a limit, or until it is given up; what is under way goes on, and ends with its owner."""
    model = Hanging()
    one = Made(model)
    await one.make(spans(), timeout_s=0)
    assert model.asked == 0  # nothing had a turn so far
    await one.make(spans(), timeout_s=0.01)
    await until(lambda: model.asked == model.under_way == 2)
    turn = asyncio.create_task(one.make(spans(), timeout_s=SECONDS))
    await asyncio.sleep(0)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert model.asked == model.under_way == 2
    await one.background.aclose()
    assert model.under_way == 0
    await one.make(spans(1), timeout_s=0.01)
    await until(lambda: model.asked == 3)  # what was cut off is asked for again
    await one.background.aclose()


async def begun(work: Made, model: Hanging) -> None:
    """A turn in which the model is asked once more, and does not answer."""
    before = model.asked
    await work.make(spans(1), timeout_s=0)
    await until(lambda: model.asked > before)


def test_each_turn_may_have_a_loop_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    """What failed in an earlier loop is waited for in none; what an earlier loop cut off, or left, is asked for again."""
    hanging, good = Hanging(), Summarising()
    one = Made(Own(RuntimeError("HTTP 500"), RuntimeError("HTTP 500")))
    for _ in range(2):
        asyncio.run(one.make(spans(), timeout_s=SECONDS))
    assert len(warnings_in(caplog)) == 2
    two = Made(hanging)
    for _ in range(2):
        asyncio.run(begun(two, hanging))
    assert (hanging.asked, hanging.under_way) == (2, 0)
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)  # what it leaves behind
    loop.run_until_complete(begun(two, hanging))
    loop.close()
    asyncio.run(begun(two, hanging))
    assert hanging.asked == 4
    three = Made(good)
    asyncio.run(three.make(spans(), timeout_s=0))
    asyncio.run(three.make(spans(), timeout_s=SECONDS))
    assert len(three.known) == 2
    for each in (one, two, three):
        asyncio.run(each.background.aclose())
