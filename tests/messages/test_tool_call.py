"""What a tool call does, from the tool's name and the call's arguments."""

# ruff: noqa: SIM905 - words in a line

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import ToolCall
from autogen_context.messages.tool_action import LAST_LINE, ToolKind, View, patched_files, path_of
from autogen_context.messages.tool_call import (
    FIRST_LINE_KEYS,
    LAST_LINE_KEYS,
    LENGTH_KEYS,
    MOST_FILES,
    NAME_WORDS,
    RANGE_KEYS,
    REMEMBERED_CALLS,
    SHORT_CHARS,
    NamedKind,
    ToolKinds,
    action_of,
    known_action,
    read_action,
)

KEYS = st.sampled_from(
    "path file_path files filePath command cmd query pattern x view_range start_line endLine offset limit lines span_ids "
    "content old_str".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 500) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(KEYS, JSON, max_size=6).map(json.dumps) | st.text(max_size=60)
NAMES = (
    st.sampled_from(["bash", "read_file", "edit", "str_replace_editor", "search", "x"]) | st.text()
)
PATHS = st.lists(
    st.sampled_from(["a", "b.py", "src", "..", ".", "x y"]), min_size=1, max_size=5
).map("/".join)


def call(name: str, arguments: object) -> ToolCall:
    """A call; what is no text becomes JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(id="1", name=name, arguments=text)


@given(NAMES, ARGUMENTS, st.lists(st.sampled_from(["read", "write", "test"]), max_size=4))
def test_an_action_is_that_of_the_call_and_the_kinds(
    name: str, arguments: str, kinds: list[NamedKind]
) -> None:
    """Whoever asked before, with other kinds or under another id: it is what reading the call gives."""
    for known in (ToolKinds(), *(ToolKinds(named={name: kind}) for kind in kinds)):
        asked = call(name, arguments)
        action = action_of(asked, known)
        assert action == read_action(asked, known)
        assert all((*action.writes, *(shown.path for shown in action.views)))
        assert action_of(replace(asked, id="2"), known) == read_action(asked, known)


def test_long_calls_are_not_remembered() -> None:
    """What is remembered is bounded in calls and in characters."""
    known_action.cache_clear()
    for n in range(REMEMBERED_CALLS + 9):
        assert action_of(call("read_file", {"path": f"{n}.py"})).kind == "read"
        assert action_of(call("write_file", {"text": "x" * SHORT_CHARS})).kind == "write"
    told = known_action.cache_info()
    assert (told.currsize, told.misses) == (REMEMBERED_CALLS, REMEMBERED_CALLS + 9)


@pytest.mark.parametrize(
    "key", [*FIRST_LINE_KEYS, *LAST_LINE_KEYS, *LENGTH_KEYS, *RANGE_KEYS, "other"]
)
def test_lines_go_by_each_of_their_names(key: str) -> None:
    """One alone limits what is shown; an argument of another name does not."""
    given_ = [2, 4] if key in RANGE_KEYS else 4
    (view,) = action_of(call("read_file", {"path": "a.py", key: given_})).views
    assert view.whole == (key == "other")


@given(st.sampled_from(sorted(NAME_WORDS)), st.text("abcdefghij", min_size=1, max_size=4))
def test_parts_of_words_say_nothing(word: str, more: str) -> None:
    """``already`` reads nothing, and ``latest`` tests nothing: trap of matching inside words."""
    for name in (f"zq{word}{more}q", f"{more}q_zq{word}"):
        if not NAME_WORDS.keys() & set(name.split("_")):
            assert action_of(call(name, {})).kind == "other"


@given(NAMES, st.sampled_from(["read", "write", "search", "run", "test", "other"]), ARGUMENTS)
def test_the_user_decides(name: str, kind: ToolKind, arguments: str) -> None:
    """What is said of a tool goes before what its name, its command line or an editor's command says, in any case."""
    kinds = ToolKinds(named={name.upper(): kind, name: kind, "sandbox": "shell"})
    assert action_of(call(name, arguments), kinds).kind == kind
    for line in ("rm a.py", "view"):
        said = ToolKinds(named={"bash": kind})
        assert action_of(call("bash", {"command": line}), said).kind == kind
    assert action_of(call("Sandbox", {"cmd": "pytest a.py"}), kinds).kind == "test"
    assert action_of(call("Sandbox", "cat a.py"), kinds).views == (View(path="a.py"),)


def test_a_kind_that_there_is_not() -> None:
    """It is refused by its name, with those that there are."""
    kinds: dict[str, NamedKind] = {"mine": "reed"}  # type: ignore[dict-item]  # pyright: ignore[reportAssignmentType] - the point
    with pytest.raises(ValueError, match=r"'mine' has kind 'reed'; give one of .*read"):
        ToolKinds(named=kinds)


@given(PATHS)
def test_a_path_is_written_in_one_way(path: str) -> None:
    """However a call writes it: from the shell or by a tool."""
    named = action_of(call("read_file", {"path": path})).views
    shell = action_of(call("bash", {"command": f"cat '{path}'"})).views
    assert named == shell == (View(path=path_of(path)),)
    assert path_of(path_of(path)) == path_of(path)


@given(st.permutations(["a", "b", "c", "d"]))
def test_the_order_of_arguments_says_nothing(keys: list[str]) -> None:
    """Neither does what is given as ``null``."""
    given_, in_order = {key: key for key in keys}, {key: key for key in sorted(keys)}
    assert action_of(call("get_x", given_)) == action_of(call("get_x", in_order))
    assert (
        action_of(call("get_x", given_)).key == action_of(call("get_x", given_ | {"e": None})).key
    )
    assert action_of(call("get_x", given_)).key != action_of(call("get_y", given_)).key


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            "read",
            "read_file ViewCode mcp__filesystem__read_text_file get_test_results terminal_read_output",
        ),
        ("write", "write_file TodoWrite search_and_replace str_replace cancel_order"),
        ("search", "file_search FindClass list_directory GrepTool list_commands"),
        ("run", "run_python executeIpythonCell shell"),
        ("test", "run_tests pytest"),
        ("other", "think already_breadth_latest _"),
    ],
)
def test_names(kind: ToolKind, names: str) -> None:
    """The words of a name say what its tool does."""
    assert {action_of(call(name, {"x": 1})).kind for name in names.split()} == {kind}


def test_an_editor_does_what_its_command_says() -> None:
    """Its name does not."""
    for command in ("view", "create", "str_replace", "insert", "undo_edit"):
        arguments = {"command": command, "path": "/a/b.py", "old_str": None}
        action = action_of(call("str_replace_based_edit_tool", arguments))
        assert action.kind == ("read" if command == "view" else "write")
        assert action.subjects == ("/a/b.py",)


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ({"path": "x"}, None),
        ({"path": "x", "view_range": [3, 9]}, (3, 9)),
        ({"path": "x", "view_range": [3, -1]}, (3, LAST_LINE)),
        ({"path": "x", "view_range": None}, None),
        ({"path": "x", "start_line": 3, "end_line": 9}, (3, 9)),
        ({"path": "x", "startLine": 3}, (3, LAST_LINE)),
        ({"path": "x", "offset": 3, "limit": 7}, (3, 9)),
        ({"path": "x", "limit": 9}, (1, 9)),
        ({"files": [{"file_path": "x", "start_line": 3, "end_line": 9}]}, (3, 9)),
        ({"path": "x", "start_line": "3"}, None),
    ],
)
def test_lines(arguments: object, lines: tuple[int, int] | None) -> None:
    """Of a partial read, in each of the usual ways to ask for it."""
    assert action_of(call("read_file", arguments)).views == (View(path="x", lines=lines),)


def test_a_part_and_what_is_known_of_a_written_file() -> None:
    """A read of symbols is no whole read; of a file written anew the content is known, of an edited one it is not."""
    (shown,) = action_of(call("view_code", {"path": "x", "span_ids": ["f"]})).views
    assert not shown.whole
    anew = action_of(call("write_file", {"path": "x", "content": "a"}))
    edit = action_of(call("edit_file", {"path": "x", "old_str": "a", "text": "b"}))
    assert (anew.views, anew.writes) == ((View(path="x"),), ("x",))
    assert (edit.views, edit.writes) == ((), ("x",))


def test_patches() -> None:
    """The files of a patch are those that it changes."""
    text = "*** Begin Patch\n*** Update File: a.py\n*** Add File: b/c.py\n"
    diff = "--- a/a.py\n+++ b/a.py\n--- b/c.py\n+++ b/c.py\t2026\n--- a/gone\n+++ /dev/null\n"
    assert (
        patched_files(text)
        == patched_files(diff.replace("b/c.py", "b/b/c.py"))
        == ("a.py", "b/c.py")
    )
    assert action_of(call("apply_patch", {"input": text})).writes == ("a.py", "b/c.py")


@pytest.mark.parametrize(
    "arguments",
    ["x" * 10**6, "[" * 10**6, json.dumps({"command": "a " * 500_000}), json.dumps({"path": "x" * 10**6})],
    ids=["no json", "deep", "command", "path"],
)  # fmt: skip  # hostile arguments
def test_large_arguments(arguments: str) -> None:
    """They are read to a limit."""
    for name in ("bash", "read_file", "x" * 10**6):
        action = action_of(call(name, arguments))
        assert len(action.key) <= 300
        assert sum(map(len, action.subjects)) <= 10**6
    many = {"files": [{"path": str(i)} for i in range(10_000)]}
    assert len(action_of(call("read_files", many)).views) == MOST_FILES


LINES = st.none() | st.tuples(st.integers(1, 9), st.integers(1, 9))
VIEWS = st.builds(View, path=st.sampled_from("ab"), lines=LINES, part=st.sampled_from(["", "p"]))


@given(VIEWS, VIEWS, VIEWS)
def test_views_cover_each_other_as_sets_of_lines_do(a: View, b: View, c: View) -> None:
    """Each covers itself; what covers a view covers what that covers; a part never covers the whole."""
    assert a.covers(a)
    assert not (a.covers(b) and b.covers(c)) or a.covers(c)
    assert not (a.covers(b) and b.whole) or a.whole
    assert not a.covers(b) or a.path == b.path
