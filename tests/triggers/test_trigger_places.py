"""Where work moves and what was looked up, seen without the boundaries that are made of it."""

import pytest

from autogen_context.triggers.exploring import (
    KEPT_READS,
    MOST_FAMILIES,
    MOST_LOOKUPS,
    Exploring,
    Use,
    families_of,
    families_of_name,
)
from autogen_context.triggers.moves import MOST_FILES, Move, Moves
from autogen_context.triggers.turn import Step
from support.turns import called, edit, read, shell, turn


def moved(moves: Moves, *steps: Step, start: int = 0) -> list[Move | None]:
    """What each turn of one step is, from a number on."""
    return [moves.observe(turn(number, "", step)) for number, step in enumerate(steps, start)]


def move(since: int, left: str, reached: str, *, to_module: bool = False) -> Move:
    """A move."""
    return Move(since=since, left=left, reached=reached, to_module=to_module)


def test_what_was_a_glance_is_none_twice() -> None:
    """Where nothing was worked on, the places are of the span; the next place is the first away."""
    steps = (read("a"), read("b"), edit("c"), read("d"), read("e"))
    assert moved(Moves(), *steps) == [None, None, None, None, move(3, "c", "e")]


def test_a_span_begins_with_the_places_reached() -> None:
    """They are its files; the one that was left is away, and counts as changed no more."""
    moves = Moves()
    assert moved(moves, edit("a"), edit("b"), edit("c"))[-1] == move(1, "a", "c")
    moves.restart(1)
    assert moved(moves, edit("b"), edit("d"), edit("e"), start=3) == [None, None, move(4, "b", "e")]
    moves.restart(4)
    assert moved(moves, read("f"), read("g"), start=6) == [None, move(6, "e", "g")]
    moves.restart(6)
    steps = (read("h"), read("e"), read("i"), read("j"))
    assert moved(moves, *steps, start=8) == [None] * 4


def test_a_span_may_begin_behind_all_that_was_seen() -> None:
    """Then it has no file yet."""
    moves = Moves()
    moved(moves, edit("a"), edit("b"))
    moves.restart(2)
    assert moved(moves, edit("b"), edit("a"), edit("c"), start=2) == [None, None, move(3, "b", "c")]


def test_the_newest_files_are_known() -> None:
    """With one more than there may be the oldest is forgotten: to go there is no way back."""
    oldest, second, *others = (f"f{n}" for n in range(MOST_FILES + 1))
    moves = Moves()
    assert not any(moved(moves, *map(read, [oldest, second, *others])))
    newest = others[-1]
    assert not any(moved(moves, edit(newest), read(second), read(oldest), edit(newest), start=600))
    assert moved(moves, read(oldest), read("g"), start=700) == [None, move(700, newest, "g")]


def lookups(count: int, tool: str = "get_order") -> list[Step]:
    """As many different look-ups of one thing."""
    return [called(tool, {"id": n}, "paid") for n in range(count)]


def used(exploring: Exploring, *steps: Step, start: int = 0) -> Use | None:
    """The use that the last turn makes."""
    found = [exploring.observe(turn(n, "", step)) for n, step in enumerate(steps, start)]
    assert not any(found[:-1])
    return found[-1]


CANCEL = called("update_order", {"id": 1}, "done")


def test_the_newest_lookups_and_readings_stay() -> None:
    """Readings of files are counted apart from look-ups of services."""
    files = [read(f"{n}.py") for n in range(KEPT_READS + 2)]
    use = used(Exploring(), *files, *lookups(6), CANCEL)
    assert use == Use(
        used="update_order", lookups=6, turns=(9, 10, 11, 2, 3, 4, 5), older=frozenset({6, 7, 8})
    )


def test_a_span_forgets_what_was_looked_up_before() -> None:
    """Look-ups and readings alike."""
    exploring = Exploring()
    assert used(exploring, read("a.py"), *lookups(3)) is None
    exploring.restart(4)
    assert used(exploring, CANCEL, start=4) is None
    use = used(exploring, *lookups(3), CANCEL, start=5)
    assert use == Use(used="update_order", lookups=3, turns=(5, 6, 7), older=frozenset())


def test_a_span_that_begins_with_a_change_is_used_already() -> None:
    """What is looked up after it is no exploring; behind it, it is again."""
    files = [read(f"{n}.py") for n in range(3)]
    exploring = Exploring()
    assert used(exploring, edit("a.py")) is None
    exploring.restart(0)
    assert used(exploring, *files, edit("b.py"), start=1) is None
    exploring.restart(5)
    assert used(exploring, *files, edit("c.py"), start=5) is not None


def test_lookups_are_counted_up_to_a_bound() -> None:
    """One that was made before is known beyond it."""
    steps = lookups(MOST_LOOKUPS + 5)
    use = used(Exploring(), *steps, steps[MOST_LOOKUPS - 1], CANCEL)
    assert use is not None
    assert use.lookups == MOST_LOOKUPS
    assert MOST_LOOKUPS + 5 in use.turns


@pytest.mark.parametrize(
    ("others", "is_known"), [(MOST_FAMILIES - 1, True), (MOST_FAMILIES, False)]
)
def test_the_newest_families_are_known(others: int, is_known: bool) -> None:  # noqa: FBT001 - a row's expectation
    """The oldest goes first."""
    files = [read(f"dir/file{n}.py") for n in range(others)]
    use = used(Exploring(), *lookups(3), *files, CANCEL)
    assert (use is not None) == is_known


@pytest.mark.parametrize(
    ("step", "families"),
    [
        pytest.param(read("src/a.py"), ("src/a.py",), id="a file read"),
        pytest.param(edit("src/a.py"), ("src/a.py",), id="a file changed"),
        pytest.param(shell("grep -n total src/a.py"), ("src/a.py",), id="a file searched, not the pattern"),
        pytest.param(called("get_order", {"id": 1}, ""), ("order",), id="a thing looked up"),
        pytest.param(called("get_orders", {"id": 1}, ""), ("order",), id="some of them"),
    ],
)  # fmt: skip  # a row a step
def test_what_a_step_is_about(step: Step, families: tuple[str, ...]) -> None:
    """Its files, else what its tool's name says."""
    assert families_of(step) == families


@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("get_reservation_details", ("reserv", "detail")),
        ("cancelReservation", ("reserv",)),
        ("find_it", ()),
        ("list_pr", ()),
        ("list_bus", ("bus",)),
        ("run", ()),
        ("get_the_user", ("user",)),
    ],
)
def test_what_a_name_names(name: str, families: tuple[str, ...]) -> None:
    """Things of three letters or more; not what is done, nor small words."""
    assert families_of_name(name) == families
