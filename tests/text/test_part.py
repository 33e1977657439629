"""Where a long text is divided, and what each part knows of what stands above it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.text.part import LEAST_CHARS, parts_of
from support.texts import TEXTS

LINES = st.lists(
    st.sampled_from(
        [
            *(
                "# One",
                "## Two",
                "Title",
                "=====",
                "-----",
                "NAME",
                "4.2 Numbers",
                "```",
                "~~~",
                "",
            ),
            *("A sentence stands here.", "    indented below it", "- an item", "x" * 40, "term::"),
        ]
    )
    | st.text(max_size=30),
    max_size=40,
).map("\n".join)
SENTENCES = st.lists(
    st.integers(3, 14).map(lambda n: " ".join(["word"] * n) + "."), min_size=1, max_size=60
)


@given(TEXTS | LINES, st.integers(20, 400))
def test_joined_the_parts_are_the_text(text: str, most_chars: int) -> None:
    """Nothing is left out, nothing stands twice; the text of a part stands in it, behind its headings."""
    parts = parts_of(text, most_chars=most_chars)
    assert "".join(text[each.start : each.end] for each in parts) == text
    assert all(each.start <= each.body <= each.end for each in parts)


@given(SENTENCES, st.integers(40, 80))
def test_no_sentence_of_prose_is_cut(sentences: list[str], columns: int) -> None:
    """However its lines are wrapped, a part of a paragraph ends where a sentence does, and is about as long as it may be."""
    words, lines = " ".join(sentences).split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) >= columns:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    text = "\n".join(lines)
    for each in parts_of(text, most_chars=200):
        assert text[each.start : each.end].rstrip().endswith(".")
        assert each.end - each.start <= 200 + LEAST_CHARS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# A\n\n## B\n\nText.", ("A", "B"), id="Markdown"),
        pytest.param("Intro\n=====\n\nOne\n---\n\nText.", ("Intro", "One"), id="rulers"),
        pytest.param(
            "*****\nIntro\n*****\n\nOne\n===\n\nText.", ("Intro", "One"), id="over and under"
        ),
        pytest.param("= A\n\n== B\n\nText.", ("A", "B"), id="AsciiDoc"),
        pytest.param("NAME\n    git\n\nOPTIONS\n    Text.", ("OPTIONS",), id="manual page"),
        pytest.param("4.1 First\n\nOld.\n\n4.2 Second\n\nText.", ("4.2 Second",), id="numbered"),
        pytest.param("```\n# no heading\n```\nText.", (), id="in a fence"),
        pytest.param("# A\n## B\n\nOld.\n\n# C\n\nText.", ("C",), id="the deeper ones end"),
        pytest.param("Text with - a dash\nand = more.", (), id="prose"),
    ],
)
def test_headings_of_many_formats_are_known(text: str, expected: tuple[str, ...]) -> None:
    """By how they are set, the outermost first."""
    last = parts_of(text)[-1]
    assert last.headings == expected
    assert text[last.body : last.end].strip().endswith((".", "more."))


def test_what_is_indented_knows_the_line_above() -> None:
    """The second paragraph of an option, far below its name."""
    text = "OPTIONS\n\n--depth N\n    " + "First words. " * 70 + "\n\n    Second words.\n" * 20
    last = parts_of(text)[-1]
    assert last.headings == ("OPTIONS", "--depth N")


def test_a_line_without_an_end_is_cut_at_blanks() -> None:
    """Data has no sentences; a word stays whole while there is a blank near."""
    text = "word " * 2_000
    assert all(text[each.start : each.end].startswith("word") for each in parts_of(text))
    assert len(parts_of("x" * 100_000)) > 50
