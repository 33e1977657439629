"""The guide on the stash does what it says."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "originals.md"


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program, and prints what stands there."""
    page = GUIDE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    shown = re.findall(r"```\n(\[Original.*?)```", page, re.DOTALL)
    assert capsys.readouterr().out == "recall_context\n" + shown[0]
