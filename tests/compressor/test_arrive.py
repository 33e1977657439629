"""A tool's result loses what says nothing or stands above, and is cut with a mark where the rest can be asked back."""

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

from autogen_context.compressor.arrival import (
    LEAST_ABOVE,
    LEAST_LEFT,
    MOST_CODE_TOKENS,
    MOST_TOKENS,
    WANTED,
    LinesAbove,
    cut,
    mark_of,
    tightened,
    wanted_of,
)
from autogen_context.messages.message import ToolCall
from support.reducing import bound, exact
from support.results import BROKEN, ERROR, LONG, NEEDLE, RESULTS

PADDING = re.compile(r"^ +(?=\d+\t)", re.MULTILINE)
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


def above(*texts: str) -> LinesAbove:
    """What was sent before."""
    lines = LinesAbove()
    for text in texts:
        lines.add(text)
    return lines


def arrived(text: str, task: str = "", call: ToolCall | None = None) -> str:
    """A result as it is sent where the rest can be asked back."""
    return cut(tightened(text), text, task=task, call=call, count=exact)[0]


@settings(max_examples=30)
@given(RESULTS | st.sampled_from([*LONG.values()]))
def test_of_a_file_every_line_stays(text: str) -> None:
    """To the character, whatever is in the file; only the blanks go that align line numbers."""
    assert tightened(text, shows_file=True) in (text, PADDING.sub("", text))


@settings(max_examples=30)
@given(RESULTS, RESULTS, st.booleans(), st.sampled_from(sorted(COUNTERS)))
def test_never_longer_and_the_same_each_time(
    text: str,
    before: str,
    shows_file: bool,  # noqa: FBT001 - drawn
    counter: str,
) -> None:
    """With any counter, the lying ones too; what is cut ends with the mark of its original."""
    count = COUNTERS[counter]

    def sent() -> tuple[str, str, str]:
        tidy = above(before).without(tightened(text, shows_file=shows_file))
        return (tidy, *cut(tidy, text, shows_file=shows_file, task=NEEDLE, count=count))

    tidy, short, handle = sent()
    assert (tidy, short, handle) == sent()
    assert len(short) <= len(tidy) <= len(text)
    assert short == tidy or short.endswith(mark_of(count(text), handle))
    assert (short == tidy) == (not handle)


@pytest.mark.parametrize("shows_file", [False, True], ids=["result", "file"])
@pytest.mark.parametrize("kind", LONG)
def test_what_is_cut_has_its_room(kind: str, *, shows_file: bool) -> None:
    """No more than a result may have, a little more for code; most of it in use."""
    most = MOST_CODE_TOKENS if shows_file or kind in ("code", "file") else MOST_TOKENS
    short, handle = cut(LONG[kind], LONG[kind], shows_file=shows_file, count=exact)
    assert handle
    assert 0.4 * most <= exact(short) <= most


@pytest.mark.parametrize("kind", LONG)
def test_what_is_asked_for_and_what_failed_stays(kind: str) -> None:
    """What the call names or the task does; errors unasked (F30), where lines of that kind tell of such."""
    assert NEEDLE in arrived(LONG[kind], call=called("search", query=NEEDLE))
    assert NEEDLE in arrived(LONG[kind], task=f"And {NEEDLE}?")
    if kind in ("log", "output", "tests", "json", "json, indented", "table"):
        assert ERROR in arrived(LONG[kind])
    if kind == "hits":  # else this law would say nothing
        assert NEEDLE not in arrived(LONG[kind])


def test_the_call_is_heard_before_the_task() -> None:
    """However much the task names, in the order in which it names it; a long argument is content and names nothing."""
    task = " ".join(f"name_{i:03d}" for i in range(3 * WANTED))
    wanted = wanted_of(called("search", query=NEEDLE), task)
    assert NEEDLE in wanted
    assert len(wanted) == WANTED
    assert wanted > {f"name_{i:03d}" for i in range(WANTED - 2)}
    assert not wanted_of(called("write", text="some_name " * 90), "")


def test_every_process_cuts_alike() -> None:
    """Whatever order its sets have."""
    program = (
        "from support.results import LONG; from autogen_context.compressor.arrival import cut;"
        "task = ' '.join(f'invoice_{i} src/part_{i}.py' for i in range(200));"
        "print(ascii([cut(t, t, task=task, count=len)[0] for t in LONG.values()]))"
    )
    there = subprocess.run(  # noqa: S603 - this Python, our own program
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    task = " ".join(f"invoice_{i} src/part_{i}.py" for i in range(200))
    here = ascii([cut(text, text, task=task, count=len)[0] for text in LONG.values()])
    assert there.stdout.decode().strip() == here


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_results_raise_nothing(kind: str) -> None:
    """Nor does what is broken in the call, or said before."""
    text, task = BROKEN[kind][:30_000], "a b word x 20% abc"
    tidy = above(text[:5_000]).without(tightened(text))
    strange = ToolCall(id="", name=text[:9_000], arguments=text[:9_000])
    assert len(cut(tidy, text, task=task, call=strange, count=len)[0]) <= len(tidy) <= len(text)


# Lines that stand above

MARK = re.compile(r"\[… (\d+) lines as above …\]")
LINES = st.sampled_from(["", "}", "    return None", "x" * 90, "y" * 90, "z = 1", "\r", "\x00"])
LISTINGS = st.lists(LINES, max_size=60).map("\n".join)


def restored(text: str, texts: list[str]) -> str:
    """The text again, each mark looked up at the nearest place above where the lines around it stand so far apart."""
    lines, found = text.split("\n"), list[str]()
    for at, line in enumerate(lines):
        mark = MARK.fullmatch(line)
        if not mark:
            found.append(line)
            continue
        first, last, far = lines[at - 1], lines[at + 1], int(mark[1]) + 1
        found += next(
            place[i + 1 : i + far]
            for place in (other.split("\n") for other in reversed(texts))
            for i in range(len(place) - far - 1, -1, -1)
            if place[i] == first and place[i + far] == last
        )
    return "\n".join(found)


@given(st.lists(LISTINGS, max_size=5), LISTINGS)
def test_whoever_has_what_stands_above_has_it_all(texts: list[str], text: str) -> None:
    """Line by line. It is shorter or it is the text, and enough of it stays to say what it is."""
    short = above(*texts).without(text)
    assert restored(short, [other for other in texts if len(other) >= LEAST_ABOVE]) == text
    assert short == text or len(short) < len(text)
    assert len(short) >= min(len(text), LEAST_LEFT)
