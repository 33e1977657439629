"""Search results: a path is written once above its hits; some hits of each file stay."""

import pytest
from hypothesis import given

from autogen_context.compressor.arrival.hits import BELOW, Hits, with_paths
from support.reducing import ROOMS, assert_promises, exact, room_of, texts_of

LINES = (
    "src/alpha.py:12:    def total(self):",
    "src/alpha.py:140:        return self.total",
    "src/alpha.py-141-        # the end",
    "src/alpha.py:    def total(self):",
    "src/beta.py:7:total: 7",
    "src/beta-2.py-8-",
    "src/alpha.py:12-13: a range",
    "[… 3 lines …]",
    "--",
    "grep: src/x.pyc: binary file matches",
    "C:\\src\\alpha.py:7: error: no such name",
    "README.md:1:# Title",
)
TEXTS = texts_of(LINES)
MANY = "\n".join(
    f"src/handlers/{name}.py:{i}:    total += {i}" for name in ("shop", "mail") for i in range(200)
)


@given(TEXTS, ROOMS)
def test_promises(text: str, tokens: int) -> None:
    """Never larger, within the room, the same again, for hits and for what is broken."""
    assert_promises(Hits(), text, tokens)


@given(TEXTS)
def test_paths_can_be_written_again(text: str) -> None:
    """What begins with a number, or with a colon, has the path above it before it."""
    tight = Hits().tighten(text)
    if tight == text:
        return
    lines: list[str] = []
    path = ""
    rows = tight.split("\n")
    for row, following in zip(rows, [*rows[1:], ""], strict=True):
        number = row.lstrip("0123456789")
        if number != row and number[:1] in {":", "-"}:
            lines.append(path + number[0] + row)
        elif row.startswith(":"):
            lines.append(path + row)
        elif row != "--" and not row.startswith("[… ") and BELOW.match(following):
            path = row
        else:
            lines.append(row)
    assert "\n".join(lines) == text


@given(TEXTS)
def test_cutting_starts_from_whole_hits(text: str) -> None:
    """What was tightened is written out before anything goes."""
    tight = Hits().tighten(text)
    if tight != text:
        assert "\n".join(with_paths(tight.split("\n"))) == text


def test_a_path_is_written_once() -> None:
    """Numbers and texts below it are as they were, indentation included."""
    text = "src/alpha.py:12:    def f():\nsrc/alpha.py-13-        pass\n--\nsrc/alpha.py:90:f()\nb.py:1:x"
    assert Hits().tighten(text) == (
        "src/alpha.py\n12:    def f():\n13-        pass\n--\n90:f()\nb.py:1:x"
    )
    assert Hits().tighten("src/a.py:x = 1\nsrc/a.py:y = 2") == "src/a.py\n:x = 1\n:y = 2"
    assert exact(Hits().tighten(MANY)) < 0.75 * exact(MANY)


def test_a_line_that_begins_with_a_number_already_leaves_all_as_it_is() -> None:
    """It would be taken for a hit."""
    text = "src/alpha.py:12:x\nsrc/alpha.py:13:y\n7: of its own"
    assert Hits().tighten(text) == text


def test_some_hits_of_each_file_stay() -> None:
    """The first ones."""
    short = list(with_paths(Hits().cut(MANY, room_of(150)).split("\n")))
    assert "src/handlers/shop.py:0:    total += 0" in short
    assert "src/handlers/mail.py:0:    total += 0" in short
    assert "src/handlers/mail.py:1:    total += 1" in short


@pytest.mark.parametrize("text", [MANY, Hits().tighten(MANY)], ids=["as found", "tightened"])
def test_what_is_asked_for_stays(text: str) -> None:
    """With its path, wherever that stood."""
    lines = list(with_paths(Hits().cut(text, room_of(90, "177")).split("\n")))
    assert "src/handlers/mail.py:177:    total += 177" in lines


def test_a_path_that_costs_little_makes_nothing_longer() -> None:
    """In no room, as found and tightened."""
    text = "\n".join(f"src/{'a' * 60}/b.py:{i}:検{i}" for i in range(30))
    for tokens in range(40, exact(text), 7):
        assert_promises(Hits(), text, tokens)


def test_a_path_stands_once_above_gaps_as_well() -> None:
    """What went in the middle of a file's hits does not part them."""
    short = Hits().cut(MANY, room_of(150, "177")).split("\n")
    assert sum("src/handlers/mail.py" in line for line in short) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(MANY, True, id="grep -n"),
        pytest.param("src/a.py:import re\nsrc/b.py:import re", True, id="grep -r"),
        pytest.param("src/a.ts(3,5): error TS1: x\n" * 9, True, id="a compiler"),
        pytest.param("2024-05-14 10:00:01 x\n" * 9, False, id="a log"),
        pytest.param("name: value\nother: value\n" * 9, False, id="settings"),
        pytest.param("https://a.b/c: a link\n" * 9, False, id="links"),
        pytest.param("Note: see the guide.\n" * 9, False, id="prose"),
    ],
)
def test_recognition(text: str, told: bool) -> None:  # noqa: FBT001 - a row of the table
    """Most lines begin with a path and a colon."""
    assert Hits().recognises(text) == told
