"""Data that nobody reads is never kept whole; what looks like it, but is read, stays."""

import base64
import random
import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.binary import Binary
from autogen_context.compressor.arrival.blobs import without_blobs
from support.reducing import exact, room_of
from support.structured import assert_cuts, assert_tightens
from support.texts import HOSTILE, TEXTS

REDUCER = Binary()
CHANCE = random.Random(7)  # noqa: S311 - the same data each time
BYTES = CHANCE.randbytes(1_500)
BASE64 = base64.b64encode(BYTES).decode()
WRAPPED = base64.encodebytes(BYTES).decode()
HEX = BYTES.hex()
DUMP = "".join(
    f"{i:08x}: "
    + " ".join(f"{BYTES[i + j]:02x}{BYTES[i + j + 1]:02x}" for j in range(0, 16, 2))
    + "  ................\n"
    for i in range(0, 480, 16)
)
RAW = BYTES.decode("latin-1")
REPLACED = BYTES.decode("utf-8", "replace")
ESCAPED = "".join(f"\\x{byte:02x}" for byte in BYTES)
BUNDLE = (
    "!function(e,t){"
    + "".join(
        f'var a{i}=e[{i}](t.n({i}));if(a{i}&&!t.x){{return{{k:a{i},v:"{i}"}}}};' for i in range(90)
    )
    + "}(window,document);"
)

BLOBS = st.sampled_from(
    [BASE64, WRAPPED, HEX, DUMP, RAW, REPLACED, ESCAPED, BUNDLE, f"data:image/png;base64,{BASE64}"]
)


@st.composite
def mixed(draw: st.DrawFn) -> str:
    """Data and text, cut anywhere."""
    parts = draw(st.lists(st.one_of(BLOBS, TEXTS), max_size=4))
    text = draw(st.sampled_from(["", " ", "\n"])).join(parts)
    return text[draw(st.integers(0, 50)) : len(text) - draw(st.integers(0, 50))]


@given(mixed())
def test_any_text_is_tightened_once(text: str) -> None:
    """It stays what it is."""
    assert REDUCER.tighten(text) is text
    assert_tightens(REDUCER, text)


@given(mixed())
@example(" " * 5_000 + "what comes late counts as well. " * 200)
def test_any_text_is_cut_to_its_room(text: str) -> None:
    """It fits, and has not become larger."""
    assert_cuts(REDUCER, text, "a")


@given(mixed())
def test_what_has_no_data_left_stays(text: str) -> None:
    """Data goes once; the rest is neither longer nor touched again."""
    rest = without_blobs(text)
    assert len(rest) <= len(text)
    assert exact(rest) <= exact(text)
    assert without_blobs(rest) == rest


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        pytest.param("\\x41" * 100_000, id="escapes"),
        pytest.param("\x00a" * 200_000, id="nulls"),
        pytest.param("ab1 " * 100_000, id="words"),
        pytest.param(("a" * 199 + " ") * 2_000, id="long words"),
        pytest.param("data:" * 60_000, id="urls that do not begin"),
        pytest.param("x" * 1_000_000, id="a line of a megabyte"),
        pytest.param(BASE64 * 500, id="a megabyte of data"),
    ],
)
def test_hostile_texts_are_cut(text: str) -> None:
    """Whatever comes, it fits in the end."""
    REDUCER.recognises(text)
    without_blobs(text)
    assert exact(REDUCER.cut(text, room_of(60, "a"))) <= 60


@pytest.mark.parametrize(
    ("data", "mark"),
    [
        pytest.param(BASE64, "[base64, 2,000 characters]", id="base64"),
        pytest.param(HEX, "[hex, 3,000 characters]", id="hex"),
        pytest.param(HEX.upper(), "[hex, 3,000 characters]", id="capital hex"),
        pytest.param(
            f"data:image/png;base64,{BASE64}", "[data:image/png, 2,022 characters]", id="a URL"
        ),
        pytest.param(
            f"data:,{'a' * 300}", "[data:text, 306 characters]", id="a URL without a type"
        ),
        pytest.param(ESCAPED, "[escaped bytes, 6,000 characters]", id="escaped bytes"),
    ],
)
def test_data_becomes_a_mark(data: str, mark: str) -> None:
    """The mark stands where the data stood."""
    assert without_blobs(f"before {data} after") == f"before {mark} after"
    assert without_blobs(f'{{"a": "{data}", "b": 1}}') == f'{{"a": "{mark}", "b": 1}}'


@pytest.mark.parametrize(
    ("data", "mark"),
    [
        pytest.param(WRAPPED, f"[base64, {len(WRAPPED) - 1:,} characters]\n", id="base64 on lines"),
        pytest.param(DUMP, f"[hex dump, {len(DUMP) - 1:,} characters]\n", id="a dump"),
    ],
)
def test_lines_of_data_become_a_mark(data: str, mark: str) -> None:
    """The lines around them stay."""
    assert without_blobs(f"before\n{data}after") == f"before\n{mark}after"


@pytest.mark.parametrize("data", [RAW, REPLACED, BYTES.decode("utf-8", "surrogateescape")])
def test_raw_bytes_do_not_stay(data: str) -> None:
    """What no decoder could read is gone but for some characters at its ends."""
    rest = without_blobs(f"before\n{data}\nafter")
    assert "[binary, " in rest
    assert len(rest) < 0.2 * len(data)


def test_of_a_bundle_the_beginning_stays() -> None:
    """It tells which one it is."""
    text = f"1:/* a banner */\n2:{BUNDLE}\n3:end"
    rest = without_blobs(text)
    assert rest.startswith(f"1:/* a banner */\n2:{BUNDLE[:100]}")
    assert rest.endswith(" characters]\n3:end")
    assert len(rest) < 250


PATH = (
    "/home/user/projects/"
    + "/".join(f"some-long-folder-name-{i}/SubFolder{i}" for i in range(12))
    + "/file.py"
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("sha256:" + HEX[:64], id="a hash"),
        pytest.param("".join(f"{HEX[i : i + 40]}\n" for i in range(20)), id="a list of commits"),
        pytest.param(WRAPPED[:190] + "\n", id="few lines of data"),
        pytest.param(
            "Les élèves étudient à l'école, où règne l'été. ".encode("latin-1").decode(
                "utf-8", "replace"
            )
            * 40,
            id="lost accents",
        ),
        pytest.param(" ".join(str(uuid.UUID(int=i * 7919)) for i in range(60)), id="ids"),
        pytest.param(f"{BASE64[:36]}.{BASE64[40:190]}.{BASE64[200:243]}", id="a web token"),
        pytest.param(BASE64[:199], id="little data"),
        pytest.param(PATH, id="a long path"),
        pytest.param("_".join(["very_long_test_name"] * 20), id="a long name"),
        pytest.param("これは長い文章です。" * 100, id="Japanese"),
        pytest.param("今天天气很好我们一起去公园散步然后回家吃晚饭" * 40, id="Chinese"),
        pytest.param("สวัสดีครับผมชื่อ" * 40, id="Thai"),
        pytest.param(str(3**900), id="a large number"),
        pytest.param("=" * 500 + "-" * 500 + "_" * 500, id="rules"),
        pytest.param("A" * 2_000, id="one letter"),
        pytest.param(
            '{"a": [' + ", ".join(f'{{"id": {i}, "n": "x{i}"}}' for i in range(300)) + "]}",
            id="JSON on a line",
        ),
        pytest.param(
            '{"a":[' + ",".join(f'{{"id":{i},"n":"x{i}"}}' for i in range(300)) + "]}",
            id="minified JSON",
        ),
        pytest.param(
            "<ul>"
            + "".join(f'<li class="x"><a href="/{i}">{i}</a></li>' for i in range(99))
            + "</ul>",
            id="HTML",
        ),
        pytest.param("prose goes on and on, " * 200, id="a long line of prose"),
        pytest.param(
            "".join(
                f"{2000 + i} {i * 3 + 11:04} {i * 7 + 12:04} {i + 5000} {i + 7000} x\n"
                for i in (1, 5, 7, 20, 21, 40, 60, 61, 69, 80)
            ),
            id="numbers",
        ),
        pytest.param(
            "".join(f"\x1b[32m{i}%\x1b[0m (of 9.5M);" for i in range(200)), id="a progress bar"
        ),
    ],
)
def test_what_is_read_stays(text: str) -> None:
    """Names, paths, hashes, numbers and scripts without blanks are no data."""
    assert without_blobs(text) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(BASE64, True, id="base64"),
        pytest.param(WRAPPED, True, id="base64 on lines"),
        pytest.param(DUMP, True, id="a dump"),
        pytest.param(RAW, True, id="bytes"),
        pytest.param(BUNDLE, True, id="a bundle"),
        pytest.param("words and words " * 200 + BASE64, False, id="some data"),
        pytest.param("words", False, id="words"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_what_binary_is(text: str, told: bool) -> None:  # noqa: FBT001 - a column of the table
    """Mostly data."""
    assert REDUCER.recognises(text) is told
