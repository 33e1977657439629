"""A unit fits its room, and stays a unit."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.compressor.fit import LEAST_LAST, common_length, fit_pieces, lengths
from autogen_context.compressor.shorten import LEAST_ARGUMENTS
from autogen_context.messages.message import Image, Message, ToolCall, ToolResult, image_note
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.piece import Verbatim, Written
from autogen_context.messages.segment import Unit, segment
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import transcripts
from support.counting import COUNTER


def units_of(payloads: list[ChatMessage]) -> list[Unit]:
    """The units of a transcript."""
    return segment([OpenAIChat().read(payload) for payload in payloads])


UNITS = transcripts().map(units_of).filter(bool).flatmap(st.sampled_from)
SIZES = st.lists(st.lists(st.integers(0, 400), max_size=4), min_size=1, max_size=5)


def cost(messages: tuple[Message, ...]) -> int:
    """What messages cost together."""
    return sum(map(COUNTER.message, messages))


def fit(
    messages: tuple[Message, ...], room: int, *, keep_calls: bool = False
) -> tuple[Message, ...] | None:
    """The messages within a room; what was not shortened keeps its piece, and the tokens are theirs."""
    pieces = [Verbatim(start=i, stop=i + 1) for i in range(len(messages))]
    fitted = fit_pieces(pieces, messages, room_tokens=room, counter=COUNTER, keep_calls=keep_calls)
    if fitted is None:
        return None
    short: list[Message] = []
    for i, (piece, before) in enumerate(zip(fitted[0], messages, strict=True)):
        if isinstance(piece, Written):
            assert (piece.index, piece.message == before) == (i, False)
            short.append(piece.message)
        else:
            assert piece == pieces[i]
            short.append(before)
    assert fitted[1] == cost(tuple(short))
    return tuple(short)


def bones(message: Message) -> object:
    """What may never change in a message."""
    calls = [(call.id, call.name) for call in message.calls]
    results = [(result.call_id, result.name) for result in message.results]
    return message.role, message.name, message.extra, calls, results


def least_of(message: Message) -> Message:
    """A mark in place of each text, argument and image that costs more than one."""
    note = f"\n{image_note(len(message.images))}" if message.images else ""
    arguments = [min(call.arguments, LEAST_ARGUMENTS, key=COUNTER.text) for call in message.calls]
    results = [replace(result, text=result.text and "…") for result in message.results]
    if results and note:
        results[-1] = replace(results[-1], text=f"{results[-1].text}{note}")
    return replace(
        message,
        text=f"{message.text and '…'}{'' if results else note}",
        images=(),
        calls=tuple(replace(c, arguments=a) for c, a in zip(message.calls, arguments, strict=True)),
        results=tuple(results),
    )


def texts_in(message: Message) -> list[str]:
    """What may be shortened of it."""
    results = [result.text for result in message.results]
    return [message.text, *results, *(call.arguments for call in message.calls)]


@settings(max_examples=150)
@given(unit=UNITS, room=st.integers(0, 500), keep_calls=st.booleans())
def test_it_fits_and_what_goes_is_marked(unit: Unit, room: int, *, keep_calls: bool) -> None:
    """F12, F13: within the room, the same calls and results; each text, argument and image is whole or marked, or nothing fits."""
    short = fit(unit.messages, room, keep_calls=keep_calls)
    if short is None:
        assert room < cost(unit.messages)
        assert keep_calls or cost(tuple(map(least_of, unit.messages))) > room
        return
    assert cost(short) <= room
    assert list(map(bones, short)) == list(map(bones, unit.messages))
    if keep_calls:
        assert [m for m in short if m.calls] == [m for m in unit.messages if m.calls]
    for before, after in zip(unit.messages, short, strict=True):
        for text, left in zip(texts_in(before), texts_in(after), strict=True):
            assert left == text or "…" in left or "left out]" in left
        assert after.images == before.images or image_note(len(before.images)) in "".join(
            texts_in(after)
        )
        for call, kept in zip(before.calls, after.calls, strict=True):
            assert kept == call or json.loads(kept.arguments)
    if cost(unit.messages) <= room:
        assert all(after is before for after, before in zip(short, unit.messages, strict=True))


@given(st.lists(st.integers(0, 300), max_size=8), st.integers(0, 1_000))
def test_the_common_length_is_the_greatest(sizes: list[int], room: int) -> None:
    """Cut to it, the texts fit the room; one token more and they do not, unless none is cut."""
    length = common_length(sizes, room)
    assert sum(min(size, length) for size in sizes) <= room
    if length < max(sizes, default=0):
        assert sum(min(size, length + 1) for size in sizes) > room
    else:
        assert length == max(sizes, default=0)


@given(SIZES, st.integers(0, 2_000))
def test_the_last_message_gets_its_least_first(sizes: list[list[int]], room: int) -> None:
    """All fit; one length for all, unless the last one would have less than it needs and could get."""
    found = lengths(sizes, room)
    cut = [min(size, length) for texts, length in zip(sizes, found, strict=True) for size in texts]
    assert sum(cut) <= room
    *_, last = sizes
    needs = min(LEAST_LAST, max(last, default=0), room // max(1, sum(map(bool, last))))
    assert found[-1] >= needs
    assert len(set(found)) == 1 or found[-1] == needs > max(found[:-1])


@pytest.mark.parametrize(
    ("room", "images"),
    [pytest.param(200, 2, id="texts give first"), pytest.param(100, 0, id="then the images")],
)
def test_images_go_where_texts_alone_do_not_suffice(room: int, images: int) -> None:
    """All of them, with a note; a supplied message has no place to name."""
    message = Message(role="user", text="x" * 900, images=(Image(), Image()))
    fitted = fit_pieces([Written(message=message)], [message], room_tokens=room, counter=COUNTER)
    assert fitted is not None
    (piece,) = fitted[0]
    assert isinstance(piece, Written)
    assert (piece.index, len(piece.message.images)) == (None, images)


def test_long_arguments_give_too() -> None:
    """A call with large arguments is shortened like any text; a short result beside it is not."""
    call = ToolCall(id="a", name="write", arguments='{"text": "%s"}' % ("y" * 4_000))
    unit = (
        Message(role="assistant", calls=(call,)),
        Message(role="tool", results=(ToolResult(call_id="a", text="written"),)),
    )
    short = fit(unit, 100)
    assert short is not None
    assert short[1] is unit[1]
    assert "shortened from" in short[0].calls[0].arguments
    assert fit(unit, 100, keep_calls=True) is None
