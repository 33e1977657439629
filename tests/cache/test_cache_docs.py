"""The guide on the cache does what it says."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "cache.md"


def test_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python prints what stands below it; how large the file is may differ."""
    text = GUIDE.read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (shown,) = re.findall(r"```\n\n```\n(.*?)```\n\nThe file", text, re.DOTALL)
    exec(compile(code, str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102 - our own text
    printed = capsys.readouterr().out
    assert re.sub(r" +(\d\.\d MB)?", " ", printed) == re.sub(r" +(\d\.\d MB)?", " ", shown)
