"""Each kind of content is told by itself, and what stays of it is what matters, within its room."""

import json
import re
from typing import TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autogen_context.compressor.code import CODE, LineSpan, holders, outline
from autogen_context.compressor.json_text import JSON, MOST_DEPTH, minified
from autogen_context.compressor.kinds import OUTPUT, REDUCERS, reducer_for, sentences_in, shown
from autogen_context.compressor.lines import Reducer, choose, shortened, wanted_in
from autogen_context.text.passage import Passage
from support.reducing import ROOMS, assert_promises, exact, room_of, texts_of
from support.results import BROKEN, ERROR, LONG, NEEDLE, numbered
from support.sources import HEADS, SOURCES
from support.texts import HOSTILE

TRACE = (
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\n' * 3 + "KeyError: 1"
)
DIFF = (
    "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    x\n+    y\n"
)
MODULE = "import re\n\n\ndef f(a):\n    if a:\n        return 1\n    return 2\n"
TEXTS = {
    "json": '{"orders": [{"id": 4711, "total": 7}, {"id": 4712, "total": 8}]}',
    "diff": DIFF,
    "trace": TRACE,
    "log": "2024-05-14 10:00:00 INFO ready\n" * 5,
    "hits": "src/a.py:3:import re\nsrc/b.py:7:import re\n",
    "table": "id,name,total\n" + "".join(f"{i},name {i},{i * 7}\n" for i in range(9)),
    "code": MODULE,
    "prose": "People like to talk about the weather when they meet. " * 9,
    "output": "Operations to perform:\n  Apply all migrations: admin\n  Applying admin... OK\n",
}
OTHERS = {
    "errors in a log": ("2024-05-14 10:00:00 ERROR a.py:3: KeyError\n" * 9, "log"),
    "brackets before a log": ("[INFO] a b\n[INFO] c d\n" * 5, "log"),
    "a listing": ("./src/a.py\n./src/b.py\n./src\n./README.md\n./src/c.py\n", "hits"),
    "numbered code": (numbered(MODULE), "code"),
    "tabs": ("id\tname\tstate\n" + "".join(f"{i}\tname {i}\tok\n" for i in range(9)), "table"),
    "a drawn table": ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", "table"),
    "dates are no numbered code": ("2024-01-02 a\n2024-01-03 b\n" * 5, "output"),
    "yaml is no code": ("name: value\nlist:\n  - a\n  - b\n" * 5, "output"),
    "commands with bars": ("cat a | sort | uniq\ncat b | sort | uniq\n" * 5, "output"),
}
NASTY = texts_of(
    [line for text in (*TEXTS.values(), *SOURCES.values()) for line in text.split("\n")]
)
KINDS = {reducer.kind: reducer for reducer in REDUCERS}
GAP = re.compile(r"^\[…(?: (\d+) (?:lines|rows|hits|sentences) …)?\]$", re.MULTILINE)
MORE = re.compile(r" \[… (\d+) more like this …\]")


def told(text: str) -> Reducer:
    """The reducer that takes a text."""
    found = reducer_for(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "kind"),
    [*((text, kind) for kind, text in TEXTS.items()), *OTHERS.values()],
    ids=[*TEXTS, *OTHERS],
)
def test_each_kind_is_told(text: str, kind: str) -> None:
    """C2: by a plain text of it, which every kind has here."""
    assert told(text).kind == kind


def test_every_kind_has_a_text_here() -> None:
    """In their order; what is of none has no reducer."""
    assert list(KINDS) == list(TEXTS)
    assert not any(map(reducer_for, ("", "ok", "\n\n\n", "a word or two", "\0\n\0\nx")))


@settings(max_examples=25)
@given(NASTY, ROOMS, st.sampled_from(sorted(KINDS)))
def test_promises_whatever_it_is(text: str, tokens: int, kind: str) -> None:
    """Of mixed lines, whole and broken, by the reducer that takes them and by any other."""
    assert_promises(reducer_for(text) or OUTPUT, text, tokens)
    assert_promises(KINDS[kind], text, tokens)


ENDLESS = ("[" * 90_000, '{"a":' * 60_000, '["' * 90_000, "[1\n" * 40_000, "[ " * 50_000)


@pytest.mark.parametrize("text", [*HOSTILE, *BROKEN.values(), *ENDLESS])
def test_promises_where_much_is_the_same(text: str) -> None:
    """Tens of thousands of characters of it, on one line or on many, in linear time; JSON that never ends stays."""
    assert_promises(reducer_for(text) or OUTPUT, text[:30_000], 400)
    assert text not in ENDLESS or minified(text) == text


@pytest.mark.parametrize("kind", LONG)
def test_what_is_wanted_stays_and_marks_count(kind: str) -> None:
    """The line that is asked for is there; where lines stay whole, shown and hidden ones are as many as there were."""
    short = told(LONG[kind]).cut(LONG[kind], room_of(300, NEEDLE))
    assert NEEDLE in short
    assert 150 <= exact(short) <= 300
    if kind not in ("prose", "json", "json, indented"):
        gaps = [int(lines or 1) for lines in GAP.findall(short)]
        lines = len(short.split("\n")) - len(gaps) + sum(gaps)
        assert lines == len(LONG[kind].split("\n"))


# Choosing lines

PLAIN = texts_of(["all is well", "  ERROR 4711: gone", "def total(self) -> int:", "検索", ""])
RANKS = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 6.0]), min_size=1, max_size=9)


@settings(max_examples=25)
@given(PLAIN, RANKS, ROOMS)
@example("\n".join(["all is well"] * 37), [-1.0, -1.0, -1.0, 0.0], 99)
def test_it_fits_stands_in_order_and_gaps_count(text: str, ranks: list[float], room: int) -> None:
    """What fits comes back as it is; else lines as in the text, and with those of the gaps as many as there were."""
    lines = [line for line in text.split("\n") if "…" not in line and len(line) < 60]
    some = (ranks * (len(lines) + 1))[: len(lines)]
    text = "\n".join(lines)
    short = choose([*map(Passage, lines, some)], room_of(room))
    assert exact(short) <= room
    assert len(short) <= len(text)
    assert exact(text) > room or short == text
    at = 0
    for line in short.split("\n") if lines else ():
        if found := GAP.fullmatch(line):
            at += int(found[1] or 1)
        else:
            assert line == lines[at]
            at += 1
    assert at == len(lines)


@settings(max_examples=25)
@given(st.text("ab c", min_size=1, max_size=400), st.integers(0, 399), st.integers(0, 500))
def test_a_shortened_line_says_what_it_hides(line: str, at: int, chars: int) -> None:
    """It has so many characters at most, what is wanted in it where there is room, and marks that count the rest."""
    line = f"{line[:at]} zebra_7 {line[at:]}"
    short = shortened(line, chars, ["zebra_7"])
    assert len(short) <= max(1, chars)
    assert len(line) > chars or short == line
    marks = [int(hidden) for hidden in re.findall(r" \[… (\d+) characters …\] ", short)]
    if chars >= 100:
        assert "zebra_7" in short
        assert len(re.sub(r" \[… \d+ characters …\] ", "", short)) + sum(marks) == len(line)


# Output and logs


def log(errors: int, lines: int = 600) -> list[str]:
    """Lines of one template, errors of three others among them."""
    rows = [
        f"2024-05-14 10:{i // 60:02d}:{i % 60:02d} INFO job {i} took 7 ms" for i in range(lines)
    ]
    kinds = ("disk sd{} is full", "connection {} refused", "job {} timed out")
    for n in range(errors):
        at = 1 + n * (lines - 2) // max(1, errors)
        rows[at] = f"2024-05-14 11:00:00 ERROR {kinds[n % 3].format(n)}"
    return rows


@settings(max_examples=25)
@given(st.integers(0, 150), st.integers(60, 2_000), st.sampled_from(["log", "output", "table"]))
def test_errors_are_the_last_to_go(errors: int, tokens: int, kind: str) -> None:
    """F30: while one of them is hidden, no other line is there that nobody asked for."""
    rows = log(errors) if kind == "log" else [row[11:] for row in log(errors)]
    if kind == "table":
        rows = ["time,level,text", *(row.replace(" ", ",", 2) for row in rows)]
    short = KINDS[kind].cut("\n".join(rows), room_of(tokens))
    lines = [MORE.sub("", line) for line in short.split("\n") if not GAP.match(line)]
    if sum("ERROR" in line for line in lines) < errors:
        others = [line for line in lines if "ERROR" not in line]
        assert others == ["time,level,text"] * (kind == "table")


@settings(max_examples=25)
@given(st.integers(0, 150), st.integers(60, 2_000))
def test_a_template_says_how_many_more_there_are(errors: int, tokens: int) -> None:
    """F30: exactly as many as are hidden, wherever one of them is shown."""
    rows = log(errors)
    short = OUTPUT.cut("\n".join(rows), room_of(tokens)).split("\n")
    for word in ("INFO", "disk", "refused", "timed out"):
        there = [line for line in short if word in line and "…" not in MORE.sub("", line)]
        if there and not any("…" in MORE.sub("", line) for line in short if word in line):
            said = [int(more) for line in there for more in MORE.findall(line)]
            hidden = sum(word in row for row in rows) - len(there)
            assert said == [hidden] * bool(hidden)


@pytest.mark.parametrize(
    ("text", "screen"),
    [
        pytest.param("\x1b[31mred\x1b[0m\x1b]0;title\x07", "red", id="colours"),
        pytest.param("10%\r20%\r\n", "20%\r\n", id="written over"),
        pytest.param("longer\rab", "abnger", id="what is not written over stays"),
        pytest.param("a\r\nb  \r\n", "a\r\nb  \r\n", id="ends of lines"),
    ],
)
def test_what_a_terminal_shows_stays(text: str, screen: str) -> None:
    """All of it."""
    assert shown(text) == screen


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["ready", "\tx y z", "}", ""]), st.integers(1, 60))))
def test_repeated_lines_come_back(runs: list[tuple[str, int]]) -> None:
    """The line above a note, so many times more, is what stood there."""
    text = "\n".join(line for line, times in runs for _ in range(times))
    back: list[str] = []
    for line in OUTPUT.tighten(text).split("\n"):
        note = re.fullmatch(r"\[the line above (\d+) more times\]", line)
        back += [back[-1]] * int(note[1]) if note else [line]
    assert "\n".join(back) == text


def test_a_note_never_leaves_its_line() -> None:
    """F30: where a line goes, what is said of it goes too."""
    rows = [
        line for i in range(90) for line in (*[f"waiting for worker {i} of all"] * 30, f"row {i}")
    ]
    short = OUTPUT.cut("\n".join(rows), room_of(120)).split("\n")
    notes = [i for i, line in enumerate(short) if line.startswith("[the line above")]
    assert notes
    assert all(short[i - 1].startswith("waiting for worker") for i in notes)


# Traces, diffs, paths, tables, prose

FRAMES = {  # the first line, a library's frame, an own frame, and the last line
    "python": (
        "Traceback (most recent call last):",
        '  File "/usr/lib/python3.11/site-packages/base.py", line {i}, in call\n    return self.handler({i})',
        '  File "/app/shop/billing.py", line 4711, in charge\n    total = invoice.total()',
        "shop.errors.BillingError: invoice 4711",
    ),
    "java": (
        "java.lang.NullPointerException: invoice",
        "\tat org.springframework.web.Servlet.doGet(Servlet.java:{i})",
        "\tat com.shop.Billing.charge(Billing.java:4711)",
        "Caused by: java.io.IOException: 4711",
    ),
    "go": (
        "panic: runtime error: index out of range [7]",
        "\t/usr/local/go/src/net/http/server.go:{i} +0x1d",
        "\t/app/billing/charge.go:4711 +0x2f",
        "goroutine 1 [running]:",
    ),
}


def trace(language: str) -> tuple[str, str, int, list[str]]:
    """An own frame in the middle of a library's."""
    begin, library, own, end = FRAMES[language]
    frames = [library.format(i=i) for i in range(60)]
    frames[::6] = [frame.replace("/base.py", "/errors.py") for frame in frames[::6]]
    text = "\n".join((begin, *frames[:30], own, *frames[30:], end))
    return "trace", text, 130, [begin, end, own, " lines …]"]


def table(head: str) -> tuple[str, str, int, list[str]]:
    """A header, 300 rows, one of which failed."""
    by = head[2] if head[0] == "i" else "|"
    rows = [f"{by * (by == '|')}{i}{by}user {i}{by}ok{by * (by == '|')}" for i in range(300)]
    rows[140] = rows[140].replace("ok", ERROR)
    return "table", "\n".join((head, *rows)), 100, [f"{head}\n{rows[0]}", ERROR, rows[-1]]


def paths(line: str) -> tuple[str, str, int, list[str]]:
    """Forty in each of ten files or folders."""
    lines = [line.format(i // 40, i) for i in range(400)]
    return "hits", "\n".join(lines), 400, lines[::40]


TALK = " ".join(f"Some people said so on day {'x' * (i % 5)} and went home." for i in range(90))
HUGE = DIFF.replace("+    y\n", "+    y\n" * 300)
STAYS: dict[str, tuple[str, str, int, list[str]]] = {  # kind, text, room in tokens, what stays
    **{language: trace(language) for language in FRAMES},
    "changes": (
        "diff",
        DIFF.replace(" def f():\n", " line\n" * 90),
        90,
        ["+++ b/a.py", "@@ -1,2 +1,2 @@", "-    x", "+    y"],
    ),
    "each file of a diff": (
        "diff",
        HUGE + DIFF.replace("a.py", "b.py") + HUGE.replace("a.py", "c.py"),
        160,
        ["+++ b/b.py\n@@ -1,2 +1,2 @@"],
    ),
    "some of each file": paths("src/part_{}/a.py:{}: total"),
    "some of each folder": paths("./src/part_{}/file_{}.py"),
    "a header": table("id,name,state"),
    "a header over tabs": table("id\tname\tstate"),
    "a drawn header": table("| id | name | state |\n|---|---|---|"),
    "a framed header": table("+--+\n|id|\n+--+"),
    "whole sentences": (
        "prose",
        f"# The port\n{TALK} The port is 8081, not 8080. {TALK}\nThat is all.",
        120,
        ["# The port\n", "\nThe port is 8081, not 8080.\n", " sentences …]\n", "\nThat is all."],
    ),
}


@pytest.mark.parametrize("what", STAYS)
def test_what_a_kind_is_about_stays(what: str) -> None:
    """C2: with what failed and a mark around it; diffs, paths, tables and prose are not touched where they fit."""
    kind, text, tokens, parts = STAYS[what]
    assert told(text).kind == kind
    short = KINDS[kind].cut(text, room_of(tokens))
    assert [part for part in parts if part not in short] == []
    assert exact(short) <= tokens
    assert kind == "trace" or KINDS[kind].tighten(text) == text


def test_a_line_that_begins_with_a_number_is_one_sentence() -> None:
    """Also behind other lines; nor does a short form end one."""
    text = "We went.\n3. Then on. Dr. Who came.\n\nThat was it."
    assert sentences_in(text) == ["We went.", "3. Then on.", "Dr. Who came.", "", "That was it."]


# Code


def module(functions: int) -> str:
    """Functions of twenty lines each."""
    body = "\n".join(f"    value_{i} = compute(value_{i - 1}, {i})" for i in range(1, 19))
    return "import re\n\n" + "\n\n".join(
        f'def step_{n}(value_0):\n    """Step {n} of all."""\n{body}\n    return value_18 + {n}'
        for n in range(functions)
    )


@settings(max_examples=25)
@given(NASTY)
def test_no_character_of_code_changes(text: str) -> None:
    """Only blanks before line numbers go, and can be written again; an outline lies within its text."""
    tight = CODE.tighten(text)
    if tight != text:
        aligned = re.sub(r"^(\d+)\t", lambda m: f"{m[1]:>6}\t", tight, flags=re.MULTILINE)
        assert aligned == text
    lines = text.split("\n")
    spans = outline(lines)
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    assert all(0 <= span.start < span.body <= span.end <= len(lines) for span in spans)
    for i, holder in enumerate(holders(spans, len(lines))):
        inside = [span for span in spans if span.start <= i < span.end]
        assert holder == (max(inside, key=lambda span: span.start) if inside else None)


@pytest.mark.parametrize("language", SOURCES)
def test_definitions_are_found_by_words_and_indentation(language: str) -> None:
    """In any language that indents; a head over several lines ends where the body begins, and what lies in another is deeper."""
    lines = SOURCES[language].split("\n")
    found = outline(lines)
    assert {lines[span.start] for span in found} >= set(HEADS[language])
    if language == "python":
        assert found[1] == LineSpan(start=12, body=16, end=21, depth=1)


@pytest.mark.parametrize("write", [str, numbered], ids=["plain", "numbered"])
def test_a_skeleton_stays_and_what_is_asked_for(write: type[str]) -> None:
    """Imports, heads, and what documents them, before any body; a body that is named whole, a wanted line with its head."""
    code = write(module(20))
    short = CODE.cut(code, room_of(800))
    assert {"import re", "lines …]"} <= set(re.findall(r"import re|lines …\]", short))
    for n in range(20):
        assert f"def step_{n}(value_0):" in short
        assert f'"""Step {n} of all."""' in short
    lines = CODE.tighten(code).split("\n")
    start = next(i for i, line in enumerate(lines) if line.endswith("def step_7(value_0):"))
    assert "\n".join(lines[start : start + 21]) in CODE.cut(code, room_of(600, "step_7"))
    short = CODE.cut(code.replace("value_18 + 13", "unlucky + 13"), room_of(200, "unlucky"))
    assert "return unlucky + 13" in short
    assert "def step_13(value_0):" in short


def test_what_is_wanted_stands_alone_and_not_everywhere() -> None:
    """A word inside another is none; a word in more than a third of the lines tells nothing, and each line has it once."""
    lines = ["Port 1", "transport 2", "ports 3", "a port, a port", *["user"] * 20]
    assert [at for at, share in enumerate(wanted_in(lines, {"port", "user"})) if share] == [0, 3]
    assert wanted_in(lines, {"port", "transport"})[:4] == [0.5, 1.0, 0.0, 0.5]


# JSON

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["\ue000", "\ud800", '"', "\\", "\\u00e9", "columns", "rows", "x" * 300]),
)


def row_of(parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """An object with the keys that its neighbours have."""
    return st.fixed_dictionaries({"identifier": parts, "a long key": SCALARS})


def trees_of(parts: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Lists, objects and rows with these in them."""
    return (
        st.lists(parts, max_size=6)
        | st.dictionaries(st.text(max_size=6), parts, max_size=5)
        | st.lists(row_of(parts), max_size=6)
    )


def written(tree: Json, indent: int | None, *, plain: bool) -> str:
    """A tree as a tool writes it."""
    return json.dumps(tree, indent=indent, ensure_ascii=plain)


TREES: st.SearchStrategy[Json] = st.recursive(SCALARS, trees_of, max_leaves=30)
WRITTEN = st.builds(written, TREES, st.sampled_from([None, 0, 2]), plain=st.booleans())
SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}]+')


def unrolled(tree: Json) -> Json:
    """The same with tables as the lists of objects that they stand for."""
    if isinstance(tree, list):
        return [unrolled(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    columns, rows = tree.get("columns"), tree.get("rows")
    if list(tree) == ["columns", "rows"] and isinstance(columns, list) and isinstance(rows, list):
        return [
            {str(key): unrolled(part) for key, part in zip(columns, row, strict=True)}
            for row in rows
            if isinstance(row, list)
        ]
    return {key: unrolled(part) for key, part in tree.items()}


@given(WRITTEN)
@example('{"a": 1.0, "b": 1e5, "c": 12345678901234567890, "a": -0.0, "d": "\\u00e9\\/"}' + " " * 90)
def test_without_blanks_everything_is_spelled_as_it_was(text: str) -> None:
    """Every string, number and key, in the same order, repeated keys as well."""
    tight = minified(text)
    assert len(tight) <= len(text)
    assert SCALAR.findall(tight) == SCALAR.findall(text)
    assert json.dumps(json.loads(tight)) == json.dumps(json.loads(text))
    assert minified(tight) == tight


@given(WRITTEN)
def test_values_come_back_from_tables(text: str) -> None:
    """All of them, in less."""
    tight = JSON.cut(text, room_of(10**6))
    assert len(tight) <= len(text)
    if '"columns"' not in text:
        assert json.dumps(unrolled(json.loads(tight))) == json.dumps(json.loads(text))


@pytest.mark.parametrize("row", ['"identifier": 2', '"size": 1e999', '"text": "\\ud800"'])
def test_what_would_not_come_back_makes_no_table(row: str) -> None:
    """Repeated keys, numbers that are too large, half characters: the text stays, without its blanks."""
    text = "[" + ", ".join(f'{{"identifier": 1, {row}}}' for _ in range(30)) + "]"
    assert JSON.cut(text, room_of(10**6)) == JSON.tighten(text) == text.replace(" ", "")


@given(WRITTEN, ROOMS)
def test_promises_of_json(text: str, tokens: int) -> None:
    """Whole or broken off anywhere."""
    assert_promises(JSON, text, tokens)
    assert_promises(JSON, text[: len(text) * 2 // 3], tokens)


@pytest.mark.parametrize(
    "around", ["{}", "The answer:\n{}\nThat was it.", "{}\n{}", "[INFO] x\n{}"]
)
def test_blocks_inside_text(around: str) -> None:
    """They lose their blanks; the text around them stays."""
    block = json.dumps({"orders": [{"id": n} for n in range(9)]}, indent=2)
    tight = minified(around.replace("{}", block))
    assert tight == around.replace("{}", json.dumps(json.loads(block), separators=(",", ":")))


@pytest.mark.parametrize("levels", [MOST_DEPTH, MOST_DEPTH + 1, 200])
def test_what_is_nested_deeper_than_anybody_reads_stays(levels: int) -> None:
    """So that how deep the stack is does not matter."""
    text = '{"a": ' * (levels - 1) + "[1,  2]" + "}" * (levels - 1)
    assert (minified(text) == text) == (levels > MOST_DEPTH)


# Cut

RECORDS = [
    {"id": n, "user": f"user-{n}", "state": "ok", "where": {"city": "Ghent", "zip": n}}
    for n in range(300)
]
RECORDS[140]["state"] = ERROR
RECORDS[200]["user"] = NEEDLE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(RECORDS), id="list"),
        pytest.param(json.dumps({"total": 300, "data": {"items": RECORDS}}, indent=2), id="inside"),
        pytest.param("\n".join(map(json.dumps, RECORDS)), id="lines"),
        pytest.param(json.dumps(RECORDS)[:-40], id="broken off"),
        pytest.param(json.dumps({"id": [1, 2], "rows": RECORDS})[:-9] + "}}", id="broken"),
        pytest.param(f"The rows:\n{json.dumps(RECORDS)}", id="below text"),
        pytest.param(json.dumps({str(n): row for n, row in enumerate(RECORDS)}), id="object"),
    ],
)
def test_rows_that_matter_stay(text: str) -> None:
    """Keys, the first rows, what is asked for, and what failed; a mark counts the rest."""
    short = JSON.cut(text, room_of(300, NEEDLE))
    assert all(part in short for part in ("user", "state", "user-0", NEEDLE, ERROR))
    assert re.search(r"^\[… \d+ rows …\]$", short, re.MULTILINE)
