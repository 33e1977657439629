"""What was done in units that are left out is told in a few lines, in their own words."""

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.compressor.action_log import action_log
from autogen_context.messages.message import Message, ToolCall, ToolResult, joined_text
from autogen_context.prioritizer.references import References, UnitText
from autogen_context.testing.transcripts import transcripts
from support.counting import COUNTER
from support.units import candidates_of, read_all

OURS = re.compile(
    r"^- (?:read|searched|changed|ran|tested|called|decided:) | \(\d+ times\)|: failed, then went well"
    r"|: went well|: failed: | \((?:\d+-\d+(?:, )?)+\)|…",
    re.MULTILINE,
)


def units_of(messages: Sequence[Message]) -> list[UnitText]:
    """The units of a conversation, read."""
    references = References()
    references.follow(candidates_of(messages), messages)
    return references.units


def step(tool: str, arguments: dict[str, object], result: str, said: str = "") -> list[Message]:
    """A call and its result."""
    call = ToolCall(id="1", name=tool, arguments=json.dumps(arguments))
    answer = ToolResult(call_id="1", text=result)
    return [
        Message(role="assistant", text=said, calls=(call,)),
        Message(role="tool", results=(answer,)),
    ]


def told(*steps: list[Message], room_tokens: int = 1_000) -> str:
    """What is told of these steps."""
    units = units_of([message for messages in steps for message in messages])
    return action_log(units, room_tokens=room_tokens, count=COUNTER.text)


@settings(max_examples=150)
@given(transcripts(max_messages=20).map(read_all), st.integers(0, 120))
def test_it_fits_and_makes_nothing_up(messages: list[Message], room: int) -> None:
    """All words beside the fixed ones stand in the units, and the whole stands in its room."""
    units = units_of(messages)
    text = action_log(units, room_tokens=room, count=COUNTER.text)
    assert COUNTER.text(text) <= room or not text
    assert action_log(units, room_tokens=room, count=COUNTER.text) == text
    there = " ".join((joined_text(messages) + json_text(messages)).split())
    for line in text.splitlines():
        for word in OURS.sub(" ", line).split():
            assert word in there


def json_text(messages: Sequence[Message]) -> str:
    """The arguments of all calls with nothing escaped."""
    return " ".join(
        json.dumps(json.loads(call.arguments), ensure_ascii=False)
        for message in messages
        for call in message.calls
        if call.arguments.startswith("{") and call.arguments.endswith("}")
    )


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        pytest.param(
            [step("read_file", {"path": "a.py"}, "x = 1")] * 2, "- read a.py (2 times)", id="read"
        ),
        pytest.param(
            [step("bash", {"command": f"sed -n '{n},{n + 9}p' a.py"}, "x") for n in (10, 30)],
            "- read a.py (10-19, 30-39)",
            id="parts",
        ),
        pytest.param(
            [
                step("bash", {"command": "pytest tests/test_a.py"}, "E  ValueError: 7\n1 failed"),
                step("bash", {"command": "pytest tests/test_a.py"}, "3 passed"),
            ],
            "- tested tests/test_a.py (2 times): failed, then went well",
            id="mended",
        ),
        pytest.param(
            [step("bash", {"command": "python run.py"}, "Traceback\nKeyError: 'port'")],
            "- ran run.py: failed: KeyError: 'port'",
            id="open",
        ),
        pytest.param(
            [step("get_order", {"order_id": "#W42", "note": "n" * 99}, "{}")],
            "- called get_order #W42",
            id="unknown tool",
        ),
        pytest.param(
            [step("write_file", {"path": "b.py"}, "ok", said="I'll use a cache. Then more.")],
            "- decided: I'll use a cache.",
            id="decision",
        ),
    ],
)
def test_one_line_for_each_thing(steps: list[list[Message]], line: str) -> None:
    """What was done to it, how often, and how that ended."""
    assert line in told(*steps).splitlines()


def test_under_pressure_what_is_open_stays() -> None:
    """Readings go first; what failed and was not mended goes last."""
    reads = [step("read_file", {"path": f"file_{n}.py"}, "x = 1") for n in range(20)]
    failed = step("bash", {"command": "pytest tests/test_a.py"}, "E ValueError: 7\n1 failed")
    assert (
        told(*reads, failed, room_tokens=16) == "- tested tests/test_a.py: failed: E ValueError: 7"
    )
    both = told(*reads, failed, room_tokens=24).splitlines()
    assert len(both) == 2
    assert both[0] == "- read file_19.py"
    assert told(*reads[:3]) == "- read file_0.py, file_1.py, file_2.py"
