"""The guide on folding does what it says."""

import re
from pathlib import Path

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.replay import ReplayChatCompletionClient

from autogen_context import ContextConfig, IncrementalContextManager

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "folding.md"


async def test_the_guide_runs() -> None:
    """Its Python runs as one program, and the manager that it makes prepares a turn."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {
        "base_url": "http://127.0.0.1:9/v1",
        "agent": AssistantAgent("a", ReplayChatCompletionClient([])),
    }
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), names)  # noqa: S102 - our own text
    made = names["manager"]
    assert isinstance(made, IncrementalContextManager)
    assert made.prepare_nowait([]).certificate.fits
    await made.aclose()


@pytest.mark.parametrize("setting", ["prepare_at_fraction", "summary_timeout_s"])
def test_it_names_the_settings(setting: str) -> None:
    """With their defaults."""
    default = ContextConfig.model_fields[setting].default
    assert f"`{setting}` ({default:g})" in GUIDE.read_text("utf-8")
