"""What a command line does: its programs, its files, and what was asked."""

# ruff: noqa: SIM905 - words in a line

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.messages.shell import (
    MOST_COMMANDS,
    READ_CHARS,
    STRENGTH,
    action_of_command,
    commands_of,
)
from autogen_context.messages.tool_action import KEY_CHARS, LAST_LINE, ToolAction, ToolKind, View

PIECES = st.sampled_from(
    [
        *"cat sed -n 1,5p grep find -exec git diff python -c bash xargs sudo cd tee timeout A=1 a.py b/../c.py $X".split(),
        *"' \" \\ | || && ; & > >> <<EOF << < 2>&1 ( ) EOF # { } é \x00 / - -- `".split(), "\n", " ",
    ]
)  # fmt: skip  # words, and what is none
LINES = st.lists(PIECES, max_size=40).map(" ".join) | st.lists(PIECES, max_size=40).map("".join)
SIMPLE: dict[ToolKind, list[str]] = {
    "read": ["cat a.py", "head -5 a.py", "git diff", "nl -ba a.py | sed -n 3,9p"],
    "search": ["grep -rn x .", "ls -R", "find . -name x", "rg x | head"],
    "write": ["sed -i s/a/b/ a.py", "rm a.py", "echo x > a.py", "cat <<E > a.py\npytest\nE\n"],
    "run": ["python a.py", "make", "curl http://x", "python - <<E\nx\nE\n"],
    "test": ["pytest -q", "npm run test", "python -m unittest", "go test ./..."],
    "other": ["echo x", "sleep 1", "# cat a.py", "export A=1", "test -f x"],
}
STEPS = st.sampled_from([(kind, line) for kind, lines in SIMPLE.items() for line in lines])


@given(LINES)
def test_any_line_goes(line: str) -> None:
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
        ("cat x", "x", None, ""),
        ("cat ./a//b/../'x y'", "a/x y", None, ""),
        ("cat < x", "x", None, ""),
        ("sed -n 1,5p x", "x", (1, 5), ""),
        ("sed -n '7p' x", "x", (7, 7), ""),
        ("sed -n '10,$p' x", "x", (10, LAST_LINE), ""),
        ("sed -n '/a/,/b/p' x", "x", None, "sed -n /a/,/b/p"),
        ("sed 1,5p x", "x", None, "sed 1,5p"),
        ("head -n 30 x", "x", (1, 30), ""),
        ("head --lines=30 x", "x", (1, 30), ""),
        ("head x", "x", (1, 10), ""),
        ("tail -30 x", "x", None, "tail -30"),
        ("nl -ba x | sed -n '80,110p'", "x", (80, 110), ""),
        ("cat x | head -20 | tail -5", "x", (1, 20), "tail -5"),
        ("cat x | head -20 | head -5", "x", (1, 20), "head -5"),
        ("wc -l x", "x", None, "wc -l"),
        ("sudo -u bob timeout 60 cat x", "x", None, ""),
        ("bash -lc 'cd a && cat x'", "a/x", None, ""),
        ("echo a > x", "x", None, ""),
        ("cat $F *.py", "", None, ""),
        ("echo a >> x", "", None, ""),
        ("sort y > x", "", None, ""),
    ],
)
def test_what_is_shown(line: str, path: str, lines: tuple[int, int] | None, part: str) -> None:
    """Which file, and which part of it."""
    shown = (View(path=path, lines=lines, part=part),) if path else ()
    assert action_of_command(line).views == shown


@pytest.mark.parametrize(
    ("line", "kind", "subjects"),
    [
        ("cat x | grep -A 20 'def f'", "search", "def f,x"),
        ("rg -n 'x y' src", "search", "x y,src"),
        ("grep -e a -e b f", "search", "a,b,f"),
        ("find /w -type f -exec grep -l p {} \\;", "search", "p,/w"),
        ("find . -name x -delete", "write", "x"),
        ("ls | xargs -n 1 sed -i s/a/b/ x", "write", "x"),
        ("perl -pi -e 's/a/b/' x", "write", "x"),
        ("sed -i '' 's/a/b/' x", "write", "x"),
        ("git checkout -- x", "write", "x"),
        ("cp a x", "write", "x"),
        ("echo hi | tee x", "write", "x"),
        ("apply_patch <<'E'\n*** Update File: a/x\nE", "write", "a/x"),
        ("cd p && npm run test:unit 2>&1 | tail -3", "test", "run,test:unit"),
        ("python manage.py test app", "test", "test,app"),
        ("python3 -X utf8 test_x.py", "test", "test_x.py"),
        ("bin/test a.py", "test", "a.py"),
        ("uv run pytest a.py -v -k x", "test", "a.py,x"),
        ("PYTHONPATH=. python3 r.py", "run", "r.py"),
        ("python -c 'import test'", "run", "python"),
        ("echo 1 | python3 c.py", "run", "c.py"),
        ("python latest.py", "run", "latest.py"),
        ("git add -A && git diff --cached", "read", "git diff"),
    ],
)
def test_what_it_does(line: str, kind: ToolKind, subjects: str) -> None:
    """The kind, and what it is about."""
    action = action_of_command(line)
    assert (action.kind, ",".join(action.subjects)) == (kind, subjects)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pytest a.py", "pytest a.py -v --tb=short", True),
        ("pytest a.py", "pytest b.py", False),
        ("pytest a.py -k x", "pytest a.py -k y", False),
        ("make 2>&1 | tail -3", "make | tail -20", True),
        ("python a.py", "A=1 python a.py", True),
        ("python a.py", "python a.py --fast", False),
        ("python - <<E\n1\nE", "python - <<E\n2\nE", False),
        ("echo 1 | python a.py", "echo 2 | python a.py", False),
        ("grep x a | head", "grep x a | wc -l", False),
        (f"python -c '{'x' * 300}1'", f"python -c '{'x' * 300}2'", False),
    ],
)
def test_what_is_asked_again(one: str, other: str, same: bool) -> None:  # noqa: FBT001 - a column of the table
    """The key is the same where the same is asked, however much of the answer is shown."""
    assert (action_of_command(one).key == action_of_command(other).key) is same


@pytest.mark.parametrize("target", ["> x 2>&1", "2> x", "&> x", ">> x", "| head > x", "2>/dev/null", "> $F"])  # fmt: skip  # a row
def test_where_output_goes(target: str) -> None:
    """Into files; other streams, devices and what a variable names are none."""
    assert action_of_command(f"python a.py {target}").writes == (("x",) if "x" in target else ())


def test_a_document_is_no_command() -> None:
    """What is written into a file by a here-document is not run, and what follows it is."""
    line = "cat <<'EOF' > a.py # don't\nrm b.py\n\"'$|;\nEOF\npython c.py"
    assert action_of_command(line) == ToolAction(
        kind="run",
        subjects=("c.py",),
        views=(View(path="a.py"),),
        writes=("a.py",),
        key="python c.py",
    )
