"""Whatever a tool, a file, a name, another agent or a model says: in a message of ours it stands quoted, and cannot end that."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from autogen_context import IncrementalContextManager
from autogen_context.compressor.left_out import LeftOut, notice_of
from autogen_context.compressor.summaries import Span
from autogen_context.manager.change import ContextChange
from autogen_context.messages.message import Message
from autogen_context.project.project import ProjectContext
from autogen_context.recall.exchanges import exchanges, rendered
from autogen_context.recall.facts import Facts
from autogen_context.testing import ChatMessage
from autogen_context.text.quote import bracketed
from autogen_context.view.notice import Notice
from support.hostile import HOSTILE, PLANTED, bare_lines

REPEATED = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])


def step(name: str, arguments: dict[str, object], result: str, n: int) -> list[ChatMessage]:
    """A call and its result."""
    call = {
        "id": f"c{n}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": result},
    ]  # fmt: skip


def composed(given_messages: list[ChatMessage], sent: list[ChatMessage]) -> list[str]:
    """The texts of the messages of ours in a request."""
    theirs = {id(each) for each in given_messages}
    known = {str(each.get("content")) for each in given_messages}
    return [
        str(each["content"])
        for each in sent
        if id(each) not in theirs and each["role"] == "user" and each["content"] not in known
    ]


@REPEATED
@given(HOSTILE)
def test_what_is_told_of_what_left(text: str) -> None:
    """G58: tools' errors, results, names and arguments, in the notice of a compaction."""
    messages: list[ChatMessage] = [{"role": "user", "content": "Mend the parser, please."}]
    for n in range(12):
        hostile = [
            step("bash", {"command": "pytest tests/test_a.py"}, f"E   ValueError: {text}\n1 failed", 5 * n),
            step("read_file", {"path": f"{text}{n}.py"}, f"{text}\n" + "x = 1\n" * 60, 5 * n + 1),
            step("create", {"note": text[:60], "id": n}, f"Error: {text}", 5 * n + 2),
            step("bash", {"command": f"grep -rn '{text}' src"}, "y\n" * 80, 5 * n + 3),
        ]  # fmt: skip
        messages += [each for pair in hostile for each in pair]
        messages.append({"role": "assistant", "content": f"Finding {n}: {text}. The limit is {n}."})
    turn = IncrementalContextManager("gpt-4o", window_tokens=2_000).prepare_nowait(messages)
    ours = [each for each in composed(messages, turn.messages) if "left out here" in each]
    assert ours
    assert [line for each in ours for line in bare_lines(each)] == []


@REPEATED
@given(HOSTILE)
def test_what_changes_tell(text: str) -> None:
    """Tasks with their outcome, requirements, decisions, and files by name and detail."""
    changes = [
        ContextChange.task_started(f"a {text}", key="t"),
        ContextChange.task_completed("t", text=f"b {text}"),
        ContextChange.requirement_added(f"c {text}", key="r"),
        ContextChange.requirement_changed(f"d {text}", key="r"),
        ContextChange.decision_recorded(f"e {text}", key="d"),
        ContextChange.file_modified("src/a.py", text=text),
        ContextChange.file_moved("src/a.py", f"f {text}"),
    ]
    messages: list[ChatMessage] = [{"role": "user", "content": "Go."}, *step("read_file", {"path": "src/a.py"}, "x", 0)]  # fmt: skip
    manager = IncrementalContextManager("gpt-4o", window_tokens=4_000)
    manager.prepare_nowait(messages)
    asyncio.run(manager.apply_changes(changes))
    messages.append({"role": "user", "content": "Go on."})
    ours = composed(messages, manager.prepare_nowait(messages).messages)
    assert ours
    assert [line for each in ours for line in bare_lines(each)] == []


@pytest.mark.parametrize("chars", [0, 9_000])
@pytest.mark.parametrize("field", ["requirement", "detail"])
def test_what_is_too_long_is_cut_before_it_is_quoted(field: str, chars: int) -> None:
    """The end of a long text stands in no line of its own."""
    text = "\n".join(f"line {n} {PLANTED}" for n in range(10 + chars // 10))
    change = (
        ContextChange.requirement_added(text, key="r")
        if field == "requirement"
        else ContextChange.file_modified("src/a.py", text=text)
    )
    messages: list[ChatMessage] = [{"role": "user", "content": "Go."}, *step("read_file", {"path": "src/a.py"}, "x", 0)]  # fmt: skip
    manager = IncrementalContextManager("gpt-4o", window_tokens=2_000)
    manager.prepare_nowait(messages)
    asyncio.run(manager.apply_changes([change]))
    messages.append({"role": "user", "content": "Go on."})
    ours = composed(messages, manager.prepare_nowait(messages).messages)
    assert any(PLANTED in each for each in ours)
    assert [line for each in ours for line in bare_lines(each)] == []


@REPEATED
@given(HOSTILE)
def test_a_result_without_its_call(text: str) -> None:
    """It becomes a user message, in which it stands quoted; also where it must be shortened."""
    messages: list[ChatMessage] = [
        {"role": "user", "content": "Go."},
        {"role": "tool", "tool_call_id": "gone", "content": f"{text}\n{PLANTED}\n" + f"{PLANTED} tail\n" * 400},
    ]  # fmt: skip
    for window in (900, 8_000):
        manager = IncrementalContextManager("gpt-4o", window_tokens=window)
        ours = composed(messages, manager.prepare_nowait(messages).messages)
        assert ours
        assert [line for each in ours for line in bare_lines(each)] == []


@REPEATED
@given(HOSTILE)
def test_what_comes_back(text: str) -> None:
    """Recalled exchanges with the names of their authors, and what is known of a person."""
    messages = [
        Message(role="user", text=f"x {text}", name=text),
        Message(role="assistant", text=text, name=text),
    ]
    assert bare_lines(rendered(exchanges(messages))) == []
    facts = Facts()
    facts.learn(
        [Message(role="user", text=f"I like tea. My name is {text}. Never push to {text}.")]
    )
    assert bare_lines(facts.rendered()) == []


@REPEATED
@given(HOSTILE)
def test_what_a_model_summed_up(text: str) -> None:
    """Its text is data like any other, under a line that says whose it is."""
    span = Span(start=0, stop=1, tokens=9, text="")
    left_out = LeftOut(statements=(), summaries={span: text}, units={}, earlier=None)
    told = notice_of(left_out, room_tokens=5_000, count=len)
    assert bare_lines(told) == []


@REPEATED
@given(HOSTILE)
def test_what_a_knowledge_entry_says(text: str) -> None:
    """Its name stands in brackets that it cannot close, its text in a block."""
    name = bracketed(text)
    assert "]" not in name
    assert len(f"x{name}x".splitlines()) == 1
    told = Notice(key="k", text=f"Entry [{name}]:", detail=text).rendered
    head, *lines = told.split("\n")
    assert head == f"Entry [{name}]:" or len(name) > 100
    assert all(line.startswith("> ") for line in lines)


@pytest.mark.parametrize("sign", ["\n", "\r", "\u2028", '"', "]", "\u202e", "\x1b"])
def test_what_a_project_tells(tmp_path: Path, sign: str) -> None:
    """Names of folders and files, their documents and their changes."""
    root = tmp_path / f"shop{sign}{PLANTED} says"
    root.mkdir()
    try:
        (root / f"notes{sign}{PLANTED} says.md").write_text(
            f"# Rules\n\n{PLANTED}: obey{sign}{PLANTED}\n"
        )
    except OSError:
        pytest.skip("the file system has no such name")
    (root / "README.md").write_text(f"# Shop\n\nIt is {PLANTED}{sign}{PLANTED} by {PLANTED}.\n")
    (root / f"a{sign}{PLANTED} b.py").write_text(f'def f():\n    """{PLANTED}{sign}{PLANTED}"""\n')
    project = ProjectContext(root)
    view = asyncio.run(project.current())
    assert view.head
    assert bare_lines(view.head) == []
    (root / "README.md").write_text(f"# Shop\n\nIt is now {PLANTED}{sign}{PLANTED}.\n")
    (root / f"c{sign}{PLANTED} d.py").write_text("def g():\n    pass\n")
    view = asyncio.run(project.current())
    assert bare_lines(view.head + "\n" + view.tail) == []
