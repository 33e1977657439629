"""The guides on compressing, folding and reducing do what they say."""

import re
from pathlib import Path

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

from autogen_context import ContextConfig, IncrementalContextManager
from autogen_context.compressor.arrival import MOST_CODE_TOKENS, MOST_TOKENS, lines_mark_of, mark_of
from autogen_context.compressor.kinds import note_of

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
PYTHON = re.compile(r"```python\n(.*?)```\n", re.DOTALL)


def run(guide: str, **names: object) -> dict[str, object]:
    """Its Python runs as one program; what is defined afterwards."""
    names["__name__"] = "guide"
    for block in PYTHON.findall((GUIDES / guide).read_text("utf-8")):
        exec(compile(block, guide, "exec"), names)  # noqa: S102 - our own text
    return names


def test_compressing(capsys: pytest.CaptureFixture[str]) -> None:
    """The budget that was replaced is gone, the rule and the values are there."""
    run("compress.md")
    compressed = capsys.readouterr().out.partition("\nlost")[0]
    assert all(word in compressed for word in ("700", "backup", "disk"))
    assert "500" not in compressed


async def test_folding() -> None:
    """The manager that it makes prepares a turn; settings have their defaults."""
    agent = AssistantAgent("a", OpenAIChatCompletionClient(model="gpt-4o", api_key="none"))
    made = run("folding.md", base_url="http://127.0.0.1:9/v1", agent=agent)["manager"]
    assert isinstance(made, IncrementalContextManager)
    assert made.prepare_nowait([]).certificate.fits
    await made.aclose()
    for setting in ("prepare_at_fraction", "summary_timeout_s"):
        default = ContextConfig.model_fields[setting].default
        assert f"`{setting}` ({default:g})" in (GUIDES / "folding.md").read_text("utf-8")


def test_reducing(capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what stands there, and has the numbers and marks of the code."""
    run("reduce.md")
    page = (GUIDES / "reduce.md").read_text("utf-8")
    shown = re.findall(r"```\n(.*?)```", PYTHON.sub("", page), re.DOTALL)
    assert len(shown) == 3
    assert capsys.readouterr().out == "".join(shown)
    assert f"to {MOST_TOKENS:,} tokens (code and files: {MOST_CODE_TOKENS:,})" in page
    mark = mark_of(0, "…").replace(" 0 ", " N ")
    for each in (mark, lines_mark_of(80), note_of(11)):
        assert f"`{each}`" in page
