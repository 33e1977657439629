"""What is known of a tree, brought up to date piece by piece."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.project.index import Index, Kept
from support.tree import grown

FOLDERS = ["", "a/", "a/b/", "docs/"]
NAMES = ["one.py", "two.py", "README.md"]
PLACES = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
TEXTS = st.sampled_from(["def first(): ...\n", "class Second: ...\n", "x = 1\n", "", None])
EDITS = st.lists(st.tuples(PLACES, TEXTS), max_size=6)


def index_of(root: Path, most_files: int = 5_000) -> Index:
    """A new index."""
    return Index(root, cache=Kept(), most_files=most_files)


@settings(max_examples=12)
@given(EDITS, st.lists(EDITS, max_size=3))
def test_piece_by_piece_is_as_all_at_once(
    first: list[tuple[str, str | None]], bursts: list[list[tuple[str, str | None]]]
) -> None:
    """After any edits, files, symbols and documents are those that a new index finds."""

    async def check(root: Path) -> None:
        index = index_of(root)
        for edits in (first, *bursts):
            for name, text in edits:
                if text is not None:
                    grown(root, {name: text})
                else:
                    (root / name).unlink(missing_ok=True)
            await index.update()
            fresh = index_of(root)
            await fresh.update()
            assert index.symbols == fresh.symbols
            assert index.papers == fresh.papers
            assert index.files.keys() == fresh.files.keys()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder).resolve()))


async def test_rules_that_change_are_followed(tmp_path: Path) -> None:
    """A ``.gitignore`` that is told of has everything looked at anew; the limit holds for what comes later."""
    text = "def f(): ...\n"
    root = grown(tmp_path / "tree", {"a.py": text, "deep/er/b.py": text}).resolve()
    index = index_of(root, most_files=5)
    await index.update()
    grown(root, {".gitignore": "b.py\n"})
    await index.update()
    assert list(index.symbols) == ["a.py"]
    grown(root, {f"new/{n}.py": "x = 1\n" for n in range(9)})
    await index.update()
    assert len(index.files) == 5


async def test_a_folder_that_becomes_a_link_is_empty(tmp_path: Path) -> None:
    """Not a name of what it leads to is seen, nor where it is the root."""
    root = grown(tmp_path / "tree", {"inner/a.py": "def a(): ...\n"}).resolve()
    other = grown(tmp_path / "other", {"a.py": "", "b.py": ""})
    for folder in (root / "inner", root):
        index = index_of(root)
        await index.update()
        shutil.rmtree(folder)
        folder.symlink_to(other)
        await index.update()
        assert not index.files
        assert not index.symbols
