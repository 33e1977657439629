"""JSON loses its blanks and repeated keys, never a value or its spelling; cut, keys and the rows that matter stay."""

import json
import re
from typing import TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autogen_context.compressor.json_text import JSON, MOST_DEPTH, minified
from support.reducing import ROOMS, assert_promises, room_of
from support.results import ERROR, NEEDLE

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


@settings(max_examples=40)
@given(WRITTEN)
@example('{"a": 1.0, "b": 1e5, "c": 12345678901234567890, "a": -0.0, "d": "\\u00e9\\/"}' + " " * 90)
def test_without_blanks_everything_is_spelled_as_it_was(text: str) -> None:
    """Every string, number and key, in the same order, repeated keys as well."""
    tight = minified(text)
    assert len(tight) <= len(text)
    assert SCALAR.findall(tight) == SCALAR.findall(text)
    assert json.dumps(json.loads(tight)) == json.dumps(json.loads(text))
    assert minified(tight) == tight


@settings(max_examples=40)
@given(WRITTEN)
def test_values_come_back_from_tables(text: str) -> None:
    """All of them, in less."""
    tight = JSON.tighten(text)
    assert len(tight) <= len(text)
    if '"columns"' not in text:
        assert json.dumps(unrolled(json.loads(tight))) == json.dumps(json.loads(text))


@pytest.mark.parametrize("row", ['"identifier": 2', '"size": 1e999', '"text": "\\ud800"'])
def test_what_would_not_come_back_makes_no_table(row: str) -> None:
    """Repeated keys, numbers that are too large, half characters: the text stays, without its blanks."""
    text = "[" + ", ".join(f'{{"identifier": 1, {row}}}' for _ in range(30)) + "]"
    assert JSON.tighten(text) == text.replace(" ", "")


@settings(max_examples=40)
@given(WRITTEN, ROOMS)
def test_promises(text: str, tokens: int) -> None:
    """Whole or broken off anywhere."""
    assert_promises(JSON, text, tokens)
    assert_promises(JSON, text[: len(text) * 2 // 3], tokens)


@pytest.mark.parametrize(
    "around",
    ["{}", "The answer:\n{}\nThat was it.", "{}\n{}", "[INFO] x\n{}"],
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


@pytest.mark.parametrize(
    "text", ["[" * 90_000, '{"a":' * 60_000, '["' * 90_000, "[1\n" * 40_000, "[ " * 50_000]
)
def test_what_never_ends_takes_linear_time(text: str) -> None:
    """And stays as it is."""
    assert minified(text) == text
    assert_promises(JSON, text, 90)


# Cut

ROWS = [
    {"id": n, "user": f"user-{n}", "state": "ok", "where": {"city": "Ghent", "zip": n}}
    for n in range(300)
]
ROWS[140]["state"] = ERROR
ROWS[200]["user"] = NEEDLE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(ROWS), id="list"),
        pytest.param(json.dumps({"total": 300, "data": {"items": ROWS}}, indent=2), id="inside"),
        pytest.param("\n".join(map(json.dumps, ROWS)), id="lines"),
        pytest.param(json.dumps(ROWS)[:-40], id="broken off"),
        pytest.param(json.dumps({"id": [1, 2], "rows": ROWS})[:-9] + "}}", id="broken"),
        pytest.param(f"The rows:\n{json.dumps(ROWS)}", id="below text"),
        pytest.param(json.dumps({str(n): row for n, row in enumerate(ROWS)}), id="object"),
    ],
)
def test_rows_that_matter_stay(text: str) -> None:
    """Keys, the first rows, what is asked for, and what failed; a mark counts the rest."""
    short = JSON.cut(text, room_of(300, NEEDLE))
    assert all(part in short for part in ("user", "state", "user-0", NEEDLE, ERROR))
    assert re.search(r"^\[… \d+ rows …\]$", short, re.MULTILINE)
