"""The guide on changes does what it says."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "changes.md"


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python runs as one program and prints what stands below it, but for what depends on the tokenizer at hand."""
    text = GUIDE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    [shown] = re.findall(r"```\n(\[Told.*?)```", text, re.DOTALL)
    tokens = re.compile(r"\d+ tokens")
    assert tokens.sub("", capsys.readouterr().out) == tokens.sub("", shown)
