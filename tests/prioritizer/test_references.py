"""Which values stand where, who named them again, and what later units make worthless."""

import json

import pytest

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.prioritizer.superseded import Superseded
from autogen_context.view.index import ConversationIndex
from support.scoring import references_of
from support.units import candidates_of


def test_who_names_what() -> None:
    """What a model says or calls is used, what a person says is asked for, what a tool returns is neither."""
    call = ToolCall(id="1", name="read", arguments='{"file_path": "src/app.py", "line": 12}')
    bad = ToolCall(id="2", name="read", arguments='{"path": "src/bad.py')  # no JSON
    messages = [
        Message(role="system", text="policy_x"),
        Message(role="user", text="find bug_7"),
        Message(role="assistant", text="looking at main.py", calls=(call,)),
        Message(role="tool", results=(ToolResult(call_id="1", text="found total_cents"),)),
        Message(role="user", text="[left_out]", own=True),
        Message(role="assistant", calls=(bad,)),
    ]
    references = references_of(messages)
    system, person, step, ours, broken = (unit.named for unit in references.units)
    assert [each.is_sought for each in (system, person, step, ours)] == [True, True, False, False]
    assert set(person.asked) == references.asked.keys() == {"find", "bug_7"}
    assert set(step.used) == {"looking", "main.py", "main", "src/app.py", "src", "app"}
    assert references.units[2].values == {*step.used, "found", "total_cents"}
    assert (step.asked, ours.asked, ours.used) == ((), (), ())
    assert "src/bad.py" in broken.used
    assert [list(references.uses(value)) for value in ("src", "bug_7")] == [[2, 4], []]
    assert (references.blocks["main"], references.total_blocks) == (1, 5)


# ---- what later units make worthless

ENOUGH = "\n".join("abcdefghij")
FAILURE = "cat: a.py: No such file or directory"


def step(command: str, result: str | None) -> list[Message]:
    """A message that calls a command, and its result; one that is ``None`` is still to come."""
    call = ToolCall(id="1", name="bash", arguments=json.dumps({"command": command}))
    results = [ToolResult(call_id="1", text=result)] if result is not None else []
    answers = [Message(role="tool", results=(each,)) for each in results]
    return [Message(role="assistant", text="so", calls=(call,)), *answers]


@pytest.mark.parametrize(
    ("older", "newer", "reason"),
    [
        ("sed -n 2,4p a.py", "sed -n 1,5p a.py", "older read of a.py from line 2 to 4"),
        ("cat a.py b.py", "cat a.py", ""),
        ("cat a.py", "cat a.py b.py", "older read of a.py"),
        ("sed -n 1,5p a.py", "sed -n 2,4p a.py", ""),
        ("cat a.py", ("cat a.py", FAILURE), ""),
        ("cat a.py", ("cat a.py", None), ""),
        ("cat a.py && pytest a.py", "cat a.py", ""),
        ("grep x a.py", ("grep x a.py", None), ""),
        ("sed -i s/a/b/ a.py", "sed -i s/a/b/ a.py", ""),
        ("rm a.py", "rm a.py", ""),
        ("cat a.py", ("cat a.py", "same"), ""),
        ("pytest a.py", "pytest a.py -v", "older run of pytest a.py"),
        ("pytest a.py", ("pytest a.py", "ERROR: none"), "older run of pytest a.py"),
        ("grep x a.py", ("grep x a.py", "1: x"), "older search of grep x a.py"),
        ("cat <<E > a.py\n1\nE", "cat <<E > a.py\n2\nE", "older version of a.py"),
        ("cat a.py", ("cat <<E > a.py\n2\nE", ""), "older read of a.py"),
        ("sleep 1", "sleep 1", "older call of sleep 1"),
    ],
)
def test_two_units(older: str, newer: str | tuple[str, str | None], reason: str) -> None:
    """P8: what the newer one makes of the older one, in words: nothing, where it does not show all of it, or more was done."""
    then = step(newer, ENOUGH) if isinstance(newer, str) else step(*newer)
    found, candidates = Superseded(), candidates_of([*step(older, ENOUGH), *then])
    ConversationIndex(candidates).follow(found)
    assert found.reason(0) == reason
    assert (found.by(0) is not None) == bool(reason)
