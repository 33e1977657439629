"""Small projects on disk: modules that import each other, pages, records of decisions."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from hypothesis import strategies as st
from typing_extensions import override

from autogen_context.cache.cache import ContextCache

Files = Mapping[str, str | bytes]

README = """\
# Shop

Shop sells things. It never sells the same thing twice!

## Scope

Prices are in cents. Nothing is sold on Sundays.
"""
RECORD = """\
# 1. Prices are whole cents

## Status

Accepted

## Context

Floats lose cents.

## Decision

We keep all prices as whole cents. Nobody divides them.

## Consequences

Discounts are rounded.
"""
PRICE = """\
def price_of(thing: str) -> int:
    return 7


class Basket:
    def add_thing(self, thing: str) -> None:
        self.total = price_of(thing)
"""
SHOP: Files = {
    "README.md": README,
    "docs/decisions/0001-cents.md": RECORD,
    "AGENTS.md": "# Agents\n\nRun the tests with make test. Write short functions.\n",
    "shop/__init__.py": "",
    "shop/price.py": PRICE,
    "shop/till.py": "from shop.price import Basket, price_of\n\n\ndef pay(basket: Basket) -> int:\n    return price_of('x')\n",
    "shop/report.py": "from shop.price import price_of\n\n\ndef report() -> str:\n    return str(price_of('y'))\n",
    "tests/test_till.py": "from shop.till import pay\n\n\ndef test_pay() -> None:\n    assert pay\n",
}


def grown(root: Path, files: Files, names: Iterable[str] | None = None) -> Path:
    """Write files below a folder, in the order of ``names`` where that is given."""
    for name in files if names is None else names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = files[name]
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    root.mkdir(exist_ok=True)
    return root


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """A project of a few modules that import each other, with some pages."""
    modules = draw(
        st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "omega"]), unique=True)
    )
    files: dict[str, str] = {}
    for name in modules:
        folder = draw(st.sampled_from(["", "core/", "core/deep/", "tests/"]))
        used = draw(st.lists(st.sampled_from(modules), unique=True))
        lines = [f"from core.{other} import make_{other}" for other in used]
        functions = draw(st.integers(1, 4))
        lines += [
            f"def make_{name}(value_{n}: int) -> int:\n    return {n}" for n in range(functions)
        ]
        lines += [f"class {name.title()}:\n    def run_{name}(self) -> None: ..."]
        files[f"{folder}{name}.py"] = "\n".join(lines) + "\n"
    for page in draw(
        st.lists(st.sampled_from(["README.md", "CONTRIBUTING.md", "docs/goals.md"]), unique=True)
    ):
        said = draw(
            st.lists(st.sampled_from(["It is so.", "Nobody knows!", "## More", "- One item"]))
        )
        files[page] = "\n\n".join(["# Page", *said]) + "\n"
    return files


class Counting(ContextCache):
    """Keeps in memory.

    Attributes:
        built: all that had to be built.
    """

    def __init__(self) -> None:
        super().__init__()
        self.built: list[object] = []

    @override
    def remember(self, kind: str, key: str, value: object, /) -> None:
        """Keep it, and note it."""
        self.built.append(value)
        super().remember(kind, key, value)
