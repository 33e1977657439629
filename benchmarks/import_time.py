"""What ``import autogen_context`` costs beside ``import pydantic``, on which it stands, in fresh processes.

Usage: python benchmarks/import_time.py

Both load little until they are used: what a first model makes pydantic load, and the manager this package, has a row of
its own. Times are CPU times of the statements, without the start of the interpreter; bytecode is compiled and files are
in the disk cache.
"""

import subprocess
import sys
from collections.abc import Mapping
from statistics import median

from side_by_side import ms, table

ROUNDS = 11
PYDANTIC = "import pydantic"
STATEMENTS: Mapping[str, str] = {
    PYDANTIC: PYDANTIC,
    "a first pydantic model": "import pydantic\nclass Model(pydantic.BaseModel):\n    field: int",
    "import autogen_context": "import autogen_context",
    "its first use": "from autogen_context import IncrementalContextManager",
}
TIMED = """
from time import process_time
started = process_time()
{}
print(process_time() - started)
"""


def main() -> None:
    """Print a row for each statement."""
    taken_s: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(ROUNDS + 1):
        for name, statement in STATEMENTS.items():
            taken_s[name].append(seconds_in_a_new_process(statement))
    medians = {name: median(times[1:]) for name, times in taken_s.items()}  # the first one warms up
    rows = ([name, ms(taken), ms(taken - medians[PYDANTIC])] for name, taken in medians.items())
    print(table(["statement", "time", f"above {PYDANTIC}"], *rows))


def seconds_in_a_new_process(statement: str) -> float:
    """The CPU time of a statement in a new interpreter."""
    command = [sys.executable, "-c", TIMED.format(statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own text
    return float(done.stdout)


if __name__ == "__main__":
    main()
