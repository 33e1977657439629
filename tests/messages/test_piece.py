"""Pieces say what is sent; models that insist on alternation and one system prompt get them, and every text stays."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from autogen_context.manager.prepared import RequestWriter
from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.piece import (
    BETWEEN,
    FILLER,
    Piece,
    RoleRules,
    Verbatim,
    Written,
    coalesce,
    equal_prefix,
    messages_of,
    same_prefix,
)
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import transcripts
from support.counting import COUNTER
from support.units import read_all

LENGTH = 8
MESSAGES = [Message(role="user", text=str(i)) for i in range(LENGTH)]
STRETCHES = st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(
    lambda ends: Verbatim(start=min(ends), stop=max(ends))
)
WRITTEN = st.builds(
    Written,
    index=st.none() | st.integers(0, LENGTH - 1),
    message=st.builds(Message, role=st.just("user"), text=st.text(max_size=3)),
)
STRICT = RoleRules(alternate=True, single_system=True)
WHOLE = transcripts(max_repeats=2, pending=False).filter(bool)
BITS = st.lists(st.integers(0, 1))


@given(st.lists(STRETCHES | WRITTEN, max_size=8))
def test_joining_changes_nothing_that_is_sent(pieces: list[Piece]) -> None:
    """The joined pieces say the same, no two of them can be joined further, and joining again does nothing."""
    joined = coalesce(pieces)
    assert messages_of(joined, MESSAGES) == messages_of(pieces, MESSAGES)
    assert coalesce(joined) == joined
    for one, other in pairwise(joined):
        if isinstance(one, Verbatim) and isinstance(other, Verbatim):
            assert one.stop != other.start


@given(BITS, BITS, BITS)
def test_how_far_a_list_is_the_one_before(
    front: list[int], one: list[int], other: list[int]
) -> None:
    """By identity a list that goes on is it to its end, a copy not at all; by value as pair after pair is compared."""
    boxed = [[number] for number in front]
    assert same_prefix(boxed, [*boxed, *one]) == same_prefix([*boxed, *one], boxed) == len(boxed)
    assert same_prefix(boxed, [list(box) for box in boxed]) == 0
    known, given = (*front, *one), (*front, *other)
    differ = (i for i, (a, b) in enumerate(zip(known, given, strict=False)) if a != b)
    assert equal_prefix(known, given) == next(differ, min(len(known), len(given)))


def applied(rules: RoleRules, messages: list[Message]) -> list[Message]:
    """What is sent of messages under these rules."""
    return messages_of(rules.apply([Verbatim(start=0, stop=len(messages))], messages), messages)


@given(WHOLE)
def test_a_strict_model_takes_it(payloads: list[ChatMessage]) -> None:
    """One system message at most, at the start, then the sides in turn, steps unbroken; only fillers are added."""
    messages = read_all(payloads)
    pieces = STRICT.apply([Verbatim(start=0, stop=len(payloads))], messages)
    writer = RequestWriter(OpenAIChat(), counter=COUNTER, roles=STRICT)
    check_chat(writer.payloads(pieces, [*payloads]), strict_roles=True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # JSON
    sent = messages_of(pieces, messages)
    assert words([m for m in sent if m.text != FILLER]) == words(messages)
    whole: list[Piece] = [Verbatim(start=0, stop=len(sent))]
    assert STRICT.apply(whole, sent) == tuple(whole)
    assert RoleRules().apply(pieces, messages) == tuple(pieces)


def words(messages: list[Message]) -> str:
    """All that a list says, apart from white space and from where one message ends."""
    return "".join(
        "".join(m.text.split()) + m.extra + "".join(map(repr, (*m.calls, *m.results, *m.images)))
        for m in messages
    )


@given(WHOLE, st.data())
def test_what_follows_changes_no_text_before(
    payloads: list[ChatMessage], data: st.DataObject
) -> None:
    """The text that was sent is a prefix of what is sent when more has come."""
    messages = read_all(payloads)
    cut = data.draw(st.integers(0, len(messages)))
    assume(cut == len(messages) or not messages[cut].results)
    before, after = applied(STRICT, messages[:cut]), applied(STRICT, messages)
    assert as_text(after).startswith(as_text(before))
    assert after[: max(0, len(before) - 1)] == before[:-1]


def as_text(messages: list[Message]) -> str:
    """What is written of messages, each with its role."""
    rows: list[str] = []
    for m in messages:
        if rows and rows[-1].startswith(f"<{m.role}>") and not (m.calls or m.results):
            rows.append(f"<again>{m.text}")
        else:
            rows.append(f"<{m.role}>{m.extra}{m.calls}{m.results}{m.images}{m.text}")
    return "".join(rows)


CALL = ToolCall(id="1", name="f", arguments="{}")
KINDS = {
    "s": Message(role="system", text="s"),
    "d": Message(role="developer", text="d"),
    "u": Message(role="user", text="u"),
    "a": Message(role="assistant", text="a"),
    "i": Message(role="user", text="i", images=(Image(),)),
    "t": Message(role="assistant", text="t", extra="{}"),
    "c": Message(role="assistant", calls=(CALL,)),
    "r": Message(role="tool", results=(ToolResult(call_id="1", text="r"),)),
    "n": Message(role="narrator", text="n"),
}
ALTERNATE, SINGLE = RoleRules(alternate=True), RoleRules(single_system=True)


@pytest.mark.parametrize(
    ("rules", "kinds", "expected"),
    [
        pytest.param(STRICT, "sa", "ss u. aa", id="behind the system prompt, too"),
        pytest.param(STRICT, "uaaau", "uu aaaa uu", id="of the other side"),
        pytest.param(STRICT, "ui", "uu a. ui", id="an image is not joined"),
        pytest.param(STRICT, "uat", "uu aa u. at", id="nor are thinking fields"),
        pytest.param(STRICT, "ucrrau", "uu a- t- t- aa uu", id="parallel results"),
        pytest.param(STRICT, "ucru", "uu a- t- a. uu", id="a person behind a step"),
        pytest.param(STRICT, "uacr", "uu aa u. a- t-", id="a call behind an answer"),
        pytest.param(STRICT, "cr", "u. a- t-", id="a step begins"),
        pytest.param(STRICT, "sdsua", "ssds uu aa", id="system prompts are joined"),
        pytest.param(STRICT, "suasa", "ss uu aa us aa", id="a late one is the user's"),
        pytest.param(STRICT, "sunu", "ss uunu", id="an unknown role is the user's side"),
        pytest.param(ALTERNATE, "sdaa", "ss dd u. aaa", id="behind both"),
        pytest.param(SINGLE, "sduuasu", "ssd uu uu aa us uu", id="one only"),
    ],
)
def test_how_each_case_is_made_to_obey(rules: RoleRules, kinds: str, expected: str) -> None:
    """Joined where both are plain text, parted by a filler where not; a sketch has role and text of each."""
    texts = ((m.role[0], m.text.replace(BETWEEN, "").replace(FILLER, ".")) for m in applied(rules, [KINDS[k] for k in kinds]))  # fmt: skip
    assert " ".join(role + (text or "-") for role, text in texts) == expected


def test_joined_messages_stand_for_the_first() -> None:
    """They are written in the place of its payload; one of our own stays one of our own."""
    messages = [KINDS["u"], KINDS["u"]]
    [joined] = STRICT.apply([Verbatim(start=0, stop=2)], messages)
    assert joined == Written(message=Message(role="user", text=f"u{BETWEEN}u"), index=0)
    notice = Written(message=Message(role="user", text="notice"))
    [joined] = STRICT.apply([notice, Verbatim(start=0, stop=1)], messages)
    assert joined == Written(message=Message(role="user", text=f"notice{BETWEEN}u"))
