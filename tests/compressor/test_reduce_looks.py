"""A cheap look before a costly one hides nothing, and what is read at one go is what is read piece by piece."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.compressor.arrival import json_blocks, json_layout, outline
from autogen_context.compressor.arrival.alarms import NONE_BEFORE, alarms_in
from autogen_context.compressor.arrival.code import PARTS, part_of
from autogen_context.compressor.arrival.json_spelling import Spelling, Tree
from autogen_context.compressor.arrival.json_text import Json
from autogen_context.compressor.arrival.wanted import wanted_in
from support.reducing import room_of

DEFINING = """
export default declare public private protected internal static final abstract sealed override virtual async readonly pub
pub(crate) unsafe extern inline const synchronized partial open suspend def class function enum interface namespace fn struct
trait impl mod func fun module record object protocol extension type let var
"""
TELLING = """
return raise throw yield panic! import #include using package use require const let var # // * /// //! /** rb''' Rf\"\"\" \"\"\" '''
"""
LINES = [
    f"{indent}{word}{rest}"
    for word in (*DEFINING.split(), *TELLING.split(), "from a", "self.total", "total", "")
    for indent in ("", "    ", "\t", "\u2003")
    for rest in (
        "",
        " ",
        " def a(b):",
        " class A {",
        " a = require(b)",
        " a = b => c",
        " import b",
        "(",
        "a",
    )
]
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.none() | st.booleans() | st.text("ab\ue003", max_size=30),
    lambda items: st.lists(items, max_size=8) | st.dictionaries(st.text("ab", max_size=2), items),
    max_leaves=30,
)


def repeated(tree: Tree, times: int) -> Tree:
    """A list of the same, again and again."""
    return [tree] * times


WIDE = st.builds(repeated, TREES, st.integers(1, 4_000))
JSON_LINES = st.lists(
    st.sampled_from(
        [
            '{"a":1}',
            "[1,[2]]",
            "[]",
            "{} ",
            '["x"]\r',
            "[1",
            "2]",
            "{",
            '{"a"',
            "[1]]",
            "[[1]",
            "7",
        ]
    ),
    min_size=1,
    max_size=5,
)


def test_every_definition_is_looked_at() -> None:
    """A line whose words define something is seen as a definition."""
    defining = [line for line in LINES if outline.WORDED.match(line.lstrip())]
    assert {line.split()[0] for line in defining} >= {*DEFINING.split()} - {"let", "var"}
    assert all(map(outline.defines, defining))


def test_every_part_of_code_is_told() -> None:
    """A line is the part that its pattern says it is."""
    for line in LINES:
        match = PARTS.match(line)
        assert part_of(line) == (match.lastgroup if match else None)


@given(
    st.sampled_from(["0", "no", "No", "without", "00", "10", "on", "foo", "wit"]),
    st.text(" =:", min_size=1, max_size=3),
)
def test_every_count_of_none_is_told(word: str, between: str) -> None:
    """An error that there is none of is no alarm, and any other is one."""
    none = NONE_BEFORE.search(word + between) is not None
    assert alarms_in([f"{word}{between}error"]) == [0 if none else 2]


@given(JSON_LINES)
@example(["[1", "[2]]"])
@example(["[1]", "[2]]"])
@example(["[1", "[2]],[3],[4]"])
def test_lines_are_read_at_one_go_where_each_is_a_value(lines: list[str]) -> None:
    """What is read of several lines at one go is what is read of each alone; nothing where one of them is no value."""
    spelling = Spelling("\n".join(lines))
    alone = [json_blocks.blocks_of(line, spelling) for line in lines]
    trees = json_blocks.lines_at_once(spelling.text, spelling)
    if trees:
        assert trees == [tree for blocks in alone for block in blocks for tree in block.trees]
    each = all(
        blocks and line[:1] in "[{" and line for blocks, line in zip(alone, lines, strict=True)
    )
    assert bool(trees) == (each and len(lines) > 1)


@pytest.mark.parametrize("key", ["a", "", "kkk"])
@given(tree=WIDE | TREES)
@example(tree={f"{i}": [] for i in range(450)})
def test_what_is_long_for_certain_is_long(tree: Tree, key: str) -> None:
    """No value that is short as it is written is taken for a long one."""
    spelling = Spelling("")
    for value in (tree, {key: tree}):
        written = len(spelling.written(value))
        assert written > json_layout.WRITTEN_CHARS or not json_layout.is_long(value)


def test_tables_in_a_column_are_tables() -> None:
    """Lists of like objects in the cells of a table are written as tables themselves."""
    inner = [{"first": 1, "second": 2, "third": 3}] * 9
    tight = Json().tighten(json.dumps([{"key": i, "inner": inner} for i in range(3)]))
    assert tight.count("columns") == 4


def test_what_is_opened_is_closed_as_it_was_written() -> None:
    """A comma stands behind a member that is opened where another one follows."""
    rows = [{f"k{i}": "word " * 30} for i in range(60)]
    lines = Json().cut(json.dumps({"a": rows, "b": rows}), room_of(400)).split("\n")
    assert "]," in lines
    assert lines[-2:] == ["]", "}"]


def test_a_wanted_word_counts_once_in_a_line() -> None:
    """A line that has it twice has no more than one that has it once."""
    assert wanted_in(["a1 a1 b", "a1 c"], ["a1"]) == [1, 1]
