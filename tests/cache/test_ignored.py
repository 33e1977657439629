"""What of a folder is not looked at."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autogen_context.cache.files import TOOL_FOLDERS, GitIgnore, levels

FOLDERS = st.sampled_from(["a", "b", "foo", "build"])
LINES = """
* a /a b/ /foo/ foo/* a/** **/b foo/**/b /* */ a/b ? !a !*/ !*.py !foo !build/ !/foo !a/b !b/x.log !foo/** !/b/
*.log *.py build [ab] [!a] [a-f]oo [^/]oo [[:alpha:]] []a] a*b a** **a /** ** **/* /**/b **/ foo/*/ b/**/a *[!b]
\\a \\!a #a [ a[ a\\ ! /
"""
PATTERNS = st.sampled_from(LINES.split()) | st.sampled_from(["x.* ", "x.log\\ ", ""])
RULES = st.lists(PATTERNS, min_size=1, max_size=4).map("\n".join)
TREES = st.dictionaries(st.lists(FOLDERS, max_size=4).map("/".join), st.none() | RULES, max_size=6)


def made(root: Path, tree: dict[str, str | None]) -> None:
    """Folders with six files each, and some with a file of rules."""
    for name, rules in tree.items():
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        if rules is not None:
            (folder / ".gitignore").write_text(rules)
    for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
        for name in ("a", "b", "foo", "build", "x.log", "b.py"):
            if not (folder / name).exists():
                (folder / name).touch()


def found(root: Path) -> list[str]:
    """What is not left out, below the root, level by level."""
    return [os.path.relpath(e.path, root) for each in levels(str(root)) for e in each.files]


@settings(max_examples=15)
@given(TREES)
@example({"": "x.log", "a": "!x.log"})
@example({"a": "foo/*", "a/foo": "!a"})
def test_what_is_left_out_is_what_git_leaves_out(tree: dict[str, str | None]) -> None:
    """For any rules in any folders, negated, anchored and nested, broken ones included."""
    with TemporaryDirectory() as name:
        root = Path(name)
        made(root, tree)
        git = shutil.which("git")
        assert git is not None, "this law is held against git itself: install it"
        subprocess.run([git, "init", "-q", name], check=True)  # noqa: S603 - a folder of ours
        listing = [git, "-C", name, "ls-files", "--others", "--exclude-standard", "-z"]
        said = subprocess.run(listing, capture_output=True, text=True, check=True)  # noqa: S603 - likewise
        assert sorted(found(root)) == sorted(filter(None, said.stdout.split("\0")))


RULES_ALONE: dict[str, tuple[str, str, bool]] = {
    "a name with a line end": ("*.log", "x\ny.log", True),
    "a line end after the name": ("*.log", "x.log\n", False),
    "an escaped blank at the end": ("a\\ ", "a ", True),
    "blanks at the end": ("a   ", "a", True),
    "lines that end in two characters": ("*.log\r\na", "x.log", True),
    "bytes that are no text": ("[!a-c]", "\udcff", True),
    "rules that are no text": ("\udcff*", "\udcffx", True),
    "a class of characters": ("[[:digit:]]", "7", True),
    "an escaped bracket": ("[a\\]]", "]", True),
    "a set of one": ("a-[z]", "a-z", True),
    "a set that ends in a dash": ("[a-]", "-", True),
}


@pytest.mark.parametrize(("rules", "name", "left_out"), RULES_ALONE.values(), ids=RULES_ALONE)
def test_a_rule_applies(tmp_path: Path, rules: str, name: str, *, left_out: bool) -> None:
    """What random trees seldom have."""
    (tmp_path / ".gitignore").write_bytes(os.fsencode(rules))
    (tmp_path / name).touch()
    assert (name not in found(tmp_path)) == left_out


@pytest.mark.parametrize(
    ("rule", "name"),
    [("*a" * 40 + "*b", "a" * 250), ("**/a/" * 30 + "c/b", "a/" * 400 + "b"), ("[z-a]", "z")],
    ids=["stars", "folders", "a range that is none"],
)
def test_no_line_takes_long(rule: str, name: str) -> None:
    """Who wrote it may mean harm: tried one by one, the ways to match would outlast the machine."""
    assert GitIgnore([rule, "*.log"]).verdict(name, is_folder=False) is None


def test_what_tools_fill_is_left_out(tmp_path: Path) -> None:
    """Unless a rule takes it back in; a file of that name is a file."""
    name = min(TOOL_FOLDERS)
    (tmp_path / name / "deep").mkdir(parents=True)
    (tmp_path / name / "deep" / "file").touch()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / name).touch()
    assert found(tmp_path) == [f"sub/{name}"]
    (tmp_path / ".gitignore").write_text(f"!{name}/")
    assert found(tmp_path) == [".gitignore", f"sub/{name}", f"{name}/deep/file"]


def test_git_and_links_are_left_out_whatever_rules_say(tmp_path: Path) -> None:
    """Git's folder, and the file that stands for it in another work tree; as in git, rules behind a link are none."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    for name in (".git/HEAD", "sub/.git", "a"):
        (tmp_path / name).touch()
    (tmp_path / "rules").write_text("a\n!.git")
    (tmp_path / ".gitignore").symlink_to(tmp_path / "rules")
    assert found(tmp_path) == [".gitignore", "a", "rules"]
    (tmp_path / ".gitignore").unlink()
    (tmp_path / "rules").rename(tmp_path / ".gitignore")
    assert found(tmp_path) == [".gitignore"]


def test_the_order_is_that_of_the_names_level_by_level(tmp_path: Path) -> None:
    """So that a limit leaves out what lies deepest; no link is gone into."""
    for name in ("b/x", "a/deep/y", "a/z", "c", "B"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to(tmp_path)
    assert found(tmp_path) == ["B", "c", "link", "a/z", "b/x", "a/deep/y"]
