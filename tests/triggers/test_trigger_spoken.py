"""What an agent says, clause by clause."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers import spoken
from autogen_context.triggers.spoken import clauses_of

BITS = st.sampled_from(
    [
        *[
            "ok, ",
            "okay ",
            "great! ",
            "book, ",
            "all right: ",
            "so i ",
            "but ",
            "as expected.",
            "x",
        ],
        *[
            "- ",
            "* ",
            "\u2022 ",
            " \u2013 ",
            "1. ",
            "1234) ",
            "THOUGHT: ",
            "Thoughts\n",
            "DISCUSSION: ",
        ],
        *["`x`", "```a\nb```", '"q"', "'ab'", "it's", "\u201cq\u201d", "> ", "<b>", "**", "# "],
        *["\n", "\n\n", " ", "\t", "\u00a0", ". ", "? ", ", ", ", now ", ", and we ", "; "],
    ]
)
SAID = st.lists(BITS, max_size=14).map("".join)


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        pytest.param(
            "I fixed it. Now the tests!", ["i fixed it.", "now the tests!"], id="sentences"
        ),
        pytest.param("Does it work? Yes", ["does it work?", ""], id="a question keeps its mark"),
        pytest.param("it is done, so I go on", ["it is done", "i go on"], id="so"),
        pytest.param("it is done and we go on", ["it is done", "we go on"], id="and somebody"),
        pytest.param("it is done, now more", ["it is done", "now more"], id="now"),
        pytest.param("one \u2013 two", ["one", "two"], id="a dash"),
        pytest.param("Great, it works", ["it works"], id="an interjection"),
        pytest.param("Ok great, it works", ["it works"], id="two in a row"),
        pytest.param("Okay. All right, go", ["", "go"], id="two of them"),
        pytest.param("- a\n* b\n\u2022 c\n12. d", ["a", "b", "c", "d"], id="a list"),
        pytest.param("THOUGHT: I see", ["i see"], id="a heading"),
        pytest.param("see ```\ndone\n``` there", ["see _ there"], id="code"),
        pytest.param("see `done` there", ["see _ there"], id="code in a line"),
        pytest.param("it says 'all done' there", ["it says _ there"], id="a quotation"),
        pytest.param("it\u2019s done", ["it's done"], id="an apostrophe"),
        pytest.param("yes\n  > done", ["", "_"], id="a quoted line"),
        pytest.param("> done\nI go on", ["_", "i go on"], id="a line behind a quoted one"),
        pytest.param(
            "I look at a book, not well", ["i look at a book, not well"], id="within words"
        ),
        pytest.param("x 1. y\n2 * z", ["x 1.", "y", "2 * z"], id="signs within a line"),
        pytest.param("## **Done** <b>", ["done"], id="markup"),
        pytest.param(f"ok {'x' * 301}. fine", ["fine"], id="what is pasted"),
    ],
)
def test_clauses(text: str, clauses: list[str]) -> None:
    """In lower case, in order, without what nobody says."""
    assert [" ".join(clause.split()) for clause in clauses_of(text)] == clauses


@pytest.mark.parametrize("name", ["_LEFT_OUT", "_OPENING", "_BREAK"])
@given(SAID)
def test_the_signs_leave_nothing_out(name: str, text: str) -> None:
    """What is looked for where a sign stands is what is looked for everywhere."""
    pattern: re.Pattern[str] = getattr(spoken, name)
    signs, _, everywhere = pattern.pattern.partition("])")
    assert signs.startswith("(?=[")
    plain = re.compile(everywhere, pattern.flags)
    spans = [match.span() for match in pattern.finditer(text)]
    assert spans == [match.span() for match in plain.finditer(text)]
