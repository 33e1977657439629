"""Facts are what people said, the newest of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("text", "kind", "stated"),
    [
        ("My name is Ann and I live in Leeds.", "identity", "My name is Ann and I live in Leeds"),
        ("my dog's name is Rex", "identity", "my dog's name is Rex"),
        ("Remember that I like tea.", "preference", "I like tea"),
        ("I'd prefer a window seat", "preference", "I'd prefer a window seat"),
        ("The port must be 8082 instead.", "constraint", "The port must be 8082 instead"),
        ("Never push to main!", "constraint", "Never push to main"),
        ("My name is Ann?", None, ""),
        ("If my name is Bob", None, ""),
        ("```\nmy name is Eve\n```", None, ""),
        ("Don't worry about it, never give up", None, ""),
        ("word. " * 4_000 + "My name is Ann.", None, ""),
        ("I live in Leeds, " + "x" * 400, None, ""),
    ],
    ids=lambda text: str(text)[:20],
)
def test_what_a_text_states(text: str, kind: str | None, stated: str) -> None:
    """R6: whole sentences as they were said; what asks, supposes, quotes or is far too long states nothing."""
    facts = Facts()
    facts.learn(people(text))
    assert [(fact.kind, fact.text) for fact in facts] == ([(kind, stated)] if kind else [])


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


@settings(max_examples=30)
@given(TALKS, st.integers(0, 10))
def test_learning_bit_by_bit(texts: list[str], cut: int) -> None:
    """All at once or in two parts, the same is known; learning it again changes nothing where each is said once."""
    once, twice = Facts(), Facts()
    once.learn(people(*texts))
    twice.learn(people(*texts[:cut]))
    twice.learn(people(*texts[cut:]), start=min(cut, len(texts)))
    assert list(twice) == list(once)
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
    """R6, F27: by id; what was deleted comes back only when it is said anew."""
    facts = Facts()
    (name,) = facts.learn(people("My name is Ann."), start=7)
    assert (name.position, len(name.id), len(facts)) == (7, 12, 1)
    assert facts.edit(name.id, "Her name is\nAnne ").text == "Her name is Anne"
    assert facts.learn(people("My name is Ann.")) == []  # read again, not said again
    facts.delete(name.id)
    assert list(facts) == []
    assert facts.learn(people("My name is Ann.")) == []
    assert [fact.text for fact in facts.learn(people("No, my name is Ann."))] == ["my name is Ann"]
    with pytest.raises(ValueError, match="text must not be empty; to remove a fact, delete it"):
        facts.edit(name.id, " \n")
    with pytest.raises(KeyError):
        facts.delete("no such")


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
