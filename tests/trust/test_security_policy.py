"""The threat model in SECURITY.md names tests that there are."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")
TABLE = [
    line for line in (ROOT / "SECURITY.md").read_text("utf-8").splitlines() if line[:2] == "| "
]
ROWS = TABLE[1:]


@pytest.mark.parametrize("row", ROWS, ids=[row.split("|")[1].strip() for row in ROWS])
def test_each_row_is_held_by_tests(row: str) -> None:
    """Each writer's row names at least one, and each that it names is there."""
    named = NAMED.findall(row)
    assert named
    for path, test in named:
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        tests = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
        assert any(name.startswith("test_") for name in tests)
        assert not test or test in tests
