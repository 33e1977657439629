"""A tool's result is tidied without loss, and cut with a mark where the rest can be asked back."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.compressor.arrival import arrive
from autogen_context.compressor.arrival.arrive import (
    LEAST_CHARS,
    MOST_CODE_TOKENS,
    MOST_TOKENS,
    WANTED,
    Asked,
    asked_by,
    by_itself,
    cut,
    mark_of,
)
from autogen_context.compressor.arrival.deduplication import LinesAbove
from autogen_context.messages.message import ToolCall
from autogen_context.messages.tool_call import BY_NAME
from autogen_context.messages.tool_schema import RECALL_TOOL_NAME
from support.reducing import bound, exact
from support.results import BLOB, BROKEN, ERROR, LONG, NEEDLE, RESULTS, rows_of_json

PADDING = re.compile(r"^ +(?=\d+\t)", re.MULTILINE)
FILE = Asked(shows_file=True)
ASKED = st.sampled_from([Asked(), FILE, Asked(task=f"Look for {NEEDLE} and src/shop.py")])
COUNTERS: dict[str, Callable[[str], int]] = {
    "exact": exact,
    "bound": bound,
    "characters": len,
    "nothing": lambda _: 0,
    "too much": lambda _: 10**9,
    "the shorter the more": lambda text: 10**6 // (1 + len(text)),
    "by chance": lambda text: int(hashlib.sha256(repr(text).encode()).hexdigest()[:5], 16),
}


def called(name: str, **arguments: str) -> ToolCall:
    """A call of a tool."""
    return ToolCall(id="c", name=name, arguments=json.dumps(arguments))


def tidied(text: str, asked: Asked, above: LinesAbove) -> str:
    """A result as it is sent without loss."""
    return arrive.tidied(by_itself(text, asked), asked, above)


def arrived(text: str, asked: Asked) -> str:
    """A result as it is sent where the rest can be asked back."""
    return cut(tidied(text, asked, LinesAbove()), text, asked, exact).text


@settings(max_examples=60)
@given(RESULTS | st.sampled_from([*LONG.values()]))
def test_of_a_file_every_line_stays(text: str) -> None:
    """To the character, whatever is in the file; only the blanks go that align line numbers."""
    tidy = tidied(text, FILE, LinesAbove())
    assert tidy in (text, PADDING.sub("", text))


@settings(max_examples=60)
@given(RESULTS, RESULTS, ASKED, st.sampled_from(sorted(COUNTERS)))
def test_never_longer_and_the_same_each_time(
    text: str, before: str, asked: Asked, counter: str
) -> None:
    """With any counter, the lying ones too; what is cut ends with the mark of its original."""
    above, count = LinesAbove(), COUNTERS[counter]
    above.add(before)
    tidy = tidied(text, asked, above)
    short = cut(tidy, text, asked, count)
    assert len(short.text) <= len(tidy) <= len(text)
    assert (tidied(text, asked, above), cut(tidy, text, asked, count)) == (tidy, short)
    assert short.text == tidy or short.text.endswith(mark_of(count(text), short.handle))
    assert (short.text == tidy) == (not short.handle)


@pytest.mark.parametrize("asked", [Asked(), FILE], ids=["result", "file"])
@pytest.mark.parametrize("count", [exact, bound], ids=["exact", "bound"])
@pytest.mark.parametrize("kind", LONG)
def test_what_is_cut_has_its_room(kind: str, count: Callable[[str], int], asked: Asked) -> None:
    """No more than a result may have, a little more for code; most of it in use."""
    short = cut(LONG[kind], LONG[kind], asked, count)
    most = MOST_CODE_TOKENS if asked.shows_file or kind in ("code", "file") else MOST_TOKENS
    assert short.handle
    assert 0.4 * most <= count(short.text) <= most


@pytest.mark.parametrize("size", [LEAST_CHARS - 1, MOST_TOKENS])
def test_what_is_small_is_not_cut(size: int) -> None:
    """It is sent as it is tidied; below some length not even that."""
    text = LONG["log"][:size]
    assert cut(text, text, Asked(), exact).text is text
    padded = json.dumps([1, 2], indent=8).ljust(size)
    assert (tidied(padded, Asked(), LinesAbove()) is padded) == (size < LEAST_CHARS)


@pytest.mark.parametrize("kind", LONG)
def test_what_is_asked_for_stays(kind: str) -> None:
    """Whether the call names it or the task does."""
    call = called("search", query=NEEDLE)
    for asked in (asked_by(call, "", BY_NAME), asked_by(None, f"And {NEEDLE}?", BY_NAME)):
        assert NEEDLE in arrived(LONG[kind], asked)


def test_what_nobody_asks_for_goes() -> None:
    """Else the law above would say nothing."""
    assert NEEDLE not in arrived(LONG["listing"], Asked())


def test_the_call_is_heard_before_the_task() -> None:
    """However much the task names; and in the order in which it names it, the same in every process."""
    task = " ".join(f"name_{i:03d}" for i in range(3 * WANTED))
    wanted = asked_by(called("search", query=NEEDLE), task, BY_NAME).wanted
    assert NEEDLE in wanted
    assert len(wanted) == WANTED
    assert wanted > {f"name_{i:03d}" for i in range(WANTED - 2)}


def test_a_long_argument_is_content() -> None:
    """What a call writes names nothing that it asks for."""
    assert not asked_by(called("write", text="some_name " * 90), "", BY_NAME).wanted


def test_every_process_cuts_alike() -> None:
    """Whatever order its sets have."""
    program = (
        "from support.results import LONG; from support.reducing import exact;"
        "from autogen_context.compressor.arrival.arrive import *; import hashlib;"
        "asked = Asked(task=' '.join(f'invoice_{i} src/part_{i}.py' for i in range(200)));"
        "print([hashlib.sha256(cut(t, t, asked, exact).text.encode()).hexdigest() for t in LONG.values()])"
    )
    printed = {
        subprocess.run(  # noqa: S603 - this Python, our own program
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


@pytest.mark.parametrize(
    "kind", ["log", "output", "tests", "hits", "json", "json, indented", "table"]
)
def test_errors_stay(kind: str) -> None:
    """Unasked."""
    assert ERROR in arrived(LONG[kind], Asked())


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "A picture:\n{}\nThat was it.",
        '{{"image": "{}"}}',
        f"{LONG['log']}\n{NEEDLE}: {{}}\n{LONG['log']}",
    ],
)
def test_data_that_nobody_reads_is_not_sent(around: str) -> None:
    """Not even in part, where its line is asked for; a mark says what it was."""
    short = arrived(around.format(BLOB), Asked(task=NEEDLE))
    assert BLOB[:100] not in short
    assert "[base64, " in short
    assert RECALL_TOOL_NAME in short


def test_each_original_has_its_handle() -> None:
    """Also where two are alike once they are tidied."""
    texts = [rows_of_json(300, indent=indent) for indent in (1, 2)]
    one, other = (tidied(text, Asked(), LinesAbove()) for text in texts)
    assert one == other
    assert len({cut(one, text, Asked(), exact).handle for text in texts}) == 2


@pytest.mark.parametrize(
    "text", [*LONG.values(), *BROKEN.values(), BLOB], ids=[*LONG, *BROKEN, "blob"]
)
def test_what_was_asked_back_is_not_touched(text: str) -> None:
    """However large, or repeated."""
    asked = asked_by(called(RECALL_TOOL_NAME, handle="abc"), "", BY_NAME)
    above = LinesAbove()
    above.add(text)
    assert tidied(text, asked, above) is text
    assert cut(text, text, asked, exact).text is text


@pytest.mark.parametrize("asked", [Asked(), FILE, Asked(task="a b word x 20% abc")])
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_results_raise_nothing(kind: str, asked: Asked) -> None:
    """Nor does what is broken in the call, or said before."""
    text, above = BROKEN[kind], LinesAbove()
    above.add(text[:5_000])
    tidy = tidied(text, asked, above)
    assert len(cut(tidy, text, asked, len).text) <= len(tidy) <= len(text)
    above.add(text)
    strange = asked_by(ToolCall(id="", name=text[:9_000], arguments=text[:9_000]), text, BY_NAME)
    assert len(cut(tidy, text, strange, len).text) <= len(tidy)


@pytest.mark.parametrize("kind", ["json", "json, indented"])
def test_json_keeps_each_key_beside_its_value(kind: str) -> None:
    """Without the blanks between its parts it is the same JSON."""
    tidy = tidied(LONG[kind], Asked(), LinesAbove())
    assert json.loads(tidy) == json.loads(LONG[kind])
    assert '"user":"user-7","state":"ok"' in tidy


def test_a_table_of_json_is_written_only_where_it_is_cut() -> None:
    """Columns are read as easily as keys, but nobody finds ``"id":7`` in them."""
    text = rows_of_json(20)
    assert '"id":7' in arrived(text, Asked())
