"""Prose: whole sentences stay, in their order."""

import pytest
from hypothesis import given

from autogen_context.compressor.arrival.prose import Prose, gap_of_sentences
from support.reducing import ROOMS, assert_promises, exact, room_of, texts_of

LINES = (
    "The order was placed in May. It has not been paid yet! Why is that?",
    'She said: "Do not ship it." (They did.) Then nothing.',
    "# Terms of delivery",
    "- refunds take 7 days",
    "1. Never share the key.",
    "検索結果が見つかりません。もう一度お試しください。",
    "Conditions:",
    "e.g. this one, i.e. no end of a sentence",
)
FILLER = "People like to talk about the weather when they meet in the street. "


@given(texts_of(LINES), ROOMS)
def test_promises(text: str, tokens: int) -> None:
    """Never larger, within the room, the same again, for prose and for what is broken."""
    assert_promises(Prose(), text, tokens)
    assert Prose().tighten(text) is text


def test_sentences_stay_whole() -> None:
    """Each line of the result is a sentence of the text, or a gap."""
    text = " ".join(f"This is sentence number {i}, and it ends here." for i in range(200))
    short = Prose().cut(text, room_of(200)).split("\n")
    assert all(line in text for line in short if not line.startswith("[…"))
    assert all(line.endswith("here.") for line in short if not line.startswith("[…"))
    assert any("sentences …]" in line for line in short)


@pytest.mark.parametrize(
    "sentence",
    [
        "The limit is 4711 euros.",
        "You must never share the key.",
        "Call order_total for that.",
        "See docs/terms for more.",
    ],
)
def test_what_is_exact_or_binding_stays(sentence: str) -> None:
    """Numbers, names and negations before what is mere talk."""
    short = Prose().cut(FILLER * 30 + sentence + " " + FILLER * 30, room_of(90))
    assert sentence in short


def test_headings_and_what_is_asked_for_stay() -> None:
    """In their order."""
    text = (
        f"# Weather\n\n{FILLER * 20}\n\n## Refunds\n\n{FILLER * 20}Refunds are slow. {FILLER * 9}"
    )
    short = Prose().cut(text, room_of(120, "refunds"))
    assert short.index("# Weather") < short.index("## Refunds") < short.index("Refunds are slow.")


def test_headings_and_beginnings_stay() -> None:
    """Before what a paragraph goes on with."""
    names = ("alpha", "beta", "gamma", "delta")
    text = "\n\n".join(
        f"# The chapter called {name}\n\nIt begins with {name}. {FILLER * 9}" for name in names
    )
    short = Prose().cut(text, room_of(120)).split("\n")
    assert all(f"# The chapter called {name}" in short for name in names)
    assert all(f"It begins with {name}." in short for name in names)


def test_what_fits_is_not_touched() -> None:
    """Not a blank of it."""
    text = "One.  Two.\n\n\nThree. "
    assert exact(text) < 40
    assert Prose().cut(text, room_of(40)) is text


def test_a_gap_says_how_many() -> None:
    """One sentence, or several."""
    assert gap_of_sentences(1) == "[… 1 sentence …]"
    assert gap_of_sentences(2) == "[… 2 sentences …]"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(FILLER * 9, True, id="a paragraph"),
        pytest.param("検索結果が見つかりません。" * 20, True, id="without spaces"),
        pytest.param("# A\n\n## B\n\n| a | b |\n|---|---|\n\n## C\n", True, id="markdown"),
        pytest.param("x = f(a, b)\ny = g[0]\n" * 9, False, id="code"),
        pytest.param("one\ntwo\nthree\n" * 20, False, id="a word a line"),
        pytest.param("{'a': 1, 'b': [2, 3]}" * 20, False, id="data"),
    ],
)
def test_recognition(text: str, told: bool) -> None:  # noqa: FBT001 - a row of the table
    """Words, many on a line; or headings."""
    assert Prose().recognises(text) == told
