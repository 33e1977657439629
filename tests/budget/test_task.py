"""What a task is, by its words."""

import tomllib
from importlib.resources import files
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.budget.task import TYPES, Complexity, TaskDefinition

TEXTS = st.text() | st.lists(
    st.sampled_from(["fix", "the", "tests", "in a.py", "`run`", "why?", "\n- ", "```", "must"])
).map(" ".join)


@given(TEXTS)
def test_any_text_has_one_definition(text: str) -> None:
    """The same text always has the same one, with a reason for each verdict; more text is never simpler."""
    task = TaskDefinition.from_text(text)
    assert task == TaskDefinition.from_text(text)
    verdicts = (task.type, task.complexity, task.query_kind)
    assert [reason.split(":")[0] for reason in task.reasons] == list(verdicts)
    assert task.text is text
    longer = TaskDefinition.from_text(f"{text}\n\n- You must run it, then add it.\n")
    levels = get_args(Complexity)
    assert levels.index(longer.complexity) >= levels.index(task.complexity) or "`" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix the login bug in auth.py", "debug"),
        ("Why does test_login fail with a KeyError?", "debug"),
        ("Implement rate limiting for the API", "implement"),
        ("Hi! I need to change my flight", "implement"),
        ("Rename it: error, error, error, error", "refactor"),
        ("Fix it." + " word" * 150 + " Explain, find, look, search, analyze", "debug"),
        ("How does the scheduler work?", "explore"),
        ("Please explain why the cache returns stale data", "explore"),
        ("Write tests for the parser", "verify"),
        ("Update the README", "document"),
        ("Add a docstring to every public function", "document"),
        ("Clean up utils.py", "refactor"),
        ("FIXED? Fixing it now, please", "debug"),
        ("hi, how are you?", "chat"),
        ("", "chat"),
        ("Why does test_login fail?", "debug"),  # F31
        ("Please don't debug anything, just explain", "explore"),  # F31
        ("Bitte erkläre, wie der Cache funktioniert", "explore"),
        ("Corrige el error en auth.py", "debug"),
        ("Ajoute un bouton, puis vérifie la page", "implement"),
        ("Prefix the contest of Testament", "chat"),  # in the middle of a word
        ("fixture, testimony, addition", "chat"),  # at its start
        ("see tests/fix_bug/test_add.py and fix.py", "chat"),  # in a path
        ("see src/fix/bug and /add/crash", "chat"),  # in a folder
        ("`fix` and ```\nadd bug\n``` and ```\nrefactor", "chat"),  # in code
        ("fix_bug", "chat"),  # in an identifier
    ],
)
def test_types(text: str, expected: str) -> None:
    """What is to be done decides, what it is done to breaks a tie; parts of words and code are no words."""
    assert TaskDefinition.from_text(text).type == expected


def test_signals_do_not_overlap() -> None:
    """The longest is taken, and its words count for no other."""
    told = TaskDefinition.from_text("Write the tests, rename them, then test").reasons[0]
    assert told == "verify: write the tests, test"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "low"),
        ("Fix the typo in a.py", "low"),
        ("Make sure that the tests run without network", "medium"),
        ("Book a flight for at most $400, only on Monday, never with a layover", "medium"),
        ("Change a.py, b.py, c.py and d.py", "medium"),
        ("1. Fix a.py\n2. Test b.py\n3. Run it\n4. Commit it, only if all pass", "high"),
        ("word " * 300 + "Why, what and how? You must not and should not.", "high"),
    ],
)
def test_complexity(text: str, expected: str) -> None:
    """Length, constraints, files, steps, things to do, question words and uses of tools add up."""
    assert TaskDefinition.from_text(text).complexity == expected


def test_features_are_counted_and_told() -> None:
    """The reason names those that gave points."""
    text = "Refactor a.py and lib/b.ts (see a.py):\n- run it\n- then commit\nYou must never push. At least explain why and how."
    told = TaskDefinition.from_text(text).reasons[1]
    assert told == (
        "high: 3 constraints (+2), 2 files named (+1), 2 things to do (+1), 3 steps (+1), 2 question words (+1), "
        "3 uses of tools (+2)"
    )


@pytest.mark.parametrize("filler", ["a", "`", "'", "x.py "])
def test_long_texts_are_read_at_both_ends(filler: str) -> None:
    """A text of many characters gives its beginning and its end, and nothing between them."""
    middle = filler * (200_000 // len(filler))
    task = TaskDefinition.from_text(f"Refactor it. {middle} You must run pytest.")
    assert task.type in {"refactor", "debug"}
    assert "1 constraints" in task.reasons[1]


def test_every_language_has_words_for_every_type() -> None:
    """And none stands for two types, since the lower one would never count."""
    folder = files("autogen_context.language")
    for code in ("en", "de", "fr", "es", "pt", "it"):
        task = tomllib.loads((folder / f"{code}.toml").read_text("utf-8"))["task"]
        types = {label.removesuffix("_topic") for label in task} & set(TYPES)
        assert types == set(TYPES), code
