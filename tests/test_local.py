"""``make local`` without its model: the same conversation with a script that answers."""

import importlib.util
from pathlib import Path

import pytest

from autogen_context.testing import LoopbackServer, Say, ScriptedModel

TALK = Path(__file__).parents[1] / "examples" / "local" / "talk.py"


async def test_the_conversation_fits_and_keeps_what_was_to_be_remembered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every promise is said and every answer streams; what was said first stands in the last request."""
    spec = importlib.util.spec_from_file_location("talk", TALK)
    assert spec
    assert spec.loader
    talk = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(talk)
    lines = list(talk.said(talk.PROMISES.read_text("utf-8")))
    model = ScriptedModel(lambda request: Say(f"Answer {request.number}. " + "So it is. " * 20))
    async with LoopbackServer(model, window_tokens=talk.WINDOW_TOKENS) as server:
        waits = await talk.converse(server.base_url, lines)
    assert not server.rejected
    assert len(lines) == len(server.requests) == len(waits) > 15
    assert all(request.streamed for request in server.requests)
    assert "kestrel-42" in str(server.requests[-1].messages)
    out = capsys.readouterr().out
    assert all(line in out for line in lines)
    assert all(f"Answer {n}." in out for n in range(1, len(lines) + 1))
    assert "came after a compaction" in out
