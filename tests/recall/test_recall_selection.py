"""Working memory loses courtesies and nothing else."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context import IncrementalContextManager
from autogen_context.adapters.classic_format import ClassicFormat
from autogen_context.messages.message import Image, Message, ToolCall, ToolResult
from autogen_context.messages.openai_chat import OpenAIChat
from autogen_context.recall import select

COURTESIES = (
    "ok",
    "Thanks a lot!",
    "Great, thank you so much.",
    "got it",
    "👍",
    "...",
    "Hello!",
    "Alles klar, danke",
    "好的",
    "Спасибо!",
)
SAYINGS = st.sampled_from(
    ("use port 8081", "ok", "Which one?", "I prefer tabs.", "thanks", "Done.")
) | st.text(max_size=30)


def talk(*texts: str) -> list[Message]:
    """A person and an assistant in turn, the person first."""
    return [Message(role=("user", "assistant")[at % 2], text=text) for at, text in enumerate(texts)]


def kept(*texts: str) -> list[str]:
    """The texts that stay."""
    messages = talk(*texts)
    return [m.text for m, verdict in zip(messages, select(messages), strict=True) if verdict.keep]


@given(st.lists(SAYINGS, max_size=8))
def test_each_message_has_a_verdict_with_a_reason(texts: list[str]) -> None:
    """One each, the same each time."""
    verdicts = select(talk(*texts))
    assert len(verdicts) == len(texts)
    assert all(verdict.reason for verdict in verdicts)
    assert verdicts == select(talk(*texts))


@pytest.mark.parametrize("text", COURTESIES)
def test_courtesies_go(text: str) -> None:
    """A message that only says that it was received."""
    assert kept("The port is 8081.", text) == ["The port is 8081."]


SHORT = [
    "use port 8081",
    "No.",
    "stop",
    "not main",
    "8081",
    "never",
    "v2",
    "ok, use tabs",
    "Ann",
    "the blue one",
    "why",
]


@pytest.mark.parametrize("text", SHORT)
def test_what_is_short_and_says_something_stays(text: str) -> None:
    """A decision, a constraint or a value may have fewer than 15 characters."""
    assert len(text) < 15
    assert kept("I set it up.", text) == ["I set it up.", text]


@pytest.mark.parametrize("text", COURTESIES)
def test_an_answer_stays(text: str) -> None:
    """After a question, a nod is a decision; one's own question is not answered by oneself."""
    messages = [
        Message(role="assistant", text="Shall I delete it?"),
        Message(role="user", text=text),
    ]
    assert select(messages)[1].reason == "answers a question"
    own = [Message(role="user", text="Shall I?"), Message(role="user", text=text)]
    assert not select(own)[1].keep


REPEATS = {
    "all of it": ("Use port 8081.", "OK, use port 8081.", False),
    "a part": ("Please use port 8081 for the server.", "Sure, port 8081.", False),
    "another value": ("Use port 8081.", "OK, use port 8082.", True),
    "another order": ("A before B", "OK, B before A", True),
    "denied": ("Use port 8081.", "OK, not port 8081.", True),
    "more": ("Use port 8081.", "OK, port 8081 and a timeout.", True),
    "without a nod": ("Use port 8081.", "Use port 8081", True),
}


@pytest.mark.parametrize(("first", "second", "stays"), REPEATS.values(), ids=REPEATS.keys())
def test_confirmations_that_only_repeat_go(first: str, second: str, stays: bool) -> None:  # noqa: FBT001 - a column
    """A nod, and words of the message before in their order."""
    assert kept(first, second) == ([first, second] if stays else [first])


@given(st.sampled_from(COURTESIES), st.floats(0, 1))
def test_strong_emotion_stays(text: str, intensity: float) -> None:
    """F28: above 0.7, whatever was said; read from the message itself."""
    emotion = {"emotion_data": {"emotional_intensity": intensity}}
    (verdict,) = select([{"role": "user", "content": text, "metadata": emotion}])
    assert verdict.keep == (intensity > 0.7)


@pytest.mark.parametrize("intensity", [0.7, 0.9])
def test_strong_emotion_stays_in_a_manager(intensity: float) -> None:
    """F28: of many messages that are alike and state nothing, the one that was said with strong emotion is still there."""
    said: list[dict[str, object]] = []
    for day in range(200):
        call = {
            "id": f"c{day}",
            "type": "function",
            "function": {"name": "look", "arguments": "{}"},
        }
        heard = {"emotion_data": {"emotional_intensity": intensity if day == 5 else 0.1}}
        text = f"It was raining outside on day {day + 100} of that summer, and nobody came along."
        said.extend(
            [
                {"role": "user", "content": text, "metadata": heard},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{day}", "content": f"seen row_{day} " * 20},
            ]
        )
    manager = IncrementalContextManager(model="gpt-4o", window_tokens=2_000, reserve_tokens=0)
    prepared = manager.prepare_nowait(said)
    assert prepared.compacted
    assert ("on day 105 of" in str(prepared.messages)) == (intensity > 0.7)


MORE = {
    "a call": Message(
        role="assistant", text="ok", calls=(ToolCall(id="1", name="f", arguments=""),)
    ),
    "a result": Message(role="tool", results=(ToolResult(call_id="1", text="ok"),)),
    "an image": Message(role="user", text="thanks", images=(Image(),)),
    "provider fields": Message(role="assistant", text="ok", extra='{"thinking": "…"}'),
    "an instruction": Message(role="system", text="ok"),
}


@pytest.mark.parametrize("message", MORE.values(), ids=MORE.keys())
def test_what_is_more_than_talk_stays(message: Message) -> None:
    """Words are not all that a message can hold."""
    assert select([message])[0].keep


def test_a_long_message_is_no_courtesy() -> None:
    """Who says thanks that often says something with it."""
    text = "thanks " * 40
    assert kept(text) == [text]


@pytest.mark.parametrize("text", ["ok?", "Right?", "好的？"])  # noqa: RUF001 - a Chinese question
def test_a_question_stays(text: str) -> None:
    """Asked, a courtesy is none."""
    assert kept("The port is 8081.", text) == ["The port is 8081.", text]


EMOTION = {"emotion_data": {"emotional_intensity": 0.9}}


@pytest.mark.parametrize(
    ("metadata", "intensity"),
    [
        (EMOTION, 0.9),
        ({"emotion_data": {"emotional_intensity": 1}}, 1.0),
        (None, 0.0),
        ({"emotion_data": {"emotional_intensity": "high"}}, 0.0),
        ({"emotion_data": {"emotional_intensity": True}}, 0.0),
        ({"emotion_data": {"emotional_intensity": nan}}, 0.0),
        ("x", 0.0),
    ],
)
def test_where_emotion_is_read(metadata: object, intensity: float) -> None:
    """In the metadata of a host's message, where it is given as a number from 0 to 1."""
    payload = {"role": "user", "content": "hi", "metadata": metadata}
    assert OpenAIChat().read(payload).intensity == intensity
    assert ClassicFormat().read(payload).intensity == intensity
