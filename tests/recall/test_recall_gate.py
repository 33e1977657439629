"""The gate opens for the past, and for what is known and not in sight."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.recall import RecallGate
from autogen_context.recall.gate import decided

KNOWN = frozenset({"falcon", "staging-7", "src/app.py", "project blue", "max_retries"})
NAMES = st.sampled_from(sorted(KNOWN))


@pytest.mark.parametrize("query", ["What did I tell you?", "Do you remember my dog's name?"])
def test_the_past_opens_it(query: str) -> None:
    """Whatever is in sight; the reason has the words."""
    decision = RecallGate().decide(query, in_sight=["my dog is called Rex"])
    assert decision.retrieve
    assert decision.kind == "recall"
    assert decision.reason.partition('"')[2].rstrip('"') in query


def test_a_summary_opens_it() -> None:
    """What is asked for in short stands out of sight as well; its kind tells it apart."""
    decision = RecallGate().decide("Summarise our talk about the parser.")
    assert decision.retrieve
    assert decision.kind == "summary"


@pytest.mark.parametrize("query", ["Hi!", "How do I save a file?", "Summarise this page.", ""])
def test_all_else_leaves_it_shut(query: str) -> None:
    """Nothing in it asks for the past."""
    decision = RecallGate().decide(query)
    assert not decision.retrieve
    assert decision.names == ()


@given(NAMES, st.sampled_from(["Deploy {} please", "{}?", "is ({}) ok", "look at {}'s log", "{}."]))
def test_a_known_name_out_of_sight_opens_it(name: str, frame: str) -> None:
    """In any case of letters and beside punctuation; in sight, it is not needed."""
    gate = RecallGate(KNOWN)
    query = frame.format(name.upper())
    assert gate.decide(query).names == (name,)
    assert gate.decide(query).retrieve
    assert name in gate.decide(query).reason
    assert not gate.decide(query, in_sight=[f"see: {name}, done"]).retrieve


@pytest.mark.parametrize("text", ["falconry", "staging-71", "blue project", "my_max_retries"])
def test_names_are_whole_words(text: str) -> None:
    """A part of a word is no name, neither in the query nor in sight."""
    gate = RecallGate(KNOWN)
    assert not gate.decide(text).retrieve
    assert gate.decide("falcon, staging-7, project blue, max_retries", in_sight=[text]).names == (
        "falcon",
        "staging-7",
        "project blue",
        "max_retries",
    )


SEEN = {
    "a string": "falcon",
    "a message": Message(role="user", text="the Falcon flies"),
    "a call": Message(
        role="assistant", calls=(ToolCall(id="1", name="f", arguments='{"x": "falcon"}'),)
    ),
    "a result": Message(role="tool", results=(ToolResult(call_id="1", text="falcon: ok"),)),
    "a dict": {"role": "user", "content": "FALCON"},
    "a dict with parts": {"role": "user", "content": [{"type": "text", "text": "falcon"}]},
    "a dict with other parts": {"role": "user", "content": [{"type": "x", "value": "falcon"}]},
    "a dict with calls": {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": '{"x": "falcon"}'}}],
    },
}


@pytest.mark.parametrize("message", SEEN.values(), ids=SEEN.keys())
def test_what_counts_as_seen(message: object) -> None:
    """Whatever the model can read in a message of any kind."""
    assert not RecallGate(KNOWN).decide("falcon", in_sight=["hello", message]).retrieve


def test_who_speaks_is_looked_at_only_for_a_question() -> None:
    """A statement needs nobody's name, nor does what opens the gate by itself."""
    unread = (str(1 // zero) for zero in [0])
    assert not decided("Ann lost her job.", [], unread).retrieve
    assert decided("What did Ann tell you?", [], unread).retrieve
    assert decided("How is falcon?", ["falcon"], unread).names == ("falcon",)
    assert decided("Is Quill at home?", [], iter(["Quill"])).retrieve


def test_what_is_in_sight_is_looked_at_only_for_known_names() -> None:
    """A query that names nothing known costs no look at what the model sees."""
    unread = (str(1 // zero) for zero in [0])
    assert not RecallGate(KNOWN).decide("How do I save a file?", unread).retrieve


def test_an_index_that_grows_may_be_known() -> None:
    """Only ``in`` is asked of it, at each decision."""
    known: dict[str, int] = {}
    gate = RecallGate(known)
    assert not gate.decide("how is falcon").retrieve
    known["falcon"] = 1
    assert gate.decide("how is falcon").retrieve


def test_names_are_known_however_they_are_written() -> None:
    """In any case, as the query has them."""
    assert RecallGate({"Falcon", "HERON"}).decide("how is the falcon and the Heron").names == (
        "falcon",
        "heron",
    )


def test_arguments_that_mean_nothing() -> None:
    """A string as what is known, no query, nothing in sight, and a number in sight are refused."""
    with pytest.raises(ValueError, match="known='falcon': give a set of names"):
        RecallGate("falcon")
    with pytest.raises(ValueError, match="what is in sight must be a dict or a client object, got"):
        RecallGate(KNOWN).decide("falcon", in_sight=[7])
