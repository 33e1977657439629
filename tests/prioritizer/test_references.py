"""Which values stand where, who named them again, and what later units make worthless."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.messages.message import Message, ToolCall, ToolResult
from autogen_context.messages.segment import Unit, segment
from autogen_context.prioritizer.references import References, Superseded
from autogen_context.testing.transcripts import broken_transcripts, transcripts
from autogen_context.view.decision import Candidate
from support.units import candidates_of, read_all

FEW = settings(max_examples=30)
MESSAGES = (transcripts(max_messages=16) | broken_transcripts()).map(read_all)
NAMED = frozenset({"never", "path", "4711", "src"})


def followed(candidates: Sequence[Candidate]) -> References:
    """All of it at once."""
    references = References()
    references.follow(candidates)
    references.cut(range(len(candidates)))
    return references


def read_from(references: References) -> list[object]:
    """All that can be asked of it."""
    named = NAMED.union(*(unit.values.union(unit.named.asked) for unit in references.units))
    return [
        references.units,
        references.total_blocks,
        *map(dict, (references.blocks, references.asked)),  # no zeros in one alone
        set(references.used),
        {v: list(references.uses(v)) for v in named},
    ]


@FEW
@given(MESSAGES, MESSAGES, st.data())
def test_following_in_steps_is_following_at_once(
    messages: list[Message], others: list[Message], data: st.DataObject
) -> None:
    """Unit by unit or many at a time; what is cut off or goes on in another way leaves nothing, and nothing is read twice."""
    candidates, same = candidates_of(messages), data.draw(st.integers(0, len(messages)))
    references = References()
    for stop in data.draw(st.lists(st.integers(0, len(candidates)), max_size=4)):
        before = list(references.units)
        references.follow(candidates[:stop])
        assert [a is b for a, b in zip(before, references.units, strict=False)].count(False) == 0
        references.cut(data.draw(st.sets(st.integers(0, stop - 1))) if stop else ())
        references.cut(range(stop))
        assert read_from(references) == read_from(followed(candidates[:stop]))
    changed = [*messages[:same], *others]
    references.follow(candidates_of(changed))
    references.cut(range(len(references.units)))
    assert read_from(references) == read_from(followed(candidates_of(changed)))


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
    references = followed(candidates_of(messages))
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
COMMANDS = [
    *["cat a.py", "cat b.py", "sed -n 1,5p a.py", "sed -n 2,4p a.py", "sed -n 3,9p a.py", "tail -3 a.py"],
    *["pytest a.py", "python a.py", "grep x a.py", "ls", "cat a.py b.py", "cat a.py && pytest a.py"],
    *["cat <<E > a.py\nnew\nE", "cat <<E > a.py\nnew\nE\npython a.py", "sleep 1", "sed -i s/a/b/ a.py", "rm a.py"],
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
    results = (
        ToolResult(call_id=str(i), text=t) for i, (_, t) in enumerate(steps) if t is not None
    )
    answers = [Message(role="tool", results=(result,)) for result in results]
    (unit,) = segment([Message(role="assistant", text="so", calls=calls), *answers])
    return unit


def following(units: Sequence[Unit]) -> Superseded:
    """What was added unit by unit."""
    found = Superseded()
    for unit in units:
        found.add(unit)
    return found


def state(found: Superseded) -> list[tuple[int | None, str]]:
    """All that can be asked."""
    return [(found.by(i), found.reason(i)) for i in range(len(found))]


@FEW
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
    steps = [(older, ENOUGH), (newer, ENOUGH) if isinstance(newer, str) else newer]
    found = following([unit_of([step]) for step in steps])
    assert found.reason(0) == reason
    assert (found.by(0) is not None) == bool(reason)
