"""What has grown stale: the formula, what counts as a reference, and the stretches that are proposed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.triggers.hybrid import StalenessTracker, said_in, shown_in, staleness
from autogen_context.triggers.turn import Step, Turn, TurnRange
from support.turns import SESSIONS, edit, fired, numbered, ran_tests, read, searched, turn

AGES, REFERENCES, SHARES = st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 1)


@given(AGES, REFERENCES, SHARES, st.integers(1, 200), st.integers(0, 30))
def test_staleness_is_a_fraction(
    age: float, references: float, similarity: float, max_age: int, max_references: int
) -> None:
    """0.3 for age, 0.4 for want of references, 0.3 for being unlike; where references say nothing, half and half (T4)."""
    scale = {"max_age": max_age, "max_references": max_references}
    found = staleness(age=age, recent_references=references, similarity=similarity, **scale)
    aged, unlike = min(1.0, age / max_age), 1 - similarity
    unused = 1 - min(1.0, references / max_references) if max_references else (aged + unlike) / 2
    assert found == pytest.approx(0.3 * aged + 0.4 * unused + 0.3 * unlike)
    assert 0 <= found <= 1


def test_the_example_of_the_formula() -> None:
    """T4: config.py read at turn 1, now turn 20 of 50, no reference in 10, similarity 0.2."""
    assert round(staleness(age=19, recent_references=0, similarity=0.2), 3) == 0.754


@pytest.mark.parametrize("value", [-1, float("nan")])
@pytest.mark.parametrize("name", ["age", "recent_references", "similarity"])
def test_what_is_no_number_is_refused(name: str, value: float) -> None:
    """With its name and its value."""
    arguments: dict[str, float] = {"age": 1, "recent_references": 1, "similarity": 0.5, name: value}
    with pytest.raises(ValueError, match=f"{name}={value}: give a"):
        staleness(**arguments)  # type: ignore[arg-type] # none of them is a scale


@given(SESSIONS, st.integers(0, 6), st.sampled_from([0.3, 0.5, 0.7]))
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


def filled(count: int = 30, **named: Step) -> list[Turn]:
    """config.py is read at turn 1; other files at all others, but for the turns that are given as ``at_n``."""
    steps = [read(f"other/part_{i}.py", "other_thing") for i in range(count)]
    steps[1] = read("src/config.py", "LIMIT_S = 3")
    for at, step in named.items():
        steps[int(at.removeprefix("at_"))] = step
    return numbered(*steps)


@pytest.mark.parametrize(
    ("step", "references"),
    [
        pytest.param(edit("src/config.py"), 1, id="the file is changed"),
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
    fired(tracker, filled(21, at_15=step))
    assert round(tracker.staleness_of(1), 3) == round(0.754 - 0.04 * references, 3)


def test_what_is_read_of_a_turn_is_bounded() -> None:
    """Whatever it says, does and sees; of a long text beginning and end are read."""
    text = "first.py " + " ".join(f"part_{n}.py" for n in range(2_000)) + " last.py"
    one = turn(0, text, *[read("a.py", text)] * 50)
    for names in (said_in(one), shown_in(one)):
        assert {"first.py", "last.py", "a.py"} <= names
        assert len(names) < 100


def test_the_oldest_stretch_comes_first() -> None:
    """One fresh turn parts two stretches; what it is like is asked for by its number; changes and a verdict stay."""
    tracker = StalenessTracker(max_references=0, similarity=lambda number: float(number == 6))
    turns = filled(40, at_2=edit("src/a.py"), at_3=edit("src/a.py"), at_4=ran_tests())
    scopes = [each.scope for each in fired(tracker, turns) if each.scope]
    assert scopes[0] == TurnRange(start=0, stop=6, outcomes=(3, 4))
    assert all(scope.stop <= 6 or scope.start > 6 for scope in scopes)
    assert any(scope.start == 7 for scope in scopes)
