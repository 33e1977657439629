"""Each kind of content is told by itself, and what stays of it is what matters, within its room."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.data import without_data
from autogen_context.compressor.arrival.output import OUTPUT, shown
from autogen_context.compressor.arrival.recognise import REDUCERS, reducer_for
from autogen_context.compressor.arrival.reducer import Reducer
from support.reducing import ROOMS, assert_promises, exact, room_of, texts_of
from support.results import BLOB, BROKEN, ERROR, LONG, NEEDLE
from support.texts import HOSTILE

TRACE = (
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\n' * 3 + "KeyError: 1"
)
DIFF = (
    "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    x\n+    y\n"
)
CODE = "import re\n\n\ndef f(a):\n    if a:\n        return 1\n    return 2\n"
PYTEST = "===== 1 failed, 2 passed in 1s =====\nFAILED tests/test_a.py::test_b - KeyError: 'c'\n"
TEXTS = {
    "binary": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 90,
    "json": '{"orders": [{"id": 4711, "total": 7}, {"id": 4712, "total": 8}]}',
    "diff": DIFF,
    "trace": TRACE,
    "log": "2024-05-14 10:00:00 INFO ready\n" * 5,
    "html": "<!DOCTYPE html>\n<html><head><title>A</title></head><body>"
    + "<p>b</p>\n" * 20
    + "</body></html>",
    "hits": "src/a.py:3:import re\nsrc/b.py:7:import re\n",
    "listing": "./src/a.py\n./src/b.py\n./src\n./README.md\n./src/c.py\n",
    "table": "id,name,total\n" + "".join(f"{i},name {i},{i * 7}\n" for i in range(9)),
    "code": CODE,
    "prose": "People like to talk about the weather when they meet. " * 9,
    "output": "Operations to perform:\n  Apply all migrations: admin\n  Applying admin... OK\n",
}
OTHERS = {
    "a run of tests": (PYTEST, "trace"),
    "a trace in one": (f"{TRACE}\n{PYTEST}", "trace"),
    "a diff of a page": (DIFF.replace("def f():", "<html>\n <p>a</p>" * 9), "diff"),
    "errors in a log": ("2024-05-14 10:00:00 ERROR a.py:3: KeyError\n" * 9, "log"),
    "numbered code": (
        "".join(f"{i:6d}\t{line}\n" for i, line in enumerate(CODE.split("\n"))),
        "code",
    ),
    "colours": ("\x1b[1m===== 2 passed in 1s =====\x1b[0m\n\x1b[32mFAILED a.py::b\n", "trace"),
    "dates are no numbered code": ("2024-01-02 a\n2024-01-03 b\n" * 5, "output"),
    "yaml is no code": ("name: value\nlist:\n  - a\n  - b\n" * 5, "output"),
    "commands with bars": ("cat a | sort | uniq\ncat b | sort | uniq\n" * 5, "output"),
    "a drawn table": ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", "table"),
    "brackets before a log": ("[INFO] a b\n[INFO] c d\n" * 5, "log"),
}
NASTY = texts_of([line for text in TEXTS.values() for line in text.split("\n")])
KINDS = {reducer.kind: reducer for reducer in REDUCERS}
SHOWN = re.compile(r"^\[… (\d+) (?:line|row|hit|sentence)s? …\]$", re.MULTILINE)
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
    """By a plain text of it, which every kind has here; where a text has something of several, the more telling one."""
    assert told(text).kind == kind
    assert list(KINDS) == list(TEXTS)


@pytest.mark.parametrize("text", ["", "ok", "\n\n\n", "a word or two", "\0\n\0\nx"])
def test_what_is_nothing_in_particular_has_no_reducer(text: str) -> None:
    """Nothing, or hardly anything, to tell it by."""
    assert reducer_for(text) is None


@given(NASTY, ROOMS, st.sampled_from(sorted(KINDS)))
def test_promises_whatever_it_is(text: str, tokens: int, kind: str) -> None:
    """Of mixed lines, whole and broken, by the reducer that takes them and by any other."""
    assert_promises(reducer_for(text) or OUTPUT, text, tokens)
    assert_promises(KINDS[kind], text, tokens)


PAGES = ["<div>", "<", "<!--", "<script>", "<a href='x' ", "</a>", '<p a="b']
ENDLESS = [*HOSTILE, *BROKEN.values(), *(f"<html><body>{piece * 40_000}" for piece in PAGES)]


@pytest.mark.parametrize("text", ENDLESS, ids=range(len(ENDLESS)))
def test_promises_where_much_is_the_same(text: str) -> None:
    """A hundred thousand characters of it and more, on one line or on many."""
    assert_promises(reducer_for(text) or OUTPUT, text, 400)


@pytest.mark.parametrize("kind", TEXTS)
def test_promises_for_what_is_broken_off(kind: str) -> None:
    """Anywhere."""
    text = TEXTS[kind] * 4
    for end in range(1, len(text), max(1, len(text) // 40)):
        assert_promises(reducer_for(text[:end]) or OUTPUT, text[:end], 60)


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("tokens", [150, 700])
def test_what_is_wanted_stays_and_marks_count(kind: str, tokens: int) -> None:
    """The line that is asked for is there; where lines stay whole, shown and hidden ones are as many as there were."""
    text = LONG[kind]
    reducer = told(text)
    short = reducer.cut(text, room_of(tokens, NEEDLE))
    assert NEEDLE in short
    assert 0.5 * tokens <= exact(short) <= tokens
    if kind not in ("prose", "page", "json", "json, indented"):
        hidden = sum(map(int, SHOWN.findall(short)))
        assert hidden + len(SHOWN.sub("", short).split("\n")) - len(SHOWN.findall(short)) == len(
            text.split("\n")
        )


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


@given(st.integers(0, 150), st.integers(60, 2_000), st.sampled_from(["log", "output", "table"]))
def test_errors_are_the_last_to_go(errors: int, tokens: int, kind: str) -> None:
    """F30: while one of them is hidden, no other line is there that nobody asked for."""
    rows = log(errors) if kind == "log" else [row[11:] for row in log(errors)]
    if kind == "table":
        rows = ["time,level,text", *(row.replace(" ", ",", 2) for row in rows)]
    short = KINDS[kind].cut("\n".join(rows), room_of(tokens))
    lines = [MORE.sub("", line) for line in short.split("\n") if not SHOWN.match(line)]
    shown_errors = sum("ERROR" in line for line in lines)
    if shown_errors < errors:
        others = [line for line in lines if "ERROR" not in line]
        assert others == ["time,level,text"] * (kind == "table")


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


def test_first_and_last_of_a_template_stay() -> None:
    """Also of one in the middle, and what is rare."""
    rows = [f"loading part {i}" for i in range(200)] + ["all parts loaded"]
    rows += [f"storing row {i}" for i in range(400)] + [f"done with {i}" for i in range(300)]
    short = OUTPUT.cut("\n".join(rows), room_of(150))
    for line in (
        "loading part 0",
        "all parts loaded",
        "storing row 0",
        "storing row 399",
        "done with 299",
    ):
        assert line in short


@pytest.mark.parametrize(
    ("text", "screen"),
    [
        pytest.param("\x1b[31mred\x1b[0m\x1b]0;title\x07", "red", id="colours"),
        pytest.param("10%\r20%\r\n", "20%\r\n", id="written over"),
        pytest.param("longer\rab", "abnger", id="what is not written over stays"),
        pytest.param("a\r\nb\r\n", "a\r\nb\r\n", id="ends of lines"),
        pytest.param("a  \n", "a  \n", id="blanks"),
    ],
)
def test_what_a_terminal_shows_stays(text: str, screen: str) -> None:
    """All of it."""
    assert shown(text) == screen


@given(st.lists(st.tuples(st.sampled_from(["ready", "\tx y z", "}", ""]), st.integers(1, 60))))
def test_repeated_lines_come_back(runs: list[tuple[str, int]]) -> None:
    """The line above a note, so many times more, is what stood there."""
    text = "\n".join(line for line, times in runs for _ in range(times))
    back: list[str] = []
    for line in OUTPUT.tighten(text).split("\n"):
        note = re.fullmatch(r"\[the line above (\d+) more times\]", line)
        back += [back[-1]] * int(note[1]) if note else [line]
    assert "\n".join(back) == text


@given(st.integers(0, 40), st.integers(0, 40), st.integers(60, 400))
def test_a_common_date_comes_back(dated: int, others: int, tokens: int) -> None:
    """Each line that begins with a time had it; of a log that is cut, each line has its own."""
    rows = [f"2024-05-14 10:{i:02d}:00 ERROR row {i}" for i in range(dated)]
    text = "\n".join((*rows, *(f"2024-05-15 10:{i:02d}:00 row {i}" for i in range(others)), "end"))
    tight = KINDS["log"].tighten(text)
    note = re.match(r'\["(.*)" stands before each line that begins with a time\]\n', tight)
    assert (note is not None) == (max(dated, others) >= 20)
    date, rest = (note[1], tight[note.end() :]) if note else ("", tight)
    assert re.sub(r"^(?=\d\d:\d\d:)", date, rest, flags=re.MULTILINE) == text
    short = KINDS["log"].cut(tight, room_of(tokens))
    assert short == tight or not re.search(r"^\d\d:\d\d:", short, re.MULTILINE)


def test_a_note_never_leaves_its_line() -> None:
    """F30: where a line goes, what is said of it goes too."""
    rows = [
        line for i in range(90) for line in (*[f"waiting for worker {i} of all"] * 30, f"row {i}")
    ]
    short = OUTPUT.cut("\n".join(rows), room_of(120)).split("\n")
    notes = [i for i, line in enumerate(short) if line.startswith("[the line above")]
    assert notes
    assert all(short[i - 1].startswith("waiting for worker") for i in notes)


# Tests and traces

LIBRARY = {
    "python": '  File "/usr/lib/python3.11/site-packages/base.py", line {i}, in call\n    return self.handler({i})',
    "node": "    at Layer.handle (/app/node_modules/express/lib/router.js:{i}:5)",
    "java": "\tat org.springframework.web.Servlet.doGet(Servlet.java:{i})",
    "go": "\t/usr/local/go/src/net/http/server.go:{i} +0x1d",
    "rust": "             at /rustc/9fc6b4312/library/core/src/panicking.rs:{i}:14",
    "c#": "   at System.Linq.Enumerable.First{i}[T](IEnumerable`1 source)",
}
OWN = {
    "python": '  File "/app/shop/billing.py", line 4711, in charge\n    total = invoice.total()',
    "node": "    at chargeCustomer (/app/src/billing.js:4711:11)",
    "java": "\tat com.shop.Billing.charge(Billing.java:4711)",
    "go": "\t/app/billing/charge.go:4711 +0x2f",
    "rust": "             at ./src/billing.rs:4711:9",
    "c#": "   at Shop.Billing.Charge(Int32 cents) in /app/Billing.cs:line 4711",
}
HEADS = {
    "python": ("Traceback (most recent call last):", "shop.errors.BillingError: invoice 4711"),
    "node": ("TypeError: total is not a function", ""),
    "java": ("java.lang.NullPointerException: invoice", "Caused by: java.io.IOException: 4711"),
    "go": ("panic: runtime error: index out of range [7]", "goroutine 1 [running]:"),
    "rust": ("thread 'main' panicked at src/billing.rs:7:9:", "stack backtrace:"),
    "c#": ("Unhandled exception. System.InvalidOperationException: 4711", ""),
}


@pytest.mark.parametrize("language", HEADS)
def test_the_error_and_own_frames_stay(language: str) -> None:
    """Whatever the language; the frames of libraries around them are the ones that go."""
    begin, end = HEADS[language]
    frames = [LIBRARY[language].format(i=i) for i in range(60)]
    text = "\n".join(filter(None, (begin, *frames[:30], OWN[language], *frames[30:], end)))
    assert told(text).kind == "trace"
    short = KINDS["trace"].cut(text, room_of(130))
    assert all(part in short for part in (begin, end, OWN[language], " lines …]"))


def test_of_tests_outcome_and_failures_stay() -> None:
    """The name, the message and the outcome, whatever passed."""
    passed = [f"tests/test_a.py::test_{i} PASSED [ 1%]" for i in range(300)]
    told_of = ["____ test_b ____", ">       assert total == 7", "E       AssertionError: 8 != 7"]
    end = "==== 1 failed, 300 passed in 2s ===="
    short = KINDS["trace"].cut("\n".join((*passed, *told_of, *passed, end)), room_of(120))
    assert all(line in short for line in (*told_of, end))


# Diffs, paths, tables, pages, prose, data


def test_of_a_diff_changes_stay_and_generated_files_go() -> None:
    """Files and hunks before changes, these before what is around."""
    lock = DIFF.replace("a.py", "package-lock.json") + "+  lock\n" * 300
    text = lock + DIFF.replace(" def f():\n", " line\n" * 90)
    short = KINDS["diff"].cut(text, room_of(90))
    assert all(line in short for line in ("+++ b/a.py", "@@ -1,2 +1,2 @@", "-    x", "+    y"))
    assert short.count("lock\n") < 5
    assert KINDS["diff"].tighten(text) == text


@pytest.mark.parametrize("line", ["src/part_{}/a.py:{}: total", "./src/part_{}/file_{}.py"])
def test_some_of_each_file_and_folder_stay(line: str) -> None:
    """With their whole paths."""
    text = "\n".join(line.format(i // 40, i) for i in range(400))
    short = told(text).cut(text, room_of(400))
    assert all(line.format(n, n * 40) in short for n in range(10))


@pytest.mark.parametrize(
    "head",
    [
        "id,name,state",
        "id\tname\tstate",
        "| id | name | state |\n|---|---|---|",
        "+--+\n|id|\n+--+",
    ],
)
def test_headers_stay(head: str) -> None:
    """Above the rows, with the first two and the last."""
    by = head[2] if head[0] == "i" else "|"
    rows = [f"{by * (by == '|')}{i}{by}user {i}{by}ok{by * (by == '|')}" for i in range(300)]
    rows[140] += ERROR
    text = "\n".join((head, *rows))
    assert told(text).kind == "table"
    short = KINDS["table"].cut(text, room_of(100))
    assert short.startswith("\n".join((head, *rows[:1])))
    assert short.endswith(rows[-1])
    assert ERROR in short


def test_a_page_is_its_text() -> None:
    """Without scripts and styles; links, lists, headings, rows and images in place; entities as signs."""
    page = (
        "<html><head><style>p{}</style></head><script>if (a < b) x()</script><body><h2>Head</h2><p>A&amp;B "
        '<a class="x" href="/to">go</a><!-- no --><ul><li>one<li>two</ul><img src=a alt="a cat">'
        "<tr><td>1</td><td>2</td></tr>" + "<p>filler</p>" * 300
    )
    short = KINDS["html"].cut(page, room_of(80))
    for line in ("## Head", "A&B go (/to)", "- one", "- two", "a cat", "1 | 2"):
        assert line in short
    assert not {"x()", "p{}", "no"} & set(re.findall(r"\S+", short))


def test_sentences_stay_whole() -> None:
    """In their order, one a line, with headings; those that name something first."""
    plain = [f"Some people said so on day {'x' * (i % 5)} and went home." for i in range(90)]
    text = "# The port\n" + " ".join((*plain, "The port is 8081, not 8080.", *plain))
    short = KINDS["prose"].cut(text, room_of(120)).split("\n")
    assert {"# The port", "The port is 8081, not 8080."} <= set(short)
    assert all(line in text for line in short if not line.startswith("[… "))
    assert any(re.fullmatch(r"\[… \d+ sentences …\]", line) for line in short)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        pytest.param(BLOB, "[base64, 12,000 characters]", id="base64"),
        pytest.param(
            "\n".join(BLOB[i : i + 76] for i in range(0, 7600, 76)), "[base64", id="lines"
        ),
        pytest.param("0f3A" * 90, "[hex, 360 characters]", id="hex"),
        pytest.param(f"data:image/png;base64,{BLOB[:400]}", "[data URL", id="a data URL"),
        pytest.param("\x00\x01\x02PNG" * 90, "[binary", id="bytes"),
        pytest.param("\\x00\\xff" * 90, "[escaped bytes", id="escaped"),
        pytest.param("a/long/path" * 40, "", id="a path"),
        pytest.param("\n".join(["da39a3ee5e6b4b0d3255bfef95601890afd80709"] * 9), "", id="hashes"),
        pytest.param("x" * 900, "", id="a word"),
        pytest.param("検索" * 300, "", id="no blanks"),
    ],
)
def test_data_that_nobody_reads_is_named(text: str, mark: str) -> None:
    """With its size; what is read stays."""
    around = f"before\n{text}\nafter"
    short = without_data(around)
    assert (mark in short and len(short) < 100) if mark else short == around
