"""Facts are what people said of themselves and what must hold: the newest of it, as a user edits it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolResult
from autogen_context.recall.facts import Facts

SAID = (
    "My name is Ann and I live in Leeds.",
    "The budget is 500.",
    "the budget is 700 now",
    "I like tea.",
    "I don't like tea any more.",
    "I prefer tabs over spaces.",
    "I prefer spaces.",
    "Never push to main.",
    "hello",
    "What is my name?",
)


def people(*texts: str) -> list[Message]:
    """Messages of a person."""
    return [Message(role="user", text=text) for text in texts]


@pytest.mark.parametrize(
    ("text", "kind", "stated"),
    [
        ("My name is Ann and I live in Leeds.", "identity", "My name is Ann and I live in Leeds"),
        ("Remember that I like tea.", "preference", "I like tea"),
        ("The port must be 8082 instead.", "constraint", "The port must be 8082 instead"),
        ("Never push to main!", "constraint", "Never push to main"),
        ("The port is 8081.", "fact", "The port is 8081"),
        ("We decided to use Postgres.", None, ""),
        ("My name is Ann?", None, ""),
    ],
)
def test_what_a_text_states(text: str, kind: str | None, stated: str) -> None:
    """R6: whole sentences as they were said, by kind; a decision is none."""
    facts = Facts()
    facts.learn(people(text))
    assert [(fact.kind, fact.text) for fact in facts] == ([(kind, stated)] if kind else [])
    others = [
        Message(role="assistant", text=text),
        Message(role="user", text=text, results=(ToolResult(call_id="1", text="x"),)),
        Message(role="tool", results=(ToolResult(call_id="1", text=text),)),
    ]
    assert Facts().learn(others) == []
    by_system = Facts().learn([Message(role="system", text=text)])
    assert [fact.text for fact in by_system] == ([stated] if kind == "constraint" else [])


@pytest.mark.parametrize(
    ("texts", "known"),
    [
        (["The budget is 500.", "the budget is 700 now"], [1]),
        (["I'm allergic to nuts.", "I'm allergic to milk."], [0, 1]),
        (["I prefer tea over coffee.", "I prefer coffee."], [1]),
        (["I prefer coffee.", "I prefer tea over coffee."], [1]),
        (["I like tabs rather than spaces.", "I like spaces."], [1]),
        (["Ich trinke lieber Tee als Kaffee.", "Ich trinke lieber Kaffee."], [1]),
        (["Je préfère le thé plutôt que le café.", "Je préfère le café."], [1]),
        (["I prefer tea over coffee.", "I prefer juice."], [0, 1]),
        (["I prefer trains over planes.", "I prefer window seats on planes."], [0, 1]),
    ],
    ids=lambda each: str(each[-1]),
)
def test_the_newest_about_the_same(texts: list[str], known: list[int]) -> None:
    """R6, F27: it takes the place of the older one, as what is liked better now does; all else stays beside it."""
    one_by_one, together = Facts(), Facts()
    one_by_one.learn(people(*texts))
    together.learn(people(" ".join(texts)))
    for facts in (one_by_one, together):
        assert [fact.text for fact in facts] == [texts[i].rstrip(".") for i in known]


@settings(max_examples=30)
@given(st.lists(st.sampled_from(SAID), max_size=10), st.integers(0, 10))
def test_learning_bit_by_bit(texts: list[str], cut: int) -> None:
    """All at once or in two parts, the same is known, each with the position of its message."""
    once, twice = Facts(), Facts()
    once.learn(people(*texts))
    twice.learn(people(*texts[:cut]))
    twice.learn(people(*texts[cut:]), start=min(cut, len(texts)))
    assert list(twice) == list(once)
    assert len(once) == len(list(once))
    for fact in once:
        assert fact.text in texts[fact.position]


def test_listed_edited_deleted() -> None:
    """R6, F27: by id; what was deleted comes back only in other words."""
    facts = Facts()
    (name,) = facts.learn(people("My name is Ann."), start=7)
    assert (name.position, len(name.id), len(facts)) == (7, 12, 1)
    assert facts.edit(name.id, "Her name is\nAnne ").text == "Her name is Anne"
    assert [fact.text for fact in facts] == ["Her name is Anne"]
    assert facts.learn(people("My name is Ann.")) == []
    facts.delete(name.id)
    assert list(facts) == []
    assert facts.learn(people("My name is Ann.")) == []
    assert [fact.text for fact in facts.learn(people("No, my name is Ann."))] == ["my name is Ann"]
    with pytest.raises(ValueError, match="text must not be empty; to remove a fact, delete it"):
        facts.edit(name.id, " \n")
    with pytest.raises(KeyError):
        facts.delete("no such")


def test_how_it_reads() -> None:
    """One line each, by kind; nothing where nothing is known."""
    facts = Facts()
    assert facts.rendered() == ""
    facts.learn(people("Never push to main.", "I like tea.", "My name is Ann."))
    rows = facts.rendered().splitlines()[1:]
    assert rows == ["> My name is Ann", "> I like tea", "> Never push to main"]
