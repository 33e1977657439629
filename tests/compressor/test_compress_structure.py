"""A text with a structure is compressed by it."""

import json
import re

import pytest

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.concepts import CompressionResult
from autogen_context.compressor.structure import BY_STRUCTURE
from support.prose import Letters

ROWS = [
    {"id": n, "name": f"user {n}", "mail": f"u{n}@example.com", "note": None} for n in range(60)
]
LOG = [f"2026-01-01 10:{n // 60:02}:{n % 60:02} INFO job {n} took {n % 7} ms" for n in range(300)]
LOG[40::50] = [f"2026-01-01 11:00:00 ERROR job {n} failed: disk sd{n} is full" for n in range(6)]
TRACE = [
    "Traceback (most recent call last):",
    *(f'  File "lib/site-packages/f{n}.py", line {n}, in f{n}\n    g{n}(x)' for n in range(40)),
    "ValueError: port 8081 is taken",
]
DIFF = [
    "diff --git a/a.py b/a.py",
    "--- a/a.py",
    "+++ b/a.py",
    "@@ -1,121 +1,121 @@",
    *(f" line {n}" for n in range(120)),
    "-port = 8080",
    "+port = 8081",
]
CODE = [
    "import os",
    *(f"\n\ndef area_{n}(a, b):\n    c = a * {n}\n    c += b\n    return c" for n in range(30)),
]
HITS = [f"src/m{n // 10}.py:{n}: def total_{n}(items):" for n in range(80)]
LISTING = [f"src/pkg_{n // 20}/module_{n}.py" for n in range(120)]
TABLE = ["id,name,price", *(f"{n},thing {n},{n * 3}" for n in range(150))]
SHAPES = {
    "json": json.dumps(ROWS, indent=2),
    **{
        name: "\n".join(lines)
        for name, lines in {
            "log": LOG,
            "trace": TRACE,
            "diff": DIFF,
            "code": CODE,
            "hits": HITS,
            "listing": LISTING,
            "table": TABLE,
        }.items()
    },
}
STAYS = {
    "json": ["mail", "user 0", "user 59"],
    "log": ["job 0 took", *(f"disk sd{n} is full" for n in range(6)), "job 299 took"],
    "trace": [TRACE[0], TRACE[-1]],
    "diff": ["+++ b/a.py", "-port = 8080", "+port = 8081"],
    "code": ["import os", "def area_0(a, b):", "def area_29(a, b):"],
    "hits": ["src/m0.py", "src/m7.py", "def total_0(items):"],
    "listing": ["src/pkg_0/", "module_0.py"],
    "table": ["id,name,price", "0,thing 0,0", "149,thing 149,447"],
}


def compressed(text: str, target: int) -> CompressionResult:
    """The text within so many characters."""
    work = SemanticCompressor(counter=Letters())
    return work.compress_nowait(text, target_tokens=target)


def test_json_without_its_blanks_is_the_same_data() -> None:
    """Where it has room without blanks, it can be parsed, and says the same."""
    result = compressed(json.dumps(ROWS, indent=8), len(json.dumps(ROWS)))
    assert result.strategy == "tighten structure"
    assert json.loads(result.compressed) == ROWS


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.9, 0.2])
def test_what_matters_of_a_structure_stays(shape: str, share: float) -> None:
    """Keys and both ends, every error, what changed, heads of definitions: word for word, within the target."""
    text = SHAPES[shape]
    result = compressed(text, int(len(text) * share))
    assert result.strategy in {"tighten structure", "cut structure"}
    assert len(result.compressed) <= len(text) * share
    assert [word for word in STAYS[shape] if word not in result.compressed] == []


def test_nothing_is_lost_where_it_need_not_be() -> None:
    """Sixty like objects have room as columns in less than half; all their values are there."""
    result = compressed(SHAPES["json"], len(SHAPES["json"]) // 2)
    assert (result.strategy, result.lost_concepts) == ("tighten structure", ())
    assert all(f"u{n}@example.com" in result.compressed for n in range(len(ROWS)))


def test_what_a_number_is_of_may_stand_at_the_head() -> None:
    """Numbers that became columns are not lost."""
    rows = [{"id": n, "price": n * 1.5} for n in range(40)]
    text = json.dumps(rows, indent=1)
    result = compressed(text, len(text) // 2)
    assert (result.strategy, result.lost_concepts, result.quality) == ("tighten structure", (), 10)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_gap_is_marked(shape: str) -> None:
    """What was cut says so in brackets."""
    result = compressed(SHAPES[shape], len(SHAPES[shape]) // 6)
    assert result.strategy == "cut structure"
    assert re.search(r"\[….*…\]", result.compressed)


def test_what_is_to_be_kept_stays_before_the_rest() -> None:
    """The caller's keywords choose the lines."""
    work = SemanticCompressor(counter=Letters())
    text, target = SHAPES["table"], len(SHAPES["table"]) // 6
    assert "thing 77," not in work.compress_nowait(text, target_tokens=target).compressed
    kept = work.compress_nowait(text, target_tokens=target, keep=["thing 77"])
    assert "thing 77," in kept.compressed


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "\n".join(f"{n}: Never restart server s{n} without approval." for n in range(1, 20)),
            id="rules with numbers",
        ),
        pytest.param(
            "[user] See this.\n" + "\n".join(LOG[:30]) + "\nNever restart db-3.", id="a transcript"
        ),
        pytest.param("[Ledger]\nLimits:\nThe budget is 700 EUR\n\n" + "a b c. " * 40, id="ours"),
    ],
)
def test_what_people_say_is_no_structure(text: str) -> None:
    """Statements are read out of it as of any text, be there times or numbers before the lines."""
    result = compressed(text, len(text) // 2)
    assert "structure" not in result.strategy
    assert result.compressed.startswith("[Ledger]")


def test_marks_alone_are_nothing() -> None:
    """Where a cut by structure leaves only marks, the steps say more."""
    text = '{"rules":["Never push to main","The budget is 500 EUR"]}'
    result = compressed(text, 30)
    assert result.strategy not in BY_STRUCTURE
    assert not result.compressed.startswith("[…")
