"""The guide on recall does what it says."""

import re
from pathlib import Path

import pytest

from autogen_context.recall.search import CLOSING, OPENING

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "recall.md"


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program, and prints what stands there."""
    page = GUIDE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    shown = page[page.index(OPENING) : page.index(CLOSING) + len(CLOSING)]
    assert shown in printed
    assert "['My name is Ann']" in printed
