"""What has grown stale: the formula, what counts as a reference, and the stretches that are proposed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.tool_action import ToolAction
from autogen_context.triggers.hybrid import (
    MOST_STEPS,
    MOST_SUBJECTS,
    SAID_CHARS,
    SHOWN_CHARS,
    StalenessTracker,
    said_in,
    shown_in,
    staleness,
)
from autogen_context.triggers.turn import Scope, Step, TriggerDecision, Turn
from support.turns import edit, ran_tests, read, searched, turn

AGES, REFERENCES, SHARES = st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 1)
MOST_AGES, MOST_REFERENCES = st.integers(1, 200), st.integers(0, 30)
NAMES = ["config.py", "load_user", "parseArgs", "src/main.py", "HTTP_404"]
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["", "Let me see.", *(f"I look at {name} now." for name in NAMES)]),
        st.lists(
            st.sampled_from(
                [
                    *(read(f"src/{name}", f"def {name}(): ...") for name in NAMES),
                    *[edit("src/main.py"), searched("load_user"), ran_tests()],
                ]
            ),
            max_size=2,
        ),
    ),
    max_size=60,
).map(lambda rows: [turn(i, said, *steps) for i, (said, steps) in enumerate(rows)])


@given(AGES, REFERENCES, SHARES, MOST_AGES, MOST_REFERENCES)
def test_staleness_is_a_fraction(
    age: float, references: float, similarity: float, max_age: int, max_references: int
) -> None:
    """In 0..1, whatever the scales: fresh is 0, and old, unused and unlike is 1."""
    scale = {"max_age": max_age, "max_references": max_references}
    assert (
        0 <= staleness(age=age, recent_references=references, similarity=similarity, **scale) <= 1
    )
    assert staleness(age=0, recent_references=max_references, similarity=1, **scale) == 0
    assert staleness(age=max_age, recent_references=0, similarity=0, **scale) == pytest.approx(1)


@pytest.mark.parametrize(
    ("age", "references", "similarity", "most", "expected"),
    [
        pytest.param(19, 0, 0.2, 10, 0.754, id="config.py, read at turn 1, at turn 20 of 50"),
        pytest.param(19, 5, 0.2, 10, 0.554, id="named again five times"),
        pytest.param(19, 10, 0.2, 10, 0.354, id="named again ten times"),
        pytest.param(19, 25, 0.2, 10, 0.354, id="more references than count"),
        pytest.param(50, 0, 0.2, 10, 0.940, id="as old as counts"),
        pytest.param(400, 0, 0.2, 10, 0.940, id="older than counts"),
        pytest.param(25, 0, 0.5, 0, 0.500, id="references say nothing: half age, half likeness"),
        pytest.param(25, 9, 0.5, 0, 0.500, id="references say nothing, though there are some"),
    ],
)
def test_the_formula(
    age: float, references: float, similarity: float, most: int, expected: float
) -> None:
    """0.3 for age, 0.4 for want of references, 0.3 for being unlike; to three digits."""
    found = staleness(
        age=age,
        recent_references=references,
        similarity=similarity,
        max_age=50,
        max_references=most,
    )
    assert round(found, 3) == expected


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), -0.001])
@pytest.mark.parametrize("name", ["age", "recent_references", "similarity"])
def test_what_is_no_number_is_refused(name: str, value: float) -> None:
    """With its name and its value."""
    arguments: dict[str, float] = {"age": 1, "recent_references": 1, "similarity": 0.5, name: value}
    with pytest.raises(ValueError, match=f"{name}={value}: give a"):
        staleness(**arguments)  # type: ignore[arg-type] # none of them is a scale


def observed(tracker: StalenessTracker, turns: list[Turn]) -> list[TriggerDecision]:
    """What is said after each turn."""
    return [tracker.observe(each) for each in turns]


@given(TURNS, st.integers(0, 12), st.sampled_from([0.3, 0.5, 0.7]))
def test_scopes_are_stretches_of_stale_turns(
    turns: list[Turn], max_references: int, threshold: float
) -> None:
    """Each has four turns or more, all of them stale, none of them young, and not all stay."""
    tracker = StalenessTracker(max_references=max_references, threshold=threshold)
    for seen in turns:
        scope = tracker.observe(seen).scope
        if scope is None:
            continue
        inside = range(scope.start, scope.stop)
        assert len(inside) >= max(4, len(scope.outcomes) + 1)
        assert scope.stop <= seen.number + 1 - max_references
        assert all(tracker.staleness_of(number) > threshold for number in inside)


def quiet(first: int, count: int) -> list[Turn]:
    """Turns in which other files are read."""
    return [
        turn(i, "", read(f"other/part_{i}.py", "other_thing")) for i in range(first, first + count)
    ]


def filled(count: int = 30, **named: Step) -> list[Turn]:
    """config.py is read at turn 1; other files at all others, but for the turns that are given as ``at_n``."""
    turns = quiet(0, count)
    turns[1] = turn(1, "", read("src/config.py", "LIMIT_S = 3"))
    for at, step in named.items():
        number = int(at.removeprefix("at_"))
        turns[number] = turn(number, "", step)
    return turns


def test_the_example_in_turns() -> None:
    """config.py, read at turn 1 and not named in ten turns, has 0.754 at turn 20 where it is 0.2 like the context."""
    tracker = StalenessTracker(similarity=lambda _: 0.2)
    observed(tracker, filled(21))
    assert round(tracker.staleness_of(1), 3) == 0.754


@pytest.mark.parametrize(
    ("step", "references"),
    [
        pytest.param(edit("src/config.py"), 1, id="the file is changed"),
        pytest.param(edit("./src/config.py"), 1, id="by another spelling"),
        pytest.param(edit("/repo/src/config.py"), 1, id="by its whole path"),
        pytest.param(searched("LIMIT_S"), 1, id="a name in it is looked for"),
        pytest.param(searched("LIMIT"), 0, id="a part of a name"),
        pytest.param(searched("x", "src/config.py:1:LIMIT_S = 3"), 0, id="it only comes back"),
        pytest.param(edit("src/other.py"), 0, id="another file"),
    ],
)
def test_references(step: Step, references: int) -> None:
    """A turn refers to another where it names itself what that one brought in."""
    tracker = StalenessTracker(similarity=lambda _: 0.2)
    observed(tracker, filled(21, at_15=step))
    assert round(tracker.staleness_of(1), 3) == round(0.754 - 0.04 * references, 3)


@given(st.integers(1, 30), st.integers(0, 2_000))
def test_what_is_read_of_a_turn_is_bounded(steps: int, words: int) -> None:
    """Whatever it says, does and sees; of a long text beginning and end are read."""
    text, paths = "word " * words, tuple(f"src/part_{n}.py" for n in range(30))
    action = ToolAction(kind="write", subjects=paths, writes=paths)
    one = turn(0, text, *[Step(tool="f", action=action, observation=text)] * steps)
    for named, chars in ((said_in(one), SAID_CHARS), (shown_in(one), SHOWN_CHARS)):
        parts = list(named)
        assert sum(part in paths for part in parts) == min(steps, MOST_STEPS) * MOST_SUBJECTS
        assert sum(len(part) for part in parts if part not in paths) <= chars + steps


def test_the_oldest_stretch_comes_first() -> None:
    """One fresh turn parts two stretches; what it is like is asked for by its number."""
    tracker = StalenessTracker(max_references=0, similarity=lambda number: float(number == 6))
    scopes = [d.scope for d in observed(tracker, quiet(0, 40)) if d.scope is not None]
    assert (scopes[0].start, scopes[0].stop) == (0, 6)
    assert all(scope.stop <= 6 or scope.start > 6 for scope in scopes)
    assert any(scope.start == 7 for scope in scopes)


def test_changes_stay() -> None:
    """In a stretch the last change of each file stays, and the newest verdict."""
    turns = filled(30, at_2=edit("src/a.py"), at_3=edit("src/a.py"), at_4=ran_tests())
    said = [d.scope for d in observed(StalenessTracker(similarity=lambda _: 0.0), turns) if d.scope]
    assert said[:2] == [Scope(start=0, stop=6, outcomes=(3, 4)), Scope(start=6, stop=10)]
