"""What source files define and refer to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.project.symbols import FAMILIES, HEAD_CHARS, Family, symbols_of
from support.sources import SOURCES
from support.texts import HOSTILE, TEXTS

ENDINGS = {"python": ".py", "ts": ".ts", "go": ".go", "rust": ".rs", "java": ".java", "c": ".c"}
HEADS = {
    "python": [
        "class Alpha(Base)",
        "  def total(self, lines) -> int",
        "  def name(self)",
        "async def main()",
    ],
    "ts": [
        "export interface Line",
        "export class Alpha extends Base",
        "  async total(lines: Line[]): Promise<number>",
        "export const main = (): void",
    ],
    "go": ["type Alpha struct", "func (a *Alpha) Total(lines []int) int", "func main()"],
    "rust": ["pub struct Alpha", "impl Alpha", "  pub fn total(&self, lines: &[u32]) -> u32"],
    "java": ["public class Alpha", "  public int total(List<Integer> lines)"],
    "c": ["int total(const int *lines, int n)"],
}
HOSTILE_CHARS = 4_000
LONG_HEAD = "def far(\n" + "    value: int,\n" * 20 + ") -> int:\n    return 1\n"
FAR = f"def far({'value: int, ' * 10}"[:HEAD_CHARS] + "…"
BROKEN = "def first(x):\n    return x\n\nclass Broken(:\n\ndef second(y):\n    return y\n"


@pytest.mark.parametrize("name", SOURCES)
def test_definitions_with_their_heads(name: str) -> None:
    """In six languages: in order, those of a class below it, none that only a function knows."""
    found = symbols_of(SOURCES[name], FAMILIES[ENDINGS[name]])
    assert ["  " * each.depth + each.head for each in found.definitions] == HEADS[name]


@settings(max_examples=20)
@given(TEXTS, st.sampled_from([*FAMILIES.values()]))
def test_any_text_goes(text: str, family: Family) -> None:
    """Heads are one line and short; names are one word."""
    found = symbols_of(text, family)
    for each in found.definitions:
        assert each.name
        assert len(each.name.split()) == 1
        assert each.head.splitlines() == [each.head]
        assert len(each.head) <= HEAD_CHARS + 1
    assert list(found.references) == sorted(set(found.references))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_end(text: str) -> None:
    """Many thousand characters of the same are read as any others."""
    for family in set(FAMILIES.values()):
        symbols_of(text[:HOSTILE_CHARS], family)


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        pytest.param(BROKEN, ["def first(x)", "class Broken(", "def second(y)"], id="broken"),
        pytest.param(LONG_HEAD, [FAR], id="a head of many lines"),
        pytest.param(
            "def f(\n    a: int,\n    *,\n    b: int,\n):\n    x = a\n",
            ["def f(a: int, *, b: int)"],
            id="a star alone",
        ),
        pytest.param(f'"""It quotes:\n{BROKEN}"""\n{LONG_HEAD}', [FAR], id="code in a string"),
    ],
)
def test_code_that_is_hard_to_read_is_read(text: str, heads: list[str]) -> None:
    """Definitions that are whole are there, heads on one line, and nothing that is only quoted."""
    assert [each.head for each in symbols_of(text, "python").definitions] == heads


REFERENCES: dict[str, tuple[str, Family, set[str]]] = {
    "imports": (
        "from shop.price import price_of as cost, Basket\nimport shop.till\n",
        "python",
        {"price:price_of", "price:Basket", "shop:till"},
    ),
    "members": ("self.total = basket.price_of(1)\n", "python", {".total", ".price_of"}),
    "local names": ("def f(price_of):\n    price_of = other_name\n", "python", set()),
    "comments": ("# a.price_of\nx = 'b.price_of'\n'''c.price_of'''\n", "python", set()),
    "module": (
        "import { pay, type Till } from './shop/till.js'\n",
        "script",
        {"till:pay", "till:Till"},
    ),
    "required": (
        "const { pay: buy, Till } = require('./till')\n",
        "script",
        {"till:pay", "till:Till"},
    ),
    "lifetime": ("fn f<'a>(x: &'a Till) {}\n", "c", {"Till"}),
    "arrow": ("a->price_of;\n", "c", {".price_of"}),
}


@pytest.mark.parametrize(("text", "family", "expected"), REFERENCES.values(), ids=REFERENCES)
def test_references(text: str, family: Family, expected: set[str]) -> None:
    """What is imported, with its module; members of something; nothing of comments, strings and local names."""
    assert set(symbols_of(text, family).references) == expected
