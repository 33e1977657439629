"""Ranks by use, and the map that is drawn of them."""

import random
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from autogen_context.project.map import Map, mapped, overview_of
from autogen_context.project.rank import Focus, ranked
from autogen_context.project.symbols import LANGUAGES, Symbols, symbols_of
from support.tree import trees

NOTHING = Focus()
PYTHON = LANGUAGES[".py"]


def read(files: Mapping[str, str]) -> dict[str, Symbols]:
    """The symbols of Python files."""
    return {name: symbols_of(text, PYTHON) for name, text in files.items() if name.endswith(".py")}


def drawn(files: Mapping[str, str], room: int, focus: Focus = NOTHING) -> Map:
    """The map of some files, in characters."""
    symbols = read(files)
    return mapped(files, symbols, ranked(symbols, focus), room_tokens=room, count=len)


SHARED = {
    "core.py": "def used_by_all(): ...\n\n\ndef used_by_none(): ...\n",
    **{f"part_{n}.py": "from core import used_by_all\n" for n in range(4)},
    "alone.py": "def alone(): ...\n",
}


@given(trees(), st.randoms())
def test_scores_do_not_depend_on_the_order(files: dict[str, str], chance: random.Random) -> None:
    """To the last bit; those of files add up to 1, those of definitions to no more."""
    symbols = read(files)
    shuffled = list(symbols.items())
    chance.shuffle(shuffled)
    one, two = ranked(symbols, NOTHING), ranked(dict(shuffled), NOTHING)
    assert one == two
    assert not symbols or abs(sum(one.files.values()) - 1) < 1e-9
    assert sum(one.places.values()) < 1 + 1e-9


def test_what_is_used_more_ranks_higher() -> None:
    """Of a file its used definition, of files the used one."""
    found = ranked(read(SHARED), NOTHING)
    assert found.places["core.py", "used_by_all"] > 3 * found.places["core.py", "used_by_none"]
    assert found.files["core.py"] > 3 * found.files["alone.py"]
    assert found.users["core.py"] == tuple(f"part_{n}.py" for n in range(4))


def test_an_import_names_its_file() -> None:
    """Of two definitions of a name the one of the module that it was imported from is used."""
    files = {
        "a/one.py": "def make(): ...\n",
        "a/two.py": "def make(): ...\n",
        "main.py": "from a.two import make\n",
    }
    found = ranked(read(files), NOTHING)
    assert found.places["a/two.py", "make"] > 2 * found.places["a/one.py", "make"]


def test_a_member_counts_where_its_owner_is_known() -> None:
    """``.get`` of anything is no use of a method ``get`` of a class that is not imported."""
    files = {
        "store.py": "class Store:\n    def get(self): ...\n    def put(self): ...\n",
        "knows.py": "from store import Store\nx.get()\n",
        "other.py": "{}.put()\n",
    }
    found = ranked(read(files), NOTHING)
    assert found.places["store.py", "get"] > found.places["store.py", "put"]
    assert "other.py" not in found.users["store.py"]


def test_what_is_in_play_counts_more() -> None:
    """A file, a name and a topic of the task each raise what they mean."""
    symbols = read(SHARED)
    plain = ranked(symbols, NOTHING).files["alone.py"]
    for focus in (
        Focus(files=frozenset({"alone.py"})),
        Focus(words=frozenset({"alone"})),
        Focus(topics=frozenset({"alone"})),
    ):
        assert ranked(symbols, focus).files["alone.py"] > 2 * plain


def test_tests_vote_less_than_code() -> None:
    """What only tests use ranks below what code uses."""
    files = {
        "core.py": "def by_code(): ...\n\n\ndef by_tests(): ...\n",
        "main.py": "from core import by_code\n",
        "tests/test_core.py": "from core import by_tests\n",
    }
    found = ranked(read(files), NOTHING)
    assert found.places["core.py", "by_code"] > found.places["core.py", "by_tests"]


@given(trees(), st.integers(0, 800))
def test_a_map_fits_its_room(files: dict[str, str], room: int) -> None:
    """With the ends of its lines, and no file stands twice; all definitions stand in the order of their file."""
    found = drawn(files, room)
    assert sum(len(f"{line}\n") for line in found.lines()) <= max(room, 0)
    assert found.tokens <= room
    for name, lines in found.shown.items():
        heads = ["  " * each.depth + each.head for each in read(files)[name].definitions]
        assert [line for line in heads if line in lines] == list(lines)
        assert not lines[0].startswith(" ")


def test_an_edit_changes_the_lines_of_its_file_alone() -> None:
    """Where there is room for all, a definition more is a line more, and no line elsewhere moves."""
    before = list(drawn(SHARED, 10_000).lines())
    text = SHARED["core.py"] + "\n\ndef added(): ...\n"
    after = list(drawn({**SHARED, "core.py": text}, 10_000).lines())
    assert [line for line in after if line != "  def added(): ..."] == before


def test_a_method_stands_under_its_class() -> None:
    """Though the class is not used itself."""
    files = {
        "store.py": "class Store:\n    def fetch_row(self): ...\n",
        "main.py": "import store\nstore.x.fetch_row()\n",
    }
    whole = ("class Store", "  def fetch_row(self): ...")
    shown = [drawn(files, room).shown.get("store.py", whole) for room in range(120)]
    assert {lines[0] for lines in shown} == {"class Store"}
    assert whole in shown


def test_the_overview_counts_and_divides_large_folders() -> None:
    """Folders with what they hold; small ones are not divided."""
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
    ]
