"""The suite itself: each run is the same, and what is in the repository belongs there."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.repository import git, strays

CONSTANTS = "\n".join(f"C{n} = {n}{n}{n}00{n}, 'constant {n}'" for n in range(100))


def drawn() -> list[object]:
    """The examples of a property."""
    seen: list[object] = []

    @settings(max_examples=200)
    @given(st.lists(st.integers() | st.text()))
    def see(value: list[object]) -> None:
        seen.append(value)

    see()
    return seen


def test_examples_are_the_same_whatever_was_imported_before(tmp_path: Path) -> None:
    """So no test depends on those that ran in its process before it."""
    first = drawn()
    path = tmp_path / "more.py"
    path.write_text(CONSTANTS)
    spec = importlib.util.spec_from_file_location("more", path)
    assert spec
    assert spec.loader
    with pytest.MonkeyPatch.context() as patch:
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, "more", module)
        spec.loader.exec_module(module)
        assert drawn() == first


ROOT = Path(__file__).parents[1]
STRAYS = {
    "a conflict": (
        "docs/page.md",
        b"# A page\n<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> main\n",
    ),
    "the end of a conflict": ("docs/page.md", b"# A page\n\n>>>>>>> main\n"),
    "its middle": ("tests/test_a.py", b'"""A."""\n=======\n'),
    "a database": (".cache/42/cache.db", b"SQLite format 3\0"),
    "a database among the code": ("autogen_context/cache/cache.db", b"SQLite format 3\0"),
    "compiled code": ("autogen_context/__pycache__/errors.cpython-311.pyc", b"\0"),
    "a copy": ("autogen_context/errors.py.orig", b""),
    "a log": ("run.jsonl", b"{}\n"),
    "a file at the top": ("try.py", b"print(1)\n"),
    "bytes": ("tests/data.json", b"\0\0"),
    "much": ("docs/page.md", b"word " * 60_000),
}


def repository(root: Path, files: dict[str, bytes]) -> Path:
    """A new one, whose files are tracked."""
    for name, content in files.items():
        root.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        root.joinpath(name).write_bytes(content)
    git(root, "init", "-q")
    git(root, "add", "--force", ".")
    return root


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no clone")
def test_what_is_in_the_repository_belongs_there() -> None:
    """No mark of a conflict, no cache, no database, nothing that a run left behind."""
    assert list(strays(ROOT)) == []


@pytest.mark.parametrize(("name", "content"), STRAYS.values(), ids=STRAYS)
def test_what_does_not_belong_there_is_found(tmp_path: Path, name: str, content: bytes) -> None:
    """Also where git is told to ignore such files."""
    good = {"docs/index.md": b"# Title\n\nA =======\n", ".gitignore": b".cache/\n__pycache__/\n"}
    assert list(strays(repository(tmp_path / "clean", good))) == []
    found = strays(repository(tmp_path / "stray", {**good, name: content}))
    assert [line.split(": ")[0] for line in found] == [name]
