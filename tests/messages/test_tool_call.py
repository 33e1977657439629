"""What a tool call does, from the tool's name, the call's arguments, and the command line among them."""

# ruff: noqa: SIM905 - words in a line

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.message import ToolCall
from autogen_context.messages.shell import (
    MOST_COMMANDS,
    READ_CHARS,
    STRENGTH,
    action_of_command,
    commands_of,
)
from autogen_context.messages.tool_action import (
    KEY_CHARS,
    LAST_LINE,
    ToolAction,
    ToolKind,
    View,
    patched_files,
    path_of,
)
from autogen_context.messages.tool_call import (
    MOST_FILES,
    NAME_WORDS,
    NamedKind,
    ToolKinds,
    action_of,
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
PATHS = st.lists(st.sampled_from(["a", "b.py", "src", "..", ".", "x y"]), min_size=1, max_size=5)
PIECES = st.sampled_from(
    [
        *"cat sed -n 1,5p grep find -exec git diff python -c bash xargs sudo cd tee timeout A=1 a.py b/../c.py $X".split(),
        *"' \" \\ | || && ; & > >> <<EOF << < 2>&1 ( ) EOF # { } é \x00 / - -- `".split(), "\n", " ",
    ]
)  # fmt: skip  # words, and what is none
COMMAND_LINES = st.lists(PIECES, max_size=40).map(" ".join) | st.lists(PIECES).map("".join)
SIMPLE: dict[ToolKind, list[str]] = {
    "read": ["cat a.py", "head -5 a.py", "git diff", "nl -ba a.py | sed -n 3,9p"],
    "search": ["grep -rn x .", "ls -R", "find . -name x", "rg x | head"],
    "write": ["sed -i s/a/b/ a.py", "rm a.py", "echo x > a.py", "cat <<E > a.py\npytest\nE\n"],
    "run": ["python a.py", "make", "curl http://x", "python - <<E\nx\nE\n"],
    "test": ["pytest -q", "npm run test", "python -m unittest", "go test ./..."],
    "other": ["echo x", "sleep 1", "# cat a.py", "export A=1", "test -f x"],
}
STEPS = st.sampled_from([(kind, line) for kind, lines in SIMPLE.items() for line in lines])
VIEWS = st.builds(
    View,
    path=st.sampled_from("ab"),
    lines=st.none() | st.tuples(st.integers(1, 9), st.integers(1, 9)),
    part=st.sampled_from(["", "p"]),
)


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


@given(st.sampled_from(sorted(NAME_WORDS)), st.text("abcdefghij", min_size=1, max_size=4))
def test_parts_of_words_say_nothing(word: str, more: str) -> None:
    """``already`` reads nothing, and ``latest`` tests nothing: trap of matching inside words."""
    for name in (f"zq{word}{more}q", f"{more}q_zq{word}"):
        if not NAME_WORDS.keys() & set(name.split("_")):
            assert action_of(call(name, {})).kind == "other"


@given(NAMES, st.sampled_from(STRENGTH), ARGUMENTS)
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


@given(PATHS.map("/".join), st.permutations(["a", "b", "c", "d"]))
def test_the_same_is_written_in_one_way(path: str, keys: list[str]) -> None:
    """A path, from the shell or by a tool; arguments, in any order, and what is given as ``null``."""
    named = action_of(call("read_file", {"path": path})).views
    shell = action_of(call("bash", {"command": f"cat '{path}'"})).views
    assert named == shell == (View(path=path_of(path)),)
    assert path_of(path_of(path)) == path_of(path)
    given_, in_order = {key: key for key in keys}, {key: key for key in sorted(keys)}
    asked = action_of(call("get_x", given_))
    assert asked == action_of(call("get_x", in_order))
    assert asked.key == action_of(call("get_x", given_ | {"e": None})).key
    assert asked.key != action_of(call("get_y", given_)).key


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("read", "read_file ViewCode mcp__fs__read_text_file get_test_results terminal_read_output"),
        ("write", "write_file TodoWrite search_and_replace str_replace cancel_order"),
        ("search", "file_search FindClass list_directory GrepTool list_commands"),
        ("run", "run_python executeIpythonCell shell"),
        ("test", "run_tests pytest"),
        ("other", "think already_breadth_latest _"),
    ],
)  # fmt: skip
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
        ({"path": "x", "view_range": [3, 9]}, (3, 9)),
        ({"path": "x", "view_range": [3, -1]}, (3, LAST_LINE)),
        ({"path": "x", "start_line": 3, "end_line": 9}, (3, 9)),
        ({"path": "x", "offset": 3, "limit": 7}, (3, 9)),
        ({"path": "x", "limit": 9}, (1, 9)),
        ({"files": [{"file_path": "x", "start_line": 3, "end_line": 9}]}, (3, 9)),
        ({"path": "x", "start_line": "3"}, None),
    ],
)
def test_lines(arguments: object, lines: tuple[int, int] | None) -> None:
    """Of a partial read, in each of the usual ways to ask for it."""
    assert action_of(call("read_file", arguments)).views == (View(path="x", lines=lines),)


def test_parts_writes_and_patches() -> None:
    """A read of symbols is not whole; a file written anew is known, an edited one not; a patch writes its files."""
    (shown,) = action_of(call("view_code", {"path": "x", "span_ids": ["f"]})).views
    assert not shown.whole
    anew = action_of(call("write_file", {"path": "x", "content": "a"}))
    edit = action_of(call("edit_file", {"path": "x", "old_str": "a", "text": "b"}))
    assert (anew.views, anew.writes) == ((View(path="x"),), ("x",))
    assert (edit.views, edit.writes) == ((), ("x",))
    text = "*** Begin Patch\n*** Update File: a.py\n*** Add File: b/c.py\n"
    diff = "--- a/a.py\n+++ b/a.py\n--- b/b/c.py\n+++ b/b/c.py\t2026\n--- a/gone\n+++ /dev/null\n"
    assert patched_files(text) == patched_files(diff) == ("a.py", "b/c.py")
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


@given(VIEWS, VIEWS, VIEWS)
def test_views_cover_each_other_as_sets_of_lines_do(a: View, b: View, c: View) -> None:
    """Each covers itself; what covers a view covers what that covers; a part never covers the whole."""
    assert a.covers(a)
    assert not (a.covers(b) and b.covers(c)) or a.covers(c)
    assert not (a.covers(b) and b.whole) or a.whole
    assert not a.covers(b) or a.path == b.path


@given(COMMAND_LINES)
def test_any_command_line_goes(line: str) -> None:
    """Whatever is in it; the same line does the same, and what it names are paths as they are written here."""
    action = action_of_command(line)
    assert action == action_of_command(line)
    for path in (*action.writes, *(shown.path for shown in action.views)):
        assert path
        assert "/./" not in path
        assert not path.startswith("./")


@given(st.lists(STEPS, min_size=1, max_size=6), st.sampled_from([" && ", "; ", "\n", " || "]))
def test_the_strongest_of_several_commands_counts(
    steps: list[tuple[ToolKind, str]], between: str
) -> None:
    """And all files that they show and change."""
    between = "\n" if any("<<" in line or "#" in line for _, line in steps) else between
    action = action_of_command(between.join(line for _, line in steps))
    alone = [action_of_command(line) for _, line in steps]
    assert action.kind == min((kind for kind, _ in steps), key=STRENGTH.index)
    assert set(action.views) == {shown for each in alone for shown in each.views}
    assert set(action.writes) == {path for each in alone for path in each.writes}


@given(STEPS, st.sampled_from(["work", "/srv/app"]))
def test_a_folder_goes_before_the_paths(step: tuple[ToolKind, str], folder: str) -> None:
    """``cd`` says where a path is, and changes nothing else."""
    here, there = action_of_command(step[1]), action_of_command(f"cd {folder} && {step[1]}")
    assert there.kind == here.kind
    assert there.writes == tuple(f"{folder}/{path}" for path in here.writes)
    assert [shown.path for shown in there.views] == [f"{folder}/{s.path}" for s in here.views]
    assert there.key == (f"{folder}$ {here.key}" if here.key else "")


@pytest.mark.parametrize("unit", ["'", '"', "\\", '"\\', "cat <<A\n", "<<A ", "a|", "sudo ", "A=1 ", "bash -c '", "(", "\n", "a" * 50, "#"])  # fmt: skip  # hostile lines
def test_long_lines_are_bounded(unit: str) -> None:
    """A megabyte is read to its limit, and there is an end to its commands; a key stays short."""
    commands = commands_of(unit * (1_000_000 // len(unit)))
    assert len(commands) <= MOST_COMMANDS
    assert sum(len(word) for command in commands for word in command.words) <= READ_CHARS
    assert len(action_of_command(f"python -c '{'x' * 9_000}'").key) <= 2 * KEY_CHARS


@pytest.mark.parametrize(
    ("line", "path", "lines", "part"),
    [
        ("cat ./a//b/../'x y'", "a/x y", None, ""),
        ("cat < x", "x", None, ""),
        ("sed -n 1,5p x", "x", (1, 5), ""),
        ("sed -n '10,$p' x", "x", (10, LAST_LINE), ""),
        ("sed -n '/a/,/b/p' x", "x", None, "sed -n /a/,/b/p"),
        ("head -n 30 x", "x", (1, 30), ""),
        ("nl -ba x | sed -n '80,110p'", "x", (80, 110), ""),
        ("cat x | head -20 | tail -5", "x", (1, 20), "tail -5"),
        ("sudo -u bob timeout 60 cat x", "x", None, ""),
        ("bash -lc 'cd a && cat x'", "a/x", None, ""),
        ("cat x | timeout 5", "x", None, ""),
        ("echo a > x", "x", None, ""),
        ("cat $F *.py", "", None, ""),
        ("echo a >> x", "", None, ""),
        ("sort y > x", "", None, ""),
    ],
)
def test_what_a_line_shows(line: str, path: str, lines: tuple[int, int] | None, part: str) -> None:
    """Which file, and which part of it."""
    shown = (View(path=path, lines=lines, part=part),) if path else ()
    assert action_of_command(line).views == shown


@pytest.mark.parametrize(
    ("line", "kind", "subjects"),
    [
        ("cat x | grep -A 20 'def f'", "search", "def f,x"),
        ("grep -e a -e b f", "search", "a,b,f"),
        ("find /w -iname p", "search", "/w,p"),
        ("find . -exec sed -i s/a/b/ {} +", "write", ".,sed,s/a/b/,{},+"),
        ("ls | xargs -n 1 sed -i s/a/b/ x", "write", "x"),
        ("perl -pi -e 's/a/b/' x", "write", "x"),
        ("sed -i '' 's/a/b/' x", "write", "x"),
        ("git checkout -- x", "write", "x"),
        ("echo hi | tee x", "write", "x"),
        ("apply_patch <<'E'\n*** Update File: a/x\nE", "write", "a/x"),
        ("cd p && npm run test:unit 2>&1 | tail -3", "test", "run,test:unit"),
        ("python manage.py test app", "test", "test,app"),
        ("python3 -X utf8 test_x.py", "test", "test_x.py"),
        ("uv run pytest a.py -v -k x", "test", "a.py,x"),
        ("python -c 'import test'", "run", "python"),
        ("echo 1 | python3 c.py", "run", "c.py"),
        ("git add -A && git diff --cached", "read", "git diff"),
    ],
)
def test_what_a_line_does(line: str, kind: ToolKind, subjects: str) -> None:
    """The kind, and what it is about."""
    action = action_of_command(line)
    assert (action.kind, ",".join(action.subjects)) == (kind, subjects)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pytest a.py", "pytest a.py -v --tb=short", True),
        ("pytest a.py -k x", "pytest a.py -k y", False),
        ("make 2>&1 | tail -3", "make | tail -20", True),
        ("python a.py", "A=1 python a.py", True),
        ("python - <<E\n1\nE", "python - <<E\n2\nE", False),
        ("echo 1 | python a.py", "echo 2 | python a.py", False),
        ("grep x a | head", "grep x a | wc -l", False),
        (f"python -c '{'x' * 300}1'", f"python -c '{'x' * 300}2'", False),
    ],
)
def test_what_is_asked_again(one: str, other: str, *, same: bool) -> None:
    """The key is the same where the same is asked, however much of the answer is shown."""
    assert (action_of_command(one).key == action_of_command(other).key) is same


@pytest.mark.parametrize("target", ["> x 2>&1", "2> x", "&> x", ">> x", "| head > x", "2>/dev/null", "> $F"])  # fmt: skip  # a row
def test_where_output_goes(target: str) -> None:
    """Into files; other streams, devices and what a variable names are none; a here-document is no command."""
    assert action_of_command(f"python a.py {target}").writes == (("x",) if "x" in target else ())
    document = "cat <<'EOF' > a.py # don't\nrm b.py\n\"'$|;\nEOF\n"
    views, key = (View(path="a.py"),), "python c.py"
    done = ToolAction(kind="run", subjects=("c.py",), views=views, writes=("a.py",), key=key)
    assert action_of_command(f"{document}{key}") == done
