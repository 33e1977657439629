"""What is known of a tree, brought up to date piece by piece."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.project.index import MOST_PARSED, Index, Kept
from support.tree import Told, grown

FOLDERS = ["", "a/", "a/b/", "a/b/c/", "d/"]
NAMES = ["one.py", "two.py", "three.md"]
PLACES = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
TEXTS = st.sampled_from(["def first(): ...\n", "class Second: ...\n", "x = 1\n", ""])
WRITES = st.tuples(st.just("write"), PLACES, TEXTS)
THERE = st.sampled_from(["a", "a/b", "d", "one.py", "a/two.py"])
EDITS = st.lists(
    st.one_of(WRITES, WRITES, st.tuples(st.sampled_from(["remove", "move"]), THERE, TEXTS)),
    max_size=6,
)


def index_of(root: Path, watch: Told | None = None, most_files: int = 5_000) -> Index:
    """A new index."""
    return Index(root, cache=Kept(), watch=watch, most_files=most_files)


def edit(root: Path, kind: str, name: str, text: str) -> set[Path]:
    """Do something to a tree; what a watch would tell of it: the topmost new folder stands for what is below."""
    path = root / name
    if kind == "write":
        new = [each for each in path.relative_to(root).parents if not (root / each).exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return {root / new[-1] if new else path}
    if not path.exists():
        return set()
    if kind == "move":
        target = root / "moved"
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True)
        path.rename(target)
        return {path, target}
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return {path}


@settings(max_examples=30)
@given(EDITS, st.lists(EDITS, max_size=4))
def test_piece_by_piece_is_as_all_at_once(
    first: list[tuple[str, str, str]], bursts: list[list[tuple[str, str, str]]]
) -> None:
    """After any edits, files, symbols and documents are those that a new index finds."""

    async def check(root: Path) -> None:
        watch = Told()
        index = index_of(root, watch)
        for kind, name, text in first:
            edit(root, kind, name, text)
        await index.update()
        for burst in bursts:
            watch.tell(*{path for each in burst for path in edit(root, *each)})
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


async def test_a_tree_that_is_too_large_for_grammars_is_read_by_words(tmp_path: Path) -> None:
    """The same definitions, but for what only a grammar tells."""
    text = "def f(x: int) -> int:\n    def inner(y): ...\n    return x\n"
    files = {f"m{n}.py": text for n in range(MOST_PARSED + 1)}
    index = index_of(grown(tmp_path / "tree", files).resolve())
    await index.update()
    assert index.symbols["m7.py"].definitions[0].head == "def f(x: int) -> int"
    assert len({id(each.definitions) for each in index.symbols.values()}) > 1
