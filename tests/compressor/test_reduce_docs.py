"""The guide on reducing does what it says."""

import re
from pathlib import Path

import pytest

from autogen_context.compressor.arrival.arrival import MOST_CODE_TOKENS, MOST_TOKENS, mark_of
from autogen_context.compressor.arrival.deduplication import mark_of as lines_mark_of
from autogen_context.compressor.arrival.output import note_of

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "reduce.md"


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program, and prints what stands there."""
    page = GUIDE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    shown = re.findall(
        r"```\n(.*?)```", re.sub(r"```python\n.*?```\n", "", page, flags=re.DOTALL), re.DOTALL
    )
    assert len(shown) == 2
    assert capsys.readouterr().out == "".join(shown)


def test_the_guide_has_the_numbers_and_marks_of_the_code() -> None:
    """As they are written."""
    page = GUIDE.read_text("utf-8")
    assert f"to {MOST_TOKENS:,} tokens (code and files: {MOST_CODE_TOKENS:,})" in page
    mark = mark_of(0, "…").replace(" 0 ", " N ")
    for each in (mark, lines_mark_of(80), note_of(11)):
        assert f"`{each}`" in page
