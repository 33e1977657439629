"""What the context of a project costs, in time of the process: the first build, a turn with nothing changed, one edit.

Usage: python benchmarks/project.py [MODULES]

A made-up tree of MODULES modules that use each other (10,000 where left out), looked at as a whole in each turn.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from side_by_side import ms, table

from autogen_context import ProjectContext

MODULES = 10_000
ROUNDS = 30
SETTLED_S = 2.2  # a file that was written just now is read again
TASK = "Make the reduction of logs faster; keep its promises."


def made_up(root: Path, modules: int) -> Path:
    """Modules in a hundred folders, and a page."""
    for n in range(modules):
        other = n * 7 % modules
        path = root / f"part{n % 100}" / f"module_{n}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"from part{other % 100}.module_{other} import use_{other}\n\n\n"
            f"class Thing{n}:\n    def method_{n}(self, value: int) -> int:\n        return use_{other}(value)\n\n\n"
            f"def use_{n}(value: int) -> int:\n    return value + {n}\n",
            "utf-8",
        )
    (root / "README.md").write_text("# Modules\n\nA tree of many modules.\n", "utf-8")
    return root


async def timed(project: ProjectContext, rounds: int, edited: Path | None = None) -> list[str]:
    """Median and worst of some turns, each after an edit where a file is given."""
    taken: list[float] = []
    for turn in range(rounds):
        if edited is not None:
            with edited.open("a", encoding="utf-8") as file:
                file.write(f"\n\ndef added_{turn}(x: int) -> int:\n    return x\n")
        start = time.process_time()
        await project.current(TASK)
        taken.append(time.process_time() - start)
    return [ms(statistics.median(taken)), ms(max(taken))]


async def main() -> None:
    """Print a row for each kind of turn."""
    modules = int(sys.argv[1]) if len(sys.argv) > 1 else MODULES
    with tempfile.TemporaryDirectory() as folder:
        root = made_up(Path(folder) / "tree", modules)
        await asyncio.sleep(SETTLED_S)
        project = ProjectContext(root)
        rows = [["first build", *await timed(project, 1)]]
        await timed(project, 1)
        rows.append(["nothing changed", *await timed(project, ROUNDS)])
        edited = root / "part3" / "module_3.py"
        rows.append(["one file edited", *await timed(project, ROUNDS, edited)])
        print(table(("", "median", "worst"), *rows))


if __name__ == "__main__":
    asyncio.run(main())
