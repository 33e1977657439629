"""Logs: what a terminal shows stays when nothing has to go; when much has to, alarms and what is rare stay."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.compressor.arrival.alarms import alarms_in
from autogen_context.compressor.arrival.dates import without_dates
from autogen_context.compressor.arrival.log import Log
from autogen_context.compressor.arrival.numbering import without_padding
from autogen_context.compressor.arrival.output import Output
from autogen_context.compressor.arrival.repeats import without_repeats
from autogen_context.compressor.arrival.terminal import shown
from support.reducing import ROOMS, assert_promises, exact, room_of, texts_of

LINES = (
    "2024-05-14 10:00:01,123 INFO app.db: 17 rows in 3 ms",
    "2024-05-14 10:00:02,123 INFO app.db: 4711 rows in 30 ms",
    "2024-05-14 10:00:03,500 WARNING app: slow",
    "2024-05-15 00:00:00,000 ERROR app: row 17 is gone",
    "[2024-05-14T10:00:05Z] DEBUG poll",
    "May 14 10:00:06 host sshd[99]: refused",
    "\x1b[32mINFO\x1b[0m ready",
    " 10%|#   |\r 50%|##  |\r100%|####|",
    "Cloning test database for alias 'default'...",
    "    at handler",
)
TEXTS = texts_of(LINES)
NOTE = re.compile(r"\[the line above (\d+) more times\]\r?")


def with_repeats(text: str) -> str:
    """The lines that a note stands for, written again."""
    lines: list[str] = []
    for line in text.split("\n"):
        note = NOTE.fullmatch(line)
        lines += [lines[-1]] * int(note[1]) if note else [line]
    return "\n".join(lines)


def with_dates(text: str) -> str:
    """The date of the note before each mere time again."""
    first, _, rest = text.partition("\n")
    note = re.fullmatch(r'\["(.*)" stands before each line that begins with a time\]', first)
    return re.sub(r"^(?=\d\d:\d\d:\d\d)", note[1], rest, flags=re.MULTILINE) if note else text


def screen(text: str) -> str:
    """A terminal that knows lines, carriage returns and colours, one character at a time."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    lines: list[str] = []
    for line in text.split("\n"):
        cells: list[str] = []
        at = 0
        for character in line:
            if character == "\r":
                at = 0
            else:
                cells[at : at + 1] = [character]
                at += 1
        lines.append("".join(cells))
    return "\n".join(lines)


@given(TEXTS, ROOMS)
def test_promises(text: str, tokens: int) -> None:
    """Never larger, within the room, the same again, for logs and for what is broken."""
    assert_promises(Log(), text, tokens)
    assert_promises(Output(), text, tokens)


@given(TEXTS)
def test_repeats_and_dates_can_be_written_again(text: str) -> None:
    """Nothing is lost: the notes say exactly what stood there."""
    if not NOTE.search(text):
        assert with_repeats(without_repeats(text)) == text
    assert with_dates(without_dates(text)) == text


@given(st.lists(st.sampled_from(["ab", "c d", "\r", "\n", "\x1b[1;31m", "\x1b[0m", "%"])))
def test_a_screen_looks_the_same(parts: list[str]) -> None:
    """Colours and what was written over go; what is seen at the end stays."""
    text = "".join(parts)
    assert screen(shown(text)) == screen(text)
    assert shown(shown(text)) == shown(text)
    assert "\x1b" not in shown(text)


def test_line_ends_stay() -> None:
    """A carriage return at the end of a line overwrites nothing."""
    assert shown("one\r\ntwo\r\n") == "one\r\ntwo\r\n"
    assert shown("10%\r20%\r\nok") == "20%\r\nok"
    assert shown("\x1b]0;title\x07$ ls") == "$ ls"
    assert shown("a\x1bb") == "ab"


def test_a_run_of_lines_is_counted() -> None:
    """Written once with a number, where that is less."""
    cloning = "Cloning test database for alias 'default'..."
    assert without_repeats(f"{cloning}\n" * 8 + "ok") == (
        f"{cloning}\n[the line above 7 more times]\nok"
    )
    assert without_repeats("}\n}\n}\n}") == "}\n}\n}\n}"
    assert without_repeats("\n" * 90) == "\n" * 90
    for blank in ("\n" * 9_000, "a" + "\n" * 9_000 + "b", "\n" * 9_000 + "b", "a" + "\n" * 9_000):
        assert len(without_repeats(blank)) < 50
        assert with_repeats(without_repeats(blank)) == blank
    noted = f"{cloning}\n" * 8 + "[the line above 3 more times]"
    assert without_repeats(noted) == noted


def test_the_common_date_is_written_once() -> None:
    """Other dates stay where they are; so do all where there are few, or where a time stands alone already."""
    days = [f"2024-05-14 10:00:{i:02d} line {i}" for i in range(30)]
    days[7] = "2024-05-13 23:59:59 the day before"
    tight = without_dates("\n".join(days)).split("\n")
    assert tight[0] == '["2024-05-14 " stands before each line that begins with a time]'
    assert tight[1] == "10:00:00 line 0"
    assert tight[8] == days[7]
    few = "\n".join(days[:10])
    assert without_dates(few) == few
    mixed = "\n".join([*days, "10:00:00 no date"])
    assert without_dates(mixed) == mixed


def test_line_numbers_lose_their_blanks_and_nothing_else() -> None:
    """Where all are as ``cat -n`` writes them; the code behind the tab is not touched."""
    code = "     9\tdef f():\n    10\t    return 1\n    11\t"
    assert without_padding(code) == "9\tdef f():\n10\t    return 1\n11\t"
    assert without_padding(" 99999\tone\n100000\ttwo") == "99999\tone\n100000\ttwo"
    odd = "     9\tdef f():\n10\t    return 1"
    assert without_padding(odd) == odd


def log(errors: int = 1) -> str:
    """A thousand lines of three templates, and errors of another among them."""
    lines = [
        f"2024-05-14 10:{i // 60:02d}:{i % 60:02d} INFO poll {i} took {i}ms" for i in range(999)
    ]
    for i in range(errors):
        lines.insert(500 + i, f"2024-05-14 10:08:20 ERROR row {i} of table t is gone")
    lines.insert(300, "2024-05-14 10:05:00 INFO configuration read from /etc/app.toml")
    return "\n".join(lines)


def test_errors_and_what_is_rare_stay() -> None:
    """One line in a thousand is found; the first and the last line as well."""
    short = Log().cut(log(), room_of(200))
    assert "ERROR row 0 of table t is gone" in short
    assert "configuration read" in short
    assert "INFO poll 0 took 0ms" in short
    assert "INFO poll 998 took 998ms" in short
    assert re.search(r"\[… \d+ lines …\]", short)


def test_equal_errors_are_counted() -> None:
    """The first one stands for all."""
    short = Log().cut(log(errors=313), room_of(200))
    assert "ERROR row 0 of table t is gone [… 312 more like this …]" in short


@pytest.mark.parametrize(
    "name", ["0x7ffe{:04x}", "{:07x}c0ffee", "3f2504e0-4f89-41d3-9a0c-{:012x}", "{}", "{}.5"]
)
def test_numbers_of_any_form_make_no_other_line(name: str) -> None:
    """Addresses, hashes, UUIDs, counts."""
    lines = [f"ERROR {name.format(i * 7919)} is gone" for i in range(1, 301)]
    assert "[… 299 more like this …]" in Log().cut("\n".join(lines), room_of(300))


@given(st.integers(2, 12), st.integers(300, 400))
def test_every_distinct_error_that_fits_stays(kinds: int, tokens: int) -> None:
    """However many other lines there are."""
    errors = [f"ERROR {'abcdefghijkl'[i] * 5} failed" for i in range(kinds)]
    lines = [f"INFO poll {i}" for i in range(900)]
    for i, error in enumerate(errors):
        lines.insert(50 + 70 * i, error)
    short = Log().cut("\n".join(lines), room_of(tokens))
    assert all(error in short for error in errors)


def test_both_ends_of_a_run_stay() -> None:
    """Where one kind of line gives way to another."""
    lines = [f"INFO {word} {i}" for word in ("poll", "push", "pull") for i in range(300)]
    short = Log().cut("\n".join(lines), room_of(110))
    assert {"INFO poll 299", "INFO push 0", "INFO push 299", "INFO pull 0"} <= set(
        short.split("\n")
    )


def test_numbers_behind_alarms_make_nothing_longer() -> None:
    """Not even where what goes has many tokens and few characters."""
    errors = [f"error {word} {i}" for word in "abcdefghijklmnop" for i in range(2)]
    text = "\n".join([*errors, "\U00020000" * 150, *errors])
    for tokens in range(exact(text) - 12, exact(text), 3):
        assert_promises(Log(), text, tokens)


def test_wanted_lines_stay() -> None:
    """What the call asks for stands before what is only rare."""
    lines = [f"INFO {chr(97 + i % 26)}{chr(97 + i // 26)} started" for i in range(300)]
    lines.insert(150, "INFO worker-7 stopped")
    assert "worker-7 stopped" in Log().cut("\n".join(lines), room_of(60, "worker-7"))


@pytest.mark.parametrize(
    ("line", "level"),
    [
        pytest.param("ERROR: x", 2, id="a level"),
        pytest.param("ValueError: x", 2, id="an exception"),
        pytest.param("3 failures", 2, id="failures"),
        pytest.param("thread panicked at", 2, id="a panic"),
        pytest.param("cat: a: No such file or directory", 2, id="a file that is not there"),
        pytest.param("DeprecationWarning: old", 1, id="a warning"),
        pytest.param("warning: unused", 1, id="a compiler's warning"),
        pytest.param("0 failed, 0 errors", 0, id="none failed"),
        pytest.param("errors: 0", 0, id="a count of none"),
        pytest.param("no errors", 0, id="no errors"),
        pytest.param("terror and failsafe", 0, id="other words"),
        pytest.param("10 errors", 2, id="ten of them"),
        pytest.param("İ error", 2, id="a letter that grows"),
    ],
)
def test_alarms(line: str, level: int) -> None:
    """Told by whole words, and by names that end in one; a count of none is none."""
    assert alarms_in(["fine", line, "fine"]) == [0, level, 0]


@pytest.mark.parametrize(
    "line",
    [
        "2024-05-14 10:00:01 x",
        "[2024-05-14T10:00:01Z] x",
        "10:00:01 x",
        "May 14 10:00:06 host x",
        '127.0.0.1 - - [14/May/2024:10:00:00 +0000] "GET /"',
        "DEBUG: x",
        "[INFO] x",
        "\x1b[33mWARN\x1b[0m x",
        "npm WARN deprecated",
    ],
)
def test_logs_are_recognised(line: str) -> None:
    """Lines that begin with a time or a level; where most do not, it is something else."""
    assert Log().recognises(f"{line}\n" * 5 + "  more\n" * 3)
    assert not Log().recognises(f"{line}\n" + "plain words\n" * 8)


def test_a_log_is_tightened_whole() -> None:
    """Colours, repetition and dates at once save more than a third."""
    lines = [f"\x1b[32m2024-05-14 10:00:{i % 60:02d}\x1b[0m INFO poll" for i in range(100)]
    assert exact(Log().tighten("\n".join(lines))) < 0.66 * exact("\n".join(lines))
