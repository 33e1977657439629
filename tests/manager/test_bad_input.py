"""Whatever a host hands over, there is a clear result or a clear error."""

import copy
import re
from functools import reduce

import pytest

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.errors import ContextWindowExceeded, InvalidTranscript
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.tokens.measure import EstimateCounter
from support.saying import asks, says, tells

COUNTERS = pytest.mark.parametrize("counter", ["gpt-4o", "estimate"])
LINE = "one line of a very long log, number 4711\n"


def manager(
    window: int, counter: str = "estimate", **settings: object
) -> IncrementalContextManager:
    """One that counts with the model's own tokenizer, or by estimate."""
    if counter != "estimate":
        return IncrementalContextManager(model=counter, window_tokens=window)
    config = ContextConfig.model_validate({"window_tokens": window, **settings})
    return IncrementalContextManager(config=config, counter=EstimateCounter())


@COUNTERS
def test_nothing_at_all(counter: str) -> None:
    """An empty list is an empty list."""
    turn = manager(100, counter).prepare_nowait(list[ChatMessage]())
    assert (turn.messages, list(turn.decisions), turn.compacted) == ([], [], False)
    assert turn.certificate.fits
    assert turn.certificate.newest_present


def test_not_even_nothing_fits() -> None:
    """A window that the format alone exceeds is told with its numbers."""
    with pytest.raises(
        ContextWindowExceeded, match=r"need 8 tokens and the limit is 2 \(tools and"
    ):
        manager(2).prepare_nowait(list[ChatMessage]())


@pytest.mark.parametrize(("counter", "as_result"), [("gpt-4o", True), ("estimate", False)])
def test_megabytes(counter: str, *, as_result: bool) -> None:
    """Its head and tail are sent, with a mark."""
    result = [says("read it", "user"), asks("1"), tells("1", LINE * 100_000)]
    messages = result if as_result else [says(LINE * 12_500, "user")]
    turn = manager(2_000, counter).prepare_nowait(messages)
    text = str(turn.messages[-1]["content"])
    assert turn.certificate.fits
    assert text.startswith("one line of a very long log")
    assert re.search(r"\[… shortened from \d{6,7} tokens …\]", text)


DEEP = reduce(lambda inner, _: [inner], range(2_000), list[object]())
ODD_TEXTS = {
    "lone surrogates": "\ud800 and \udfff " * 3_000,
    "special tokens": "<|endoftext|><|im_start|>system" * 1_000,
    "nothing but spaces": " " * 200_000,
    "nothing but line ends": "\r\n" * 30_000,
    "null characters": "\0" * 20_000,
    "emoji": "👩‍👩‍👧‍👦" * 3_000,
    "one long word": "x" * 100_000,
    "base64": "QUJDREVGR0hJSktM" * 3_000,
}


@COUNTERS
@pytest.mark.parametrize("text", list(ODD_TEXTS.values()), ids=list(ODD_TEXTS))
def test_odd_texts(counter: str, text: str) -> None:
    """They are counted, shortened and sent like any other."""
    messages = [says("s", "system"), says(text, "user"), asks("1"), tells("1", text)]
    turn = manager(900, counter).prepare_nowait(messages)
    assert turn.certificate.fits
    check_chat([*turn.messages])
    whole = manager(100_000_000).prepare_nowait(messages)
    assert whole.messages == messages


def test_thinking_comes_back_untouched_or_goes_with_its_unit() -> None:
    """Blocks and signatures are counted and never changed, even where the text beside them is."""
    block = {"type": "thinking", "thinking": "hm " * 20, "signature": "EqQBCg=="}
    old = {**asks("1"), "thinking_blocks": [block]}
    new = says([block, {"type": "text", "text": "x" * 9_000}], "assistant", reasoning_content="hm")
    messages = [says("task", "user"), old, tells("1", "r" * 4_000), new]
    for window in (300, 700, 9_000):
        turn = manager(window).prepare_nowait(copy.deepcopy(messages))
        last = turn.messages[-1]
        assert last["content"][0] == block
        assert last["reasoning_content"] == "hm"
        for message in turn.messages:
            assert message.get("thinking_blocks") in (None, [block])
        assert (old in turn.messages) == (window == 9_000)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        pytest.param({"content": "hi"}, "a message needs a 'role' that is a string", id="no role"),
        pytest.param("hi", "must be a dict or a client object, got str", id="a string"),
        pytest.param(None, "must be a dict or a client object, got NoneType", id="null"),
        pytest.param(says(5), "content=5: give a string, a list of parts or null", id="number"),
        pytest.param(
            says(None, "assistant", tool_calls=[{"id": "1", "function": None}]),
            "a tool call needs a 'function' with 'name' and 'arguments'",
            id="call without function",
        ),
        pytest.param(
            says(None, "assistant", tool_calls=7), "tool_calls=7: give a list of calls", id="7"
        ),
        pytest.param({"role": "user", 1: 2}, "strings as keys", id="keys of two types"),
        pytest.param(
            says([{"type": "file", "file": DEEP}], "user"), "recursion", id="nested too deep"
        ),
    ],
)
def test_what_cannot_be_read(broken: object, reason: str) -> None:
    """Is refused with its position; what came before goes on, and ``enabled=False`` lets it through."""
    keeper = manager(1_000)
    good: list[object] = [says("a", "user"), says("b", "assistant")]
    before = keeper.prepare_nowait(good)
    with pytest.raises(InvalidTranscript, match=f"^message 2: .*{re.escape(reason)}") as caught:
        keeper.prepare_nowait([*good, broken])
    assert caught.value.index == 2
    assert keeper.prepare_nowait(good) == before
    passed = manager(1_000, enabled=False).prepare_nowait([*good, broken])
    assert list(map(id, passed.messages)) == list(map(id, [*good, broken]))


@pytest.mark.parametrize(
    ("messages", "orphans"),
    [
        pytest.param([asks("1", "1"), tells("1"), tells("1")], (), id="one id for two calls"),
        pytest.param([asks("1"), tells("1"), asks("1"), tells("1")], (), id="an id used again"),
        pytest.param([asks("1"), tells("1"), tells("1")], (2,), id="answered twice"),
        pytest.param(
            [tells("1"), asks("1"), says("so?", "user")], (0, 1), id="result before its call"
        ),
        pytest.param([asks("1"), says("wait", "user"), tells("1")], (0, 2), id="interrupted"),
    ],
)
def test_orphans(messages: list[ChatMessage], orphans: tuple[int, ...]) -> None:
    """Are repaired, reported or refused, as configured, and named by their position in each case."""
    repaired = manager(1_000).prepare_nowait(messages)
    assert repaired.certificate.pairs_closed
    reported = manager(1_000, orphans="report").prepare_nowait(messages)
    assert reported.messages == messages
    assert reported.certificate.pairs_closed == (not orphans)
    assert repaired.certificate.orphans == reported.certificate.orphans == orphans
    if orphans:
        with pytest.raises(InvalidTranscript, match=r'without its (call|result), and orphans="ref'):
            manager(1_000, orphans="refuse").prepare_nowait(messages)
    else:
        assert manager(1_000, orphans="refuse").prepare_nowait(messages).messages == messages


@COUNTERS
@pytest.mark.parametrize(
    "url", ["https://example.org/a.png", "data:image/png;base64," + "A" * 10**6]
)
def test_images_are_never_counted_as_text(counter: str, url: str) -> None:
    """However they come; where they do not fit, a note stands for them."""
    forms = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "image_url", "image_url": url},
        {"type": "image", "source": {"type": "base64", "data": url}},
    ]
    message = says([{"type": "text", "text": "look"}, *forms], "user")
    turn = manager(60_000, counter).prepare_nowait([message])
    assert turn.messages == [message]
    [short] = manager(200, counter).prepare_nowait([message]).messages
    assert short["content"] == [{"type": "text", "text": "look\n[3 images left out]"}]
