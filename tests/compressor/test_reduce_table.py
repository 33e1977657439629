"""Tables lose their padding and nothing else, and keep their header and the rows that matter when they are cut."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.table import Table
from support.reducing import exact, room_of
from support.structured import assert_cuts, assert_tightens
from support.texts import HOSTILE, TEXTS

REDUCER = Table()

CELLS = st.sampled_from(
    [
        "1",
        "2.50",
        "a",
        "two words",
        "two  blanks",
        "",
        "-",
        "x`y`",
        r"a\|b",
        "検索",
        "--",
        "a,b",
        '"q, r"',
    ]
)
WORDS = st.sampled_from(["1", "2.50", "a", "long-word", "-", "x:y", "検索", "12%", "/dev/sda1"])
LISTED = "-rw-r--r--  1 root  staff    9336 Apr  3 08:32 my   file.txt"


@st.composite
def grids(draw: st.DrawFn, cells: st.SearchStrategy[str]) -> list[list[str]]:
    """A header and some rows of as many cells."""
    size = draw(st.integers(2, 5))
    header = [
        f"{name}{i}"
        for i, name in enumerate(
            draw(st.lists(st.sampled_from(["NAME", "Size"]), min_size=size, max_size=size))
        )
    ]
    rows = draw(st.lists(st.lists(cells, min_size=size, max_size=size), min_size=2, max_size=6))
    return [header, *rows]


def widths(grid: list[list[str]]) -> list[int]:
    """How wide each column is."""
    return [max(map(len, column)) for column in zip(*grid, strict=True)]


@st.composite
def drawn(draw: st.DrawFn) -> str:
    """A table as Markdown, psql or mysql have it."""
    grid = draw(grids(CELLS))
    wide = widths(grid)
    style = draw(st.sampled_from(["markdown", "psql", "mysql"]))
    outer, joint = ("", "+") if style == "psql" else ("|", "+" if style == "mysql" else "|")
    rule = joint.join("-" * (width + 2) for width in wide)
    rule = f"{outer and joint}{rule}{outer and joint}"
    right = draw(st.booleans())
    rows = [
        outer
        + "|".join(
            f" {cell.rjust(width) if right else cell.ljust(width)} "
            for cell, width in zip(row, wide, strict=True)
        )
        + outer
        for row in grid
    ]
    lines = [rows[0], rule, *rows[1:]]
    return "\n".join([rule, *lines, rule] if style == "mysql" else lines)


@st.composite
def aligned(draw: st.DrawFn) -> str:
    """Columns of words under their headings, each to the left or to the right; the last is as it comes."""
    grid = draw(grids(WORDS))
    rights = draw(st.lists(st.booleans(), min_size=len(grid[0]), max_size=len(grid[0])))
    gutter = " " * draw(st.integers(1, 3))
    last = draw(st.sampled_from(["", "  and   more", " x"]))
    rows = [
        gutter.join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths(grid), rights, strict=True)
        ).rstrip()
        for row in grid
    ]
    return "\n".join([rows[0], *(f"{row}{last}" for row in rows[1:])])


@st.composite
def separated(draw: st.DrawFn) -> str:
    """Values with commas or tabs between them."""
    delimiter = draw(st.sampled_from([",", "\t", ";"]))
    return "\n".join(delimiter.join(row) for row in draw(grids(CELLS)))


@st.composite
def broken(draw: st.DrawFn, texts: st.SearchStrategy[str]) -> str:
    """A table with something in it that does not belong there, or cut off."""
    text = draw(texts)
    at = draw(st.integers(0, len(text)))
    inside = draw(
        st.sampled_from(["", "\x00", "\n", "|", "\n\n", "\ud800", "\r\n", "    ", "---+---"])
    )
    return f"{text[:at]}{inside}{text[at:] if draw(st.booleans()) else ''}"


TABLES = st.one_of(drawn(), aligned(), separated())
ANY = st.one_of(TABLES, broken(TABLES), TEXTS)


def barred(text: str) -> list[list[str]]:
    """The cells of a table with bars, rules as their number of columns."""
    return [
        [str(len(line.split("+"))), *re.split("[|+]", line)[:0]]
        if not line.strip("-+| ") and "--" in line
        else [cell.strip() for cell in line.split("|")]
        for line in text.split("\n")
    ]


@given(drawn())
def test_cells_between_bars_are_the_same(text: str) -> None:
    """Only blanks beside bars go, and strokes of rules."""
    assert barred(REDUCER.tighten(text)) == barred(text)


@given(aligned())
def test_words_in_columns_are_the_same(text: str) -> None:
    """The same words in the same order; where columns were told by blanks, the last one is kept to the character."""
    tight = REDUCER.tighten(text)
    for line, narrow in zip(text.split("\n"), tight.split("\n"), strict=True):
        assert narrow.split() == line.split()
        if narrow != line:
            assert line.endswith(
                narrow.split(" ", len(text.split("\n", maxsplit=1)[0].split()) - 1)[-1]
            )


@given(ANY)
@example(LISTED)
@example("a  |\n--+--\n" * 3)
def test_any_text_is_tightened_once(text: str) -> None:
    """Broken or not, it becomes no longer, and is tight then."""
    assert_tightens(REDUCER, text)


@given(ANY, st.sampled_from(["", "a", "検索"]))
def test_any_text_is_cut_to_its_room(text: str, wanted: str) -> None:
    """Broken or not, it fits, and has not become larger."""
    assert_cuts(REDUCER, text, wanted)


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        pytest.param("|" * 300_000, id="bars"),
        pytest.param("a" + " " * 300_000 + "b", id="blanks"),
        pytest.param("|" + "-" * 300_000 + "x", id="no rule"),
        pytest.param("a,b,c\n" * 50_000, id="rows"),
        pytest.param("|--|\n" * 60_000, id="rules"),
        pytest.param("x" * 1_000_000, id="a line of a megabyte"),
    ],
)
def test_hostile_texts_are_cut(text: str) -> None:
    """Whatever comes, it fits in the end."""
    REDUCER.recognises(text)
    assert_tightens(REDUCER, text)
    assert exact(REDUCER.cut(text, room_of(60, "a"))) <= 60


PS = """\
USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root         1  0.0  0.1 168140 11172 ?        Ss   Apr30   0:04 /sbin/init  splash
root         2  0.0  0.0      0     0 ?        S    Apr30   0:00 [kthreadd]
www-data  1534 12.5  3.4 523420 70120 pts/0    Sl+  09:12   1:30 nginx: worker
"""
DF = """\
Filesystem     1K-blocks     Used Available Use% Mounted on
/dev/sda1       41152736 20576368  18462884  53% /
tmpfs            4005824        0   4005824   0% /dev/shm
"""
DOCKER = """\
CONTAINER ID   IMAGE     COMMAND                  STATUS         PORTS     NAMES
9f2b           nginx     "/docker-entrypoint.…"   Up 2 minutes   80/tcp    web
1c3d           redis     "docker-entrypoint.s…"   Up 3 hours               cache
"""
MARKDOWN = "| Name   | Count |\n|:-------|------:|\n| `a|b`  |     1 |\n| two    |   200 |\n"
PSQL = " id |  name  \n----+--------\n  1 | alice  \n 12 |        \n(2 rows)\n"
MYSQL = "+-----+-------+\n| id  | name  |\n+-----+-------+\n|   1 | alice |\n|  12 | NULL  |\n+-----+-------+\n"
CSV = "id,name,note\n" + "".join(f'{i},user-{i},"hello, {i}"\n' for i in range(400))


@pytest.mark.parametrize(
    ("text", "tight"),
    [
        pytest.param(DF, re.sub(" +", " ", DF), id="df"),
        pytest.param(DOCKER, DOCKER, id="a place is empty, so all stays"),
        pytest.param(
            MARKDOWN,
            "| Name | Count |\n|:---|---:|\n| `a|b` | 1 |\n| two | 200 |\n",
            id="markdown",
        ),
        pytest.param(
            "| a    | b |\n|------|---|\n| x \\|  y  | z |\n",
            "| a | b |\n|---|---|\n| x \\|  y  | z |\n",
            id="an escaped bar",
        ),
        pytest.param(PSQL, " id | name\n---+---\n 1 | alice\n 12 |\n(2 rows)\n", id="psql"),
        pytest.param(
            MYSQL,
            "+---+---+\n| id | name |\n+---+---+\n| 1 | alice |\n| 12 | NULL |\n+---+---+\n",
            id="mysql",
        ),
        pytest.param(
            f"total 12\n{LISTED}\n",
            "total 12\n-rw-r--r-- 1 root staff 9336 Apr 3 08:32 my   file.txt\n",
            id="ls -l",
        ),
        pytest.param(CSV, CSV, id="values with commas have no padding"),
    ],
)
def test_what_a_tight_table_looks_like(text: str, tight: str) -> None:
    """One blank where several padded a cell."""
    assert REDUCER.tighten(text) == tight
    assert exact(tight) <= exact(text)


def test_the_last_column_keeps_its_blanks() -> None:
    """What stands there may be anything."""
    tight = REDUCER.tighten(PS)
    assert "root 1 0.0 0.1 168140 11172 ? Ss Apr30 0:04 /sbin/init  splash\n" in tight
    assert "www-data 1534 12.5 3.4" in tight


@pytest.mark.parametrize("form", ["commas", "tabs", "markdown", "psql", "columns"])
def test_what_is_wanted_stays(form: str) -> None:
    """The header, the wanted row, the failed one, the first and the last; the gaps are counted."""
    rows = [("ID", "NAME", "NOTE"), *((str(i), f"user-{i}", "fine") for i in range(400))]
    rows[301] = ("300", "user-300", "TimeoutError")
    text = "\n".join(
        {
            "commas": ",".join(row),
            "tabs": "\t".join(row),
            "markdown": f"| {' | '.join(row)} |",
            "psql": " | ".join(cell.ljust(12) for cell in row),
            "columns": "   ".join(cell.ljust(12) for cell in row).rstrip(),
        }[form]
        for row in rows
    )
    if form in {"markdown", "psql"}:
        rule = "|---|---|---|" if form == "markdown" else "-------------+--------------+----"
        text = text.replace("\n", f"\n{rule}\n", 1)
    assert REDUCER.recognises(text)
    short = REDUCER.cut(text, room_of(250, "user-77"))
    for word in ("NAME", "user-0", "user-77", "TimeoutError", "user-399"):
        assert word in short
    gone = sum(int(count) for count in re.findall(r"\[… (\d+) rows? …\]", short))
    assert gone + short.count("user-") == 400


def test_the_header_stays_above_all() -> None:
    """Though wanted rows fill the room; and the first and the last row, though failed ones do."""
    rows = [
        f"{i},{'needle' if i % 5 == 2 else 'hay'},{'failed' if i % 7 == 3 else 'ok'}"
        for i in range(400)
    ]
    text = "\n".join(("$ cat x.csv", "id,what,state", *rows))
    wanted = REDUCER.cut(text, room_of(150, "needle"))
    assert "id,what,state" in wanted
    assert wanted.count("needle") >= 5
    failed = REDUCER.cut(text, room_of(150))
    assert failed.count("failed") >= 5
    assert "$ cat x.csv\nid,what,state\n" in failed
    assert failed.endswith(rows[-1])


CODE = "import os, sys, re\n\n\ndef f(a, b, c):\n    x = [1, 2, 3]\n    return a, b, c, x\n\n\nprint(f(1, 2, 3), 4, 5)\n"
LOG = "".join(f"2024-05-14 10:00:{i:02},123 INFO shop, worker, started {i}\n" for i in range(20))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(CSV, True, id="commas"),
        pytest.param("id\tname\tsize\n1\ta\t2\n2\tb\t3\n", True, id="tabs"),
        pytest.param(
            "$ cat a.csv\nid;name;size\n1;a;2\n2;b;3\n3;b;3\n", True, id="below a command"
        ),
        pytest.param(PS, True, id="ps"),
        pytest.param(DF, True, id="df"),
        pytest.param(MARKDOWN, True, id="markdown"),
        pytest.param(PSQL, True, id="psql"),
        pytest.param(MYSQL, True, id="mysql"),
        pytest.param(CODE * 3, False, id="code"),
        pytest.param(LOG, False, id="a log"),
        pytest.param("".join(f"{i:6}\tx = {i}\n" for i in range(40)), False, id="numbered lines"),
        pytest.param("cat a | grep b | sort\n" * 5, False, id="commands"),
        pytest.param("One, two, three.\nFour, five, six.\nOh, well, no.\n" * 3, False, id="prose"),
        pytest.param("[ True  True]\n[False  True]\n" * 4, False, id="a matrix"),
        pytest.param(
            "    a = 1   # one\n    b = 2   # two\n    c = 3   # three\n", False, id="comments"
        ),
        pytest.param("12,13,14\n15,16,17\n18,19,20\n", False, id="numbers without names"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_what_a_table_is(text: str, told: bool) -> None:  # noqa: FBT001 - a column of the table
    """Told by rules, headings, or as many delimiters on each line."""
    assert REDUCER.recognises(text) is told
