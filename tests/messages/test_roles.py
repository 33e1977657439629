"""Models that insist on alternation and one system prompt get them, and every text stays."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autogen_context.manager.outbox import Outbox
from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.messages.piece import (
    BETWEEN,
    FILLER,
    Piece,
    RoleRules,
    Verbatim,
    Written,
    messages_of,
)
from autogen_context.testing import ChatMessage
from autogen_context.testing.chat_rules import check_chat
from autogen_context.testing.transcripts import transcripts

FEW = settings(max_examples=80)
STRICT = RoleRules(alternate=True, single_system=True)
WHOLE = transcripts(max_repeats=2, pending=False).filter(bool)


def applied(rules: RoleRules, messages: list[Message]) -> list[Message]:
    """What is sent of messages under these rules."""
    pieces: list[Piece] = [Verbatim(start=0, stop=len(messages))]
    return messages_of(rules.apply(pieces, messages), messages)


def read_all(payloads: list[ChatMessage]) -> list[Message]:
    """The messages of a transcript."""
    return [OpenAIChat().read(payload) for payload in payloads]


@FEW
@given(WHOLE)
def test_a_strict_model_takes_it(payloads: list[ChatMessage]) -> None:
    """One system message at most, at the start, then user and assistant in turn, steps unbroken."""
    pieces = STRICT.apply([Verbatim(start=0, stop=len(payloads))], read_all(payloads))
    check_chat(Outbox(OpenAIChat()).payloads(pieces, [*payloads], edition=0), strict_roles=True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # JSON


@FEW
@given(WHOLE)
def test_every_text_stays_in_its_order(payloads: list[ChatMessage]) -> None:
    """Calls, results and thinking fields, too; nothing is added but fillers."""
    messages = read_all(payloads)
    sent = [m for m in applied(STRICT, messages) if m.text != FILLER]
    assert words(sent) == words(messages)


def words(messages: list[Message]) -> str:
    """All that a list says, apart from white space and from where one message ends."""
    said = ""
    for m in messages:
        said += "".join(m.text.split()) + m.extra
        said += "".join(map(repr, (*m.calls, *m.results, *m.images)))
    return said


@FEW
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


@FEW
@given(WHOLE)
def test_who_insists_on_nothing_gets_the_same(payloads: list[ChatMessage]) -> None:
    """The same pieces come out; and a list that obeys already is not touched by the rules."""
    messages = read_all(payloads)
    pieces: list[Piece] = [Verbatim(start=0, stop=len(messages))]
    assert RoleRules().apply(pieces, messages) == tuple(pieces)
    sent = applied(STRICT, messages)
    whole: list[Piece] = [Verbatim(start=0, stop=len(sent))]
    assert STRICT.apply(whole, sent) == tuple(whole)


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


def sketch(messages: list[Message]) -> str:
    """One word a message: role and text."""
    return " ".join(
        m.role[0] + (m.text.replace(BETWEEN, "").replace(FILLER, ".") or "-") for m in messages
    )


@pytest.mark.parametrize(
    ("rules", "kinds", "expected"),
    [
        pytest.param(STRICT, "", "", id="nothing"),
        pytest.param(STRICT, "s", "ss", id="only a system prompt"),
        pytest.param(STRICT, "suau", "ss uu aa uu", id="obeys"),
        pytest.param(STRICT, "a", "u. aa", id="the user begins"),
        pytest.param(STRICT, "sa", "ss u. aa", id="behind the system prompt, too"),
        pytest.param(STRICT, "uua", "uuu aa", id="two of one side"),
        pytest.param(STRICT, "uuua", "uuuu aa", id="three of one side"),
        pytest.param(STRICT, "uaaau", "uu aaaa uu", id="of the other side"),
        pytest.param(STRICT, "ui", "uu a. ui", id="an image is not joined"),
        pytest.param(STRICT, "iu", "ui a. uu", id="nor does it take text in"),
        pytest.param(STRICT, "uat", "uu aa u. at", id="nor are thinking fields"),
        pytest.param(STRICT, "ucrcrau", "uu a- t- a- t- aa uu", id="steps"),
        pytest.param(STRICT, "ucrrau", "uu a- t- t- aa uu", id="parallel results"),
        pytest.param(STRICT, "ucru", "uu a- t- a. uu", id="a person behind a step"),
        pytest.param(STRICT, "uacr", "uu aa u. a- t-", id="a call behind an answer"),
        pytest.param(STRICT, "cr", "u. a- t-", id="a step begins"),
        pytest.param(STRICT, "sdsua", "ssds uu aa", id="system prompts are joined"),
        pytest.param(STRICT, "suasa", "ss uu aa us aa", id="a late one is the user's"),
        pytest.param(STRICT, "sunu", "ss uunu", id="an unknown role is the user's side"),
        pytest.param(RoleRules(alternate=True), "sdua", "ss dd uu aa", id="two system prompts"),
        pytest.param(RoleRules(alternate=True), "sdaa", "ss dd u. aaa", id="behind both"),
        pytest.param(RoleRules(single_system=True), "sduuasu", "ssd uu uu aa us uu", id="one only"),
    ],
)
def test_how_each_case_is_made_to_obey(rules: RoleRules, kinds: str, expected: str) -> None:
    """Joined where both are plain text, parted by a filler where not."""
    assert sketch(applied(rules, [KINDS[kind] for kind in kinds])) == expected


def test_joined_messages_stand_for_the_first() -> None:
    """They are written in the place of its payload; one of our own stays one of our own."""
    messages = [KINDS["u"], KINDS["u"]]
    [joined] = STRICT.apply([Verbatim(start=0, stop=2)], messages)
    assert joined == Written(message=Message(role="user", text=f"u{BETWEEN}u"), index=0)
    notice = Written(message=Message(role="user", text="notice"))
    [joined] = STRICT.apply([notice, Verbatim(start=0, stop=1)], messages)
    assert joined == Written(message=Message(role="user", text=f"notice{BETWEEN}u"))
