"""Looking back in a conversation: what its newest message asks for comes back, and nothing is read twice."""

from autogen_context.pipeline.message import Message
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
    assert not made.decide("When Ann has lost her job?", TALK).retrieve
    assert not made.decide("Ann, is the shop open?", DIARY).retrieve


def test_who_speaks_did_so_lately() -> None:
    """Of a long conversation the latest messages are looked at: a turn costs the same however long it is."""
    one, other = (Message(role="user", text="Well.", name=name) for name in ("Quill", "Zim"))
    question = "Is Quill at home?"
    assert Recaller().decide(question, [one, *[other] * (LATEST_MESSAGES - 1)]).retrieve
    assert not Recaller().decide(question, [one, *[other] * LATEST_MESSAGES]).retrieve
