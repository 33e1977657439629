"""Looking back in a conversation: what its newest message asks for comes back, and nothing is read twice."""

import re
from pathlib import Path

import pytest

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.recall.exchanges import CLOSING, OPENING
from autogen_context.recall.recaller import LATEST_MESSAGES, Recaller, with_neighbours
from autogen_context.text.fit import CountText

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


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
    made.read(messages)
    return made


def words(text: str) -> int:
    """A counter that anybody can check."""
    return len(text.split())


def test_what_is_asked_for_comes_back_whole() -> None:
    """R3, R4: question and answer, as far as the room goes; nothing of what is in sight."""
    made, question = recaller(TALK), "Which port did I say the staging server listens on?"
    text = made.text(question, {0, 1, 2, 3}.__contains__, room_tokens=200, count=words)
    assert TALK[2].text in text
    assert TALK[3].text in text
    assert made.text(question, set[int]().__contains__, room_tokens=200, count=words) == ""
    for room in range(0, 120, 7):
        assert (
            words(made.text(question, {0, 1, 2, 3}.__contains__, room_tokens=room, count=words))
            <= room
        )


def test_what_has_no_room_whole_is_shortened_by_what_is_given() -> None:
    """E6: a manager's compressor shortens what is retrieved as well; the rest of the message is not there."""

    def first(text: str, /, *, room_tokens: int, count: CountText) -> str:
        said = text.split()[:room_tokens]
        return " ".join(said[: count(text)])

    made = Recaller(shorten=first)
    made.read([says(f"The staging server listens on port 8081. {'It is old. ' * 90} The end.")])
    text = made.text(
        "Where does the staging server listen?", {0}.__contains__, room_tokens=99, count=words
    )
    assert "port 8081. It is old." in text
    assert words(text) <= 99
    assert "The end." not in text


def test_an_identifier_out_of_sight_opens_the_gate() -> None:
    """R2: one that was said earlier, while it is not in sight; no plain word, and nothing that was taken back."""
    made = recaller(TALK)
    assert made.decide("Please book a seat on lx-1284", TALK[1:]).names == ("lx-1284",)
    assert not made.decide("Please book a seat on lx-1284", TALK).retrieve
    assert not made.decide("Please book a seat on XY-0000", []).retrieve
    assert not made.decide("Please talk of other weather", []).retrieve
    assert not recaller(TALK[2:]).decide("Please book a seat on lx-1284", []).retrieve


def test_a_question_about_somebody_who_speaks_opens_the_gate() -> None:
    """Of the latest messages, whatever was read; nobody is asked about who does not speak."""
    diary = [says("[3 May] Ann: I lost my job."), says("[3 May] Ben: I am sorry.", "assistant")]
    decision = Recaller().decide("Is Ann at home?", diary)
    assert decision.retrieve
    assert decision.reason == "asks about somebody who speaks here: Ann"
    assert not Recaller().decide("Is Ann at home?", TALK).retrieve
    one, other = (Message(role="user", text="Well.", name=name) for name in ("Quill", "Zim"))
    question = "Is Quill at home?"
    assert Recaller().judge(question, [one, *[other] * (LATEST_MESSAGES - 1)]).retrieve
    assert not Recaller().judge(question, [one, *[other] * LATEST_MESSAGES]).retrieve


PETS = [
    says("[3 May] Ann: Did you find a dog?"),
    says("[3 May] Ben: Yes, Rex came home with me."),
    says("[3 May] Ann: Lovely! And work?"),
    says("[3 May] Ben: The new office opens on Monday."),
    says("[4 May] Ann: My dog ran away once."),
    says("[4 May] Ben: That must have been hard."),
]


def test_the_one_who_is_asked_about_comes_first() -> None:
    """Ben's answer holds no word of the question but his name; what others said counts half, and Joann is nobody here."""
    scores = recaller(PETS).scores("Which dog did Ben find?")
    assert max(scores, key=scores.__getitem__) == 1
    plain, named = (recaller(PETS).scores(f"Which dog did {who} find?") for who in ("Joann", "Zoe"))
    assert plain == named


def test_neighbours_lend_their_scores() -> None:
    """The nearer, the more; beyond four messages nothing; nothing is above 1, and what had most still has."""
    near = with_neighbours({6: 0.8}, 13)
    assert [near.get(at, 0) for at in range(8)] == [
        0,
        0,
        *(0.8 * 0.5**n for n in (4, 3, 2, 1, 0, 1)),
    ]
    assert near[5] == near[7]
    crowd = with_neighbours({0: 0.2, 3: 1.0, 4: 0.9, 9: 0.3}, 10)
    assert max(crowd.values()) == crowd[3] == 1
    assert crowd[9] < 0.3


def test_meaning_counts_beside_words() -> None:
    """P3: what means the same in other words is found, and one without a vector is taken at its words."""
    query, cosines = "Where is the job?", [0.1, 0.1, 0.5, 0.8, None, 0.1]
    assert recaller(PETS).scores(query) == {}
    by_meaning = Recaller(lambda _query, _texts: cosines)
    by_meaning.read(PETS)
    scores = by_meaning.scores(query)
    assert max(scores.values()) == scores[3]
    assert scores[1] > 0  # it is related to nothing, but stands next to what is
    assert all(0 <= score <= 1 for score in scores.values())


SPOKEN_OF = [
    says("The project Kestrel belongs to the platform team."),
    says("Kestrel it is. The cheese project starts on Monday.", "assistant"),
    says("Starling turns two. The fee is due. Dr. Ferris says so."),
    *[says("The fee is low.") for _ in range(3)],
]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Kestrel?", "Kestrel"),  # F26
        ("Tell me about Kestrel", "Kestrel"),  # F26
        ("How is the cheese project going?", "cheese"),
        ("When is the birthday of Starling?", "Starling"),
    ],
)
def test_what_only_hidden_messages_know_opens_the_gate(query: str, name: str) -> None:
    """It is named, and it opens nothing while it is in sight or where nobody said it."""
    made = recaller(SPOKEN_OF)
    decision = made.decide(query, [])
    assert decision.retrieve
    assert name in decision.names
    assert name in decision.reason
    assert not made.decide(query, SPOKEN_OF).names
    assert not recaller(TALK).decide(query, []).names


@pytest.mark.parametrize(
    "remark", ["Thanks, that is all.", "It is a lovely day.", "Good morning!", "My project is fun."]
)
def test_a_remark_opens_nothing_whatever_is_known_of_its_words(remark: str) -> None:
    """Small talk asks for nothing, with its words out of sight as well."""
    history = [*SPOKEN_OF, says("A lovely morning! My day is all project and fun, thanks.")]
    assert not recaller(history).decide(remark, []).retrieve


def test_what_a_person_asked_before_is_no_evidence() -> None:
    """A question that was asked before knows nothing; what was told beside it does."""
    asked = says("Is the Albatross late? Our harbour is Sines.")
    made = recaller([asked, says("I do not know.", "assistant")])
    assert "Albatross" not in made.decide("Which pier is the Albatross at?", []).names
    assert "harbour" in made.decide("Which harbour did I say is ours?", []).names


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
    text = made.text("What is in port.txt?", {0, 1}.__contains__, room_tokens=200, count=words)
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
@pytest.mark.parametrize("room", [40, 200])
def test_an_old_value_never_comes_back_alone(hidden: set[int], room: int) -> None:
    """F38: what replaces it stands behind it, also where that is in sight itself; it has room first."""
    made = recaller(UPDATES)
    text = made.text("Which port did I say?", hidden.__contains__, room_tokens=room, count=words)
    if "8081" in text or "9090" in text:
        assert text.rindex("7070") > max(text.rfind("8081"), text.rfind("9090"))
    assert words(text) <= room


@pytest.mark.parametrize("name", ["recall", "relevance"])
def test_the_guide_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program, and prints what stands there."""
    page = (GUIDES / f"{name}.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile("\n".join(blocks), name, "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    if name == "recall":
        assert page[page.index(OPENING) : page.index(CLOSING) + len(CLOSING)] in printed
        assert "['My name is Ann']" in printed
    else:
        assert printed.startswith(re.findall(r"It prints:\n\n```\n(.*?)```", page, re.DOTALL)[0])
