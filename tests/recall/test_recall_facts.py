"""Facts are what people said, the newest of it."""

import json
import traceback
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.errors import StateError
from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.recall.facts import Facts

SAID = (
    "My name is Ann and I live in Leeds.",
    "Call me Anna from now on.",
    "The budget is 500.",
    "the budget is 700 now",
    "Our travel budget is 300 euros",
    "I like tea.",
    "I don't like tea any more.",
    "I prefer tabs over spaces.",
    "I'd prefer a window seat",
    "Never push to main.",
    "hello",
    "What is my name?",
)
TALKS = st.lists(st.sampled_from(SAID), max_size=10)


def people(*texts: str) -> list[Message]:
    """Messages of a person."""
    return [Message(role="user", text=text) for text in texts]


def learnt(*texts: str) -> list[str]:
    """What is known after these."""
    facts = Facts()
    facts.learn(people(*texts))
    return [fact.text for fact in facts]


STATED: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "name and home": (
        "My name is Ann and I live in Leeds.",
        [("identity", "My name is Ann and I live in Leeds")],
    ),
    "of somebody near": ("my dog's name is Rex", [("identity", "my dog's name is Rex")]),
    "liked": ("Remember that I like tea.", [("preference", "I like tea")]),
    "favourite": (
        "My favourite colour is green.",
        [("preference", "My favourite colour is green")],
    ),
    "chosen": ("I prefer tabs over spaces", [("preference", "I prefer tabs over spaces")]),
    "wished": ("I'd prefer a window seat", [("preference", "I'd prefer a window seat")]),
    "a value": (
        "The port must be 8082 instead.",
        [("constraint", "The port must be 8082 instead")],
    ),
    "a rule": ("Never push to main!", [("constraint", "Never push to main")]),
    "an allergy": (
        "I\u2019m allergic to nuts, by the way",
        [("identity", "I\u2019m allergic to nuts, by the way")],
    ),
    "a question": ("My name is Ann?", []),
    "a condition": ("If my name is Bob", []),
    "fenced": ("```\nmy name is Eve\n```", []),
    "quoted": ("> my name is Eve", []),
    "an idiom": ("Don't worry about it, never give up", []),
    "beyond what is read": ("word. " * 4_000 + "My name is Ann.", []),
    "a long sentence": ("I live in Leeds, " + "x" * 400, []),
}


@pytest.mark.parametrize(("text", "expected"), STATED.values(), ids=STATED.keys())
def test_what_a_text_states(text: str, expected: list[tuple[str, str]]) -> None:
    """Whole sentences as they were said; what asks, supposes or quotes states nothing."""
    facts = Facts()
    facts.learn(people(text))
    assert [(fact.kind, fact.text) for fact in facts] == expected


REPLACED = {
    "a budget": (["The budget is 500.", "the budget is 700 now"], ["the budget is 700 now"]),
    "two budgets": (
        ["Our travel budget is 300.", "The food budget is 200."],
        ["Our travel budget is 300", "The food budget is 200"],
    ),
    "a taste": (["I like tea.", "I don't like tea any more."], ["I don't like tea any more"]),
    "two allergies": (
        ["I'm allergic to nuts.", "I'm allergic to milk."],
        ["I'm allergic to nuts", "I'm allergic to milk"],
    ),
}


@pytest.mark.parametrize(("texts", "known"), REPLACED.values(), ids=REPLACED.keys())
def test_the_newest_about_the_same(texts: list[str], known: list[str]) -> None:
    """It takes the place of the older one; what is about something else stays beside it."""
    assert learnt(*texts) == known


@given(TALKS, st.integers(0, 10))
def test_learning_bit_by_bit(texts: list[str], cut: int) -> None:
    """All at once or in two parts, the same is known; learning it again changes nothing where each is said once."""
    once, twice = Facts(), Facts()
    once.learn(people(*texts))
    twice.learn(people(*texts[:cut]))
    twice.learn(people(*texts[cut:]), start=min(cut, len(texts)))
    assert twice.to_json() == once.to_json()
    for fact in once:
        assert fact.text in texts[fact.position]


OTHERS = (
    Message(role="assistant", text="My name is Eve."),
    Message(role="tool", results=(ToolResult(call_id="1", text="My name is Eve."),)),
    Message(role="user", text="My name is Eve.", results=(ToolResult(call_id="1", text="x"),)),
    Message(role="assistant", calls=(ToolCall(id="1", name="f", arguments="My name is Eve."),)),
    Message(role="system", text="My name is Eve."),
    Message(role="assistant", text="Never push to main."),
)


@pytest.mark.parametrize(
    "message", OTHERS, ids=["model", "tool", "results", "call", "system", "model's rule"]
)
def test_only_people_say_who_they_are(message: Message) -> None:
    """What a tool, a model or a prompt says of itself is no fact of the person."""
    assert Facts().learn([message]) == []


def test_listed_edited_deleted() -> None:
    """By id; what was deleted comes back only when it is said anew."""
    facts = Facts()
    (name,) = facts.learn(people("My name is Ann."), start=7)
    assert (name.position, len(name.id), len(facts)) == (7, 12, 1)
    assert facts.edit(name.id, "Her name is\nAnne ").text == "Her name is Anne"
    assert [fact.text for fact in facts] == ["Her name is Anne"]
    assert facts.learn(people("My name is Ann.")) == []  # read again, not said again
    facts.delete(name.id)
    assert list(facts) == []
    assert facts.learn(people("My name is Ann.")) == []
    assert [fact.text for fact in facts.learn(people("No, my name is Ann."))] == ["my name is Ann"]
    with pytest.raises(ValueError, match="text must not be empty; to remove a fact, delete it"):
        facts.edit(name.id, " \n")
    with pytest.raises(KeyError):
        facts.delete("no such")


@given(TALKS, st.booleans())
def test_a_saved_state_is_whole(texts: list[str], delete: bool) -> None:  # noqa: FBT001 - drawn
    """Through JSON text and back nothing is lost, and learning goes on as if nothing had happened."""
    facts = Facts()
    facts.learn(people(*texts))
    if delete and len(facts):
        facts.delete(next(iter(facts)).id)
    loaded = Facts.from_json(json.loads(json.dumps(facts.to_json())))
    assert list(loaded) == list(facts)
    assert loaded.to_json() == facts.to_json()
    assert loaded.learn(people(*SAID)) == facts.learn(people(*SAID))


SAID_BY_ANN = "my mother's name"
EMPTY: dict[str, object] = {
    "schema": 2, "ledger": {"schema": 2, "entries": []}, "sources": [], "edited": {}, "deleted": {},
}  # fmt: skip
DAMAGED: dict[str, tuple[dict[str, object], str]] = {
    "newer": ({**EMPTY, "schema": 3}, "schema 3 and this release reads 2"),
    "empty": ({}, "^the saved facts are damaged: 'schema' is missing; 'ledger' is missing; .*; give what to_json"),
    "no object": (cast("dict[str, object]", None), "expected an object, got NoneType"),
    "what was said": (
        {**EMPTY, "ledger": {"schema": 2, "entries": [{"kind": 5, "text": SAID_BY_ANN}]}},
        "^the saved ledger entries are damaged: 'entries.0.kind': Input should be .*",
    ),
    "a list": ({**EMPTY, "sources": "x"}, "sources"),
    "too few sources": ({**EMPTY, "sources": ["00"]}, "not one source for each"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_state_is_refused(data: dict[str, object], message: str) -> None:
    """It says what is wrong, and nothing of what people said."""
    with pytest.raises(StateError, match=message) as caught:
        Facts.from_json(data)
    assert SAID_BY_ANN not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("said", "known"),
    [
        pytest.param(["I prefer tea over coffee.", "I prefer coffee."], [1], id="what was second"),
        pytest.param(["I prefer coffee.", "I prefer tea over coffee."], [1], id="now second"),
        pytest.param(["I like tabs rather than spaces.", "I like spaces."], [1], id="rather than"),
        pytest.param(["Ich trinke lieber Tee als Kaffee.", "Ich trinke lieber Kaffee."], [1], id="German"),
        pytest.param(["Je préfère le thé plutôt que le café.", "Je préfère le café."], [1], id="French"),
        pytest.param(["I prefer tea over coffee.", "I prefer juice."], [0, 1], id="a third"),
        pytest.param(["I prefer trains over planes.", "I prefer window seats on planes."], [0, 1], id="of the second"),
    ],
)  # fmt: skip  # a row a case
def test_what_is_liked_better_now(said: list[str], known: list[int]) -> None:
    """F27: a preference for what came second goes before the older one; another stands beside it."""
    facts = Facts()
    facts.learn(people(*said))
    assert [fact.text for fact in facts] == [said[i].rstrip(".") for i in known]


def test_how_it_reads() -> None:
    """One line each, by kind; nothing where nothing is known."""
    facts = Facts()
    assert facts.rendered() == ""
    facts.learn(people("Never push to main.", "I like tea.", "My name is Ann."))
    assert facts.rendered().splitlines()[1:] == [
        "- My name is Ann",
        "- I like tea",
        "- Never push to main",
    ]
