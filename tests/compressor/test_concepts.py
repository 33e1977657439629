"""What a text says, before and after."""

import pytest
from hypothesis import given, settings

from autogen_context.compressor.concepts import Holdings
from autogen_context.compressor.steps import Source
from support.prose import TEXTS


def kept(before: str, after: str, keep: tuple[str, ...] = ()) -> dict[str, bool]:
    """For each concept of a text whether another text holds it."""
    has = Holdings(after).has
    return {f"{c.kind} {c.text}": has(c) for c in Source(before, keep).concepts}


@settings(max_examples=40)
@given(TEXTS)
def test_a_text_holds_its_own_concepts(text: str) -> None:
    """Nothing is lost where nothing was changed; each concept is there once."""
    assert len(set(Source(text).concepts)) == len(Source(text).concepts)
    assert all(kept(text, text, ("order", "user")).values())


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("see src/app/main.py", "value src/app/main.py"),
        ("call parse_v2 first", "value parse_v2"),
        ("the userName field", "value userName"),
        ("mail ada@example.org", "value ada@example.org"),
        ("it has 12 rows", "number 12"),
        ("wait 30s", "number 30s"),
        ("pay $1,500 now", "number 1,500"),
        ("due 2026-03-01", "value 2026-03-01"),
        ("at 10:42 it failed", "value 10:42"),
        ("by Friday, Ada Byron signs", "name Ada Byron"),
        ('it said "out of memory" twice', "quote out of memory"),
        ("run `make test` now", "quote make test"),
        ("never push to main", "negation never push to main"),
        ("it doesn't use Redis", "negation it doesn't use Redis"),
        ("it don\u2019t start", "negation it don\u2019t start"),
        ("answers must be short", "constraint answers must be short"),
        ("send at most two mails", "constraint send at most two mails"),
    ],
)
def test_what_concepts_are(text: str, concept: str) -> None:
    """One row for each kind and the ways in which it is written."""
    assert concept in kept(text, text)


@pytest.mark.parametrize(
    "text",
    ["a well-known thing", "he and/or she", "e.g. this", "Plain words.", "\U0001f600\U0001f600"],
)
def test_what_concepts_are_not(text: str) -> None:
    """A hyphen or a slash between plain words makes no value; whatever it is, a sentence says something."""
    assert [c.kind for c in Source(text).concepts] == ["statement"]


@pytest.mark.parametrize(
    ("before", "after", "held"),
    [
        pytest.param("The limit is 500 euros.", "Limit 500 euros", True, id="fewer words"),
        pytest.param(
            "The pool has 500 threads.", "There are 500 cats.", False, id="of another thing"
        ),
        pytest.param("The pool has 500 threads.", "The pool has 50 threads.", False, id="another"),
        pytest.param("Never push to main.", "Do not push to main", True, id="denied otherwise"),
        pytest.param("Never push to main.", "Push to main.", False, id="not denied"),
        pytest.param("Never push to main.", "Never say never.", False, id="denies another thing"),
        pytest.param("Never push to main.", "Never go to main.", False, id="half of it"),
        pytest.param("Answers must be short.", "Answers are short.", False, id="not demanded"),
        pytest.param("See Main.py there.", "see main.py", True, id="case of letters"),
        pytest.param("See main.py there.", "see domain.py", False, id="part of another"),
    ],
)
def test_what_holds_a_concept(before: str, after: str, held: bool) -> None:  # noqa: FBT001 - a table
    """A number with what it is of, a negation with what it denies, a value as a whole word."""
    found = [is_held for concept, is_held in kept(before, after).items() if "quote" not in concept]
    assert found
    assert all(found) is held


def test_keywords_are_concepts_where_they_are() -> None:
    """In any case of letters and over line ends; what is not in the text is none, nor is an empty one."""
    text = "the Blue\nDoor is open."
    assert "keyword red" not in kept(text, text, ("red", " "))
    assert kept(text, "a blue door", ("blue door", "red"))["keyword blue door"]
    assert not kept(text, "a door", ("blue door",))["keyword blue door"]
