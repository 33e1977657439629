"""Facts of a conversation: what people stated, as they correct it."""

import json
from collections.abc import Iterable

import pytest

from autogen_context.memory import UserMemory
from autogen_context.recall.facts import Fact
from support.keeping import manager
from support.own_tier import OwnTier
from support.remembering import STATED, brought, person, talk, talked

SAID = talk("I'm allergic to nuts. The budget is 500.", "Noted.", "the budget is 700 now")


def texts_of(facts: Iterable[Fact]) -> list[str]:
    """The texts of facts."""
    return [fact.text for fact in facts]


def test_facts_are_those_that_people_stated() -> None:
    """R6, R10: the newest of each subject; of what the host cut off, too."""
    keeper = manager()
    assert texts_of(keeper.facts) == []
    keeper.prepare_nowait(SAID)
    assert texts_of(keeper.facts) == ["I'm allergic to nuts", "the budget is 700 now"]
    more = [*SAID, *talk("", "Yes.", "My dog is called Rex.", "Yes.", "Go on.")[1:]]
    keeper.prepare_nowait(more)
    keeper.prepare_nowait(more[4:])
    assert set(texts_of(keeper.facts)) == {
        "I'm allergic to nuts",
        "the budget is 700 now",
        "My dog is called Rex",
    }


def test_a_correction_is_told_from_the_next_turn_on() -> None:
    """R6: edited or deleted, after a restart as well, until it is stated anew; nothing else in the request changes."""
    keeper = manager()
    keeper.prepare_nowait(SAID)
    nuts, budget = keeper.facts
    assert keeper.facts.edit(budget.id, "The budget is 650").text == "The budget is 650"
    keeper.facts.delete(nuts.id)
    assert texts_of(keeper.facts) == ["The budget is 650"]
    messages = [*SAID, *talk("", "Yes.", "Go on.")[1:]]
    sent = keeper.prepare_nowait(messages).messages
    added = [str(each["content"]) for each in sent if each not in messages]
    assert len(added) == 1
    assert 'corrected "the budget is 700 now"; it holds now:\n> The budget is 650\n' in added[0]
    assert 'takes back: "I\'m allergic to nuts"' in added[0]
    later = manager()
    later.load_state(json.loads(json.dumps(keeper.save_state())))
    later.prepare_nowait(messages)
    assert texts_of(later.facts) == ["The budget is 650"]
    messages += talk("", "Yes.", "The budget is 900.")[1:]
    later.prepare_nowait(messages)
    assert texts_of(later.facts) == ["The budget is 900"]
    with pytest.raises(KeyError):
        later.facts.delete(nuts.id)
    with pytest.raises(ValueError, match="must not be empty"):
        later.facts.edit(budget.id, " ")


def test_21_a_correction_is_forgotten_with_what_it_corrects() -> None:
    """In no request and no state."""
    keeper, messages = manager(), talk("My code name is zebra4711.", "Noted.", "Go on.")
    keeper.prepare_nowait(messages)
    (fact,) = keeper.facts
    keeper.facts.edit(fact.id, "My code name is lion42")
    assert "lion42" in str(keeper.prepare_nowait([*messages, *talk("", "Yes.", "Well?")[1:]]))
    keeper.forget(query="zebra4711")
    assert texts_of(keeper.facts) == []
    sent = keeper.prepare_nowait([*messages, *talk("", "Yes.", "Well?", "So.", "Ha.")[1:]])
    assert "lion42" not in str(sent.messages) + json.dumps(keeper.save_state())


def test_with_a_memory_they_are_those_of_all_conversations() -> None:
    """R9, R10: and what is corrected is corrected in the next one."""
    tier = OwnTier()
    talked(UserMemory("u-17", tier, days=None), "My dog is called Rex.", "Noted.")
    keeper = manager(memory=UserMemory("u-17", tier, days=None))
    keeper.prepare_nowait([person("I'm allergic to nuts.")])
    rex, nuts = keeper.facts
    keeper.facts.edit(rex.id, "My dog is called Max")
    keeper.facts.delete(nuts.id)
    assert texts_of(keeper.facts) == ["My dog is called Max"]
    text = brought(UserMemory("u-17", tier, days=None), "Hello!")
    assert STATED in text
    assert "Max" in text
    assert "Rex" not in text
    assert "nuts" not in text
    with pytest.raises(KeyError):
        keeper.facts.edit(nuts.id, "x")
