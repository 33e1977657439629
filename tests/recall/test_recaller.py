"""Looking back in a conversation: what its newest message asks for comes back, and nothing is read twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.recall.gate import RecallGate
from autogen_context.recall.known import names_told
from autogen_context.recall.recaller import LATEST_MESSAGES, Recaller


def says(text: str, role: str = "user") -> Message:
    """A message."""
    return Message(role=role, text=text)


TALK = [
    says("My flight is LX-1284 on Friday."),
    says("Noted.", "assistant"),
    says("The staging server listens on port 8081."),
    says("Thanks, I will use port 8081.", "assistant"),
    says("Let us talk about the weather."),
    says("It is sunny.", "assistant"),
]


def recaller(messages: list[Message]) -> Recaller:
    """One that has read these messages."""
    made = Recaller()
    made.follow(messages)
    return made


def words(text: str) -> int:
    """A counter that anybody can check."""
    return len(text.split())


def test_what_is_asked_for_comes_back_whole() -> None:
    """The exchange that answers stands in the text, question and answer; others out of sight may follow, in order."""
    question = says("Which port did I say the staging server listens on?")
    text = recaller(TALK).text(question.text, {0, 1, 2, 3}, room_tokens=200, count=words)
    assert TALK[2].text in text
    assert TALK[3].text in text
    assert question.text not in text


def test_what_is_in_sight_does_not_come_back() -> None:
    """Of exchanges that are sent anyway nothing is repeated."""
    question = says("Which port did I say the staging server listens on?")
    text = recaller(TALK).text(question.text, set(), room_tokens=200, count=words)
    assert text == ""


def test_a_room_is_kept() -> None:
    """The text has no more than its room."""
    question = says("Which port did I say the staging server listens on?")
    made = recaller(TALK)
    for room in range(0, 120, 7):
        text = made.text(question.text, {0, 1, 2, 3}, room_tokens=room, count=words)
        assert words(text) <= room


def test_following_step_by_step_is_following_at_once() -> None:
    """Also where the host took messages back in between."""
    stepwise = Recaller()
    for stop in (2, 5, 3, 6):
        stepwise.follow(TALK[:stop])
    assert stepwise.scores("port of the server") == recaller(TALK).scores("port of the server")


def test_a_known_name_out_of_sight_opens_the_gate() -> None:
    """A query that names what was said earlier asks for it; while it is in sight it does not."""
    made = recaller(TALK)
    assert made.decide("Please book a seat on lx-1284", []).retrieve
    assert not made.decide("Please book a seat on lx-1284", TALK[:1]).retrieve
    assert not made.decide("Please book a seat on XY-0000", []).retrieve


def test_what_is_known() -> None:
    """Telling names of what is there: no plain words, and nothing of what the host took back."""
    made = recaller(TALK)
    assert not made.decide("Please talk of other weather", []).retrieve
    made.follow(TALK[2:])
    assert not made.decide("Please book a seat on lx-1284", []).retrieve
    assert made.decide("Please use 8081", []).retrieve


SPOKEN_OF = [
    says("The project Kestrel belongs to the platform team."),
    says("Kestrel it is. The cheese project starts on Monday.", "assistant"),
]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Kestrel?", ["kestrel"]),  # F26
        ("Tell me about Kestrel", ["kestrel"]),  # F26
        ("tell me about kestrel please", ["kestrel"]),
        ("Deploy Kestrel.", ["kestrel"]),
        ("How is the cheese project going?", ["cheese", "project"]),
        ("Do you like cheese?", []),
        ("I love cheese.", []),
        ("Are you there on Monday?", []),
        ("Heron?", []),
    ],
)
def test_names_and_rare_words_out_of_sight_open_the_gate(query: str, names: list[str]) -> None:
    """A name wherever it stands, a rare word where it is spoken of as known; not while they are in sight."""
    made = recaller(SPOKEN_OF)
    assert made.decide(query, []).names == tuple(names)
    assert made.decide(query, []).retrieve == bool(names)
    assert not made.decide(query, SPOKEN_OF).retrieve


def test_frequent_words_tell_nothing() -> None:
    """What stands in many messages is what one talks of all the time."""
    talk = [says(f"The cheese was good on day {n}.") for n in range(4)]
    assert not recaller(talk).decide("How was the cheese?", []).retrieve


NAMED = ["LX-1284", "port 8081", "lx-1284's", "8081.", "staging_server", "\u0130d_1", "Friday"]
sayings = st.lists(st.sampled_from(NAMED), max_size=3).map(" and ".join).map(says)


@given(st.lists(sayings, max_size=6), st.lists(sayings, max_size=6), st.lists(sayings, min_size=1))
def test_the_gate_opens_as_it_does_by_itself(
    told: list[Message], seen: list[Message], queries: list[Message]
) -> None:
    """What was told is known to it; looking in sight once or again makes no difference."""
    made = recaller([*told, *seen])
    known = {name for message in [*told, *seen] for name in names_told(message.text)}
    for stop, query in enumerate(queries):
        expected = RecallGate(known).decide(query.text, seen[:stop])
        assert made.decide(query.text, seen[:stop]) == expected


def test_what_is_in_sight_is_looked_at_only_where_it_matters() -> None:
    """For a name that is known, and for a question that may be about somebody."""
    made = recaller(TALK)
    unread = (says(str(1 // zero)) for zero in [0])
    assert not made.decide("Book a seat on XY-0000, please.", unread).retrieve
    assert made.decide("What did I tell you?", unread).retrieve


DIARY = [
    says("[3 May] Ann: I lost my job."),
    says("[3 May] Ben: I am sorry, Ann.", "assistant"),
]


def test_a_question_about_somebody_who_speaks_opens_the_gate() -> None:
    """Whatever is in sight and read; nobody is asked about who does not speak, or is called."""
    made = Recaller()
    decision = made.decide("When Ann has lost her job?", DIARY)
    assert decision.retrieve
    assert decision.reason == "asks about somebody who speaks here: Ann"
    assert made.decide("Ann \u5728\u54ea\uff1f", DIARY).retrieve
    assert not made.decide("When Ann has lost her job?", TALK).retrieve
    assert not made.decide("Ann, is the shop open?", DIARY).retrieve


def test_who_speaks_did_so_lately() -> None:
    """Of a long conversation the latest messages are looked at: a turn costs the same however long it is."""
    one, other = (Message(role="user", text="Well.", name=name) for name in ("Quill", "Zim"))
    question = "Is Quill at home?"
    assert Recaller().decide(question, [one, *[other] * (LATEST_MESSAGES - 1)]).retrieve
    assert not Recaller().decide(question, [one, *[other] * LATEST_MESSAGES]).retrieve


def test_an_exchange_without_a_word_does_not_come_back() -> None:
    """Calls that nobody answered in words say nothing, however well their results match."""
    call = ToolCall(id="c", name="read_file", arguments='{"path": "port.txt"}')
    made = recaller(
        [
            Message(role="assistant", calls=(call,)),
            Message(role="tool", results=(ToolResult(call_id="c", text="port 8081"),)),
            *TALK,
        ]
    )
    text = made.text("What is in port.txt?", {0, 1}, room_tokens=200, count=words)
    assert text == ""


UPDATES = [
    says("The staging server listens on port 8081."),
    says("Noted.", "assistant"),
    says("Let us talk about the weather."),
    says("It is sunny.", "assistant"),
    says("The staging server listens on port 9090 now."),
    says("Changed.", "assistant"),
    says("Is it warm?"),
    says("Rather.", "assistant"),
    says("From now on the staging server listens on port 7070."),
    says("Changed again.", "assistant"),
]


@pytest.mark.parametrize("hidden", [{0, 1}, {0, 1, 4, 5}, set(range(8))], ids=str)
@pytest.mark.parametrize("room", [40, 60, 200])
def test_an_old_value_never_comes_back_alone(hidden: set[int], room: int) -> None:
    """F38: what replaces it stands behind it, also where that is in sight itself; it has room first."""
    made = recaller(UPDATES)
    text = made.text("Which port did I say?", hidden, room_tokens=room, count=words)
    if "8081" in text or "9090" in text:
        assert text.rindex("7070") > max(text.rfind("8081"), text.rfind("9090"))
    assert words(text) <= room


def test_another_statement_brings_nothing_along() -> None:
    """What is alike and about something else is no newer value."""
    other = [says("The build server listens on port 9090."), says("Noted.", "assistant")]
    text = recaller([*TALK, *other]).text(
        "Which port does the staging server have?", {2, 3}, room_tokens=200, count=words
    )
    assert "8081" in text
    assert "9090" not in text
