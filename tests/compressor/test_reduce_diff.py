"""Diffs: files, hunks and changed lines stay before what is around them."""

import pytest
from hypothesis import given

from autogen_context.compressor.arrival.diff import Diff
from support.reducing import ROOMS, assert_promises, room_of, texts_of

LINES = (
    "diff --git a/src/alpha.py b/src/alpha.py",
    "index 84b4f31ec7..03641f93b0 100644",
    "--- a/src/alpha.py",
    "+++ b/src/alpha.py",
    "@@ -48,7 +48,7 @@ class Alpha:",
    "     def total(self):",
    "-        return 1",
    "+        return 2",
    "\\ No newline at end of file",
    "Binary files a/x.png and b/x.png differ",
)


def diff(path: str, changed: int, around: int = 30) -> str:
    """A file of one hunk."""
    context = [f" context {i} of {path}" for i in range(around)]
    change = [f"{sign}changed {i} of {path}" for i in range(changed) for sign in "-+"]
    head = [f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}", "@@ -1,60 +1,60 @@"]
    return "\n".join([*head, *context, *change, *context])


@given(texts_of(LINES), ROOMS)
def test_promises(text: str, tokens: int) -> None:
    """Never larger, within the room, the same again, for diffs and for what is broken."""
    assert_promises(Diff(), text, tokens)
    assert Diff().tighten(text) is text


def test_changes_stay_and_context_goes() -> None:
    """Every file, every hunk and every change, when there is room for these."""
    text = "\n".join(diff(f"src/{name}.py", 2) for name in ("alpha", "beta", "gamma"))
    short = Diff().cut(text, room_of(450))
    assert [line for line in short.split("\n") if line[:1] in "-+@d"] == [
        line for line in text.split("\n") if line[:1] in "-+@d"
    ]
    assert short.count("lines …]") >= 3


@pytest.mark.parametrize("path", ["package-lock.json", "poetry.lock", "a/dist/app.js", "x_pb2.py"])
def test_what_is_generated_goes_first(path: str) -> None:
    """Its name stays, its lines go before the context of other files."""
    short = Diff().cut(f"{diff(path, 90)}\n{diff('src/alpha.py', 9)}", room_of(700))
    assert f"diff --git a/{path} b/{path}" in short
    assert f"changed 40 of {path}" not in short
    assert "+changed 8 of src/alpha.py" in short
    assert " context 29 of src/alpha.py" in short


def test_what_is_asked_for_stays() -> None:
    """Of many changes those that have the word."""
    text = diff("src/alpha.py", 200).replace("changed 77 of", "changed total_cents of")
    assert text.count("total_cents") == 2
    assert Diff().cut(text, room_of(150, "total_cents")).count("total_cents") == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(diff("a.py", 3), True, id="git"),
        pytest.param("commit 1234\nAuthor: A\n\n    Say so\n\n" + diff("a.py", 3), True, id="show"),
        pytest.param("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y", True, id="diff -u"),
        pytest.param("- one\n- two\n+ three\n" * 5, False, id="a list"),
        pytest.param("--- old\n+++ new\n- one\n+ two", False, id="no hunk"),
        pytest.param("--- a\n+++ b\n" + "prose goes on\n" * 50, False, id="prose"),
    ],
)
def test_recognition(text: str, told: bool) -> None:  # noqa: FBT001 - a row of the table
    """A hunk, a file, and most lines of such."""
    assert Diff().recognises(text) == told
