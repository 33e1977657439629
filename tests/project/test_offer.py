"""What of a project becomes the preamble, and what is told of it beside a conversation."""

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.project.project import Change, ProjectView
from autogen_context.project.provider import ALL_ELSE, offer_of

NAMES = st.sets(st.sampled_from([f"part_{n}.py" for n in range(9)]))


@given(st.lists(st.text(), max_size=3), NAMES, NAMES, NAMES)
def test_every_file_that_changed_is_told_or_counted(
    parts: list[str], changed: set[str], missing: set[str], known: set[str]
) -> None:
    """With what it has to say; without room by its name where something was told of it before, and counted where not.

    The opening stands first: by it a head is found that had more to tell; alone it is never placed.
    """
    missing -= changed
    changes = tuple(
        Change(name=name, title=f"{name} defines now:", lines=("- x", "+ y"))
        for name in sorted(changed)
    )
    view = ProjectView(
        opening="It is so.", parts=tuple(parts), changes=changes, missing=frozenset(missing)
    )
    offer = offer_of(view, 90, known)
    assert offer.parts == ("It is so.", *parts)
    unnamed = len(missing - known)
    said = {notice.key: (notice.text, notice.detail) for notice in offer.newer}
    expected = {name: (f"{name} defines now:", "- x\n+ y") for name in changed}
    expected |= {name: (f"{name} may have changed further", "") for name in missing & known}
    more = "1 more file has changed." if unnamed == 1 else f"{unnamed} more files have changed."
    assert said == expected | ({ALL_ELSE: (more, "")} if unnamed else {})
