"""Who may import whom, and what an import of the package costs nobody."""

import ast
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import autogen_context

PACKAGE = Path(autogen_context.__file__).parent
# One level a row; a file may import from the rows above its own, and from its own room.
LEVELS = (
    {"errors", "argument", "forks", "guard"},
    {"text"},
    {"language"},
    {"messages"},
    {"tokens"},
    {"models"},
    {"cache"},
    {"view"},
    {"budget"},
    {"prioritizer"},
    {"ledger"},
    {"compressor"},
    {"triggers", "recall"},
    {"project"},
    {"documents", "memory"},
    {"config"},
    {"manager"},
    {"adapters", "report", "testing"},
    {"chat"},
    {"the package itself"},  # its version
    {"cli"},
    {"__main__"},
)
# Of names: what each of these stood for has a word of its own in the field.
VAGUE = re.compile(
    "(?i:ahead|beside|companions|floor|heat|held|holding|reach|settle[ds]?|standing|surroundings|telling|"
    "(un)?told|voices)"
)
UNIT = re.compile(
    "(?:^|_)(BYTES|CHARS|COST|FRACTION|LETTERS|LEVELS|LINES|MESSAGES|MS|ROWS|S|SCHEMA|SCORE|SENTENCES|TOKENS|TURNS|UNITS|VERSION|"
    "WEIGHT|WORDS|DAYS|PARTS|FACTOR)(?:_|$|,|\\))"
)
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
HOSTS = ("autogen", "autogen_core", "autogen_agentchat", "autogen_ext", "ag2", "agent_framework")
HEAVY = (
    *HOSTS,
    "openai",
    "redis",
    "diskcache",
    "watchdog",
    "torch",
    "numpy",
    "charset_normalizer",
    "sentence_transformers",
    "tiktoken",
    "tiktoken_ext",
    "bpe_openai",
    "hypothesis",
)


def level_of(room: str) -> int:
    """The row in which a room stands; below none where it has no row."""
    return next((i for i, rooms in enumerate(LEVELS) if room in rooms), len(LEVELS))


def imported(path: Path) -> list[list[str]]:
    """What a file imports of the package, wherever in it and for whatever: the parts of each module's name."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    return [name.split(".") for name in names if name.split(".")[0] == PACKAGE.name]


def imported_rooms(path: Path) -> set[str]:
    """The rooms from which a file imports; the package itself counts as one that has no row."""
    return {parts[1] if len(parts) > 1 else "the package itself" for parts in imported(path)}


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_imports_run_one_way(path: Path) -> None:
    """From a room one imports its own files and those of rooms below; rooms of one row are strangers."""
    room = path.relative_to(PACKAGE).with_suffix("").parts[0]
    for other in imported_rooms(path) - {room}:
        assert level_of(other) < level_of(room), f"{room} imports {other}"


@pytest.mark.parametrize("room", sorted(set[str]().union(*LEVELS)))
def test_files_of_a_room_import_one_another_one_way(room: str) -> None:
    """What two files need stands below both, so that each can be read without the other."""
    files = {path.stem: path for path in (PACKAGE / room).glob("*.py") if path.stem != "__init__"}
    left = {
        stem: {parts[2] for parts in imported(path) if parts[1:2] == [room] and len(parts) > 2}
        for stem, path in files.items()
    }
    while lowest := [stem for stem, needs in left.items() if not needs & left.keys()]:
        for stem in lowest:
            del left[stem]
    assert not left, f"these need one another: {sorted(left)}"


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_a_name_says_what_it_names(path: Path) -> None:
    """In the words of the field; comments and docstrings are English, in which these words are at home."""
    with tokenize.open(path) as file:
        tokens = tokenize.generate_tokens(file.readline)
        names = {path.stem, *(each.string for each in tokens if each.type == tokenize.NAME)}
    words = {word for name in names for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    assert not [*filter(VAGUE.fullmatch, words)]
    assert "Kind" not in names  # of what?


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES])
def test_a_number_has_its_unit(path: Path) -> None:
    """In its name, or in words beside, above or below it: what it counts, or what it is a part of."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_number(node.value):
            names = ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node.targets[0])
            above, first, last = lines[node.lineno - 2], node.lineno - 1, node.end_lineno or 0
            commented = above.startswith("#") or "#" in "".join(lines[first:last])
            described = "".join(lines[last : last + 1]).startswith('"""')
            assert UNIT.search(names) or commented or described, f"{path.name}: {names}"


def is_number(value: ast.expr | None) -> bool:
    """Whether an expression is written as a number, or as several."""
    match value:
        case ast.Constant():
            return isinstance(value.value, int | float) and not isinstance(value.value, bool)
        case ast.UnaryOp():
            return is_number(value.operand)
        case ast.BinOp():
            return is_number(value.left) and is_number(value.right)
        case ast.Tuple():
            return bool(value.elts) and all(map(is_number, value.elts))
        case _:
            return False


IMPORTS = """
import sys, autogen_context as package
[getattr(package, name) for name in sys.argv[1:]]
print(*sys.modules)
package.IncrementalContextManager("gpt-4o").prepare_nowait([{"role": "user", "content": "Hello."}])
print(*sys.modules)
"""


def test_an_import_loads_no_host() -> None:
    """Nor a client library, a tokenizer or a store; and a turn without a log nothing of it: who does not use them need not have them."""
    names = ["IncrementalContextManager", "ContextConfig", "ModelLimits", "Prepared"]
    command = [sys.executable, "-W", "ignore", "-c", IMPORTS, *names]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    imported, turned = (set(line.split()) for line in run.stdout.splitlines())
    loaded = {name.split(".")[0] for name in imported}
    assert "autogen_context" in loaded
    assert not loaded & set(HEAVY)
    log = {"autogen_context.manager.events", "autogen_context.manager.event_log", "opentelemetry"}
    assert not turned & (log | {"autogen_context.manager.metrics"})


PRICES = re.compile(
    "cached_fraction|write_fraction|input_per_million|tokens_per_s|.*_?PRICE|MILLION"
)
ROOT = Path(__file__).parents[1]
PRICED = [path for path in FILES if path.name != "prices.py"] + sorted(
    path for room in ("benchmarks", "examples") for path in (ROOT / room).rglob("*.py")
)


def computed_with(path: Path) -> set[str]:
    """The names, attributes and keys that stand directly in sums, products and quotients of a file."""
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    sides = [side for n in nodes if isinstance(n, ast.BinOp) for side in (n.left, n.right)]
    found = (each for side in sides for each in ast.walk(side))
    return {
        str(getattr(each, "id", getattr(each, "attr", getattr(each, "value", ""))))
        for each in found
        if isinstance(each, ast.Name | ast.Attribute | ast.Constant)
    }


def test_one_place_computes_prices() -> None:
    """Bills, pages, metrics, benchmarks and the demo ask ``tokens/prices.py``: two formulas would give two prices."""
    guilty = {path.name: set(filter(PRICES.fullmatch, computed_with(path))) for path in PRICED}
    assert not {name: found for name, found in guilty.items() if found}
    own = computed_with(PACKAGE / "tokens/prices.py")
    assert {"cached_fraction", "write_fraction", "input_per_million", "tokens_per_s"} <= own


def test_there_is_no_room_for_anything_else() -> None:
    """Every file of the package stands in a room that has a row."""
    rooms = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in FILES}
    assert rooms <= set().union(*LEVELS)
