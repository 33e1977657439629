"""What is known of a tree, brought up to date piece by piece."""

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.project.index import Builder, Kept
from autogen_context.project.index import Index
from support.tree import Told, grown

FOLDERS = ["", "a/", "a/b/", "a/b/c/", "d/"]
NAMES = ["one.py", "two.py", "three.md"]
PLACES = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
TEXTS = st.sampled_from(["def first(): ...\n", "class Second: ...\n", "x = 1\n", ""])
WRITES = st.tuples(st.just("write"), PLACES, TEXTS)
REMOVALS = st.tuples(
    st.just("remove"), st.sampled_from(["a", "a/b", "d", "one.py", "a/two.py"]), TEXTS
)
MOVES = st.tuples(st.just("move"), st.sampled_from(["a", "a/b", "d", "one.py"]), TEXTS)
EDITS = st.lists(st.one_of(WRITES, WRITES, REMOVALS, MOVES), max_size=6)


def index_of(root: Path) -> Index:
    """A new index."""
    return Index(root, cache=Kept(), watch=Told(), most_files=1_000)


def edit(root: Path, kind: str, name: str, text: str) -> set[Path]:
    """Do something to a tree; what a watch would tell of it."""
    path = root / name
    if kind == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return {path}
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


def told(root: Path, paths: set[Path]) -> set[Path]:
    """As a watch tells of new folders: the topmost of them stands for what is below."""
    return paths | {
        parent
        for path in paths
        for parent in path.parents
        if parent.is_relative_to(root) and parent != root
    }


@settings(max_examples=40)
@given(EDITS, st.lists(EDITS, max_size=4))
def test_piece_by_piece_is_as_all_at_once(
    first: list[tuple[str, str, str]], bursts: list[list[tuple[str, str, str]]]
) -> None:
    """After any edits, files and symbols are those that a new index finds."""

    async def check(root: Path) -> None:
        index = index_of(root)
        for kind, name, text in first:
            edit(root, kind, name, text)
        await index.update()
        for burst in bursts:
            heard: set[Path] = set()
            for kind, name, text in burst:
                heard |= edit(root, kind, name, text)
            index.hearing.hear(told(root, heard))
            await index.update()
            fresh = index_of(root)
            await fresh.update()
            assert index.symbols == fresh.symbols
            assert index.files.keys() == fresh.files.keys()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder).resolve()))


async def test_changes_are_those_since_the_mark(tmp_path: Path) -> None:
    """What was changed and changed back is no change."""
    root = grown(tmp_path / "tree", {"a.py": "def a(): ...\n", "b.py": "def b(): ...\n"}).resolve()
    index = Index(root, cache=Kept(), most_files=9)
    await index.update()
    index.mark()
    grown(root, {"a.py": "def other(): ...\n", "c.py": "def c(): ...\n"})
    (root / "b.py").unlink()
    await index.update()
    changed = index.changed()
    assert list(changed) == ["a.py", "b.py", "c.py"]
    assert [after is None for _, after in changed.values()] == [False, True, False]
    grown(root, {"a.py": "def a(): ...\n"})
    await index.update()
    assert list(index.changed()) == ["b.py", "c.py"]


async def test_rules_that_change_are_followed(tmp_path: Path) -> None:
    """A ``.gitignore`` that is told of has everything below looked at anew."""
    text = "def f(): ...\n"
    root = grown(tmp_path / "tree", {"a.py": text, "deep/er/b.py": text}).resolve()
    index = index_of(root)
    await index.update()
    grown(root, {".gitignore": "b.py\n"})
    index.hearing.hear([root / ".gitignore"])
    await index.update()
    assert list(index.symbols) == ["a.py"]


async def test_a_folder_that_becomes_a_link_is_empty(tmp_path: Path) -> None:
    """Not a name of what it leads to is seen, though a file in it is told of."""
    root = grown(tmp_path / "tree", {"inner/a.py": "def a(): ...\n"}).resolve()
    other = grown(tmp_path / "other", {"a.py": "", "b.py": ""})
    index = index_of(root)
    await index.update()
    shutil.rmtree(root / "inner")
    (root / "inner").symlink_to(other)
    index.hearing.hear([root / "inner" / "a.py"])
    await index.update()
    assert not index.files
    assert not index.symbols


async def test_the_limit_holds_for_what_comes_later(tmp_path: Path) -> None:
    """New folders get the room that is left."""
    root = grown(tmp_path / "tree", {f"{n}.py": "x = 1\n" for n in range(3)}).resolve()
    index = Index(root, cache=Kept(), watch=Told(), most_files=5)
    await index.update()
    grown(root, {f"new/{n}.py": "x = 1\n" for n in range(9)})
    index.hearing.hear([root / "new"])
    await index.update()
    assert len(index.files) == 5
    assert index.left_out == {"beyond the limit of files": 7}


async def test_a_tree_that_is_too_large_for_grammars_is_read_by_words(tmp_path: Path) -> None:
    """The same definitions, but for what only a grammar tells."""
    files = {f"m{n}.py": f"def f{n}(x: int) -> int:\n    return x\n" for n in range(2_010)}
    root = grown(tmp_path / "tree", files).resolve()
    cache = Remembering()
    index = Index(root, cache=cache, most_files=5_000)
    await index.update()
    assert {key.split("/")[1] for key in cache.keys} == {"python"}
    assert index.symbols["m7.py"].definitions[0].head == "def f7(x: int) -> int"


class Remembering(Kept):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []

    @override
    async def get_or_build(self, key: str, builder: Builder, *, depends_on: Sequence[Path]) -> str:
        """What is kept."""
        self.keys.append(key)
        return await super().get_or_build(key, builder, depends_on=depends_on)
