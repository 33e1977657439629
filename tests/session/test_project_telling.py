"""What of a project becomes a head, and what is told of it beside a conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.manager.telling import ALL_ELSE, head_of, notices_of
from autogen_context.project.since import Change, Current
from autogen_context.manager.preamble import Head
from autogen_context.view.notices import Notice

NAMES = st.sets(st.sampled_from([f"part_{n}.py" for n in range(9)]))


def current(
    *, parts: tuple[str, ...] = (), changed: set[str] | None = None, missing: set[str] | None = None
) -> Current:
    """What a project has to say."""
    return Current(
        opening="It is so.",
        parts=parts,
        changes=tuple(
            Change(name=name, title=f"{name} defines now:", lines=("- x", "+ y"))
            for name in sorted(changed or ())
        ),
        missing=frozenset(missing or ()),
    )


def test_the_opening_stands_first_and_is_all_where_there_is_nothing_to_tell() -> None:
    """By it the head of a project is found that had more to tell; alone it is never placed."""
    assert head_of(current(parts=("a", "b")), 90) == Head(
        parts=("It is so.", "a", "b"), most_tokens=90
    )
    assert head_of(current(), 90) == Head(parts=("It is so.",), most_tokens=90)


@given(NAMES, NAMES, NAMES)
def test_every_file_that_changed_is_told_or_counted(
    changed: set[str], missing: set[str], known: set[str]
) -> None:
    """With what it has to say; without room by its name where something was told of it before, and counted where not."""
    missing -= changed
    told = list(notices_of(current(changed=changed, missing=missing), known))
    named, unnamed = sorted(missing & known), missing - known
    assert {notice.topic for notice in told} <= {"project"}
    assert [notice.key for notice in told] == [
        *sorted(changed),
        *named,
        *([ALL_ELSE] if unnamed else []),
    ]
    texts = {notice.key: (notice.text, notice.detail) for notice in told}
    for name in changed:
        assert texts[name] == (f"{name} defines now:", "- x\n+ y")
    for name in named:
        assert texts[name] == (f"{name} may have changed further", "")


@pytest.mark.parametrize(
    ("more", "text"),
    [(1, "1 more file has changed."), (2, "2 more files have changed.")],
    ids=["one", "several"],
)
def test_what_is_counted(more: int, text: str) -> None:
    """In plain words."""
    missing = {f"part_{n}.py" for n in range(more)}
    told = list(notices_of(current(missing=missing), {"part_9.py"}))
    assert told == [Notice(topic="project", key=ALL_ELSE, text=text)]
