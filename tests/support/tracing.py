"""The way of a turn: which functions of the package are called, in which files."""

import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import autogen_context

ROOT = str(Path(autogen_context.__file__).parent)
# What is done for each line or token of a new text, and would hide the way of a turn.
BY_TEXT = (
    "compressor/arrival.py",
    "compressor/code.py",
    "compressor/json_text.py",
    "compressor/kinds.py",
    "compressor/lines.py",
    "ledger/",
    "messages/identifiers.py",
    "messages/blocks.py",
    "prioritizer/references.py",
    "prioritizer/superseded.py",
    "text/",
    "tokens/",
)

MOST_STATEMENTS = 5_000

Calls = Counter[tuple[str, str]]


@contextmanager
def traced() -> Generator[Calls]:
    """Calls of the package's own functions while it is open, by file and name."""
    calls: Calls = Counter()

    def note(frame: FrameType, event: str, _arg: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(ROOT):
            calls[file[len(ROOT) + 1 :], frame.f_code.co_qualname] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def way_of(calls: Calls) -> tuple[int, int]:
    """How many files and calls, but for those that work on lines or tokens of new text."""
    way = {key: n for key, n in calls.items() if not key[0].startswith(BY_TEXT)}
    return len({file for file, _ in way}), sum(way.values())


@contextmanager
def counted_statements() -> Generator[list[int]]:
    """How many SQL statements this thread, and those that begin meanwhile, executed; stops counting a loop without end."""
    count = [0]

    def note(_frame: FrameType, event: str, called: object) -> None:
        if event == "c_call" and getattr(called, "__name__", "") in {"execute", "executemany"}:
            count[0] += 1
            assert count[0] < MOST_STATEMENTS, "a loop without end"

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield count
    finally:
        threading.setprofile(None)
        sys.setprofile(before)
