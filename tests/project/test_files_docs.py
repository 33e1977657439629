"""The guide on files that change does what it says."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "files.md"


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs and prints what stands below it."""
    text = GUIDE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    [shown] = re.findall(r"```\n(\[Told.*?)```", text, re.DOTALL)
    assert capsys.readouterr().out == shown
