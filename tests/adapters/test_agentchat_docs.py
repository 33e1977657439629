"""The guide and the example for autogen-agentchat do what they say."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "agentchat.md"
EXAMPLE = ROOT / "examples" / "agentchat_agent.py"


def test_the_guide_runs() -> None:
    """The Python of the guide runs as one program, from top to bottom."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), str(GUIDE), "exec"), {"__name__": "guide"})  # noqa: S102  our own text


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The example stays in its window and finds an original that was dropped."""
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Every worker ran out of disk."
    assert said[-1] == "Error: the disk of worker 0 is full."
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 60
