"""Questions about a conversation: who is asked about, and what stands near."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message
from autogen_context.prioritizer.recollection import (
    asked_about,
    authors_of,
    in_favour_of_named,
    recollected,
)
from autogen_context.prioritizer.relevance import LexicalIndex

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "relevance.md"
NAMES = st.sampled_from(["Ann", "Ben", "Mary Lou", ""])
TALK = (
    "[3 May] Ann: Did you find a dog?",
    "[3 May] Ben: Yes, Rex came home with me.",
    "[3 May] Ann: Lovely! And work?",
    "[3 May] Ben: The new office opens on Monday.",
    "[4 May] Ann: My dog ran away once.",
    "[4 May] Ben: That must have been hard.",
)


def spoken(*texts: str, name: str = "") -> list[Message]:
    """Messages with these texts."""
    return [Message(role="user", text=text, name=name) for text in texts]


def talk() -> LexicalIndex:
    """The talk, as documents."""
    index = LexicalIndex()
    for text in TALK:
        index.add(text)
    return index


@given(st.lists(st.tuples(st.floats(0, 1), NAMES), max_size=9), st.sets(NAMES))
def test_others_are_halved(said: list[tuple[float, str]], asked: set[str]) -> None:
    """Where a query names some who spoke, what the others said counts half; else nothing changes."""
    scores, authors = [score for score, _ in said], [author for _, author in said]
    named = (asked & {*authors}) - {""}
    expected = [score if author in named or not named else score / 2 for score, author in said]
    query = f"What did {' and '.join(sorted(asked)).upper()}, say?"
    assert in_favour_of_named(scores, authors, query) == expected


def test_a_name_is_a_whole_word() -> None:
    """Who is called Ann is not meant by annual, nor by Joann."""
    assert in_favour_of_named([1, 1], ["Ann", "Ben"], "Joann's annual report?") == [1, 1]
    assert in_favour_of_named([1, 1], ["C++ (bot)", "Ben"], "what of C++ (bot)") == [1, 0.5]


@pytest.mark.parametrize(
    ("texts", "authors"),
    [
        pytest.param(("Ann: hi", "Ben: oh"), ["Ann", "Ben"], id="names first"),
        pytest.param(("[4:04 pm] Ann: hi", "[now] Ben: oh"), ["Ann", "Ben"], id="times first"),
        pytest.param(("Ann: hi", "oh"), ["Ann", ""], id="half of them"),
        pytest.param(("Error: bad", "hi", "oh"), ["", "", ""], id="too few for names"),
        pytest.param(("Mary Lou: hi",), ["Mary Lou"], id="two words"),
        pytest.param(("http://a.b", "12:30 is it"), ["", ""], id="no names"),
        pytest.param((), [], id="nobody"),
    ],
)
def test_authors_are_read_from_texts(texts: tuple[str, ...], authors: list[str]) -> None:
    """A transcript tells who speaks at the beginning of most messages."""
    assert authors_of(spoken(*texts)) == authors


def test_a_field_goes_before_the_text() -> None:
    """Where the host sends a name, it is that one."""
    assert authors_of(spoken("Ann: hi", "oh", name="coder")) == ["coder", "coder"]


ABOUT: dict[str, tuple[str, list[str]]] = {
    "a question": ("When Ann has lost her job as a banker?", ["Ann"]),
    "several": ("What do Mary Lou and Zoe and Bo and Ann like?", ["Ann", "Bo", "Mary Lou", "Zoe"]),
    "one of several sentences": ("I wonder. What does Ann's dog eat? It barks.", ["Ann"]),
    "another language": ("Wo wohnt Ann?", ["Ann"]),
    "no question": ("Ann lost her job.", []),
    "a question to somebody": ("Could you ask Ann?", []),
    "a request": ("Can Ann do it please?", []),
    "called in front": ("Ann, is the shop open?", []),
    "called at the end": ("Is the shop open, Ann?", []),
    "called with a sign": ("Is @Ann there?", []),
    "who asks": ("[3 May] Ann: Is the shop open?", []),
    "the front of a word": ("Is the Annex open?", []),
    "the end of a word": ("Is JoAnn open?", []),
    "another word": ("Is it an ann or a bob?", []),
    "a role": ("How does a coder log in?", []),
    "in another sentence": ("Ann says so. Is the shop open?", []),
    "nobody": ("", []),
}


@pytest.mark.parametrize(("query", "about"), ABOUT.values(), ids=ABOUT.keys())
def test_who_is_asked_about(query: str, about: list[str]) -> None:
    """Whom a question names that addresses nobody."""
    assert asked_about(query, ["Mary Lou", "Zoe", "Ann", "coder", "", "Bo", "Ann"]) == about


@given(st.text(max_size=30), st.lists(st.text(max_size=4), max_size=4))
def test_only_authors_are_asked_about(query: str, authors: list[str]) -> None:
    """Any text goes; each author at most once, in order, and none without a question mark."""
    about = asked_about(query, authors)
    assert about == sorted({*about})
    assert {*about} <= {*authors} - {""}
    assert "?" in query or "？" in query or not about  # noqa: RUF001 - Chinese punctuation


def test_the_one_who_is_asked_about_comes_first() -> None:
    """Ben's answer holds no word of the question but his name; it stands next to one that does."""
    authors = authors_of(spoken(*TALK))
    scores = recollected(talk(), "Which dog did Ben find?", authors=authors)
    best = max(range(len(TALK)), key=scores.__getitem__)
    assert TALK[best] == "[3 May] Ben: Yes, Rex came home with me."


def test_vectors_count_half() -> None:
    """What means the same in other words is found, and one without a vector is taken at its words."""
    query = "Where is the job?"
    assert recollected(talk(), query) == [0.0] * len(TALK)
    cosines = [0.1, 0.1, 0.5, 0.8, None, 0.1]
    scores = recollected(talk(), query, cosines=cosines)
    assert max(scores) == scores[3]
    assert scores[1] > 0  # it is related to nothing, but stands next to what is
    assert all(0 <= score < 0.5 for score in scores)


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The Python of the guide runs as one program, and its first example prints what the guide shows."""
    guide = GUIDE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    shown = re.findall(r"It prints:\n\n```\n(.*?)```", guide, re.DOTALL)
    assert capsys.readouterr().out.startswith(shown[0])
