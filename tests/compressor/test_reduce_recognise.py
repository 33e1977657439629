"""A text is told by itself, the most telling kind first."""

import pytest
from hypothesis import given

from autogen_context.compressor.arrival.output import Output
from autogen_context.compressor.arrival.recognise import REDUCERS, reducer_for
from support.reducing import ROOMS, assert_promises, texts_of
from support.texts import HOSTILE

PYTEST = "===== 1 failed, 2 passed in 1s =====\nFAILED tests/test_a.py::test_b - KeyError: 'c'\n"
TRACE = (
    'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\n' * 3 + "KeyError: 1"
)
DIFF = (
    "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    x\n+    y\n"
)
CODE = "import re\n\n\ndef f(a):\n    if a:\n        return 1\n    return 2\n"
ROWS = "id,name,total\n" + "".join(f"{i},name {i},{i * 7}\n" for i in range(9))
PAGE = (
    "<!DOCTYPE html>\n<html><head><title>A</title></head><body>"
    + "<p>b</p>\n" * 20
    + "</body></html>"
)
TEXTS = {
    "binary": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 90,
    "json": '{"orders": [{"id": 4711, "total": 7}, {"id": 4712, "total": 8}]}',
    "diff": DIFF,
    "tests": PYTEST,
    "trace": TRACE,
    "log": "2024-05-14 10:00:00 INFO ready\n" * 5,
    "html": PAGE,
    "hits": "src/a.py:3:import re\nsrc/b.py:7:import re\n",
    "listing": "./src/a.py\n./src/b.py\n./src\n./README.md\n./src/c.py\n",
    "table": ROWS,
    "code": CODE,
    "prose": "People like to talk about the weather when they meet. " * 9,
    "output": "Operations to perform:\n  Apply all migrations: admin\n  Applying admin... OK\n",
}
INSIDE = {
    "a trace in a run of tests": (f"{TRACE}\n{PYTEST}", "tests"),
    "a diff of a page": (DIFF.replace("def f():", "<html>\n <p>a</p>" * 9), "diff"),
    "errors in a log": ("2024-05-14 10:00:00 ERROR a.py:3: KeyError\n" * 9, "log"),
    "numbered code": (
        "".join(f"{i:6d}\t{line}\n" for i, line in enumerate(CODE.split("\n"))),
        "code",
    ),
    "colours": (
        "\x1b[1m===== 2 passed in 1s =====\x1b[0m\n\x1b[32mFAILED a.py::b\x1b[0m\n",
        "tests",
    ),
    "wrapped": (
        f"<returncode>0</returncode>\n<output>\n{TEXTS['listing'] * 4}</output>",
        "listing",
    ),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_each_kind_is_told(kind: str) -> None:
    """By a plain text of it."""
    found = reducer_for(TEXTS[kind])
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(("text", "kind"), INSIDE.values(), ids=INSIDE)
def test_the_more_telling_kind_is_first(text: str, kind: str) -> None:
    """Where a text has something of several."""
    found = reducer_for(text)
    assert found is not None
    assert found.kind == kind


def test_every_kind_has_a_name_of_its_own() -> None:
    """And each has a text here that is told to be of it."""
    assert [reducer.kind for reducer in REDUCERS] == list(TEXTS)


@pytest.mark.parametrize("text", ["", "ok", "\n\n\n", "a word or two", "\0\n\0\nx"])
def test_what_is_nothing_in_particular_has_no_reducer(text: str) -> None:
    """Nothing, or hardly anything, to tell it by."""
    assert reducer_for(text) is None


def test_output_has_lines_that_a_terminal_shows() -> None:
    """A line, or bytes, are none."""
    assert Output().recognises("one\ntwo")
    assert not Output().recognises("one")
    assert not Output().recognises("one\n\0two")


@given(texts_of([line for text in TEXTS.values() for line in text.split("\n")]), ROOMS)
def test_promises_whatever_it_is(text: str, tokens: int) -> None:
    """Of mixed lines, whole and broken, by the reducer that takes them."""
    found = reducer_for(text)
    if found is not None:
        assert_promises(found, text, tokens)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_promises_where_much_is_the_same(text: str) -> None:
    """A hundred thousand characters of it, on one line or on many."""
    found = reducer_for(text)
    if found is not None:
        assert_promises(found, text, 400)


@pytest.mark.parametrize("kind", TEXTS)
def test_promises_for_what_is_broken_off(kind: str) -> None:
    """Anywhere."""
    text = TEXTS[kind] * 4
    for end in range(1, len(text), max(1, len(text) // 40)):
        found = reducer_for(text[:end])
        if found is not None:
            assert_promises(found, text[:end], 60)
