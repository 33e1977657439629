"""What became of a text, told in few words: a diff where there is room, numbers where there is none."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_context.project.line_changes import MOST_COUNTED, MOST_LINES, told_changes

LINES = st.lists(st.sampled_from(["a", "b", "", "    return x", "ü" * 300]), max_size=30)
NUMBERS_CHARS = 100
BEFORE = "\n".join(f"line {n}" for n in range(1, 101))


@given(LINES, LINES)
def test_a_diff_turns_one_text_into_the_other(before: list[str], after: list[str]) -> None:
    """Where there is room for all of it and no line is cut: patch says so."""
    old, new = ("\n".join(line[:150] for line in lines) for lines in (before, after))
    if old == new:
        return
    _, _, diff = told_changes(old, new, most_chars=100_000).partition(":\n")
    with TemporaryDirectory() as name:
        file = Path(name, "file")
        file.write_text(old + "\n")
        patch = shutil.which("patch")
        assert patch is not None, "this law is held against patch itself: install it"
        told = f"--- file\n+++ file\n{diff}\n"
        subprocess.run([patch, "-s", str(file)], input=told, text=True, check=True)  # noqa: S603 - a file of ours
        assert file.read_text() == new + "\n"


@given(LINES, LINES, st.integers(NUMBERS_CHARS, 400))
def test_what_is_told_has_room(before: list[str], after: list[str], most_chars: int) -> None:
    """For any texts; it is the same each time, and whole places stand in it or none."""
    old, new = "\n".join(before), "\n".join(after)
    told = told_changes(old, new, most_chars=most_chars)
    assert len(told) <= most_chars
    assert told == told_changes(old, new, most_chars=most_chars)
    whole = told_changes(old, new, most_chars=100_000)
    assert whole.startswith(told.partition("\n[… ")[0].removesuffix(":"))


def test_a_diff_reads_as_one() -> None:
    """With numbers of lines, context, and nothing else."""
    after = BEFORE.replace("line 10\n", "line ten\nand more\n").replace("\nline 50\n", "\n")
    assert told_changes(BEFORE, after, most_chars=500) == (
        "2 of 100 lines went, 2 came, from line 10 on:\n"
        "@@ -8,5 +8,6 @@\n line 8\n line 9\n-line 10\n+line ten\n+and more\n line 11\n line 12\n"
        "@@ -48,5 +49,4 @@\n line 48\n line 49\n-line 50\n line 51\n line 52"
    )
    assert told_changes(BEFORE, after, most_chars=180).endswith(" line 12\n[… 1 more places]")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param(
            BEFORE * 4,
            "\n".join(f"row {n}" for n in range(MOST_LINES)),
            f"397 of 397 lines went, {MOST_LINES} came, from line 1 on",
            id="too many lines",
        ),
        pytest.param(
            "x\n" * MOST_COUNTED, "y", f"it had {MOST_COUNTED + 1:,} lines, and has 1", id="huge"
        ),
        pytest.param(
            "x\ny\n" * 20_000,
            "y\nx\nx\n" * 10_000,
            "10,000 of 40,001 lines went, 0 came, from line 1 on",
            id="much that is the same",
        ),
    ],
)
def test_what_would_be_long_is_told_in_numbers(before: str, after: str, told: str) -> None:
    """Nor does anyone wait for it."""
    assert told_changes(before, after, most_chars=2_000) == told
