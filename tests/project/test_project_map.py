"""Ranks by use, and the map that is drawn of them."""

import random
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.project.map import CodeOutline, Focus, Map, overview_of, ranked
from autogen_context.project.symbols import Symbols, symbols_of
from support.tree import trees

NOTHING = Focus()


def read(files: Mapping[str, str]) -> dict[str, Symbols]:
    """The symbols of Python files."""
    return {
        name: symbols_of(text, "python") for name, text in files.items() if name.endswith(".py")
    }


def drawn(files: Mapping[str, str], room: int, focus: Focus = NOTHING) -> Map:
    """The map of some files, in characters."""
    symbols = read(files)
    outline = CodeOutline(files, symbols, ranked(symbols, focus))
    return outline.map(room_tokens=room, count=len)


SHARED = {
    "core.py": "def used_by_all(): ...\n\n\ndef used_by_none(): ...\n",
    **{f"part_{n}.py": "from core import used_by_all\n" for n in range(4)},
    "alone.py": "def alone(): ...\n",
}


@settings(max_examples=15)
@given(trees(), st.randoms())
def test_scores_do_not_depend_on_the_order(files: dict[str, str], chance: random.Random) -> None:
    """To the last bit; they add up to no more than 1."""
    symbols = read(files)
    shuffled = list(symbols.items())
    chance.shuffle(shuffled)
    one, two = ranked(symbols, NOTHING), ranked(dict(shuffled), NOTHING)
    assert one == two
    assert sum(one.values()) < 1 + 1e-9


USED: dict[str, tuple[dict[str, str], tuple[str, str], tuple[str, str]]] = {
    "more": (SHARED, ("core.py", "used_by_all"), ("core.py", "used_by_none")),
    "a file": (SHARED, ("core.py", "used_by_all"), ("alone.py", "alone")),
    "by an import that names the file": (
        {
            "a/one.py": "def make(): ...\n",
            "a/two.py": "def make(): ...\n",
            "main.py": "from a.two import make\n",
        },
        ("a/two.py", "make"),
        ("a/one.py", "make"),
    ),
    "as a member whose owner is known": (
        {
            "store.py": "class Store:\n    def get(self): ...\n    def put(self): ...\n",
            "knows.py": "from store import Store\nx.get()\n",
            "other.py": "{}.put()\n",
        },
        ("store.py", "get"),
        ("store.py", "put"),
    ),
    "by code, not by tests": (
        {
            "core.py": "def by_code(): ...\n\n\ndef by_tests(): ...\n",
            "main.py": "from core import by_code\n",
            "tests/test_core.py": "from core import by_tests\n",
        },
        ("core.py", "by_code"),
        ("core.py", "by_tests"),
    ),
}


@pytest.mark.parametrize(("files", "more", "less"), USED.values(), ids=USED)
def test_what_is_used_more_ranks_higher(
    files: dict[str, str], more: tuple[str, str], less: tuple[str, str]
) -> None:
    """By the file that defines it, as far as that can be told."""
    places = ranked(read(files), NOTHING)
    assert places[more] > 1.2 * places[less]


def test_what_is_in_play_counts_more() -> None:
    """A file and a name of the task each raise what they mean."""
    symbols, alone = read(SHARED), ("alone.py", "alone")
    plain = ranked(symbols, NOTHING)[alone]
    named = frozenset({"alone"})
    for focus in (Focus(frozenset({"alone.py"})), Focus(words=named)):
        assert ranked(symbols, focus)[alone] > 2 * plain


@settings(max_examples=15)
@given(trees(), st.integers(0, 800))
def test_a_map_fits_its_room(files: dict[str, str], room: int) -> None:
    """With the ends of its lines, and no file stands twice; all definitions stand in the order of their file."""
    found = drawn(files, room)
    assert sum(len(f"{line}\n") for line in found.lines) == found.tokens <= max(room, 0)
    lines, symbols = [line.strip() for line in found.lines], read(files)
    for name in found.files:
        heads = [each.head for each in symbols[name].definitions]
        assert [line for line in lines if line in heads] == [
            line for line in heads if line in lines
        ]
    assert len(set(found.files)) == len(found.files)


def test_a_method_stands_under_its_class() -> None:
    """Though the class is not used itself; what follows the class does not."""
    files = {
        "store.py": "class Store:\n    def fetch_row(self): ...\n",
        "main.py": "import store\nstore.x.fetch_row()\n",
    }
    whole = ("store.py", "  class Store", "    def fetch_row(self): ...")
    shown = [drawn(files, room).lines[-3:] for room in range(120)]
    assert whole in shown
    code = {"a.py": "class A:\n    def m(self): ...\n\n\ndef last(): ...\n"}
    outline = CodeOutline((), read(code), {("a.py", "last"): 1.0})
    assert outline.map(room_tokens=24, count=len).lines == ("a.py", "  def last(): ...")
    assert all(whole[2] not in lines or lines == whole for lines in shown)


def test_a_map_is_of_many_folders_and_files() -> None:
    """The overview leaves room for definitions, and a file with two of them for the best of another."""
    files = {f"folder_{n}/f.py": "def f(): ...\n" for n in range(9)}
    tight = drawn(files, 120)
    assert (tight.lines[0], len(tight.files)) == ("./ has 9 files: .py", 2)
    symbols = read({"a.py": "def f(): ...\ndef g(): ...\n", "b.py": "def k(): ...\n"})
    scores = {("a.py", "f"): 1.0, ("a.py", "g"): 0.95, ("b.py", "k"): 0.9}
    found = CodeOutline((), symbols, scores).map(room_tokens=52, count=len)
    assert found.lines == ("a.py", "  def f(): ...", "b.py", "  def k(): ...")


def test_the_overview_counts_the_largest_folders() -> None:
    """With what they hold."""
    names = [f"big/part{k}/f{n}.py" for k in range(3) for n in range(9)] + [
        "docs/deep/a.md",
        "x.toml",
    ]
    assert overview_of(names) == [
        "./ has 29 files: .py, .md, .toml",
        "big/ has 27 files: .py",
        "big/part0/ has 9 files: .py",
        "big/part1/ has 9 files: .py",
        "big/part2/ has 9 files: .py",
        "docs/ has 1 file: .md",
        "docs/deep/ has 1 file: .md",
    ]
