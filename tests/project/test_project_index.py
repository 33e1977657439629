"""What is known of a tree, brought up to date piece by piece."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.cache.cache import ContextCache
from autogen_context.cache.fingerprint import COARSE_TICK_NS
from autogen_context.project.index import Index
from support.tree import grown
from support.waiting import tick

FOLDERS = ["", "a/", "a/b/", "docs/"]
NAMES = ["one.py", "two.py", "README.md", ".gitignore"]
PLACES = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
TEXTS = st.sampled_from(["def first(): ...\n", "class Second: ...\n", "one.py\n", "*\n", None])
EDITS = st.lists(st.tuples(PLACES, TEXTS), max_size=6)


def index_of(root: Path, most_files: int = 5_000) -> Index:
    """A new index."""
    return Index(root, cache=ContextCache(), most_files=most_files)


@pytest.mark.parametrize("tick_ns", [0, COARSE_TICK_NS], ids=["old files", "young files"])
@settings(max_examples=15)
@given(EDITS, st.lists(EDITS, max_size=3))
def test_piece_by_piece_is_as_all_at_once(
    tick_ns: int, first: list[tuple[str, str | None]], bursts: list[list[tuple[str, str | None]]]
) -> None:
    """After any edits, of rules as well, files, symbols and documents are those that a new index finds (14)."""

    def check(root: Path) -> None:
        index = index_of(root)
        for edits in (first, *bursts):
            tick()
            for name, text in edits:
                if text is not None:
                    grown(root, {name: text})
                else:
                    (root / name).unlink(missing_ok=True)
            tick()
            index.update()
            fresh = index_of(root)
            fresh.update()
            assert index.symbols == fresh.symbols
            assert index.documents == fresh.documents
            assert index.files == fresh.files

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("autogen_context.cache.fingerprint.TICK_NS", tick_ns)
        check(Path(folder).resolve())


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are old as soon as the clock has ticked."""
    monkeypatch.setattr("autogen_context.cache.fingerprint.TICK_NS", 0)


@pytest.mark.usefixtures("settled")
def test_rules_that_change_are_followed(tmp_path: Path) -> None:
    """Also those of a ``.gitignore`` that hides itself, in a tree that is old; the limit holds for what comes later."""
    text = "def f(): ...\n"
    root = grown(tmp_path / "tree", {"a.py": text, "deep/er/b.py": text}).resolve()
    index = index_of(root, most_files=5)
    for rules, found in ((".gitignore\n", ["a.py", "deep/er/b.py"]), ("b.py\n.git*\n", ["a.py"])):
        grown(root, {".gitignore": rules})
        tick()
        index.update()
        assert list(index.symbols) == found
    grown(root, {f"new/{n}.py": "x = 1\n" for n in range(9)})
    index.update()
    assert len(index.files) == 5


@pytest.mark.usefixtures("settled")
def test_a_page_that_becomes_another_document_is_read_as_that(tmp_path: Path) -> None:
    """Where one that was more important goes."""
    names = [*("AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "GEMINI.md"), "HACKING.md", "STYLE.md"]
    root = grown(tmp_path / "tree", dict.fromkeys([*names, "docs/development.md"], "It is so.\n"))
    index = index_of(root.resolve())
    tick()
    index.update()
    before = index.version
    (root / "STYLE.md").touch()  # which changes nothing
    for last in ("STYLE.md", "docs/development.md"):
        index.update()
        assert (index.version == before) == (last == "STYLE.md")
        assert index.documents["memory_patterns"][-1].name == last
        (root / "CLAUDE.md").unlink(missing_ok=True)


def test_a_folder_that_becomes_a_link_is_empty(tmp_path: Path) -> None:
    """Not a name of what it leads to is seen, nor where it is the root."""
    root = grown(tmp_path / "tree", {"inner/a.py": "def a(): ...\n"}).resolve()
    other = grown(tmp_path / "other", {"a.py": "", "b.py": ""})
    for folder in (root / "inner", root):
        index = index_of(root)
        index.update()
        shutil.rmtree(folder)
        folder.symlink_to(other)
        index.update()
        assert not index.files
        assert not index.symbols
