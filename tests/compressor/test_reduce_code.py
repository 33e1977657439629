"""Code: not a character of it changes; when much has to go, a skeleton stays, and what is asked for."""

import re

import pytest
from hypothesis import given

from autogen_context.compressor.arrival.code import CODE
from autogen_context.compressor.arrival.outline import Span, holders, outline
from support.reducing import ROOMS, assert_promises, exact, room_of, texts_of
from support.sources import HEADS, PYTHON, SOURCES

BROKEN = texts_of([line for text in SOURCES.values() for line in text.split("\n")])


def numbered(code: str) -> str:
    """As ``cat -n`` writes it."""
    return "\n".join(f"{i:6d}\t{line}" for i, line in enumerate(code.split("\n"), 1))


def module(functions: int) -> str:
    """Functions of twenty lines each."""
    body = "\n".join(f"    value_{i} = compute(value_{i - 1}, {i})" for i in range(1, 19))
    return "import re\n\n" + "\n\n".join(
        f'def step_{n}(value_0):\n    """Step {n} of all."""\n{body}\n    return value_18 + {n}'
        for n in range(functions)
    )


@given(BROKEN, ROOMS)
def test_promises(text: str, tokens: int) -> None:
    """Never larger, within the room, the same again, for code and for what is broken."""
    assert_promises(CODE, text, tokens)


@given(BROKEN)
def test_no_character_of_code_changes(text: str) -> None:
    """Only blanks before line numbers go, and can be written again."""
    tight = CODE.tighten(text)
    if tight != text:
        aligned = re.sub(r"^(\d+)\t", lambda m: f"{m[1]:>6}\t", tight, flags=re.MULTILINE)
        assert aligned == text
    code = numbered(module(9))
    assert exact(CODE.tighten(code)) < 0.9 * exact(code)


@given(BROKEN)
def test_an_outline_lies_within_its_text(text: str) -> None:
    """Spans begin in order, end within the text and within what holds them."""
    lines = text.split("\n")
    spans = outline(lines)
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    for span in spans:
        assert 0 <= span.start < span.body <= span.end <= len(lines)
    for i, holder in enumerate(holders(spans, len(lines))):
        around = [span for span in spans if span.start <= i < span.end]
        assert holder == (max(around, key=lambda span: span.start) if around else None)


@pytest.mark.parametrize("language", SOURCES)
def test_definitions_are_found_by_words_and_indentation(language: str) -> None:
    """In any language that indents; a head over several lines ends where the body begins, and what lies in another is deeper."""
    lines = SOURCES[language].split("\n")
    found = outline(lines)
    assert {lines[span.start] for span in found} >= set(HEADS[language])
    if language == "python":
        assert found[1] == Span(start=12, body=16, end=21, depth=1)
        assert [span.depth for span in found] == [0, 1, 1, 0]
        assert outline(PYTHON.replace("(self)", "(self").split("\n"))


@pytest.mark.parametrize("write", [str, numbered], ids=["plain", "numbered"])
def test_a_skeleton_stays(write: type[str]) -> None:
    """Imports, heads, and what documents them, before any body."""
    short = CODE.cut(write(module(20)), room_of(800))
    assert "import re" in short
    for n in range(20):
        assert f"def step_{n}(value_0):" in short
        assert f'"""Step {n} of all."""' in short
    assert "lines …]" in short


@pytest.mark.parametrize("write", [str, numbered], ids=["plain", "numbered"])
def test_a_body_that_is_asked_for_stays_whole(write: type[str]) -> None:
    """Named in the call's arguments."""
    code = write(module(20))
    lines = CODE.tighten(code).split("\n")
    start = next(i for i, line in enumerate(lines) if line.endswith("def step_7(value_0):"))
    assert "\n".join(lines[start : start + 21]) in CODE.cut(code, room_of(600, "step_7"))


def test_a_wanted_line_keeps_its_head() -> None:
    """One knows whose line it is."""
    code = module(20).replace("return value_18 + 13", "return unlucky + 13")
    short = CODE.cut(code, room_of(200, "unlucky"))
    assert "return unlucky + 13" in short
    assert "def step_13(value_0):" in short
