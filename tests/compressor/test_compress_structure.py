"""A text with a structure is compressed by it."""

import json
import re

import pytest

from autogen_context.compressor.compressor import SemanticCompressor
from autogen_context.compressor.concepts import CompressionResult
from support.prose import Letters
from support.results import LONG, NEEDLE

ROWS = [
    {"id": n, "name": f"user {n}", "mail": f"u{n}@example.com", "price": n * 1.5} for n in range(60)
]
SHAPES = {kind: LONG[kind] for kind in ("json", "log", "diff", "hits", "listing", "table", "code")}


def compressed(text: str, target: int) -> CompressionResult:
    """The text within so many characters."""
    work = SemanticCompressor(counter=Letters())
    return work.compress_nowait(text, target_tokens=target)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [0.9, 0.2])
def test_what_matters_of_a_structure_stays(shape: str, share: float) -> None:
    """C2: within the target, what is asked for in it, and a mark in brackets wherever something went."""
    text = SHAPES[shape]
    work = SemanticCompressor(counter=Letters())
    result = work.compress_nowait(text, target_tokens=int(len(text) * share), keep=[NEEDLE])
    assert result.strategy in {"tighten structure", "cut structure"}
    assert len(result.compressed) <= len(text) * share
    assert NEEDLE in result.compressed
    assert result.strategy[:3] != "cut" or re.search(r"\[….*…\]", result.compressed)


def test_nothing_is_lost_where_it_need_not_be() -> None:
    """Sixty like objects have room as columns in less than half; all their values are there, also the numbers in columns."""
    text = json.dumps(ROWS, indent=2)
    result = compressed(text, len(text) // 2)
    assert (result.strategy, result.lost_concepts, result.quality) == ("tighten structure", (), 10)
    assert all(f"u{n}@example.com" in result.compressed for n in range(len(ROWS)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "\n".join(f"{n}: Never restart server s{n} without approval." for n in range(1, 20)),
            id="rules with numbers",
        ),
        pytest.param(
            "[user] See this.\n"
            + "\n".join(LONG["log"].split("\n")[:30])
            + "\nNever restart db-3.",
            id="a transcript",
        ),
        pytest.param("[Ledger]\nLimits:\nThe budget is 700 EUR\n\n" + "a b c. " * 40, id="ours"),
    ],
)
def test_what_people_say_is_no_structure(text: str) -> None:
    """Statements are read out of it as of any text, be there times or numbers before the lines."""
    result = compressed(text, len(text) // 2)
    assert "structure" not in result.strategy
    assert result.compressed.startswith("[Ledger]")


RECORDS = {
    "yaml": [f"s{n}:\n    port: {8000 + n}\n    image: img{n}" for n in range(80)],
    "nested yaml": [f"  s{n}:\n    - port: {8000 + n}\n    - image: img{n}" for n in range(80)],
    "ini": [f"[s{n}]\nhost = h{n}.local\nport = {8000 + n}\n" for n in range(80)],
    "list": [f"- s{n}\n  - owner: p{n}\n  - port: {8000 + n}" for n in range(80)],
}


@pytest.mark.parametrize("shape", RECORDS)
@pytest.mark.parametrize("share", [0.15, 0.5])
def test_a_value_stays_with_its_record(shape: str, share: float) -> None:
    """C4: a port that stands below a name, with no mark between, is the one that stood there; much of the room is used."""
    text = "\n".join(RECORDS[shape])
    short = compressed(text, int(len(text) * share)).compressed
    assert len(short) > len(text) * share / 2
    below = re.split(r"\[… \d+ lines …\]", short)
    pairs = [re.findall(r"\bs(\d+)\b(?:(?!\bs\d)[^…])*?port\W+80(\d\d)\b", part) for part in below]
    assert sum(map(len, pairs)) > 1
    assert all(int(name) == int(port) for part in pairs for name, port in part)


def test_marks_alone_are_nothing() -> None:
    """Where a cut by structure leaves only marks, the steps say more."""
    text = '{"rules":["Never push to main","The budget is 500 EUR"]}'
    result = compressed(text, 30)
    assert "structure" not in result.strategy
    assert not result.compressed.startswith("[…")
