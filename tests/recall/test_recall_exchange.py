"""Exchanges are whole: a question with its answer, and all that happened between."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import SYSTEM_ROLES, Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.segment import segment
from autogen_context.recall import exchanges, tiers
from autogen_context.recall.exchanges import Exchanges, newest_request, said_now
from autogen_context.testing import ChatMessage
from autogen_context.testing.transcripts import broken_transcripts, transcripts

FEW = settings(max_examples=60)


def read_all(payloads: list[ChatMessage]) -> list[Message]:
    """The messages that can be read."""
    return [OpenAIChat().read(payload) for payload in payloads if payload.get("role")]


WHOLE = transcripts(max_messages=20, max_repeats=2).map(read_all)
ANY = WHOLE | broken_transcripts(max_messages=20, max_repeats=2).map(read_all)


def says(text: str) -> Message:
    """A person's message."""
    return Message(role="user", text=text)


def answers(text: str, *, calls: bool = False) -> Message:
    """An assistant's message."""
    called = (ToolCall(id="1", name="f", arguments="{}"),) if calls else ()
    return Message(role="assistant", text=text, calls=called)


RESULT = Message(role="tool", results=(ToolResult(call_id="1", text="42"),))
SYSTEM = Message(role="system", text="Be brief.")
MESSAGES = st.sampled_from([says("a"), says("b"), answers("c"), RESULT, SYSTEM])


@FEW
@given(ANY)
def test_exchanges_cover_the_conversation(messages: list[Message]) -> None:
    """From the first message that is no system message to the last, without gap or overlap."""
    found = exchanges(messages)
    first = next((i for i, m in enumerate(messages) if m.role not in SYSTEM_ROLES), len(messages))
    borders = [first, *[each.stop for each in found]]
    assert [(each.start, each.stop) for each in found] == list(pairwise(borders))
    assert borders[-1] == len(messages)


@FEW
@given(ANY)
def test_a_person_opens_each_but_perhaps_the_first(messages: list[Message]) -> None:
    """What a person says in a row belongs together, and is the beginning."""
    for number, each in enumerate(exchanges(messages)):
        asked = tuple(messages[each.start : each.start + len(each.asked)])
        assert each.asked == asked
        assert number == 0 or asked
        assert all(m.role == "user" and not m.results for m in asked)
        assert each.answered is None or each.answered in messages[each.start : each.stop]


@FEW
@given(WHOLE)
def test_no_exchange_or_tier_parts_a_tool_pair(messages: list[Message]) -> None:
    """A call and its results are in one."""
    borders = {each.start for each in exchanges(messages)}
    cut = tiers(messages, immediate_exchanges=1, working_exchanges=1)
    borders |= {cut.working.start, cut.immediate.start}
    for unit in segment(messages):
        assert borders.isdisjoint(range(unit.start + 1, unit.stop))


@FEW
@given(WHOLE | st.lists(MESSAGES, max_size=12), st.data())
def test_following_step_by_step_is_reading_at_once(
    messages: list[Message], data: st.DataObject
) -> None:
    """However a conversation came to be, and whatever was taken back in between."""
    growing, now = Exchanges(), list[Message]()
    for _ in range(4):
        kept = data.draw(st.integers(0, len(now)))
        growing.truncate(kept)
        begin = data.draw(st.integers(0, len(messages)))
        now = now[:kept] + messages[begin : begin + data.draw(st.integers(0, len(messages)))]
        assert growing.of(now) == exchanges(now)


def test_what_is_over_is_not_read_again() -> None:
    """The exchanges before the last are the same objects, when the conversation goes on and when its end is taken back."""
    growing, messages = Exchanges(), [says("a"), answers("b"), says("c"), answers("d"), says("e")]
    first, second, _ = growing.of(messages)
    goes_on = growing.of([*messages, answers("f")])
    assert goes_on[0] is first
    assert goes_on[1] is second
    growing.truncate(3)
    taken_back = growing.of(messages[:3])
    assert taken_back[0] is first
    assert taken_back == exchanges(messages[:3])


Expected = list[tuple[tuple[str, ...], str | None]]
TABLE: dict[str, tuple[list[Message], Expected]] = {
    "answered": ([says("a"), answers("b")], [(("a",), "b")]),
    "two questions in a row": ([says("a"), says("b"), answers("c")], [(("a", "b"), "c")]),
    "work between": (
        [says("a"), answers("I look", calls=True), RESULT, answers("42")],
        [(("a",), "42")],
    ),
    "not finished": ([says("a"), answers("I look", calls=True), RESULT], [(("a",), "I look")]),
    "still working after words": (
        [says("a"), answers("42"), answers("I check", calls=True), RESULT],
        [(("a",), "42")],
    ),
    "no words": ([says("a"), answers(" \n")], [(("a",), None)]),
    "not answered": ([says("a")], [(("a",), None)]),
    "greeted": ([SYSTEM, answers("hi"), says("a")], [((), "hi"), (("a",), None)]),
    "instructed later": ([says("a"), SYSTEM, answers("b")], [(("a",), "b")]),
    "results as a person": (
        [
            says("a"),
            answers("I look", calls=True),
            Message(role="user", results=RESULT.results),
            answers("42"),
        ],
        [(("a",), "42")],
    ),
    "only instructed": ([SYSTEM], []),
    "empty": ([], []),
}


@pytest.mark.parametrize(("messages", "expected"), TABLE.values(), ids=TABLE.keys())
def test_question_and_answer(messages: list[Message], expected: Expected) -> None:
    """The answer is the last that was said in words, rather without a call."""
    found = exchanges(messages)
    texts = [(tuple(m.text for m in e.asked), e.answered and e.answered.text) for e in found]
    assert texts == expected
    whole = [[*e.asked, *([e.answered] if e.answered else [])] for e in found]
    assert [list(e.messages) for e in found] == whole


@FEW
@given(ANY, st.integers(0, 3), st.integers(0, 3))
def test_tiers_are_one_behind_the_other(messages: list[Message], near: int, far: int) -> None:
    """Each message from the first exchange on is in one tier, as many exchanges in each as were asked for."""
    found = exchanges(messages)
    cut = tiers(messages, immediate_exchanges=near, working_exchanges=far)
    start = found[0].start if found else len(messages)
    assert [*cut.retrieved, *cut.working, *cut.immediate] == list(range(start, len(messages)))
    newest_first = ["immediate"] * near + ["working"] * far + ["retrieved"] * len(found)
    names = [cut.tier_of(at) for at in range(len(messages))]
    assert names[:start] == [None] * start
    for each, tier in zip(reversed(found), newest_first, strict=False):
        assert set(names[each.start : each.stop]) == {tier}


def test_three_and_seven() -> None:
    """The last 3 exchanges are immediate, the 4th to the 10th newest working, what is older is retrieved."""
    cut = tiers([message for _ in range(15) for message in (says("a"), answers("b"))])
    assert (cut.retrieved, cut.working, cut.immediate) == (range(10), range(10, 24), range(24, 30))


def test_numbers_below_nothing() -> None:
    """A tier of fewer than no exchanges is refused."""
    with pytest.raises(ValueError, match="immediate_exchanges must be 0 or more, got -1"):
        tiers([], immediate_exchanges=-1)
    with pytest.raises(ValueError, match="working_exchanges must be 0 or more, got -1"):
        tiers([], working_exchanges=-1)
    assert tiers([says("a")], immediate_exchanges=0, working_exchanges=0).retrieved == range(1)


# ---- what was said last

ASKED = Message(role="user", text=" What did I say? ")
RAN = Message(role="assistant", text="I run it.\n```bash\nls\n```")


@pytest.mark.parametrize(
    ("newest", "said"),
    [
        pytest.param(ASKED, "What did I say?", id="a person"),
        pytest.param(Message(role="user", text=""), "", id="nothing"),
        pytest.param(Message(role="assistant", text="What?"), "", id="the model"),
        pytest.param(Message(role="system", text="Be brief."), "", id="the system prompt"),
        pytest.param(Message(role="user", text="[3 earlier messages …]", own=True), "", id="our own"),
        pytest.param(
            Message(role="user", results=(ToolResult(call_id="1", text="What?"),)), "", id="a result"
        ),
        pytest.param(Message(role="user", text="<output>What?</output>"), "", id="output"),
        pytest.param(
            Message(role="user", text="<output>1</output>\nGo on."), "Go on.", id="output and words"
        ),
    ],
)  # fmt: skip  # a row a case
def test_who_speaks_now(newest: Message, said: str) -> None:
    """Behind a command of the model's; what was asked before still stands where nobody speaks now."""
    assert said_now([ASKED, RAN, newest]) == said
    assert newest_request([ASKED, RAN, newest]) == (said or "What did I say?")


def test_nobody_spoke() -> None:
    """Nothing is asked in an empty conversation."""
    assert said_now([]) == newest_request([]) == newest_request([RAN]) == ""


@given(ANY)
def test_the_last_one_that_speaks_is_asked(messages: list[Message]) -> None:
    """It is what was said now, at the last time that somebody did."""
    spoken = [said_now(messages[: stop + 1]) for stop in range(len(messages))]
    assert newest_request(messages) == next((said for said in reversed(spoken) if said), "")
