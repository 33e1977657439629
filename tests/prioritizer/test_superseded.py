"""What later units make worthless: older reads, older runs, what was written since."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.segment import Unit, segment
from autogen_context.messages.tool_action import ToolAction, View
from autogen_context.messages.tool_call import ToolKinds, actions_of
from autogen_context.prioritizer.superseded import Superseded, superseded

LINES = [*"abcdefghij"]
ENOUGH = "\n".join(LINES)
FAILURE = "cat: a.py: No such file or directory"
EDITS = ["sed -i s/a/b/ a.py", "echo x >> b.py", "rm a.py"]
COMMANDS = [
    *["cat a.py", "cat b.py", "sed -n 1,5p a.py", "sed -n 2,4p a.py", "sed -n 3,9p a.py", "tail -3 a.py"],
    *["pytest a.py", "python a.py", "grep x a.py", "ls", "cat a.py b.py", "cat a.py && pytest a.py"],
    *["cat <<E > a.py\nnew\nE", "cat <<E > a.py\nnew\nE\npython a.py", "sleep 1", *EDITS],
]  # fmt: skip  # a row a kind
STEPS = st.lists(
    st.tuples(st.sampled_from(COMMANDS), st.sampled_from([ENOUGH, "ok", FAILURE, None])), max_size=3
)
TRANSCRIPTS = st.lists(STEPS, max_size=14)


def unit_of(steps: Sequence[tuple[str, str | None]]) -> Unit:
    """One message with these commands as its calls, and their results; a result that is ``None`` is still to come."""
    calls = tuple(
        ToolCall(id=str(i), name="bash", arguments=json.dumps({"command": command}))
        for i, (command, _) in enumerate(steps)
    )
    results = tuple(
        ToolResult(call_id=str(i), text=text)
        for i, (_, text) in enumerate(steps)
        if text is not None
    )
    answers = [Message(role="tool", results=(result,)) for result in results]
    (unit,) = segment([Message(role="assistant", text="so", calls=calls), *answers])
    return unit


def units_of(*steps: str | tuple[str, str]) -> list[Unit]:
    """A unit for each command, with a result that is long enough or the one given."""
    return [unit_of([(step, ENOUGH) if isinstance(step, str) else step]) for step in steps]


def following(units: Sequence[Unit]) -> Superseded:
    """What was added unit by unit."""
    found = Superseded()
    for unit in units:
        found.add(unit)
    return found


def state(found: Superseded) -> list[tuple[int | None, int | None, str]]:
    """All that can be asked."""
    return [(found.by(i), found.stale(i), found.reason(i)) for i in range(len(found))]


def answers(unit: Unit) -> list[tuple[ToolAction, str | None]]:
    """What its calls do, each with its result."""
    texts = {result.call_id: result.text for message in unit.messages for result in message.results}
    calls = unit.messages[0].calls
    return [(a, texts.get(call.id)) for call, a in zip(calls, actions_of(unit), strict=True)]


def things_of(action: ToolAction, text: str | None) -> list[tuple[View | str, float]]:
    """What a call shows, and how many characters that takes; what stands in the call itself is without end."""
    size = len(text or "")
    views = [(v, float("inf") if v.path in action.writes else float(size)) for v in action.views]
    return [*views, *([(action.key, float(size))] if action.key else [])]


def shows_again(later: Unit, thing: View | str, size: float) -> bool:
    """Whether a later unit shows a thing again, said as plainly as can be."""
    for action, text in answers(later):
        worked = text not in (None, FAILURE)
        for again, now in things_of(action, text):
            if isinstance(again, str) or isinstance(thing, str):
                came_out = worked or (text is not None and action.kind in ("run", "test"))
                found = again == thing and came_out
            else:
                found = again.covers(thing) and worked and now >= size / 2
            if found:
                return True
    return False


@given(TRANSCRIPTS)
def test_a_unit_is_superseded_where_later_ones_show_all_of_it(
    transcript: list[list[tuple[str, str | None]]],
) -> None:
    """And it did nothing that cannot be shown again; by the last of the first that do."""
    units = [unit_of(steps) for steps in transcript]
    found = following(units)
    for i, unit in enumerate(units):
        things = [thing for action, text in answers(unit) for thing in things_of(action, text)]
        changes = any(
            not things_of(action, text)
            or {*action.writes} - {view.path for view in action.views if view.whole}
            for action, text in answers(unit)
        )
        later = range(i + 1, len(units))
        first = [next((j for j in later if shows_again(units[j], *t)), -1) for t in things]
        superseded_here = first and -1 not in first and not changes
        assert found.by(i) == (max(first) if superseded_here else None)


@given(TRANSCRIPTS, st.data())
def test_forgetting_leaves_what_was_before(
    transcript: list[list[tuple[str, str | None]]], data: st.DataObject
) -> None:
    """As if the units had never come, and others can come in their place."""
    units = [unit_of(steps) for steps in transcript]
    kept = data.draw(st.integers(0, len(units)))
    found = following(units)
    found.truncate(kept)
    assert state(found) == state(following(units[:kept]))
    for unit in reversed(units):
        found.add(unit)
    assert state(found) == state(following([*units[:kept], *reversed(units)]))


@given(TRANSCRIPTS)
def test_what_supersedes_is_later(transcript: list[list[tuple[str, str | None]]]) -> None:
    """So is what makes stale; whoever is superseded or stale has a reason, and nobody else."""
    units = [unit_of(steps) for steps in transcript]
    for i, (by, stale, reason) in enumerate(state(following(units))):
        assert by is None or by > i
        assert stale is None or stale > i
        assert bool(reason) == (by is not None or stale is not None)


@pytest.mark.parametrize(
    ("older", "newer", "reason"),
    [
        ("cat a.py", "cat a.py", "older read of a.py"),
        ("cat a.py", "nl -ba ./a.py", "older read of a.py"),
        ("sed -n 2,4p a.py", "sed -n 1,5p a.py", "older read of a.py from line 2 to 4"),
        ("sed -n 2,4p a.py", "cat a.py", "older read of a.py from line 2 to 4"),
        ("cat a.py", "sed -n 1,5p a.py", ""),
        ("sed -n 1,5p a.py", "sed -n 2,6p a.py", ""),
        ("cat a.py", "cat b.py", ""),
        ("cat a.py", "wc -l a.py", ""),
        ("cat a.py b.py", "cat a.py", ""),
        ("cat a.py", "cat a.py b.py", "older read of a.py"),
        ("cat a.py", ("cat a.py", FAILURE), ""),
        ("cat a.py", ("cat a.py", "same"), ""),
        ("pytest a.py", "pytest a.py -v", "older run of pytest a.py"),
        ("pytest a.py", ("pytest a.py", "1 ok"), "older run of pytest a.py"),
        ("pytest a.py", ("pytest a.py", "ERROR: none"), "older run of pytest a.py"),
        ("pytest a.py", "pytest b.py", ""),
        ("grep x a.py", ("grep x a.py", "1: x"), "older search of grep x a.py"),
        ("ls", "ls -a", ""),
        ("cat <<E > a.py\n1\nE", "cat <<E > a.py\n2\nE", "older version of a.py"),
        ("cat a.py", ("cat <<E > a.py\n2\nE", ""), "older read of a.py"),
        ("cat a.py", "sed -i s/a/b/ a.py", "a.py was changed since"),
        ("cat a.py", ("sed -i s/a/b/ a.py", FAILURE), ""),
        ("sed -n 2,4p a.py", "rm a.py", "a.py from line 2 to 4 was changed since"),
        ("sed -i s/a/b/ a.py", "sed -i s/a/b/ a.py", ""),
        ("sed -i s/a/b/ a.py && pytest", "pytest", ""),
        ("sleep 1", "sleep 1", "older call of sleep 1"),
        ("cd a", "cd a", ""),
    ],
)
def test_two_units(older: str, newer: str | tuple[str, str], reason: str) -> None:
    """What the newer one makes of the older one, in words."""
    found = following(units_of(older, newer))
    assert found.reason(0) == reason
    assert (found.by(0) is not None) == reason.startswith("older")


@pytest.mark.parametrize(
    ("older", "newer", "stale"),
    [
        ("cat a.py", "sed -i s/a/b/ a.py", True),
        ("cat a.py", "cat <<E > a.py\n1\nE", True),
        ("cat a.py", "rm a.py", True),
        ("cat <<E > a.py\n1\nE", "echo 2 >> a.py", True),
        ("cat a.py", ("sed -i s/a/b/ a.py", FAILURE), False),
        ("cat a.py", "sed -i s/a/b/ b.py", False),
        ("cat a.py", "cat a.py", False),
        ("sed -i s/a/b/ a.py", "cat a.py", False),
        ("grep x a.py", "sed -i s/a/b/ a.py", False),
    ],
)  # fmt: skip  # a row a case
def test_stale(older: str, newer: str | tuple[str, str], stale: bool) -> None:  # noqa: FBT001 - a column of the table
    """A view of a file is stale once a later unit changed that file."""
    assert following(units_of(older, newer)).stale(0) == (1 if stale else None)


def test_the_first_change_makes_stale() -> None:
    """Of several later ones; and what was shown again since is as stale."""
    found = following(units_of("cat a.py b.py", "rm b.py", "rm a.py", "cat b.py"))
    assert [found.stale(i) for i in range(4)] == [1, None, None, None]


def test_a_pending_call_supersedes_nothing() -> None:
    """Its result may never come."""
    assert superseded([*units_of("pytest"), unit_of([("pytest", None)])]) == {}


def test_tools_of_the_users() -> None:
    """What they do is what the user said."""
    call = ToolCall(id="1", name="inventory", arguments='{"shelf": 3}')
    result = Message(role="tool", results=(ToolResult(call_id="1", text="9 books"),))
    units = segment([Message(role="assistant", calls=(call,)), result] * 2)
    assert superseded(units) == {}
    assert superseded(units, ToolKinds(named={"inventory": "read"})) == {0: 1}


def test_messages_are_not_superseded() -> None:
    """What people say is said, also when they say it twice."""
    assert superseded(segment([Message(role="user", text="go on")] * 3)) == {}


@pytest.mark.parametrize("units", [-1, 3])
def test_truncate_to_what_is_there(units: int) -> None:
    """No other number makes sense."""
    with pytest.raises(ValueError, match=f"units={units}: give 0 to 2"):
        following(units_of("ls", "ls")).truncate(units)
