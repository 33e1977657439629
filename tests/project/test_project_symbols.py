"""What source files define and refer to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_context.project.symbols import (
    HEAD_CHARS,
    LANGUAGES,
    Language,
    Symbols,
    symbols_of,
)
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
PYTHON = LANGUAGES[".py"]
SCRIPT = LANGUAGES[".js"]
HOSTILE_CHARS = 4_000
languages = st.sampled_from(list(LANGUAGES.values()))
read_both_ways = pytest.mark.parametrize("by_grammar", [True, False], ids=["grammar", "words"])


def read(text: str, language: Language, *, by_grammar: bool = True) -> Symbols:
    """The symbols of a text, in one of two ways."""
    return symbols_of(text, language if by_grammar else Language(language.family))


@read_both_ways
@pytest.mark.parametrize("name", SOURCES)
def test_definitions_with_their_heads(name: str, *, by_grammar: bool) -> None:
    """In six languages: in order, those of a class below it, none that only a function knows."""
    found = read(SOURCES[name], LANGUAGES[ENDINGS[name]], by_grammar=by_grammar)
    assert ["  " * each.depth + each.head for each in found.definitions] == HEADS[name]


@settings(max_examples=20)
@given(TEXTS, languages, st.booleans())
def test_any_text_goes(text: str, language: Language, by_grammar: bool) -> None:  # noqa: FBT001 - drawn
    """Heads are one line and short; names are one word."""
    found = read(text, language, by_grammar=by_grammar)
    for each in found.definitions:
        assert each.name
        assert len(each.name.split()) == 1
        assert each.head.splitlines() == [each.head]
        assert len(each.head) <= HEAD_CHARS + 1
    assert list(found.references) == sorted(set(found.references))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_end(text: str) -> None:
    """Many thousand characters of the same are read as any others."""
    for language in set(LANGUAGES.values()):
        symbols_of(text[:HOSTILE_CHARS], language)


REFERENCES: dict[str, tuple[str, Language, set[str]]] = {
    "imports": (
        "from shop.price import price_of as cost, Basket\nimport shop.till\n",
        PYTHON,
        {"price:price_of", "price:Basket", "shop:till"},
    ),
    "members": ("self.total = basket.price_of(1)\n", PYTHON, {".total", ".price_of"}),
    "local names": ("def f(price_of):\n    price_of = other_name\n", PYTHON, set()),
    "comments": ("# a.price_of\nx = 'b.price_of'\n'''c.price_of'''\n", PYTHON, set()),
    "module": (
        "import { pay, type Till } from './shop/till.js'\n",
        SCRIPT,
        {"till:pay", "till:Till"},
    ),
    "required": (
        "const { pay: buy, Till } = require('./till')\n",
        SCRIPT,
        {"till:pay", "till:Till"},
    ),
    "lifetime": ("fn f<'a>(x: &'a Till) {}\n", LANGUAGES[".rs"], {"Till"}),
    "arrow": ("a->price_of;\n", LANGUAGES[".c"], {".price_of"}),
}


@pytest.mark.parametrize(("text", "language", "expected"), REFERENCES.values(), ids=REFERENCES)
def test_references(text: str, language: Language, expected: set[str]) -> None:
    """What is imported, with its module; members of something; nothing of comments, strings and local names."""
    assert set(symbols_of(text, language).references) == expected


def test_broken_code_is_read() -> None:
    """A file in the middle of an edit keeps the definitions that are whole."""
    text = "def first(x):\n    return x\n\nclass Broken(:\n\ndef second(y):\n    return y\n"
    names = {each.name for each in symbols_of(text, PYTHON).definitions}
    assert {"first", "second"} <= names
