"""Code: not a character of it changes; when much has to go, a skeleton stays, and what is asked for."""

import re
import sys

import pytest
from hypothesis import given

from autogen_context.compressor.arrival.code import CODE
from autogen_context.compressor.arrival.outline import (
    LONGEST_CHARS,
    Span,
    grammar_of,
    holders,
    outline,
    parsed_outline,
)
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


def test_line_numbers_save_tokens() -> None:
    """A tenth of them at least."""
    code = numbered(module(9))
    assert exact(CODE.tighten(code)) < 0.9 * exact(code)
    assert CODE.tighten(module(9)) == module(9)


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
def test_words_and_grammar_agree(language: str) -> None:
    """On where functions and classes begin and end."""
    text = SOURCES[language]
    lines = text.split("\n")
    parsed = {(lines[span.start], span.end) for span in parsed_outline(text)}
    told = {(lines[span.start], span.end) for span in outline(lines)}
    assert parsed
    if language != "ts":  # whose arrow functions are values to the grammar
        assert {head for head, _ in parsed} >= set(HEADS[language]) - {"type Alpha struct {"}
    assert {head for head, _ in told} >= set(HEADS[language])
    assert parsed <= told


def test_a_span_of_each_kind() -> None:
    """A head over several lines ends where the body begins; what lies in another one is deeper."""
    found = parsed_outline(PYTHON)
    lines = PYTHON.split("\n")
    assert found[:2] == outline(lines)[:2]
    assert [lines[span.body] for span in found[:2]] == [
        '    """What alpha is.',
        '        """The sum of all lines."""',
    ]
    assert [span.depth for span in outline(lines)] == [0, 1, 1, 0]
    side_by_side = "def a():\n    x\ndef b():\n    y"
    assert [span.depth for span in outline(side_by_side.split("\n"))] == [0, 0]
    assert [span.depth for span in parsed_outline(side_by_side)] == [0, 0]
    assert found[1] == Span(start=12, body=16, end=21, depth=1)


def test_broken_code_has_no_grammar() -> None:
    """The outline by words serves; so it does for what is too long, and for what is no code."""
    assert parsed_outline(PYTHON.replace("(self)", "(self")) == []
    assert parsed_outline(PYTHON + "#" * LONGEST_CHARS) == []
    assert parsed_outline("Nothing to see here.") == []
    assert grammar_of("Nothing to see here.") is None
    assert outline(PYTHON.replace("(self)", "(self").split("\n"))


def test_without_a_grammar_words_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is not needed."""
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    assert parsed_outline(PYTHON) == []
    short = CODE.cut(module(30), room_of(600))
    assert all(f"def step_{n}(value_0):" in short for n in range(30))


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
