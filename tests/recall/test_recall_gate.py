"""The gate opens for the past, for what is known and not in sight, and for who speaks in the conversation."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.errors import InvalidTranscript
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.recall.gate import RecallGate, asked_about, authors_of, decided, stands_in

KNOWN = frozenset({"falcon", "staging-7", "src/app.py", "project blue", "max_retries"})
NAMES = st.sampled_from(sorted(KNOWN))


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("What did I tell you?", "recall"),
        ("Do you remember my dog's name?", "recall"),
        ("Summarise our talk about the parser.", "summary"),
        ("Hi!", "casual"),
        ("How do I save a file?", "casual"),
        ("Summarise this page.", "casual"),
        ("", "casual"),
    ],
)
def test_the_past_opens_it(query: str, kind: str) -> None:
    """R2, B4: a question about it or a summary, whatever is in sight, with the words that decided; all else leaves it shut."""
    decision = RecallGate().decide(query, in_sight=["my dog is called Rex"])
    assert (decision.kind, decision.retrieve) == (kind, kind != "casual")
    assert decision.reason.partition('"')[2].rstrip('"') in query
    assert decision.names == ()


@settings(max_examples=30)
@given(NAMES, st.sampled_from(["Deploy {} please", "{}?", "is ({}) ok", "look at {}'s log", "{}."]))
def test_a_known_name_out_of_sight_opens_it(name: str, frame: str) -> None:
    """R2: in any case of letters and beside punctuation; in sight, it is not needed."""
    query, known = frame.format(name.upper()), {each.title() for each in KNOWN}
    gate = RecallGate(known)
    assert gate.decide(query).names == (name,)
    assert gate.decide(query).retrieve
    assert name in gate.decide(query).reason
    assert not gate.decide(query, in_sight=[f"see: {name}, done"]).names
    known.clear()  # what is known may change
    assert not gate.decide(query).names


@pytest.mark.parametrize("text", ["falconry", "staging-71", "blue project", "my_max_retries"])
def test_names_are_whole_words(text: str) -> None:
    """R2: a part of a word is no name, neither in the query nor in sight."""
    gate = RecallGate(KNOWN)
    assert not gate.decide(text).retrieve
    named = ("falcon", "staging-7", "project blue", "max_retries")
    assert gate.decide(", ".join(named), in_sight=[text]).names == named


@pytest.mark.parametrize("text", ["b", "a (b's)", "xb b", "-b", "a.b", "ab", "b7", "b-c"])
def test_a_name_stands_where_none_of_its_words_is_part_of_another(text: str) -> None:
    """Beside punctuation, behind what is part of a word as well."""
    assert stands_in(text, "b") == (text in {"b", "a (b's)", "xb b", "-b"})


SEEN: dict[str, object] = {
    "a string": "falcon",
    "a call": Message(
        role="assistant", calls=(ToolCall(id="1", name="f", arguments='{"x": "falcon"}'),)
    ),
    "a result": Message(role="tool", results=(ToolResult(call_id="1", text="falcon: ok"),)),
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


def test_what_costs_something_is_looked_at_only_where_it_matters() -> None:
    """What is in sight for known names; who speaks for a question that nothing else decides."""

    def unread() -> Iterator[str]:
        return (str(1 // zero) for zero in [0])

    assert not RecallGate(KNOWN).decide("How do I save a file?", unread()).retrieve
    assert not decided("Ann lost her job.", [], unread).retrieve
    assert decided("What did Ann tell you?", [], unread).retrieve
    assert decided("How is falcon?", ["falcon"], unread).names == ("falcon",)
    assert decided("Is Quill at home?", [], lambda: ["Quill"]).retrieve


def test_arguments_that_mean_nothing() -> None:
    """A string as what is known, and a number in sight are refused."""
    with pytest.raises(ValueError, match="known='falcon': give a set of names"):
        RecallGate("falcon")
    with pytest.raises(InvalidTranscript, match="message 0: a message must be a dict or a client"):
        RecallGate(KNOWN).decide("falcon", in_sight=[7])


# ---- who speaks


@pytest.mark.parametrize(
    ("texts", "authors"),
    [
        pytest.param(("[4:04 pm] Ann: hi", "Ben: oh"), ["Ann", "Ben"], id="names first"),
        pytest.param(("Ann: hi", "oh"), ["Ann", ""], id="half of them"),
        pytest.param(("Error: bad", "hi", "oh"), ["", "", ""], id="too few for names"),
        pytest.param(("Mary Lou: hi",), ["Mary Lou"], id="two words"),
        pytest.param(("http://a.b", "12:30 is it"), ["", ""], id="no names"),
        pytest.param((), [], id="nobody"),
    ],
)
def test_authors_are_read_from_texts(texts: tuple[str, ...], authors: list[str]) -> None:
    """A transcript tells who speaks at the beginning of most messages; a name that a host sends goes before it."""
    assert authors_of([Message(role="user", text=text) for text in texts]) == authors
    named = [Message(role="user", text=text, name="coder") for text in texts]
    assert authors_of(named) == ["coder"] * len(texts)


ABOUT: dict[str, tuple[str, list[str]]] = {
    "a question": ("When Ann has lost her job as a banker?", ["Ann"]),
    "several": ("I wonder. What do Mary Lou and Ann's dog like?", ["Ann", "Mary Lou"]),
    "another language": ("Ann \u5728\u54ea\uff1f", ["Ann"]),
    "no question": ("Ann lost her job.", []),
    "a question to somebody": ("Could you ask Ann?", []),
    "called in front": ("Ann, is the shop open?", []),
    "called at the end": ("Is the shop open, Ann?", []),
    "who asks": ("[3 May] Ann: Is the shop open?", []),
    "part of a word": ("Is the Annex of JoAnn open?", []),
    "a role": ("How does a coder log in?", []),
    "in another sentence": ("Ann says so. Is the shop open?", []),
}


@pytest.mark.parametrize(("query", "about"), ABOUT.values(), ids=ABOUT.keys())
def test_who_is_asked_about(query: str, about: list[str]) -> None:
    """Whom a question names that addresses nobody."""
    authors = ["Mary Lou", "Zoe", "Ann", "coder", "", "Bo", "Ann"]
    assert asked_about(query, lambda: authors) == about
