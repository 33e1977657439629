"""What changed in a burst, told once and in a bounded set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.cache.watch.debounce import Debouncer
from autogen_context.cache.watch.path import is_within, upwards

NAMES = st.sampled_from(["a", "b", "c", "ab"])
BELOW = st.lists(NAMES, max_size=5).map(lambda names: "".join(f"/{name}" for name in names))
TOPS = ("/one", "/two/deep", "/two/deep/a")
CHANGES = st.lists(
    st.tuples(st.sampled_from(TOPS), BELOW).map(lambda each: (each[0], each[0] + each[1])),
    max_size=60,
)


def debouncer(most_paths: int = 100) -> Debouncer:
    """With a tenth of a second of quiet, and a second at most."""
    return Debouncer(debounce_s=0.1, longest_s=1.0, most_paths=most_paths)


@given(CHANGES, st.integers(len(TOPS), 8))
def test_each_path_is_told_or_a_folder_above_it(
    changes: list[tuple[str, str]], most_paths: int
) -> None:
    """However few are held, and however often the set was full; nothing above a top stands for anything."""
    waiting = debouncer(most_paths)
    for top, path in changes:
        waiting.add(path, top=top, now=0)
        assert waiting.holds(path)
    told = waiting.take()
    assert len(told) <= most_paths
    assert all(any(is_within(path, each) for each in told) for _, path in changes)
    assert all(any(is_within(each, top) for top in TOPS) for each in told)


@given(CHANGES)
def test_with_room_each_path_is_told_once_and_by_its_name(changes: list[tuple[str, str]]) -> None:
    """Unless a folder above it is told as well; nothing is told that did not change."""
    waiting = debouncer()
    for top, path in changes:
        waiting.add(path, top=top, now=0)
    told = waiting.take()
    changed = {path for _, path in changes}
    assert set(told) <= changed
    assert told == sorted(set(told))
    assert all(path in told or not changed.isdisjoint([*upwards(path)][1:]) for path in changed)


@given(st.lists(st.floats(0, 0.5), min_size=1, max_size=40))
def test_it_is_told_when_quiet_or_when_it_lasts(pauses: list[float]) -> None:
    """A tenth of a second after the last change, and a second after the first one whatever comes."""
    waiting, now = debouncer(), 7.0
    first = now + pauses[0]
    for pause in pauses:
        now += pause
        waiting.add("/one/a", top="/one", now=now)
        assert waiting.due_at == pytest.approx(min(now + 0.1, first + 1.0))
    assert waiting.take() == ["/one/a"]
    assert waiting.due_at is None
    assert waiting.take() == []


def test_a_new_burst_has_its_own_time() -> None:
    """The first change after what was told begins it."""
    waiting = debouncer()
    waiting.add("/one/a", top="/one", now=0)
    waiting.take()
    waiting.add("/one/a", top="/one", now=50)
    assert waiting.due_at == pytest.approx(50.1)


def test_the_fullest_folder_goes_first() -> None:
    """A quiet folder keeps its names where another one is written full."""
    waiting = debouncer(10)
    quiet = ["/one/quiet/a", "/one/quiet/b"]
    for path in quiet:
        waiting.add(path, top="/one", now=0)
    for number in range(1_000):
        waiting.add(f"/one/rush/{number}", top="/one", now=0)
    assert waiting.take() == [*quiet, "/one/rush"]


def test_deep_paths_alone_in_their_folders_rise_together() -> None:
    """Where no folder has two, all of them go up a level until there are few enough."""
    waiting = debouncer(4)
    for number in range(5):
        waiting.add(f"/one/{number % 2}/{number}/x/y", top="/one", now=0)
    assert waiting.take() == ["/one/0", "/one/1"]
