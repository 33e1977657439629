"""JSON is tightened without loss, and cut so that keys and the rows that matter stay."""

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.json_text import Json
from support.reducing import exact, room_of
from support.structured import assert_cuts, assert_tightens
from support.texts import HOSTILE, TEXTS
from support.tight_json import Fields, Reader, Spelled

REDUCER = Json()

SCALARS = st.sampled_from(
    [
        *("0", "-0", "1.0", "0.10", "1e5", "1E+2", "12345678901234567890", "NaN", "-Infinity"),
        *(
            "true",
            "false",
            "null",
            '""',
            '"a"',
            '"1.0"',
            '"é"',
            r'"\u00e9"',
            r'"\ud83d"',
            '"\ud83d"',
        ),
        *(
            r'"say \"x\""',
            r'"\\"',
            r'"\\\""',
            r'"\/"',
            r'"a\nb"',
            '"[1, 2]"',
            '"{}"',
            '"], ["',
            '"\ue000"',
        ),
        *(r'"[columns \"a\":"', '"columns"', '"a: b,"', '"\u2028"', '"long ' + "word " * 60 + '"'),
    ]
)
KEYS = st.sampled_from(
    ['"id"', '"name"', '"a"', '""', r'"\u00e9"', r'"q\""', '"status"', '":null"']
)
BLANK = st.sampled_from(["", "", " ", "\n", "\n    ", "\t", " \r\n"])


@st.composite
def lists(draw: st.DrawFn, items: st.SearchStrategy[str]) -> str:
    """Brackets around values, blanks between them."""
    comma = f"{draw(BLANK)},{draw(BLANK)}"
    return f"[{draw(BLANK)}{comma.join(draw(st.lists(items, max_size=5)))}{draw(BLANK)}]"


@st.composite
def objects(draw: st.DrawFn, items: st.SearchStrategy[str]) -> str:
    """Members with any keys, twice the same perhaps."""
    pairs = draw(st.lists(st.tuples(KEYS, items), max_size=5))
    comma, colon = f",{draw(BLANK)}", f":{draw(BLANK)}"
    return f"{{{comma.join(f'{key}{colon}{value}' for key, value in pairs)}{draw(BLANK)}}}"


@st.composite
def alike(draw: st.DrawFn, items: st.SearchStrategy[str]) -> str:
    """A list of objects with the same keys, or an object of them, now and then a key less."""
    keys = draw(st.lists(KEYS, min_size=1, max_size=4, unique=True))
    comma = draw(st.sampled_from([",", ", ", ",\n  "]))
    rows: list[str] = []
    for _ in range(draw(st.integers(2, 6))):
        some = [key for key in keys if draw(st.integers(0, 5))]
        some = some if draw(st.integers(0, 5)) else some[::-1]
        rows.append(f"{{{comma.join(f'{key}: {draw(items)}' for key in some)}}}")
    if draw(st.booleans()):
        return f"[{comma.join(rows)}]"
    members = (f'"k{i}": {row}' for i, row in enumerate(rows))
    return f"{{{comma.join(members)}}}"


def containers(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """All that holds values."""
    return st.one_of(lists(items), objects(items), alike(items))


VALUES = st.recursive(SCALARS, containers, max_leaves=12)
DOCUMENTS = containers(VALUES)
LINES = st.lists(DOCUMENTS.map(lambda text: " ".join(text.split())), min_size=2, max_size=6)


@st.composite
def broken(draw: st.DrawFn) -> str:
    """JSON with an end too early, with something put in, or with text around it."""
    text = draw(DOCUMENTS)
    at = draw(st.integers(0, len(text)))
    inside = draw(st.sampled_from(["", "\x00", '"', "}", "]]", "\\", "[…]", "\ud800", "\n"]))
    before, after = draw(st.sampled_from(["", "Result:\n"])), draw(st.sampled_from(["", "\nend"]))
    return f"{before}{text[:at]}{inside}{text[at:] if draw(st.booleans()) else ''}{after}"


ANY = st.one_of(DOCUMENTS, broken(), LINES.map("\n".join), TEXTS)


def read(text: str) -> Sequence[Spelled]:
    """The values of a text."""
    return Reader(text).document()


@given(DOCUMENTS | LINES.map("\n".join))
@example('{"a": 1, "a": 2}')
@example('[{"a": {"x": 1}, "b": null}, {"a": null}, {"a": {"x": 2}, "b": 3}]')
def test_nothing_is_lost(text: str) -> None:
    """The same keys in the same order, repeated ones too, and each scalar as it is spelled."""
    assert read(REDUCER.tighten(text)) == read(text)


@given(DOCUMENTS)
def test_values_are_those_of_the_standard_library(text: str) -> None:
    """What the reader of these tests reads is what a JSON parser reads."""
    (value,) = read(text)
    assert plain(value) == json.loads(text, parse_constant=str, parse_float=str, parse_int=str)


def plain(value: Spelled) -> object:
    """A value as the standard library has it, numbers as they are spelled."""
    if isinstance(value, Fields):
        return {json.loads(key): plain(item) for key, item in value.members}
    if isinstance(value, list):
        return [plain(item) for item in value]
    names = {"true": True, "false": False, "null": None}
    return json.loads(value) if value.startswith('"') else names.get(value, value)


@given(ANY)
@example('[{"a":1,"b":"x"},{"a":2,"b":"y"}]\n\n[1]')
def test_any_text_is_tightened_once(text: str) -> None:
    """Broken or not, it becomes no longer, and is tight then."""
    assert_tightens(REDUCER, text)


@given(ANY, st.sampled_from(["", "name", "a"]))
@example(json.dumps({"n": 0, ":null": {"k": [{"a": i, "b": "x"} for i in range(40)]}}), "")
def test_any_text_is_cut_to_its_room(text: str, wanted: str) -> None:
    """Broken or not, it fits, and has not become larger."""
    assert_cuts(REDUCER, text, wanted)


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"a":' * 50_000, id="deep objects"),
        pytest.param("[" * 900 + "]" * 900, id="as deep as a parser may go"),
        pytest.param("[1,\n" * 30_000, id="lists that never close"),
        pytest.param("[{}]]\n" * 20_000, id="brackets too many"),
        pytest.param("[12:00:01] all is well\n" * 40_000, id="times in brackets"),
        pytest.param("[1," * 200 + "x\n" + '["a",\n' * 40_000, id="errors far behind"),
        pytest.param('{"a": "' + "x" * 1_000_000, id="a string that never ends"),
        pytest.param(json.dumps({"a": list(range(150_000))}), id="a line of a megabyte"),
        pytest.param("".join(map(chr, range(0xE000, 0xF900))) + "[1]", id="all private characters"),
    ],
)
def test_hostile_texts_are_cut(text: str) -> None:
    """Whatever comes, it fits in the end."""
    REDUCER.recognises(text)
    assert_tightens(REDUCER, text)
    room = room_of(60, "a")
    assert exact(REDUCER.cut(text, room)) <= 60


ROWS = [
    {
        "id": 1000 + i,
        "name": f"user-{i}",
        "address": {"city": "Ghent", "zip": f"{i:05}"},
        "note": None,
    }
    for i in range(300)
]


@pytest.mark.parametrize(
    ("text", "tight"),
    [
        pytest.param('{"a": [1, 2.50], "b": "x  y"}', '{"a":[1,2.50],"b":"x  y"}', id="blanks"),
        pytest.param(
            json.dumps(ROWS[:2], indent=2),
            '[columns "id","name","address"("city","zip"),"note":\n'
            '[1000,"user-0",["Ghent","00000"],null],\n[1001,"user-1",["Ghent","00001"],null]]',
            id="like objects",
        ),
        pytest.param(
            json.dumps({"k": ROWS[0], "l": ROWS[1], "m": {"id": 7}}),
            '{columns "id","name","address"("city","zip"),"note":\n"k":[1000,"user-0",["Ghent","00000"],null],'
            '\n"l":[1001,"user-1",["Ghent","00001"],null],\n"m":[7,,,]}',
            id="an object of like objects",
        ),
        pytest.param(
            "\n".join(map(json.dumps, ROWS[:3])) + "\n",
            '3 lines of columns "id","name","address"("city","zip"),"note":\n[1000,"user-0",["Ghent","00000"],null]'
            '\n[1001,"user-1",["Ghent","00001"],null]\n[1002,"user-2",["Ghent","00002"],null]',
            id="lines",
        ),
        pytest.param(
            "Found:\n"
            + json.dumps({"path": "a/b.py", "lines": [1, 2, 3], "text": "x" * 60}, indent=1)
            + "\nDone.",
            f'Found:\n{{"path":"a/b.py","lines":[1,2,3],"text":"{"x" * 60}"}}\nDone.',
            id="inside text",
        ),
        pytest.param("Values:\n[1, 2, 3]\n", "Values:\n[1, 2, 3]\n", id="too short to be told"),
        pytest.param(
            '[{"left": 1, "same": 2, "last": 3}, {"right": 1, "same": 2, "last": 3}, {"same": 2, "last": 3}]',
            '[columns "right","left","same","last":\n[,1,2,3],\n[1,,2,3],\n[,,2,3]]',
            id="keys that exclude each other",
        ),
        pytest.param('[ { "a" : 1 } , { "b" : 2 } ]', '[{"a":1},{"b":2}]', id="unlike objects"),
    ],
)
def test_what_tight_json_looks_like(text: str, tight: str) -> None:
    """No blanks; like objects as tables."""
    assert REDUCER.tighten(text) == tight


def test_keys_in_another_order_are_no_table() -> None:
    """A row has its keys in the order in which they stood."""
    text = json.dumps([*ROWS[:5], dict(reversed(ROWS[5].items())), *ROWS[6:9]])
    assert REDUCER.tighten(text) == text.replace(", ", ",").replace(": ", ":")


@pytest.mark.parametrize(("depth", "read"), [(60, True), (61, False), (300, False)])
def test_too_deep_is_left_alone(depth: int, read: bool) -> None:  # noqa: FBT001 - a column of the table
    """The limit is the same wherever the call stands."""
    text = "[ " * depth + "]" * depth
    assert REDUCER.tighten(text) == (text.replace(" ", "") if read else text)


def test_tables_save_tokens() -> None:
    """Rows of like objects cost half at most, by an exact count."""
    for text in (
        json.dumps(ROWS),
        json.dumps({"rows": ROWS}, indent=1),
        "\n".join(map(json.dumps, ROWS)),
    ):
        assert exact(REDUCER.tighten(text)) <= 0.6 * exact(text)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "form", ["list", "in an object", "an object", "lines", "ends too early", "inside text"]
)
def test_what_is_wanted_stays(form: str, indent: int | None) -> None:
    """The wanted row, the failed one, the first and the last, under their keys; the gaps are counted."""
    rows = [dict(row) for row in ROWS]
    rows[200]["name"] = "ValueError: no name"
    text = {
        "list": json.dumps(rows, indent=indent),
        "in an object": json.dumps({"query": "q1", "rows": rows, "total": 300}, indent=indent),
        "an object": json.dumps({row["name"]: row for row in rows}, indent=indent),
        "lines": "\n".join(map(json.dumps, rows)),
        "ends too early": json.dumps(rows, indent=indent)[: -30 if indent else -15],
        "inside text": f"Found:\n{json.dumps(rows, indent=indent)}\nDone.",
    }[form]
    short = REDUCER.cut(text, room_of(260, "user-77"))
    for word in (
        '"name"',
        "user-0",
        "user-1",
        "user-77",
        "ValueError: no name",
        "user-299",
    ):
        assert word in short
    assert 'columns "id","name","address"("city","zip"),"note":\n' in short
    gone = sum(int(count) for count in re.findall(r"\[… (\d+) rows? …\]", short))
    assert gone + short.count("Ghent") == 300 or form == "ends too early"
    if form == "in an object":
        assert '"query":"q1"' in short
        assert '"total":300' in short


def test_what_stays_stays_under_its_keys() -> None:
    """What opens the objects and lists around a wanted row stays with it."""
    text = json.dumps({f"k{i}": {f"p{i}": ROWS[10 * i : 10 * i + 10]} for i in range(30)})
    short = REDUCER.cut(text, room_of(150, "user-137"))
    assert '"k13":{\n' in short
    assert '"p13":[columns "id",' in short
    assert '"user-137"' in short


def test_lines_of_their_own_make_nothing_longer() -> None:
    """Where nearly all fits, there are fewer gaps than ends of lines, and yet no more characters."""
    fields = {f"k{i}": {f"a{i}{j}": f"www{j}" for j in range(25)} for i in range(9)}
    text = json.dumps(fields, separators=(",", ":"))
    for tokens in range(exact(text) - 20, exact(text)):
        short = REDUCER.cut(text, room_of(tokens))
        assert len(short) <= len(text)
        assert exact(short) <= tokens


def test_long_values_are_shortened() -> None:
    """Of long strings the ends stay and what is wanted, of long runs of numbers the ends; the row does not grow."""
    rows = [
        {
            "id": i,
            "text": f"begin{'x ' * 300} needle{i} {'y ' * 300}end",
            "vector": [i + n / 7 for n in range(400)],
        }
        for i in range(40)
    ]
    short = REDUCER.cut(json.dumps(rows), room_of(700, "needle7"))
    assert "needle7 y" in short
    assert "begin" in short
    assert "y end" in short
    assert "[… 391 numbers …]" in short
    assert short.count("characters …]") >= 4


def test_nulls_go_only_where_something_must() -> None:
    """Members that are null stay while all fits."""
    rows = [{f"k{i}": None, f"l{i}": "word " * 30} for i in range(40)]
    text = json.dumps(rows)
    assert '"k7":null' in REDUCER.cut(text, room_of(50_000))
    short = REDUCER.cut(text, room_of(400))
    assert "null" not in short
    assert "\n\n" not in short
    opened = REDUCER.cut(json.dumps({"a": None, "b": rows, "c": 1}), room_of(400))
    assert opened.startswith('{\n"b":[\n')


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(json.dumps(ROWS), True, id="a list"),
        pytest.param("\n ".join(json.dumps(ROWS, indent=1).split("\n")), True, id="indented"),
        pytest.param(json.dumps(ROWS)[:5_000], True, id="ends too early"),
        pytest.param("\n".join(map(json.dumps, ROWS)), True, id="lines"),
        pytest.param("200 OK\n\n" + json.dumps(ROWS), True, id="after a line"),
        pytest.param("{}", True, id="an empty object"),
        pytest.param("{'a': 1, 'b': [2, 3]}", False, id="Python"),
        pytest.param("[INFO] started\n[INFO] done", False, id="a log"),
        pytest.param(
            "[1] The first of the references\n[2] The second of them", False, id="references"
        ),
        pytest.param("function f() {\n  return {a: 1};\n}\n", False, id="code"),
        pytest.param("[[1 0]\n [0 1]]", False, id="a matrix"),
        pytest.param("", False, id="nothing"),
        pytest.param("12", False, id="a number"),
    ],
)
def test_what_json_is(text: str, told: bool) -> None:  # noqa: FBT001 - a column of the table
    """Told by its beginning."""
    assert REDUCER.recognises(text) is told
