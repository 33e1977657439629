"""A folder as the context of an agent: a head that stands still, a tail that tells what changed.

Runs without a model: it makes a small project, reads it, and edits a file as an agent would.
"""

import asyncio
import tempfile
from pathlib import Path

from autogen_context import ProjectContext

FILES = {
    "README.md": "# Till\n\nIt adds up what is bought. Prices are whole cents.\n",
    "docs/decisions/0001-cents.md": "# 1. Whole cents\n\n## Status\n\nAccepted\n\n## Decision\n\nPrices are never floats.\n",
    "pyproject.toml": '[tool.ruff]\nline-length = 100\n[tool.pytest.ini_options]\naddopts = "-q"\n',
    "till/price.py": "def price_of(thing: str) -> int:\n    return 7\n",
    "till/pay.py": "from till.price import price_of\n\n\ndef pay(things: list[str]) -> int:\n    return sum(map(price_of, things))\n",
}


async def main() -> None:
    """Look at a project before and after an edit."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "till"
        for name, text in FILES.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        project = ProjectContext(root, budget_tokens=2_000)

        view = await project.current("Prices depend on the day.")
        system = f"You are a programmer.\n\n{view.head}"  # sent once, cached by the provider from then on
        print(system)

        (root / "till/price.py").write_text(
            "def price_of(thing: str, day: int) -> int:\n    return 7\n"
        )
        later = await project.current()
        print("\nThe head is the same:", later.head == view.head)
        print(f"\n{later.tail}")  # placed before the newest message


if __name__ == "__main__":
    asyncio.run(main())
