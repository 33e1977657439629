"""What each category weighs, which one a unit or part belongs to, and what it tells of."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.segment import Unit, segment
from autogen_context.prioritizer.category import (
    END_CHARS,
    LABEL_WORDS,
    OF_WHAT,
    RECORDS,
    Category,
    category_of,
    category_of_label,
    is_decision,
)


def said(role: str, text: str) -> Unit:
    """A message without calls."""
    return Unit(start=0, messages=(Message(role=role, text=text),))


def done(*calls: tuple[str, object], text: str = "", answer: str = "ok") -> Unit:
    """Calls and their results; a command line alone is a call to a shell."""
    made = tuple(
        ToolCall(id=str(i), name=name, arguments=json.dumps(arguments))
        for i, (name, arguments) in enumerate(calls)
    )
    results = tuple(ToolResult(call_id=call.id, text=answer) for call in made)
    (unit,) = segment(
        [Message(role="assistant", text=text, calls=made), Message(role="tool", results=results)]
    )
    return unit


def shell(line: str, answer: str = "ok") -> Unit:
    """A command line and what came out."""
    return done(("bash", {"command": line}), answer=answer)


@pytest.mark.parametrize(
    ("unit", "category"),
    [
        (said("system", "You are an agent."), "requirements"),
        (said("user", "Fix the crash in auth.py."), "requirements"),
        (said("system", "\nRelevant memory content (in chronological order):\n1. likes tea"), "memory"),
        (said("user", "Known facts:\n- the port is 8081"), "memory"),
        (said("user", "My memory is bad, fix the memory leak."), "requirements"),
        (said("assistant", "I'll use BM25 instead of embeddings."), "design"),
        (said("assistant", "Your flight to Boston leaves at nine in the morning."), "related"),
        (said("assistant", "Done."), "general"),
        (shell("pytest -q"), "execution"),
        (shell("ls -R"), "structure"),
        (shell("cat README.md"), "structure"),
        (shell("cat requirements.txt"), "structure"),
        (shell("cat docs/spec.md"), "requirements"),
        (shell("cat multitasking.md"), "structure"),
        (shell("cat src/spec.py"), "related"),
        (shell("sed -i s/a/b/ a.py"), "related"),
        (done(("think", {"thought": "hm"})), "general"),
        (done(("think", {"thought": "We should use a queue."})), "design"),
        (done(("search_memory", {"query": "tea"})), "memory"),
        (done(("get_order", {"id": 3})), "related"),
        (done(("read_file", {"path": "a.py"}), ("run_tests", {})), "execution"),
    ],
)  # fmt: skip  # a row a case
def test_categories(unit: Unit, category: Category) -> None:
    """What is required, decided, found, done and remembered."""
    assert category_of(unit) == category


def camel(words: list[str]) -> str:
    """Words as one in camel case."""
    return "".join(map(str.title, words))


@given(
    st.lists(st.sampled_from(sorted(LABEL_WORDS)), max_size=2),
    st.sampled_from(sorted(LABEL_WORDS.keys() - RECORDS)),
    st.sampled_from(["", *sorted(OF_WHAT)]),
    st.sampled_from(["_".join, " ".join, camel]),
)
def test_the_last_word_of_a_label_says_what_it_is(
    before: list[str], word: str, about: str, written: Callable[[list[str]], str]
) -> None:
    """F31: whatever stands before it, and whatever it is about; however it is written."""
    words = [*before, word, *([about, "task"] if about else [])]
    assert category_of_label(written(words)) == LABEL_WORDS[word]


LABELS: dict[str, Category] = {
    "hypotheses": "design",
    "SYSTEM_GRAPH": "structure",
    "task_history": "related",
    "execution_history": "execution",
    "decision log": "design",
    "profiles": "general",
    "subgoaling": "general",
    "": "general",
}


@pytest.mark.parametrize("label", LABELS)
def test_usual_labels(label: str) -> None:
    """F31: a record is of something, but the task's is no requirement; parts of words decide nothing."""
    assert category_of_label(label) == LABELS[label]


@pytest.mark.parametrize(
    ("text", "decides"),
    [
        ("I\u2019ll use port 8081.", True),
        ("The root cause is a missing lock.", True),
        ("Plan: two modules.", True),
        ("Wir haben uns für Redis entschieden.", True),
        ("The plan of the house", False),
        ("Shall I use port 8081?", False),
        ("x" * END_CHARS * 9 + " I've decided.", True),
    ],
)
def test_decisions(text: str, decides: bool) -> None:  # noqa: FBT001 - a column of the table
    """A decision is stated, not asked for, in any language of the package; also at the end of a long text."""
    assert is_decision(text) is decides
